//! A run in steps: opened, advanced, inspected, disturbed and summed up.
//!
//! The result of a run does not depend on how it is divided into steps: [`Simulation::run`] is one step to the end.

use super::open_run::{OpenRun, RunCost};
use super::{BuiltDevice, Simulation, prepare_device};
use crate::clock::Stopwatch;
use crate::drives::AsDriveSet;
use crate::error::EngineError;
use crate::progress::OnProgress;
use crate::requests::OnRows;
use crate::run::{ExtraRequest, LegGoal, LegRunner, RunEnding, RunState, Standstill};
use crate::simulated_device::SimulatedDevice;
use outlast_device::Command;
use outlast_media::{ConfigError, FaultSpec};
use outlast_scenario::{FaultTarget, Scenario, TimingMode};
use outlast_units::Nanos;
use outlast_workload::Workload;

/// Status of a run between two steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunStatus {
    /// Simulated time.
    pub now: Nanos,
    /// Requests of the workload that have completed, those of the warm-up included.
    pub requests: u64,
    /// True if the workload has ended or the run was stopped.
    pub ended: bool,
}

/// Action of one leg.
enum LegAction {
    Advance,
    FaultTarget(FaultTarget),
    Submit(Command),
    Finish,
}

impl Simulation {
    /// Prepares the drive or the array for a run, which then waits for [`Simulation::advance`]. Does nothing if a run is open.
    ///
    /// # Errors
    /// The drive wears out while it is being prepared, or the twin cannot be run.
    pub fn open_run(&mut self, progress: OnProgress<'_>) -> Result<(), EngineError> {
        self.open_logged(progress, false)
    }

    /// Opens a run like [`Simulation::open_run`]; `log` is true if the caller takes the log of requests.
    ///
    /// # Errors
    /// Errors of [`Simulation::open_run`].
    pub fn open_logged(&mut self, progress: OnProgress<'_>, log: bool) -> Result<(), EngineError> {
        if self.current_run.is_some() {
            return Ok(());
        }
        let watch = Stopwatch::start();
        let twin = if self.scenario.run.twin {
            Some(Self::new(self.scenario.twin())?.run(progress)?.summary)
        } else {
            None
        };
        let state = Some(self.new_run_state(log));
        let Self { scenario, built, target, .. } = self;
        let prepared = either!(built, device => prepare_device(scenario, device, target, progress))?;
        let ending = if prepared.stopped { RunEnding::Stopped } else { RunEnding::Paused };
        let cost = RunCost { cpu: watch.cpu_s(), wall: watch.wall_s(), run_cpu: 0.0 };
        self.current_run =
            Some(Box::new(OpenRun { prepared, twin, state, ending, by_hand: Vec::new(), cost }));
        Ok(())
    }

    /// Status of the open run; `None` if none is open.
    pub fn status(&self) -> Option<RunStatus> {
        let current_run = self.current_run.as_ref()?;
        let state = current_run.state.as_ref()?;
        Some(RunStatus {
            now: state.clock,
            requests: state.done,
            ended: current_run.ending != RunEnding::Paused,
        })
    }

    /// Continues the run until `goal` is reached or the workload has ended.
    ///
    /// A step ends with the completion of a request; in an open loop also at the goal's time, if no request arrives before it. A closed loop
    /// may therefore exceed that time a little.
    ///
    /// # Errors
    /// The trace turns out to be unreadable midway, or the run goes on later than the drive can count time.
    pub fn advance(
        &mut self,
        goal: &LegGoal,
        progress: OnProgress<'_>,
        rows: Option<OnRows<'_>>,
    ) -> Result<(), EngineError> {
        if *goal != LegGoal::END {
            self.check_timed()?;
        }
        self.open_logged(progress, rows.is_some())?;
        self.carry_out(LegAction::Advance, goal, progress, rows)
    }

    /// Injects a fault now, like an entry of `[[faults]]` at its time.
    ///
    /// # Errors
    /// An address that the device does not have, or a refusal of the array. Nothing has changed then, except that an array which refuses to
    /// start after a loss of power is off.
    pub fn inject(&mut self, fault: &FaultSpec, progress: OnProgress<'_>) -> Result<(), EngineError> {
        self.check_timed()?;
        let strike = self.scenario.fault_target("fault", 0, fault)?;
        self.open_run(progress)?;
        let done = self.carry_out(LegAction::FaultTarget(strike), &LegGoal::END, progress, None);
        let refused = done.as_ref().err().map(|error| format!(": {error}")).unwrap_or_default();
        self.note_by_hand(|now| format!("At {now} a fault was injected, {:?}{refused}.", fault.kind));
        done
    }

    /// Submits a request beside the workload and continues until it has completed. The figures of drives include it, those of the host do not.
    ///
    /// # Errors
    /// Errors of [`Simulation::advance`].
    pub fn submit(
        &mut self,
        command: Command,
        progress: OnProgress<'_>,
        rows: Option<OnRows<'_>>,
    ) -> Result<Option<ExtraRequest>, EngineError> {
        self.check_timed()?;
        self.open_logged(progress, rows.is_some())?;
        // Submitting may fail; only a request that was submitted is waited for.
        self.carry_out(LegAction::Submit(command), &LegGoal::END, progress, None)?;
        self.carry_out(LegAction::Advance, &LegGoal::END, progress, rows)?;
        let state = self.current_run.as_mut().and_then(|current_run| current_run.state.as_mut());
        let extra = state.and_then(|state| state.extra.take());
        self.note_by_hand(|_| "Requests were submitted beside the workload: figures of flash include them, figures of the host do not.".to_owned());
        Ok(extra)
    }

    /// Stops the open run, if it has not ended.
    pub(super) fn stop(&mut self, progress: OnProgress<'_>) -> Result<(), EngineError> {
        self.carry_out(LegAction::Finish, &LegGoal::END, progress, None)
    }

    /// Adds a note of an intervention, unless the same note exists.
    fn note_by_hand(&mut self, words: impl FnOnce(Nanos) -> String) {
        let now = self.status().map_or(Nanos::ZERO, |status| status.now);
        let note = words(now);
        if let Some(current_run) =
            self.current_run.as_mut().filter(|current_run| !current_run.by_hand.contains(&note))
        {
            current_run.by_hand.push(note);
        }
    }

    /// Refuses steps and interventions in a run without time.
    fn check_timed(&self) -> Result<(), EngineError> {
        if self.scenario.run.timing == TimingMode::Full {
            return Ok(());
        }
        Err(ConfigError::new("run.timing", "none", "must be full: a run that goes in steps needs time")
            .into())
    }

    /// Carries out `action` on the open run, unless it has ended.
    fn carry_out(
        &mut self,
        action: LegAction,
        goal: &LegGoal,
        progress: OnProgress<'_>,
        rows: Option<OnRows<'_>>,
    ) -> Result<(), EngineError> {
        let Some(current_run) = &mut self.current_run else { return Ok(()) };
        let Some(state) = current_run.state.take() else { return Ok(()) };
        if current_run.ending != RunEnding::Paused
            || matches!(action, LegAction::Advance) && state.is_at(goal)
        {
            current_run.state = Some(state);
            return Ok(());
        }
        let watch = Stopwatch::start();
        let Self { scenario, built, workload, .. } = self;
        let leg = RunLeg { scenario, workload, state, goal: *goal, action };
        let (state, outcome) = either!(built, device => leg.run_on(device, progress, rows));
        let stood_still = state.stood_still.as_ref().map(Standstill::note);
        current_run.state = Some(state);
        current_run.cost.cpu += watch.cpu_s();
        current_run.cost.wall += watch.wall_s();
        current_run.cost.run_cpu += watch.cpu_s();
        match outcome {
            Ok(ending) => {
                current_run.ending = ending;
                current_run.by_hand.extend(stood_still);
            }
            // A refused intervention leaves the run as it was.
            Err(EngineError::Refused(_)) => {}
            Err(_) => current_run.ending = RunEnding::Stopped,
        }
        outcome.map(|_| ())
    }
}

/// One leg with everything that it borrows or owns, before its device is known to be a drive or an array.
struct RunLeg<'a> {
    scenario: &'a Scenario,
    workload: &'a mut Workload,
    state: RunState,
    goal: LegGoal,
    action: LegAction,
}

impl RunLeg<'_> {
    /// Runs the leg on `device`; returns the state, also after an error.
    fn run_on<M: SimulatedDevice + AsDriveSet>(
        self,
        device: &mut M,
        progress: OnProgress<'_>,
        rows: Option<OnRows<'_>>,
    ) -> (RunState, Result<RunEnding, EngineError>) {
        let Self { scenario, workload, state, goal, action } = self;
        if !state.has_begun
            && let Err(error) = device.begin(scenario)
        {
            return (state, Err(error.into()));
        }
        let mut runner = LegRunner::new(device, workload, state, goal, progress, rows);
        let outcome = match (action, scenario.run.timing) {
            (LegAction::Advance, TimingMode::Full) => runner.run(),
            (LegAction::Advance, TimingMode::None) => runner.run_untimed(),
            (LegAction::FaultTarget(strike), _) => runner.strike(strike).map(|()| RunEnding::Paused),
            (LegAction::Submit(command), _) => runner.submit(command).map(|()| RunEnding::Paused),
            (LegAction::Finish, _) => runner.stop().map(|()| RunEnding::Stopped),
        };
        let state = runner.end();
        let outcome = outcome.and_then(|ending| {
            device.policy_failure().map_or(Ok(ending), |failure| Err(EngineError::from(failure)))
        });
        (state, outcome)
    }
}
