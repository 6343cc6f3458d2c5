//! Scrubbing: the core shows it what it needs, reads what it wants to look at, and moves what it has chosen.

mod events;
mod policies;
mod view;

use crate::core::{CoreContext, FlashCore};
use crate::health::Reason;
use crate::op::{InternalTask, Op, OpKind};
use outlast_units::{Nanos, Pu};

impl FlashCore {
    /// Everything that scrubbing has to do by now; returns when there is more.
    pub fn scrub_what_is_due(&mut self, now: Nanos, context: &mut CoreContext) -> Nanos {
        let Some(patrol) = self.scrubbing(now, context, |scrub, view| scrub.tick(view)) else {
            return Nanos::MAX;
        };
        if let Some(pu) = patrol {
            self.start_patrol_read(now, context, pu);
        }
        self.ask_what_to_scrub(now, context);
        self.maybe_scrub(now, context);
        self.scrub.as_ref().map_or(Nanos::MAX, |scrub| scrub.next(now))
    }

    /// Starts moving a flagged superblock, if there is one and scrubbing may go on.
    #[inline(never)]
    pub(crate) fn maybe_scrub(&mut self, now: Nanos, context: &mut CoreContext) {
        if self.tasks.runs(InternalTask::Scrub) {
            return;
        }
        let chosen = self.scrubbing(now, context, |scrub, view| scrub.choose(view)).flatten();
        let Some((superblock, reason, block)) = chosen else { return };
        assert!(!matches!(reason, Reason::Space | Reason::Wear), "scrubbing moves for {}", reason.name());
        self.start_relocation(now, context, InternalTask::Scrub, superblock, reason, block);
    }

    fn start_patrol_read(&mut self, now: Nanos, context: &mut CoreContext, pu: Pu) {
        let layout = self.ftl.layout();
        let units = layout.units_per_pu();
        debug_assert!(!self.ftl.space().pus().is_dead_lane(pu), "nothing answers on a dead die");
        let mask = u64::MAX >> (64 - units);
        let op =
            Op { units: units as u16, mask, ..Op::new(OpKind::PatrolRead, InternalTask::Scrub, self.id, pu) };
        self.queue_internal(now, context, &op);
    }

    /// A patrol read has ended; `op.failing` are the units with too many wrong bits.
    #[inline(never)]
    pub(crate) fn patrol_read(&mut self, now: Nanos, context: &mut CoreContext, op: &Op) {
        assert!(op.kind == OpKind::PatrolRead, "a read of {:?} is no patrol", op.kind);
        context.flash.end_internal(now);
        let superblock = self.ftl.layout().place(op.pu).superblock;
        self.scrubbing(now, context, |scrub, view| scrub.patrolled(view, superblock, op.failing != 0));
        context.let_waiting_go();
    }
}
