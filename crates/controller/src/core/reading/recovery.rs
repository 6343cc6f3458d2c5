//! Reads that flash has answered, in full or not: the ladder says how to go on, and whoever asked gets the data.

use crate::commands::{HostRequestId, Requests};
use crate::core::{CoreContext, Effect, FlashCore};
use crate::op::{Op, OpKind};
use crate::read::{Ladder, LadderEffect, Lines, broken_units, units};
use crate::repair::DieWatch;
use outlast_device::{LatencyCause, Outcome};
use outlast_ftl::{CodeAxis, Ftl, LineMember};
use outlast_media::DieFaults;
use outlast_units::slab::NIL;
use outlast_units::{Lpn, Nanos, Ppn, Pu};

/// A flash core as the ladder sees it.
struct CoreLines<'a> {
    ftl: &'a Ftl,
    faults: Option<&'a DieFaults>,
    watch: Option<&'a DieWatch>,
}

impl Lines for CoreLines<'_> {
    fn first_slot_of(&self, pu: Pu) -> Ppn {
        self.ftl.layout().first_slot_of(pu)
    }

    fn needs(&self, pu: Pu, axis: CodeAxis) -> Option<u32> {
        self.ftl.parity().line_needs(pu, axis)
    }

    fn members(&self, pu: Pu, axis: CodeAxis) -> impl Iterator<Item = LineMember> {
        self.ftl.parity().line_of(pu, axis)
    }

    fn is_out_of_reach(&self, pu: Pu) -> bool {
        let die = self.ftl.layout().lane_of_pu(pu).die;
        self.ftl.space().pus().is_dead_lane(pu) && !self.watch.is_some_and(|watch| watch.is_leaving(die))
    }

    fn broken_units(&self, pu: Pu, mask: u64) -> u64 {
        broken_units(self.ftl, self.faults, pu, mask)
    }

    fn owner(&self, slot: Ppn) -> Lpn {
        self.ftl.owner(slot)
    }

    fn lookup(&self, lpn: Lpn) -> Ppn {
        self.ftl.lookup(lpn)
    }

    fn is_lost(&self, lpn: Lpn) -> bool {
        self.ftl.is_lost(lpn)
    }

    fn is_programmed(&self, slot: Ppn) -> bool {
        self.ftl.space().pus().is_programmed(slot)
    }

    fn pu_of(&self, slot: Ppn) -> (Pu, u32) {
        self.ftl.layout().pu_of(slot)
    }
}

impl FlashCore {
    /// The core as the ladder sees it.
    pub fn lines<'a>(&'a self, context: &'a CoreContext) -> impl Lines + 'a {
        CoreLines { ftl: &self.ftl, faults: self.faults.as_ref(), watch: context.watch.as_deref() }
    }

    /// True if what lies on the die of program unit `pu` is beyond reach, as far as firmware knows.
    pub(crate) fn is_out_of_reach(&self, context: &CoreContext, pu: Pu) -> bool {
        self.lines(context).is_out_of_reach(pu)
    }

    /// The data of a sensing has arrived and some of it cannot be corrected. Whether the die is to sense it again; then that is counted.
    #[inline(never)]
    pub(crate) fn reread(&mut self, now: Nanos, context: &mut CoreContext, read: u32) -> bool {
        let op = context.reads[read];
        debug_assert!(op.failing & !op.mask == 0, "only units of the read are missing");
        let ftl = &self.ftl;
        let superblock = ftl.layout().place(op.pu).superblock;
        let is_protected = ftl.superblock(superblock).has_parity();
        let is_limited = is_limited(&context.commands.requests, &op);
        if !context.ladder.wants_reread(&self.lines(context), &op, is_protected, is_limited) {
            return false;
        }
        self.count_reread(now, context, op.pu, op.failing);
        let op = &mut context.reads[read];
        op.step = op.step.saturating_add(1);
        op.rereads = op.rereads.saturating_add(1);
        true
    }

    /// A read has ended that did not give its units in `op.failing`: down the ladder.
    #[cold]
    pub(crate) fn uncorrectable(&mut self, now: Nanos, context: &mut CoreContext, op: &Op) {
        assert!(op.failing != 0, "nothing is missing of a read of {:?}", op.kind);
        let mut op = *op;
        if let Some(ledger) = &mut context.ledger
            && op.kind.is_waited_for()
        {
            ledger.set_apart(&mut op.work, Nanos::ZERO);
        }
        let is_limited = is_limited(&context.commands.requests, &op);
        if op.recovery == NIL && !is_limited {
            op.recovery = 0;
            self.ftl.count_uncorrectable(op.pu, op.failing.count_ones());
            if op.kind == OpKind::RelocationRead {
                self.tasks.recovery_begins(u32::from(op.units));
            }
        }
        self.climb(now, context, |ladder, lines, effects| {
            ladder.failed(lines, op, is_limited, effects);
        });
    }

    /// A member of a line has been read, or could not be.
    #[inline(never)]
    pub(crate) fn stripe_read(&mut self, now: Nanos, context: &mut CoreContext, op: &Op) {
        self.climb(now, context, |ladder, lines, effects| ladder.member_ended(lines, op, effects));
    }

    /// Has the ladder take a step on the core, and does what it asks for.
    fn climb(
        &mut self,
        now: Nanos,
        context: &mut CoreContext,
        step: impl FnOnce(&mut Ladder, &CoreLines<'_>, &mut Vec<LadderEffect>),
    ) {
        let lines =
            CoreLines { ftl: &self.ftl, faults: self.faults.as_ref(), watch: context.watch.as_deref() };
        let mut effects = Vec::new();
        step(&mut context.ladder, &lines, &mut effects);
        for effect in effects {
            match effect {
                LadderEffect::Read(mut op) => {
                    context.note(|ledger| ledger.copy_apart(&mut op.work));
                    self.queue_read(now, context, op);
                }
                LadderEffect::Reread(op) => {
                    self.count_reread(now, context, op.pu, op.failing);
                    self.queue_read(now, context, op);
                }
                LadderEffect::Rebuilt { op, axis, unit, owner, members } if context.config.bytes => {
                    self.take_rebuilt(context, &op, axis, owner, unit, &members);
                }
                LadderEffect::Rebuilt { .. } => {}
                LadderEffect::Combine { members, request } => self.combine(now, context, members, request),
                LadderEffect::Done(op, lost) => self.finish_read(now, context, &op, lost),
            }
        }
    }

    /// Combining members takes a flash core time, which the host waits for.
    fn combine(
        &mut self,
        now: Nanos,
        context: &mut CoreContext,
        members: u64,
        request: Option<HostRequestId>,
    ) {
        let cost = context.config.controller.decode_cost;
        debug_assert!(members != 0, "nothing is combined");
        if cost != Nanos::ZERO {
            let done = self.cpu.occupy(now, Nanos(cost.0 * members));
            if let Some(request) = request {
                context.commands.requests.not_before(request, done);
                context.note(move |ledger| ledger.not_before(request, done));
            }
        }
    }

    /// For drives that keep bytes: what the line gave must be what was written, and is what the host gets.
    fn take_rebuilt(
        &mut self,
        context: &mut CoreContext,
        op: &Op,
        axis: CodeAxis,
        lpn: Option<Lpn>,
        unit: u32,
        members: &[Pu],
    ) {
        let ftl = &self.ftl;
        let slot = ftl.layout().first_slot_of(op.pu) + unit;
        if lpn.is_some_and(|lpn| ftl.lookup(lpn) != slot) {
            return;
        }
        let Some(rebuilt) = ftl.parity().rebuild(slot, axis, members) else {
            // A member for another, in a superblock erased meanwhile: then that other is stale, too.
            assert!(lpn.is_none(), "the line of page {lpn:?} could not be put together");
            return;
        };
        let written = ftl.space().image(slot);
        assert!(
            written.is_none_or(|written| *written == rebuilt),
            "the line of slot {slot} gave other bytes than were written"
        );
        if let Some(lpn) = lpn {
            assert!(rebuilt.tag() == lpn.0, "the line of page {lpn} gave page {}", rebuilt.tag());
            if op.kind == OpKind::HostRead {
                let seen = ftl.space().torn(slot).cloned().unwrap_or(rebuilt);
                context.deliver(op.work.request, self.id, lpn, &seen);
            }
        }
    }

    /// A read has come to its end: it has given all of its units but those in `lost`.
    #[inline(never)]
    pub(crate) fn finish_read(&mut self, now: Nanos, context: &mut CoreContext, op: &Op, lost: u64) {
        debug_assert!(lost & !op.mask == 0, "only units of the read are lost");
        context.note(|ledger| ledger.resumes(now, &op.work, LatencyCause::Rebuild));
        match op.kind {
            OpKind::HostRead => {
                if lost != 0 {
                    let is_limited = is_limited(&context.commands.requests, op);
                    let lost_units = if is_limited { 0 } else { lost.count_ones() };
                    context.counters.medium_errors += u64::from(lost_units);
                    self.note_failed_units(context, op, lost);
                    context.commands.requests.fail(op.work.request, Outcome::MediumError);
                }
                if op.units != 0 {
                    let decode = context.decode_time_after_recovery(op, lost);
                    context.host_read(now, op.work.request, u32::from(op.units), decode);
                }
            }
            OpKind::RmwRead => {
                if lost != 0 {
                    context.counters.medium_errors += 1;
                    self.note_failed_units(context, op, lost);
                    context.commands.requests.fail(op.work.request, Outcome::MediumError);
                    context.finish_parts(now, op.work.request, 1);
                } else {
                    context.unsettled.add_effect(Effect::OldDataRead(*op));
                }
            }
            OpKind::RelocationRead => {
                if op.recovery != NIL {
                    self.tasks.recovery_ended(u32::from(op.units));
                }
                self.relocation_read::<true>(
                    now,
                    context,
                    (op.task, op.pu),
                    op.mask,
                    (u32::from(op.units), lost),
                );
            }
            OpKind::MapRead => self.map_page_read(context, op, lost != 0),
            OpKind::MoveRead => {
                context.unsettled.add_effect(Effect::MoveRead { op: *op, lost: lost != 0 });
            }
            _ => unreachable!("no read of {:?}", op.kind),
        }
        if lost != 0 {
            context.look_at_state();
        }
    }

    /// The units in `lost` of read `op` are why its command fails.
    fn note_failed_units(&mut self, context: &mut CoreContext, op: &Op, lost: u64) {
        let ftl = &self.ftl;
        let first = ftl.layout().first_slot_of(op.pu);
        let owners: Vec<Lpn> = units(lost).map(|unit| ftl.owner(first + unit)).collect();
        for lpn in owners {
            let unit = context.unit_at(self.id, lpn);
            context.commands.failures.note(op.work.request, unit);
        }
    }
}

/// True if `op` is a read for a command with limited retry, one of `requests`.
fn is_limited(requests: &Requests, op: &Op) -> bool {
    op.kind == OpKind::HostRead && requests.command(op.work.request).limited_retry
}
