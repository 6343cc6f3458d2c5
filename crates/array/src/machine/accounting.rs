//! Accounts of where the time of host commands goes: the calls that fill them. Nothing of it is part of a snapshot.

use super::Array;
use crate::accounts::HostPart;
use crate::op::{GroupOpKind, MemberCommand, MemberCommandKind, WriteMethod};
use outlast_device::{Completion, Device, LatencyCause};
use outlast_units::Nanos;
use outlast_units::slab::NIL;

impl<D: Device> Array<D> {
    /// Starts accounts of where the time of commands goes, see [`Device::take_parts`]. Call it while no command is
    /// under way, and on the members, too: the time of a member without accounts counts for the link. Snapshots do not keep accounts.
    pub fn split_latencies(&mut self) {
        self.accounts = Some(Box::default());
    }

    /// True if accounts of the time of commands are kept.
    pub fn splits_latencies(&self) -> bool {
        self.accounts.is_some()
    }

    /// Handles `completions` of members as `member_done` does, and accounts for each.
    #[cold]
    pub(super) fn account_completions(&mut self, now: Nanos, completions: &[Completion]) {
        for completion in completions {
            let sub = self.flight.member_commands[completion.tag.0];
            let part = self.host_part_of(&sub);
            let is_background =
                part.is_none() && matches!(sub.kind, MemberCommandKind::Read | MemberCommandKind::Write);
            let device = self.members.device_mut(usize::from(sub.column));
            let reported = device.and_then(|device| device.take_parts(completion.tag));
            let all = self.cause_of_all(&sub);
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
            if let (Some(part), Some(reported), MemberCommandKind::Read) = (part, &reported, sub.kind)
                && let Some(op) = self.flight.ops.slots().get(sub.owner as usize)
                && (op.kind, op.method) == (GroupOpKind::Write, WriteMethod::Decode)
            {
                accounts.recount_last(now, part, reported, LatencyCause::Degraded);
            }
        }
    }

    /// The part of a host command that `sub` belongs to; `None` for background work.
    fn host_part_of(&self, sub: &MemberCommand) -> Option<HostPart> {
        let (host, op) = match sub.kind {
            MemberCommandKind::DirectRead
            | MemberCommandKind::DirectWrite
            | MemberCommandKind::DirectTrim
            | MemberCommandKind::Flush => (sub.owner, None),
            MemberCommandKind::Read | MemberCommandKind::Write | MemberCommandKind::Log => {
                (self.flight.ops[sub.owner].host, Some(sub.owner))
            }
            _ => return None,
        };
        (host != NIL).then(|| HostPart { tag: self.flight.hosts[host].tag, op })
    }

    /// The cause that the whole time of `sub` counts for, in place of the parts that its member reports.
    fn cause_of_all(&self, sub: &MemberCommand) -> Option<LatencyCause> {
        let reads_others = |sub: &MemberCommand| {
            let op = &self.flight.ops[sub.owner];
            op.kind == GroupOpKind::Read && op.roles >> sub.role & 1 == 0
        };
        match sub.kind {
            MemberCommandKind::Log => Some(LatencyCause::Record),
            MemberCommandKind::Read if reads_others(sub) => Some(LatencyCause::Degraded),
            _ => None,
        }
    }

    /// Accounts for `sub`, whose member is gone.
    pub(super) fn account_gone(&mut self, now: Nanos, sub: &MemberCommand) {
        let part = self.host_part_of(sub);
        if let (Some(part), Some(accounts)) = (part, &mut self.accounts) {
            accounts.end_part(now, part, None, Some(LatencyCause::Aborted));
        }
    }

    /// Accounts for the wait of operation `op` that ends now: for `cause`, or for its lock if that is `None`.
    pub(super) fn account_wait(&mut self, now: Nanos, op: u32, cause: Option<LatencyCause>) {
        let Some(accounts) = &mut self.accounts else { return };
        let cause = cause.unwrap_or_else(|| {
            if accounts.take_kept_by_array(op) {
                LatencyCause::StripeRebuild
            } else {
                LatencyCause::StripeLock
            }
        });
        let host = self.flight.ops[op].host;
        if host != NIL {
            accounts.end_wait(now, HostPart { tag: self.flight.hosts[host].tag, op: Some(op) }, cause);
        }
    }

    /// Continues the account of command `host` in operation `op`, which tries a failed read again.
    pub(super) fn account_retry(&mut self, host: u32, op: u32) {
        if let Some(accounts) = &mut self.accounts {
            accounts.continue_at(self.flight.hosts[host].tag, op);
        }
    }
}
