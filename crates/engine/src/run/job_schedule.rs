//! Schedule of the jobs of a run: the order in which they are asked for commands.

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
    /// Job that issued the command of a tag.
    pub(super) job_of: Vec<u32>,
}

impl JobSchedule {
    pub(super) fn new(jobs: FioJobs) -> Self {
        let count = jobs.infos().len() as u32;
        Self {
            jobs,
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

    /// Earliest wake-up time; drops outdated entries.
    pub(super) fn next_wake(&mut self) -> Option<Nanos> {
        while let Some(&Reverse((at, job))) = self.asleep.peek() {
            if self.wakes[job as usize] == Some(at) {
                return Some(at);
            }
            self.asleep.pop();
        }
        None
    }

    /// Makes the jobs ready that wake up by `now`.
    pub(super) fn wake(&mut self, now: Nanos) {
        while self.next_wake().is_some_and(|at| at <= now) {
            let Some(Reverse((_, job))) = self.asleep.pop() else { return };
            self.wakes[job as usize] = None;
            self.ready.push_back(job);
        }
    }
}
