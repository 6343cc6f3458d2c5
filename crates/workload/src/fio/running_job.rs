//! A running job: fio's loop of issuing, waiting and sleeping (`do_io` and its callees in `backend.c` of fio 3.33) as a state machine
//! that takes the time as an argument and returns the next step. The host's processor takes no time.

mod issue;
mod job_phase;
mod pace;
mod passes;
mod zoned;

use super::data_placement::WritePlacement;
use super::flow::FlowGroup;
use super::job_plan::JobPlan;
use super::offsets::{OffsetGenerator, READ, TRIM, WRITE};
use super::rand::{RandomStream, TauswortheRng};
use super::zbd::HostZones;
use crate::job::{JobCompletion, JobStep};
use job_phase::JobPhase;
use outlast_device::{Command, Op};
use outlast_units::{Nanos, SECTOR_BYTES};
use std::collections::VecDeque;
use std::sync::Arc;
use zoned::ZonedRequests;

/// The state of a running job.
#[derive(Debug)]
#[allow(clippy::struct_excessive_bools, reason = "they are fio's own flags, independent of each other")]
pub(super) struct RunningJob {
    plan: Arc<JobPlan>,
    /// Number of the job.
    number: u32,
    /// Requests of a job with `zonemode=zbd`.
    zoned: Option<Box<ZonedRequests>>,
    offsets: OffsetGenerator,
    poisson: [TauswortheRng; 3],
    placement: Option<WritePlacement>,
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
    /// Passes begun.
    passes: u32,
    /// Requests issued, requests reaped and bytes reaped since `epoch`, by direction.
    issues: [u64; 3],
    blocks: [u64; 3],
    bytes: [u64; 3],
    issue_bytes: u64,
    /// Of these, bytes of writes.
    write_bytes: u64,
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
    /// Requests and flushes that count in its flow.
    flow_requests: u64,
}

impl RunningJob {
    pub(super) fn new(plan: Arc<JobPlan>, number: u32, now: Nanos) -> Self {
        let seeds = plan.seeds.clone();
        let poisson = [RandomStream::Poisson, RandomStream::Poisson2, RandomStream::Poisson3]
            .map(|stream| TauswortheRng::new(seeds.of(stream), false));
        Self {
            offsets: OffsetGenerator::new(plan.access.clone(), seeds),
            poisson,
            placement: WritePlacement::of(&plan),
            number,
            flow_requests: 0,
            zoned: plan.zbd.is_some().then(|| Box::new(ZonedRequests::new())),
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
            passes: 0,
            issues: [0; 3],
            blocks: [0; 3],
            bytes: [0; 3],
            issue_bytes: 0,
            write_bytes: 0,
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

    /// Requests and flushes that count in its flow.
    pub(super) fn flow_requests(&self) -> u64 {
        self.flow_requests
    }

    /// Bytes of the requests that it has issued.
    pub(super) fn issued_bytes(&self) -> u64 {
        self.issue_bytes
    }

    /// True if its runtime ends it, whatever happens.
    pub(super) fn ends_by_time(&self) -> bool {
        self.plan.runtime != 0 && !self.ramping
    }

    /// Takes the completion of a command of this job.
    pub(super) fn handle_completion(&mut self, now: Nanos, command: &Command) -> JobCompletion {
        let mut bytes = u64::from(command.sectors) * SECTOR_BYTES;
        let ddir = match command.op {
            // A trim of a zone, unless a zone is being reset for a write.
            Op::ManageZone if !matches!(self.phase, JobPhase::ZoneReset { .. }) => {
                bytes = self.plan.access.sizes[TRIM].least;
                TRIM
            }
            Op::Flush | Op::LbaStatus | Op::Append | Op::ManageZone => {
                self.flush_done = true;
                return if self.accounting { JobCompletion::Measured } else { JobCompletion::Unmeasured };
            }
            Op::Read => READ,
            Op::Write => WRITE,
            Op::Trim => TRIM,
        };
        // fio sees a completion only when it reaps: `depth` and the counts change there.
        self.unreaped.push_back((ddir, bytes));
        if let Some(zoned) = &mut self.zoned {
            zoned.completed(self.plan.in_file(command.lba), bytes);
        }
        // The ramp ends with the first completion after its time, not at the time itself.
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
        self.ends_by_time() && self.micros(now) >= self.plan.runtime
    }

    /// True if completed requests and those in flight together reach `number_ios`.
    fn has_all_ios(&self) -> bool {
        let requests: u64 = self.blocks.iter().sum::<u64>() + u64::from(self.depth);
        // fio doubles the number at each pass of a job that trims each range before it is written.
        let doublings = if self.plan.trims_first() { self.passes.min(20) } else { 0 };
        self.plan.number_ios != 0 && requests >= (self.plan.number_ios * self.plan.loops) << doublings
    }

    /// Counts one completed request; false if there is none.
    fn reap_one(&mut self) -> bool {
        let Some((ddir, bytes)) = self.unreaped.pop_front() else { return false };
        self.depth -= 1;
        self.blocks[ddir] += 1;
        self.bytes[ddir] += bytes;
        self.pass_done += bytes;
        self.last_was_sync = false;
        if let Some(zoned) = &mut self.zoned {
            zoned.reap(ddir);
        }
        true
    }

    /// Counts all completed requests; true if none is in flight any more.
    fn is_drained(&mut self) -> bool {
        while self.reap_one() {}
        self.depth == 0
    }

    /// The next step at `now`.
    pub(super) fn next_step(
        &mut self,
        now: Nanos,
        mut zones: Option<&mut HostZones>,
        mut flow: Option<&mut FlowGroup>,
    ) -> JobStep {
        loop {
            let step = match &mut zones {
                Some(zones) if self.zoned.is_some() => self.advance_in_zones(now, zones, flow.as_deref_mut()),
                _ => self.advance(now, flow.as_deref_mut()),
            };
            if let Some(step) = step {
                return step;
            }
        }
    }

    /// Moves to the next phase, with a step if the caller must do something before.
    fn advance(&mut self, now: Nanos, flow: Option<&mut FlowGroup>) -> Option<JobStep> {
        match self.phase {
            JobPhase::Pass => self.begin_pass(),
            JobPhase::Top => return self.top(now, flow),
            JobPhase::FlowDrain | JobPhase::FlowSleep { .. } => return self.sleep_in_flow(now),
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
                // The runtime may have passed during the sleep; fio then ends the file instead of issuing late.
                let late = self.plan.runtime != 0 && self.micros(now) >= self.plan.runtime;
                self.phase = if late || self.terminate { self.end_file() } else { JobPhase::Fill { ddir } };
            }
            JobPhase::Fill { ddir } => return self.fill(ddir),
            JobPhase::Place { .. } | JobPhase::PlaceDrain { .. } | JobPhase::ZoneReset { .. } => {
                unreachable!("phases of jobs with zonemode=zbd, which have zones")
            }
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
}
