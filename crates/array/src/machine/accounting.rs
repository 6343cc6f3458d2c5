//! Accounts of where the time of host commands goes: the calls that fill them. Nothing of it is part of a snapshot.

use super::Array;
use crate::accounts::HostPart;
use crate::ids::{GroupOpId, HostCommandId};
use crate::member_command::MemberCommand;
use outlast_device::{Device, LatencyCause};
use outlast_units::Nanos;

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

    /// Accounts for `sub`, whose member is gone.
    pub(super) fn account_gone(&mut self, now: Nanos, sub: &MemberCommand) {
        let part = self.flight.host_part_of(sub);
        if let (Some(part), Some(accounts)) = (part, &mut self.accounts) {
            accounts.end_part(now, part, None, Some(LatencyCause::Aborted));
        }
    }

    /// Accounts for the wait of operation `op` that ends now: for `cause`, or for its lock if that is `None`.
    pub(super) fn account_wait(&mut self, now: Nanos, op: GroupOpId, cause: Option<LatencyCause>) {
        let Some(accounts) = &mut self.accounts else { return };
        let cause = cause.unwrap_or_else(|| {
            if accounts.take_kept_by_array(op) {
                LatencyCause::StripeRebuild
            } else {
                LatencyCause::StripeLock
            }
        });
        let host = self.flight.ops[op].host;
        if let Some(host) = host {
            accounts.end_wait(now, HostPart { tag: self.flight.hosts[host].tag, op: Some(op) }, cause);
        }
    }

    /// Continues the account of command `host` in operation `op`, which tries a failed read again.
    pub(super) fn account_retry(&mut self, host: HostCommandId, op: GroupOpId) {
        if let Some(accounts) = &mut self.accounts {
            accounts.continue_at(self.flight.hosts[host].tag, op);
        }
    }
}
