//! The run loop: requests into the drive, completions out of it, simulated time from one event to the next.
//!
//! A run consists of legs; an uninterrupted run is a single one. The [`RunState`] outlasts them. A leg ends only after a request has been
//! settled, at a check that is made anyway, so that the result does not depend on how a run is divided into legs.

mod awaiting;
mod job_schedule;
mod jobs;
mod loops;
mod settle;
mod shared_core;
mod standstill;
mod state;
mod zones;

use crate::clock::{LookInterval, ProgressTimer};
use crate::drives::AsDriveSet;
use crate::error::EngineError;
use crate::progress::{OnProgress, RunControl, RunPhase, RunProgress};
use crate::requests::OnRows;
use crate::simulated_device::SimulatedDevice;
use job_schedule::JobSchedule;
use outlast_device::{Command, Tag};
use outlast_scenario::FaultTarget;
use outlast_units::Nanos;
use outlast_workload::{RequestPacing, Workload, WorkloadRequest};
pub(crate) use standstill::Standstill;
pub(crate) use state::RunState;
pub use state::{ExtraRequest, LegGoal};

/// Completions between two checks of the clock, or fewer where they are slow; what does not depend on the clock is checked after so many.
const BETWEEN_CLOCKS: u64 = 4096;

/// End of a leg, and so perhaps of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunEnding {
    /// The workload has ended and all its requests have completed.
    Complete,
    /// The caller stopped it.
    Stopped,
    /// The leg has reached its goal, and the run goes on with the next.
    Paused,
}

/// Number of completed requests at which a leg to `goal` is next checked for its end, after `done`.
fn next_check(done: u64, goal: &LegGoal, looks: &LookInterval) -> u64 {
    // A goal in time needs a check after every request, which only such legs pay for.
    let goal_check = if goal.time == Nanos::MAX { goal.requests.max(done + 1) } else { done + 1 };
    looks.next_look(done).min(goal_check)
}

/// A command of the workload in flight, and the time of its submission.
#[derive(Clone, Copy, Debug)]
struct IssuedCommand {
    command: Command,
    at: Nanos,
}

/// One leg of a run under way.
pub(crate) struct LegRunner<'a, 'b, 'c, M> {
    device: &'a mut M,
    workload: &'a mut Workload,
    state: RunState,
    goal: LegGoal,
    /// Number of completed requests at which the leg is next checked for its end.
    next_check: u64,
    /// Ending that the last check found.
    ending: RunEnding,
    progress: OnProgress<'b>,
    pulse: ProgressTimer,
    looks: LookInterval,
    rows: Option<OnRows<'c>>,
}

impl<'a, 'b, 'c, M: SimulatedDevice + AsDriveSet> LegRunner<'a, 'b, 'c, M> {
    /// A leg that continues `state` to `goal`.
    pub(crate) fn new(
        device: &'a mut M,
        workload: &'a mut Workload,
        state: RunState,
        goal: LegGoal,
        progress: OnProgress<'b>,
        rows: Option<OnRows<'c>>,
    ) -> Self {
        let (pulse, looks) = (ProgressTimer::new(), LookInterval::new(BETWEEN_CLOCKS));
        let (next_check, ending) = (next_check(state.done, &goal, &looks), RunEnding::Complete);
        Self { device, workload, state, goal, next_check, ending, progress, pulse, looks, rows }
    }

    /// Runs the workload to the goal or to its end. Never inlined, because the instruction benchmarks find it by its symbol.
    #[inline(never)]
    pub(crate) fn run(&mut self) -> Result<RunEnding, EngineError> {
        self.start()?;
        let ending = match self.workload.pacing {
            RequestPacing::Open => self.open_loop()?,
            RequestPacing::Jobs { .. } if self.state.schedule.is_some() => self.jobs_loop()?,
            RequestPacing::Closed { .. } | RequestPacing::Jobs { .. } => self.closed_loop()?,
        };
        if ending != RunEnding::Paused {
            self.finish();
        }
        Ok(ending)
    }

    /// Closes the records of the run: no request follows.
    pub(crate) fn finish(&mut self) {
        let counts = self.device.snapshot(self.state.now);
        self.state.recorder.finish(&counts);
        let RunState { recorder, .. } = &mut self.state;
        if let Some(over_time) = &mut recorder.over_time {
            over_time.finish(recorder.end, &self.device.as_drives());
        }
        self.state.clock = self.state.clock.max(self.state.now);
    }

    /// Ends the run where it stands, even before its first request.
    pub(crate) fn stop(&mut self) -> Result<(), EngineError> {
        self.start()?;
        self.finish();
        Ok(())
    }

    /// Ends the leg and returns the state that outlasts it.
    pub(crate) fn end(mut self) -> RunState {
        self.hand_on_rows();
        self.state
    }

    /// Before the first leg: resets counters, and issues the first requests of a closed loop.
    fn start(&mut self) -> Result<(), EngineError> {
        if self.state.has_begun {
            return Ok(());
        }
        self.state.has_begun = true;
        self.device.reset(Nanos::ZERO);
        // An open loop begins empty, and jobs are asked by their own schedule.
        let queue_depth = match (&self.workload.pacing, &self.workload.jobs) {
            (RequestPacing::Open, _) => 0,
            (RequestPacing::Closed { queue_depth }, _) => *queue_depth,
            (RequestPacing::Jobs { .. }, None) => 1,
            (RequestPacing::Jobs { .. }, Some(lanes)) => {
                self.state.schedule = Some(JobSchedule::new(lanes.restarted()));
                0
            }
        };
        // All at time zero, in the order of the workload.
        for _ in 0..queue_depth {
            let Some(&WorkloadRequest { command, .. }) = self.next_request()? else { break };
            self.issue(Nanos::ZERO, command);
        }
        Ok(())
    }

    /// Injects a fault between two legs.
    pub(crate) fn strike(&mut self, strike: FaultTarget) -> Result<(), EngineError> {
        self.start()?;
        let clock = self.state.clock;
        self.device.advance(clock, &mut self.state.completions);
        Ok(self.device.strike(clock, strike)?)
    }

    /// Submits a request beside the workload between two legs. The next leg ends when it has completed.
    pub(crate) fn submit(&mut self, command: Command) -> Result<(), EngineError> {
        self.start()?;
        let clock = self.state.clock;
        self.device.advance(clock, &mut self.state.completions);
        let tag = self.state.extra_tag();
        self.device.submit(clock, command, Tag(tag));
        Ok(())
    }

    fn has_jobs(&self) -> bool {
        matches!(self.workload.pacing, RequestPacing::Jobs { .. })
    }

    /// True if the jobs of the run share a core of the host.
    fn shares_core(&self) -> bool {
        self.workload.jobs.as_ref().is_some_and(|jobs| jobs.time_slice().is_some())
    }

    #[inline]
    fn next_request(&mut self) -> Result<Option<&WorkloadRequest>, EngineError> {
        self.state.batch.next(self.workload, self.device)
    }

    #[allow(
        clippy::inline_always,
        reason = "once for each request; what a run does not use of it costs nothing"
    )]
    #[inline(always)]
    fn issue(&mut self, at: Nanos, command: Command) -> u32 {
        let tag = self.state.tag(|| Some(IssuedCommand { command, at }));
        self.state.recorder.submitted(at);
        self.device.submit(at, command, Tag(tag));
        tag
    }

    /// Drops notices of the drive, which a host without redundancy cannot act on; true if there were any.
    #[inline]
    fn drop_notices(&mut self) -> bool {
        let noticed = self.device.has_notice();
        while self.device.take_notice().is_some() {}
        noticed
    }

    /// True if the leg ends here; checked only when due.
    #[inline]
    fn is_stopped(&mut self) -> bool {
        self.state.done == self.next_check && self.check_leg_end()
    }

    /// True if the leg ends here, by failure, by the caller or by its goal; reports progress when due.
    #[cold]
    #[inline(never)]
    fn check_leg_end(&mut self) -> bool {
        let done = self.state.done;
        let looks = self.looks.look(done);
        self.next_check = next_check(done, &self.goal, &self.looks);
        // Only at multiples, so that steps of another length do not change when user code is found to have failed.
        if done.is_multiple_of(BETWEEN_CLOCKS) {
            self.hand_on_rows();
            if self.stands_still() {
                self.ending = RunEnding::Complete;
                return true;
            }
            if self.device.has_failed() || self.pulse.is_due() && self.report() == RunControl::Stop {
                self.ending = RunEnding::Stopped;
                return true;
            }
        } else if looks && self.pulse.is_overdue() && self.report() == RunControl::Stop {
            self.ending = RunEnding::Stopped;
            return true;
        }
        self.ending = RunEnding::Paused;
        done >= self.goal.requests || self.state.now >= self.goal.time || self.state.extra_is_done()
    }

    /// Hands on the full tables of the log.
    fn hand_on_rows(&mut self) {
        if let (Some(requests), Some(rows)) = (&mut self.state.requests, &mut self.rows) {
            requests.hand_on(rows);
        }
    }

    /// Reports progress: of the source if it knows its length, else by count or by time.
    #[cold]
    fn report(&mut self) -> RunControl {
        let by_time =
            self.workload.duration.map(|span| self.state.now.as_secs_f64() / span.as_secs_f64().max(1e-9));
        let by_count = self.workload.requests.map(|total| self.state.done as f64 / total.max(1) as f64);
        let fraction = self.workload.source.progress().or(by_count).or(by_time).map(|f| f.clamp(0.0, 1.0));
        (self.progress)(&RunProgress {
            phase: if self.state.warming { RunPhase::WarmUp } else { RunPhase::Run },
            fraction,
            requests: self.state.done,
            simulated: self.state.now,
        })
    }
}
