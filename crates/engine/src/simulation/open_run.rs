//! A run that has been opened and not yet summed up.

use super::Simulation;
use crate::by_namespace::ByNamespace;
use crate::by_queue::ByQueue;
use crate::over_time::OverTime;
use crate::precondition::PreconditionRecord;
use crate::recorder::RunRecorder;
use crate::requests::{RequestLog, RequestRecorder};
use crate::run::{RunEnding, RunState};
use crate::splits::LatencySplits;
use crate::summary::RunSummary;
use crate::window::TimeWindows;
use outlast_scenario::{RunSpec, Scenario, TimingMode};
use outlast_units::Nanos;
use std::fmt;

/// Initial width of a window if neither the settings nor the workload's duration give one; windows merge in pairs as their number grows.
const FIRST_WINDOW: Nanos = Nanos::millis(2);
/// Windows of a run of known length.
const WINDOWS: u64 = 200;
/// Most windows if their width is not set.
const CHOSEN_WINDOWS: u32 = 256;

/// A run between two legs, with its preparation and its cost so far.
pub(super) struct OpenRun {
    pub(super) prepared: PreconditionRecord,
    /// Summary of the twin without errors.
    pub(super) twin: Option<RunSummary>,
    /// `None` while a leg is running, which owns it.
    pub(super) state: Option<RunState>,
    /// Ending of the run; paused while it can go on.
    pub(super) ending: RunEnding,
    /// Notes of interventions between steps, as sentences.
    pub(super) by_hand: Vec<String>,
    pub(super) cost: RunCost,
}

/// Cost of a run so far, in seconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RunCost {
    pub(super) cpu: f64,
    pub(super) wall: f64,
    /// Processor time without preparation.
    pub(super) run_cpu: f64,
}

impl fmt::Debug for OpenRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Underway")
            .field("ending", &self.ending)
            .field("by_hand", &self.by_hand)
            .field("cost", &self.cost)
            .finish_non_exhaustive()
    }
}

impl Simulation {
    /// State of a run that has not begun; `log` is true if the caller takes the log of requests.
    pub(super) fn new_run_state(&self, log: bool) -> RunState {
        let run = &self.scenario.run;
        let lanes = self.workload.jobs.as_ref();
        let windows = self.windows();
        let over_time = run.utilisation.then(|| Box::new(OverTime::new(windows.width())));
        let mut recorder = RunRecorder::new(RunSpec::HISTOGRAM_DIGITS, windows, lanes);
        recorder.over_time = over_time;
        let is_timed = run.timing == TimingMode::Full;
        // Without simulated time a warm-up would never end.
        let warm_up = if is_timed { run.warm_up.max(self.workload.ramp) } else { Nanos::ZERO };
        RunState::new(recorder, warm_up, request_recorder(&self.scenario, log))
    }

    /// Windows of the set width, or of one that suits the workload's duration; at least a microsecond.
    fn windows(&self) -> TimeWindows {
        let run = &self.scenario.run;
        let digits = RunSpec::HISTOGRAM_DIGITS;
        if let Some(width) = run.window {
            return TimeWindows::new(width, RunSpec::MAX_WINDOWS, digits);
        }
        let width = self.workload.duration.map_or(FIRST_WINDOW, |span| Nanos((span.0 / WINDOWS).max(1_000)));
        TimeWindows::new(width, CHOSEN_WINDOWS.min(RunSpec::MAX_WINDOWS), digits)
    }
}

/// Recorder of single requests; `None` if nothing asks for them. Queues are recorded for a drive by itself.
fn request_recorder(scenario: &Scenario, log: bool) -> Option<Box<RequestRecorder>> {
    let run = &scenario.run;
    // The scenario may ask for a log that this caller does not take.
    let log = log && run.log.is_some();
    let queues = scenario.array.is_none() && scenario.device.controller.queues.is_some();
    let namespaces = !scenario.namespace.is_empty();
    (run.causes || log || queues || namespaces).then(|| {
        Box::new(RequestRecorder {
            splits: run.causes.then(LatencySplits::default),
            log: log.then(|| RequestLog::new(run.causes)),
            queues: queues.then(|| ByQueue::new(RunSpec::HISTOGRAM_DIGITS)),
            namespaces: namespaces.then(|| ByNamespace::new(&scenario.namespace, RunSpec::HISTOGRAM_DIGITS)),
        })
    })
}
