//! Random write areas of zones: memory of the controller that survives a loss of power. What is written there may be written again and costs flash nothing; a
//! commit writes it to the zone's stream, unit by unit, and zeroes where nothing was written.

use super::Zones;
use crate::commands::HostRequestId;
use outlast_device::{Command, Op, ZoneAction, ZoneId};
use outlast_media::UnitBytes;
use std::collections::VecDeque;

/// Content of a zone's random write area.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub(super) struct RandomArea {
    pub(super) zone: ZoneId,
    /// First sector of the zone among the drive's own, and sectors of a unit.
    first: u64,
    unit_sectors: u64,
    /// The unit of `units[0]`.
    from: u64,
    units: VecDeque<Option<AreaUnit>>,
}

/// A unit in a random write area.
#[derive(Clone, Debug, outlast_persist::Persist)]
struct AreaUnit {
    /// Absent where the drive keeps no bytes.
    content: Option<UnitBytes>,
}

/// A write to a random write area, or a commit, that is under way.
#[derive(Clone, Copy, Debug, outlast_persist::Persist)]
pub(super) struct AreaWrite {
    /// [`HostRequestId::NONE`] until its command has begun.
    pub(super) request: HostRequestId,
    /// Units that are not in the area yet.
    left: u64,
    /// Units to commit when all are: the first, and the one after the last.
    commit: (u64, u64),
}

/// A commit that begins.
#[derive(Clone, Copy, Debug)]
pub struct AreaCommit {
    /// The zone.
    pub zone: ZoneId,
    /// Its units: the first, and the one after the last.
    pub units: (u64, u64),
}

impl RandomArea {
    fn index_of(&self, unit: u64) -> Option<usize> {
        unit.checked_sub(self.from).map(|index| index as usize).filter(|&index| index < self.units.len())
    }

    fn get(&self, unit: u64) -> Option<&AreaUnit> {
        self.units[self.index_of(unit)?].as_ref()
    }

    fn put(&mut self, unit: u64, content: Option<UnitBytes>) {
        if self.units.is_empty() {
            self.from = unit;
        }
        while unit < self.from {
            self.units.push_front(None);
            self.from -= 1;
        }
        let index = (unit - self.from) as usize;
        if index >= self.units.len() {
            self.units.resize(index + 1, None);
        }
        self.units[index] = Some(AreaUnit { content });
    }

    /// True if the unit was there.
    fn remove(&mut self, unit: u64) -> bool {
        let Some(index) = self.index_of(unit) else { return false };
        let was_there = self.units[index].take().is_some();
        while self.units.front().is_some_and(Option::is_none) {
            self.units.pop_front();
            self.from += 1;
        }
        while self.units.back().is_some_and(Option::is_none) {
            self.units.pop_back();
        }
        was_there
    }

    /// End of what it holds, in sectors from the start of the zone on.
    pub(super) fn end(&self) -> u64 {
        (self.from + self.units.len() as u64) * self.unit_sectors - self.first
    }
}

impl Zones {
    fn area(&self, zone: ZoneId) -> Option<&RandomArea> {
        self.areas.iter().find(|own| own.zone == zone)
    }

    fn unit_sectors(&self) -> u64 {
        u64::from(self.table.layout().block)
    }

    /// A write of `sectors` sectors to the area of `zone`, or a commit, has come, before which the write pointer was at `before`.
    pub(super) fn arrive_in_area(&mut self, zone: ZoneId, before: u64, sectors: u32) {
        let (first, per_unit) = (self.range(zone).first, self.unit_sectors());
        let unit = |sector: u64| (first + sector) / per_unit;
        let commit = (unit(before), unit(self.table.written(zone)));
        self.counts.implicit_commits += u64::from(sectors != 0 && commit.0 != commit.1);
        let left = u64::from(sectors) / per_unit;
        self.area_writes.push(AreaWrite { request: HostRequestId::NONE, left, commit });
    }

    /// Request `request` is of the write or the commit that has just come. True if it moves the write pointer of a zone with an area.
    pub(super) fn begin_area_write(&mut self, request: HostRequestId, command: &Command) -> bool {
        let may_be = command.op == Op::Write
            || (command.op == Op::ManageZone && command.zone_action == ZoneAction::Commit);
        match self.area_writes.last_mut() {
            Some(own) if may_be && own.request == HostRequestId::NONE => {
                own.request = request;
                own.commit.0 != own.commit.1
            }
            _ => false,
        }
    }

    /// True if `request` writes to a random write area.
    pub fn is_area_write(&self, request: HostRequestId) -> bool {
        self.area_writes.iter().any(|own| own.request == request)
    }

    /// Puts unit `unit` of `request` into the area of its zone. Returns the commit that begins with the last of its units.
    pub fn enter_area(
        &mut self,
        request: HostRequestId,
        unit: u64,
        bytes: u64,
        content: Option<UnitBytes>,
    ) -> Option<AreaCommit> {
        self.counts.area_bytes += bytes;
        let zone = self.zone_of(unit * self.unit_sectors());
        self.hold_in_area(zone, unit, content);
        let own = self.area_writes.iter_mut().find(|own| own.request == request)?;
        own.left -= 1;
        let commits = own.left == 0 && own.commit.0 != own.commit.1;
        commits.then_some(AreaCommit { zone, units: own.commit })
    }

    /// Puts unit `unit` into the area of `zone`.
    pub fn hold_in_area(&mut self, zone: ZoneId, unit: u64, content: Option<UnitBytes>) {
        let at = self.areas.iter().position(|own| own.zone == zone).unwrap_or_else(|| {
            let (first, unit_sectors) = (self.range(zone).first, self.unit_sectors());
            self.areas.push(RandomArea { zone, first, unit_sectors, from: 0, units: VecDeque::new() });
            self.areas.len() - 1
        });
        self.areas[at].put(unit, content);
    }

    /// Takes the commit of action `request`.
    pub fn take_commit(&mut self, request: HostRequestId) -> Option<AreaCommit> {
        let at = self.area_writes.iter().position(|own| own.request == request)?;
        let units = self.area_writes.remove(at).commit;
        Some(AreaCommit { zone: self.zone_of(units.0 * self.unit_sectors()), units })
    }

    /// True if unit `unit` is in a random write area.
    #[inline]
    pub fn is_in_area(&self, unit: u64) -> bool {
        !self.areas.is_empty() && self.area_unit(unit).is_some()
    }

    fn area_unit(&self, unit: u64) -> Option<&AreaUnit> {
        self.area(self.zone_of(unit * self.unit_sectors()))?.get(unit)
    }

    /// Content of unit `unit` in a random write area, where the drive keeps bytes.
    pub fn area_content(&self, unit: u64) -> Option<&UnitBytes> {
        if self.areas.is_empty() { None } else { self.area_unit(unit)?.content.as_ref() }
    }

    /// The unit after the last that `zone` holds in its area; absent where it holds none.
    pub fn area_end(&self, zone: ZoneId) -> Option<u64> {
        self.area(zone).map(|own| own.from + own.units.len() as u64)
    }

    /// How far each zone is written that has something in an area, in sectors from its start on; 0 for the others.
    pub fn ends_in_areas(&self) -> Vec<u64> {
        let end = |zone| {
            let held = self.area(zone).map_or(0, RandomArea::end);
            if held != 0 || self.table.has_area(zone) { held.max(self.table.reached(zone)) } else { 0 }
        };
        self.table.ids().map(end).collect()
    }

    /// Forgets what `zone` holds in its area.
    pub fn drop_area(&mut self, zone: ZoneId) {
        self.areas.retain(|own| own.zone != zone);
    }

    /// Unit `unit` of `zone` is in the buffer of a core. True if it was in an area.
    pub(super) fn leave_area(&mut self, zone: ZoneId, unit: u64) -> bool {
        let Some(at) = self.areas.iter().position(|own| own.zone == zone) else { return false };
        let was_there = self.areas[at].remove(unit);
        if self.areas[at].units.is_empty() {
            self.areas.swap_remove(at);
        }
        was_there
    }

    /// Checks that what lies in areas is of the zone that it is said to be of, and of no zone twice.
    pub(super) fn check_areas(&self) -> Result<(), String> {
        for (at, own) in self.areas.iter().enumerate() {
            let is_zone = own.zone.0 < self.table.layout().zones;
            if !is_zone || self.table.random_write().is_none() {
                return Err(format!("zone {} has no random write area", own.zone.0));
            }
            let (range, per_unit) = (self.range(own.zone), self.unit_sectors());
            let end = own.from.checked_add(own.units.len() as u64).and_then(|end| end.checked_mul(per_unit));
            let is_within = end.is_some_and(|end| end <= range.end) && own.from * per_unit >= range.first;
            let is_twice = self.areas[..at].iter().any(|other| other.zone == own.zone);
            if own.units.is_empty()
                || !is_within
                || is_twice
                || own.first != range.first
                || own.unit_sectors != per_unit
            {
                return Err(format!("the random write area of zone {} is not its own", own.zone.0));
            }
            if own.units.front().is_some_and(Option::is_none) || own.units.back().is_some_and(Option::is_none)
            {
                return Err(format!(
                    "the random write area of zone {} begins or ends with nothing",
                    own.zone.0
                ));
            }
        }
        Ok(())
    }
}
