//! Events: completions of members, timers, and the one `settle` after each event.

use super::Array;
use crate::op::{GroupOpKind, MemberCommand, MemberCommandKind};
use outlast_device::{Command, Device, LatencyCause, Op as HostOp, Outcome, Tag};
use outlast_units::Nanos;

impl<D: Device> Array<D> {
    /// Sends a command to a member that is there.
    #[inline]
    pub(super) fn send(&mut self, now: Nanos, sub: MemberCommand, command: Command, data: &[u8]) {
        let tag = Tag(self.flight.member_commands.insert(sub));
        self.members.submit(now, usize::from(sub.column), command, tag, data);
        match command.op {
            HostOp::Read => self.history.counters.member_reads += 1,
            HostOp::Write => self.history.counters.member_writes += 1,
            HostOp::Trim | HostOp::Flush | HostOp::LbaStatus => {}
        }
        if self.members.is_degraded() {
            self.count_rebuild(sub, command);
        }
        // Subtracted now, and added again at its end: background work cancels out in the long run.
        if self.is_working() && self.is_background_work(&sub) {
            self.members.count_traffic(usize::from(sub.column), -i64::from(sub.rows.len()));
        }
    }

    /// True during background work, the pace of which depends on the traffic of the members.
    #[inline]
    fn is_working(&self) -> bool {
        self.passes.under_way().is_some() || !self.repairs.is_none_active()
    }

    /// True if a member command belongs to background work.
    fn is_background_work(&self, sub: &MemberCommand) -> bool {
        matches!(sub.kind, MemberCommandKind::Read | MemberCommandKind::Write | MemberCommandKind::Log)
            && self.flight.ops[sub.owner].kind.is_background_work()
    }

    /// Counts the traffic of a member command that has ended, for the pace of background work.
    #[cold]
    fn count_ended(&mut self, sub: &MemberCommand) {
        let moves_data = !matches!(
            sub.kind,
            MemberCommandKind::Flush
                | MemberCommandKind::Clean
                | MemberCommandKind::Status
                | MemberCommandKind::RepairFlush
        );
        if moves_data {
            self.members.count_traffic(usize::from(sub.column), sub.rows.len().into());
        }
    }

    /// Counts a command that rebuilds a member.
    #[cold]
    fn count_rebuild(&mut self, sub: MemberCommand, command: Command) {
        let (MemberCommandKind::Read | MemberCommandKind::Write) = sub.kind else { return };
        if self.flight.ops[sub.owner].kind == GroupOpKind::Transform {
            let sectors = u64::from(command.sectors);
            match sub.kind {
                MemberCommandKind::Read => self.history.counters.rebuild_sectors_read += sectors,
                _ => self.history.counters.rebuild_sectors_written += sectors,
            }
        }
    }

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
            self.timed_scrub();
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

    /// Hands a completion of a member to the handler of its command.
    #[inline]
    pub(super) fn member_done(&mut self, now: Nanos, tag: Tag, outcome: Outcome) {
        let sub = self.flight.take_member_command(tag);
        self.members.completed(usize::from(sub.column));
        if self.is_working() {
            self.count_ended(&sub);
        }
        match sub.kind {
            MemberCommandKind::DirectRead => self.direct_read_done(now, sub, tag, outcome),
            MemberCommandKind::DirectWrite => self.direct_write_done(now, sub, outcome),
            MemberCommandKind::DirectTrim => self.direct_change_done(now, sub),
            MemberCommandKind::Flush => self.finish_part(now, sub.owner),
            MemberCommandKind::Read => self.handle_read_done(now, sub, tag, outcome),
            MemberCommandKind::Write => self.handle_write_done(now, sub, outcome),
            MemberCommandKind::Log => self.log_done(now, sub.owner),
            MemberCommandKind::Bitmap => self.bitmap_part_done(now),
            MemberCommandKind::Clean => self.doubt.flushed(),
            MemberCommandKind::Status => self.status_done(now, sub, tag, outcome),
            MemberCommandKind::RepairFlush => self.repair_flushed(now, sub.owner),
            MemberCommandKind::External => self.finish_member_read(now, sub, tag, outcome),
        }
    }

    /// Ends a command to a member that is no longer there.
    pub(super) fn member_gone(&mut self, now: Nanos, sub: MemberCommand) {
        self.account_gone(now, &sub);
        if self.is_working() {
            self.count_ended(&sub);
        }
        match sub.kind {
            // `ReadOnly` stands for a member that is gone; its tag is not used.
            MemberCommandKind::DirectRead => self.direct_read_done(now, sub, Tag(0), Outcome::ReadOnly),
            MemberCommandKind::DirectWrite => self.direct_write_done(now, sub, Outcome::ReadOnly),
            MemberCommandKind::DirectTrim => self.direct_change_done(now, sub),
            MemberCommandKind::Flush => self.finish_part(now, sub.owner),
            MemberCommandKind::Read => self.handle_read_gone(now, sub),
            MemberCommandKind::Write => self.finish_commit_part(now, sub.owner),
            MemberCommandKind::Log => self.log_done(now, sub.owner),
            MemberCommandKind::Bitmap => self.bitmap_part_done(now),
            MemberCommandKind::Clean => self.doubt.flushed(),
            MemberCommandKind::External => self.fail_member_read(now, sub),
            // The repair has ended with its member.
            MemberCommandKind::Status | MemberCommandKind::RepairFlush => {}
        }
    }
}
