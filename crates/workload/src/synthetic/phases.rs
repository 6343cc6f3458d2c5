//! The source of a synthetic stream, which runs its phases one after another.

use super::arrival::ArrivalPlan;
use super::check::SyntheticCheck;
use super::generator::{PhaseGenerator, PhasePlan};
use super::spec::{AddressPattern, SyntheticSpec};
use crate::error::bad_setting;
use crate::pass::PassSeeds;
use crate::{RequestPacing, RequestSource, Workload, WorkloadError, WorkloadRequest, WorkloadTarget};
use outlast_units::{Bytes, Lba, Nanos, SECTOR_BYTES};
use std::ops::Range;

const PATH: &str = "workload.synthetic";

/// Phases one after another, under limits of the whole stream; `u64::MAX` for no limit.
struct SyntheticSource {
    plans: Vec<PhasePlan>,
    current: PhaseGenerator,
    index: usize,
    /// Requests and sectors given so far.
    given_requests: u64,
    given_sectors: u64,
    max_requests: u64,
    max_sectors: u64,
    /// Nanoseconds; a request that would arrive then or later is left out.
    max_time: u64,
    done: bool,
}

impl SyntheticSpec {
    /// Checks the settings and makes the source. See [`crate::WorkloadSpec::open`].
    pub(crate) fn open(&self, target: &WorkloadTarget, seeds: PassSeeds) -> Result<Workload, WorkloadError> {
        let (plans, footprint) = self.plans(target, seeds.within("workload.synthetic"))?;
        let queue_depth = self.queue_depth.unwrap_or(1);
        if queue_depth == 0 {
            return Err(bad_setting(format!("{PATH}.queue_depth"), 0, "must be at least 1"));
        }
        let open = plans.iter().filter(|plan| plan.arrival != ArrivalPlan::Closed).count();
        // The engine has one way to issue requests for a whole run.
        if open != 0 && open != plans.len() {
            let needed = "a run is an open loop in every phase or in none; give it beside the phases".into();
            return Err(WorkloadError::Missing { field: format!("{PATH}.rate_iops"), needed });
        }
        let closed = open == 0;
        let mut notes = Vec::new();
        if closed && self.queue_depth.is_none() {
            notes.push("neither rate_iops nor queue_depth given: closed loop with a queue depth of 1".into());
        }
        let mut source = SyntheticSource::new(plans, self);
        notes.extend(source.idle_phase_notes()?);
        // In a closed loop a duration ends the run but not the source, which does not see the time.
        let endless = source.plans.last().is_some_and(|plan| {
            let limit = plan.limit;
            (limit.requests, limit.sectors) == (u64::MAX, u64::MAX) && (closed || limit.duration == u64::MAX)
        }) && (source.max_requests, source.max_sectors) == (u64::MAX, u64::MAX)
            && (closed || source.max_time == u64::MAX);
        let phase_requests = source.plans.iter().try_fold(0u64, |sum, plan| {
            (plan.limit.requests != u64::MAX).then(|| sum.saturating_add(plan.limit.requests))
        });
        Ok(Workload {
            requests: self.requests.into_iter().chain(phase_requests).min(),
            duration: self.duration.or_else(|| source.total_duration(closed)),
            endless,
            label: self.label(),
            footprint: Some(Lba(footprint.start)..Lba(footprint.end)),
            pacing: if closed { RequestPacing::Closed { queue_depth } } else { RequestPacing::Open },
            source: Box::new(source),
            notes,
            ramp: Nanos::ZERO,
            jobs: None,
        })
    }

    fn label(&self) -> String {
        self.name.clone().unwrap_or_else(|| {
            let pattern = match self.pattern.unwrap_or_default() {
                AddressPattern::Sequential => "sequential",
                AddressPattern::Uniform => "uniform",
                AddressPattern::Zipf => "zipf",
                AddressPattern::Hotcold => "hotcold",
                AddressPattern::Jesd219 => "jesd219",
            };
            let size = if self.sizes.is_some() {
                "mixed sizes".into()
            } else {
                self.size.unwrap_or(Bytes::kib(4)).to_string()
            };
            format!("{pattern} {size}")
        })
    }

    /// The plans of all phases and the smallest range of sectors that holds their regions.
    fn plans(
        &self,
        target: &WorkloadTarget,
        seeds: PassSeeds,
    ) -> Result<(Vec<PhasePlan>, Range<u64>), WorkloadError> {
        if self.phases.is_empty() {
            let (plan, region) = SyntheticCheck { spec: self, path: PATH, target }.plan(seeds)?;
            return Ok((vec![plan], region));
        }
        // The plan itself is dropped: this checks the limits of the whole, and settings that every phase replaces.
        SyntheticCheck { spec: self, path: PATH, target }.plan(seeds)?;
        let mut plans = Vec::new();
        let mut footprint = Range { start: u64::MAX, end: 0 };
        for (index, phase) in self.phases.iter().enumerate() {
            let path = format!("{PATH}.phases[{index}]");
            if !phase.phases.is_empty() {
                return Err(bad_setting(
                    format!("{path}.phases"),
                    format!("{} phases", phase.phases.len()),
                    "phases do not nest",
                ));
            }
            if let Some(depth) = phase.queue_depth {
                return Err(bad_setting(
                    format!("{path}.queue_depth"),
                    depth,
                    "a queue depth holds for the whole run; set it beside the phases",
                ));
            }
            let spec = phase.with_defaults(self);
            let (plan, region) = SyntheticCheck { spec: &spec, path: &path, target }
                .plan(seeds.drawn_by(&format!("phase {index}")))?;
            let closed = plan.arrival == ArrivalPlan::Closed;
            if let Some(duration) = phase.duration.filter(|_| closed) {
                let limit =
                    "in a closed loop a phase ends by requests or bytes; only the engine sees the time";
                return Err(bad_setting(format!("{path}.duration"), duration, limit));
            }
            let last = index + 1 == self.phases.len();
            if !last && phase.requests.is_none() && phase.bytes.is_none() && phase.duration.is_none() {
                let needed = "a phase that another follows must end: set requests, bytes or duration".into();
                return Err(WorkloadError::Missing { field: format!("{path}.requests"), needed });
            }
            footprint = footprint.start.min(region.start)..footprint.end.max(region.end);
            plans.push(plan);
        }
        Ok((plans, footprint))
    }
}

impl SyntheticSource {
    /// A source of `plans`, of which there is at least one; `whole` holds the limits beside the phases.
    fn new(plans: Vec<PhasePlan>, whole: &SyntheticSpec) -> Self {
        // Without phases the limits of the stream are already those of its one plan.
        let nested = !whole.phases.is_empty();
        Self {
            current: PhaseGenerator::new(plans[0].clone(), Nanos::ZERO),
            index: 0,
            given_requests: 0,
            given_sectors: 0,
            max_requests: whole.requests.filter(|_| nested).unwrap_or(u64::MAX),
            max_sectors: whole
                .bytes
                .filter(|_| nested)
                .map_or(u64::MAX, |bytes| bytes.0.div_ceil(SECTOR_BYTES)),
            max_time: whole.duration.filter(|_| nested).map_or(u64::MAX, |duration| duration.0),
            done: false,
            plans,
        }
    }

    /// Notes on phases that end before their first request, as a low rate and a short duration make them.
    ///
    /// # Errors
    /// The stream has no request at all.
    fn idle_phase_notes(&mut self) -> Result<Vec<String>, WorkloadError> {
        if self.fill(&mut Vec::new(), 1)? == 0 {
            let durations = self.plans.iter().map(|plan| plan.limit.duration);
            let duration = durations.fold(self.max_time, u64::min);
            let limit =
                "the first request would arrive later: a longer duration or a higher rate_iops lets it";
            return Err(bad_setting(format!("{PATH}.duration"), Nanos(duration), limit));
        }
        self.rewind()?;
        if self.plans.len() == 1 {
            return Ok(Vec::new());
        }
        let is_idle =
            |plan: &PhasePlan| PhaseGenerator::new(plan.clone(), Nanos::ZERO).fill(&mut Vec::new(), 1) == 0;
        let idle = self.plans.iter().enumerate().filter(|(_, plan)| is_idle(plan));
        let note = |index| {
            format!(
                "{PATH}.phases[{index}] issues no request: its first would arrive after the duration of the phase"
            )
        };
        Ok(idle.map(|(index, _)| note(index)).collect())
    }

    /// The sum of the phases' durations, if each has one and the loop is open.
    fn total_duration(&self, closed: bool) -> Option<Nanos> {
        let sum = self.plans.iter().try_fold(0u64, |sum, plan| {
            (plan.limit.duration != u64::MAX).then(|| sum.saturating_add(plan.limit.duration))
        });
        sum.filter(|_| !closed).map(Nanos)
    }

    /// Truncates the requests from index `from` on at the limits of the whole stream.
    fn truncate(&mut self, out: &mut Vec<WorkloadRequest>, from: usize) {
        if self.max_sectors == u64::MAX && self.max_time == u64::MAX {
            return;
        }
        for index in from..out.len() {
            if out[index].at.0 >= self.max_time {
                out.truncate(index);
                self.done = true;
                return;
            }
            self.given_sectors = self.given_sectors.saturating_add(u64::from(out[index].command.sectors));
            if self.given_sectors >= self.max_sectors {
                out.truncate(index + 1);
                self.done = true;
                return;
            }
        }
    }
}

impl RequestSource for SyntheticSource {
    fn fill(&mut self, out: &mut Vec<WorkloadRequest>, max: usize) -> Result<usize, WorkloadError> {
        let before = out.len();
        while !self.done && out.len() - before < max {
            let left = usize::try_from(self.max_requests - self.given_requests).unwrap_or(usize::MAX);
            let from = out.len();
            let batch = (max - (from - before)).min(left);
            let count = self.current.fill(out, batch);
            self.truncate(out, from);
            self.given_requests += (out.len() - from) as u64;
            if self.given_requests == self.max_requests {
                self.done = true;
            } else if !self.done && count < batch {
                // A phase gives fewer than asked for only at its end; the next one fills the batch up.
                self.index += 1;
                match self.plans.get(self.index) {
                    Some(plan) => self.current = PhaseGenerator::new(plan.clone(), self.current.end()),
                    None => self.done = true,
                }
            }
        }
        Ok(out.len() - before)
    }

    fn rewind(&mut self) -> Result<(), WorkloadError> {
        self.current = PhaseGenerator::new(self.plans[0].clone(), Nanos::ZERO);
        (self.index, self.given_requests, self.given_sectors, self.done) = (0, 0, 0, false);
        Ok(())
    }

    fn progress(&self) -> Option<f64> {
        if self.done {
            return Some(1.0);
        }
        if self.max_requests != u64::MAX {
            return Some(self.given_requests as f64 / self.max_requests as f64);
        }
        let part = self.current.progress()?;
        Some((self.index as f64 + part) / self.plans.len() as f64)
    }

    fn is_in_last_phase(&self) -> bool {
        self.index + 1 >= self.plans.len()
    }
}
