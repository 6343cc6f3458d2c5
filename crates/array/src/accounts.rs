//! Accounts of where the time of each host command goes; kept only if asked for.
//!
//! A command is a few chains side by side: commands to members that are parts of it by themselves, and operations on groups, which are
//! phases of commands to members with waits between them. The account of a command is that of the chain that ends last; the account of a
//! phase is that of the member command that ends last, as the member reports it. The array itself takes no time, so a phase begins where the
//! one before it ends: a member command continues the account that its operation had at the moment of submission.
//!
//! `machine/accounting.rs` fills the accounts; those of members are chained, phase by phase, with the waits between them (decision 0069).

use crate::ids::GroupOpId;
use outlast_device::{Completion, LatencyCause, LatencyParts, Tag};
use outlast_units::Nanos;
use std::collections::BTreeMap;

/// Time spent so far, by cause; the parts sum to the time from submission to `until`.
#[derive(Clone, Copy, Debug)]
struct TimeAccount {
    until: Nanos,
    parts: LatencyParts,
}

impl TimeAccount {
    /// Charges the time since `until`, up to `now`, to `cause`.
    fn spend(&mut self, now: Nanos, cause: LatencyCause) {
        debug_assert!(now >= self.until, "{cause:?} until {now}, after an entry until {}", self.until);
        self.parts[cause] += (now - self.until).0;
        self.until = now;
    }

    /// Adds a member command that has ended now and took `reported`; any gap before it counts as firmware. `all`: the cause that its
    /// whole time counts for, in place of the reported parts.
    fn add_reported(&mut self, now: Nanos, reported: &LatencyParts, all: Option<LatencyCause>) {
        let total = reported.total();
        // Between the last entry and the submission of this command nothing else is known to have happened.
        self.spend(Nanos(now.0 - total), LatencyCause::Firmware);
        match all {
            Some(cause) => self.parts[cause] += total,
            None => LatencyCause::ALL.iter().for_each(|&cause| self.parts[cause] += reported[cause]),
        }
        self.until = now;
    }
}

/// The account of one group operation of a command.
#[derive(Clone, Debug)]
struct OpAccount {
    op: GroupOpId,
    /// The account after each of its steps, in order of time; the first is the account at its beginning.
    steps: Vec<TimeAccount>,
}

impl OpAccount {
    /// Adds a member command that has ended now and took `reported`; `None`: the member cannot tell.
    fn add_reported(
        &mut self,
        now: Nanos,
        reported: Option<&LatencyParts>,
        all: Option<LatencyCause>,
    ) -> TimeAccount {
        let Some(reported) = reported else { return self.wait(now, all.unwrap_or(LatencyCause::Link)) };
        // The step that was last at the time of submission is the one that this command continues.
        let submitted_at = Nanos(now.0 - reported.total());
        let before = self.steps.iter().rposition(|step| step.until <= submitted_at);
        let mut account = self.steps[before.unwrap_or(0)];
        account.add_reported(now, reported, all);
        self.steps.push(account);
        account
    }

    /// Charges the time since the last step to `cause`, for which the operation has waited.
    fn wait(&mut self, now: Nanos, cause: LatencyCause) -> TimeAccount {
        let mut account = self.steps[self.steps.len() - 1];
        account.spend(now, cause);
        self.steps.push(account);
        account
    }
}

/// The account of one host command.
#[derive(Clone, Debug)]
struct HostAccount {
    /// The time before the array accepted the command.
    begun: TimeAccount,
    /// The account of the part that ended last.
    current: TimeAccount,
    chains: Vec<OpAccount>,
    /// True once the completion has been handed out: the host may fetch the account, now or later.
    is_handed_out: bool,
}

/// A part of a host command.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HostPart {
    /// The host's tag of the command.
    pub(crate) tag: Tag,
    /// The group operation; `None` for a member command that is a part by itself.
    pub(crate) op: Option<GroupOpId>,
}

/// The accounts of all host commands.
#[derive(Clone, Debug, Default)]
pub(crate) struct HostAccounts {
    open: BTreeMap<Tag, HostAccount>,
    /// Operations that have just got a lock that background work had held.
    kept_by_array: Vec<GroupOpId>,
}

impl HostAccounts {
    /// Opens the account of command `tag`, which is submitted now.
    pub(crate) fn open_account(&mut self, now: Nanos, tag: Tag) {
        let start = TimeAccount { until: now, parts: LatencyParts::default() };
        self.open.insert(
            tag,
            HostAccount { begun: start, current: start, chains: Vec::new(), is_handed_out: false },
        );
    }

    /// Charges the time that command `tag` was held back, until now, to `cause`.
    pub(crate) fn hold_out(&mut self, now: Nanos, tag: Tag, cause: LatencyCause) {
        if let Some(account) = self.open.get_mut(&tag) {
            account.begun.spend(now, cause);
            account.current = account.begun;
        }
    }

    /// Adds a member command for `part` that has ended now; `reported`: where its time went, if the member can tell; `all`: the cause
    /// that its whole time counts for.
    pub(crate) fn end_part(
        &mut self,
        now: Nanos,
        part: HostPart,
        reported: Option<&LatencyParts>,
        all: Option<LatencyCause>,
    ) {
        let Some(account) = self.open.get_mut(&part.tag) else { return };
        account.current = match part.op {
            None => {
                let mut total = account.begun;
                match reported {
                    Some(reported) => total.add_reported(now, reported, all),
                    None => total.spend(now, all.unwrap_or(LatencyCause::Link)),
                }
                total
            }
            Some(op) => account.chain(op).add_reported(now, reported, all),
        };
    }

    /// Charges the last step of `part`, which took `reported`, to `cause` as a whole.
    pub(crate) fn recount_last(
        &mut self,
        now: Nanos,
        part: HostPart,
        reported: &LatencyParts,
        cause: LatencyCause,
    ) {
        let (Some(account), Some(op)) = (self.open.get_mut(&part.tag), part.op) else { return };
        let chain = account.chain(op);
        // The step is charged anew from the one before it.
        chain.steps.pop();
        account.current = chain.add_reported(now, Some(reported), Some(cause));
    }

    /// Charges the time that `part` has waited, until now, to `cause`.
    pub(crate) fn end_wait(&mut self, now: Nanos, part: HostPart, cause: LatencyCause) {
        let (Some(account), Some(op)) = (self.open.get_mut(&part.tag), part.op) else { return };
        account.current = account.chain(op).wait(now, cause);
    }

    /// Starts the account of operation `op` of command `tag` where the part that ended last has stopped.
    pub(crate) fn continue_at(&mut self, tag: Tag, op: GroupOpId) {
        let Some(account) = self.open.get_mut(&tag) else { return };
        let current = account.current;
        account.chain(op).steps = vec![current];
    }

    /// Notes that operation `op` has got its lock from background work.
    pub(crate) fn released_by_array(&mut self, op: GroupOpId) {
        self.kept_by_array.push(op);
    }

    /// True if operation `op`, which has just got its lock, had waited for background work. Forgets it.
    pub(crate) fn take_kept_by_array(&mut self, op: GroupOpId) -> bool {
        let position = self.kept_by_array.iter().position(|&kept| kept == op);
        position.map(|position| self.kept_by_array.swap_remove(position)).is_some()
    }

    /// Marks the accounts of `completions`, which go out to the host.
    pub(crate) fn hand_out(&mut self, completions: &[Completion]) {
        for completion in completions {
            if let Some(account) = self.open.get_mut(&completion.tag) {
                account.is_handed_out = true;
            }
        }
    }

    /// Takes the parts of the time of command `tag`, once.
    pub(crate) fn take(&mut self, tag: Tag) -> Option<LatencyParts> {
        self.open.remove(&tag).map(|account| account.current.parts)
    }

    /// Charges the remaining time of commands `tags`, which a loss of power aborts now.
    pub(crate) fn abort(&mut self, now: Nanos, tags: &[Tag]) {
        for tag in tags {
            if let Some(account) = self.open.get_mut(tag) {
                account.current.spend(now, LatencyCause::Aborted);
            }
        }
        self.kept_by_array.clear();
    }

    /// Forgets all accounts: after this loss of power the host fetches none.
    pub(crate) fn forget(&mut self) {
        *self = Self::default();
    }

    /// Checks that each of the commands `open` has an account, and that no other is left, except for `ready` completions that are still to be
    /// handed out, and for those that were handed out, which the host may fetch at any time.
    ///
    /// # Errors
    /// The missing account, or the number of those left over.
    pub(crate) fn self_check(&self, open: &[Tag], ready: usize) -> Result<(), String> {
        if let Some(tag) = open.iter().find(|tag| !self.open.contains_key(tag)) {
            return Err(format!("no account is kept of command {}", tag.0));
        }
        // Handed-out accounts are not counted, since the host may never fetch them.
        let within = self.open.iter().filter(|(_, account)| !account.is_handed_out).count();
        let kept = self.kept_by_array.len();
        if within > open.len() + ready || kept > 0 {
            let under_way = open.len();
            return Err(format!(
                "{within} accounts for {under_way} commands under way and {ready} completions; {kept} locks"
            ));
        }
        Ok(())
    }
}

impl HostAccount {
    /// The account of operation `op`; a new one begins where the command was accepted.
    fn chain(&mut self, op: GroupOpId) -> &mut OpAccount {
        let position = self.chains.iter().position(|chain| chain.op == op);
        // A new operation starts from the acceptance of the command, not from parts that ran beside it.
        let position = position.unwrap_or_else(|| {
            self.chains.push(OpAccount { op, steps: vec![self.begun] });
            self.chains.len() - 1
        });
        &mut self.chains[position]
    }
}
