//! The jobs of a file on a device that takes the same time for every request: without a drive, and without time.

use super::jobs::FioLanes;
use crate::lanes::Ask;
use crate::{Request, Source, WorkloadError};
use outlast_device::Command;
use outlast_units::Nanos;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// What a request takes where there is no time: jobs beside each other then come to their turns in proportion to their depths and rates.
const NOMINAL: Nanos = Nanos::micros(100);

/// The jobs on a device that takes the same time for every request.
pub(super) struct Paced {
    lanes: FioLanes,
    latency: Nanos,
    /// Completions in order.
    flying: VecDeque<(Nanos, u32, Command)>,
    /// Lanes that sleep. A lane that is asked while it sleeps says the same again: only what `wakes` has of it counts, and stands here once.
    asleep: BinaryHeap<Reverse<(Nanos, u32)>>,
    wakes: Vec<Option<Nanos>>,
    ready: VecDeque<u32>,
    now: Nanos,
    /// When each lane began and ended.
    pub(super) spans: Vec<(Option<Nanos>, Option<Nanos>)>,
}

impl Paced {
    pub(super) fn new(lanes: FioLanes, latency: Nanos) -> Self {
        let count = lanes.infos().len();
        Self {
            lanes,
            latency,
            flying: VecDeque::new(),
            asleep: BinaryHeap::new(),
            wakes: vec![None; count],
            ready: (0..count as u32).collect(),
            now: Nanos::ZERO,
            spans: vec![(None, None); count],
        }
    }

    /// When, by which lane, and what comes next.
    pub(super) fn next(&mut self) -> Option<(Nanos, u32, Command)> {
        loop {
            while let Some(&lane) = self.ready.front() {
                let ask = self.lanes.ask(lane, self.now);
                let span = &mut self.spans[lane as usize];
                if span.0.is_none() && self.lanes.has_begun(lane) {
                    span.0 = Some(self.now);
                }
                match ask {
                    Ask::Issue(command) => {
                        self.flying.push_back((Nanos(self.now.0 + self.latency.0), lane, command));
                        return Some((self.now, lane, command));
                    }
                    Ask::Wait => {}
                    Ask::Until(at) => {
                        if self.wakes[lane as usize].replace(at) != Some(at) {
                            self.asleep.push(Reverse((at, lane)));
                        }
                    }
                    Ask::Ended => {
                        span.1.get_or_insert(self.now);
                        let woken = self.lanes.woken();
                        self.ready.extend(woken);
                    }
                }
                self.ready.pop_front();
            }
            let asleep = self.asleep.peek().map(|&Reverse((at, _))| at);
            match self.flying.front().map(|&(at, _, _)| at) {
                Some(at) if asleep.is_none_or(|wake| at <= wake) => {
                    let (at, lane, command) = self.flying.pop_front()?;
                    self.now = at;
                    self.lanes.completed(lane, at, &command);
                    self.ready.push_back(lane);
                }
                _ => {
                    let Reverse((at, lane)) = self.asleep.pop()?;
                    let wake = &mut self.wakes[lane as usize];
                    if *wake == Some(at) {
                        *wake = None;
                        self.now = self.now.max(at);
                        self.ready.push_back(lane);
                    }
                }
            }
        }
    }
}

/// The requests of the jobs in the order in which they would come if each took [`NOMINAL`]: for runs and preconditioning without time.
pub(super) struct Untimed(Paced);

impl Untimed {
    pub(super) fn new(lanes: FioLanes) -> Self {
        Self(Paced::new(lanes, NOMINAL))
    }
}

impl Source for Untimed {
    fn fill(&mut self, out: &mut Vec<Request>, max: usize) -> Result<usize, WorkloadError> {
        for count in 0..max {
            let Some((_, _, command)) = self.0.next() else { return Ok(count) };
            out.push(Request { at: Nanos::ZERO, command });
        }
        Ok(max)
    }

    fn rewind(&mut self) -> Result<(), WorkloadError> {
        self.0 = Paced::new(self.0.lanes.anew(), NOMINAL);
        Ok(())
    }

    fn progress(&self) -> Option<f64> {
        Some(self.0.lanes.progress(self.0.now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pass::PassSeeds;
    use crate::{FioSpec, Target};
    use outlast_units::Bytes;

    /// A lane is asked whenever one of its requests completes: each time it said anew until when it sleeps, and all that was kept of it
    /// was asked again at every later time, so that forty thousand requests took a minute.
    #[test]
    fn a_lane_that_sleeps_is_woken_once() {
        let job = "[rate]\nioengine=io_uring\nrw=randwrite\nbs=4k\niodepth=64\nrate_iops=2000\nrate_process=poisson\nnumjobs=3\n\
                   io_submit_mode=offload\ntime_based=1\nruntime=100s\n";
        let spec = FioSpec { job: Some(job.to_string()), ..FioSpec::default() };
        let target = Target { capacity: Bytes(1 << 30), seed: 1, unit: Bytes(512) };
        let lanes = spec.open(&target, PassSeeds::of(&target, 0)).expect("a workload").lanes.expect("jobs");
        let mut paced = Paced::new(lanes, Nanos::micros(100));
        for _ in 0..2000 {
            paced.next().expect("there are more");
            assert!(paced.asleep.len() <= 3, "{} for 3 lanes", paced.asleep.len());
        }
    }
}
