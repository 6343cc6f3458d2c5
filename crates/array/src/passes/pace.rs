//! How fast the array works for itself: as Linux's md does (`md_do_sync` and `is_mddev_idle` of drivers/md/md.c, Linux 4.1 to 6.15).
//!
//! The lower limit is a floor of the mean over the last half a minute. Below it the work takes no heed of the host. Above it, where the host has
//! been busy, the work waits until what it has under way is done, and then goes on. The upper limit is even here, and time that was not used is
//! not made up for: md compares it with the same mean, counts whole seconds and sleeps half of one, which a member of terabytes does not notice
//! and a small simulated one would.

use outlast_settings::array::BackgroundConfig;
use outlast_units::{ByteRate, Bytes, Nanos};
use std::collections::VecDeque;

/// Bytes of a member after which the work looks at the host: md's window of 32 pages.
const LOOK_AFTER: u64 = 128 << 10;
/// The host is busy where a member has moved more sectors than these for it since it last was: below, md takes them for its own bookkeeping.
const IDLE_SECTORS: i64 = 64;
/// Marks over which the mean is taken, and the time between two of them (`SYNC_MARKS`, `SYNC_MARK_STEP`).
const MARKS: usize = 10;
/// Bytes or sectors in any sum: less than this.
const MOST: u64 = 1 << 50;
const MARK_STEP: Nanos = Nanos::secs(3);

/// Work whose rate code of the user's may decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// Members are filled, group by group.
    Rebuild,
    /// Members get rows back that they have lost with a die.
    Repair,
}

/// The rate that code of the user's gave, until it is asked again.
#[derive(Clone, Copy, Debug, Default, outlast_persist::Persist)]
pub(crate) struct HeldRate {
    /// Absent: as the settings say.
    pub(crate) rate: Option<ByteRate>,
    pub(crate) until: Nanos,
}

impl HeldRate {
    /// When to look again at work that may not begin before `wake`.
    pub(crate) fn look_at(held: Option<Self>, wake: Nanos) -> Nanos {
        held.map_or(wake, |held| wake.min(held.until))
    }
}

/// The rates of both kinds of work.
#[derive(Clone, Debug, Default, outlast_persist::Persist)]
pub(crate) struct HeldRates {
    rebuild: HeldRate,
    repair: HeldRate,
}

impl HeldRates {
    pub(crate) fn of(&mut self, work: Work) -> &mut HeldRate {
        match work {
            Work::Rebuild => &mut self.rebuild,
            Work::Repair => &mut self.repair,
        }
    }
}

/// Whether the next piece of work may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leave {
    /// Now.
    Now,
    /// Not before then.
    At(Nanos),
    /// Once what is under way is done.
    WhenDone,
}

/// Bytes of a member begun, and skipped, by some time.
#[derive(Clone, Copy, Debug, outlast_persist::Persist)]
struct Mark {
    at: Nanos,
    begun: u64,
    skipped: u64,
}

/// The pace of one piece of work: a pass, or the repair of a member.
#[derive(Clone, Debug, outlast_persist::Persist)]
#[persist(check)]
pub(crate) struct Pacer {
    /// Bytes of a member begun so far.
    begun: u64,
    /// Groups that needed nothing.
    skipped: u64,
    /// When the last piece was begun, and what had been before it.
    last: Option<Mark>,
    /// Bytes begun at the last look at the host.
    looked: u64,
    /// From here on the mean is taken; then younger marks, oldest first.
    since: Mark,
    marks: VecDeque<Mark>,
    /// Traffic of each member when the host last was busy; empty before the first piece.
    seen: Vec<i64>,
    /// Work under way is to be done before anything begins.
    draining: bool,
}

impl Pacer {
    /// Whether what was read has begun no more by its marks than in all, and no more than can be.
    fn check_restored(&self) -> Result<(), String> {
        let marks = self.marks.iter().chain(&self.last).chain([&self.since]);
        let most = marks.map(|mark| mark.begun).fold(self.looked, u64::max);
        let is_even = |moved: &i64| moved.unsigned_abs() < MOST;
        if most > self.begun || self.begun >= MOST || !self.seen.iter().all(is_even) {
            return Err(format!("{} bytes of a member are begun, {most} before", self.begun));
        }
        Ok(())
    }

    /// Work begins with its first piece.
    pub(crate) fn new() -> Self {
        Self {
            begun: 0,
            skipped: 0,
            last: None,
            looked: 0,
            since: Mark { at: Nanos::ZERO, begun: 0, skipped: 0 },
            marks: VecDeque::new(),
            seen: Vec::new(),
            draining: false,
        }
    }

    /// Whether any piece has begun.
    pub(crate) fn has_begun(&self) -> bool {
        self.last.is_some()
    }

    /// A piece of `bytes` of a member begins.
    pub(crate) fn begins(&mut self, now: Nanos, bytes: Bytes) {
        let mark = Mark { at: now, begun: self.begun, skipped: self.skipped };
        if self.last.is_none() {
            self.since = mark;
            self.marks = VecDeque::from([mark; MARKS]);
        }
        self.begun += bytes.0;
        self.last = Some(mark);
    }

    /// Bytes of a member that needed nothing.
    pub(crate) fn skips(&mut self, bytes: Bytes) {
        self.skipped += bytes.0;
    }

    /// Bytes of a member that are done since the oldest mark, and since when that is; `under_way` have begun and are not done. As md takes the speed
    /// that it shows, except that skipped bytes are progress here. Absent before the first piece.
    pub(crate) fn done_lately(&self, under_way: Bytes) -> Option<(Bytes, Nanos)> {
        self.last?;
        let begun = (self.begun - self.since.begun).saturating_sub(under_way.0);
        Some((Bytes(begun + self.skipped - self.since.skipped), self.since.at))
    }

    /// Whether the next piece may begin while `under_way` are. `traffic`: for each member, sectors that it has moved for the host less those
    /// that it is moving for the array itself. `fixed` is a rate that holds whatever the host does.
    pub(crate) fn leave(
        &mut self,
        settings: &BackgroundConfig,
        now: Nanos,
        under_way: usize,
        traffic: &[i64],
        fixed: Option<ByteRate>,
    ) -> Leave {
        if self.seen.is_empty() {
            self.seen = traffic.to_vec();
        }
        let Some(last) = self.last else { return Leave::Now };
        if fixed.is_none() && self.draining && under_way > 0 {
            return Leave::WhenDone;
        }
        self.draining = false;
        self.set_mark(now);
        let piece = Bytes(self.begun - last.begun);
        let due = fixed.or(settings.max_rate).map_or(Nanos::ZERO, |limit| last.at + limit.time_for(piece));
        if due > now {
            return Leave::At(due);
        }
        if fixed.is_none() && self.begun - self.looked >= LOOK_AFTER {
            self.looked = self.begun;
            let done = Bytes(self.begun - self.since.begun);
            let min = settings.min_rate.or(settings.max_rate);
            let above = min.is_some_and(|min| self.since.at + min.time_for(done) > now);
            if above && self.is_host_busy(traffic) && under_way > 0 {
                self.draining = true;
                return Leave::WhenDone;
            }
        }
        Leave::Now
    }

    fn set_mark(&mut self, now: Nanos) {
        if self.marks.back().is_some_and(|newest| newest.at + MARK_STEP <= now) {
            self.since = self.marks.pop_front().unwrap_or(self.since);
            self.marks.push_back(Mark { at: now, begun: self.begun, skipped: self.skipped });
        }
    }

    /// As `is_mddev_idle` has it, in the negative: what is under way for the array itself counts against the host, so that a little I/O beside
    /// a full window passes unnoticed.
    fn is_host_busy(&mut self, traffic: &[i64]) -> bool {
        let mut busy = false;
        for (seen, &moved) in self.seen.iter_mut().zip(traffic) {
            if moved - *seen > IDLE_SECTORS {
                *seen = moved;
                busy = true;
            }
        }
        busy
    }
}
