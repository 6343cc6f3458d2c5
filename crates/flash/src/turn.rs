//! The choice of an idle die: which operation it takes up next.

#![allow(clippy::inline_always, reason = "each die chooses and starts in one frame")]

use crate::die::{DiePhase, FlashDie};
use crate::die_step::{CoreDemand, DieStep, TaskReadQuery, TurnReason};
use crate::flash::DieContext;
use crate::op::{DieQueue, InternalTask};
use crate::op_kind::FlashOpKind;
use outlast_units::{CoreId, DieId, Nanos};

/// Host operations that may go before one internal operation on a die while collection is urgent: reads hardly wait, space is collected (decision 0020).
pub(crate) const HOST_IN_A_ROW: u8 = 8;

impl<T: Copy> DieContext<T> {
    /// Starts the next operation of idle die `die` by priority, see [`Flash`].
    #[inline(never)]
    pub(crate) fn take_turn<const PLAIN: bool>(
        &mut self,
        now: Nanos,
        die: DieId,
        state: &mut FlashDie,
        demands: impl Fn(CoreId) -> CoreDemand,
    ) -> DieStep {
        if PLAIN {
            return self.pick_next::<true>(now, die, state, demands);
        }
        let next = self.pick_next::<false>(now, die, state, &demands);
        if self.suspends_for_waiting {
            self.suspend_for_waiting_reads(now, die, state, demands);
        }
        next
    }

    /// The choice itself.
    #[inline(always)]
    pub(crate) fn pick_next<const PLAIN: bool>(
        &mut self,
        now: Nanos,
        die: DieId,
        state: &mut FlashDie,
        demands: impl Fn(CoreId) -> CoreDemand,
    ) -> DieStep {
        // Before all else: an operation that is suspended is never suspended again by another, and must end some time.
        if state.suspended.is_some() {
            return self.serve_reads_or_resume::<PLAIN>(now, die, state);
        }
        let demand = demands(state.core);
        if demand.background || !state.background.is_empty() {
            if state.since_background >= self.background_every {
                return self.start_or_ask_task::<PLAIN>(
                    now,
                    die,
                    state,
                    TurnReason::Overdue(demand.urgent),
                    InternalTask::WearLeveling,
                );
            }
            // Counted only while a background task is under way: operations before it began give it no turn.
            state.since_background = state.since_background.saturating_add(1);
        }
        self.serve_host::<PLAIN>(now, die, state, demand.urgent, false)
    }

    /// Starts the next read on a die with a suspended operation, or resumes that operation if no read waits or its bound of reads is reached.
    pub(crate) fn serve_reads_or_resume<const PLAIN: bool>(
        &mut self,
        now: Nanos,
        die: DieId,
        state: &mut FlashDie,
    ) -> DieStep {
        let Some(suspended) = &mut state.suspended else { unreachable!("die {die} has suspended nothing") };
        if state.reads.is_empty() || suspended.reads_left == 0 {
            self.resume::<PLAIN>(now, die, state);
            return DieStep::Nothing;
        }
        suspended.reads_left -= 1;
        let op = state.reads.pop(&mut self.ops);
        self.start_read::<PLAIN>(now, die, state, op)
    }

    /// Starts an operation on a die that has none suspended and owes no background task its turn. `urgent`: collection goes before host programs, and
    /// once in [`HOST_IN_A_ROW`] + 1 operations before reads; `passed`: collection was asked for that reason and has nothing to do.
    #[inline(always)]
    fn serve_host<const PLAIN: bool>(
        &mut self,
        now: Nanos,
        die: DieId,
        state: &mut FlashDie,
        urgent: bool,
        passed: bool,
    ) -> DieStep {
        let has_internal_work = state.has_internal_work();
        let collects = urgent && !passed && has_internal_work;
        let has_reads = !state.reads.is_empty();
        if has_reads && !(collects && state.host_in_a_row >= HOST_IN_A_ROW) {
            if state.programs.is_empty() {
                state.reads_in_a_row = 0;
            } else if state.reads_in_a_row >= self.program_every {
                self.start_host_program::<PLAIN>(now, die, state);
                return DieStep::Nothing;
            } else {
                state.reads_in_a_row += 1;
            }
            state.host_in_a_row = if urgent { state.host_in_a_row.saturating_add(1) } else { 0 };
            let op = state.reads.pop(&mut self.ops);
            return self.start_read::<PLAIN>(now, die, state, op);
        }
        let (reason, task) = if collects {
            (TurnReason::Urgent, InternalTask::Gc)
        } else if !state.programs.is_empty() {
            self.start_host_program::<PLAIN>(now, die, state);
            return DieStep::Nothing;
        } else if !has_internal_work {
            self.clear_stale_event(die, state);
            return DieStep::Nothing;
        } else if urgent {
            // Only if collection has been asked (`passed`): it is not asked twice.
            (TurnReason::Background, InternalTask::WearLeveling)
        } else {
            (TurnReason::Collection, InternalTask::Gc)
        };
        self.start_or_ask_task::<PLAIN>(now, die, state, reason, task)
    }

    /// Starts the first operation in the queue of `task`, or asks the task for a read.
    #[inline(always)]
    pub(crate) fn start_or_ask_task<const PLAIN: bool>(
        &mut self,
        now: Nanos,
        die: DieId,
        state: &mut FlashDie,
        reason: TurnReason,
        task: InternalTask,
    ) -> DieStep {
        let Some(op) = self.take_queued(die, state, task) else {
            return self.ask_task::<PLAIN>(now, die, state, reason, task);
        };
        state.reset_passed_over(reason);
        self.start::<PLAIN>(now, die, state, op)
    }

    #[inline(always)]
    fn ask_task<const PLAIN: bool>(
        &mut self,
        now: Nanos,
        die: DieId,
        state: &mut FlashDie,
        reason: TurnReason,
        task: InternalTask,
    ) -> DieStep {
        if state.tasks >> task as u8 & 1 == 1 {
            return DieStep::Asks(TaskReadQuery::new(task, self.internal < self.internal_max, reason));
        }
        self.pass_over_task::<PLAIN>(now, die, state, reason, task)
    }

    /// Continues the choice after task `task`, which has nothing for the die now.
    #[inline(never)]
    pub(crate) fn pass_over_task<const PLAIN: bool>(
        &mut self,
        now: Nanos,
        die: DieId,
        state: &mut FlashDie,
        reason: TurnReason,
        task: InternalTask,
    ) -> DieStep {
        match (reason, task) {
            (TurnReason::Overdue(_) | TurnReason::Background, InternalTask::WearLeveling) => {
                self.ask_task::<PLAIN>(now, die, state, reason, InternalTask::Scrub)
            }
            (TurnReason::Overdue(urgent), _) => {
                // Nothing for a background task: the die does something else, and owes the turn still.
                state.since_background = state.since_background.saturating_add(1);
                self.serve_host::<PLAIN>(now, die, state, urgent, false)
            }
            (TurnReason::Urgent, _) => self.serve_host::<PLAIN>(now, die, state, true, true),
            (TurnReason::Collection, _) => self.start_or_ask_task::<PLAIN>(
                now,
                die,
                state,
                TurnReason::Background,
                InternalTask::WearLeveling,
            ),
            (TurnReason::Background, _) => {
                self.clear_stale_event(die, state);
                DieStep::Nothing
            }
        }
    }

    #[inline]
    fn clear_stale_event(&mut self, die: DieId, state: &mut FlashDie) {
        debug_assert!(state.phase == DiePhase::Idle, "die {die} is at work");
        if std::mem::take(&mut state.stale_event) {
            self.events.clear_die(die);
        }
    }

    /// Takes the first operation from the queue of `task`, if there is one and it may start now.
    #[inline(always)]
    fn take_queued(&mut self, die: DieId, state: &mut FlashDie, task: InternalTask) -> Option<u32> {
        let list = state.list(DieQueue::Internal(task));
        if list.is_empty() {
            return None;
        }
        // A read that was translated before its data moved must still find it: the erasure waits for reads of its block.
        let first = &self.ops[list.head()];
        if first.kind() == FlashOpKind::Erase && state.reads.has_block(&self.ops, first.block) {
            return None;
        }
        if self.internal >= self.internal_max {
            self.wait_for_slot(die, state);
            return None;
        }
        self.internal += 1;
        Some(state.list(DieQueue::Internal(task)).pop(&mut self.ops))
    }

    /// Lists the die among those that wait until one more internal operation may start.
    pub(crate) fn wait_for_slot(&mut self, die: DieId, state: &mut FlashDie) {
        if !state.waiting {
            state.waiting = true;
            self.waiting.push_back(die);
        }
    }
}
