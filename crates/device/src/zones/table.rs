//! The machine of zone states: no clock and no flash, only which command is right when, and what follows for other zones.

use super::resources::ZoneResources;
use super::{
    RandomWriteAreas, ZoneAction, ZoneDescriptor, ZoneError, ZoneId, ZoneLayout, ZoneLimits, ZoneState,
};
use crate::Op;
use outlast_units::{IndexVec, Lba};

/// A zone.
#[derive(Clone, Copy, Debug, outlast_persist::Persist)]
pub(super) struct Zone {
    pub(super) state: ZoneState,
    /// True if it has a random write area.
    pub(super) has_area: bool,
    /// Sectors below the write pointer.
    pub(super) written: u64,
    /// The end of what was written of it through a random write area.
    pub(super) reached: u64,
    /// When it was opened last, as a count of openings: the oldest is the first to be closed for another.
    pub(super) opened: u64,
}

impl Zone {
    pub(super) const EMPTY: Self =
        Self { state: ZoneState::Empty, has_area: false, written: 0, reached: 0, opened: 0 };
}

/// States and write pointers of all zones.
#[derive(Clone, Debug, outlast_persist::Persist)]
#[persist(check)]
pub struct ZoneTable {
    #[persist(fixed)]
    pub(super) layout: ZoneLayout,
    #[persist(fixed)]
    limits: ZoneLimits,
    /// Random write areas; absent where no zone can have one.
    #[persist(fixed)]
    pub(super) random_write: Option<RandomWriteAreas>,
    pub(super) zones: IndexVec<ZoneId, Zone>,
    pub(super) resources: ZoneResources,
    openings: u64,
}

impl ZoneTable {
    /// Empty zones.
    pub fn new(layout: ZoneLayout, limits: ZoneLimits) -> Self {
        let zones = IndexVec::filled(Zone::EMPTY, layout.zones as usize);
        let resources = ZoneResources::whole(layout.zones, limits);
        Self { layout, limits, random_write: None, zones, resources, openings: 0 }
    }

    /// The zones, which are all empty, belong to namespaces of `zones` zones each, in their order. Of several each has an equal share of what may be open, be
    /// active and have a random write area; the zones behind the last have what is left over.
    pub fn share_among(&mut self, zones: &[u32]) {
        self.resources = self.resources.shared(zones);
    }

    /// Division of addresses.
    #[inline]
    pub fn layout(&self) -> &ZoneLayout {
        &self.layout
    }

    /// Limits of open and active zones, of all namespaces together.
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
        self.resources.all().iter().map(|taken| taken.active).sum()
    }

    /// Zones that are open now.
    pub fn open(&self) -> usize {
        self.resources.all().iter().map(|taken| taken.open.len()).sum()
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
            has_area: own.has_area,
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
        if own.has_area {
            return self.write_in_area(is_append, (zone, within), sectors);
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
        if action == ZoneAction::Commit {
            self.commit(zone, within)?;
            return Ok(zone);
        }
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
            ZoneAction::OpenRandom | ZoneAction::Commit => false,
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
            (ZoneAction::OpenRandom, _) => self.open_with_area(zone)?,
            (ZoneAction::Finish, Empty | ImplicitlyOpen | ExplicitlyOpen | Closed) => {
                // What is in the area is committed.
                let own = &mut self.zones[zone];
                own.written = own.written.max(own.reached);
                self.put(zone, Full);
            }
            (ZoneAction::Reset, Empty | ImplicitlyOpen | ExplicitlyOpen | Closed | Full) => {
                self.put(zone, Empty);
                (self.zones[zone].written, self.zones[zone].reached) = (0, 0);
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

    /// Opens `zone`, which is empty or closed. If as many of its namespace are open as may be, the one of them that was opened implicitly first is closed.
    pub(super) fn open_as(&mut self, zone: ZoneId, state: ZoneState) -> Result<(), ZoneError> {
        let (share, taken) = self.resources.of(zone);
        if !self.zones[zone].state.is_active() && taken.active == share.limits.active {
            return Err(ZoneError::TooManyActive);
        }
        if taken.open.len() == share.limits.open as usize {
            let implicit = |&&zone: &&ZoneId| self.zones[zone].state == ZoneState::ImplicitlyOpen;
            let oldest = taken.open.iter().filter(implicit).min_by_key(|&&zone| self.zones[zone].opened);
            let Some(&oldest) = oldest else { return Err(ZoneError::TooManyOpen) };
            self.put(oldest, ZoneState::Closed);
        }
        self.put(zone, state);
        Ok(())
    }

    /// Puts `zone` into `state`, with what it takes of resources.
    pub(super) fn put(&mut self, zone: ZoneId, state: ZoneState) {
        let (own, taken) = (&mut self.zones[zone], self.resources.taken(zone));
        let before = std::mem::replace(&mut own.state, state);
        if before.is_open() && !state.is_open() {
            taken.open.retain(|&open| open != zone);
        } else if !before.is_open() && state.is_open() {
            own.opened = self.openings;
            self.openings += 1;
            taken.open.push(zone);
        }
        taken.active += u32::from(state.is_active());
        taken.active -= u32::from(before.is_active());
        if !state.is_active() && std::mem::take(&mut own.has_area) {
            taken.areas -= 1;
        }
    }

    fn check_restored(&self) -> Result<(), String> {
        self.self_check()
    }

    /// Checks counts and write pointers against the states.
    ///
    /// # Errors
    /// The first that is wrong, in words.
    pub fn self_check(&self) -> Result<(), String> {
        if self.zones.len() != self.layout.zones as usize {
            return Err(format!("{} zones of {}", self.zones.len(), self.layout.zones));
        }
        let taken = |own: &Zone| (own.state.is_open(), own.state.is_active(), own.has_area);
        let zones = self.zones.iter_indexed().map(|(zone, own)| (zone, taken(own)));
        self.resources.check(self.layout.zones, zones)?;
        for (zone, own) in self.zones.iter_indexed() {
            if own.has_area && !own.state.is_active() {
                return Err(format!("zone {} is {:?} and has a random write area", zone.0, own.state));
            }
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
