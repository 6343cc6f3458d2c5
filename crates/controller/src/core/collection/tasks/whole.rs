//! Whole program units of a victim.

use super::Tasks;
use crate::op::InternalTask;
use outlast_ftl::Ftl;
use outlast_units::{LocalDie, Pu, SuperblockId};

impl Tasks {
    /// The next program unit that die `local` has for `task`, and its superblock, if all of it is to be moved, by one read.
    pub(crate) fn next_whole(
        &self,
        task: InternalTask,
        local: LocalDie,
        ftl: &Ftl,
    ) -> Option<(SuperblockId, Pu)> {
        let victim = self.under_way[task as usize].victim.as_ref()?;
        let within = victim.list.peek(local)?;
        let all = u64::MAX >> (64 - ftl.layout().units_per_pu());
        let units = ftl.valid_units(victim.superblock, within) & self.span.0 & victim.units;
        let has_room = self.relocating < self.relocating_max;
        (units == all && has_room).then(|| (victim.superblock, ftl.layout().pu_at(victim.superblock, within)))
    }
}
