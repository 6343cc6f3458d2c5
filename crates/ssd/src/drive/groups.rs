//! Reclaim groups: which of them a write goes to, and what a unit leaves behind in another.
//!
//! A write goes to the group that its placement identifier names, unless that has no room for one unit more: then the unit stays where it is, and one without data
//! goes to the group with the most room. A group may hold as many units as its cores can take for ever ([`FlashSpace::most_units`]), be they more than its share:
//! so none comes to a stop, whatever the host names, and collection does not know of groups. Whether there is room is asked when a unit enters the buffer.

use super::directory::UnitDirectory;
use crate::ssd::Ssd;
use outlast_controller::{Due, ReclaimGroups, UnitHomes, UnitWork, WaitingWrite, units_of_core};
use outlast_device::PlacementId;
use outlast_ftl::FlashSpace;
use outlast_settings::drive::SsdConfig;
use outlast_settings::placement::{PlacementConfig, UNKNOWN_IDENTIFIER};
use outlast_units::slab::NIL;
use outlast_units::{CoreId, Lpn, Nanos};

/// The reclaim groups of a drive of `units` units; `None` where it has one.
pub(crate) fn groups_of(config: &SsdConfig, units: u64) -> Option<UnitHomes> {
    let placement = config.placement.as_ref()?;
    let groups = placement.reclaim_groups();
    let (lanes, identifiers) = (config.controller.flash_cores / groups, placement.identifiers().len());
    let all = ReclaimGroups::new(groups, lanes, units, u16::try_from(identifiers).ok()?);
    (groups > 1).then_some(UnitHomes::Grouped(all))
}

/// Number of reclaim groups.
pub(crate) fn group_count(config: &SsdConfig) -> u16 {
    config.placement.as_ref().map_or(1, PlacementConfig::reclaim_groups)
}

impl UnitDirectory<'_> {
    /// The place to which a write of unit `unit` with identifier `placement` goes.
    #[inline(never)]
    pub(crate) fn place_of_write(self, unit: u64, placement: PlacementId) -> (CoreId, Lpn) {
        match self.context.groups() {
            None => self.context.core_of(unit),
            Some(groups) => {
                let wanted = groups.named(placement.0, UNKNOWN_IDENTIFIER);
                groups.place(self.group_for(groups, unit, wanted), unit)
            }
        }
    }

    /// The group to which unit `unit` goes if the host wants it in group `wanted`.
    fn group_for(self, groups: &ReclaimGroups, unit: u64, wanted: u16) -> u16 {
        let now = groups.of_unit(unit);
        if now == Some(wanted) || self.room_in(groups, unit, wanted) != 0 {
            return wanted;
        }
        let others = || (0..groups.count()).map(|group| (self.room_in(groups, unit, group), group));
        // The first of those with the most.
        let best = || others().max_by_key(|&(room, group)| (room, std::cmp::Reverse(group)));
        now.or_else(|| best().filter(|&(room, _)| room != 0).map(|(_, group)| group)).unwrap_or(wanted)
    }

    /// Units of the lane of unit `unit` that there is still room for in group `group`.
    fn room_in(self, groups: &ReclaimGroups, unit: u64, group: u16) -> u64 {
        let (core, _) = groups.place(group, unit);
        let (space, held) = (self.cores[core].ftl().space(), u64::from(groups.held(core)));
        if space.is_read_only() { 0 } else { space.most_units().saturating_sub(held) }
    }
}

impl Ssd {
    /// A write of `work` is about to enter the buffer of core `core`: another core gets it, if its unit is to go to another group by now. True if so.
    #[cold]
    pub(crate) fn goes_elsewhere(&mut self, now: Nanos, core: CoreId, work: UnitWork) -> bool {
        let Some((other, work)) = self.directory().rerouted(core, work) else { return false };
        let work = UnitWork { story: NIL, ..work };
        let stream = self.stream_of_write(other, work);
        self.queue_first(now, other, WaitingWrite { work, stream });
        true
    }

    /// The host's unit that core `core` knows by `lpn` enters the core's buffer, written with identifier `placement`.
    #[cold]
    pub(crate) fn enter_group(&mut self, core: CoreId, lpn: Lpn, placement: PlacementId) {
        let unit = self.context.unit_at(core, lpn);
        let Some(groups) = self.context.homes.as_mut().and_then(|homes| homes.groups_mut()) else { return };
        let (group, wanted) = (groups.group_of(core), groups.named(placement.0, UNKNOWN_IDENTIFIER));
        if wanted != group {
            groups.count_elsewhere(wanted);
        }
        self.put_in_group(unit, group);
    }

    /// Unit `unit` has its data in group `group` from now on: what another holds is out of date.
    pub(crate) fn put_in_group(&mut self, unit: u64, group: u16) {
        let Some(groups) = self.context.homes.as_mut().and_then(|homes| homes.groups_mut()) else { return };
        if groups.of_unit(unit) == Some(group) {
            return;
        }
        let ((core, _), former) = (groups.place(group, unit), groups.put(unit, group));
        let former = former.map(|group| groups.place(group, unit));
        self.review_share(core);
        if let Some((former, lpn)) = former {
            self.cores[former].forget_read(lpn);
            self.cores[former].ftl_mut().trim(lpn);
            self.cores[former].make_due(&mut self.context, Due::Collect);
            self.review_share(former);
        }
    }

    /// The unit that core `core` knows by `lpn` has been trimmed there.
    #[cold]
    pub(crate) fn leave_group(&mut self, core: CoreId, lpn: Lpn) {
        let unit = self.context.unit_at(core, lpn);
        let Some(groups) = self.context.homes.as_mut().and_then(|homes| homes.groups_mut()) else { return };
        if groups.of_unit(unit) == Some(groups.group_of(core)) {
            groups.remove(unit);
            self.review_share(core);
        }
    }

    /// The group of unit `unit` where no host writes it: the one that it is in, or that of its place in the order of addresses.
    pub(crate) fn group_by_address(&self, unit: u64) -> Option<u16> {
        let groups = self.context.groups()?;
        let by_address = || (unit * u64::from(groups.count()) / self.context.size.units.max(1)) as u16;
        Some(groups.of_unit(unit).unwrap_or_else(by_address))
    }

    /// Sees that core `core` makes room for what it holds, and at least for its share.
    fn review_share(&mut self, core: CoreId) {
        let Some(groups) = self.context.groups() else { return };
        let (held, units) = (u64::from(groups.held(core)), self.context.size.units);
        let (count, cores) = (u64::from(groups.count()), self.cores.len() as u64);
        let (share, _) = units_of_core(units, core.0.into(), cores, count);
        let ftl = self.cores[core].ftl_mut();
        let end = ftl.mapped_pages();
        if ftl.space().logical_units() != share.max(held) {
            ftl.set_logical(end, share.max(held));
        }
    }

    /// Checks that each unit has data in the group that the directory says, and in no other, and that each core makes room for what it holds.
    pub(crate) fn check_groups(&self) -> Result<(), String> {
        let built = groups_of(&self.context.config, 0);
        let (groups, built) = (self.context.groups(), built.as_ref().and_then(UnitHomes::groups));
        let groups = match (groups, built) {
            (None, None) => return Ok(()),
            (Some(groups), Some(built)) if groups.is_like(built) => groups,
            _ => return Err("the reclaim groups are not those of the settings".to_owned()),
        };
        groups.check(self.context.size.units, self.cores.len())?;
        for unit in 0..self.context.size.units {
            for group in 0..groups.count() {
                let (core, lpn) = groups.place(group, unit);
                let ftl = self.cores[core].ftl();
                let has = ftl.lookup(lpn).is_some() || ftl.is_lost(lpn);
                if has != (groups.of_unit(unit) == Some(group)) {
                    let known = groups.of_unit(unit);
                    return Err(format!(
                        "unit {unit} is in reclaim group {known:?}; group {group} has data of it: {has}"
                    ));
                }
            }
        }
        for (index, core) in self.cores.iter_indexed() {
            let room: u64 = FlashSpace::logical_units(core.ftl().space());
            if room < u64::from(groups.held(index)) {
                return Err(format!(
                    "core {index} holds {} units, and makes room for {room}",
                    groups.held(index)
                ));
            }
        }
        Ok(())
    }
}
