//! Accounts of time: of each die by activity, of each read by part. Kept only after [`Flash::keep_accounts`].

use crate::flash::{DieContext, Flash};
use crate::op::DieQueue;
use crate::op_kind::FlashOpKind;
use outlast_units::{DieId, IndexVec, Nanos};

/// Activity of a die, for its account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DieActivity {
    /// Idle.
    Rest = 0,
    /// Senses pages for a read in its queue of reads: of the host, or of whatever waits for the data.
    Read = 1,
    /// Programs data of the host.
    Program = 2,
    /// Erases.
    Erase = 3,
    /// Senses or programs for an internal task.
    Internal = 4,
    /// Suspends an operation, or resumes it.
    Suspend = 5,
    /// Moves data over the channel, or waits for the channel.
    Channel = 6,
}

impl DieActivity {
    /// Number of activities.
    pub const COUNT: usize = 7;
}

/// A time for each activity.
pub type ActivityTimes = [Nanos; DieActivity::COUNT];

/// Account of a read from its submission until it is handed back, by part. Each moment counts in one part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadAccount {
    /// Time that the read waited for its die, by what the die did meanwhile.
    pub waited: ActivityTimes,
    /// Time that its pages were sensed.
    pub sensing: Nanos,
    /// Time that its data was on the channel, or waited for the channel.
    pub channel: Nanos,
    /// Time of further rounds: sensed and sent again.
    pub rereads: Nanos,
}

impl ReadAccount {
    /// Sum of all parts.
    pub fn total(&self) -> Nanos {
        self.waited.iter().fold(self.sensing + self.channel + self.rereads, |sum, &part| sum + part)
    }
}

/// The account of a die.
#[derive(Clone, Copy, Debug)]
struct DieAccount {
    /// Time spent up to `since`.
    spent: ActivityTimes,
    since: Nanos,
    /// Activity from `since` until `turns`, from then until `ends`, and from then on. Three, because what follows is known when an operation starts
    /// or is suspended: an account needs no update in between.
    does: DieActivity,
    turns: Nanos,
    then: DieActivity,
    ends: Nanos,
    last: DieActivity,
}

impl DieAccount {
    fn at(&self, now: Nanos) -> ActivityTimes {
        debug_assert!(now >= self.since, "the account of a die goes back from {} to {now}", self.since);
        let turn = self.turns.clamp(self.since, now);
        let end = self.ends.clamp(turn, now);
        let mut spent = self.spent;
        spent[self.does as usize] += turn - self.since;
        spent[self.then as usize] += end - turn;
        spent[self.last as usize] += now - end;
        spent
    }

    /// Sets the activity to `does` from `now` on, and to `then` from `turns` on.
    fn set(&mut self, now: Nanos, does: DieActivity, turns: Nanos, then: DieActivity) {
        *self = Self { spent: self.at(now), since: now, does, turns, then, ends: Nanos::MAX, last: then };
    }

    /// Replaces the activity from `from` on by `last`.
    fn set_end(&mut self, from: Nanos, last: DieActivity) {
        (self.ends, self.last) = (from, last);
    }
}

/// The account of an operation.
#[derive(Clone, Copy, Debug)]
struct FlashOpAccount {
    /// Activity of its die while it works for the operation.
    activity: DieActivity,
    /// Copy of the die's account when the operation was queued: the difference at its start is what the die did meanwhile.
    queued: ActivityTimes,
    parts: ReadAccount,
    since: Nanos,
    /// True once the read has ended and is to be sensed again.
    ended_before: bool,
}

/// The accounts of all dies and of the operations in the room, by number.
#[derive(Clone, Debug)]
pub(crate) struct FlashAccounts {
    dies: IndexVec<DieId, DieAccount>,
    ops: Vec<FlashOpAccount>,
    /// Account of the read that ended last.
    last: FlashOpAccount,
}

const AT_REST: DieAccount = DieAccount {
    spent: [Nanos::ZERO; DieActivity::COUNT],
    since: Nanos::ZERO,
    does: DieActivity::Rest,
    turns: Nanos::ZERO,
    then: DieActivity::Rest,
    ends: Nanos::MAX,
    last: DieActivity::Rest,
};

const UNKNOWN: FlashOpAccount = FlashOpAccount {
    activity: DieActivity::Rest,
    queued: [Nanos::ZERO; DieActivity::COUNT],
    parts: ReadAccount {
        waited: [Nanos::ZERO; DieActivity::COUNT],
        sensing: Nanos::ZERO,
        channel: Nanos::ZERO,
        rereads: Nanos::ZERO,
    },
    since: Nanos::ZERO,
    ended_before: false,
};

impl FlashAccounts {
    fn account_of(&mut self, op: u32) -> &mut FlashOpAccount {
        // Operations are numbered by their slots in a slab, so that numbers stay small.
        let index = op as usize;
        if index >= self.ops.len() {
            self.ops.resize(index + 1, UNKNOWN);
        }
        &mut self.ops[index]
    }

    /// Opens the account of operation `op`, which is in `queue` of `die`; a read waits for the die from now on.
    pub(crate) fn add_op(&mut self, now: Nanos, die: DieId, op: u32, kind: FlashOpKind, queue: DieQueue) {
        let activity = match (kind, queue) {
            (FlashOpKind::Erase, _) => DieActivity::Erase,
            (_, DieQueue::Internal(_)) => DieActivity::Internal,
            (FlashOpKind::Read, _) => DieActivity::Read,
            (FlashOpKind::Program, _) => DieActivity::Program,
        };
        let queued = if queue == DieQueue::Reads { self.dies[die].at(now) } else { UNKNOWN.queued };
        *self.account_of(op) = FlashOpAccount { activity, queued, ..UNKNOWN };
    }

    /// Continues the account of the read that ended last, under its new number `op`: it is sensed again.
    pub(crate) fn resume_read(&mut self, op: u32) {
        *self.account_of(op) = FlashOpAccount { ended_before: true, ..self.last };
    }

    /// Keeps `die` at the activity of the read that ended last, now numbered `op`, while its data is decoded.
    pub(crate) fn hold_read(&mut self, now: Nanos, die: DieId, op: u32) {
        self.resume_read(op);
        let activity = self.account_of(op).activity;
        self.dies[die].set(now, activity, now, activity);
    }

    /// Ends the wait of read `op`: `die` begins to sense for it.
    pub(crate) fn begin_sensing(&mut self, now: Nanos, die: DieId, op: u32) {
        let spent = self.dies[die].at(now);
        let account = self.account_of(op);
        if account.ended_before {
            account.parts.rereads += now - account.since;
        }
        account.since = now;
        if !account.ended_before && account.activity == DieActivity::Read {
            account.parts.waited = std::array::from_fn(|part| spent[part] - account.queued[part]);
        }
        let activity = account.activity;
        self.dies[die].set(now, activity, now, activity);
    }

    /// Ends the sensing of read `op`: its data is on the channel, or waits for it.
    pub(crate) fn begin_transfer(&mut self, now: Nanos, die: DieId, op: u32) {
        let account = self.account_of(op);
        let part = if account.ended_before { &mut account.parts.rereads } else { &mut account.parts.sensing };
        *part += now - account.since;
        account.since = now;
        self.dies[die].set(now, DieActivity::Channel, now, DieActivity::Channel);
    }

    /// Closes the account of operation `op`, whose die `die` is done: the data of a read is out.
    pub(crate) fn end_op(&mut self, now: Nanos, die: DieId, op: u32, kind: FlashOpKind) {
        if kind == FlashOpKind::Read {
            let account = self.account_of(op);
            let part =
                if account.ended_before { &mut account.parts.rereads } else { &mut account.parts.channel };
            *part += now - account.since;
            account.since = now;
            self.last = *account;
        }
        self.rest_die(now, die);
    }

    /// Sets `die` to `before` until `start`, when its array begins to work for operation `op`.
    pub(crate) fn begin_array_work(
        &mut self,
        now: Nanos,
        die: DieId,
        op: u32,
        before: DieActivity,
        start: Nanos,
    ) {
        let activity = self.account_of(op).activity;
        self.dies[die].set(now, before, start, activity);
    }

    /// Delays the next activity of `die` by `span`, and the one after it, which may be a suspension that is planned.
    pub(crate) fn delay_array_work(&mut self, die: DieId, span: Nanos) {
        let account = &mut self.dies[die];
        account.turns += span;
        if account.ends != Nanos::MAX {
            account.ends += span;
        }
    }

    /// Sets `die` to suspending from `from` on, which is not before its array has begun.
    pub(crate) fn begin_suspend(&mut self, die: DieId, from: Nanos) {
        self.dies[die].set_end(from, DieActivity::Suspend);
    }

    /// Sets `die` to reading: it works on other reads still.
    pub(crate) fn continue_reads(&mut self, now: Nanos, die: DieId) {
        self.dies[die].set(now, DieActivity::Read, now, DieActivity::Read);
    }

    /// Sets `die` to rest.
    pub(crate) fn rest_die(&mut self, now: Nanos, die: DieId) {
        self.dies[die].set(now, DieActivity::Rest, now, DieActivity::Rest);
    }
}

impl<T: Copy> Flash<T> {
    /// Begins to keep accounts of dies and reads ([`Flash::read_account`]). To be called while nothing is under way.
    pub fn keep_accounts(&mut self) {
        debug_assert!(self.all_idle(), "accounts begin while operations are under way");
        let dies = self.dies.iter().map(|_| AT_REST).collect();
        self.context.plain = false;
        self.context.accounts = Some(Box::new(FlashAccounts { dies, ops: Vec::new(), last: UNKNOWN }));
    }

    /// Account of the read that has just been handed back; `None` unless accounts are kept.
    pub fn read_account(&self) -> Option<&ReadAccount> {
        self.context.accounts.as_deref().map(|accounts| &accounts.last.parts)
    }
}

impl<T: Copy> DieContext<T> {
    /// Applies `update` to the accounts, if they are kept. Else this is one comparison.
    #[inline]
    pub(crate) fn update_accounts(&mut self, update: impl FnOnce(&mut FlashAccounts)) {
        if self.accounts.is_some() {
            self.update_kept_accounts(update);
        }
    }

    #[cold]
    #[inline(never)]
    fn update_kept_accounts(&mut self, update: impl FnOnce(&mut FlashAccounts)) {
        if let Some(accounts) = &mut self.accounts {
            update(accounts);
        }
    }
}
