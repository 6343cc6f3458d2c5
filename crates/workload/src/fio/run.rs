//! Jobs as one source: those of a group side by side, groups one after another.

use crate::synthetic::{Generator, Plan};
use crate::{Request, Source, WorkloadError};
use outlast_units::Nanos;

/// Requests drawn at once for each job.
const BATCH: usize = 64;

/// One job or clone of a job.
#[derive(Clone, Debug)]
pub(super) struct Lane {
    pub(super) plan: Plan,
    /// Its depth: its share of the requests of a closed loop.
    pub(super) weight: u32,
    /// Nanoseconds after which it starts.
    pub(super) delay: u64,
}

/// Jobs that run side by side.
#[derive(Clone, Debug, Default)]
pub(super) struct Group {
    pub(super) lanes: Vec<Lane>,
}

/// A lane while it runs.
#[derive(Debug)]
struct Running {
    generator: Generator,
    ready: Vec<Request>,
    next: usize,
    /// What smooth weighted round-robin has owed it.
    credit: i64,
    weight: i64,
}

impl Running {
    fn peek(&mut self) -> Option<Request> {
        if self.next == self.ready.len() {
            self.ready.clear();
            self.next = 0;
            self.generator.fill(&mut self.ready, BATCH);
        }
        self.ready.get(self.next).copied()
    }
}

/// The source. In an open loop the jobs' requests are merged by time; in a closed loop they take turns in proportion to
/// their depths, which is how often each would issue if all requests took equally long.
pub(super) struct Jobs {
    groups: Vec<Group>,
    open: bool,
    index: usize,
    running: Vec<Running>,
}

impl Jobs {
    pub(super) fn new(groups: Vec<Group>, open: bool) -> Self {
        let mut jobs = Self { groups, open, index: 0, running: Vec::new() };
        jobs.begin(Nanos::ZERO);
        jobs
    }

    fn begin(&mut self, start: Nanos) {
        self.running.clear();
        let Some(group) = self.groups.get(self.index) else { return };
        self.running.extend(group.lanes.iter().map(|lane| Running {
            generator: Generator::new(lane.plan.clone(), Nanos(start.0.saturating_add(lane.delay))),
            ready: Vec::new(),
            next: 0,
            credit: 0,
            weight: i64::from(lane.weight),
        }));
    }

    /// The next request of the group.
    fn next(&mut self) -> Option<Request> {
        // A single job, the usual case, needs no choice.
        if let [only] = &mut self.running[..] {
            let request = only.peek()?;
            only.next += 1;
            return Some(request);
        }
        let mut total = 0;
        let mut best: Option<(usize, Request)> = None;
        let mut best_credit = i64::MIN;
        for (index, lane) in self.running.iter_mut().enumerate() {
            let Some(request) = lane.peek() else { continue };
            if self.open {
                if best.is_none_or(|(_, earliest)| request.at < earliest.at) {
                    best = Some((index, request));
                }
                continue;
            }
            total += lane.weight;
            lane.credit += lane.weight;
            if lane.credit > best_credit {
                best_credit = lane.credit;
                best = Some((index, request));
            }
        }
        let (index, request) = best?;
        self.running[index].next += 1;
        self.running[index].credit -= total;
        Some(request)
    }
}

impl Source for Jobs {
    fn fill(&mut self, out: &mut Vec<Request>, max: usize) -> Result<usize, WorkloadError> {
        let mut count = 0;
        while count < max && self.index < self.groups.len() {
            if let Some(request) = self.next() {
                out.push(request);
                count += 1;
            } else {
                let end = self.running.iter().map(|lane| lane.generator.end()).max().unwrap_or(Nanos::ZERO);
                self.index += 1;
                self.begin(end);
            }
        }
        Ok(count)
    }

    fn rewind(&mut self) -> Result<(), WorkloadError> {
        self.index = 0;
        self.begin(Nanos::ZERO);
        Ok(())
    }

    fn progress(&self) -> Option<f64> {
        if self.index >= self.groups.len() {
            return Some(1.0);
        }
        let parts: Option<Vec<f64>> = self.running.iter().map(|lane| lane.generator.progress()).collect();
        let parts = parts.filter(|parts| !parts.is_empty())?;
        let mean = parts.iter().sum::<f64>() / parts.len() as f64;
        Some((self.index as f64 + mean) / self.groups.len() as f64)
    }
}
