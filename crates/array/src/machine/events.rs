//! What members complete, what time brings, and the one `settle` after each event.

use super::Array;
use crate::op::{OpKind, Sub, SubKind};
use outlast_device::{Command, Device, LatencyCause as Cause, Op as HostOp, Outcome, Tag};
use outlast_units::Nanos;

impl<D: Device> Array<D> {
    /// Sends a command to a member that is there.
    #[inline]
    pub(super) fn send(&mut self, now: Nanos, sub: Sub, command: Command, data: &[u8]) {
        let tag = Tag(self.flight.subs.insert(sub));
        self.members.submit(now, usize::from(sub.column), command, tag, data);
        match command.op {
            HostOp::Read => self.ledger.counters.member_reads += 1,
            HostOp::Write => self.ledger.counters.member_writes += 1,
            HostOp::Trim | HostOp::Flush | HostOp::LbaStatus => {}
        }
        if self.members.is_degraded() {
            self.count_rebuild(sub, command);
        }
        if self.is_working() && self.is_own_work(&sub) {
            self.members.count_traffic(usize::from(sub.column), -i64::from(sub.rows.len()));
        }
    }

    /// Whether the array does something for itself, so that its pace depends on what members do.
    #[inline]
    fn is_working(&self) -> bool {
        self.passes.under_way().is_some() || !self.repairs.is_none_active()
    }

    /// Whether a command belongs to what the array does for itself.
    fn is_own_work(&self, sub: &Sub) -> bool {
        matches!(sub.kind, SubKind::Read | SubKind::Write | SubKind::Log)
            && self.flight.ops[sub.owner].kind.is_own_work()
    }

    /// A command has ended, of which [`Passes`](crate::passes::Passes) and repairs take note.
    #[cold]
    fn count_ended(&mut self, sub: &Sub) {
        let moves_data =
            !matches!(sub.kind, SubKind::Flush | SubKind::Clean | SubKind::Status | SubKind::RepairFlush);
        if moves_data {
            self.members.count_traffic(usize::from(sub.column), sub.rows.len().into());
        }
    }

    /// Counts a command that rebuilds a member.
    #[cold]
    fn count_rebuild(&mut self, sub: Sub, command: Command) {
        let (SubKind::Read | SubKind::Write) = sub.kind else { return };
        if self.flight.ops[sub.owner].kind == OpKind::Transform {
            let sectors = u64::from(command.sectors);
            match sub.kind {
                SubKind::Read => self.ledger.counters.rebuild_sectors_read += sectors,
                _ => self.ledger.counters.rebuild_sectors_written += sectors,
            }
        }
    }

    /// When the array itself next does something.
    #[inline]
    fn own_deadline(&self) -> Nanos {
        self.passes.deadline().min(self.doubt.deadline())
    }

    /// When anything is next due.
    #[inline]
    pub(super) fn next_event(&self) -> Nanos {
        self.own_deadline().min(self.members.first_deadline())
    }

    /// Does what is due first, which is at `at`; a member may go on by itself, up to `limit`, as long as nothing else is due and nothing
    /// completes.
    #[inline]
    pub(super) fn step(&mut self, at: Nanos, limit: Nanos) {
        let own = self.own_deadline();
        if own == at {
            self.clock = at;
            self.timer(at);
            self.settle(at);
            return;
        }
        let mut buffer = std::mem::take(&mut self.buffer);
        let (source, reached, notice) = self.members.advance_first(at, limit.min(own), &mut buffer);
        if !buffer.is_empty() || notice.is_some() {
            self.clock = reached;
            if self.accounts.is_some() {
                self.follow(reached, &buffer);
            } else {
                for completion in &buffer {
                    self.member_done(reached, completion.tag, completion.outcome);
                }
            }
            buffer.clear();
            if let Some(notice) = notice {
                self.told(reached, source, notice);
            }
            self.settle(reached);
        }
        self.buffer = buffer;
    }

    fn timer(&mut self, now: Nanos) {
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

    /// Does everything that is due before `now`, so that what comes next does not make time run backwards.
    #[inline]
    pub(super) fn catch_up(&mut self, now: Nanos) {
        loop {
            let at = self.next_event();
            if at >= now {
                break;
            }
            self.step(at, Nanos(now.0 - 1));
        }
        self.clock = self.clock.max(now);
    }

    /// The end of every event: whatever it made due is done, until nothing is. Operations go on that got room for their record, their mark
    /// or their lock; host commands that were held back begin; members that must leave do; passes and repairs keep their pace.
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

    fn settle_one(&mut self, now: Nanos) {
        if let Some((op, bytes)) = self.doubt.log.next_waiting() {
            self.flight.ops[op].log_bytes = bytes;
            self.follow_wait(now, op, Some(Cause::Record));
            self.write_log(now, op);
        } else if let Some(op) = self.doubt.bitmap.take_marked() {
            self.follow_wait(now, op, Some(Cause::Record));
            self.gather(now, op);
        } else if self.doubt.bitmap.begin_marking() {
            self.carry_on_bitmap(now);
        } else if let Some(held) = self.flight.take_released() {
            if let Some(accounts) = &mut self.accounts {
                accounts.kept_out(now, held.tag, Cause::Mount);
            }
            self.accept(now, held.command, held.tag, &held.data);
        } else if let Some(op) = self.flight.runnable.pop_front() {
            self.follow_wait(now, op, None);
            self.locked(now, op);
        } else if let Some(column) = self.members.take_leaving() {
            self.fail_column(now, column);
        } else if self.passes.take_pump() {
            self.pump(now);
        }
    }

    #[inline]
    pub(super) fn member_done(&mut self, now: Nanos, tag: Tag, outcome: Outcome) {
        let sub = self.flight.take_sub(tag);
        self.members.completed(usize::from(sub.column));
        if self.is_working() {
            self.count_ended(&sub);
        }
        match sub.kind {
            SubKind::DirectRead => self.direct_read_done(now, sub, tag, outcome),
            SubKind::DirectWrite => self.direct_write_done(now, sub, outcome),
            SubKind::DirectTrim => self.direct_change_done(now, sub),
            SubKind::Flush => self.finish_part(now, sub.owner),
            SubKind::Read => self.gather_done(now, sub, tag, outcome),
            SubKind::Write => self.commit_done(now, sub, outcome),
            SubKind::Log => self.log_done(now, sub.owner),
            SubKind::Bitmap => self.bitmap_part_done(now),
            SubKind::Clean => self.doubt.flushed(),
            SubKind::Status => self.status_done(now, sub, tag, outcome),
            SubKind::RepairFlush => self.repair_flushed(now, sub.owner),
            SubKind::Aside => self.aside_done(now, sub, tag, outcome),
        }
    }

    /// Ends a command to a member that is no longer there.
    pub(super) fn member_gone(&mut self, now: Nanos, sub: Sub) {
        self.follow_gone(now, &sub);
        if self.is_working() {
            self.count_ended(&sub);
        }
        match sub.kind {
            SubKind::DirectRead => self.direct_read_done(now, sub, Tag(0), Outcome::ReadOnly),
            SubKind::DirectWrite => self.direct_write_done(now, sub, Outcome::ReadOnly),
            SubKind::DirectTrim => self.direct_change_done(now, sub),
            SubKind::Flush => self.finish_part(now, sub.owner),
            SubKind::Read => self.gather_gone(now, sub),
            SubKind::Write => self.commit_part(now, sub.owner),
            SubKind::Log => self.log_done(now, sub.owner),
            SubKind::Bitmap => self.bitmap_part_done(now),
            SubKind::Clean => self.doubt.flushed(),
            SubKind::Aside => self.aside_gone(now, sub),
            // The repair has ended with its member.
            SubKind::Status | SubKind::RepairFlush => {}
        }
    }
}
