//! What each reclaim group has written and holds.

use super::handles::PlacementView;
use crate::drive::group_count;
use outlast_controller::ReclaimGroups;
use outlast_ftl::ProgramCause;
use outlast_units::CoreId;

outlast_units::counters! {
    /// A reclaim group: its flash cores together.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct GroupFigures {
        /// Units of the host that it took since the last reset.
        pub host_units: u64,
        /// Units that it wrote since then, for whatever cause.
        pub written_units: u64,
        /// Units that the host wrote to it since then, and that went to another group as it had no room.
        pub elsewhere_units: u64,
        /// Units of the host that it holds.
        pub held_units: u64,
        /// Units of the host that it can hold.
        pub most_units: u64,
        /// Its free superblocks.
        pub free_superblocks: u64,
    }
}

impl<'a> PlacementView<'a> {
    /// Number of reclaim groups; 1 without flexible data placement.
    pub fn group_count(self) -> u16 {
        group_count(self.0.config())
    }

    /// The flash cores of group `group`.
    pub(crate) fn cores_of(self, group: u16) -> impl Iterator<Item = CoreId> + use<'a> {
        let own = self.0.context.groups();
        self.0.cores.indices().filter(move |&core| own.map_or(0, |own| own.group_of(core)) == group)
    }

    /// Figures of each group, in order; empty where the drive has one.
    pub fn groups(self) -> Vec<GroupFigures> {
        let Some(groups) = self.0.context.groups() else { return Vec::new() };
        (0..groups.count()).map(|group| self.group(groups, group)).collect()
    }

    fn group(self, groups: &ReclaimGroups, group: u16) -> GroupFigures {
        let all: Vec<_> = self.0.by_core().collect();
        let mut sum = GroupFigures { elsewhere_units: groups.elsewhere(group), ..GroupFigures::default() };
        for core in groups.cores(group) {
            let at = usize::from(core.0);
            let ((now, joined), (before, joined_before)) = (all[at], self.0.at_reset.by_core[at]);
            let (written, space) = (now - before, self.0.cores[core].ftl().space());
            sum.host_units += written[ProgramCause::Host] + joined - joined_before;
            sum.written_units += written.total();
            sum.held_units += u64::from(groups.held(core));
            sum.most_units += space.most_units();
            sum.free_superblocks += u64::from(space.free_superblocks());
        }
        sum
    }
}
