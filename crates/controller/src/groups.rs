//! Reclaim groups: each is some of the flash cores, and the host names one with each write.
//!
//! Of `G` groups with `K` cores each, group `g` has the cores `g·K` to `g·K + K − 1`. Unit `u` is number `u / K` of one of the cores `u mod K` of the groups, its
//! *lane*: of which group, the directory says, a byte for each unit. So a core numbers all units of its lane, and holds some of them.
//!
//! A unit has data in one group at most. A write that enters the buffer of another group's core drops the data there is. What a group may hold is for the
//! drive to say; here is what it holds.

use outlast_units::{CoreId, IndexVec, Lpn};

/// Group of a unit without data.
const NOWHERE: u8 = u8::MAX;

/// The group of each unit, and what groups hold.
#[derive(Clone, Debug, PartialEq, Eq, outlast_persist::Persist)]
pub struct ReclaimGroups {
    groups: u16,
    /// Cores of a group.
    lanes: u16,
    /// Placement identifiers that name groups in turn.
    identifiers: u16,
    of_unit: Vec<u8>,
    /// Units that each core holds.
    held: IndexVec<CoreId, u32>,
    /// Units that the host wrote to each group and that went to another, since the last reset.
    elsewhere: Vec<u64>,
}

impl ReclaimGroups {
    /// `groups` groups of `lanes` flash cores each, which hold none of `units` units. There are `identifiers` placement identifiers.
    pub fn new(groups: u16, lanes: u16, units: u64, identifiers: u16) -> Self {
        Self {
            groups,
            lanes,
            identifiers,
            of_unit: vec![NOWHERE; units as usize],
            held: IndexVec::filled(0, usize::from(groups * lanes)),
            elsewhere: vec![0; groups.into()],
        }
    }

    /// Number of groups.
    pub fn count(&self) -> u16 {
        self.groups
    }

    /// The group that a write with placement identifier `identifier` names. One that the drive does not have names the first; `unknown` is the bit of one that its
    /// namespace does not have.
    #[inline]
    pub fn named(&self, identifier: u16, unknown: u16) -> u16 {
        let known = identifier & !unknown;
        if known < self.identifiers { known % self.groups } else { 0 }
    }

    /// The cores of group `group`.
    pub fn cores(&self, group: u16) -> impl ExactSizeIterator<Item = CoreId> + use<> {
        (group * self.lanes..(group + 1) * self.lanes).map(CoreId)
    }

    /// The group of core `core`.
    #[inline]
    pub fn group_of(&self, core: CoreId) -> u16 {
        core.0 / self.lanes
    }

    /// The core of group `group` that holds unit `unit` if the group does, and the unit's number there.
    #[inline]
    pub fn place(&self, group: u16, unit: u64) -> (CoreId, Lpn) {
        let lanes = u64::from(self.lanes);
        (CoreId(group * self.lanes + (unit % lanes) as u16), Lpn((unit / lanes) as u32))
    }

    /// The group that has data of unit `unit`.
    #[inline]
    pub fn of_unit(&self, unit: u64) -> Option<u16> {
        match self.of_unit[unit as usize] {
            NOWHERE => None,
            group => Some(group.into()),
        }
    }

    /// The place of unit `unit`: of one without data, in the first group.
    #[inline]
    pub fn home(&self, unit: u64) -> (CoreId, Lpn) {
        self.place(self.of_unit(unit).unwrap_or(0), unit)
    }

    /// The unit that core `core` knows by number `number`.
    #[inline]
    pub fn unit_at(&self, core: CoreId, number: Lpn) -> u64 {
        u64::from(number.0) * u64::from(self.lanes) + u64::from(core.0 % self.lanes)
    }

    /// Units that core `core` holds.
    #[inline]
    pub fn held(&self, core: CoreId) -> u32 {
        self.held[core]
    }

    /// True if its groups are those of `other`, whatever they hold.
    pub fn is_like(&self, other: &Self) -> bool {
        (self.groups, self.lanes, self.identifiers) == (other.groups, other.lanes, other.identifiers)
    }

    /// Units that the host wrote to group `group` and that went to another, since the last reset.
    pub fn elsewhere(&self, group: u16) -> u64 {
        self.elsewhere[usize::from(group)]
    }

    /// Unit `unit` has data in group `group` from now on. Returns the group that had its data before.
    pub fn put(&mut self, unit: u64, group: u16) -> Option<u16> {
        let before = self.remove(unit);
        let (core, _) = self.place(group, unit);
        self.of_unit[unit as usize] = group as u8;
        self.held[core] += 1;
        before
    }

    /// Unit `unit` has no data any more. Returns the group that had it.
    pub fn remove(&mut self, unit: u64) -> Option<u16> {
        let group = self.of_unit(unit)?;
        let (core, _) = self.place(group, unit);
        self.of_unit[unit as usize] = NOWHERE;
        self.held[core] -= 1;
        Some(group)
    }

    /// Counts a unit that the host wrote to `group` and that went to another.
    pub fn count_elsewhere(&mut self, group: u16) {
        self.elsewhere[usize::from(group)] += 1;
    }

    /// Begins to count anew.
    pub fn reset_counts(&mut self) {
        self.elsewhere.fill(0);
    }

    /// Bytes of the directory of `units` units.
    pub fn bytes(units: u64) -> u64 {
        units
    }

    /// Checks that the directory is of `units` units and `cores` cores, and that cores hold what it says.
    ///
    /// # Errors
    /// The first disagreement.
    pub fn check(&self, units: u64, cores: usize) -> Result<(), String> {
        let sizes = (self.of_unit.len() as u64, self.held.len(), self.elsewhere.len());
        if sizes != (units, cores, usize::from(self.groups)) {
            return Err(format!(
                "reclaim groups are of {sizes:?} units, cores and groups, not of {units} and {cores}"
            ));
        }
        let mut held: IndexVec<CoreId, u32> = IndexVec::filled(0, cores);
        for (unit, &group) in (0..).zip(&self.of_unit) {
            if group == NOWHERE {
                continue;
            }
            if u16::from(group) >= self.groups {
                return Err(format!("unit {unit} is in reclaim group {group} of {}", self.groups));
            }
            held[self.place(group.into(), unit).0] += 1;
        }
        if held != self.held {
            return Err(format!("cores hold {:?} units, and the directory says {held:?}", self.held));
        }
        Ok(())
    }
}

/// Units of a drive of `units` that core `core` of `cores` makes room for, and the numbers that it has for them: with `groups` reclaim groups it may hold any unit
/// of its lane, and makes room for its share of them.
pub fn units_of_core(units: u64, core: u64, cores: u64, groups: u64) -> (u64, u64) {
    let lanes = cores / groups;
    let share = |all: u64, of: u64, part: u64| all / of + u64::from(part < all % of);
    let numbers = share(units, lanes, core % lanes);
    (share(numbers, groups, core / lanes), numbers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        /// Against a map of what each unit's group is.
        #[test]
        fn groups_hold_what_was_put_there(
            groups in 1u16..6, lanes in 1u16..4, units in 1u64..200, steps in prop::collection::vec((0u64..200, 0u16..7), 0..300),
        ) {
            let mut own = ReclaimGroups::new(groups, lanes, units, 3 * groups);
            let mut expected: BTreeMap<u64, u16> = BTreeMap::new();
            for (unit, group) in steps {
                let unit = unit % units;
                if group >= groups {
                    prop_assert_eq!(own.remove(unit), expected.remove(&unit));
                } else {
                    prop_assert_eq!(own.put(unit, group), expected.insert(unit, group));
                }
                prop_assert_eq!(own.of_unit(unit), expected.get(&unit).copied());
            }
            own.check(units, usize::from(groups * lanes)).map_err(TestCaseError::fail)?;
            for unit in 0..units {
                let (core, number) = own.home(unit);
                prop_assert_eq!(own.unit_at(core, number), unit);
                prop_assert_eq!(own.group_of(core), expected.get(&unit).copied().unwrap_or(0));
                prop_assert!(own.cores(own.group_of(core)).any(|other| other == core));
            }
        }

        /// The shares of all cores are all units, and those of the cores of a lane are its numbers.
        #[test]
        fn shares_are_whole_and_complete(units in 0u64..10_000, lanes in 1u64..5, groups in 1u64..6) {
            let cores = lanes * groups;
            let of = |core| units_of_core(units, core, cores, groups);
            prop_assert_eq!((0..cores).map(|core| of(core).0).sum::<u64>(), units);
            for lane in 0..lanes {
                let all: u64 = (0..groups).map(|group| of(group * lanes + lane).0).sum();
                prop_assert_eq!(all, of(lane).1);
            }
            if groups == 1 {
                for core in 0..cores {
                    let plain = units / cores + u64::from(core < units % cores);
                    prop_assert_eq!(of(core), (plain, plain));
                }
            }
        }
    }
}
