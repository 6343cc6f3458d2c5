//! Ends of a victim's reads: the units that they have brought go to a stream.

use crate::core::{CoreContext, Due, FlashCore};
use crate::op::InternalTask;
use outlast_ftl::MovingUnits;
use outlast_units::{Nanos, Pu};

impl FlashCore {
    /// The read of `units` units of program unit `pu` for `task` has ended, those in `mask`: they go to the frontier of the relocation's stream, but, where there are
    /// `LOSSES`, for those in `lost`.
    #[inline(never)]
    pub(crate) fn relocation_read<const LOSSES: bool>(
        &mut self,
        now: Nanos,
        context: &mut CoreContext,
        (task, pu): (InternalTask, Pu),
        mask: u64,
        (units, lost): (u32, u64),
    ) {
        debug_assert!(lost & !mask == 0, "a unit of program unit {pu} is lost that was not read");
        debug_assert!(LOSSES || lost == 0, "a unit of program unit {pu} is lost without losses");
        context.flash.end_internal(now);
        if LOSSES || context.fallible {
            self.move_what_fits(now, context, (task, pu), mask, lost);
        } else {
            let (superblock, stream) = self.tasks.route(task);
            let mut moving = MovingUnits::of_victim(&self.ftl, superblock, pu, mask);
            let relocated = self.ftl.relocate_units(stream, &mut moving);
            self.note_relocated(now, context, task, stream, relocated);
            if !moving.are_done() {
                // The rest of them, which goes to another superblock.
                self.move_what_fits(now, context, (task, pu), moving.left(), 0);
            }
        }
        let is_moved = self.tasks.read_ended(task);
        if task == InternalTask::Gc {
            self.grant_credit(now, units);
            if self.buffer.any_waits() && !(context.is_settled() && self.admits_nothing()) {
                self.make_due(context, Due::Admit);
            }
        }
        if is_moved {
            // After the writes for which there is credit now.
            self.make_due_then(context, Due::victim(task));
        }
        context.let_waiting_go();
    }

    /// Moves the units in `mask` of program unit `pu` that a read for `task` has brought, except for those in `lost`, where flash may have no room for all of
    /// them.
    #[inline(never)]
    fn move_what_fits(
        &mut self,
        now: Nanos,
        context: &mut CoreContext,
        (task, pu): (InternalTask, Pu),
        mask: u64,
        lost: u64,
    ) {
        let (superblock, stream) = self.tasks.route(task);
        let mut mask = mask;
        while mask != 0 {
            let Some(run) = self.next_run(context, pu, stream, &mut mask, lost) else { break };
            let mut moving = MovingUnits::of_victim(&self.ftl, superblock, pu, run);
            let relocated = self.ftl.relocate_units(stream, &mut moving);
            mask = mask & !run | moving.left();
            self.note_relocated(now, context, task, stream, relocated);
        }
    }
}
