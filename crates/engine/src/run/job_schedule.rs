//! The lanes of a run: who is asked next.

use outlast_units::Nanos;
use outlast_workload::FioLanes;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// The lanes of a run and when each is to be asked.
pub(super) struct JobSchedule {
    pub(super) jobs: FioLanes,
    pub(super) ready: VecDeque<u32>,
    /// When each lane that sleeps wakes up, and the same in order; what was changed since stays in the heap until it comes up.
    pub(super) wakes: Vec<Option<Nanos>>,
    asleep: BinaryHeap<Reverse<(Nanos, u32)>>,
    /// By tag.
    pub(super) job_of: Vec<u32>,
}

impl JobSchedule {
    pub(super) fn new(jobs: FioLanes) -> Self {
        let count = jobs.infos().len() as u32;
        Self {
            jobs,
            ready: (0..count).collect(),
            wakes: vec![None; count as usize],
            asleep: BinaryHeap::new(),
            job_of: Vec::new(),
        }
    }

    pub(super) fn issued(&mut self, job: u32, tag: u32) {
        if tag as usize == self.job_of.len() {
            self.job_of.push(job);
        } else {
            self.job_of[tag as usize] = job;
        }
    }

    pub(super) fn sleep(&mut self, job: u32, at: Nanos) {
        if self.wakes[job as usize].replace(at) != Some(at) {
            self.asleep.push(Reverse((at, job)));
        }
    }

    /// When the next lane wakes up.
    pub(super) fn next_wake(&mut self) -> Option<Nanos> {
        while let Some(&Reverse((at, job))) = self.asleep.peek() {
            if self.wakes[job as usize] == Some(at) {
                return Some(at);
            }
            self.asleep.pop();
        }
        None
    }

    /// Makes ready the lanes that wake up by `now`.
    pub(super) fn wake(&mut self, now: Nanos) {
        while self.next_wake().is_some_and(|at| at <= now) {
            let Some(Reverse((_, job))) = self.asleep.pop() else { return };
            self.wakes[job as usize] = None;
            self.ready.push_back(job);
        }
    }
}
