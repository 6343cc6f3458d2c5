//! A synthetic stream as a source: its phases one after another.

use super::arrival::ArrivalPlan;
use super::check::Check;
use super::generator::{Generator, Plan};
use super::spec::{Pattern, SyntheticSpec};
use crate::error::bad;
use crate::pass::PassSeeds;
use crate::{Pacing, Request, Source, Target, Workload, WorkloadError};
use outlast_units::{Bytes, Lba, Nanos, SECTOR_BYTES};
use std::ops::Range;

const PATH: &str = "workload.synthetic";

/// Phases one after another, under the limits of the whole.
struct Phases {
    plans: Vec<Plan>,
    current: Generator,
    index: usize,
    given: u64,
    sectors: u64,
    requests: u64,
    sectors_most: u64,
    duration: u64,
    done: bool,
}

impl SyntheticSpec {
    /// Checks the settings and makes the source. See [`crate::WorkloadSpec::open`].
    pub(crate) fn open(&self, target: &Target, seeds: PassSeeds) -> Result<Workload, WorkloadError> {
        let (plans, footprint) = self.plans(target, seeds.within("workload.synthetic"))?;
        let queue_depth = self.queue_depth.unwrap_or(1);
        if queue_depth == 0 {
            return Err(bad(format!("{PATH}.queue_depth"), 0, "must be at least 1"));
        }
        let open = plans.iter().filter(|plan| plan.arrival != ArrivalPlan::Closed).count();
        if open != 0 && open != plans.len() {
            let needed = "a run is an open loop in every phase or in none; give it beside the phases".into();
            return Err(WorkloadError::Missing { field: format!("{PATH}.rate_iops"), needed });
        }
        let closed = open == 0;
        let mut notes = Vec::new();
        if closed && self.queue_depth.is_none() {
            notes.push("neither rate_iops nor queue_depth given: closed loop with a queue depth of 1".into());
        }
        let mut source = Phases::new(plans, self);
        notes.extend(source.idle()?);
        let endless = source.plans.last().is_some_and(|plan| {
            let limit = plan.limit;
            (limit.requests, limit.sectors) == (u64::MAX, u64::MAX) && (closed || limit.duration == u64::MAX)
        }) && (source.requests, source.sectors_most) == (u64::MAX, u64::MAX)
            && (closed || source.duration == u64::MAX);
        let phase_requests = source.plans.iter().try_fold(0u64, |sum, plan| {
            (plan.limit.requests != u64::MAX).then(|| sum.saturating_add(plan.limit.requests))
        });
        Ok(Workload {
            requests: self.requests.into_iter().chain(phase_requests).min(),
            duration: self.duration.or_else(|| source.total_duration(closed)),
            endless,
            label: self.label(),
            footprint: Some(Lba(footprint.start)..Lba(footprint.end)),
            pacing: if closed { Pacing::Closed { queue_depth } } else { Pacing::Open },
            source: Box::new(source),
            notes,
            ramp: Nanos::ZERO,
            lanes: None,
        })
    }

    fn label(&self) -> String {
        self.name.clone().unwrap_or_else(|| {
            let pattern = match self.pattern.unwrap_or_default() {
                Pattern::Sequential => "sequential",
                Pattern::Uniform => "uniform",
                Pattern::Zipf => "zipf",
                Pattern::Hotcold => "hotcold",
                Pattern::Jesd219 => "jesd219",
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
    fn plans(&self, target: &Target, seeds: PassSeeds) -> Result<(Vec<Plan>, Range<u64>), WorkloadError> {
        if self.phases.is_empty() {
            let (plan, region) = Check { spec: self, path: PATH, target }.plan(seeds)?;
            return Ok((vec![plan], region));
        }
        // Also checks the limits of the whole, and settings that every phase replaces.
        Check { spec: self, path: PATH, target }.plan(seeds)?;
        let mut plans = Vec::new();
        let mut footprint = Range { start: u64::MAX, end: 0 };
        for (index, phase) in self.phases.iter().enumerate() {
            let path = format!("{PATH}.phases[{index}]");
            if !phase.phases.is_empty() {
                return Err(bad(
                    format!("{path}.phases"),
                    format!("{} phases", phase.phases.len()),
                    "phases do not nest",
                ));
            }
            if let Some(depth) = phase.queue_depth {
                return Err(bad(
                    format!("{path}.queue_depth"),
                    depth,
                    "a queue depth holds for the whole run; set it beside the phases",
                ));
            }
            let spec = phase.over(self);
            let (plan, region) =
                Check { spec: &spec, path: &path, target }.plan(seeds.drawn_by(&format!("phase {index}")))?;
            let closed = plan.arrival == ArrivalPlan::Closed;
            if let Some(duration) = phase.duration.filter(|_| closed) {
                let limit =
                    "in a closed loop a phase ends by requests or bytes; only the engine sees the time";
                return Err(bad(format!("{path}.duration"), duration, limit));
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

impl Phases {
    /// `plans` must not be empty; `whole` holds the limits beside the phases.
    fn new(plans: Vec<Plan>, whole: &SyntheticSpec) -> Self {
        let nested = !whole.phases.is_empty();
        Self {
            current: Generator::new(plans[0].clone(), Nanos::ZERO),
            index: 0,
            given: 0,
            sectors: 0,
            requests: whole.requests.filter(|_| nested).unwrap_or(u64::MAX),
            sectors_most: whole
                .bytes
                .filter(|_| nested)
                .map_or(u64::MAX, |bytes| bytes.0.div_ceil(SECTOR_BYTES)),
            duration: whole.duration.filter(|_| nested).map_or(u64::MAX, |duration| duration.0),
            done: false,
            plans,
        }
    }

    /// Notes that name the phases that end before their first request: only a rate too low for a duration makes one.
    ///
    /// # Errors
    /// The stream has no request at all.
    fn idle(&mut self) -> Result<Vec<String>, WorkloadError> {
        if self.fill(&mut Vec::new(), 1)? == 0 {
            let durations = self.plans.iter().map(|plan| plan.limit.duration);
            let duration = durations.fold(self.duration, u64::min);
            let limit =
                "the first request would arrive later: a longer duration or a higher rate_iops lets it";
            return Err(bad(format!("{PATH}.duration"), Nanos(duration), limit));
        }
        self.rewind()?;
        if self.plans.len() == 1 {
            return Ok(Vec::new());
        }
        let is_idle = |plan: &Plan| Generator::new(plan.clone(), Nanos::ZERO).fill(&mut Vec::new(), 1) == 0;
        let idle = self.plans.iter().enumerate().filter(|(_, plan)| is_idle(plan));
        let told = |index| {
            format!(
                "{PATH}.phases[{index}] issues no request: its first would arrive after the duration of the phase"
            )
        };
        Ok(idle.map(|(index, _)| told(index)).collect())
    }

    /// The sum of the phases' durations if each has one.
    fn total_duration(&self, closed: bool) -> Option<Nanos> {
        let sum = self.plans.iter().try_fold(0u64, |sum, plan| {
            (plan.limit.duration != u64::MAX).then(|| sum.saturating_add(plan.limit.duration))
        });
        sum.filter(|_| !closed).map(Nanos)
    }

    /// Cuts what was appended from `from` on to the limits of the whole.
    fn cut(&mut self, out: &mut Vec<Request>, from: usize) {
        if self.sectors_most == u64::MAX && self.duration == u64::MAX {
            return;
        }
        for index in from..out.len() {
            if out[index].at.0 >= self.duration {
                out.truncate(index);
                self.done = true;
                return;
            }
            self.sectors = self.sectors.saturating_add(u64::from(out[index].command.sectors));
            if self.sectors >= self.sectors_most {
                out.truncate(index + 1);
                self.done = true;
                return;
            }
        }
    }
}

impl Source for Phases {
    fn fill(&mut self, out: &mut Vec<Request>, max: usize) -> Result<usize, WorkloadError> {
        let before = out.len();
        while !self.done && out.len() - before < max {
            let room = usize::try_from(self.requests - self.given).unwrap_or(usize::MAX);
            let from = out.len();
            let asked = (max - (from - before)).min(room);
            let count = self.current.fill(out, asked);
            self.cut(out, from);
            self.given += (out.len() - from) as u64;
            if self.given == self.requests {
                self.done = true;
            } else if !self.done && count < asked {
                self.index += 1;
                match self.plans.get(self.index) {
                    Some(plan) => self.current = Generator::new(plan.clone(), self.current.end()),
                    None => self.done = true,
                }
            }
        }
        Ok(out.len() - before)
    }

    fn rewind(&mut self) -> Result<(), WorkloadError> {
        self.current = Generator::new(self.plans[0].clone(), Nanos::ZERO);
        (self.index, self.given, self.sectors, self.done) = (0, 0, 0, false);
        Ok(())
    }

    fn progress(&self) -> Option<f64> {
        if self.done {
            return Some(1.0);
        }
        if self.requests != u64::MAX {
            return Some(self.given as f64 / self.requests as f64);
        }
        let part = self.current.progress()?;
        Some((self.index as f64 + part) / self.plans.len() as f64)
    }
}
