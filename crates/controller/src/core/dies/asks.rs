//! Questions of dies: sensing that begins, and the next read of an internal task.

use crate::core::{CoreContext, Due, FlashCore, NextRead};
use crate::op::{InternalTask, Purpose};
use outlast_flash::{DieStep, TaskReadAnswer, TaskReadQuery};
use outlast_units::{DieId, Nanos};

impl FlashCore {
    /// Deals with what a die came to, and answers what it asks.
    #[allow(clippy::inline_always, reason = "one comparison, mostly, wherever a die may begin something")]
    #[inline(always)]
    pub(in crate::core) fn follow(
        &mut self,
        now: Nanos,
        context: &mut CoreContext,
        die: DieId,
        next: DieStep,
    ) {
        match next {
            DieStep::Nothing => {}
            DieStep::Sensing(pages) => self.sensing(now, context, die, pages),
            _ => self.follow_on(now, context, die, next),
        }
    }

    #[inline(never)]
    fn follow_on(&mut self, now: Nanos, context: &mut CoreContext, die: DieId, mut next: DieStep) {
        loop {
            match next {
                DieStep::Nothing => return,
                DieStep::Sensing(pages) => return self.sensing(now, context, die, pages),
                DieStep::SensingBeside(pages) => {
                    self.sensing_beside(now, context, die, pages);
                    next = context.flash.wake(now, die, |_| self.demand());
                }
                DieStep::PlaneFree => next = context.flash.wake(now, die, |_| self.demand()),
                DieStep::Asks(ask) => next = self.answer(now, context, die, ask),
            }
        }
    }

    #[inline(never)]
    fn sensing_beside(&mut self, now: Nanos, context: &mut CoreContext, die: DieId, pages: u32) {
        self.sensing(now, context, die, pages);
    }

    /// Die `die` has begun to sense the units of a read, on so many pages.
    #[allow(clippy::inline_always, reason = "a few steps, once for each read")]
    #[inline(always)]
    fn sensing(&mut self, now: Nanos, context: &mut CoreContext, die: DieId, pages: u32) {
        let op = context.flash.sensed(die);
        let sensed = context.flash.op(op);
        let Purpose { kind, task, cookie, has_record, .. } = sensed.tag;
        let cause = if has_record { context.reads[cookie].cause() } else { kind.cause(task) };
        context.counters.reads[cause] += u64::from(pages);
        if context.fallible {
            self.sense(now, context, op);
        }
    }

    /// The answer to an idle die: what a task reads next from it.
    fn answer(&mut self, now: Nanos, context: &mut CoreContext, die: DieId, ask: TaskReadQuery) -> DieStep {
        let local = context.places[die].local;
        let FlashCore { tasks, ftl, cpu, buffer, .. } = self;
        let may_start = ask.may_start()
            && !(ask.task() == InternalTask::Gc && buffer.holds_up())
            && !(buffer.takes_tokens() && buffer.holds_back(now, ask.task()).is_some());
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
                return DieStep::Nothing;
            }
            NextRead::Read { pu, place, mask } => {
                let cost = context.config.controller.relocation_cost;
                if cost != Nanos::ZERO {
                    cpu.occupy(now, Nanos(cost.0 * u64::from(mask.count_ones())));
                }
                let read =
                    outlast_flash::FlashOp::read(place, mask, Purpose::relocation_read(ask.task(), pu));
                return context.flash.give_read(now, die, ask, read);
            }
        };
        context.flash.answer(now, die, ask, answer, |_| self.demand())
    }
}
