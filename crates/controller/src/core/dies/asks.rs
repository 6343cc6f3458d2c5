//! Questions of dies: sensing that begins, and the next read of an internal task.

use crate::core::collection::OnChip;
use crate::core::{CoreContext, Due, FlashCore, NextRead};
use crate::op::{InternalTask, OpKind, Purpose};
use outlast_flash::{DieStep, FlashOp, TaskReadAnswer, TaskReadQuery};
use outlast_ftl::ReadCause;
use outlast_units::{DieId, Nanos};

impl FlashCore {
    /// Deals with what a die came to, and answers what it asks; where `PLAIN`, in a flash room that [is](outlast_flash::Flash::is_plain).
    #[allow(clippy::inline_always, reason = "one comparison, mostly, wherever a die may begin something")]
    #[inline(always)]
    pub(in crate::core) fn follow<const PLAIN: bool>(
        &mut self,
        now: Nanos,
        context: &mut CoreContext,
        die: DieId,
        next: DieStep,
    ) {
        // Returns first where most steps end.
        if matches!(next, DieStep::Nothing) {
            return;
        }
        match next {
            DieStep::Asks(ask) => self.answer(now, context, die, ask),
            DieStep::Sensing(pages) => self.sensing(now, context, die, pages, None),
            _ if PLAIN => debug_assert!(false, "a plain room comes to {next:?}"),
            DieStep::Nothing => {}
            DieStep::SensingBeside(_) | DieStep::PlaneFree => self.follow_on(now, context, die, next),
        }
    }

    /// [`FlashCore::follow`] of all that follows from a step of a die that may come to several.
    #[inline(never)]
    fn follow_on(&mut self, now: Nanos, context: &mut CoreContext, die: DieId, mut next: DieStep) {
        loop {
            match next {
                DieStep::Nothing => return,
                DieStep::Sensing(pages) => return self.sensing(now, context, die, pages, None),
                DieStep::SensingBeside(pages) => self.sensing(now, context, die, pages, None),
                DieStep::PlaneFree => {}
                DieStep::Asks(ask) => return self.answer(now, context, die, ask),
            }
            next = context.flash.wake(now, die, |_| self.demand());
        }
    }

    /// Die `die` has begun to sense the units of a read, on so many pages, for `cause`, where that is known already.
    #[allow(clippy::inline_always, reason = "a few steps, once for each read")]
    #[inline(always)]
    fn sensing(
        &mut self,
        now: Nanos,
        context: &mut CoreContext,
        die: DieId,
        pages: u32,
        cause: Option<ReadCause>,
    ) {
        let op = context.flash.sensed(die);
        let cause = if let Some(cause) = cause {
            cause
        } else {
            let op = context.flash.op(op);
            let Purpose { kind, task, cookie, has_record, .. } = op.tag;
            match kind {
                _ if has_record => context.reads[cookie].cause(),
                OpKind::HostRead => ReadCause::Host,
                _ => kind.cause_in(task, op.mode()),
            }
        };
        context.counters.reads[cause] += u64::from(pages);
        if context.fallible {
            self.sense(now, context, op);
        }
    }

    /// Answers an idle die, which asks what a task reads next from it, and deals with what it comes to.
    #[inline(never)]
    fn answer(&mut self, now: Nanos, context: &mut CoreContext, die: DieId, ask: TaskReadQuery) {
        let local = context.places[die].local;
        let buffer = &mut self.buffer;
        let may_start = ask.may_start()
            && !(ask.task() == InternalTask::Gc && buffer.holds_up())
            && !(buffer.takes_tokens() && buffer.holds_back(now, ask.task()).is_some());
        if may_start && context.config.ftl.gc.on_chip_copies != 0 {
            let answer = match self.copy_on_chip(now, context, ask.task(), die) {
                OnChip::Copied => Some(TaskReadAnswer::Again),
                OnChip::Waits => Some(TaskReadAnswer::Later),
                OnChip::Reads => None,
            };
            if let Some(answer) = answer {
                let next = context.flash.answer(now, die, ask, answer, |_| self.demand());
                return self.follow_on(now, context, die, next);
            }
        }
        let FlashCore { tasks, ftl, cpu, buffer, .. } = self;
        let answer = match tasks.next_read(ask.task(), local, ftl, may_start) {
            NextRead::None => TaskReadAnswer::Nothing,
            NextRead::Later => {
                if buffer.takes_tokens()
                    && let Some(until) = buffer.holds_back(now, ask.task())
                {
                    context.call_housekeeping(until);
                }
                TaskReadAnswer::Later
            }
            NextRead::Stale => {
                // Answered when it is known what becomes of the victim.
                self.make_due(context, Due::victim(ask.task()));
                context.unsettled.add_ask(die, ask);
                return;
            }
            NextRead::Read { pu, place, mask, units } => {
                let cost = context.config.controller.relocation_cost;
                if cost != Nanos::ZERO {
                    cpu.occupy(now, Nanos(cost.0 * u64::from(units)));
                }
                let (tag, mode) = (Purpose::relocation_read(ask.task(), pu), place.mode);
                let next =
                    context.flash.give_read(now, die, ask, FlashOp::read_counted(place, (mask, units), tag));
                return match next {
                    DieStep::Sensing(pages) => {
                        let cause = OpKind::RelocationRead.cause_in(ask.task(), mode);
                        self.sensing(now, context, die, pages, Some(cause));
                    }
                    _ => self.follow_on(now, context, die, next),
                };
            }
        };
        let next = context.flash.answer(now, die, ask, answer, |_| self.demand());
        self.follow_on(now, context, die, next);
    }
}
