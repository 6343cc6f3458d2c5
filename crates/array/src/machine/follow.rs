//! Where the time of the host's commands goes: what the accounts are told, and when. Nothing of it is state.

use super::Array;
use crate::accounts::Part;
use crate::op::{Method, OpKind, Sub, SubKind};
use outlast_device::{Completion, Device, LatencyCause as Cause};
use outlast_units::Nanos;
use outlast_units::slab::NIL;

impl<D: Device> Array<D> {
    /// From now on the array keeps account of where the time of commands goes, see [`Device::take_parts`]. To be asked for while no command is
    /// under way; members are to be asked by themselves, and what those cannot tell counts for the link. A snapshot has nothing of it.
    pub fn split_latencies(&mut self) {
        self.accounts = Some(Box::default());
    }

    /// Whether account is kept of where the time of commands goes.
    pub fn splits_latencies(&self) -> bool {
        self.accounts.is_some()
    }

    /// As `member_done` for each of `completions`, of which account is kept.
    #[cold]
    pub(super) fn follow(&mut self, now: Nanos, completions: &[Completion]) {
        for completion in completions {
            let sub = self.flight.subs[completion.tag.0];
            let part = self.part_of(&sub);
            let is_own = part.is_none() && matches!(sub.kind, SubKind::Read | SubKind::Write);
            let device = self.members.device_mut(usize::from(sub.column));
            let told = device.and_then(|device| device.take_parts(completion.tag));
            let all = self.cause_of_all(&sub);
            if let (Some(part), Some(accounts)) = (part, &mut self.accounts) {
                accounts.ended(now, part, told.as_ref(), all);
            }
            let woken = self.flight.runnable.len();
            self.member_done(now, completion.tag, completion.outcome);
            let Some(accounts) = &mut self.accounts else { continue };
            if is_own {
                self.flight.runnable.range(woken..).for_each(|&op| accounts.released_by_array(op));
            }
            // Only with the last chunk is it known that a write has read them to compute another one.
            if let (Some(part), Some(told), SubKind::Read) = (part, &told, sub.kind)
                && let Some(op) = self.flight.ops.slots().get(sub.owner as usize)
                && (op.kind, op.method) == (OpKind::Write, Method::Decode)
            {
                accounts.recast(now, part, told, Cause::Degraded);
            }
        }
    }

    /// The part of a command of the host that `sub` belongs to; none of the array's own work.
    fn part_of(&self, sub: &Sub) -> Option<Part> {
        let (host, op) = match sub.kind {
            SubKind::DirectRead | SubKind::DirectWrite | SubKind::DirectTrim | SubKind::Flush => {
                (sub.owner, None)
            }
            SubKind::Read | SubKind::Write | SubKind::Log => {
                (self.flight.ops[sub.owner].host, Some(sub.owner))
            }
            _ => return None,
        };
        (host != NIL).then(|| Part { tag: self.flight.hosts[host].tag, op })
    }

    /// What all of the time of `sub` counts for, in place of what its member tells.
    fn cause_of_all(&self, sub: &Sub) -> Option<Cause> {
        let reads_others = |sub: &Sub| {
            let op = &self.flight.ops[sub.owner];
            op.kind == OpKind::Read && op.roles >> sub.role & 1 == 0
        };
        match sub.kind {
            SubKind::Log => Some(Cause::Record),
            SubKind::Read if reads_others(sub) => Some(Cause::Degraded),
            _ => None,
        }
    }

    /// The member that was to do `sub` is gone.
    pub(super) fn follow_gone(&mut self, now: Nanos, sub: &Sub) {
        let part = self.part_of(sub);
        if let (Some(part), Some(accounts)) = (part, &mut self.accounts) {
            accounts.ended(now, part, None, Some(Cause::Aborted));
        }
    }

    /// Operation `op` goes on, having waited for its lock, or for `cause`.
    pub(super) fn follow_wait(&mut self, now: Nanos, op: u32, cause: Option<Cause>) {
        let Some(accounts) = &mut self.accounts else { return };
        let cause = cause.unwrap_or_else(|| {
            if accounts.was_kept_by_array(op) { Cause::StripeRebuild } else { Cause::StripeLock }
        });
        let host = self.flight.ops[op].host;
        if host != NIL {
            accounts.waited(now, Part { tag: self.flight.hosts[host].tag, op: Some(op) }, cause);
        }
    }

    /// What could not be read for command `host` is tried again by operation `op`.
    pub(super) fn follow_on(&mut self, host: u32, op: u32) {
        if let Some(accounts) = &mut self.accounts {
            accounts.goes_on(self.flight.hosts[host].tag, op);
        }
    }
}
