//! Estimate of what a run costs, from its settings and its first requests, without simulating any of it.
//!
//! Requests and flash operations are estimated; each costs processor time by what it is ([`cost`]), and by how fast this computer simulates
//! ([`pace`]).

use crate::drives::effective_spare_factor;
use crate::error::EngineError;
use crate::memory::MemoryNeeds;
use crate::precondition::least_drive_writes;
use outlast_models::write_amplification;
use outlast_scenario::{FillPattern, OverwritePattern, Scenario};
use outlast_ssd::Ssd;
use outlast_units::Nanos;
use outlast_workload::{RequestPacing, Workload, WorkloadTarget};
use serde::Serialize;

mod cost;
mod fan;
mod pace;
mod rate;
mod rebuild;
mod sample;

use cost::{Costs, FlashWork, PreparedWork};
use fan::FanOut;
use rebuild::RebuildWork;
use sample::WorkloadSample;

/// Laps of collection through a drive until its write amplification is steady. In a lap every superblock is written once; after a sequential
/// fill the write amplification swings from lap to lap. Measured on the demo's drive with 20 to 64 % spare space: 2.4 to 5.4.
const LAPS_UNTIL_STEADY: f64 = 4.0;
/// Passes of a workload over its addresses until preconditioning by it is steady, at least. Measured on `demo` and `array-raid5-5`: 1.6 to
/// 2.2 under uniform writes, 3.3 under JESD219's.
const WORKLOAD_PASSES: f64 = 2.3;

/// Probable cost of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RunEffort {
    /// Requests of the workload, those of the warm-up included.
    pub requests: u64,
    /// Mapping units programmed while the drive is prepared.
    pub prepared_units: u64,
    /// Pages read from flash while the workload runs, those of rebuilds excluded.
    pub flash_reads: u64,
    /// Pages programmed while the workload runs, those of rebuilds excluded.
    pub flash_programs: u64,
    /// Processor time for preparing, in seconds.
    pub precondition_cpu_s: f64,
    /// Processor time for all, in seconds, rebuilds after the workload included.
    pub cpu_s: f64,
}

/// Memory and processor time of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunEstimate {
    /// Memory of the run.
    pub memory: MemoryNeeds,
    /// Requests, flash operations and processor time of the run.
    pub effort: RunEffort,
}

/// Figures of the drives from which flash operations are estimated.
struct FlashEstimate<'a> {
    scenario: &'a Scenario,
    drive: &'a Ssd,
    /// Mapping units in the address space of the host.
    units: f64,
    /// Units programmed for each unit of data: parity within the drive.
    parity: f64,
    fan: FanOut,
}

impl FlashEstimate<'_> {
    /// Write amplification of random writes over `share` of the capacity while the remainder stays as it was filled: the closed form of
    /// greedy collection under uniform writes, whatever the policy.
    fn amplification(&self, share: f64) -> f64 {
        // Space without data serves as spare space; all of it is used by the part that is overwritten.
        let free = effective_spare_factor(self.drive) + 1.0 - self.filled().max(share);
        write_amplification::greedy(free / share.max(1e-3)).unwrap_or(1.0)
    }

    /// Share of the capacity that holds data before anything is overwritten.
    fn filled(&self) -> f64 {
        let spec = &self.scenario.precondition;
        match (&spec.from, spec.fill) {
            (Some(_), _) => 1.0,
            (None, FillPattern::None) => 0.0,
            (None, FillPattern::Sequential) => spec.fill_fraction,
        }
    }

    fn units_per_page(&self) -> f64 {
        let config = self.drive.config();
        config.geometry.page_size.0 as f64 / config.ftl.mapping_unit.0 as f64
    }

    /// Mapping units programmed and written during preparation.
    fn preparation(&self, sample: &WorkloadSample) -> PreparedWork {
        let spec = &self.scenario.precondition;
        // Reading a snapshot costs little beside what it replaces.
        if spec.from.is_some() {
            return PreparedWork::default();
        }
        let filled = self.filled();
        let mut layers = 0u64;
        let mut largest = 0;
        for ftl in self.drive.ftls() {
            layers += 1;
            largest = ftl.layout().units_per_superblock().max(largest);
        }
        let superblocks = u64::from(largest) * layers * self.fan.members as u64;
        let least = least_drive_writes(spec, self.units, superblocks);
        let most = spec.max_drive_writes.max(spec.min_drive_writes);
        let by_workload = least.max(WORKLOAD_PASSES * sample.share).min(most);
        let (written, amplification) = match spec.overwrite {
            OverwritePattern::Random if filled > 0.0 => {
                let amplification = self.amplification(filled);
                // A lap programs each unit of flash once, of which 1 / amplification are host writes.
                let lap = (1.0 + effective_spare_factor(self.drive).max(0.0)) / amplification;
                (least.max(LAPS_UNTIL_STEADY * lap).min(most), amplification)
            }
            OverwritePattern::Workload if sample.written_units > 0.0 => {
                (by_workload, self.workload_amplification(sample))
            }
            _ => (0.0, 1.0),
        };
        // The fill writes whole stripes; single units of overwriting cost an array its small writes.
        let in_flash = filled * self.fan.large_writes + written * self.fan.small_writes * amplification;
        PreparedWork {
            programmed: self.units * self.parity * self.fan.carried * in_flash,
            overwritten: written * self.units,
            filled: filled * self.units,
        }
    }

    /// Write amplification of the workload on a drive without free space: sequential writes are taken to cause none.
    fn workload_amplification(&self, sample: &WorkloadSample) -> f64 {
        let random = 1.0 - sample.sequential;
        1.0 + random * (self.amplification(sample.share) - 1.0)
    }

    /// What the flash does for `requests` like those of the sample.
    fn operations(&self, sample: &WorkloadSample, requests: f64) -> FlashWork {
        let spec = &self.scenario.precondition;
        let written = requests * sample.written_units * self.fan.writes(sample);
        let filled = self.filled();
        // A drive that was never overwritten has free space to write to first, in which reads find nothing.
        let fresh = spec.from.is_none() && (spec.overwrite == OverwritePattern::None || filled == 0.0);
        let space = self.units * self.fan.large_writes;
        let free = if fresh { space * (1.0 + effective_spare_factor(self.drive) - filled) } else { 0.0 };
        // Uniform writes leave e^(−passes) of the addresses unwritten; `mean` is the written share averaged over the run.
        let passes = written / (space * sample.share).max(1.0);
        let mean = if passes > 0.0 { 1.0 - (1.0 - (-passes).exp()) / passes } else { 0.0 };
        let mapped = filled + (1.0 - filled) * mean;
        let amplification = self.workload_amplification(sample);
        // Collection begins when the free space is used up.
        let relocated = (written - free).max(0.0) * (amplification - 1.0);
        // A victim with this share of valid units gives 1 / (1 − valid) = amplification.
        let valid = 1.0 - 1.0 / amplification.max(1.001);
        let per_page = self.units_per_page();
        // A page is read once if any of its units is valid, which has the probability 1 − (1 − valid)^units.
        let collected = relocated / (per_page * valid) * (1.0 - (1.0 - valid).powf(per_page.max(1.0)));
        let host = requests * (sample.read_pages * mapped + sample.written_units * self.fan.reads(sample));
        let carried = self.fan.carried;
        FlashWork {
            host_reads: host * carried,
            collected_reads: collected * carried,
            programs: (written + relocated) * self.parity / per_page * carried,
            relocated: relocated * carried,
        }
    }
}

/// Estimates the cost of the run of `scenario` on `drives`, which may be built without tables. Draws from `workload`.
pub(crate) fn estimate_effort(
    scenario: &Scenario,
    drives: &[&Ssd],
    workload: &mut Workload,
    target: &WorkloadTarget,
) -> Result<RunEffort, EngineError> {
    let drive = drives[0];
    let fan = FanOut::of(scenario.array.as_ref());
    let sample = WorkloadSample::of(workload, target, drive.config().geometry.page_size.0)?;
    // All members are taken to be like the first drive.
    let per_superblock: u64 = drive.ftls().map(|ftl| u64::from(ftl.layout().units_per_superblock())).sum();
    let data: u64 = drive.ftls().map(|ftl| u64::from(ftl.stream(ftl.streams().gc(0)).data_units())).sum();
    let flash = FlashEstimate {
        scenario,
        drive,
        units: target.capacity.0 as f64 / target.unit.0 as f64,
        parity: per_superblock as f64 / data.max(1) as f64,
        fan,
    };
    let prepared = flash.preparation(&sample);
    let requests = requests(&flash, &sample, workload);
    let work = flash.operations(&sample, requests);
    let costs = Costs { flash: &flash, sample: &sample, table_bytes: table_bytes(drives) };
    let by_commands = scenario.precondition.overwrite == OverwritePattern::Workload;
    let prepared_ns = costs.tables() + costs.preparation(&prepared, by_commands);
    let rebuilds = RebuildWork::of(&flash, workload.duration, seconds(&flash, &sample, workload, requests));
    let run_ns = costs.run(requests, &work) + costs.rebuilds(&rebuilds);
    let pace = pace::pace();
    // The twin without errors is a second run of the same length.
    let times = if scenario.run.twin { 2.0 } else { 1.0 };
    Ok(RunEffort {
        requests: requests.round() as u64,
        prepared_units: prepared.programmed.round() as u64,
        flash_reads: work.reads().round() as u64,
        flash_programs: work.programs.round() as u64,
        precondition_cpu_s: times * pace * prepared_ns * 1e-9,
        cpu_s: times * pace * (prepared_ns + run_ns) * 1e-9,
    })
}

/// Bytes of the tables of all drives. Contents count with what writes them.
fn table_bytes(drives: &[&Ssd]) -> f64 {
    let bytes = |ssd: &&Ssd| {
        let contents = if ssd.config().bytes { ssd.config().geometry.raw_capacity().0 } else { 0 };
        ssd.bytes_when_built().saturating_sub(contents) as f64
    };
    drives.iter().map(bytes).sum()
}

/// Seconds of simulated time that the workload takes, infinity where it is not known.
fn seconds(flash: &FlashEstimate<'_>, sample: &WorkloadSample, workload: &Workload, requests: f64) -> f64 {
    let by_requests = match workload.pacing {
        RequestPacing::Closed { queue_depth } | RequestPacing::Jobs { queue_depth, .. } => {
            requests / rate::closed_loop(flash, sample, f64::from(queue_depth)).max(1e-9)
        }
        RequestPacing::Open => f64::INFINITY,
    };
    workload.duration.map_or(f64::INFINITY, Nanos::as_secs_f64).min(by_requests)
}

/// Number of requests of the run: the limit of the workload, or what a closed loop completes in its duration.
fn requests(flash: &FlashEstimate<'_>, sample: &WorkloadSample, workload: &Workload) -> f64 {
    let limit = workload.requests.map_or(f64::INFINITY, |limit| limit as f64);
    let limit = limit.min(sample.whole);
    let (Some(duration), RequestPacing::Closed { queue_depth } | RequestPacing::Jobs { queue_depth, .. }) =
        (workload.duration, workload.pacing)
    else {
        return if limit.is_finite() { limit } else { sample.requests };
    };
    let duration = Nanos(duration.0).as_secs_f64();
    limit.min(rate::closed_loop(flash, sample, f64::from(queue_depth)) * duration)
}
