//! A run from beginning to end.

use crate::array_report::array_tables;
use crate::clock::Stopwatch;
use crate::columns::time_table;
use crate::drives::AsDrives;
use crate::error::EngineError;
use crate::facts::Facts;
use crate::machine::Machine;
use crate::measured::Measured;
use crate::memory::{self, Memory};
use crate::precondition::{Prepared, prepare};
use crate::progress::OnProgress;
use crate::recorder::Recorder;
use crate::reliability::reliability_tables;
use crate::report::summarise;
use crate::run::{Ending, Runner};
use crate::scenario::{Scenario, TimingMode};
use crate::snapshot::{self, PreparedMachine, settings_of, write_snapshot};
use crate::summary::{Summary, latency_table, precondition_table, wear_table};
use crate::table::Table;
use crate::team::Team;
use crate::volume::Volume;
use crate::window::Windows;
use outlast_device::Device;
use outlast_media::ConfigError;
use outlast_ssd::Ssd;
use outlast_units::{Bytes, Nanos};
use outlast_workload::{Pacing, Target, Workload};
use std::io::Write;

/// Width of a window where none was asked for and none follows from the workload; windows merge in pairs as they grow many.
const FIRST_WINDOW: Nanos = Nanos::millis(2);
/// Windows into which a run of known length is divided.
const WINDOWS: u64 = 200;
/// Windows kept where their width was not asked for.
const CHOSEN_WINDOWS: u32 = 256;

/// A scenario, checked and ready to run.
#[derive(Debug)]
pub struct Simulation {
    scenario: Scenario,
    built: Built,
    workload: Workload,
    target: Target,
}

/// What the host has.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "there is one")]
enum Built {
    Drive(Ssd),
    Array(Volume),
}

/// What a run found.
#[derive(Clone, Debug)]
pub struct RunResult {
    /// `result.json`.
    pub summary: Summary,
    /// Tables by name: `timeseries`, `precondition`, `latency`, `wear`; of a host with jobs `jobs`; of a drive that can fail `decisions`, of one whose flash
    /// errs `errors`, of an array `array_events`, `array_states` and
    /// `array_lost`.
    pub tables: Vec<(String, Table)>,
}

impl Simulation {
    /// Checks the scenario, builds the drive, opens the workload.
    ///
    /// # Errors
    /// The first thing that cannot work: a setting, the drive's spare space, the trace.
    pub fn new(scenario: Scenario) -> Result<Self, EngineError> {
        let (workload, target) = Self::open(&scenario)?;
        let built = match &scenario.array {
            None => Built::Drive(Ssd::new(scenario.device.clone(), scenario.seed)?),
            // Members are read whole, tables included.
            Some(array) if scenario.precondition.from.is_some() => {
                Built::Array(Volume::without_tables(&scenario, array)?)
            }
            Some(array) => Built::Array(Volume::new(&scenario, array)?),
        };
        Ok(Self { scenario, built, workload, target })
    }

    /// Checks the scenario as [`Simulation::new`] does, without building the drive; returns what running it will take.
    ///
    /// # Errors
    /// Those of [`Simulation::new`].
    pub fn check(scenario: &Scenario) -> Result<Memory, EngineError> {
        Self::open(scenario)?;
        let memory = match &scenario.array {
            None => memory::of(scenario, &[&Ssd::without_tables(scenario.device.clone(), scenario.seed)?], 0),
            Some(array) => {
                let volume = Volume::without_tables(scenario, array)?;
                let drives: Vec<&Ssd> = volume.drives().collect();
                memory::of(scenario, &drives, volume.array.heap_bytes() as u64)
            }
        };
        Ok(memory)
    }

    /// All that is checked before the drive is built.
    fn open(scenario: &Scenario) -> Result<(Workload, Target), EngineError> {
        scenario.validate()?;
        match (&scenario.precondition.from, &scenario.array) {
            (None, _) => {}
            (Some(path), None) => snapshot::check::<Ssd>(scenario, path)?,
            (Some(path), Some(_)) => snapshot::check::<Volume>(scenario, path)?,
        }
        // The workload before the drive: it costs little, and the drive may take gigabytes.
        let target = target_of(scenario)?;
        let workload = scenario.workload.open(&target)?;
        // Of lanes, each that only time ends has its own.
        if workload.endless && workload.duration.is_none() && workload.lanes.is_none() {
            let limit = "the workload has no end: give requests, bytes or duration";
            return Err(ConfigError::new("workload", workload.label, limit).into());
        }
        if workload.endless && scenario.run.timing == TimingMode::None && workload.pacing != Pacing::Open {
            let limit = "without time a duration never ends a closed loop: give requests or bytes";
            return Err(ConfigError::new("run.timing", "none", limit).into());
        }
        Ok((workload, target))
    }

    /// The scenario.
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// The drive, or the first that an array has or had.
    ///
    /// # Panics
    /// Never: an array has drives, and keeps those that leave.
    pub fn ssd(&self) -> &Ssd {
        match &self.built {
            Built::Drive(ssd) => ssd,
            Built::Array(volume) => volume.drives().next().expect("an array has drives"),
        }
    }

    /// Prepares the drive, runs the workload, sums up. A second call runs the workload again on the drive as it then is.
    ///
    /// # Errors
    /// The trace turns out to be unreadable midway, or the drive wears out while it is being prepared.
    pub fn run(&mut self, progress: OnProgress<'_>) -> Result<RunResult, EngineError> {
        let watch = Stopwatch::start();
        let twin = if self.scenario.run.twin {
            Some(Self::new(self.scenario.twin())?.run(progress)?.summary)
        } else {
            None
        };
        let windows = self.windows();
        let done = match &mut self.built {
            Built::Drive(ssd) => {
                execute(&self.scenario, ssd, &mut self.workload, &self.target, windows, progress)?
            }
            Built::Array(volume) => {
                let done =
                    execute(&self.scenario, volume, &mut self.workload, &self.target, windows, progress)?;
                if let Some(failure) = volume.take_failure() {
                    return Err(failure.into());
                }
                done
            }
        };
        let Done { prepared, recorder, measured, ending, warming, run_cpu_s } = done;
        let drives = match &self.built {
            Built::Drive(ssd) => ssd.as_drives(),
            Built::Array(volume) => volume.as_drives(),
        };
        let facts = Facts {
            scenario: &self.scenario,
            ssd: &drives,
            measured: &measured,
            workload: &self.workload,
            recorder: &recorder,
            prepared: &prepared,
            twin: twin.as_ref(),
            warming,
            partial: ending == Ending::Stopped,
            run_cpu_s,
            cpu_s: watch.cpu_s(),
            wall_s: watch.wall_s(),
        };
        let summary = summarise(&facts);
        Ok(RunResult { tables: tables(&facts, &prepared, &recorder), summary })
    }

    /// Prepares the drive or the array, and writes it as it then is. False where `progress` stopped that: then nothing has been written.
    ///
    /// # Errors
    /// Those of [`Simulation::run`], or `to` cannot be written.
    pub fn snapshot(&mut self, to: &mut dyn Write, progress: OnProgress<'_>) -> Result<bool, EngineError> {
        let Self { scenario, built, target, .. } = self;
        match built {
            Built::Drive(ssd) => write_prepared(scenario, ssd, target, to, progress),
            Built::Array(volume) => write_prepared(scenario, volume, target, to, progress),
        }
    }

    fn windows(&self) -> Windows {
        let run = &self.scenario.run;
        let digits = run.histogram_digits;
        if let Some(width) = run.window {
            return Windows::new(width, run.max_windows, digits);
        }
        let width = self.workload.duration.map_or(FIRST_WINDOW, |span| Nanos((span.0 / WINDOWS).max(1_000)));
        Windows::new(width, CHOSEN_WINDOWS.min(run.max_windows), digits)
    }

    /// Checks every invariant of the drive, at a cost proportional to its size. For tests.
    ///
    /// # Errors
    /// The first broken invariant.
    pub fn self_check(&self) -> Result<(), String> {
        match &self.built {
            Built::Drive(ssd) => ssd.self_check(),
            Built::Array(volume) => volume.self_check(),
        }
    }
}

/// What a workload of `scenario` addresses.
///
/// # Errors
/// The first setting of the array that cannot work.
pub(crate) fn target_of(scenario: &Scenario) -> Result<Target, ConfigError> {
    let unit = scenario.device.ftl.mapping_unit;
    let capacity = match &scenario.array {
        None => scenario.device.ftl.user_capacity(&scenario.device.geometry),
        Some(array) => Volume::capacity(scenario, array)?,
    };
    let capacity = Bytes(capacity.0 / unit.0 * unit.0);
    Ok(Target { capacity, seed: scenario.seed, unit })
}

/// What came of running a scenario.
struct Done {
    prepared: Prepared,
    recorder: Recorder,
    measured: Measured,
    ending: Ending,
    warming: bool,
    run_cpu_s: f64,
}

/// Prepares `machine`, or has it take over the state of one that was prepared.
pub(crate) fn prepared<M: Machine>(
    scenario: &Scenario,
    machine: &mut M,
    target: &Target,
    progress: OnProgress<'_>,
) -> Result<Prepared, EngineError> {
    if let Some(path) = &scenario.precondition.from {
        return Ok(snapshot::prepare_from(machine, scenario, path)?);
    }
    let cores = scenario.device.controller.flash_cores;
    let team = Team::new(scenario.run.threads, cores.into());
    prepare(machine, &scenario.precondition, &scenario.workload, target, team, progress)
}

/// Prepares `machine` and writes its state; false where that was stopped.
fn write_prepared<M: Machine>(
    scenario: &Scenario,
    machine: &mut M,
    target: &Target,
    to: &mut dyn Write,
    progress: OnProgress<'_>,
) -> Result<bool, EngineError> {
    let mut prepared = prepared(scenario, machine, target, progress)?;
    if !prepared.stopped {
        let state = PreparedMachine { prepared: &mut prepared, machine };
        write_snapshot(to, settings_of(scenario), &state).map_err(EngineError::Snapshot)?;
    }
    Ok(!prepared.stopped)
}

/// Prepares `machine` and runs the workload on it.
fn execute<M: Machine + AsDrives>(
    scenario: &Scenario,
    machine: &mut M,
    workload: &mut Workload,
    target: &Target,
    windows: Windows,
    progress: OnProgress<'_>,
) -> Result<Done, EngineError> {
    let prepared = prepared(scenario, machine, target, progress)?;
    machine.begin(scenario)?;
    let recorder = Recorder::new(scenario.run.histogram_digits, windows, workload.lanes.as_ref());
    let watch = Stopwatch::start();
    if prepared.stopped {
        let run_cpu_s = watch.cpu_s();
        let measured = Measured::of(&machine.as_drives(), Nanos::ZERO, Nanos::ZERO);
        return Ok(Done { prepared, recorder, measured, ending: Ending::Stopped, warming: false, run_cpu_s });
    }
    let warm_up = scenario.run.warm_up.max(workload.ramp);
    let mut runner = Runner::new(machine, workload, recorder, warm_up, progress);
    let mut ending = match scenario.run.timing {
        TimingMode::Full => runner.run()?,
        TimingMode::None => runner.run_untimed()?,
    };
    let (recorder, warming) = (runner.recorder, runner.warming);
    let mut measured = Measured::of(&machine.as_drives(), recorder.end, recorder.span());
    if ending == Ending::Stopped {
        measured.cut_off();
    }
    let timed = scenario.run.timing == TimingMode::Full;
    if timed && ending == Ending::Complete && machine.finish(progress) {
        ending = Ending::Stopped;
    }
    Ok(Done { prepared, recorder, measured, ending, warming, run_cpu_s: watch.cpu_s() })
}

fn tables(facts: &Facts<'_>, prepared: &Prepared, recorder: &Recorder) -> Vec<(String, Table)> {
    let mut tables = vec![
        ("timeseries".to_owned(), time_table(recorder.windows.closed())),
        ("precondition".to_owned(), precondition_table(prepared)),
        ("latency".to_owned(), latency_table(recorder)),
    ];
    tables.extend(recorder.jobs.table().map(|table| ("jobs".to_owned(), table)));
    if let Some(wear) = wear_table(facts.ssd) {
        tables.push(("wear".to_owned(), wear));
    }
    tables.extend(reliability_tables(facts));
    tables.extend(facts.ssd.array.iter().flat_map(|volume| array_tables(facts, volume)));
    tables
}
