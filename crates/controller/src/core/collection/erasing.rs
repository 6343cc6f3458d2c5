//! Erasing of victims whose data has gone, lane by lane.

use crate::core::{CoreContext, Due, FlashCore};
use crate::op::{InternalTask, Op, OpKind};
use outlast_units::{LaneIndex, Nanos, PuWithin, SuperblockId};

impl FlashCore {
    pub(super) fn queue_erasure(
        &mut self,
        now: Nanos,
        context: &mut CoreContext,
        task: InternalTask,
        superblock: SuperblockId,
        lane: LaneIndex,
    ) {
        let first_pu = self.ftl.layout().pu_at(superblock, PuWithin(0));
        self.queue_internal(now, context, &Op::new(OpKind::Erase, task, self.id, first_pu + lane.0));
    }

    /// Has the blocks of victim `superblock` erased, on all lanes that it still has.
    pub(crate) fn begin_erasing(
        &mut self,
        now: Nanos,
        context: &mut CoreContext,
        task: InternalTask,
        superblock: SuperblockId,
    ) {
        self.ftl.persist_trims_of(superblock);
        if self.ftl.superblock(superblock).lanes().next().is_some() {
            let FlashCore { tasks, ftl, .. } = self;
            let lanes: Vec<LaneIndex> = tasks.erased_first(ftl, superblock).collect();
            for lane in lanes {
                self.queue_erasure(now, context, task, superblock, lane);
            }
        } else {
            // Its last lane has failed since it was filled: no erasure will ever end.
            self.victim_erased(now, context, task, superblock);
        }
    }

    pub(crate) fn relocation_erased(&mut self, now: Nanos, context: &mut CoreContext, op: &Op) {
        context.flash.end_internal(now);
        if self.note_erase_failure(context, op) {
            self.note_failed_write(now, context, op);
        }
        let superblock = self.ftl.layout().place(op.pu).superblock;
        let lane = LaneIndex(op.pu - self.ftl.layout().pu_at(superblock, PuWithin(0)));
        if let Some(next) = self.tasks.erased_after(&self.ftl, superblock, lane) {
            self.queue_erasure(now, context, op.task, superblock, next);
        } else if self.tasks.lane_erased(op.task, superblock) {
            self.victim_erased(now, context, op.task, superblock);
        }
        context.let_waiting_go();
    }

    /// The blocks of victim `superblock` of `task` have been erased, or have failed to be.
    pub(super) fn victim_erased(
        &mut self,
        now: Nanos,
        context: &mut CoreContext,
        task: InternalTask,
        superblock: SuperblockId,
    ) {
        self.note_use(now, context, superblock);
        self.tasks.erased(task, superblock);
        if !self.resets.is_empty()
            && let Some(request) = self.resets.take(superblock)
        {
            context.finish_parts(now, request, 1);
        }
        match (&self.faults, &context.watch) {
            (faults, Some(watch)) => {
                let must = |block| faults.as_ref().is_some_and(|faults| faults.block_must_retire(block));
                self.ftl.erased_but(superblock, |block| watch.must_retire(self.id, block, must(block)));
            }
            (Some(faults), None) => {
                self.ftl.erased_but(superblock, |block| faults.block_must_retire(block));
            }
            (None, None) => self.ftl.erased(superblock),
        }
        self.cells_erased(superblock);
        self.look_at_redundancy(now, context);
        context.look_at_state();
        // The victim after this one may have been waiting for it to be gone.
        self.make_due(context, Due::victim(task));
        for due in [Due::Wear, Due::Collect, Due::Scrub, Due::Admit] {
            self.make_due_then(context, due);
        }
        if self.ftl.needs_map_flush() {
            self.make_due_then(context, Due::MapFlush);
        }
    }
}
