//! Pace of background work: as Linux's md sets it (`md_do_sync` and `is_mddev_idle` of drivers/md/md.c, Linux 4.1 to 6.15).
//!
//! The lower limit is a floor of the mean over the last half a minute. Below it the work ignores the host. Above it, if the host has
//! been busy, the work waits until everything under way is done, and then continues. The upper limit holds at every moment here, without
//! catching up on unused time: md compares it with the same mean, counts whole seconds and sleeps half of one, which does not matter for a member of
//! terabytes, but would for a small simulated one.

use outlast_settings::array::BackgroundConfig;
use outlast_units::{ByteRate, Bytes, Nanos};
use std::collections::VecDeque;

/// Bytes of a member after which the work looks at the host: md's window of 32 pages.
const LOOK_AFTER: u64 = 128 << 10;
/// The host counts as busy if a member has moved more sectors for it since the last time it was busy; fewer may be md's own bookkeeping.
const IDLE_SECTORS: i64 = 64;
/// Marks over which the mean is taken, and the time between two of them (`SYNC_MARKS`, `SYNC_MARK_STEP`).
const MARKS: usize = 10;
const MARK_STEP: Nanos = Nanos::secs(3);
/// Bound of bytes and sectors in restored sums, so that they cannot overflow.
const MOST: u64 = 1 << 50;

/// Work whose rate a user policy may decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PacedWork {
    /// Filling members, group by group.
    Rebuild,
    /// Recovering rows that members have lost with a die.
    Repair,
}

/// The rate that a user policy has set, until it is asked again.
#[derive(Clone, Copy, Debug, Default, outlast_persist::Persist)]
pub(crate) struct HeldRate {
    /// `None`: the settings decide.
    pub(crate) rate: Option<ByteRate>,
    pub(crate) until: Nanos,
}

impl HeldRate {
    /// The time to look again at work that may not begin before `wake`, which a new rate may bring forward.
    pub(crate) fn next_look(held: Option<Self>, wake: Nanos) -> Nanos {
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
    pub(crate) fn of(&mut self, work: PacedWork) -> &mut HeldRate {
        match work {
            PacedWork::Rebuild => &mut self.rebuild,
            PacedWork::Repair => &mut self.repair,
        }
    }
}

/// The earliest moment at which the next piece of work may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NextStart {
    /// At once.
    Now,
    /// At this time, if nothing changes before.
    At(Nanos),
    /// Once everything under way is done.
    WhenDone,
}

/// Bytes of a member begun and skipped before `at`.
#[derive(Clone, Copy, Debug, outlast_persist::Persist)]
struct PaceMark {
    at: Nanos,
    begun: u64,
    skipped: u64,
}

/// The pace of one piece of work: a pass, or the repair of a member.
#[derive(Clone, Debug, outlast_persist::Persist)]
#[persist(check)]
pub(crate) struct WorkPacer {
    /// Bytes of a member begun so far.
    begun: u64,
    /// Bytes of groups that needed no work.
    skipped: u64,
    /// The state just before the last piece was begun.
    last: Option<PaceMark>,
    /// Bytes begun at the last look at the host.
    looked: u64,
    /// Start of the span over which the mean is taken, and younger marks, oldest first.
    since: PaceMark,
    marks: VecDeque<PaceMark>,
    /// Traffic of each member when the host last was busy; empty before the first piece.
    seen: Vec<i64>,
    /// Beginning is put off until all work under way is done.
    draining: bool,
}

impl WorkPacer {
    /// Checks restored state: no mark is beyond the bytes begun, and counts are in range.
    fn check_restored(&self) -> Result<(), String> {
        let marks = self.marks.iter().chain(&self.last).chain([&self.since]);
        let most = marks.map(|mark| mark.begun).fold(self.looked, u64::max);
        let is_even = |moved: &i64| moved.unsigned_abs() < MOST;
        if most > self.begun || self.begun >= MOST || !self.seen.iter().all(is_even) {
            return Err(format!("{} bytes of a member are begun, {most} before", self.begun));
        }
        Ok(())
    }

    /// The pacer of work that has yet to begin its first piece.
    pub(crate) fn new() -> Self {
        Self {
            begun: 0,
            skipped: 0,
            last: None,
            looked: 0,
            since: PaceMark { at: Nanos::ZERO, begun: 0, skipped: 0 },
            marks: VecDeque::new(),
            seen: Vec::new(),
            draining: false,
        }
    }

    /// True if any piece has begun.
    pub(crate) fn has_begun(&self) -> bool {
        self.last.is_some()
    }

    /// Notes that a piece of `bytes` of a member begins.
    pub(crate) fn note_begun(&mut self, now: Nanos, bytes: Bytes) {
        let mark = PaceMark { at: now, begun: self.begun, skipped: self.skipped };
        if self.last.is_none() {
            self.since = mark;
            // All marks begin here, so that the mean covers less than its full span at first.
            self.marks = VecDeque::from([mark; MARKS]);
        }
        self.begun += bytes.0;
        self.last = Some(mark);
    }

    /// Notes bytes of a member that needed no work.
    pub(crate) fn note_skipped(&mut self, bytes: Bytes) {
        self.skipped += bytes.0;
    }

    /// Bytes of a member that are done since the oldest mark, and since when that is; `under_way` have begun and are not done. As md takes the speed
    /// that it shows, except that skipped bytes are progress here. Absent before the first piece.
    pub(crate) fn done_lately(&self, under_way: Bytes) -> Option<(Bytes, Nanos)> {
        self.last?;
        let begun = (self.begun - self.since.begun).saturating_sub(under_way.0);
        Some((Bytes(begun + self.skipped - self.since.skipped), self.since.at))
    }

    /// The earliest start of the next piece, while `under_way` pieces are under way. `traffic`: for each member, sectors moved for the host
    /// less those under way for the array itself. `fixed`: a rate that holds whatever the host does.
    pub(crate) fn next_start(
        &mut self,
        settings: &BackgroundConfig,
        now: Nanos,
        under_way: usize,
        traffic: &[i64],
        fixed: Option<ByteRate>,
    ) -> NextStart {
        if self.seen.is_empty() {
            self.seen = traffic.to_vec();
        }
        let Some(last) = self.last else { return NextStart::Now };
        if fixed.is_none() && self.draining && under_way > 0 {
            return NextStart::WhenDone;
        }
        self.draining = false;
        self.set_mark(now);
        // The last piece alone sets the time of the next: unused time is not made up for.
        let piece = Bytes(self.begun - last.begun);
        let due = fixed.or(settings.max_rate).map_or(Nanos::ZERO, |limit| last.at + limit.time_for(piece));
        if due > now {
            return NextStart::At(due);
        }
        // As in md, the host is looked at after so many bytes, not before each piece.
        if fixed.is_none() && self.begun - self.looked >= LOOK_AFTER {
            self.looked = self.begun;
            let done = Bytes(self.begun - self.since.begun);
            let min = settings.min_rate.or(settings.max_rate);
            // Above the floor: at the lower limit, the bytes begun since the mark would not be due yet.
            let is_above_floor = min.is_some_and(|min| self.since.at + min.time_for(done) > now);
            if is_above_floor && self.is_host_busy(traffic) && under_way > 0 {
                self.draining = true;
                return NextStart::WhenDone;
            }
        }
        NextStart::Now
    }

    fn set_mark(&mut self, now: Nanos) {
        if self.marks.back().is_some_and(|newest| newest.at + MARK_STEP <= now) {
            self.since = self.marks.pop_front().unwrap_or(self.since);
            self.marks.push_back(PaceMark { at: now, begun: self.begun, skipped: self.skipped });
        }
    }

    /// True if the host has been busy, the opposite of md's `is_mddev_idle`: sectors under way for the array itself are subtracted, so that
    /// a little I/O of the host beside a full window passes unnoticed.
    fn is_host_busy(&mut self, traffic: &[i64]) -> bool {
        let mut busy = false;
        for (seen, &moved) in self.seen.iter_mut().zip(traffic) {
            if moved - *seen > IDLE_SECTORS {
                // The reference moves only while the host is busy, so that slow traffic adds up until it counts.
                *seen = moved;
                busy = true;
            }
        }
        busy
    }
}
