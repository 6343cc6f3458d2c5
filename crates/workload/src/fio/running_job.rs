//! A running job: fio's loop of issuing, waiting and sleeping (`do_io` and its callees in `backend.c` of fio 3.33) as a state machine
//! that takes the time as an argument and returns the next step. The host's processor takes no time.

use super::job_options::{AccessKind, AccessPlan, RateProcess};
use super::offsets::{OffsetGenerator, READ, TRIM, WRITE};
use super::rand::{JobSeeds, RandomStream, TauswortheRng};
use crate::job::{JobCompletion, JobStep};
use outlast_device::{Command, Op};
use outlast_units::{Lba, Nanos, SECTOR_BYTES};
use std::collections::VecDeque;
use std::sync::Arc;

/// The checked plan of a job.
#[derive(Debug)]
#[allow(clippy::struct_excessive_bools, reason = "they are fio's own flags, independent of each other")]
pub(super) struct JobPlan {
    pub(super) access: AccessPlan,
    pub(super) seeds: JobSeeds,
    pub(super) rw: AccessKind,
    pub(super) depth: u32,
    pub(super) depth_low: u32,
    pub(super) complete_min: u32,
    /// True if the ioengine submits one request at a time, and sees its completion before it submits the next.
    pub(super) synchronous: bool,
    /// Bytes of one pass, and of all passes together if `io_size` limits them.
    pub(super) size: u64,
    pub(super) io_size: Option<u64>,
    pub(super) number_ios: u64,
    pub(super) loops: u64,
    /// Microseconds; 0 for no limit and no ramp.
    pub(super) runtime: u64,
    pub(super) ramp: u64,
    /// Bytes per second by direction; 0 for no limit.
    pub(super) rate: [u64; 3],
    pub(super) process: RateProcess,
    /// Microseconds to sleep (`thinktime`), after this many requests (`thinktime_blocks`), which count when issued or when completed
    /// (`thinktime_blocks_type`), or after this many microseconds of requests (`thinktime_iotime`); 0 for none.
    pub(super) think_time: u64,
    pub(super) think_blocks: Option<u64>,
    pub(super) think_issued: bool,
    pub(super) think_every: u64,
    /// True if the job does not catch up with its rate after it has thought (`rate_ignore_thinktime`).
    pub(super) rate_ignores_think: bool,
    /// True if threads of its own submit (`io_submit_mode=offload`), so that it sleeps without waiting for requests in flight.
    pub(super) offloads: bool,
    /// Writes from one flush to the next (`fsync`, `fdatasync`); 0 for none.
    pub(super) fsync: [u64; 2],
    pub(super) end_fsync: bool,
    pub(super) fua: bool,
    /// True if every pass begins with the same seeds.
    pub(super) reseeds: bool,
}

impl JobPlan {
    pub(super) fn writes(&self) -> bool {
        matches!(self.rw, AccessKind::Write | AccessKind::Mixed)
    }

    fn mixed(&self) -> bool {
        self.rw == AccessKind::Mixed
    }

    /// Bytes of all loops, after which the job ends.
    pub(super) fn limit(&self) -> u64 {
        self.io_size.unwrap_or(self.size).saturating_mul(self.loops)
    }

    /// Bytes of one pass: as in fio `size`, but up to `io_size` for random writes without a random map.
    fn pass_bytes(&self) -> u64 {
        if self.writes() && self.access.random && !self.access.has_map() {
            self.size.max(self.io_size.unwrap_or(0))
        } else {
            self.size
        }
    }

    fn checks_rate(&self) -> bool {
        self.rate.iter().any(|&rate| rate != 0)
    }

    /// True if the amount of data never ends the job, only its runtime.
    pub(super) fn is_endless(&self) -> bool {
        self.access.time_based
    }
}

/// The position in fio's loop. `ddir` is a direction, as fio abbreviates it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum JobPhase {
    /// Before a pass.
    Pass,
    /// At the head of the loop: decides whether to end, flush or issue.
    Top,
    /// Ahead of its rate: waits until nothing is in flight and then sleeps `sleep` microseconds, as decided at microsecond `decided`.
    RateDrain {
        ddir: usize,
        sleep: u64,
        decided: u64,
    },
    /// Asleep to keep the rate.
    RateSleep {
        ddir: usize,
        until: Nanos,
    },
    /// Draws and issues a request.
    Fill {
        ddir: usize,
    },
    /// After a request was issued (`Some`) or a flush has ended (`None`).
    Issued {
        ddir: Option<usize>,
    },
    /// The queue is full: waits for `left` completions, and again until at most `depth_low` requests are in flight.
    Reap {
        ddir: Option<usize>,
        left: u32,
    },
    /// Decides whether to think.
    Think {
        ddir: usize,
    },
    /// Waits until nothing is in flight and then thinks.
    ThinkDrain {
        ddir: usize,
        sleep: u64,
    },
    /// Thinks.
    ThinkSleep {
        ddir: usize,
        slept: u64,
        until: Nanos,
    },
    /// A flush is in flight; `last` for the one that ends the job (`end_fsync`).
    Flush {
        last: bool,
    },
    /// The pass is over: waits until nothing is in flight.
    Drain,
    /// After a pass.
    Finish,
    Ended,
}

/// The state of a running job.
#[derive(Debug)]
#[allow(clippy::struct_excessive_bools, reason = "they are fio's own flags, independent of each other")]
pub(super) struct RunningJob {
    plan: Arc<JobPlan>,
    offsets: OffsetGenerator,
    poisson: [TauswortheRng; 3],
    phase: JobPhase,
    /// Moment at which it began or, later, its ramp ended: rates and times count from here.
    epoch: Nanos,
    ramping: bool,
    /// True once a request was issued after the ramp: completions before that are not measured.
    accounting: bool,
    pub(super) terminate: bool,
    /// Requests issued and not yet reaped, and among them those that have completed: direction and bytes.
    depth: u32,
    unreaped: VecDeque<(usize, u64)>,
    flush_done: bool,
    /// True if the region had no more room for a request in this pass.
    file_done: bool,
    loops_left: u64,
    /// Requests issued, requests reaped and bytes reaped since `epoch`, by direction.
    issues: [u64; 3],
    blocks: [u64; 3],
    bytes: [u64; 3],
    issue_bytes: u64,
    /// Bytes issued and reaped in this pass.
    pass_issued: u64,
    pass_done: u64,
    /// Bytes that count towards the rate, and the microsecond after `epoch` at which the next request is due, by direction.
    rate_bytes: [u64; 3],
    rate_next: [u64; 3],
    poisson_at: [u64; 3],
    /// The direction of a mixed job, and the number of its issued requests at which the next is drawn.
    mix: usize,
    mix_until: u64,
    last_was_sync: bool,
    think_last: Nanos,
    think_blocks: u64,
}

impl RunningJob {
    pub(super) fn new(plan: Arc<JobPlan>, now: Nanos) -> Self {
        let seeds = plan.seeds.clone();
        let poisson = [RandomStream::Poisson, RandomStream::Poisson2, RandomStream::Poisson3]
            .map(|stream| TauswortheRng::new(seeds.of(stream), false));
        Self {
            offsets: OffsetGenerator::new(plan.access.clone(), seeds),
            poisson,
            phase: JobPhase::Pass,
            epoch: now,
            ramping: plan.ramp != 0,
            accounting: plan.ramp == 0,
            terminate: false,
            depth: 0,
            unreaped: VecDeque::new(),
            flush_done: false,
            file_done: false,
            loops_left: plan.loops,
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
            plan,
        }
    }

    /// Takes the completion of a command of this job.
    pub(super) fn handle_completion(&mut self, now: Nanos, command: &Command) -> JobCompletion {
        let ddir = match command.op {
            Op::Flush | Op::LbaStatus => {
                self.flush_done = true;
                return if self.accounting { JobCompletion::Measured } else { JobCompletion::Unmeasured };
            }
            Op::Read => READ,
            Op::Write => WRITE,
            Op::Trim => TRIM,
        };
        // fio sees a completion only when it reaps: `depth` and the counts change there.
        self.unreaped.push_back((ddir, u64::from(command.sectors) * SECTOR_BYTES));
        if self.ramping && self.micros(now) >= self.plan.ramp {
            self.end_ramp(now);
            return JobCompletion::RampEnded;
        }
        if self.accounting { JobCompletion::Measured } else { JobCompletion::Unmeasured }
    }

    /// Resets the counts and rates at the end of the ramp. Requests in flight and the offsets continue.
    fn end_ramp(&mut self, now: Nanos) {
        self.ramping = false;
        self.epoch = now;
        (self.issues, self.blocks, self.bytes) = ([0; 3], [0; 3], [0; 3]);
        (self.rate_bytes, self.rate_next, self.poisson_at) = ([0; 3], [0; 3], [0; 3]);
        self.mix_until = 0;
        self.last_was_sync = false;
    }

    /// Microseconds since `epoch`.
    fn micros(&self, now: Nanos) -> u64 {
        now.saturating_sub(self.epoch).0 / 1000
    }

    fn timed_out(&self, now: Nanos) -> bool {
        !self.ramping && self.plan.runtime != 0 && self.micros(now) >= self.plan.runtime
    }

    /// True if completed requests and those in flight together reach `number_ios`.
    fn has_all_ios(&self) -> bool {
        let requests: u64 = self.blocks.iter().sum::<u64>() + u64::from(self.depth);
        self.plan.number_ios != 0 && requests >= self.plan.number_ios * self.plan.loops
    }

    /// Counts one completed request; false if there is none.
    fn reap_one(&mut self) -> bool {
        let Some((ddir, bytes)) = self.unreaped.pop_front() else { return false };
        self.depth -= 1;
        self.blocks[ddir] += 1;
        self.bytes[ddir] += bytes;
        self.pass_done += bytes;
        self.last_was_sync = false;
        true
    }

    /// Counts all completed requests; true if none is in flight any more.
    fn is_drained(&mut self) -> bool {
        while self.reap_one() {}
        self.depth == 0
    }

    /// The next step at `now`.
    pub(super) fn next_step(&mut self, now: Nanos) -> JobStep {
        loop {
            if let Some(step) = self.advance(now) {
                return step;
            }
        }
    }

    /// Moves to the next phase, with a step if the caller must do something before.
    fn advance(&mut self, now: Nanos) -> Option<JobStep> {
        match self.phase {
            JobPhase::Pass => self.begin_pass(),
            JobPhase::Top => return self.top(now),
            JobPhase::RateDrain { ddir, sleep, decided } => {
                if !self.is_drained() {
                    return Some(JobStep::Wait);
                }
                self.phase = self.rate_sleep(now, ddir, sleep, decided);
            }
            JobPhase::RateSleep { ddir, until } => {
                if now < until && !self.terminate {
                    return Some(JobStep::SleepUntil(until));
                }
                let late = self.plan.runtime != 0 && self.micros(now) >= self.plan.runtime;
                self.phase = if late || self.terminate { self.end_file() } else { JobPhase::Fill { ddir } };
            }
            JobPhase::Fill { ddir } => return self.fill(ddir),
            JobPhase::Issued { ddir } => {
                let full = self.depth >= self.plan.depth;
                self.phase = match (full, ddir) {
                    (true, _) => JobPhase::Reap { ddir, left: self.plan.complete_min.min(self.depth).max(1) },
                    (false, Some(ddir)) => JobPhase::Think { ddir },
                    (false, None) => JobPhase::Top,
                };
            }
            JobPhase::Reap { ddir, left } => return self.reap(ddir, left),
            JobPhase::Think { ddir } => self.phase = self.think(now, ddir),
            JobPhase::ThinkDrain { ddir, sleep } => {
                if !self.is_drained() {
                    return Some(JobStep::Wait);
                }
                self.phase = JobPhase::ThinkSleep { ddir, slept: sleep, until: Nanos(now.0 + sleep * 1000) };
            }
            JobPhase::ThinkSleep { ddir, slept, until } => {
                if now < until && !self.terminate {
                    return Some(JobStep::SleepUntil(until));
                }
                self.count_think_time(ddir, slept);
                self.phase = JobPhase::Top;
            }
            JobPhase::Flush { last } => {
                if !std::mem::take(&mut self.flush_done) {
                    return Some(JobStep::Wait);
                }
                self.last_was_sync = true;
                self.phase = if last { JobPhase::Finish } else { JobPhase::Issued { ddir: None } };
            }
            JobPhase::Drain => {
                if !self.is_drained() {
                    return Some(JobStep::Wait);
                }
                self.phase = JobPhase::Finish;
                if self.plan.end_fsync && self.plan.writes() && !self.last_was_sync {
                    self.phase = JobPhase::Flush { last: true };
                    return Some(JobStep::Issue(Command::FLUSH));
                }
            }
            JobPhase::Finish => self.finish_pass(),
            JobPhase::Ended => return Some(JobStep::Ended),
        }
        None
    }

    /// Begins another pass or ends the job (fio's `keep_running`).
    fn begin_pass(&mut self) {
        let plan = &self.plan;
        let continues = if self.terminate {
            false
        } else if plan.is_endless() {
            true
        } else if self.loops_left > 0 {
            self.loops_left -= 1;
            true
        } else {
            let limit = plan.io_size.unwrap_or(plan.size);
            let left = limit.saturating_sub(self.bytes.iter().sum());
            let exhausted = self.file_done && plan.io_size.is_none();
            !self.has_all_ios() && left > 0 && left >= plan.access.largest() && !exhausted
        };
        self.phase = if continues { JobPhase::Top } else { JobPhase::Ended };
        if continues {
            (self.pass_issued, self.pass_done, self.file_done) = (0, 0, false);
        }
    }

    /// Ends a pass.
    fn finish_pass(&mut self) {
        // A pass without a request is the last, as another would be the same.
        self.terminate |= self.pass_done == 0;
        self.last_was_sync = false;
        self.mix_until = 0;
        self.begin_pass();
        if self.phase == JobPhase::Top {
            self.offsets.begin_pass();
            if self.plan.reseeds {
                self.offsets.seed();
            }
        }
    }

    /// Ends the pass because the region is exhausted or the runtime is over; returns the next phase.
    fn end_file(&mut self) -> JobPhase {
        self.file_done = true;
        JobPhase::Drain
    }

    /// Decides at the head of the loop: the pass ends, or a flush or a request comes next.
    fn top(&mut self, now: Nanos) -> Option<JobStep> {
        let plan = &self.plan;
        // The order of these checks is fio's: of several limits it decides which one ends the pass, and if a flush still comes.
        let timed = plan.access.time_based;
        let full = self.issue_bytes >= plan.limit() || self.has_all_ios();
        if self.terminate || (full && !timed) {
            self.phase = JobPhase::Drain;
        } else if self.timed_out(now) {
            self.terminate = true;
            self.phase = JobPhase::Drain;
        } else if self.pass_issued >= plan.pass_bytes() && !timed {
            self.phase = JobPhase::Drain;
        } else if self.is_flush_due() {
            self.phase = JobPhase::Flush { last: false };
            return Some(JobStep::Issue(Command::FLUSH));
        } else {
            let ddir = self.choose_direction();
            self.phase = self.apply_rate(now, ddir);
        }
        None
    }

    fn is_flush_due(&self) -> bool {
        let issued = self.issues[WRITE];
        let due = |every: u64| every != 0 && issued.is_multiple_of(every);
        self.plan.writes() && !self.last_was_sync && issued != 0 && self.plan.fsync.into_iter().any(due)
    }

    /// The direction of the next request (fio's `get_rw_ddir`).
    fn choose_direction(&mut self) -> usize {
        match self.plan.rw {
            AccessKind::Read => return READ,
            AccessKind::Write => return WRITE,
            AccessKind::Trim => return TRIM,
            AccessKind::Mixed => {}
        }
        if self.issues[self.mix] >= self.mix_until {
            let ddir = self.offsets.draw_direction();
            if ddir != self.mix {
                let read = u64::from(self.plan.access.read_percent);
                let other = if self.mix == READ { 100 - read } else { read };
                // fio's `set_rwmix_bytes`: the other direction is kept until it has its share of this one's requests.
                self.mix_until = self.issues[self.mix] * other / 100;
            }
            self.mix = ddir;
        }
        self.mix
    }

    /// Holds a direction to its rate, and lets the other direction of a mixed job go first if that is due (fio's `rate_ddir`).
    fn apply_rate(&mut self, now: Nanos, ddir: usize) -> JobPhase {
        let micros = self.micros(now);
        // The requests of a direction are due at the times that their bytes take at its rate.
        if self.rate_next[ddir] <= micros {
            return JobPhase::Fill { ddir };
        }
        let read = self.plan.access.read_percent;
        let (mut chosen, other) = (ddir, ddir ^ 1);
        if self.plan.mixed() && (if other == READ { read } else { 100 - read }) != 0 {
            if self.rate_next[other] <= micros {
                return JobPhase::Fill { ddir: other };
            }
            if self.rate_next[ddir] > self.rate_next[other] {
                chosen = other;
            }
        }
        let sleep = self.rate_next[chosen] - micros;
        if self.plan.offloads {
            while self.reap_one() {}
            return self.rate_sleep(now, chosen, sleep, micros);
        }
        JobPhase::RateDrain { ddir: chosen, sleep, decided: micros }
    }

    /// Begins to sleep to keep the rate, but not beyond the runtime.
    fn rate_sleep(&mut self, now: Nanos, ddir: usize, sleep: u64, decided: u64) -> JobPhase {
        let runtime = self.plan.runtime;
        let mut sleep = sleep;
        if runtime != 0 && decided + sleep > runtime {
            if decided > runtime {
                return self.end_file();
            }
            sleep = runtime - decided;
        }
        // fio computes in whole microseconds: the sleep ends at one, wherever within one it begins.
        let from = self.epoch.0 + self.micros(now) * 1000;
        JobPhase::RateSleep { ddir, until: Nanos(from.saturating_add(sleep.saturating_mul(1000))) }
    }

    /// Draws and issues a request in a direction.
    fn fill(&mut self, ddir: usize) -> Option<JobStep> {
        if self.plan.mixed() {
            self.mix = ddir;
        }
        let Some(range) = self.offsets.next(ddir) else {
            self.phase = self.end_file();
            return None;
        };
        self.accounting |= !self.ramping;
        self.issues[ddir] += 1;
        self.issue_bytes += range.bytes;
        self.rate_bytes[ddir] += range.bytes;
        if !self.plan.synchronous {
            self.pass_issued += range.bytes;
        }
        if self.plan.checks_rate() {
            self.rate_next[ddir] = self.next_due(ddir);
        }
        self.depth += 1;
        self.phase = JobPhase::Issued { ddir: Some(ddir) };
        let op = [Op::Read, Op::Write, Op::Trim][ddir];
        Some(JobStep::Issue(Command {
            fua: self.plan.fua && op == Op::Write,
            ..Command::new(op, Lba(range.offset / SECTOR_BYTES), (range.bytes / SECTOR_BYTES) as u32)
        }))
    }

    /// Microsecond after `epoch` at which the next request of a direction is due (fio's `usec_for_io`); 0 without a rate.
    fn next_due(&mut self, ddir: usize) -> u64 {
        let rate = self.plan.rate[ddir];
        if rate == 0 {
            return 0;
        }
        if self.plan.process == RateProcess::Poisson {
            // fio computes in whole requests per second and whole microseconds.
            let iops = (rate / self.plan.access.sizes[ddir].least).max(1);
            // fio computes in single precision.
            let gap = (1_000_000 / iops) as f32 * -(self.poisson[ddir].unit() as f32).ln();
            self.poisson_at[ddir] += gap as u64;
            return self.poisson_at[ddir];
        }
        let micros = u128::from(self.rate_bytes[ddir]) * 1_000_000 / u128::from(rate);
        u64::try_from(micros).unwrap_or(u64::MAX)
    }

    /// Counts a completion, or waits for one; `left` are still to be counted.
    fn reap(&mut self, ddir: Option<usize>, left: u32) -> Option<JobStep> {
        if !self.reap_one() {
            if self.depth > 0 {
                return Some(JobStep::Wait);
            }
        } else if left > 1 {
            self.phase = JobPhase::Reap { ddir, left: left - 1 };
            return None;
        } else if self.depth > self.plan.depth_low {
            self.phase = JobPhase::Reap { ddir, left: self.plan.complete_min.min(self.depth).max(1) };
            return None;
        }
        self.phase = ddir.map_or(JobPhase::Top, |ddir| JobPhase::Think { ddir });
        None
    }

    /// Decides whether to think (fio's `handle_thinktime`).
    fn think(&mut self, now: Nanos, ddir: usize) -> JobPhase {
        let plan = &self.plan;
        if plan.think_time == 0 {
            return JobPhase::Top;
        }
        // As in fio a job thinks after a time of requests or after a number of them, whichever comes first.
        let mut stall = false;
        if plan.think_every != 0 {
            let since = now.saturating_sub(self.think_last).0 / 1000;
            if since >= plan.think_every + plan.think_time {
                stall = true;
            } else if plan.think_blocks.is_none() {
                return JobPhase::Top;
            }
        }
        let counted: u64 = if plan.think_issued { self.issues } else { self.blocks }.iter().sum();
        stall |= counted >= self.think_blocks + plan.think_blocks.unwrap_or(1);
        if !stall {
            return JobPhase::Top;
        }
        self.think_blocks = counted;
        if plan.think_every != 0 {
            self.think_last = now;
        }
        JobPhase::ThinkDrain { ddir, sleep: plan.think_time }
    }

    /// With `rate_ignore_thinktime` counts the bytes that the rate would have allowed during the sleep, so that the job does not catch up.
    fn count_think_time(&mut self, ddir: usize, slept: u64) {
        let rate = self.plan.rate[ddir];
        if slept == 0 || rate == 0 || !self.plan.rate_ignores_think {
            return;
        }
        let block = self.plan.access.sizes[ddir].least;
        let missed = (u128::from(rate) * u128::from(slept) / 1_000_000) as u64;
        let each = block * 1_000_000 / rate;
        let over = if each <= slept { block } else { 0 };
        self.rate_bytes[ddir] = (self.rate_bytes[ddir] + missed).saturating_sub(over);
        self.poisson_at[ddir] += slept;
    }

    /// Share of its work done, 0 to 1, by the limit that is nearest; 0 without a limit.
    pub(super) fn progress(&self, now: Nanos) -> f64 {
        let plan = &self.plan;
        if self.phase == JobPhase::Ended {
            return 1.0;
        }
        let part = |done: u64, all: u64| if all == 0 { 0.0 } else { (done as f64 / all as f64).min(1.0) };
        let ios = part(self.blocks.iter().sum(), plan.number_ios.saturating_mul(plan.loops));
        let time = part(self.micros(now), plan.runtime);
        let bytes = if plan.access.time_based { 0.0 } else { part(self.issue_bytes, plan.limit()) };
        ios.max(time).max(bytes)
    }
}
