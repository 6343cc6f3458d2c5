//! Events: completions of members, timers, and the one `settle` after each event.

use super::Array;
use outlast_device::{Completion, Device, LatencyCause};
use outlast_units::Nanos;

impl<D: Device> Array<D> {
    /// Deadline of the array's own timers.
    #[inline]
    fn array_deadline(&self) -> Nanos {
        self.passes.deadline().min(self.doubt.deadline())
    }

    /// Earliest deadline of timers and members.
    #[inline]
    pub(super) fn next_event(&self) -> Nanos {
        self.array_deadline().min(self.members.first_deadline())
    }

    /// Handles the first event, if it is due by `limit`; a member may run on by itself, up to `limit`, as long as nothing else is due and
    /// nothing completes. Returns false if nothing is due.
    pub(super) fn run_next_event(&mut self, limit: Nanos) -> bool {
        let (array_deadline, first) = (self.array_deadline(), self.members.first_deadline());
        // `MAX` means that nothing is due, even if `limit` is `MAX`, too.
        let at = array_deadline.min(first);
        if at > limit || at == Nanos::MAX {
            return false;
        }
        if array_deadline == at {
            self.clock = at;
            self.run_timers(at);
            self.settle(at);
            return true;
        }
        let (reached, notice) = self.members.advance_first(at, limit.min(array_deadline), &mut self.buffer);
        if self.buffer.is_empty() & notice.is_none() {
            return true;
        }
        self.clock = reached;
        if self.accounts.is_some() {
            self.account_completions(reached);
        } else {
            // By index, since the handlers borrow the array.
            let mut next = 0;
            while let Some(&Completion { tag, outcome, .. }) = self.buffer.get(next) {
                self.member_done(reached, tag, outcome);
                next += 1;
            }
        }
        self.buffer.clear();
        if let Some((source, notice)) = notice {
            self.handle_notices(reached, source, notice);
        }
        self.settle(reached);
        true
    }

    /// Runs the timers that are due.
    #[cold]
    #[inline(never)]
    fn run_timers(&mut self, now: Nanos) {
        if self.doubt.bitmap.wake() <= now {
            self.bitmap_daemon(now);
        }
        if self.doubt.is_clean_due(now) {
            self.flush_to_be_clean(now);
        }
        if self.passes.is_scrub_due(now) {
            self.passes.scrub_by_time(self.history.counters.mismatches);
        }
        self.passes.wake_up(now);
    }

    /// Handles everything that is due before `now`, so that an input at `now` does not make time run backwards.
    #[inline]
    pub(super) fn catch_up(&mut self, now: Nanos) {
        // Up to just before `now`: what is due at `now` comes after the input.
        while self.next_event() < now && self.run_next_event(Nanos(now.0 - 1)) {}
        self.clock = self.clock.max(now);
    }

    /// Ends every event: does all that it made due, until nothing is. Operations continue that got space for their record, their mark
    /// or their lock; host commands that were held back begin; members that must leave are removed; passes and repairs are pumped.
    #[inline]
    pub(super) fn settle(&mut self, now: Nanos) {
        if self.is_unsettled() {
            self.settle_all(now);
        }
    }

    /// Never inlined: hardly ever called, and its handlers take much of the stack.
    #[cold]
    #[inline(never)]
    fn settle_all(&mut self, now: Nanos) {
        while self.is_unsettled() {
            self.settle_one(now);
        }
    }

    #[inline]
    pub(super) fn is_unsettled(&self) -> bool {
        // Without branches: hardly ever does anything wait at all.
        let is_any_waiting = self.flight.is_any_waiting() | self.doubt.may_be_ready();
        let may_go_on = is_any_waiting | self.members.is_any_leaving() | self.passes.is_pump_due();
        may_go_on && self.is_due()
    }

    /// True if something that waits can go on.
    #[inline(never)]
    fn is_due(&self) -> bool {
        !self.flight.runnable.is_empty()
            || self.passes.is_pump_due()
            || self.doubt.is_any_ready()
            || self.flight.is_any_released()
            || self.members.is_any_leaving()
    }

    /// Does the most urgent thing that is due. The order is part of the model: results depend on it.
    fn settle_one(&mut self, now: Nanos) {
        if let Some((op, bytes)) = self.doubt.log.next_waiting() {
            self.flight.ops[op].log_bytes = bytes;
            self.account_wait(now, op, Some(LatencyCause::Record));
            self.write_log(now, op);
        } else if let Some(op) = self.doubt.bitmap.take_marked() {
            self.account_wait(now, op, Some(LatencyCause::Record));
            self.gather(now, op);
        } else if self.doubt.bitmap.begin_marking() {
            self.carry_on_bitmap(now);
        } else if let Some(held) = self.flight.take_released() {
            if let Some(accounts) = &mut self.accounts {
                accounts.hold_out(now, held.tag, LatencyCause::Mount);
            }
            self.accept(now, held.command, held.tag, &held.data);
        } else if let Some(op) = self.flight.runnable.pop_front() {
            self.account_wait(now, op, None);
            self.begin_locked(now, op);
        } else if let Some(column) = self.members.take_leaving() {
            self.fail_column(now, column);
        } else if self.passes.take_pump() {
            self.pump_background(now);
        }
    }
}
