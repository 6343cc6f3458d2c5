//! A run in steps: opened, advanced, looked at, interfered with, and summed up.
//!
//! What a run comes to does not depend on its steps: [`Simulation::run`] is one step to the end.

use super::underway::{Cost, Underway};
use super::{Built, Simulation, prepared};
use crate::clock::Stopwatch;
use crate::drives::AsDrives;
use crate::error::EngineError;
use crate::machine::Machine;
use crate::progress::OnProgress;
use crate::requests::OnRows;
use crate::run::{Course, Ending, Goal, OwnRequest, Runner};
use outlast_device::Command;
use outlast_media::{ConfigError, FaultSpec};
use outlast_scenario::{Scenario, Strike, TimingMode};
use outlast_units::Nanos;
use outlast_workload::Workload;

/// Where a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stand {
    /// Simulated time.
    pub now: Nanos,
    /// Requests of the workload that have completed, those of the warm-up included.
    pub requests: u64,
    /// Whether it has ended: the workload has, or it was stopped.
    pub ended: bool,
}

/// What is done between two looks at a run.
enum Act {
    Advance,
    Strike(Strike),
    Submit(Command),
    Finish,
}

impl Simulation {
    /// Prepares the drive or the array for a run, which then waits for [`Simulation::advance`]; does nothing where a run is open.
    ///
    /// # Errors
    /// The drive wears out while it is being prepared, or the twin cannot be run.
    pub fn open_run(&mut self, progress: OnProgress<'_>) -> Result<(), EngineError> {
        self.open_logged(progress, false)
    }

    /// As [`Simulation::open_run`]; `log`: whether the caller takes the log of requests.
    ///
    /// # Errors
    /// Those of [`Simulation::open_run`].
    pub fn open_logged(&mut self, progress: OnProgress<'_>, log: bool) -> Result<(), EngineError> {
        if self.underway.is_some() {
            return Ok(());
        }
        let watch = Stopwatch::start();
        let twin = if self.scenario.run.twin {
            Some(Self::new(self.scenario.twin())?.run(progress)?.summary)
        } else {
            None
        };
        let course = Some(self.course(log));
        let Self { scenario, built, target, .. } = self;
        let prepared = either!(built, own => prepared(scenario, own, target, progress))?;
        let ending = if prepared.stopped { Ending::Stopped } else { Ending::Paused };
        let cost = Cost { cpu: watch.cpu_s(), wall: watch.wall_s(), run_cpu: 0.0 };
        self.underway =
            Some(Box::new(Underway { prepared, twin, course, ending, by_hand: Vec::new(), cost }));
        Ok(())
    }

    /// Where the run that is open stands.
    pub fn stand(&self) -> Option<Stand> {
        let underway = self.underway.as_ref()?;
        let course = underway.course.as_ref()?;
        Some(Stand { now: course.clock, requests: course.done, ended: underway.ending != Ending::Paused })
    }

    /// Goes on with the run until `goal` is reached or the workload has ended.
    ///
    /// The step ends with a request that completes, in an open loop also where the next one arrives after the time given: a closed loop may go
    /// a little beyond that time.
    ///
    /// # Errors
    /// The trace turns out to be unreadable midway, or the run goes on later than the drive can count time.
    pub fn advance(
        &mut self,
        goal: &Goal,
        progress: OnProgress<'_>,
        rows: Option<OnRows<'_>>,
    ) -> Result<(), EngineError> {
        if *goal != Goal::END {
            self.is_timed()?;
        }
        self.open_logged(progress, rows.is_some())?;
        self.act(Act::Advance, goal, progress, rows)
    }

    /// Something breaks now, as an entry of `[[faults]]` breaks it at its time.
    ///
    /// # Errors
    /// A place that is not there, or what the array refuses. Nothing has changed then, unless the power was cut: after that the array is off.
    pub fn inject(&mut self, fault: &FaultSpec, progress: OnProgress<'_>) -> Result<(), EngineError> {
        self.is_timed()?;
        let strike = self.scenario.strike("fault", 0, fault)?;
        self.open_run(progress)?;
        let done = self.act(Act::Strike(strike), &Goal::END, progress, None);
        let refused = done.as_ref().err().map(|error| format!(": {error}")).unwrap_or_default();
        self.note(|now| format!("At {now} a fault was injected, {:?}{refused}.", fault.kind));
        done
    }

    /// Hands the drive or array a request beside those of the workload and goes on until it has completed. The host's figures do not count it;
    /// those of drives do.
    ///
    /// # Errors
    /// Those of [`Simulation::advance`].
    pub fn submit(
        &mut self,
        command: Command,
        progress: OnProgress<'_>,
        rows: Option<OnRows<'_>>,
    ) -> Result<Option<OwnRequest>, EngineError> {
        self.is_timed()?;
        self.open_logged(progress, rows.is_some())?;
        self.act(Act::Submit(command), &Goal::END, progress, None)?;
        self.act(Act::Advance, &Goal::END, progress, rows)?;
        let course = self.underway.as_mut().and_then(|underway| underway.course.as_mut());
        let own = course.and_then(|course| course.own.take());
        self.note(|_| "Requests were submitted beside the workload: figures of flash include them, figures of the host do not.".to_owned());
        Ok(own)
    }

    /// Ends the run that is open where it stands, if it has not ended.
    pub(super) fn stop(&mut self, progress: OnProgress<'_>) -> Result<(), EngineError> {
        self.act(Act::Finish, &Goal::END, progress, None)
    }

    /// What was done to the run by hand is told once.
    fn note(&mut self, words: impl FnOnce(Nanos) -> String) {
        let now = self.stand().map_or(Nanos::ZERO, |stand| stand.now);
        let note = words(now);
        if let Some(underway) = self.underway.as_mut().filter(|underway| !underway.by_hand.contains(&note)) {
            underway.by_hand.push(note);
        }
    }

    /// Steps, and what is done between them, need time.
    fn is_timed(&self) -> Result<(), EngineError> {
        if self.scenario.run.timing == TimingMode::Full {
            return Ok(());
        }
        Err(ConfigError::new("run.timing", "none", "must be full: a run that goes in steps needs time")
            .into())
    }

    /// Carries out `act` on the run that is open, unless it has ended.
    fn act(
        &mut self,
        act: Act,
        goal: &Goal,
        progress: OnProgress<'_>,
        rows: Option<OnRows<'_>>,
    ) -> Result<(), EngineError> {
        let Some(underway) = &mut self.underway else { return Ok(()) };
        let Some(course) = underway.course.take() else { return Ok(()) };
        if underway.ending != Ending::Paused || matches!(act, Act::Advance) && course.is_at(goal) {
            underway.course = Some(course);
            return Ok(());
        }
        let watch = Stopwatch::start();
        let Self { scenario, built, workload, .. } = self;
        let leg = Leg { scenario, workload, course, goal: *goal, act };
        let (course, outcome) = either!(built, own => leg.of(own, progress, rows));
        underway.course = Some(course);
        underway.cost.cpu += watch.cpu_s();
        underway.cost.wall += watch.wall_s();
        underway.cost.run_cpu += watch.cpu_s();
        match outcome {
            Ok(ending) => underway.ending = ending,
            Err(EngineError::Refused(_)) => {}
            Err(_) => underway.ending = Ending::Stopped,
        }
        outcome.map(|_| ())
    }
}

/// A leg of a run.
struct Leg<'a> {
    scenario: &'a Scenario,
    workload: &'a mut Workload,
    course: Course,
    goal: Goal,
    act: Act,
}

impl Leg<'_> {
    fn of<M: Machine + AsDrives>(
        self,
        machine: &mut M,
        progress: OnProgress<'_>,
        rows: Option<OnRows<'_>>,
    ) -> (Course, Result<Ending, EngineError>) {
        let Self { scenario, workload, course, goal, act } = self;
        if !course.has_begun
            && let Err(error) = machine.begin(scenario)
        {
            return (course, Err(error.into()));
        }
        let mut runner = Runner::new(machine, workload, course, goal, progress, rows);
        let outcome = match (act, scenario.run.timing) {
            (Act::Advance, TimingMode::Full) => runner.run(),
            (Act::Advance, TimingMode::None) => runner.run_untimed(),
            (Act::Strike(strike), _) => runner.strike(strike).map(|()| Ending::Paused),
            (Act::Submit(command), _) => runner.submit(command).map(|()| Ending::Paused),
            (Act::Finish, _) => runner.stop().map(|()| Ending::Stopped),
        };
        let course = runner.end();
        let outcome = outcome.and_then(|ending| {
            machine.policy_failure().map_or(Ok(ending), |failure| Err(EngineError::from(failure)))
        });
        (course, outcome)
    }
}
