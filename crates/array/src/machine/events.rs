//! Events: completions of members, timers, and the one `settle` after each event.

use super::Array;
use outlast_device::{Device, LatencyCause};
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

    /// Handles the first event, which is due at `at`; a member may run on by itself, up to `limit`, as long as nothing else is due and
    /// nothing completes.
    #[inline]
    pub(super) fn run_next_event(&mut self, at: Nanos, limit: Nanos) {
        let array_deadline = self.array_deadline();
        if array_deadline == at {
            self.clock = at;
            self.run_timers(at);
            self.settle(at);
            return;
        }
        // Taken out for the loop, since the handlers borrow the array.
        let mut buffer = std::mem::take(&mut self.buffer);
        let (source, reached, notice) =
            self.members.advance_first(at, limit.min(array_deadline), &mut buffer);
        if !buffer.is_empty() || notice.is_some() {
            self.clock = reached;
            if self.accounts.is_some() {
                self.account_completions(reached, &buffer);
            } else {
                for completion in &buffer {
                    self.member_done(reached, completion.tag, completion.outcome);
                }
            }
            buffer.clear();
            if let Some(notice) = notice {
                self.handle_notices(reached, source, notice);
            }
            self.settle(reached);
        }
        self.buffer = buffer;
    }

    /// Runs the timers that are due.
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
        loop {
            let at = self.next_event();
            if at >= now {
                break;
            }
            // Up to just before `now`: what is due at `now` comes after the input.
            self.run_next_event(at, Nanos(now.0 - 1));
        }
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

    fn settle_all(&mut self, now: Nanos) {
        while self.is_unsettled() {
            self.settle_one(now);
        }
    }

    #[inline]
    pub(super) fn is_unsettled(&self) -> bool {
        // Without branches: hardly ever is anything due.
        !self.flight.runnable.is_empty()
            | self.passes.is_pump_due()
            | self.doubt.is_any_ready()
            | self.flight.is_any_released()
            | self.members.is_any_leaving()
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
