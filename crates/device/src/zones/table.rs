//! The machine of zone states: no clock and no flash, only which command is right when, and what follows for other zones.

use super::{ZoneAction, ZoneDescriptor, ZoneError, ZoneId, ZoneLayout, ZoneLimits, ZoneState};
use crate::Op;
use outlast_units::{IndexVec, Lba};

/// A zone.
#[derive(Clone, Copy, Debug, outlast_persist::Persist)]
struct Zone {
    state: ZoneState,
    /// Sectors below the write pointer.
    written: u64,
    /// When it was opened last, as a count of openings: the oldest is the first to be closed for another.
    opened: u64,
}

/// States and write pointers of all zones.
#[derive(Clone, Debug, outlast_persist::Persist)]
#[persist(check)]
pub struct ZoneTable {
    #[persist(fixed)]
    layout: ZoneLayout,
    #[persist(fixed)]
    limits: ZoneLimits,
    zones: IndexVec<ZoneId, Zone>,
    /// Zones that are open, in no order.
    open: Vec<ZoneId>,
    active: u32,
    openings: u64,
}

impl ZoneTable {
    /// Empty zones.
    pub fn new(layout: ZoneLayout, limits: ZoneLimits) -> Self {
        let empty = Zone { state: ZoneState::Empty, written: 0, opened: 0 };
        let zones = IndexVec::filled(empty, layout.zones as usize);
        Self { layout, limits, zones, open: Vec::new(), active: 0, openings: 0 }
    }

    /// Division of addresses.
    #[inline]
    pub fn layout(&self) -> &ZoneLayout {
        &self.layout
    }

    /// Limits of open and active zones.
    pub fn limits(&self) -> ZoneLimits {
        self.limits
    }

    /// State of `zone`.
    #[inline]
    pub fn state(&self, zone: ZoneId) -> ZoneState {
        self.zones[zone].state
    }

    /// Sectors below the write pointer of `zone`: of a full zone all that the host has written.
    #[inline]
    pub fn written(&self, zone: ZoneId) -> u64 {
        self.zones[zone].written
    }

    /// Zones that are active now.
    pub fn active(&self) -> u32 {
        self.active
    }

    /// Zones that are open now.
    pub fn open(&self) -> usize {
        self.open.len()
    }

    /// All zones.
    pub fn ids(&self) -> impl Iterator<Item = ZoneId> + use<> {
        (0..self.layout.zones).map(ZoneId)
    }

    /// The answer of Zone Management Receive about `zone`.
    pub fn descriptor(&self, zone: ZoneId) -> ZoneDescriptor {
        let (start, own) = (self.layout.start(zone), self.zones[zone]);
        let is_valid = !matches!(own.state, ZoneState::Full | ZoneState::ReadOnly | ZoneState::Offline);
        ZoneDescriptor {
            zone,
            state: own.state,
            start,
            capacity: self.layout.capacity,
            write_pointer: is_valid.then_some(Lba(start.0 + own.written)),
        }
    }

    /// Zones by state, in the order of [`ZoneState::ALL`].
    pub fn by_state(&self) -> [u32; ZoneState::ALL.len()] {
        let mut counts = [0; ZoneState::ALL.len()];
        for zone in &self.zones {
            counts[zone.state as usize] += 1;
        }
        counts
    }

    /// Checks a read of `sectors` sectors from `lba` on, which is within the device. What lies beyond the write pointer reads as zeroes.
    ///
    /// # Errors
    /// The read crosses into the next zone, or the zone is offline.
    #[inline]
    pub fn check_read(&self, lba: Lba, sectors: u32) -> Result<(ZoneId, u64), ZoneError> {
        let (zone, within) = self.layout.place(lba);
        if within + u64::from(sectors) > self.layout.size {
            return Err(ZoneError::BoundaryError);
        }
        if self.zones[zone].state == ZoneState::Offline {
            return Err(ZoneError::IsOffline);
        }
        Ok((zone, within))
    }

    /// Carries out a write or an append of `sectors` sectors: the write pointer moves. Returns the zone and the place of the first sector in it.
    ///
    /// # Errors
    /// The first reason in the order: address of an append, state, boundary, write pointer, limits. Nothing is changed then.
    #[inline]
    pub fn write(&mut self, op: Op, lba: Lba, sectors: u32) -> Result<(ZoneId, u64), ZoneError> {
        let (zone, within) = self.layout.place(lba);
        let is_append = op == Op::Append;
        if is_append && within != 0 {
            return Err(ZoneError::InvalidField);
        }
        let own = self.zones[zone];
        match own.state {
            ZoneState::Full => return Err(ZoneError::IsFull),
            ZoneState::ReadOnly => return Err(ZoneError::IsReadOnly),
            ZoneState::Offline => return Err(ZoneError::IsOffline),
            _ => {}
        }
        let first = if is_append { own.written } else { within };
        let end = first + u64::from(sectors);
        if end > self.layout.capacity {
            return Err(ZoneError::BoundaryError);
        }
        if first != own.written || !sectors.is_multiple_of(self.layout.block) {
            return Err(ZoneError::InvalidWrite);
        }
        if !own.state.is_open() {
            self.open_as(zone, ZoneState::ImplicitlyOpen)?;
        }
        self.zones[zone].written = end;
        if end == self.layout.capacity {
            self.put(zone, ZoneState::Full);
        }
        Ok((zone, first))
    }

    /// Carries out `action` on the zone that begins at `lba`, which is within the device. Returns the zone.
    ///
    /// # Errors
    /// No zone begins there, its state does not allow the action, or a limit is reached. Nothing is changed then.
    pub fn manage(&mut self, action: ZoneAction, lba: Lba) -> Result<ZoneId, ZoneError> {
        let (zone, within) = self.layout.place(lba);
        if within != 0 {
            return Err(ZoneError::InvalidField);
        }
        self.act(action, zone)?;
        Ok(zone)
    }

    /// Carries out `action` on all zones whose state calls for it (the bit Select All). Returns those whose state has changed, in order.
    pub fn manage_all(&mut self, action: ZoneAction) -> Vec<ZoneId> {
        let calls = |state: ZoneState| match action {
            ZoneAction::Open => state == ZoneState::Closed,
            ZoneAction::Close => state.is_open(),
            ZoneAction::Finish => state.is_active(),
            ZoneAction::Reset => state.is_active() || state == ZoneState::Full,
            ZoneAction::Offline => state == ZoneState::ReadOnly,
        };
        let called: Vec<ZoneId> = self.ids().filter(|&zone| calls(self.zones[zone].state)).collect();
        called.into_iter().filter(|&zone| self.act(action, zone).is_ok()).collect()
    }

    fn act(&mut self, action: ZoneAction, zone: ZoneId) -> Result<(), ZoneError> {
        use ZoneState::{Closed, Empty, ExplicitlyOpen, Full, ImplicitlyOpen, Offline, ReadOnly};
        match (action, self.zones[zone].state) {
            (ZoneAction::Open, Empty | Closed) => self.open_as(zone, ExplicitlyOpen)?,
            (ZoneAction::Open, ImplicitlyOpen) => self.zones[zone].state = ExplicitlyOpen,
            (ZoneAction::Close, ImplicitlyOpen | ExplicitlyOpen) => self.put(zone, Closed),
            (ZoneAction::Finish, Empty | ImplicitlyOpen | ExplicitlyOpen | Closed) => self.put(zone, Full),
            (ZoneAction::Reset, Empty | ImplicitlyOpen | ExplicitlyOpen | Closed | Full) => {
                self.put(zone, Empty);
                self.zones[zone].written = 0;
            }
            (ZoneAction::Offline, ReadOnly) => self.put(zone, Offline),
            (ZoneAction::Open, ExplicitlyOpen)
            | (ZoneAction::Close, Closed)
            | (ZoneAction::Finish, Full)
            | (ZoneAction::Offline, Offline) => {}
            _ => return Err(ZoneError::InvalidTransition),
        }
        Ok(())
    }

    /// The drive can write `zone` no more, or has lost it.
    pub fn give_up(&mut self, zone: ZoneId, to: ZoneState) {
        debug_assert!(matches!(to, ZoneState::ReadOnly | ZoneState::Offline), "a zone given up is {to:?}");
        self.put(zone, to);
    }

    /// Power has failed, and is back: `kept` says how many sectors from its start on are there of a zone that is neither read-only nor offline. Zones that
    /// were open are closed, or empty if nothing is written. A zone that writes had made full is not, if its end is lost; one that was finished stays full,
    /// as do those for which no active resource is left.
    pub fn power_cycle(&mut self, mut kept: impl FnMut(ZoneId) -> u64) {
        self.open.clear();
        self.active = 0;
        for zone in self.ids() {
            let Zone { state, written, .. } = self.zones[zone];
            if matches!(state, ZoneState::ReadOnly | ZoneState::Offline) {
                continue;
            }
            let was_finished = state == ZoneState::Full && written < self.layout.capacity;
            let kept = kept(zone).min(if was_finished { written } else { self.layout.capacity });
            let state = match kept {
                _ if was_finished => ZoneState::Full,
                0 => ZoneState::Empty,
                _ if kept == self.layout.capacity || self.active == self.limits.active => ZoneState::Full,
                _ => ZoneState::Closed,
            };
            self.active += u32::from(state.is_active());
            self.zones[zone] = Zone { state, written: kept, opened: 0 };
        }
    }

    /// Opens `zone`, which is empty or closed. If as many are open as may be, the one that was opened implicitly first is closed.
    fn open_as(&mut self, zone: ZoneId, state: ZoneState) -> Result<(), ZoneError> {
        if !self.zones[zone].state.is_active() && self.active == self.limits.active {
            return Err(ZoneError::TooManyActive);
        }
        if self.open.len() == self.limits.open as usize {
            let implicit = |&&zone: &&ZoneId| self.zones[zone].state == ZoneState::ImplicitlyOpen;
            let oldest = self.open.iter().filter(implicit).min_by_key(|&&zone| self.zones[zone].opened);
            let Some(&oldest) = oldest else { return Err(ZoneError::TooManyOpen) };
            self.put(oldest, ZoneState::Closed);
        }
        self.put(zone, state);
        Ok(())
    }

    /// Puts `zone` into `state`, with what it takes of resources.
    fn put(&mut self, zone: ZoneId, state: ZoneState) {
        let own = &mut self.zones[zone];
        let before = std::mem::replace(&mut own.state, state);
        if before.is_open() && !state.is_open() {
            self.open.retain(|&open| open != zone);
        } else if !before.is_open() && state.is_open() {
            own.opened = self.openings;
            self.openings += 1;
            self.open.push(zone);
        }
        self.active += u32::from(state.is_active());
        self.active -= u32::from(before.is_active());
    }

    fn check_restored(&self) -> Result<(), String> {
        self.self_check()
    }

    /// Checks counts and write pointers against the states.
    ///
    /// # Errors
    /// The first that is wrong, in words.
    pub fn self_check(&self) -> Result<(), String> {
        let count = |is: fn(ZoneState) -> bool| self.zones.iter().filter(|zone| is(zone.state)).count();
        let (open, active) = (count(ZoneState::is_open), count(ZoneState::is_active));
        if self.zones.len() != self.layout.zones as usize {
            return Err(format!("{} zones of {}", self.zones.len(), self.layout.zones));
        }
        let is_listed = |zone: &ZoneId| self.zones.get(*zone).is_some_and(|own| own.state.is_open());
        let listed = self.open.iter().filter(|zone| is_listed(zone)).count();
        if listed != open || self.open.len() != open || open > self.limits.open as usize {
            return Err(format!("{open} zones are open, {} are listed", self.open.len()));
        }
        if active != self.active as usize || self.active > self.limits.active {
            return Err(format!("{active} zones are active, {} are counted", self.active));
        }
        for (zone, own) in self.zones.iter_indexed() {
            let fits = match own.state {
                ZoneState::Empty => own.written == 0,
                state if state.is_active() => own.written < self.layout.capacity,
                _ => own.written <= self.layout.capacity,
            };
            if !fits || !own.written.is_multiple_of(u64::from(self.layout.block)) {
                return Err(format!(
                    "zone {} is {:?} with {} sectors written",
                    zone.0, own.state, own.written
                ));
            }
        }
        Ok(())
    }
}
