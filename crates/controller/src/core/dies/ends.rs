//! Operations of dies that have ended.

use crate::core::{CoreContext, Effect, FlashCore};
use crate::op::{Op, OpKind, Purpose, UnitWork};
use outlast_flash::{DieEvent, FlashOp, FlashOpKind};
use outlast_units::slab::NIL;
use outlast_units::{DieId, Lpn, Nanos, Pu};

/// When a die whose event has been handled looks for work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum DieGoesOn {
    /// It is at work, or has been woken.
    ByItself,
    /// It is free, and is to be woken when the drive has settled.
    Settled,
}

impl FlashCore {
    /// Something that die `die` did has ended.
    #[allow(clippy::inline_always, reason = "as Ssd::step")]
    #[inline(always)]
    pub fn end_die_work<const PLAIN: bool>(
        &mut self,
        now: Nanos,
        context: &mut CoreContext,
        die: DieId,
    ) -> DieGoesOn {
        let mut in_hand = None;
        if PLAIN {
            if !context.flash.is_about_to_end(die) {
                let next = context.flash.advance_phase::<true>(now, die);
                self.follow::<true>(now, context, die, next);
                return DieGoesOn::ByItself;
            }
        } else {
            match context.flash.handle_event(now, die) {
                DieEvent::Continues(next) => {
                    self.follow::<false>(now, context, die, next);
                    return DieGoesOn::ByItself;
                }
                DieEvent::Passed(op) => {
                    self.coarse_pass_ended(now, context, &op);
                    return DieGoesOn::Settled;
                }
                DieEvent::Ended(op) => in_hand = Some(op),
            }
        }
        // In a plain room the operation is read where it lies, and the die is freed where the kind is known.
        let ended = in_hand.as_ref().unwrap_or_else(|| context.flash.ending(die));
        let (tag, mask, units) = (ended.tag, ended.mask(), ended.units());
        let free = |context: &mut CoreContext, kind| {
            if PLAIN {
                context.flash.free_ended(now, die, kind);
            }
        };
        if !tag.has_record {
            // Compares before the other kinds are told apart by a table, which costs more.
            if tag.kind == OpKind::HostRead {
                free(context, FlashOpKind::Read);
                if context.notes_reads {
                    self.note_read(now, context, tag, mask);
                }
                context.host_read(now, tag.request(), units, context.config.controller.decode.hard);
                self.wake_of::<PLAIN>(now, context, die);
                return DieGoesOn::ByItself;
            }
            match tag.kind {
                OpKind::RelocationRead => {
                    free(context, FlashOpKind::Read);
                    self.relocation_read::<false>(now, context, (tag.task, tag.pu), mask, (units, 0));
                    return DieGoesOn::Settled;
                }
                OpKind::HostProgram | OpKind::RelocationProgram if !context.fallible => {
                    free(context, FlashOpKind::Program);
                    self.programmed(now, context, tag, units);
                    return DieGoesOn::Settled;
                }
                _ => {}
            }
        }
        let ended = in_hand.unwrap_or_else(|| *context.flash.ending(die));
        free(context, ended.kind());
        self.end_other(now, context, die, &ended)
    }

    /// [`FlashCore::end_die_work`] of an operation that has a record, that may fail, or of a kind that ends seldom.
    #[inline(never)]
    fn end_other(
        &mut self,
        now: Nanos,
        context: &mut CoreContext,
        die: DieId,
        ended: &FlashOp<Purpose>,
    ) -> DieGoesOn {
        let tag = ended.tag;
        let op = if tag.has_record {
            if context.reads[tag.cookie].failing != 0 {
                if let Some(known) = context.failure_known(now, tag.cookie) {
                    let held = FlashOp::read(ended.place(), ended.mask(), tag);
                    context.flash.hold_read(now, die, held, known);
                    return DieGoesOn::ByItself;
                }
                if self.reread(now, context, tag.cookie) {
                    // The die senses again what is missing.
                    let again = FlashOp::read(ended.place(), context.reads[tag.cookie].failing, tag);
                    let next = context.flash.sense_again(now, die, again);
                    self.follow::<false>(now, context, die, next);
                    return DieGoesOn::ByItself;
                }
            }
            let op = context.reads[tag.cookie];
            context.reads.remove(tag.cookie);
            if op.failing != 0 && context.watch.is_some() {
                self.note_failed_read(now, context, &op);
            }
            if context.ledger.is_some() && op.kind.is_waited_for() { context.noted(now, op) } else { op }
        } else {
            Op::of_tag(tag, self.id, ended.units(), ended.mask())
        };
        self.end_op(now, context, &op);
        DieGoesOn::Settled
    }

    /// The host read of `tag`, without a record, has the units `mask`: the read cache keeps these, and the account has the way that the read
    /// took.
    #[inline(never)]
    fn note_read(&mut self, now: Nanos, context: &mut CoreContext, tag: Purpose, mask: u64) {
        self.keep_read(tag.pu, mask);
        context.note_way(now, &mut UnitWork::new(tag.request(), Lpn::NONE, 0, 0), true);
    }

    /// The program of `tag`, `units` of whose units carry data, has ended well.
    #[allow(clippy::inline_always, reason = "the end of most programs, with its parts in registers")]
    #[inline(always)]
    fn programmed(&mut self, now: Nanos, context: &mut CoreContext, tag: Purpose, units: u32) {
        self.flash_programmed(now, context, tag.pu, units);
        if tag.kind == OpKind::HostProgram {
            self.host_programmed(now, context, tag, units);
        } else {
            self.relocation_programmed(now, context, tag, units);
        }
    }

    fn end_op(&mut self, now: Nanos, context: &mut CoreContext, op: &Op) {
        match op.kind {
            OpKind::HostRead if op.failing == 0 && op.recovery == NIL => {
                self.keep_read(op.pu, op.mask);
                context.host_read(now, op.work.request, u32::from(op.units), context.decode_time(op));
            }
            OpKind::RmwRead if op.failing == 0 && op.recovery == NIL => {
                context.unsettled.add_effect(Effect::OldDataRead(*op));
            }
            OpKind::RelocationRead if op.failing == 0 && op.recovery == NIL => {
                self.relocation_read::<false>(
                    now,
                    context,
                    (op.task, op.pu),
                    op.mask,
                    (u32::from(op.units), 0),
                );
            }
            OpKind::StripeRead => self.stripe_read(now, context, op),
            OpKind::PatrolRead => self.patrol_read(now, context, op),
            OpKind::ProbeRead => self.probe_read(now, context, op),
            OpKind::ListRead => context.unsettled.add_effect(Effect::ListRead(*op)),
            OpKind::HostRead
            | OpKind::RmwRead
            | OpKind::RelocationRead
            | OpKind::MoveRead
            | OpKind::MapRead => {
                if op.failing == 0 {
                    self.finish_read(now, context, op, 0);
                } else {
                    self.uncorrectable(now, context, op);
                }
            }
            OpKind::HostProgram | OpKind::RelocationProgram if context.fallible && self.program_fails(op) => {
                self.program_failed(now, context, op);
            }
            OpKind::HostProgram | OpKind::RelocationProgram => {
                self.programmed(now, context, op.tag(), u32::from(op.units));
            }
            OpKind::Erase => self.relocation_erased(now, context, op),
        }
    }

    /// Program unit `pu` is on flash, with `units` units of data.
    #[allow(clippy::inline_always, reason = "as FlashCore::programmed")]
    #[inline(always)]
    pub(crate) fn flash_programmed(&mut self, now: Nanos, context: &mut CoreContext, pu: Pu, units: u32) {
        let sealed = self.ftl.programmed(pu);
        if let Some(own) = &mut self.cells {
            if self.ftl.layout().has_modes() {
                own.set_mode(&self.ftl, pu);
            }
            own.cells.programmed(self.ftl.layout().group_of_pu(pu), now + context.aged);
        }
        if sealed {
            self.call_for_idle_folding(now, context);
        }
        if sealed && self.scrub.is_some() {
            let superblock = self.ftl.layout().place(pu).superblock;
            self.sealed(now, context, superblock);
            self.look_at_redundancy(now, context);
        }
        if context.striped && units == 0 {
            // Parity or partial parity has come: fewer may be exposed.
            let stream = self.ftl.superblock(self.ftl.layout().place(pu).superblock).stream();
            self.note_covered(now, stream);
        }
    }
}

impl FlashCore {
    /// A superblock is full: if it is of the cache, the drive is to see when the host rests.
    #[cold]
    fn call_for_idle_folding(&self, now: Nanos, context: &mut CoreContext) {
        let after = context.config.slc_cache.as_ref().and_then(|cache| cache.fold_after_idle);
        if let Some(after) = after.filter(|_| self.ftl.space().may_fold_in_idle_time()) {
            context.call_housekeeping(now + after);
        }
    }
}

impl CoreContext {
    /// Read `op` of a command of the host, which has ended, with what the account says of it.
    #[inline(never)]
    fn noted(&mut self, now: Nanos, mut op: Op) -> Op {
        self.note_way(now, &mut op.work, op.failing == 0);
        op
    }

    /// A read for `work` has ended, and `is_over` says whether it has given all that was wanted.
    #[inline(never)]
    fn note_way(&mut self, now: Nanos, work: &mut UnitWork, is_over: bool) {
        if let (Some(ledger), Some(way)) = (&mut self.ledger, self.flash.read_account()) {
            ledger.has_read(now, work, way, is_over);
        }
    }
}
