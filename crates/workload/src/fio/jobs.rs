//! All jobs of a file, side by side: the order in which they begin, their steps and their ends.

mod standstill;

use super::flow::FlowGroup;
use super::job_options::ExitWhat;
use super::job_plan::JobPlan;
use super::parse::LinePosition;
use super::running_job::RunningJob;
use super::zbd::HostZones;
use crate::job::{JobCompletion, JobInfo, JobStep};
use outlast_device::{Command, QueueId};
use outlast_units::Nanos;
use std::sync::Arc;

/// One job or clone of a job, before it runs.
#[derive(Clone, Debug)]
pub(super) struct FioJob {
    pub(super) info: Arc<JobInfo>,
    pub(super) plan: Arc<JobPlan>,
    /// Time from the start of the workload before which it does not begin (`startdelay`).
    pub(super) delay: Nanos,
    /// True if it begins only when no earlier job runs.
    pub(super) stonewall: bool,
    /// Name of the job that must have ended before it begins, all clones of it included.
    pub(super) wait_for: Option<String>,
    pub(super) exit_what: ExitWhat,
    /// Where its weight in a flow is set.
    pub(super) flow_at: LinePosition,
}

#[derive(Debug)]
enum JobState {
    NotBegun,
    Running(Box<RunningJob>),
    Ended,
}

/// Jobs that run side by side. The caller asks each for its next step and passes it its completions.
///
/// **Call order.** `next_step` of every job at time zero; then of a job whose command has completed (`handle_completion` first), whose sleep
/// is over, or that is among the [`FioJobs::take_woken`] after another has ended. Time never runs backwards.
#[derive(Debug)]
pub struct FioJobs {
    jobs: Arc<[FioJob]>,
    states: Vec<JobState>,
    /// Zones that jobs with `zonemode=zbd` share, as they are, and as they were at the beginning.
    zones: Option<Box<HostZones>>,
    first_zones: Option<Box<HostZones>>,
    /// Flows that jobs share, as they are, and by job the index of its own.
    flows: Vec<FlowGroup>,
    flow_of: Vec<Option<usize>>,
    /// Time for which each job runs in turn on the core of the host that all share; `None`: each has a core of its own.
    time_slice: Option<Nanos>,
    exit_all: bool,
    /// Jobs that `exitall` has ended before they began.
    cancelled: Vec<bool>,
    running: usize,
    /// All jobs before this one have begun or were cancelled.
    first_waiting: usize,
    /// Jobs to be asked again because another has ended.
    woken: Vec<u32>,
}

impl FioJobs {
    pub(super) fn new(
        jobs: Arc<[FioJob]>,
        zones: Option<HostZones>,
        time_slice: Option<Nanos>,
        exit_all: bool,
    ) -> Self {
        let (flows, flow_of) = FlowGroup::all(jobs.iter().map(|job| job.plan.flow));
        let zones = zones.map(Box::new);
        let count = jobs.len();
        Self {
            jobs,
            states: (0..count).map(|_| JobState::NotBegun).collect(),
            zones: zones.clone(),
            first_zones: zones,
            flows,
            flow_of,
            time_slice,
            exit_all,
            cancelled: vec![false; count],
            running: 0,
            first_waiting: 0,
            woken: Vec::new(),
        }
    }

    /// The same jobs before their beginning.
    #[must_use]
    pub fn restarted(&self) -> Self {
        Self::new(self.jobs.clone(), self.first_zones.as_deref().cloned(), self.time_slice, self.exit_all)
    }

    /// Time for which each job runs in turn on the core of the host that all share; `None`: each has a core of its own.
    pub fn time_slice(&self) -> Option<Nanos> {
        self.time_slice
    }

    /// Facts of each job, by number.
    pub fn infos(&self) -> impl ExactSizeIterator<Item = &JobInfo> {
        self.jobs.iter().map(|job| &*job.info)
    }

    /// The next step of `job` at `now`. Its commands go through the submission queue of its number modulo 256.
    pub fn next_step(&mut self, job: u32, now: Nanos) -> JobStep {
        let index = job as usize;
        if matches!(self.states[index], JobState::NotBegun) {
            self.begin_due_jobs(now);
        }
        match &mut self.states[index] {
            JobState::Running(thread) => {
                let flow = self.flow_of[index].map(|at| &mut self.flows[at]);
                let step = thread.next_step(now, self.zones.as_deref_mut(), flow);
                if let Some(zones) = &mut self.zones {
                    zones.take_woken(job, &mut self.woken);
                }
                if let Some(at) = self.flow_of[index] {
                    self.flows[at].take_woken(job, &mut self.woken);
                }
                match step {
                    JobStep::Issue(command) => {
                        JobStep::Issue(Command { queue: QueueId(job as u8), ..command })
                    }
                    JobStep::Ended => {
                        self.end(index, now);
                        JobStep::Ended
                    }
                    step @ (JobStep::Wait | JobStep::SleepUntil(_)) => step,
                }
            }
            JobState::Ended => JobStep::Ended,
            JobState::NotBegun if self.cancelled[index] => {
                // `end` counts it off again.
                self.running += 1;
                self.end(index, now);
                JobStep::Ended
            }
            JobState::NotBegun if now < self.jobs[index].delay => JobStep::SleepUntil(self.jobs[index].delay),
            JobState::NotBegun => JobStep::Wait,
        }
    }

    /// Takes the completion of a command of `job`.
    #[inline]
    pub fn handle_completion(&mut self, job: u32, now: Nanos, command: &Command) -> JobCompletion {
        match &mut self.states[job as usize] {
            JobState::Running(thread) => thread.handle_completion(now, command),
            JobState::NotBegun | JobState::Ended => JobCompletion::Unmeasured,
        }
    }

    /// True if [`FioJobs::take_woken`] has any.
    pub fn any_woken(&self) -> bool {
        !self.woken.is_empty()
    }

    /// Jobs to be asked for their next step because another has ended, or has let go a zone, since the last call.
    pub fn take_woken(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.woken)
    }

    /// Begins the jobs that are due, if `job` has not begun.
    pub fn begin_due(&mut self, job: u32, now: Nanos) {
        if !self.has_begun(job) {
            self.begin_due_jobs(now);
        }
    }

    /// True if `job` has begun and not ended.
    pub fn is_running(&self, job: u32) -> bool {
        matches!(self.states[job as usize], JobState::Running(_))
    }

    /// True if `job` has begun.
    pub fn has_begun(&self, job: u32) -> bool {
        !matches!(self.states[job as usize], JobState::NotBegun)
    }

    /// Share of the work done, 0 to 1: the mean of all jobs.
    pub fn progress(&self, now: Nanos) -> f64 {
        let sum: f64 = self
            .states
            .iter()
            .map(|state| match state {
                JobState::NotBegun => 0.0,
                JobState::Running(thread) => thread.progress(now),
                JobState::Ended => 1.0,
            })
            .sum();
        sum / self.states.len().max(1) as f64
    }

    /// Begins the jobs that may begin, in the order of the file, as fio's `run_threads` does.
    fn begin_due_jobs(&mut self, now: Nanos) {
        for index in self.first_waiting..self.jobs.len() {
            if !matches!(self.states[index], JobState::NotBegun) || self.cancelled[index] {
                // Jobs before the first that waits are never looked at again: 4096 jobs would else be scanned at every step.
                if index == self.first_waiting {
                    self.first_waiting += 1;
                }
                continue;
            }
            let job = &self.jobs[index];
            if now < job.delay {
                continue;
            }
            if job.stonewall && self.running > 0 {
                // A stonewall holds back the jobs behind it, too.
                break;
            }
            if job.wait_for.as_ref().is_some_and(|name| self.is_unfinished(name, &job.info.name)) {
                continue;
            }
            self.states[index] =
                JobState::Running(Box::new(RunningJob::new(job.plan.clone(), index as u32, now)));
            self.running += 1;
        }
    }

    /// True if a job of this name, other than the clones of `waiting`, has not ended.
    fn is_unfinished(&self, name: &str, waiting: &str) -> bool {
        name != waiting
            && self
                .jobs
                .iter()
                .zip(&self.states)
                .any(|(job, state)| job.info.name == name && !matches!(state, JobState::Ended))
    }

    /// Ends a job and begins those that waited for it.
    fn end(&mut self, index: usize, now: Nanos) {
        let state = std::mem::replace(&mut self.states[index], JobState::Ended);
        if let (JobState::Running(thread), Some(at)) = (state, self.flow_of[index]) {
            self.flows[at].leave(index as u32, self.jobs[index].plan.flow, thread.flow_requests());
            self.flows[at].take_woken(index as u32, &mut self.woken);
        }
        self.running -= 1;
        if self.exit_all {
            self.terminate(index);
        }
        // Jobs that the end has let begin, or that were cancelled, must be asked again: they may have answered `Wait` before.
        let unbegun: Vec<usize> = (self.first_waiting..self.jobs.len())
            .filter(|&other| matches!(self.states[other], JobState::NotBegun))
            .collect();
        self.begin_due_jobs(now);
        let due =
            |other: &usize| self.cancelled[*other] || !matches!(self.states[*other], JobState::NotBegun);
        self.woken.extend(unbegun.iter().filter(|other| due(other)).map(|&other| other as u32));
    }

    /// Applies `exitall` after job `index` has ended: others end as soon as they have nothing in flight.
    fn terminate(&mut self, index: usize) {
        let (scope, group) = (self.jobs[index].exit_what, self.jobs[index].info.group);
        for other in 0..self.jobs.len() {
            if scope == ExitWhat::Group && self.jobs[other].info.group != group {
                continue;
            }
            match &mut self.states[other] {
                JobState::Running(thread) => {
                    // It may sleep, or wait for a completion, and would not look at the flag by itself.
                    if !std::mem::replace(&mut thread.terminate, true) {
                        self.woken.push(other as u32);
                    }
                }
                JobState::NotBegun => self.cancelled[other] |= scope != ExitWhat::Running,
                JobState::Ended => {}
            }
        }
    }
}
