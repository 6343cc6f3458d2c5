//! A run from beginning to end.

use crate::clock::Stopwatch;
use crate::error::EngineError;
use crate::precondition::{Prepared, prepare};
use crate::progress::OnProgress;
use crate::recorder::Recorder;
use crate::reliability::reliability_tables;
use crate::report::{Facts, latency_table, precondition_table, summarise, wear_table};
use crate::run::{Ending, Runner};
use crate::scenario::{Scenario, TimingMode};
use crate::summary::Summary;
use crate::table::Table;
use crate::window::Windows;
use outlast_device::Device;
use outlast_media::ConfigError;
use outlast_ssd::Ssd;
use outlast_units::{Bytes, Nanos};
use outlast_workload::{Pacing, Target, Workload};

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
    ssd: Ssd,
    workload: Workload,
    target: Target,
}

/// What a run found.
#[derive(Clone, Debug)]
pub struct RunResult {
    /// `result.json`.
    pub summary: Summary,
    /// Tables by name: `timeseries`, `precondition`, `latency`, `wear`; of a drive that can fail `decisions`, and of one whose flash
    /// errs `errors`.
    pub tables: Vec<(String, Table)>,
}

impl Simulation {
    /// Checks the scenario, builds the drive, opens the workload.
    ///
    /// # Errors
    /// The first thing that cannot work: a setting, the drive's spare space, the trace.
    pub fn new(scenario: Scenario) -> Result<Self, EngineError> {
        scenario.validate()?;
        let unit = scenario.device.ftl.mapping_unit;
        // The workload before the drive: it costs little, and the drive may take gigabytes.
        let capacity =
            Bytes(scenario.device.ftl.user_capacity(&scenario.device.geometry).0 / unit.0 * unit.0);
        let target = Target { capacity, seed: scenario.seed, unit };
        let workload = scenario.workload.open(&target)?;
        if workload.endless && workload.duration.is_none() {
            let limit = "the workload has no end: give requests, bytes or duration";
            return Err(ConfigError::new("workload", workload.label, limit).into());
        }
        if workload.endless
            && scenario.run.timing == TimingMode::None
            && matches!(workload.pacing, Pacing::Closed { .. })
        {
            let limit = "without time a duration never ends a closed loop: give requests or bytes";
            return Err(ConfigError::new("run.timing", "none", limit).into());
        }
        let ssd = Ssd::new(scenario.device.clone(), scenario.seed)?;
        Ok(Self { scenario, ssd, workload, target })
    }

    /// The scenario.
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// The drive.
    pub fn ssd(&self) -> &Ssd {
        &self.ssd
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
        let prepared = prepare(
            &mut self.ssd,
            &self.scenario.precondition,
            &self.scenario.workload,
            &self.target,
            progress,
        )?;
        self.ssd.begin_timed();
        self.ssd.schedule_faults(&self.scenario.resolved_faults()?);
        self.ssd.schedule_changes(&self.scenario.changes);
        for ageing in &self.scenario.run.ageing {
            self.ssd.schedule_ageing(ageing.at, ageing.by);
        }
        let recorder = Recorder::new(self.scenario.run.histogram_digits, self.windows());
        let run_watch = Stopwatch::start();
        let (recorder, ending, warming) = if prepared.stopped {
            (recorder, Ending::Stopped, false)
        } else {
            let mut runner =
                Runner::new(&mut self.ssd, &mut self.workload, recorder, self.scenario.run.warm_up, progress);
            let ending = match self.scenario.run.timing {
                TimingMode::Full => runner.run()?,
                TimingMode::None => runner.run_untimed()?,
            };
            (runner.recorder, ending, runner.warming)
        };
        let facts = Facts {
            scenario: &self.scenario,
            ssd: &self.ssd,
            workload: &self.workload,
            recorder: &recorder,
            prepared: &prepared,
            twin: twin.as_ref(),
            warming,
            partial: ending == Ending::Stopped,
            run_cpu_s: run_watch.cpu_s(),
            cpu_s: watch.cpu_s(),
            wall_s: watch.wall_s(),
        };
        let summary = summarise(&facts);
        Ok(RunResult { tables: tables(&facts, &prepared, &recorder), summary })
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
        self.ssd.self_check()
    }
}

fn tables(facts: &Facts<'_>, prepared: &Prepared, recorder: &Recorder) -> Vec<(String, Table)> {
    let mut tables = vec![
        ("timeseries".to_owned(), recorder.windows.table()),
        ("precondition".to_owned(), precondition_table(prepared)),
        ("latency".to_owned(), latency_table(recorder)),
    ];
    if let Some(wear) = wear_table(facts.ssd) {
        tables.push(("wear".to_owned(), wear));
    }
    tables.extend(reliability_tables(facts.ssd));
    tables
}
