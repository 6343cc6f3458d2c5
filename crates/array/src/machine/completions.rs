//! Completions of members, handed to the handlers of their commands.

use super::Array;
use crate::member_command::{MemberCommand, MemberCommandKind};
use crate::op::{GroupOpKind, WriteMethod};
use outlast_device::{Device, LatencyCause, Outcome, Tag};
use outlast_units::Nanos;

impl<D: Device> Array<D> {
    /// Hands a completion of a member to the handler of its command.
    #[allow(clippy::inline_always, reason = "once for each event, in one place that counts")]
    #[inline(always)]
    pub(super) fn member_done(&mut self, now: Nanos, tag: Tag, outcome: Outcome) {
        let sub = self.flight.take_member_command(tag);
        self.members.completed(sub.device);
        if self.is_working() {
            self.members.count_ended(&sub);
        }
        match sub.kind {
            MemberCommandKind::DirectRead(host) | MemberCommandKind::LimitedRead(host) => {
                self.direct_read_done(now, host, sub, tag, outcome);
            }
            MemberCommandKind::DirectWrite(host) => self.direct_write_done(now, host, sub, outcome),
            MemberCommandKind::Read(op) => self.handle_read_done(now, op, sub, tag, outcome),
            MemberCommandKind::Write(op) => self.handle_write_done(now, op, sub, outcome),
            _ => self.handle_other_done(now, sub, tag, outcome),
        }
    }

    /// As [`Array::member_done`], for commands that neither read nor write for the host or an operation.
    #[inline(never)]
    fn handle_other_done(&mut self, now: Nanos, sub: MemberCommand, tag: Tag, outcome: Outcome) {
        match sub.kind {
            MemberCommandKind::DirectRead(_)
            | MemberCommandKind::LimitedRead(_)
            | MemberCommandKind::DirectWrite(_)
            | MemberCommandKind::Read(_)
            | MemberCommandKind::Write(_) => debug_assert!(false, "{sub:?} has a handler of its own"),
            MemberCommandKind::DirectTrim(host) => self.direct_change_done(now, host),
            MemberCommandKind::Flush(host) => self.finish_part(now, host),
            MemberCommandKind::Log(op) => self.log_done(now, op),
            MemberCommandKind::Bitmap => self.bitmap_part_done(now),
            MemberCommandKind::Clean => self.doubt.flushed(),
            MemberCommandKind::Status { repair, range } => {
                self.status_done(now, (repair, range), sub.device, tag, outcome);
            }
            MemberCommandKind::RepairFlush(repair) => self.finish_repair(now, repair),
            MemberCommandKind::External { tag: host_tag, .. } => {
                self.finish_member_read(now, sub.device, host_tag, tag, outcome);
            }
        }
    }

    /// Ends a command to a member that is no longer there.
    pub(super) fn member_gone(&mut self, now: Nanos, sub: MemberCommand) {
        self.account_gone(now, &sub);
        if self.is_working() {
            self.members.count_ended(&sub);
        }
        match sub.kind {
            // `ReadOnly` stands for a member that is gone; its tag is not used.
            MemberCommandKind::DirectRead(host) | MemberCommandKind::LimitedRead(host) => {
                self.direct_read_done(now, host, sub, Tag(0), Outcome::ReadOnly);
            }
            MemberCommandKind::DirectWrite(host) => {
                self.direct_write_done(now, host, sub, Outcome::ReadOnly);
            }
            MemberCommandKind::DirectTrim(host) => self.direct_change_done(now, host),
            MemberCommandKind::Flush(host) => self.finish_part(now, host),
            MemberCommandKind::Read(op) => self.finish_gather_part(now, op),
            MemberCommandKind::Write(op) => self.finish_commit_part(now, op),
            MemberCommandKind::Log(op) => self.log_done(now, op),
            MemberCommandKind::Bitmap => self.bitmap_part_done(now),
            MemberCommandKind::Clean => self.doubt.flushed(),
            MemberCommandKind::External { tag, lba } => self.fail_member_read(now, tag, lba, sub.rows),
            // The repair has ended with its member.
            MemberCommandKind::Status { .. } | MemberCommandKind::RepairFlush(_) => {}
        }
    }

    /// Handles the completions of members in the buffer as `member_done` does, and accounts for each.
    #[cold]
    #[inline(never)]
    pub(super) fn account_completions(&mut self, now: Nanos) {
        // Taken out for the loop, since the handlers borrow the array.
        let completions = std::mem::take(&mut self.buffer);
        for completion in &completions {
            let sub = self.flight.member_command(completion.tag);
            let part = self.flight.host_part_of(&sub);
            let is_background = part.is_none()
                && matches!(sub.kind, MemberCommandKind::Read(_) | MemberCommandKind::Write(_));
            let device = self.members.device_mut(sub.device);
            let reported = device.and_then(|device| device.take_parts(completion.tag));
            let all = self.flight.cause_of_all(&sub);
            if let (Some(part), Some(accounts)) = (part, &mut self.accounts) {
                accounts.end_part(now, part, reported.as_ref(), all);
            }
            // Operations that this completion lets run are appended: they had waited for it.
            let woken = self.flight.runnable.len();
            self.member_done(now, completion.tag, completion.outcome);
            let Some(accounts) = &mut self.accounts else { continue };
            if is_background {
                self.flight.runnable.range(woken..).for_each(|&op| accounts.released_by_array(op));
            }
            // Only with the last chunk is it known that a write has read them to compute another one.
            if let (Some(part), Some(reported), MemberCommandKind::Read(op)) = (part, &reported, sub.kind)
                && let Some(op) = self.flight.ops.get(op)
                && (op.kind, op.method) == (GroupOpKind::Write, WriteMethod::Decode)
            {
                accounts.recount_last(now, part, reported, LatencyCause::Degraded);
            }
        }
        self.buffer = completions;
    }
}
