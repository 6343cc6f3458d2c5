//! Schedule of the jobs of a run: the order in which they are asked for commands.

use super::shared_core::SharedCore;
use outlast_device::Completion;
use outlast_units::Nanos;
use outlast_workload::FioJobs;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// The jobs of a run, those that are ready, and those that sleep until a moment.
pub(super) struct JobSchedule {
    pub(super) jobs: FioJobs,
    /// Jobs to be asked, in order.
    pub(super) ready: VecDeque<u32>,
    /// Wake-up time of each sleeping job.
    pub(super) wakes: Vec<Option<Nanos>>,
    /// Wake-up times and jobs, earliest first. Entries that `wakes` no longer confirms are outdated and skipped.
    asleep: BinaryHeap<Reverse<(Nanos, u32)>>,
    /// The core that all jobs share; `None`: each has its own.
    core: Option<Box<SharedCore>>,
    /// Job that issued the command of a tag.
    pub(super) job_of: Vec<u32>,
}

impl JobSchedule {
    pub(super) fn new(jobs: FioJobs) -> Self {
        let count = jobs.infos().len() as u32;
        let core = jobs.time_slice().map(|slice| Box::new(SharedCore::new(slice, count as usize)));
        Self {
            jobs,
            core,
            ready: (0..count).collect(),
            wakes: vec![None; count as usize],
            asleep: BinaryHeap::new(),
            job_of: Vec::new(),
        }
    }

    /// Records the job of a tag. Tags are dense: a new one is the next.
    pub(super) fn issued(&mut self, job: u32, tag: u32) {
        if tag as usize == self.job_of.len() {
            self.job_of.push(job);
        } else {
            self.job_of[tag as usize] = job;
        }
    }

    /// Puts `job` to sleep until `at`.
    pub(super) fn sleep(&mut self, job: u32, at: Nanos) {
        if self.wakes[job as usize].replace(at) != Some(at) {
            self.asleep.push(Reverse((at, job)));
        }
    }

    /// True if the jobs share a core of the host.
    #[inline]
    pub(super) fn shares_core(&self) -> bool {
        self.core.is_some()
    }

    /// Keeps the completion of a command of `job` until the job runs; false if it runs now.
    #[inline]
    pub(super) fn hold(&mut self, job: u32, completion: &Completion) -> bool {
        self.core.as_mut().is_some_and(|core| core.hold(job, completion))
    }

    /// Keeps `job` from being asked at `now` until it runs; false if it runs now, or cannot begin yet.
    #[inline]
    pub(super) fn defer(&mut self, job: u32, now: Nanos) -> bool {
        let Some(core) = &mut self.core else { return false };
        self.jobs.begin_due(job, now);
        self.jobs.is_running(job) && core.defer(job, now)
    }

    /// Lets go the core for `job`, which has ended at `now`.
    pub(super) fn leave_core(&mut self, job: u32, now: Nanos) {
        self.core.iter_mut().for_each(|core| core.leave(job, now));
    }

    /// Earliest time at which a job wakes up, or runs that has something to see or to do.
    pub(super) fn next_wake(&mut self) -> Option<Nanos> {
        let turn = self.core.as_ref().and_then(|core| core.next_turn());
        let wake = self.next_wake_up();
        turn.into_iter().chain(wake).min()
    }

    /// Earliest wake-up time; drops outdated entries.
    fn next_wake_up(&mut self) -> Option<Nanos> {
        while let Some(&Reverse((at, job))) = self.asleep.peek() {
            if self.wakes[job as usize] == Some(at) {
                return Some(at);
            }
            self.asleep.pop();
        }
        None
    }

    /// Makes the jobs ready that wake up by `now`, or that run now and have something to do; what they have not seen of their commands goes into `completions`.
    pub(super) fn wake(&mut self, now: Nanos, completions: &mut Vec<Completion>) {
        if let Some(core) = &mut self.core {
            self.ready.extend(core.begin_turn(now, completions));
        }
        while self.next_wake_up().is_some_and(|at| at <= now) {
            let Some(Reverse((_, job))) = self.asleep.pop() else { return };
            self.wakes[job as usize] = None;
            self.ready.push_back(job);
        }
    }
}
