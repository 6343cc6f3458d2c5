//! Answers of internal tasks to dies that have asked for their next read.

#![allow(clippy::inline_always, reason = "as in turn.rs")]

use crate::die::{DiePhase, FlashDie};
use crate::die_step::{CoreDemand, DieStep, TaskReadAnswer, TaskReadQuery};
use crate::flash::{DieContext, Flash};
use crate::op::{DieQueue, FlashOp, InternalTask};
use crate::op_kind::FlashOpKind;
use outlast_units::{CoreId, DieId, Nanos};

impl<T: Copy> Flash<T> {
    /// Takes the answer to `ask` of die `die`, which has not been woken since.
    pub fn answer(
        &mut self,
        now: Nanos,
        die: DieId,
        ask: TaskReadQuery,
        answer: TaskReadAnswer,
        demands: impl Fn(CoreId) -> CoreDemand,
    ) -> DieStep {
        let Self { dies, context } = self;
        if !context.plain {
            return context.answer_with_extras(now, die, &mut dies[die], ask, answer, demands);
        }
        context.continue_after_answer::<true>(now, die, &mut dies[die], ask, answer, demands)
    }

    /// Gives die `die`, which has not been woken since, the read that it asked for in `ask`.
    #[inline(always)]
    pub fn give_read(&mut self, now: Nanos, die: DieId, ask: TaskReadQuery, read: FlashOp<T>) -> DieStep {
        let Self { dies, context } = self;
        let state = &mut dies[die];
        debug_assert!(ask.may_start(), "more internal operations than there may be");
        debug_assert!(state.phase == DiePhase::Idle, "die {die} has not waited for the answer");
        let op = context.ops.insert(read);
        context.internal += 1;
        state.reset_passed_over(ask.reason(CoreDemand::default()));
        if context.plain {
            context.start_read_here::<true>(now, die, state, op)
        } else {
            context.start_given_read(now, die, state, op, ask.task())
        }
    }
}

impl<T: Copy> DieContext<T> {
    #[inline(never)]
    fn answer_with_extras(
        &mut self,
        now: Nanos,
        die: DieId,
        state: &mut FlashDie,
        ask: TaskReadQuery,
        answer: TaskReadAnswer,
        demands: impl Fn(CoreId) -> CoreDemand,
    ) -> DieStep {
        let next = self.continue_after_answer::<false>(now, die, state, ask, answer, &demands);
        if self.suspends_for_waiting {
            self.suspend_for_waiting_reads(now, die, state, demands);
        }
        next
    }

    #[inline]
    fn continue_after_answer<const PLAIN: bool>(
        &mut self,
        now: Nanos,
        die: DieId,
        state: &mut FlashDie,
        ask: TaskReadQuery,
        answer: TaskReadAnswer,
        demands: impl Fn(CoreId) -> CoreDemand,
    ) -> DieStep {
        let (task, reason) = (ask.task(), ask.reason(demands(state.core)));
        match answer {
            TaskReadAnswer::Nothing => state.tasks &= !(1 << task as u8),
            TaskReadAnswer::Later => self.wait_for_slot(die, state),
            TaskReadAnswer::Again => {
                if state.phase == DiePhase::Idle {
                    return self.start_or_ask_task::<PLAIN>(now, die, state, reason, task);
                }
                // An operation that was queued meanwhile has woken it.
                state.reset_passed_over(reason);
                return DieStep::Nothing;
            }
        }
        self.pass_over_task::<PLAIN>(now, die, state, reason, task)
    }

    /// Starts read `op` of `task` where there are extras.
    #[inline(never)]
    fn start_given_read(
        &mut self,
        now: Nanos,
        die: DieId,
        state: &mut FlashDie,
        op: u32,
        task: InternalTask,
    ) -> DieStep {
        self.update_accounts(move |accounts| {
            accounts.add_op(now, die, op, FlashOpKind::Read, DieQueue::Internal(task));
        });
        self.start_read::<false>(now, die, state, op)
    }
}
