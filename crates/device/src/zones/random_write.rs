//! Random write areas of zones (`NVMe` ZNS 1.1, ZRWA), and what a loss of power leaves of zones.
//!
//! A zone that was opened with an area takes writes anywhere in a window of two areas from its write pointer on, and again. The first half of the window is
//! the area; a write that ends in the second half has the write pointer moved, by whole granules, until it ends in the area: an implicit commit.

use super::table::Zone;
use super::{RandomWriteAreas, ZoneError, ZoneId, ZoneState, ZoneTable};

impl ZoneTable {
    /// The same table, some of whose zones can have a random write area.
    #[must_use]
    pub fn with_random_write(mut self, areas: RandomWriteAreas) -> Self {
        self.resources = self.resources.with_areas(areas.zones);
        self.random_write = Some(areas);
        self
    }

    /// Random write areas of the device.
    pub fn random_write(&self) -> Option<RandomWriteAreas> {
        self.random_write
    }

    /// True if `zone` has a random write area.
    #[inline]
    pub fn has_area(&self, zone: ZoneId) -> bool {
        self.zones[zone].has_area
    }

    /// Zones that have a random write area now.
    pub fn areas(&self) -> u32 {
        self.resources.all().iter().map(|taken| taken.areas).sum()
    }

    /// The end of what was written of `zone` through its random write area, in sectors from its start on; 0 where nothing was.
    pub fn reached(&self, zone: ZoneId) -> u64 {
        self.zones[zone].reached
    }

    /// Opens `zone` with an area. A zone that has one keeps it.
    pub(super) fn open_with_area(&mut self, zone: ZoneId) -> Result<(), ZoneError> {
        let Zone { state, has_area, .. } = self.zones[zone];
        let (share, taken) = self.resources.of(zone);
        if self.random_write.is_none() {
            return Err(ZoneError::InvalidOperation);
        }
        match state {
            ZoneState::Full | ZoneState::ReadOnly | ZoneState::Offline => {
                return Err(ZoneError::InvalidTransition);
            }
            _ if has_area => {}
            ZoneState::Empty if taken.areas == share.areas => return Err(ZoneError::NoRandomWriteArea),
            ZoneState::Empty => {}
            _ => return Err(ZoneError::InvalidOperation),
        }
        if state.is_open() {
            self.zones[zone].state = ZoneState::ExplicitlyOpen;
        } else {
            self.open_as(zone, ZoneState::ExplicitlyOpen)?;
        }
        self.resources.taken(zone).areas += u32::from(!has_area);
        self.zones[zone].has_area = true;
        Ok(())
    }

    /// A write of `sectors` sectors from place `first` of `zone` on, which has an area and takes writes.
    pub(super) fn write_in_area(
        &mut self,
        is_append: bool,
        (zone, first): (ZoneId, u64),
        sectors: u32,
    ) -> Result<(ZoneId, u64), ZoneError> {
        let (own, block) = (self.zones[zone], u64::from(self.layout.block));
        let Some(areas) = self.random_write.filter(|_| !is_append) else {
            return Err(ZoneError::InvalidOperation);
        };
        let end = first + u64::from(sectors);
        if end > self.layout.capacity {
            return Err(ZoneError::BoundaryError);
        }
        let is_in_window = first >= own.written && end <= own.written + 2 * areas.size;
        if !is_in_window || !first.is_multiple_of(block) || !end.is_multiple_of(block) {
            return Err(ZoneError::InvalidWrite);
        }
        if !own.state.is_open() {
            self.open_as(zone, ZoneState::ImplicitlyOpen)?;
        }
        let beyond = end.saturating_sub(own.written + areas.size);
        self.zones[zone].reached = own.reached.max(end);
        self.move_pointer(zone, own.written + beyond.next_multiple_of(areas.granularity));
        Ok((zone, first))
    }

    /// Commits what is written of `zone` up to the block at place `last`, and that too.
    pub(super) fn commit(&mut self, zone: ZoneId, last: u64) -> Result<(), ZoneError> {
        let (own, block) = (self.zones[zone], u64::from(self.layout.block));
        let areas = self.random_write.ok_or(ZoneError::InvalidOperation)?;
        let end = last + block;
        if !own.has_area || !last.is_multiple_of(block) {
            return Err(ZoneError::InvalidField);
        }
        if last < own.written || end > own.written + areas.size || end > self.layout.capacity {
            return Err(ZoneError::BoundaryError);
        }
        if !(end - own.written).is_multiple_of(areas.granularity) && end != self.layout.capacity {
            return Err(ZoneError::InvalidField);
        }
        if !own.state.is_open() {
            self.open_as(zone, ZoneState::ImplicitlyOpen)?;
        }
        self.move_pointer(zone, end);
        Ok(())
    }

    /// The write pointer of `zone`, which has an area, moves to `to`, or to the end.
    fn move_pointer(&mut self, zone: ZoneId, to: u64) {
        self.zones[zone].written = to.min(self.layout.capacity);
        if to >= self.layout.capacity {
            self.put(zone, ZoneState::Full);
        }
    }

    /// Power has failed, and is back: `kept` says how many sectors from its start on are there of a zone that is neither read-only nor offline. Zones that
    /// were open are closed, or empty if nothing is written. A zone that writes had made full is not, if its end is lost; one that was finished stays full,
    /// as do those for which no active resource is left.
    pub fn power_cycle(&mut self, kept: impl FnMut(ZoneId) -> u64) {
        self.power_cycle_with_areas(kept, |_| 0, |_| false);
    }

    /// As [`ZoneTable::power_cycle`], of zones some of whose data is in random write areas: `held` says where what a zone has in one ends, 0 where it has
    /// nothing there. Such a zone is closed and has its area, with the write pointer at a granule, unless it was full and no command to it
    /// `was_cut_short`. One for which no resource is left is full. Zones that were active come first: one whose finish or reset was not carried out takes
    /// no resource from them.
    pub fn power_cycle_with_areas(
        &mut self,
        mut kept: impl FnMut(ZoneId) -> u64,
        mut held: impl FnMut(ZoneId) -> u64,
        mut was_cut_short: impl FnMut(ZoneId) -> bool,
    ) {
        self.resources.clear();
        let granularity = self.random_write.map_or(1, |areas| areas.granularity);
        let (active, others): (Vec<_>, Vec<_>) =
            self.ids().partition(|&zone| self.zones[zone].state.is_active());
        for zone in active.into_iter().chain(others) {
            let Zone { state, has_area, written, .. } = self.zones[zone];
            if matches!(state, ZoneState::ReadOnly | ZoneState::Offline) {
                continue;
            }
            let (held, capacity) = (held(zone), self.layout.capacity);
            let was_finished =
                state == ZoneState::Full && written < capacity && (held == 0 || !was_cut_short(zone));
            let kept = kept(zone).min(if was_finished { written } else { capacity });
            let wants_area =
                !was_finished && (has_area || held != 0) && kept < capacity && kept.max(held) != 0;
            let (share, taken) = self.resources.of(zone);
            let has_room = taken.active < share.limits.active;
            let gets_area = wants_area && taken.areas < share.areas && has_room;
            let state = match kept.max(held) {
                _ if was_finished => ZoneState::Full,
                _ if gets_area => ZoneState::Closed,
                0 => ZoneState::Empty,
                _ if kept == capacity || held != 0 || !has_room => ZoneState::Full,
                _ => ZoneState::Closed,
            };
            let written = match state {
                ZoneState::Closed if gets_area => kept - kept % granularity,
                _ => kept.max(held),
            };
            let taken = self.resources.taken(zone);
            taken.active += u32::from(state.is_active());
            taken.areas += u32::from(gets_area);
            self.zones[zone] =
                Zone { state, has_area: gets_area, written, reached: kept.max(held), opened: 0 };
        }
    }
}
