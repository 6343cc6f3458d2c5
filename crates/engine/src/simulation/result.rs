//! What a run comes to.

use super::underway::Underway;
use super::{Built, RunResult, Simulation};
use crate::array_report::array_tables;
use crate::clock::Stopwatch;
use crate::columns::time_table;
use crate::drives::AsDrives;
use crate::error::EngineError;
use crate::facts::Facts;
use crate::machine::Machine;
use crate::measured::Measured;
use crate::precondition::Prepared;
use crate::progress::OnProgress;
use crate::recorder::Recorder;
use crate::reliability::reliability_tables;
use crate::report::summarise;
use crate::requests::OnRows;
use crate::run::Ending;
use crate::summary::{latency_table, precondition_table, wear_table};
use crate::table::Table;
use outlast_scenario::TimingMode;

impl Simulation {
    /// Sums up the run that is open. One whose workload has not ended is stopped, and its result is marked partial.
    ///
    /// # Errors
    /// Something that the scenario has happen to an array cannot.
    ///
    /// # Panics
    /// Never: a run that was opened has its course.
    pub fn finish(
        &mut self,
        progress: OnProgress<'_>,
        rows: Option<OnRows<'_>>,
    ) -> Result<RunResult, EngineError> {
        self.open_logged(progress, rows.is_some())?;
        self.stop(progress)?;
        let watch = Stopwatch::start();
        let Underway { prepared, twin, course, mut ending, by_hand, cost } =
            *self.underway.take().expect("a run is open");
        let mut course = course.expect("no leg goes on");
        let Self { scenario, built, workload, .. } = self;
        if !course.has_begun {
            either!(built, own => own.begin(scenario))?;
        }
        if let Built::Array(volume) = built
            && let Some(failure) = volume.take_failure()
        {
            return Err(failure.into());
        }
        let has_begun = course.has_begun;
        if course.warming && has_begun {
            either!(built, own => course.forget(own));
        }
        let recorder = course.recorder;
        let kept = course.requests.map(|requests| requests.finish(rows)).unwrap_or_default();
        let drives = either!(built, own => own.as_drives());
        let mut measured = Measured::of(&drives, recorder.end, recorder.span());
        if scenario.run.utilisation {
            measured = measured.with_controller(&drives, recorder.end, recorder.span());
        }
        if ending == Ending::Stopped && has_begun {
            measured.cut_off();
        }
        let timed = scenario.run.timing == TimingMode::Full;
        if timed && ending == Ending::Complete && either!(built, own => own.finish(progress)) {
            ending = Ending::Stopped;
        }
        let facts = Facts {
            scenario,
            ssd: &either!(built, own => own.as_drives()),
            measured: &measured,
            workload,
            recorder: &recorder,
            kept: &kept,
            prepared: &prepared,
            twin: twin.as_ref(),
            by_hand: &by_hand,
            warming: course.warming && has_begun,
            partial: ending == Ending::Stopped,
            run_cpu_s: cost.run_cpu + watch.cpu_s(),
            cpu_s: cost.cpu + watch.cpu_s(),
            wall_s: cost.wall + watch.wall_s(),
        };
        let summary = summarise(&facts);
        Ok(RunResult { tables: tables(&facts, &prepared, &recorder), summary })
    }
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
    tables.extend(recorder.over_time.iter().flat_map(|own| own.tables(facts.ssd)));
    tables.extend(reliability_tables(facts));
    tables.extend(facts.ssd.array.iter().flat_map(|volume| array_tables(facts, volume)));
    tables
}
