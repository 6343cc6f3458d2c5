//! One job as it runs: fio's loop of issuing, waiting and sleeping (`backend.c` of fio 3.33, `do_io` and what it calls) as a machine
//! that is told the time and says what it does next. The host's processor takes no time.

use super::job::{Job, Process, Rw, Shape};
use super::offsets::{Offsets, READ, TRIM, WRITE};
use super::rand::{Random, Seeds, Stream};
use crate::lanes::{Ask, Noted};
use outlast_device::{Command, Op};
use outlast_units::{Lba, Nanos, SECTOR_BYTES};
use std::collections::VecDeque;
use std::sync::Arc;

/// What a job is to do, checked.
#[derive(Debug)]
#[allow(clippy::struct_excessive_bools, reason = "they are fio's own flags, independent of each other")]
pub(super) struct Course {
    pub(super) shape: Shape,
    pub(super) seeds: Seeds,
    pub(super) rw: Rw,
    pub(super) depth: u32,
    pub(super) depth_low: u32,
    pub(super) complete_min: u32,
    /// Whether the engine gives one request after the other: such an engine reports what it has done at once.
    pub(super) synchronous: bool,
    /// Bytes of one pass, and of all it is to do where that was said.
    pub(super) size: u64,
    pub(super) io_size: Option<u64>,
    pub(super) number_ios: u64,
    pub(super) loops: u64,
    /// Microseconds; zero for none.
    pub(super) runtime: u64,
    pub(super) ramp: u64,
    /// Bytes per second by direction; zero for none.
    pub(super) rate: [u64; 3],
    pub(super) process: Process,
    pub(super) think: u64,
    pub(super) think_blocks: Option<u64>,
    pub(super) think_issued: bool,
    pub(super) think_every: u64,
    pub(super) rate_ignores_think: bool,
    /// Whether others submit for it, so that it need not wait for what is in flight before it sleeps (`io_submit_mode=offload`).
    pub(super) offloads: bool,
    pub(super) fsync: [u64; 2],
    pub(super) end_fsync: bool,
    pub(super) fua: bool,
    /// Whether every pass begins with the same seeds.
    pub(super) reseeds: bool,
}

impl Course {
    pub(super) fn writes(&self) -> bool {
        matches!(self.rw, Rw::Write | Rw::Mixed)
    }

    fn mixed(&self) -> bool {
        self.rw == Rw::Mixed
    }

    /// Bytes after which the job ends, over all loops.
    pub(super) fn limit(&self) -> u64 {
        self.io_size.unwrap_or(self.size).saturating_mul(self.loops)
    }

    /// fio leaves a loop after one pass over `size`; random writes without a map may go on to `io_size`.
    fn pass(&self) -> u64 {
        if self.writes() && self.shape.random && !self.shape.has_map() {
            self.size.max(self.io_size.unwrap_or(0))
        } else {
            self.size
        }
    }

    fn checks_rate(&self) -> bool {
        self.rate.iter().any(|&rate| rate != 0)
    }

    /// Whether only time, or nothing, ends it.
    pub(super) fn endless(&self) -> bool {
        self.shape.time_based
    }
}

/// What the depth and the mix are said by fio's flags, for the course of a job.
pub(super) fn depth_of(job: &Job, synchronous: bool) -> u32 {
    if synchronous { 1 } else { job.iodepth }
}

/// Where the loop stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    /// A pass is about to begin.
    Pass,
    Top,
    /// Ahead of its rate: in flight requests are waited for, then it sleeps so many microseconds, decided when it was so late.
    RateDrain {
        ddir: usize,
        sleep: u64,
        decided: u64,
    },
    RateSleep {
        ddir: usize,
        until: Nanos,
    },
    Fill {
        ddir: usize,
    },
    /// A request has been issued, or a flush has ended.
    Issued {
        ddir: Option<usize>,
    },
    /// The queue is full: so many are waited for, and until no more than the low mark is left.
    Reap {
        ddir: Option<usize>,
        left: u32,
    },
    Think {
        ddir: usize,
    },
    ThinkDrain {
        ddir: usize,
        sleep: u64,
    },
    ThinkSleep {
        ddir: usize,
        slept: u64,
        until: Nanos,
    },
    /// A flush is under way, and whether it is the job's last.
    Flush {
        last: bool,
    },
    Drain,
    Finish,
    Ended,
}

/// A job that runs.
#[derive(Debug)]
#[allow(clippy::struct_excessive_bools, reason = "they are fio's own flags, independent of each other")]
pub(super) struct Thread {
    course: Arc<Course>,
    offsets: Offsets,
    poisson: [Random; 3],
    at: At,
    /// When it began, or its ramp ended.
    epoch: Nanos,
    ramping: bool,
    accounting: bool,
    pub(super) terminate: bool,
    /// Requests issued and not yet looked at, and those of them that have completed.
    depth: u32,
    unseen: VecDeque<(usize, u64)>,
    flush_done: bool,
    file_done: bool,
    loops_left: u64,
    /// Since the job began or its ramp ended, by direction.
    issues: [u64; 3],
    blocks: [u64; 3],
    bytes: [u64; 3],
    issue_bytes: u64,
    /// Of this pass.
    pass_issued: u64,
    pass_done: u64,
    rate_bytes: [u64; 3],
    rate_next: [u64; 3],
    poisson_at: [u64; 3],
    mix: usize,
    mix_until: u64,
    last_was_sync: bool,
    think_last: Nanos,
    think_blocks: u64,
}

impl Thread {
    pub(super) fn new(course: Arc<Course>, now: Nanos) -> Self {
        let seeds = course.seeds.clone();
        let poisson = [Stream::Poisson, Stream::Poisson2, Stream::Poisson3]
            .map(|stream| Random::new(seeds.of(stream), false));
        Self {
            offsets: Offsets::new(course.shape.clone(), seeds),
            poisson,
            at: At::Pass,
            epoch: now,
            ramping: course.ramp != 0,
            accounting: course.ramp == 0,
            terminate: false,
            depth: 0,
            unseen: VecDeque::new(),
            flush_done: false,
            file_done: false,
            loops_left: course.loops,
            issues: [0; 3],
            blocks: [0; 3],
            bytes: [0; 3],
            issue_bytes: 0,
            pass_issued: 0,
            pass_done: 0,
            rate_bytes: [0; 3],
            rate_next: [0; 3],
            poisson_at: [0; 3],
            mix: READ,
            mix_until: 0,
            last_was_sync: false,
            think_last: now,
            think_blocks: 0,
            course,
        }
    }

    /// A command of this job has completed.
    pub(super) fn completed(&mut self, now: Nanos, command: &Command) -> Noted {
        let ddir = match command.op {
            Op::Flush | Op::LbaStatus => {
                self.flush_done = true;
                return if self.accounting { Noted::Counted } else { Noted::Passed };
            }
            Op::Read => READ,
            Op::Write => WRITE,
            Op::Trim => TRIM,
        };
        self.unseen.push_back((ddir, u64::from(command.sectors) * SECTOR_BYTES));
        if self.ramping && self.micros(now) >= self.course.ramp {
            self.end_ramp(now);
            return Noted::RampEnded;
        }
        if self.accounting { Noted::Counted } else { Noted::Passed }
    }

    /// Everything begins anew but what is in flight and where the offsets are.
    fn end_ramp(&mut self, now: Nanos) {
        self.ramping = false;
        self.epoch = now;
        (self.issues, self.blocks, self.bytes) = ([0; 3], [0; 3], [0; 3]);
        (self.rate_bytes, self.rate_next, self.poisson_at) = ([0; 3], [0; 3], [0; 3]);
        self.mix_until = 0;
        self.last_was_sync = false;
    }

    /// Microseconds since the job began.
    fn micros(&self, now: Nanos) -> u64 {
        now.saturating_sub(self.epoch).0 / 1000
    }

    fn timed_out(&self, now: Nanos) -> bool {
        !self.ramping && self.course.runtime != 0 && self.micros(now) >= self.course.runtime
    }

    /// Requests in all directions that count for `number_ios`: what has completed and what is in flight.
    fn has_all_ios(&self) -> bool {
        let done: u64 = self.blocks.iter().sum::<u64>() + u64::from(self.depth);
        self.course.number_ios != 0 && done >= self.course.number_ios * self.course.loops
    }

    fn look(&mut self) -> bool {
        let Some((ddir, bytes)) = self.unseen.pop_front() else { return false };
        self.depth -= 1;
        self.blocks[ddir] += 1;
        self.bytes[ddir] += bytes;
        self.pass_done += bytes;
        self.last_was_sync = false;
        true
    }

    /// Looks at all that has completed; whether nothing is in flight any more.
    fn quiet(&mut self) -> bool {
        while self.look() {}
        self.depth == 0
    }

    /// What it does now.
    pub(super) fn ask(&mut self, now: Nanos) -> Ask {
        loop {
            if let Some(ask) = self.step(now) {
                return ask;
            }
        }
    }

    fn step(&mut self, now: Nanos) -> Option<Ask> {
        match self.at {
            At::Pass => self.begin_pass(),
            At::Top => return self.top(now),
            At::RateDrain { ddir, sleep, decided } => {
                if !self.quiet() {
                    return Some(Ask::Wait);
                }
                self.at = self.rate_sleep(now, ddir, sleep, decided);
            }
            At::RateSleep { ddir, until } => {
                if now < until && !self.terminate {
                    return Some(Ask::Until(until));
                }
                let late = self.course.runtime != 0 && self.micros(now) >= self.course.runtime;
                self.at = if late || self.terminate { self.no_more() } else { At::Fill { ddir } };
            }
            At::Fill { ddir } => return self.fill(ddir),
            At::Issued { ddir } => {
                let full = self.depth >= self.course.depth;
                self.at = match (full, ddir) {
                    (true, _) => At::Reap { ddir, left: self.course.complete_min.min(self.depth).max(1) },
                    (false, Some(ddir)) => At::Think { ddir },
                    (false, None) => At::Top,
                };
            }
            At::Reap { ddir, left } => return self.reap(ddir, left),
            At::Think { ddir } => self.at = self.think(now, ddir),
            At::ThinkDrain { ddir, sleep } => {
                if !self.quiet() {
                    return Some(Ask::Wait);
                }
                self.at = At::ThinkSleep { ddir, slept: sleep, until: Nanos(now.0 + sleep * 1000) };
            }
            At::ThinkSleep { ddir, slept, until } => {
                if now < until && !self.terminate {
                    return Some(Ask::Until(until));
                }
                self.thought(ddir, slept);
                self.at = At::Top;
            }
            At::Flush { last } => {
                if !std::mem::take(&mut self.flush_done) {
                    return Some(Ask::Wait);
                }
                self.last_was_sync = true;
                self.at = if last { At::Finish } else { At::Issued { ddir: None } };
            }
            At::Drain => {
                if !self.quiet() {
                    return Some(Ask::Wait);
                }
                self.at = At::Finish;
                if self.course.end_fsync && self.course.writes() && !self.last_was_sync {
                    self.at = At::Flush { last: true };
                    return Some(Ask::Issue(Command::FLUSH));
                }
            }
            At::Finish => self.finish(),
            At::Ended => return Some(Ask::Ended),
        }
        None
    }

    /// Whether the job goes on with another pass (fio's `keep_running`).
    fn begin_pass(&mut self) {
        let course = &self.course;
        let goes_on = if self.terminate {
            false
        } else if course.endless() {
            true
        } else if self.loops_left > 0 {
            self.loops_left -= 1;
            true
        } else {
            let limit = course.io_size.unwrap_or(course.size);
            let left = limit.saturating_sub(self.bytes.iter().sum());
            let exhausted = self.file_done && course.io_size.is_none();
            !self.has_all_ios() && left > 0 && left >= course.shape.largest() && !exhausted
        };
        self.at = if goes_on { At::Top } else { At::Ended };
        if goes_on {
            (self.pass_issued, self.pass_done, self.file_done) = (0, 0, false);
        }
    }

    fn finish(&mut self) {
        // A pass that did nothing is the last.
        self.terminate |= self.pass_done == 0;
        self.last_was_sync = false;
        self.mix_until = 0;
        self.begin_pass();
        if self.at == At::Top {
            self.offsets.reset();
            if self.course.reseeds {
                self.offsets.seed();
            }
        }
    }

    /// The region has no more to give, or its time is over: the pass ends.
    fn no_more(&mut self) -> At {
        self.file_done = true;
        At::Drain
    }

    fn top(&mut self, now: Nanos) -> Option<Ask> {
        let course = &self.course;
        let timed = course.shape.time_based;
        let full = self.issue_bytes >= course.limit() || self.has_all_ios();
        if self.terminate || (full && !timed) {
            self.at = At::Drain;
        } else if self.timed_out(now) {
            self.terminate = true;
            self.at = At::Drain;
        } else if self.pass_issued >= course.pass() && !timed {
            self.at = At::Drain;
        } else if self.wants_flush() {
            self.at = At::Flush { last: false };
            return Some(Ask::Issue(Command::FLUSH));
        } else {
            let ddir = self.direction();
            self.at = self.rated(now, ddir);
        }
        None
    }

    fn wants_flush(&self) -> bool {
        let issued = self.issues[WRITE];
        let due = |every: u64| every != 0 && issued.is_multiple_of(every);
        self.course.writes() && !self.last_was_sync && issued != 0 && self.course.fsync.into_iter().any(due)
    }

    fn direction(&mut self) -> usize {
        match self.course.rw {
            Rw::Read => return READ,
            Rw::Write => return WRITE,
            Rw::Trim => return TRIM,
            Rw::Mixed => {}
        }
        if self.issues[self.mix] >= self.mix_until {
            let ddir = self.offsets.direction();
            if ddir != self.mix {
                let read = u64::from(self.course.shape.read_percent);
                let other = if self.mix == READ { 100 - read } else { read };
                self.mix_until = self.issues[self.mix] * other / 100;
            }
            self.mix = ddir;
        }
        self.mix
    }

    /// Holds a direction to its rate (fio's `rate_ddir`).
    fn rated(&mut self, now: Nanos, ddir: usize) -> At {
        let micros = self.micros(now);
        if self.rate_next[ddir] <= micros {
            return At::Fill { ddir };
        }
        let read = self.course.shape.read_percent;
        let (mut chosen, other) = (ddir, ddir ^ 1);
        if self.course.mixed() && (if other == READ { read } else { 100 - read }) != 0 {
            if self.rate_next[other] <= micros {
                return At::Fill { ddir: other };
            }
            if self.rate_next[ddir] > self.rate_next[other] {
                chosen = other;
            }
        }
        let sleep = self.rate_next[chosen] - micros;
        if self.course.offloads {
            while self.look() {}
            return self.rate_sleep(now, chosen, sleep, micros);
        }
        At::RateDrain { ddir: chosen, sleep, decided: micros }
    }

    fn rate_sleep(&mut self, now: Nanos, ddir: usize, sleep: u64, decided: u64) -> At {
        let runtime = self.course.runtime;
        let mut sleep = sleep;
        if runtime != 0 && decided + sleep > runtime {
            if decided > runtime {
                return self.no_more();
            }
            sleep = runtime - decided;
        }
        // From one whole microsecond of the job to another.
        let from = self.epoch.0 + self.micros(now) * 1000;
        At::RateSleep { ddir, until: Nanos(from.saturating_add(sleep.saturating_mul(1000))) }
    }

    fn fill(&mut self, ddir: usize) -> Option<Ask> {
        if self.course.mixed() {
            self.mix = ddir;
        }
        let Some(extent) = self.offsets.next(ddir) else {
            self.at = self.no_more();
            return None;
        };
        self.accounting |= !self.ramping;
        self.issues[ddir] += 1;
        self.issue_bytes += extent.bytes;
        self.rate_bytes[ddir] += extent.bytes;
        if !self.course.synchronous {
            self.pass_issued += extent.bytes;
        }
        if self.course.checks_rate() {
            self.rate_next[ddir] = self.next_time(ddir);
        }
        self.depth += 1;
        self.at = At::Issued { ddir: Some(ddir) };
        let op = [Op::Read, Op::Write, Op::Trim][ddir];
        Some(Ask::Issue(Command {
            fua: self.course.fua && op == Op::Write,
            ..Command::new(op, Lba(extent.offset / SECTOR_BYTES), (extent.bytes / SECTOR_BYTES) as u32)
        }))
    }

    /// When the next request of a direction is due, in microseconds (fio's `usec_for_io`).
    fn next_time(&mut self, ddir: usize) -> u64 {
        let rate = self.course.rate[ddir];
        if rate == 0 {
            return 0;
        }
        if self.course.process == Process::Poisson {
            let iops = (rate / self.course.shape.sizes[ddir].least).max(1);
            // fio computes in single precision.
            let gap = (1_000_000 / iops) as f32 * -(self.poisson[ddir].unit() as f32).ln();
            self.poisson_at[ddir] += gap as u64;
            return self.poisson_at[ddir];
        }
        let micros = u128::from(self.rate_bytes[ddir]) * 1_000_000 / u128::from(rate);
        u64::try_from(micros).unwrap_or(u64::MAX)
    }

    fn reap(&mut self, ddir: Option<usize>, left: u32) -> Option<Ask> {
        if !self.look() {
            if self.depth > 0 {
                return Some(Ask::Wait);
            }
        } else if left > 1 {
            self.at = At::Reap { ddir, left: left - 1 };
            return None;
        } else if self.depth > self.course.depth_low {
            self.at = At::Reap { ddir, left: self.course.complete_min.min(self.depth).max(1) };
            return None;
        }
        self.at = ddir.map_or(At::Top, |ddir| At::Think { ddir });
        None
    }

    /// Whether it is time to think (fio's `handle_thinktime`).
    fn think(&mut self, now: Nanos, ddir: usize) -> At {
        let course = &self.course;
        if course.think == 0 {
            return At::Top;
        }
        let mut stall = false;
        if course.think_every != 0 {
            let since = now.saturating_sub(self.think_last).0 / 1000;
            if since >= course.think_every + course.think {
                stall = true;
            } else if course.think_blocks.is_none() {
                return At::Top;
            }
        }
        let counted: u64 = if course.think_issued { self.issues } else { self.blocks }.iter().sum();
        stall |= counted >= self.think_blocks + course.think_blocks.unwrap_or(1);
        if !stall {
            return At::Top;
        }
        self.think_blocks = counted;
        if course.think_every != 0 {
            self.think_last = now;
        }
        At::ThinkDrain { ddir, sleep: course.think }
    }

    fn thought(&mut self, ddir: usize, slept: u64) {
        let rate = self.course.rate[ddir];
        if slept == 0 || rate == 0 || !self.course.rate_ignores_think {
            return;
        }
        let block = self.course.shape.sizes[ddir].least;
        let missed = (u128::from(rate) * u128::from(slept) / 1_000_000) as u64;
        let each = block * 1_000_000 / rate;
        let over = if each <= slept { block } else { 0 };
        self.rate_bytes[ddir] = (self.rate_bytes[ddir] + missed).saturating_sub(over);
        self.poisson_at[ddir] += slept;
    }

    /// Share of its work done, as far as it can be told.
    pub(super) fn progress(&self, now: Nanos) -> f64 {
        let course = &self.course;
        if self.at == At::Ended {
            return 1.0;
        }
        let part = |done: u64, all: u64| if all == 0 { 0.0 } else { (done as f64 / all as f64).min(1.0) };
        let ios = part(self.blocks.iter().sum(), course.number_ios.saturating_mul(course.loops));
        let time = part(self.micros(now), course.runtime);
        let bytes = if course.shape.time_based { 0.0 } else { part(self.issue_bytes, course.limit()) };
        ios.max(time).max(bytes)
    }
}
