//! What dies spend their time on, and what reads have waited for: kept where somebody asks for it, and nowhere else.

use crate::flash::Flash;
use crate::op::{DieQueue, FlashOpKind};
use outlast_units::{DieId, IndexVec, Nanos};

/// What a die does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DieActivity {
    /// Nothing.
    Rest = 0,
    /// It senses pages that somebody waits for.
    Read = 1,
    /// It programs data of the host.
    Program = 2,
    /// It erases.
    Erase = 3,
    /// It senses or programs for an internal task.
    Internal = 4,
    /// It suspends an operation, or resumes it.
    Suspend = 5,
    /// It moves data over the channel, or waits for that.
    Channel = 6,
}

impl DieActivity {
    /// Number of activities.
    pub const COUNT: usize = 7;
}

/// A time for each activity.
pub type ActivityTimes = [Nanos; DieActivity::COUNT];

/// What a read went through from its submission until it was handed back. Each moment counts once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadAccount {
    /// What its die did while it waited.
    pub waited: ActivityTimes,
    /// Its pages were sensed.
    pub sensing: Nanos,
    /// Its data was on the channel, or waited for it.
    pub channel: Nanos,
    /// It was sensed and sent again.
    pub again: Nanos,
}

impl ReadAccount {
    /// All of it.
    pub fn total(&self) -> Nanos {
        self.waited.iter().fold(self.sensing + self.channel + self.again, |sum, &part| sum + part)
    }
}

/// The account of a die.
#[derive(Clone, Copy, Debug)]
struct DieAccount {
    /// Up to `since`.
    spent: ActivityTimes,
    since: Nanos,
    /// What it does since then, until `turns`; what then, until `ends`; and what from then on.
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

    /// From `now` on it does `does`, and from `turns` on `then`.
    fn set(&mut self, now: Nanos, does: DieActivity, turns: Nanos, then: DieActivity) {
        *self = Self { spent: self.at(now), since: now, does, turns, then, ends: Nanos::MAX, last: then };
    }

    /// From `from` on it does `last` instead of what it is about to do.
    fn set_end(&mut self, from: Nanos, last: DieActivity) {
        (self.ends, self.last) = (from, last);
    }
}

/// The account of an operation.
#[derive(Clone, Copy, Debug)]
struct FlashOpAccount {
    /// What its die does for it.
    activity: DieActivity,
    /// The die's account when it was queued.
    queued: ActivityTimes,
    parts: ReadAccount,
    since: Nanos,
    /// Whether it is sensed again.
    again: bool,
}

/// The accounts of all dies and of the operations in the room, by number.
#[derive(Clone, Debug)]
pub(crate) struct FlashAccounts {
    dies: IndexVec<DieId, DieAccount>,
    ops: Vec<FlashOpAccount>,
    /// Of the read that ended last.
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
        again: Nanos::ZERO,
    },
    since: Nanos::ZERO,
    again: false,
};

impl FlashAccounts {
    fn account_of(&mut self, op: u32) -> &mut FlashOpAccount {
        let index = op as usize;
        if index >= self.ops.len() {
            self.ops.resize(index + 1, UNKNOWN);
        }
        &mut self.ops[index]
    }

    /// Operation `op` is in the room, and goes through `queue` of `die`; a read waits for the die from now on.
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

    /// Read `op`, which is the one that ended last, goes on: it is sensed again.
    pub(crate) fn resume_read(&mut self, op: u32) {
        *self.account_of(op) = FlashOpAccount { again: true, ..self.last };
    }

    /// `die` waits until it is known what the data of read `op` is worth, which is the one that ended last.
    pub(crate) fn hold_read(&mut self, now: Nanos, die: DieId, op: u32) {
        self.resume_read(op);
        let activity = self.account_of(op).activity;
        self.dies[die].set(now, activity, now, activity);
    }

    /// `die` begins to sense for read `op`.
    pub(crate) fn begin_sensing(&mut self, now: Nanos, die: DieId, op: u32) {
        let spent = self.dies[die].at(now);
        let own = self.account_of(op);
        if own.again {
            own.parts.again += now - own.since;
        }
        own.since = now;
        if !own.again && own.activity == DieActivity::Read {
            own.parts.waited = std::array::from_fn(|part| spent[part] - own.queued[part]);
        }
        let activity = own.activity;
        self.dies[die].set(now, activity, now, activity);
    }

    /// What read `op` has sensed is on its way over the channel.
    pub(crate) fn begin_transfer(&mut self, now: Nanos, die: DieId, op: u32) {
        let own = self.account_of(op);
        let part = if own.again { &mut own.parts.again } else { &mut own.parts.sensing };
        *part += now - own.since;
        own.since = now;
        self.dies[die].set(now, DieActivity::Channel, now, DieActivity::Channel);
    }

    /// `die` is done with operation `op`, the data of a read is out.
    pub(crate) fn end_op(&mut self, now: Nanos, die: DieId, op: u32, kind: FlashOpKind) {
        if kind == FlashOpKind::Read {
            let own = self.account_of(op);
            let part = if own.again { &mut own.parts.again } else { &mut own.parts.channel };
            *part += now - own.since;
            own.since = now;
            self.last = *own;
        }
        self.rest_die(now, die);
    }

    /// `die` takes in what operation `op` needs until `start`; then its array works for it.
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

    /// What `die` turns to comes later by `span`.
    pub(crate) fn delay_array_work(&mut self, die: DieId, span: Nanos) {
        self.dies[die].turns += span;
    }

    /// From `from` on, which is not before its array has begun, `die` suspends what it does.
    pub(crate) fn begin_suspend(&mut self, die: DieId, from: Nanos) {
        self.dies[die].set_end(from, DieActivity::Suspend);
    }

    /// `die` goes on with other reads.
    pub(crate) fn continue_reads(&mut self, now: Nanos, die: DieId) {
        self.dies[die].set(now, DieActivity::Read, now, DieActivity::Read);
    }

    /// `die` does nothing from now on.
    pub(crate) fn rest_die(&mut self, now: Nanos, die: DieId) {
        self.dies[die].set(now, DieActivity::Rest, now, DieActivity::Rest);
    }
}

impl<T: Copy> Flash<T> {
    /// From now on it is kept what dies spend their time on, see [`Flash::read_account`]. To be asked for while nothing is under way.
    pub fn keep_accounts(&mut self) {
        debug_assert!(self.all_idle(), "accounts begin while operations are under way");
        let dies = self.dies.iter().map(|_| AT_REST).collect();
        self.plain = false;
        self.accounts = Some(Box::new(FlashAccounts { dies, ops: Vec::new(), last: UNKNOWN }));
    }

    /// Where accounts are kept, they note `what`. Else this is one comparison.
    #[inline]
    pub(crate) fn update_accounts(&mut self, what: impl FnOnce(&mut FlashAccounts)) {
        if self.accounts.is_some() {
            self.update_kept_accounts(what);
        }
    }

    #[cold]
    #[inline(never)]
    fn update_kept_accounts(&mut self, what: impl FnOnce(&mut FlashAccounts)) {
        if let Some(accounts) = &mut self.accounts {
            what(accounts);
        }
    }

    /// What the read that has just been handed back went through, where that is kept.
    pub fn read_account(&self) -> Option<&ReadAccount> {
        self.accounts.as_deref().map(|accounts| &accounts.last.parts)
    }
}
