//! Ending a run and summing it up.

use super::open_run::OpenRun;
use super::{BuiltDevice, RunResult, Simulation};
use crate::array_report::array_tables;
use crate::clock::Stopwatch;
use crate::columns::time_table;
use crate::drives::AsDriveSet;
use crate::error::EngineError;
use crate::facts::RunFacts;
use crate::measured::MeasuredCounts;
use crate::precondition::PreconditionRecord;
use crate::progress::OnProgress;
use crate::recorder::RunRecorder;
use crate::reliability::reliability_tables;
use crate::report::summarise;
use crate::requests::OnRows;
use crate::run::RunEnding;
use crate::simulated_device::SimulatedDevice;
use crate::summary::{latency_table, precondition_table, wear_table};
use crate::table::ResultTable;
use outlast_scenario::TimingMode;

impl Simulation {
    /// Sums up the open run. If its workload has not ended, it is stopped and its result is marked partial.
    ///
    /// # Errors
    /// Errors of opening and stopping the run, and a scheduled happening that the array cannot carry out.
    ///
    /// # Panics
    /// Never: an open run has its state.
    pub fn finish(
        &mut self,
        progress: OnProgress<'_>,
        rows: Option<OnRows<'_>>,
    ) -> Result<RunResult, EngineError> {
        self.open_logged(progress, rows.is_some())?;
        self.stop(progress)?;
        let watch = Stopwatch::start();
        let OpenRun { prepared, twin, state, mut ending, by_hand, cost } =
            *self.current_run.take().expect("a run is open");
        let mut state = state.expect("no leg goes on");
        let Self { scenario, built, workload, .. } = self;
        if !state.has_begun {
            // A run stopped during preparation still gets the tables and figures of a begun one.
            either!(built, device => device.begin(scenario))?;
        }
        if let BuiltDevice::Array(volume) = built
            && let Some(failure) = volume.take_failure()
        {
            return Err(failure.into());
        }
        let has_begun = state.has_begun;
        if state.warming && has_begun {
            either!(built, device => state.discard_warm_up(device));
        }
        let is_beyond = state.is_beyond_last_completion();
        // Commands may still be in flight where time no longer passes.
        let is_cut = state.stood_still.is_some();
        let recorder = state.recorder;
        let kept = state.requests.map(|requests| requests.finish(rows)).unwrap_or_default();
        let drives = either!(built, device => device.as_drives());
        let mut measured = MeasuredCounts::of(&drives, recorder.end, recorder.span());
        if scenario.run.utilisation {
            measured = measured.with_controller(&drives, recorder.end, recorder.span());
        }
        // Before `finish`: what an array does after the host's end does not count.
        if is_beyond || is_cut || ending == RunEnding::Stopped && has_begun {
            measured.cut_off();
        }
        let timed = scenario.run.timing == TimingMode::Full;
        if timed && ending == RunEnding::Complete && either!(built, device => device.finish(progress)) {
            ending = RunEnding::Stopped;
        }
        let facts = RunFacts {
            scenario,
            ssd: &either!(built, device => device.as_drives()),
            measured: &measured,
            workload,
            recorder: &recorder,
            kept: &kept,
            prepared: &prepared,
            twin: twin.as_ref(),
            by_hand: &by_hand,
            warming: state.warming && has_begun,
            partial: ending == RunEnding::Stopped,
            run_cpu_s: cost.run_cpu + watch.cpu_s(),
            cpu_s: cost.cpu + watch.cpu_s(),
            wall_s: cost.wall + watch.wall_s(),
        };
        let summary = summarise(&facts);
        Ok(RunResult { tables: tables(&facts, &prepared, &recorder), summary })
    }
}

/// All tables of the result, by name.
fn tables(
    facts: &RunFacts<'_>,
    prepared: &PreconditionRecord,
    recorder: &RunRecorder,
) -> Vec<(String, ResultTable)> {
    let mut tables = vec![
        ("timeseries".to_owned(), time_table(recorder.windows.closed())),
        ("precondition".to_owned(), precondition_table(prepared)),
        ("latency".to_owned(), latency_table(recorder)),
    ];
    tables.extend(recorder.jobs.table().map(|table| ("jobs".to_owned(), table)));
    if let Some(wear) = wear_table(facts.ssd) {
        tables.push(("wear".to_owned(), wear));
    }
    tables.extend(recorder.over_time.iter().flat_map(|over_time| over_time.tables(facts.ssd)));
    tables.extend(reliability_tables(facts));
    tables.extend(facts.ssd.array.iter().flat_map(|volume| array_tables(facts, volume)));
    tables
}
