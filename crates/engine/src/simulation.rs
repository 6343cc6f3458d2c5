//! A simulation: a scenario checked, built, run and summed up.

use crate::effort::{self, RunEstimate};
use crate::error::EngineError;
use crate::memory::{self, MemoryNeeds};
use crate::precondition::{PreconditionRecord, prepare};
use crate::progress::OnProgress;
use crate::requests::OnRows;
use crate::run::LegGoal;
use crate::simulated_device::SimulatedDevice;
use crate::snapshot;
use crate::summary::RunSummary;
use crate::table::ResultTable;
use crate::team::ThreadTeam;
use crate::volume::ArrayVolume;
use outlast_device::Device;
use outlast_media::ConfigError;
use outlast_scenario::{Scenario, TimingMode};
use outlast_ssd::Ssd;
use outlast_units::{Bytes, Nanos};
use outlast_workload::{RequestPacing, Workload, WorkloadTarget};

/// Does the same with a drive or an array.
macro_rules! either {
    ($built:expr, $device:ident => $do:expr) => {
        match $built {
            BuiltDevice::Drive($device) => $do,
            BuiltDevice::Array($device) => $do,
        }
    };
}

mod open_run;
mod result;
mod save_prepared;
mod state_tables;
mod steps;
mod target;

use open_run::OpenRun;
pub use steps::RunStatus;
pub(crate) use target::{drive_of, target_of};

/// A scenario that has been checked and built, ready to run.
#[derive(Debug)]
pub struct Simulation {
    scenario: Scenario,
    built: BuiltDevice,
    workload: Workload,
    target: WorkloadTarget,
    current_run: Option<Box<OpenRun>>,
}

/// The device of the host.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "there is one")]
enum BuiltDevice {
    Drive(Ssd),
    Array(ArrayVolume),
}

/// Result of a run.
#[derive(Clone, Debug)]
pub struct RunResult {
    /// Contents of `result.json`.
    pub summary: RunSummary,
    /// Tables by name: `timeseries`, `precondition`, `latency`, `wear`; for a host with jobs `jobs`; for drives that can fail `decisions`, for
    /// drives whose flash errs `errors`; for an array `array_events`, `array_states` and `array_lost`; and those of `run.utilisation`.
    pub tables: Vec<(String, ResultTable)>,
}

impl Simulation {
    /// Checks the scenario, opens the workload and builds the device.
    ///
    /// # Errors
    /// The first obstacle: a setting, the drive's spare space, the trace.
    pub fn new(scenario: Scenario) -> Result<Self, EngineError> {
        let (workload, target) = Self::open_workload(&scenario)?;
        let built = match &scenario.array {
            None => BuiltDevice::Drive(drive_of(&scenario)?),
            // Members are read whole, tables included.
            Some(array) if scenario.precondition.from.is_some() => {
                BuiltDevice::Array(ArrayVolume::without_tables(&scenario, array)?)
            }
            Some(array) => BuiltDevice::Array(ArrayVolume::new(&scenario, array)?),
        };
        Ok(Self { scenario, built, workload, target, current_run: None })
    }

    /// Checks the scenario like [`Simulation::new`] without building tables; returns the memory that its run needs.
    ///
    /// # Errors
    /// Errors of [`Simulation::new`].
    pub fn check(scenario: &Scenario) -> Result<MemoryNeeds, EngineError> {
        Self::open_workload(scenario)?;
        Self::without_tables(scenario, |drives, array_bytes| {
            Ok(memory::memory_needs(scenario, drives, array_bytes))
        })
    }

    /// Checks the scenario like [`Simulation::check`], and estimates the processor time as well, from the first requests of the workload.
    ///
    /// # Errors
    /// Errors of [`Simulation::new`], and errors in the first records of a trace.
    pub fn estimate(scenario: &Scenario) -> Result<RunEstimate, EngineError> {
        let (mut workload, target) = Self::open_workload(scenario)?;
        Self::without_tables(scenario, |drives, array_bytes| {
            let effort = effort::estimate_effort(scenario, drives, &mut workload, &target)?;
            Ok(RunEstimate { memory: memory::memory_needs(scenario, drives, array_bytes), effort })
        })
    }

    /// Calls `estimate` with the drives, built without tables, and with the bytes that the array itself takes.
    fn without_tables<T>(
        scenario: &Scenario,
        estimate: impl FnOnce(&[&Ssd], u64) -> Result<T, EngineError>,
    ) -> Result<T, EngineError> {
        match &scenario.array {
            None => estimate(&[&Ssd::without_tables(scenario.device.clone(), scenario.seed)?], 0),
            Some(array) => {
                let volume = ArrayVolume::without_tables(scenario, array)?;
                let drives: Vec<&Ssd> = volume.drives().collect();
                estimate(&drives, volume.array.heap_bytes() as u64)
            }
        }
    }

    /// Makes all checks that need no device, and opens the workload.
    fn open_workload(scenario: &Scenario) -> Result<(Workload, WorkloadTarget), EngineError> {
        scenario.validate()?;
        scenario.check_policies()?;
        match (&scenario.precondition.from, &scenario.array) {
            (None, _) => {}
            (Some(path), None) => snapshot::check::<Ssd>(scenario, path)?,
            (Some(path), Some(_)) => snapshot::check::<ArrayVolume>(scenario, path)?,
        }
        // The workload before the drive: it costs little, and the drive may take gigabytes.
        let target = target_of(scenario)?;
        let workload = scenario.workload.open(&target)?;
        // Jobs that only time ends have durations of their own.
        if workload.endless && workload.duration.is_none() && workload.jobs.is_none() {
            let limit = "the workload has no end: give requests, bytes or duration";
            return Err(ConfigError::new("workload", workload.label, limit).into());
        }
        if workload.endless
            && scenario.run.timing == TimingMode::None
            && workload.pacing != RequestPacing::Open
        {
            let limit = "without time a duration never ends a closed loop: give requests or bytes";
            return Err(ConfigError::new("run.timing", "none", limit).into());
        }
        let warm_up = scenario.run.warm_up.max(workload.ramp);
        if let Some(duration) =
            workload.duration.filter(|&duration| duration <= warm_up && warm_up != Nanos::ZERO)
            && scenario.run.timing == TimingMode::Full
        {
            let limit =
                format!("must be longer than the warm-up, run.warm_up = {warm_up}: else nothing is measured");
            return Err(ConfigError::new(duration_setting(scenario), duration, limit).into());
        }
        Ok((workload, target))
    }

    /// The scenario.
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// Capacity that the host addresses.
    pub fn capacity(&self) -> Bytes {
        self.target.capacity
    }

    /// The drive, or the first drive that is or was in the array.
    ///
    /// # Panics
    /// Never: an array has drives, and keeps those that leave.
    pub fn ssd(&self) -> &Ssd {
        match &self.built {
            BuiltDevice::Drive(ssd) => ssd,
            BuiltDevice::Array(volume) => volume.drives().next().expect("an array has drives"),
        }
    }

    /// Prepares the device, runs the workload and sums up. A second call runs the workload again on the drive as it then is.
    ///
    /// # Errors
    /// The trace turns out to be unreadable midway, or the drive wears out while it is being prepared.
    pub fn run(&mut self, progress: OnProgress<'_>) -> Result<RunResult, EngineError> {
        self.run_logged(progress, None)
    }

    /// Runs like [`Simulation::run`]. If the scenario has a log of requests (`run.log`), `rows` receives it; storing it is up to the caller.
    ///
    /// # Errors
    /// Errors of [`Simulation::run`].
    pub fn run_logged(
        &mut self,
        progress: OnProgress<'_>,
        mut rows: Option<OnRows<'_>>,
    ) -> Result<RunResult, EngineError> {
        // The same callback is needed again for the last rows.
        let reborrowed: Option<OnRows<'_>> = match &mut rows {
            Some(rows) => Some(&mut **rows),
            None => None,
        };
        self.advance(&LegGoal::END, progress, reborrowed)?;
        self.finish(progress, rows)
    }

    /// Checks every invariant of the drive, at a cost proportional to its size. For tests.
    ///
    /// # Errors
    /// The first broken invariant.
    pub fn self_check(&self) -> Result<(), String> {
        match &self.built {
            BuiltDevice::Drive(ssd) => ssd.self_check(),
            BuiltDevice::Array(volume) => volume.self_check(),
        }
    }
}

/// Name of the setting that ends the workload of `scenario` by time.
fn duration_setting(scenario: &Scenario) -> &'static str {
    let synthetic = scenario.workload.synthetic.as_ref();
    match synthetic {
        Some(spec) if spec.duration.is_none() => "workload.synthetic.phases",
        Some(_) => "workload.synthetic.duration",
        None => "workload",
    }
}

/// Prepares `device` by preconditioning, or by reading a snapshot.
pub(crate) fn prepare_device<M: SimulatedDevice>(
    scenario: &Scenario,
    device: &mut M,
    target: &WorkloadTarget,
    progress: OnProgress<'_>,
) -> Result<PreconditionRecord, EngineError> {
    if let Some(path) = &scenario.precondition.from {
        return Ok(snapshot::prepare_from(device, scenario, path)?);
    }
    let cores = scenario.device.controller.flash_cores;
    let team = ThreadTeam::new(scenario.run.threads, cores.into());
    let prepared = prepare(device, &scenario.precondition, &scenario.workload, target, team, progress)?;
    // Buffers and zones fit what was written, also where the state is checked or saved before the first command.
    device.end_untimed();
    device.policy_failure().map_or(Ok(prepared), |failure| Err(failure.into()))
}
