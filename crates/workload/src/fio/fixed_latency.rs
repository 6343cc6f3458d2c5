//! Jobs on a nominal device that takes the same time for every request: the order of their requests without a simulated drive.

use super::jobs::FioJobs;
use crate::job::JobStep;
use crate::{RequestSource, WorkloadError, WorkloadRequest};
use outlast_device::Command;
use outlast_units::Nanos;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Latency of every request in runs without simulated time, with which jobs take turns in proportion to their depths and rates. About that of
/// a read from flash.
const NOMINAL: Nanos = Nanos::micros(100);

/// Runs jobs on a device that takes the same time for every request.
pub(super) struct FixedLatencyJobs {
    jobs: FioJobs,
    latency: Nanos,
    /// Requests in flight, in order of their completion, which is that of issue.
    in_flight: VecDeque<(Nanos, u32, Command)>,
    /// Sleeping jobs, the first to wake on top. A job that is asked while it sleeps repeats its time, so an entry counts only if `wakes` agrees.
    asleep: BinaryHeap<Reverse<(Nanos, u32)>>,
    wakes: Vec<Option<Nanos>>,
    /// Jobs to be asked for their next step at `now`.
    ready: VecDeque<u32>,
    now: Nanos,
    /// Moments at which each job began and ended.
    pub(super) spans: Vec<(Option<Nanos>, Option<Nanos>)>,
}

impl FixedLatencyJobs {
    pub(super) fn new(jobs: FioJobs, latency: Nanos) -> Self {
        let count = jobs.infos().len();
        Self {
            jobs,
            latency,
            in_flight: VecDeque::new(),
            asleep: BinaryHeap::new(),
            wakes: vec![None; count],
            ready: (0..count as u32).collect(),
            now: Nanos::ZERO,
            spans: vec![(None, None); count],
        }
    }

    /// Time, job and command of the next request; `None` at the end.
    ///
    /// # Errors
    /// A job waits for ever.
    pub(super) fn next(&mut self) -> Result<Option<(Nanos, u32, Command)>, WorkloadError> {
        loop {
            while let Some(&job) = self.ready.front() {
                let step = self.jobs.next_step(job, self.now);
                let span = &mut self.spans[job as usize];
                if span.0.is_none() && self.jobs.has_begun(job) {
                    span.0 = Some(self.now);
                }
                if self.jobs.any_woken() {
                    self.ready.extend(self.jobs.take_woken());
                }
                match step {
                    JobStep::Issue(command) => {
                        // All latencies are equal, so requests complete in the order of their issue. The job stays at the front:
                        // it may issue more at this moment.
                        self.in_flight.push_back((Nanos(self.now.0 + self.latency.0), job, command));
                        return Ok(Some((self.now, job, command)));
                    }
                    JobStep::Wait => {}
                    JobStep::SleepUntil(at) => {
                        if self.wakes[job as usize].replace(at) != Some(at) {
                            self.asleep.push(Reverse((at, job)));
                        }
                    }
                    JobStep::Ended => {
                        span.1.get_or_insert(self.now);
                    }
                }
                self.ready.pop_front();
            }
            // No job can act now: the clock moves to the next completion or, if that is earlier, to the next wake-up.
            let asleep = self.asleep.peek().map(|&Reverse((at, _))| at);
            match self.in_flight.front().map(|&(at, _, _)| at) {
                Some(at) if asleep.is_none_or(|wake| at <= wake) => {
                    let Some((at, job, command)) = self.in_flight.pop_front() else { return Ok(None) };
                    self.now = at;
                    self.jobs.handle_completion(job, at, &command);
                    self.ready.push_back(job);
                }
                _ => {
                    if self.in_flight.is_empty() {
                        self.jobs.check_flows(self.now, asleep.is_some())?;
                    }
                    let Some(Reverse((at, job))) = self.asleep.pop() else { return Ok(None) };
                    // A job that has changed its mind leaves its earlier entry in the heap; only the last one wakes it.
                    let wake = &mut self.wakes[job as usize];
                    if *wake == Some(at) {
                        *wake = None;
                        self.now = self.now.max(at);
                        self.ready.push_back(job);
                    }
                }
            }
        }
    }
}

/// The requests of the jobs in the order in which they would come if each took [`NOMINAL`], for runs and preconditioning without time.
pub(super) struct UntimedJobs(FixedLatencyJobs);

impl UntimedJobs {
    pub(super) fn new(jobs: FioJobs) -> Self {
        Self(FixedLatencyJobs::new(jobs, NOMINAL))
    }
}

impl RequestSource for UntimedJobs {
    fn fill(&mut self, out: &mut Vec<WorkloadRequest>, max: usize) -> Result<usize, WorkloadError> {
        for count in 0..max {
            let Some((_, _, command)) = self.0.next()? else { return Ok(count) };
            out.push(WorkloadRequest { at: Nanos::ZERO, command });
        }
        Ok(max)
    }

    fn rewind(&mut self) -> Result<(), WorkloadError> {
        self.0 = FixedLatencyJobs::new(self.0.jobs.restarted(), NOMINAL);
        Ok(())
    }

    fn progress(&self) -> Option<f64> {
        Some(self.0.jobs.progress(self.0.now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pass::PassSeeds;
    use crate::{FioSpec, WorkloadTarget};
    use outlast_units::Bytes;

    /// Regression: a job is asked whenever one of its requests completes, and each answer to sleep was kept, so that sleepers piled up and
    /// forty thousand requests took a minute.
    #[test]
    fn a_sleeping_job_is_kept_and_woken_once() {
        let job = "[rate]\nioengine=io_uring\nrw=randwrite\nbs=4k\niodepth=64\nrate_iops=2000\nrate_process=poisson\nnumjobs=3\n\
                   io_submit_mode=offload\ntime_based=1\nruntime=100s\n";
        let spec = FioSpec { job: Some(job.to_string()), ..FioSpec::default() };
        let target = WorkloadTarget {
            capacity: Bytes(1 << 30),
            seed: 1,
            unit: Bytes(512),
            handles: 0,
            zones: None,
            namespaces: Vec::new(),
        };
        let jobs = spec.open(&target, PassSeeds::new(&target, 0)).expect("a workload").jobs.expect("jobs");
        let mut paced = FixedLatencyJobs::new(jobs, Nanos::micros(100));
        for _ in 0..2000 {
            paced.next().expect("nothing waits for ever").expect("there are more");
            assert!(paced.asleep.len() <= 3, "{} for 3 jobs", paced.asleep.len());
        }
    }
}
