//! What dies spend their time on, and what reads have waited for: kept where somebody asks for it, and nowhere else.

use crate::flash::Flash;
use crate::op::{Kind, Queue};
use outlast_units::{DieId, IndexVec, Nanos};

/// What a die does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
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

impl Activity {
    /// Number of activities.
    pub const COUNT: usize = 7;
}

/// A time for each activity.
pub type ByActivity = [Nanos; Activity::COUNT];

/// What a read went through from its submission until it was handed back. Each moment counts once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Way {
    /// What its die did while it waited.
    pub waited: ByActivity,
    /// Its pages were sensed.
    pub sensing: Nanos,
    /// Its data was on the channel, or waited for it.
    pub channel: Nanos,
    /// It was sensed and sent again.
    pub again: Nanos,
}

impl Way {
    /// All of it.
    pub fn total(&self) -> Nanos {
        self.waited.iter().fold(self.sensing + self.channel + self.again, |sum, &part| sum + part)
    }
}

/// The account of a die.
#[derive(Clone, Copy, Debug)]
struct DieClock {
    /// Up to `since`.
    spent: ByActivity,
    since: Nanos,
    /// What it does since then, until `turns`; what then, until `ends`; and what from then on.
    does: Activity,
    turns: Nanos,
    then: Activity,
    ends: Nanos,
    last: Activity,
}

impl DieClock {
    fn at(&self, now: Nanos) -> ByActivity {
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
    fn set(&mut self, now: Nanos, does: Activity, turns: Nanos, then: Activity) {
        *self = Self { spent: self.at(now), since: now, does, turns, then, ends: Nanos::MAX, last: then };
    }

    /// From `from` on it does `last` instead of what it is about to do.
    fn set_end(&mut self, from: Nanos, last: Activity) {
        (self.ends, self.last) = (from, last);
    }
}

/// The account of an operation.
#[derive(Clone, Copy, Debug)]
struct OpClock {
    /// What its die does for it.
    activity: Activity,
    /// The die's account when it was queued.
    queued: ByActivity,
    way: Way,
    since: Nanos,
    /// Whether it is sensed again.
    again: bool,
}

/// The accounts of all dies and of the operations in the room, by number.
#[derive(Clone, Debug)]
pub(crate) struct Clocks {
    dies: IndexVec<DieId, DieClock>,
    ops: Vec<OpClock>,
    /// Of the read that ended last.
    last: OpClock,
}

const AT_REST: DieClock = DieClock {
    spent: [Nanos::ZERO; Activity::COUNT],
    since: Nanos::ZERO,
    does: Activity::Rest,
    turns: Nanos::ZERO,
    then: Activity::Rest,
    ends: Nanos::MAX,
    last: Activity::Rest,
};

const UNKNOWN: OpClock = OpClock {
    activity: Activity::Rest,
    queued: [Nanos::ZERO; Activity::COUNT],
    way: Way {
        waited: [Nanos::ZERO; Activity::COUNT],
        sensing: Nanos::ZERO,
        channel: Nanos::ZERO,
        again: Nanos::ZERO,
    },
    since: Nanos::ZERO,
    again: false,
};

impl Clocks {
    fn of(&mut self, op: u32) -> &mut OpClock {
        let index = op as usize;
        if index >= self.ops.len() {
            self.ops.resize(index + 1, UNKNOWN);
        }
        &mut self.ops[index]
    }

    /// Operation `op` is in the room, and goes through `queue` of `die`; a read waits for the die from now on.
    pub(crate) fn enters(&mut self, now: Nanos, die: DieId, op: u32, kind: Kind, queue: Queue) {
        let activity = match (kind, queue) {
            (Kind::Erase, _) => Activity::Erase,
            (_, Queue::Internal(_)) => Activity::Internal,
            (Kind::Read, _) => Activity::Read,
            (Kind::Program, _) => Activity::Program,
        };
        let queued = if queue == Queue::Reads { self.dies[die].at(now) } else { UNKNOWN.queued };
        *self.of(op) = OpClock { activity, queued, ..UNKNOWN };
    }

    /// Read `op`, which is the one that ended last, goes on: it is sensed again.
    pub(crate) fn goes_on(&mut self, op: u32) {
        *self.of(op) = OpClock { again: true, ..self.last };
    }

    /// `die` waits until it is known what the data of read `op` is worth, which is the one that ended last.
    pub(crate) fn holds(&mut self, now: Nanos, die: DieId, op: u32) {
        self.goes_on(op);
        let activity = self.of(op).activity;
        self.dies[die].set(now, activity, now, activity);
    }

    /// `die` begins to sense for read `op`.
    pub(crate) fn senses(&mut self, now: Nanos, die: DieId, op: u32) {
        let spent = self.dies[die].at(now);
        let own = self.of(op);
        if own.again {
            own.way.again += now - own.since;
        }
        own.since = now;
        if !own.again && own.activity == Activity::Read {
            own.way.waited = std::array::from_fn(|part| spent[part] - own.queued[part]);
        }
        let activity = own.activity;
        self.dies[die].set(now, activity, now, activity);
    }

    /// What read `op` has sensed is on its way over the channel.
    pub(crate) fn sends(&mut self, now: Nanos, die: DieId, op: u32) {
        let own = self.of(op);
        let part = if own.again { &mut own.way.again } else { &mut own.way.sensing };
        *part += now - own.since;
        own.since = now;
        self.dies[die].set(now, Activity::Channel, now, Activity::Channel);
    }

    /// `die` is done with operation `op`, the data of a read is out.
    pub(crate) fn ends(&mut self, now: Nanos, die: DieId, op: u32, kind: Kind) {
        if kind == Kind::Read {
            let own = self.of(op);
            let part = if own.again { &mut own.way.again } else { &mut own.way.channel };
            *part += now - own.since;
            own.since = now;
            self.last = *own;
        }
        self.rests(now, die);
    }

    /// `die` takes in what operation `op` needs until `start`; then its array works for it.
    pub(crate) fn works(&mut self, now: Nanos, die: DieId, op: u32, before: Activity, start: Nanos) {
        let activity = self.of(op).activity;
        self.dies[die].set(now, before, start, activity);
    }

    /// What `die` turns to comes later by `span`.
    pub(crate) fn put_off(&mut self, die: DieId, span: Nanos) {
        self.dies[die].turns += span;
    }

    /// From `from` on, which is not before its array has begun, `die` suspends what it does.
    pub(crate) fn suspends(&mut self, die: DieId, from: Nanos) {
        self.dies[die].set_end(from, Activity::Suspend);
    }

    /// `die` goes on with other reads.
    pub(crate) fn reads_on(&mut self, now: Nanos, die: DieId) {
        self.dies[die].set(now, Activity::Read, now, Activity::Read);
    }

    /// `die` does nothing from now on.
    pub(crate) fn rests(&mut self, now: Nanos, die: DieId) {
        self.dies[die].set(now, Activity::Rest, now, Activity::Rest);
    }
}

impl<T: Copy> Flash<T> {
    /// From now on it is kept what dies spend their time on, see [`Flash::way`]. To be asked for while nothing is under way.
    pub fn keep_clocks(&mut self) {
        debug_assert!(self.all_idle(), "accounts begin while operations are under way");
        let dies = self.dies.iter().map(|_| AT_REST).collect();
        self.plain = false;
        self.clocks = Some(Box::new(Clocks { dies, ops: Vec::new(), last: UNKNOWN }));
    }

    /// Where accounts are kept, they note `what`. Else this is one comparison.
    #[inline]
    pub(crate) fn note(&mut self, what: impl FnOnce(&mut Clocks)) {
        if self.clocks.is_some() {
            self.note_that(what);
        }
    }

    #[cold]
    #[inline(never)]
    fn note_that(&mut self, what: impl FnOnce(&mut Clocks)) {
        if let Some(clocks) = &mut self.clocks {
            what(clocks);
        }
    }

    /// What the read that has just been handed back went through, where that is kept.
    pub fn way(&self) -> Option<&Way> {
        self.clocks.as_deref().map(|clocks| &clocks.last.way)
    }
}
