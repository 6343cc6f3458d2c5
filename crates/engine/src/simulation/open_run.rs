//! A run that has been opened and not summed up.

use super::Simulation;
use crate::by_queue::ByQueue;
use crate::over_time::OverTime;
use crate::precondition::PreconditionRecord;
use crate::recorder::RunRecorder;
use crate::requests::{RequestLog, RequestRecorder};
use crate::run::{RunEnding, RunState};
use crate::splits::LatencySplits;
use crate::summary::RunSummary;
use crate::window::TimeWindows;
use outlast_scenario::{Scenario, TimingMode};
use outlast_units::Nanos;
use std::fmt;

/// Width of a window where none was asked for and none follows from the workload; windows merge in pairs as they grow many.
const FIRST_WINDOW: Nanos = Nanos::millis(2);
/// Windows into which a run of known length is divided.
const WINDOWS: u64 = 200;
/// Windows kept where their width was not asked for.
const CHOSEN_WINDOWS: u32 = 256;

/// A run between two legs.
pub(super) struct OpenRun {
    pub(super) prepared: PreconditionRecord,
    /// What the twin without errors found.
    pub(super) twin: Option<RunSummary>,
    /// Absent while a leg goes on.
    pub(super) state: Option<RunState>,
    /// How it ended; paused while it goes on.
    pub(super) ending: RunEnding,
    /// What was done to it by hand, in words.
    pub(super) by_hand: Vec<String>,
    pub(super) cost: RunCost,
}

/// What a run has cost so far, in seconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RunCost {
    pub(super) cpu: f64,
    pub(super) wall: f64,
    /// Of the run itself, without preparing.
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
    /// A run of the workload that has not begun; `log`: whether somebody takes its log of requests.
    pub(super) fn new_run_state(&self, log: bool) -> RunState {
        let run = &self.scenario.run;
        let lanes = self.workload.lanes.as_ref();
        let windows = self.windows();
        let over_time = run.utilisation.then(|| Box::new(OverTime::new(windows.width())));
        let mut recorder = RunRecorder::new(run.histogram_digits, windows, lanes);
        recorder.over_time = over_time;
        let is_timed = run.timing == TimingMode::Full;
        // Without time there is nothing to wait for.
        let warm_up = if is_timed { run.warm_up.max(self.workload.ramp) } else { Nanos::ZERO };
        RunState::new(recorder, warm_up, requests(&self.scenario, log))
    }

    fn windows(&self) -> TimeWindows {
        let run = &self.scenario.run;
        let digits = run.histogram_digits;
        if let Some(width) = run.window {
            return TimeWindows::new(width, run.max_windows, digits);
        }
        let width = self.workload.duration.map_or(FIRST_WINDOW, |span| Nanos((span.0 / WINDOWS).max(1_000)));
        TimeWindows::new(width, CHOSEN_WINDOWS.min(run.max_windows), digits)
    }
}

/// What is to be kept of single requests.
fn requests(scenario: &Scenario, log: bool) -> Option<Box<RequestRecorder>> {
    let run = &scenario.run;
    let log = log && run.log.is_some();
    let queues = scenario.array.is_none() && scenario.device.controller.queues.is_some();
    (run.causes || log || queues).then(|| {
        Box::new(RequestRecorder {
            splits: run.causes.then(LatencySplits::default),
            log: log.then(|| RequestLog::new(run.causes)),
            queues: queues.then(|| ByQueue::new(run.histogram_digits)),
        })
    })
}
