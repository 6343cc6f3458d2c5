//! What an idle die does next.

use crate::die::Phase;
use crate::flash::Flash;
use crate::next::{Answer, Ask, Demand, Next, Point};
use crate::op::{Kind, Op, Queue, Task};
use outlast_units::{CoreId, DieId, Nanos};

/// While collection is urgent, so many host operations may go before one internal operation on a die.
pub(crate) const HOST_IN_A_ROW: u8 = 8;

impl<T: Copy> Flash<T> {
    /// Picks what idle die `die` does next: by priority, see [`Flash`].
    #[inline(never)]
    pub(crate) fn turn<const PLAIN: bool>(
        &mut self,
        now: Nanos,
        die: DieId,
        demands: impl Fn(CoreId) -> Demand,
    ) -> Next {
        if PLAIN {
            return self.pick::<true>(now, die, demands);
        }
        let next = self.pick::<false>(now, die, &demands);
        if self.suspends_for_waiting {
            self.suspend_for_waiting(now, die, demands);
        }
        next
    }

    #[inline]
    fn pick<const PLAIN: bool>(
        &mut self,
        now: Nanos,
        die: DieId,
        demands: impl Fn(CoreId) -> Demand,
    ) -> Next {
        let state = &mut self.dies[die];
        if state.suspended.is_some() {
            return self.turn_while_suspended::<PLAIN>(now, die);
        }
        let demand = demands(state.core);
        if demand.background || !state.background.is_empty() {
            if state.since_background >= self.background_every {
                return self.attempt::<PLAIN>(now, die, Point::Overdue(demand.urgent), Task::WearLeveling);
            }
            state.since_background = state.since_background.saturating_add(1);
        }
        self.turn_to_host::<PLAIN>(now, die, demand.urgent, false)
    }

    /// What a die does that has been interrupted in a program or erase: reads, a bounded number of them, then the rest of that.
    pub(crate) fn turn_while_suspended<const PLAIN: bool>(&mut self, now: Nanos, die: DieId) -> Next {
        let state = &mut self.dies[die];
        let Some(suspended) = &mut state.suspended else { unreachable!("die {die} has suspended nothing") };
        if state.reads.is_empty() || suspended.reads_left == 0 {
            self.resume::<PLAIN>(now, die);
            return Next::Nothing;
        }
        suspended.reads_left -= 1;
        let op = state.reads.pop(&mut self.ops);
        self.start_read::<PLAIN>(now, die, op)
    }

    /// What a die does that is neither interrupted nor owes a background task its turn. `urgent` says whether collection goes before host
    /// programs, and every so often before reads; and `passed`, that it has been looked at for that reason and has nothing to do.
    fn turn_to_host<const PLAIN: bool>(
        &mut self,
        now: Nanos,
        die: DieId,
        urgent: bool,
        passed: bool,
    ) -> Next {
        let state = &mut self.dies[die];
        let collects = urgent && !passed && state.has_internal_work();
        if !state.reads.is_empty() {
            if collects && state.host_in_a_row >= HOST_IN_A_ROW {
                return self.attempt::<PLAIN>(now, die, Point::Urgent, Task::Gc);
            }
            if state.programs.is_empty() {
                state.reads_in_a_row = 0;
            } else if state.reads_in_a_row >= self.program_every {
                self.start_host_program::<PLAIN>(now, die);
                return Next::Nothing;
            } else {
                state.reads_in_a_row += 1;
            }
            state.host_in_a_row = if urgent { state.host_in_a_row.saturating_add(1) } else { 0 };
            let op = state.reads.pop(&mut self.ops);
            return self.start_read::<PLAIN>(now, die, op);
        }
        if collects {
            return self.attempt::<PLAIN>(now, die, Point::Urgent, Task::Gc);
        }
        if !state.programs.is_empty() {
            self.start_host_program::<PLAIN>(now, die);
            return Next::Nothing;
        }
        if !state.has_internal_work() {
            self.rest(die);
            return Next::Nothing;
        }
        if urgent {
            return self.attempt::<PLAIN>(now, die, Point::Background, Task::WearLeveling);
        }
        self.attempt::<PLAIN>(now, die, Point::Collection, Task::Gc)
    }

    #[inline]
    fn start_host_program<const PLAIN: bool>(&mut self, now: Nanos, die: DieId) {
        let state = &mut self.dies[die];
        state.reads_in_a_row = 0;
        let op = state.programs.pop(&mut self.ops);
        self.start_program::<PLAIN>(now, die, op);
    }

    /// Starts what waits in the queue of `task`, or asks for a read.
    fn attempt<const PLAIN: bool>(&mut self, now: Nanos, die: DieId, point: Point, task: Task) -> Next {
        let Some(op) = self.take_queued(die, task) else { return self.ask::<PLAIN>(now, die, point, task) };
        self.note_begun(die, point);
        self.start::<PLAIN>(now, die, op)
    }

    #[inline]
    fn ask<const PLAIN: bool>(&mut self, now: Nanos, die: DieId, point: Point, task: Task) -> Next {
        if self.dies[die].wanted >> task as u8 & 1 == 1 {
            return Next::Asks(Ask::new(task, self.internal < self.internal_max, point));
        }
        self.pass::<PLAIN>(now, die, point, task)
    }

    /// The answer to what die `die`, which has not been woken since, asked.
    pub fn answer(
        &mut self,
        now: Nanos,
        die: DieId,
        ask: Ask,
        answer: Answer,
        demands: impl Fn(CoreId) -> Demand,
    ) -> Next {
        if !self.plain {
            return self.answer_with_extras(now, die, ask, answer, demands);
        }
        self.go_on_after::<true>(now, die, ask, answer, demands)
    }

    #[inline(never)]
    fn answer_with_extras(
        &mut self,
        now: Nanos,
        die: DieId,
        ask: Ask,
        answer: Answer,
        demands: impl Fn(CoreId) -> Demand,
    ) -> Next {
        let next = self.go_on_after::<false>(now, die, ask, answer, &demands);
        if self.suspends_for_waiting {
            self.suspend_for_waiting(now, die, demands);
        }
        next
    }

    #[inline]
    fn go_on_after<const PLAIN: bool>(
        &mut self,
        now: Nanos,
        die: DieId,
        ask: Ask,
        answer: Answer,
        demands: impl Fn(CoreId) -> Demand,
    ) -> Next {
        let (task, point) = (ask.task(), ask.point(demands(self.dies[die].core)));
        match answer {
            Answer::Nothing => self.dies[die].wanted &= !(1 << task as u8),
            Answer::Later => self.wait(die),
            Answer::Again => {
                if self.dies[die].phase == Phase::Idle {
                    return self.attempt::<PLAIN>(now, die, point, task);
                }
                // What was queued has woken it.
                self.note_begun(die, point);
                return Next::Nothing;
            }
        }
        self.pass::<PLAIN>(now, die, point, task)
    }

    /// Gives die `die`, which has not been woken since, the read that it asked for.
    #[allow(clippy::inline_always, reason = "as Flash::submit")]
    #[inline(always)]
    pub fn give(&mut self, now: Nanos, die: DieId, ask: Ask, read: Op<T>) -> Next {
        debug_assert!(ask.may_start(), "more internal operations than there may be");
        debug_assert!(self.dies[die].phase == Phase::Idle, "die {die} has not waited for the answer");
        let op = self.ops.insert(read);
        self.internal += 1;
        self.note_begun(die, ask.point(Demand::default()));
        if self.plain { self.start_read::<true>(now, die, op) } else { self.given(now, die, op, ask.task()) }
    }

    /// Read `op` of `task` begins, where there are extras.
    #[inline(never)]
    fn given(&mut self, now: Nanos, die: DieId, op: u32, task: Task) -> Next {
        self.note(move |clocks| clocks.enters(now, die, op, Kind::Read, Queue::Internal(task)));
        self.start_read::<false>(now, die, op)
    }

    /// Internal work has begun.
    #[inline]
    fn note_begun(&mut self, die: DieId, point: Point) {
        let state = &mut self.dies[die];
        match point {
            Point::Overdue(_) => state.since_background = 0,
            Point::Urgent | Point::Collection => state.host_in_a_row = 0,
            Point::Background => {}
        }
    }

    /// Task `task` has nothing for the die now: what comes after it.
    fn pass<const PLAIN: bool>(&mut self, now: Nanos, die: DieId, point: Point, task: Task) -> Next {
        match (point, task) {
            (Point::Overdue(_) | Point::Background, Task::WearLeveling) => {
                self.ask::<PLAIN>(now, die, point, Task::Scrub)
            }
            (Point::Overdue(urgent), _) => {
                let state = &mut self.dies[die];
                state.since_background = state.since_background.saturating_add(1);
                self.turn_to_host::<PLAIN>(now, die, urgent, false)
            }
            (Point::Urgent, _) => self.turn_to_host::<PLAIN>(now, die, true, true),
            (Point::Collection, _) => self.attempt::<PLAIN>(now, die, Point::Background, Task::WearLeveling),
            (Point::Background, _) => {
                self.rest(die);
                Next::Nothing
            }
        }
    }

    #[inline]
    fn rest(&mut self, die: DieId) {
        let state = &mut self.dies[die];
        debug_assert!(state.phase == Phase::Idle, "die {die} is at work");
        if std::mem::take(&mut state.stale_event) {
            self.events.set_die(die, Nanos::MAX);
        }
    }

    /// Takes the first operation from the queue of `task`, if there is one and it may start now.
    #[inline]
    fn take_queued(&mut self, die: DieId, task: Task) -> Option<u32> {
        let list = *self.dies[die].list(Queue::Internal(task));
        if list.is_empty() {
            return None;
        }
        let first = &self.ops[list.head()];
        if first.kind == Kind::Erase && self.is_read_from(die, first) {
            return None;
        }
        if self.internal >= self.internal_max {
            self.wait(die);
            return None;
        }
        let op = self.dies[die].list(Queue::Internal(task)).pop(&mut self.ops);
        self.internal += 1;
        Some(op)
    }

    /// Whether a read waits for data of the block that `erase` is about to erase: translated before its data moved, it must still find
    /// it.
    fn is_read_from(&self, die: DieId, erase: &Op<T>) -> bool {
        self.dies[die].reads.iter(&self.ops).any(|read| self.ops[read].block == erase.block)
    }

    /// The die waits until one more internal operation may start.
    fn wait(&mut self, die: DieId) {
        let state = &mut self.dies[die];
        if !state.waiting {
            state.waiting = true;
            self.waiting.push_back(die);
        }
    }
}
