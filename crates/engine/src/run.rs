//! The run loop: requests into the drive, completions out of it, simulated time from one event to the next.
//!
//! A run goes in legs, of which a whole run is one. What outlasts a leg is its [`RunState`]; where one ends is decided after a request has
//! been settled, by the look that is due now and then anyway, so that a run comes to the same whatever its legs were.

mod job_schedule;
mod loops;
mod state;

use crate::clock::ProgressTimer;
use crate::drives::AsDriveSet;
use crate::error::EngineError;
use crate::progress::{OnProgress, RunControl, RunPhase, RunProgress};
use crate::requests::{CompletedRequest, OnRows};
use crate::simulated_device::SimulatedDevice;
use job_schedule::JobSchedule;
use outlast_device::{Command, Completion, Outcome, Tag};
use outlast_scenario::Strike;
use outlast_units::Nanos;
use outlast_workload::{Pacing, Request, Workload};
pub(crate) use state::RunState;
pub use state::{ExtraRequest, LegGoal};

/// Completions between two looks at the clock.
const BETWEEN_CLOCKS: u64 = 4096;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunEnding {
    /// The workload ended and everything it asked for completed.
    Complete,
    /// The caller stopped it.
    Stopped,
    /// The leg has reached its goal, and the run goes on with the next.
    Paused,
}

/// Requests done at which a leg to `goal` looks after it next, where `done` are.
fn next_check(done: u64, goal: &LegGoal) -> u64 {
    let steady = (done / BETWEEN_CLOCKS + 1) * BETWEEN_CLOCKS;
    // Time is looked at after every request, but only where somebody asks for it.
    let asked = if goal.time == Nanos::MAX { goal.requests.max(done + 1) } else { done + 1 };
    steady.min(asked)
}

/// A command in flight, by tag.
#[derive(Clone, Copy, Debug)]
struct IssuedCommand {
    command: Command,
    at: Nanos,
}

pub(crate) struct LegRunner<'a, 'b, 'c, M> {
    device: &'a mut M,
    workload: &'a mut Workload,
    state: RunState,
    goal: LegGoal,
    /// Requests done at which to look whether to go on.
    next_check: u64,
    /// Why a look ended the leg.
    ending: RunEnding,
    progress: OnProgress<'b>,
    pulse: ProgressTimer,
    rows: Option<OnRows<'c>>,
}

impl<'a, 'b, 'c, M: SimulatedDevice + AsDriveSet> LegRunner<'a, 'b, 'c, M> {
    /// A leg of a run.
    pub(crate) fn new(
        device: &'a mut M,
        workload: &'a mut Workload,
        state: RunState,
        goal: LegGoal,
        progress: OnProgress<'b>,
        rows: Option<OnRows<'c>>,
    ) -> Self {
        let (next_check, ending) = (next_check(state.done, &goal), RunEnding::Complete);
        let pulse = ProgressTimer::new();
        Self { device, workload, state, goal, next_check, ending, progress, pulse, rows }
    }

    /// Runs the workload to the goal or to its end. Never inlined: instructions are counted by it.
    #[inline(never)]
    pub(crate) fn run(&mut self) -> Result<RunEnding, EngineError> {
        self.start()?;
        let ending = match self.workload.pacing {
            Pacing::Open => self.open_loop()?,
            Pacing::Lanes { .. } if self.state.schedule.is_some() => self.jobs_loop()?,
            Pacing::Closed { .. } | Pacing::Lanes { .. } => self.closed_loop()?,
        };
        if ending != RunEnding::Paused {
            self.finish();
        }
        Ok(ending)
    }

    /// No request follows.
    pub(crate) fn finish(&mut self) {
        let counts = self.device.snapshot(self.state.now);
        self.state.recorder.finish(&counts);
        let RunState { recorder, .. } = &mut self.state;
        if let Some(over_time) = &mut recorder.over_time {
            over_time.finish(recorder.end, &self.device.as_drives());
        }
        self.state.clock = self.state.clock.max(self.state.now);
    }

    /// The run ends where it stands.
    pub(crate) fn stop(&mut self) -> Result<(), EngineError> {
        self.start()?;
        self.finish();
        Ok(())
    }

    /// What outlasts the leg.
    pub(crate) fn end(mut self) -> RunState {
        self.hand_on_rows();
        self.state
    }

    /// The first leg begins: counts do, and a closed loop has its requests in flight.
    fn start(&mut self) -> Result<(), EngineError> {
        if self.state.has_begun {
            return Ok(());
        }
        self.state.has_begun = true;
        self.device.reset(Nanos::ZERO);
        let queue_depth = match (&self.workload.pacing, &self.workload.lanes) {
            (Pacing::Open, _) => 0,
            (Pacing::Closed { queue_depth }, _) => *queue_depth,
            (Pacing::Lanes { .. }, None) => 1,
            (Pacing::Lanes { .. }, Some(lanes)) => {
                self.state.schedule = Some(JobSchedule::new(lanes.anew()));
                0
            }
        };
        for _ in 0..queue_depth {
            let Some(request) = self.next_request()? else { break };
            self.issue(Nanos::ZERO, request.command);
        }
        Ok(())
    }

    /// Between two legs: something breaks.
    pub(crate) fn strike(&mut self, strike: Strike) -> Result<(), EngineError> {
        self.start()?;
        let clock = self.state.clock;
        self.device.advance(clock, &mut self.state.completions);
        Ok(self.device.strike(clock, strike)?)
    }

    /// Between two legs: hands the machine a request that does not belong to the workload. The next leg ends when it has completed.
    pub(crate) fn submit(&mut self, command: Command) -> Result<(), EngineError> {
        self.start()?;
        let clock = self.state.clock;
        self.device.advance(clock, &mut self.state.completions);
        let tag = self.state.extra_tag();
        self.device.submit(clock, command, Tag(tag));
        Ok(())
    }

    #[inline]
    fn next_request(&mut self) -> Result<Option<Request>, EngineError> {
        self.state.batch.next(self.workload, self.device)
    }

    #[allow(
        clippy::inline_always,
        reason = "once for each request; what a run does not use of it costs nothing"
    )]
    #[inline(always)]
    fn issue(&mut self, at: Nanos, command: Command) -> u32 {
        let tag = self.state.tag(Some(IssuedCommand { command, at }));
        self.state.recorder.submitted(at);
        self.device.submit(at, command, Tag(tag));
        tag
    }

    /// Records a completion and frees its tag; whether it is one of the workload's.
    #[inline]
    fn settle(&mut self, completion: &Completion) -> bool {
        let at = completion.at;
        self.state.now = at;
        if self.state.recorder.window_ends_by(at) {
            let counts = self.device.snapshot(at);
            let RunState { recorder, reached, .. } = &mut self.state;
            recorder.close_windows(at, &counts);
            if let Some(over_time) = &mut recorder.over_time {
                over_time.sample(at.max(*reached), &self.device.as_drives());
            }
        }
        if self.state.warming && at >= self.state.warm_up {
            self.state.warming = false;
            self.state.measure_from(at, self.device);
        }
        let Some(issued) = self.state.issued[completion.tag.0 as usize].take() else {
            self.extra_completed(completion);
            return false;
        };
        self.state.free_tags.push(completion.tag.0);
        self.state.recorder.completed(&issued.command, issued.at, at, completion.outcome);
        if self.state.requests.is_some() {
            self.record_request(&issued, completion);
        }
        let (condition, digits) = (self.device.condition(), self.state.recorder.digits);
        if completion.outcome == Outcome::Ok {
            self.state.recorder.by_state.record(condition, digits, issued.command.op, at - issued.at);
        }
        self.state.done += 1;
        true
    }

    /// A request that does not belong to the workload has completed: somebody waits for it.
    #[cold]
    fn extra_completed(&mut self, completion: &Completion) {
        self.device.take_parts(completion.tag);
        self.state.extra_completed(completion);
        self.next_check = self.state.done;
    }

    /// Keeps what is asked for of a request that has completed.
    #[inline(never)]
    fn record_request(&mut self, issued: &IssuedCommand, completion: &Completion) {
        let IssuedCommand { ref command, at: since } = *issued;
        let Completion { at, tag, outcome } = *completion;
        let parts = self.device.take_parts(tag);
        if let Some(requests) = &mut self.state.requests {
            requests.completed(&CompletedRequest { command, since, at, outcome, parts });
        }
    }

    /// Whether the drive had something to tell, which a host without redundancy can do nothing about.
    #[inline]
    fn drop_notices(&mut self) -> bool {
        let noticed = self.device.has_notice();
        while self.device.take_notice().is_some() {}
        noticed
    }

    /// Whether the leg ends here; looks now and then.
    #[inline]
    fn is_stopped(&mut self) -> bool {
        self.state.done == self.next_check && self.check_leg_end()
    }

    #[cold]
    #[inline(never)]
    fn check_leg_end(&mut self) -> bool {
        let done = self.state.done;
        self.next_check = next_check(done, &self.goal);
        if done.is_multiple_of(BETWEEN_CLOCKS) {
            self.hand_on_rows();
            if self.device.has_failed() || self.pulse.is_due() && self.report() == RunControl::Stop {
                self.ending = RunEnding::Stopped;
                return true;
            }
        }
        self.ending = RunEnding::Paused;
        done >= self.goal.requests || self.state.now >= self.goal.time || self.state.extra_is_done()
    }

    /// Rows of the log that are many enough leave.
    fn hand_on_rows(&mut self) {
        if let (Some(requests), Some(rows)) = (&mut self.state.requests, &mut self.rows) {
            requests.hand_on(rows);
        }
    }

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

    /// Runs the workload without time: every command is done before the next. Never inlined, as [`LegRunner::run`].
    #[inline(never)]
    pub(crate) fn run_untimed(&mut self) -> Result<RunEnding, EngineError> {
        self.state.has_begun = true;
        self.device.reset(Nanos::ZERO);
        let end = self.workload.duration.unwrap_or(Nanos::MAX);
        let mut ending = RunEnding::Complete;
        while let Some(request) = self.next_request()? {
            if request.at > end {
                break;
            }
            let outcome = self.device.apply(request.command);
            self.state.recorder.counted(&request.command, outcome);
            self.state.done += 1;
            if self.is_stopped() {
                ending = RunEnding::Stopped;
                break;
            }
            // A drive that is worn out stays so: the study is over.
            if outcome == Outcome::ReadOnly {
                break;
            }
        }
        // Only a drive that is worn out has anything to tell, and its study is over anyway.
        self.device.catch_up();
        self.device.end_untimed();
        let counts = self.device.snapshot(self.state.now);
        self.state.recorder.finish(&counts);
        Ok(ending)
    }
}
