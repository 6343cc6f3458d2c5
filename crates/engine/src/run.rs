//! The run loop: requests into the drive, completions out of it, simulated time from one event to the next.
//!
//! A run goes in legs, of which a whole run is one. What outlasts a leg is its [`Course`]; where one ends is decided after a request has
//! been settled, by the look that is due now and then anyway, so that a run comes to the same whatever its legs were.

mod course;
mod fleet;
mod loops;

use crate::clock::Pulse;
use crate::drives::AsDrives;
use crate::error::EngineError;
use crate::machine::Machine;
use crate::progress::{Control, OnProgress, Phase, Progress};
use crate::requests::{Ended, OnRows};
pub(crate) use course::Course;
pub use course::{Goal, OwnRequest};
use fleet::Fleet;
use outlast_device::{Command, Completion, Outcome, Tag};
use outlast_scenario::Strike;
use outlast_units::Nanos;
use outlast_workload::{Pacing, Request, Workload};

/// Completions between two looks at the clock.
const BETWEEN_CLOCKS: u64 = 4096;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The workload ended and everything it asked for completed.
    Complete,
    /// The caller stopped it.
    Stopped,
    /// The leg has reached its goal, and the run goes on with the next.
    Paused,
}

/// Requests done at which a leg to `goal` looks after it next, where `done` are.
fn next_look(done: u64, goal: &Goal) -> u64 {
    let steady = (done / BETWEEN_CLOCKS + 1) * BETWEEN_CLOCKS;
    // Time is looked at after every request, but only where somebody asks for it.
    let asked = if goal.time == Nanos::MAX { goal.requests.max(done + 1) } else { done + 1 };
    steady.min(asked)
}

/// A command in flight, by tag.
#[derive(Clone, Copy, Debug)]
struct Issued {
    command: Command,
    at: Nanos,
}

pub(crate) struct Runner<'a, 'b, 'c, M> {
    machine: &'a mut M,
    workload: &'a mut Workload,
    course: Course,
    goal: Goal,
    /// Requests done at which to look whether to go on.
    next_look: u64,
    /// Why a look ended the leg.
    ending: Ending,
    progress: OnProgress<'b>,
    pulse: Pulse,
    rows: Option<OnRows<'c>>,
}

impl<'a, 'b, 'c, M: Machine + AsDrives> Runner<'a, 'b, 'c, M> {
    /// A leg of a run.
    pub(crate) fn new(
        machine: &'a mut M,
        workload: &'a mut Workload,
        course: Course,
        goal: Goal,
        progress: OnProgress<'b>,
        rows: Option<OnRows<'c>>,
    ) -> Self {
        let (next_look, ending) = (next_look(course.done, &goal), Ending::Complete);
        let pulse = Pulse::new();
        Self { machine, workload, course, goal, next_look, ending, progress, pulse, rows }
    }

    /// Runs the workload to the goal or to its end. Never inlined: instructions are counted by it.
    #[inline(never)]
    pub(crate) fn run(&mut self) -> Result<Ending, EngineError> {
        self.start()?;
        let ending = match self.workload.pacing {
            Pacing::Open => self.open_loop()?,
            Pacing::Lanes { .. } if self.course.fleet.is_some() => self.lanes_loop()?,
            Pacing::Closed { .. } | Pacing::Lanes { .. } => self.closed_loop()?,
        };
        if ending != Ending::Paused {
            self.finish();
        }
        Ok(ending)
    }

    /// No request follows.
    pub(crate) fn finish(&mut self) {
        let counts = self.machine.snapshot(self.course.now);
        self.course.recorder.finish(&counts);
        let Course { recorder, .. } = &mut self.course;
        if let Some(own) = &mut recorder.over_time {
            own.finish(recorder.end, &self.machine.as_drives());
        }
        self.course.clock = self.course.clock.max(self.course.now);
    }

    /// The run ends where it stands.
    pub(crate) fn stop(&mut self) -> Result<(), EngineError> {
        self.start()?;
        self.finish();
        Ok(())
    }

    /// What outlasts the leg.
    pub(crate) fn end(mut self) -> Course {
        self.hand_on_rows();
        self.course
    }

    /// The first leg begins: counts do, and a closed loop has its requests in flight.
    fn start(&mut self) -> Result<(), EngineError> {
        if self.course.has_begun {
            return Ok(());
        }
        self.course.has_begun = true;
        self.machine.reset(Nanos::ZERO);
        let queue_depth = match (&self.workload.pacing, &self.workload.lanes) {
            (Pacing::Open, _) => 0,
            (Pacing::Closed { queue_depth }, _) => *queue_depth,
            (Pacing::Lanes { .. }, None) => 1,
            (Pacing::Lanes { .. }, Some(lanes)) => {
                self.course.fleet = Some(Fleet::new(lanes.anew()));
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
        let clock = self.course.clock;
        self.machine.advance(clock, &mut self.course.completions);
        Ok(self.machine.strike(clock, strike)?)
    }

    /// Between two legs: hands the machine a request that does not belong to the workload. The next leg ends when it has completed.
    pub(crate) fn submit(&mut self, command: Command) -> Result<(), EngineError> {
        self.start()?;
        let clock = self.course.clock;
        self.machine.advance(clock, &mut self.course.completions);
        let tag = self.course.own_tag();
        self.machine.submit(clock, command, Tag(tag));
        Ok(())
    }

    #[inline]
    fn next_request(&mut self) -> Result<Option<Request>, EngineError> {
        self.course.batch.next(self.workload, self.machine)
    }

    #[allow(
        clippy::inline_always,
        reason = "once for each request; what a run does not use of it costs nothing"
    )]
    #[inline(always)]
    fn issue(&mut self, at: Nanos, command: Command) -> u32 {
        let tag = self.course.tag(Some(Issued { command, at }));
        self.course.recorder.submitted(at);
        self.machine.submit(at, command, Tag(tag));
        tag
    }

    /// Records a completion and frees its tag; whether it is one of the workload's.
    #[inline]
    fn settle(&mut self, completion: &Completion) -> bool {
        let at = completion.at;
        self.course.now = at;
        if self.course.recorder.window_ends_by(at) {
            let counts = self.machine.snapshot(at);
            let Course { recorder, reached, .. } = &mut self.course;
            recorder.close_windows(at, &counts);
            if let Some(own) = &mut recorder.over_time {
                own.sample(at.max(*reached), &self.machine.as_drives());
            }
        }
        if self.course.warming && at >= self.course.warm_up {
            self.course.warming = false;
            self.course.measure_from(at, self.machine);
        }
        let Some(issued) = self.course.issued[completion.tag.0 as usize].take() else {
            self.own_completed(completion);
            return false;
        };
        self.course.free_tags.push(completion.tag.0);
        self.course.recorder.completed(&issued.command, issued.at, at, completion.outcome);
        if self.course.requests.is_some() {
            self.keep(&issued, completion);
        }
        let (state, digits) = (self.machine.condition(), self.course.recorder.digits);
        if completion.outcome == Outcome::Ok {
            self.course.recorder.by_state.record(state, digits, issued.command.op, at - issued.at);
        }
        self.course.done += 1;
        true
    }

    /// A request that does not belong to the workload has completed: somebody waits for it.
    #[cold]
    fn own_completed(&mut self, completion: &Completion) {
        self.machine.take_parts(completion.tag);
        self.course.own_completed(completion);
        self.next_look = self.course.done;
    }

    /// Keeps what is asked for of a request that has completed.
    #[inline(never)]
    fn keep(&mut self, issued: &Issued, completion: &Completion) {
        let Issued { ref command, at: since } = *issued;
        let Completion { at, tag, outcome } = *completion;
        let parts = self.machine.take_parts(tag);
        if let Some(requests) = &mut self.course.requests {
            requests.completed(&Ended { command, since, at, outcome, parts });
        }
    }

    /// Whether the drive had something to tell, which a host without redundancy can do nothing about.
    #[inline]
    fn hear(&mut self) -> bool {
        let told = self.machine.has_notice();
        while self.machine.take_notice().is_some() {}
        told
    }

    /// Whether the leg ends here; looks now and then.
    #[inline]
    fn is_stopped(&mut self) -> bool {
        self.course.done == self.next_look && self.look()
    }

    #[cold]
    #[inline(never)]
    fn look(&mut self) -> bool {
        let done = self.course.done;
        self.next_look = next_look(done, &self.goal);
        if done.is_multiple_of(BETWEEN_CLOCKS) {
            self.hand_on_rows();
            if self.machine.has_failed() || self.pulse.is_due() && self.report() == Control::Stop {
                self.ending = Ending::Stopped;
                return true;
            }
        }
        self.ending = Ending::Paused;
        done >= self.goal.requests || self.course.now >= self.goal.time || self.course.own_is_done()
    }

    /// Rows of the log that are many enough leave.
    fn hand_on_rows(&mut self) {
        if let (Some(requests), Some(rows)) = (&mut self.course.requests, &mut self.rows) {
            requests.hand_on(rows);
        }
    }

    #[cold]
    fn report(&mut self) -> Control {
        let by_time =
            self.workload.duration.map(|span| self.course.now.as_secs_f64() / span.as_secs_f64().max(1e-9));
        let by_count = self.workload.requests.map(|total| self.course.done as f64 / total.max(1) as f64);
        let fraction = self.workload.source.progress().or(by_count).or(by_time).map(|f| f.clamp(0.0, 1.0));
        (self.progress)(&Progress {
            phase: if self.course.warming { Phase::WarmUp } else { Phase::Run },
            fraction,
            requests: self.course.done,
            simulated: self.course.now,
        })
    }

    /// Runs the workload without time: every command is done before the next. Never inlined, as [`Runner::run`].
    #[inline(never)]
    pub(crate) fn run_untimed(&mut self) -> Result<Ending, EngineError> {
        self.course.has_begun = true;
        self.machine.reset(Nanos::ZERO);
        let end = self.workload.duration.unwrap_or(Nanos::MAX);
        let mut ending = Ending::Complete;
        while let Some(request) = self.next_request()? {
            if request.at > end {
                break;
            }
            let outcome = self.machine.apply(request.command);
            self.course.recorder.counted(&request.command, outcome);
            self.course.done += 1;
            if self.is_stopped() {
                ending = Ending::Stopped;
                break;
            }
            // A drive that is worn out stays so: the study is over.
            if outcome == Outcome::ReadOnly {
                break;
            }
        }
        // Only a drive that is worn out has anything to tell, and its study is over anyway.
        self.machine.catch_up();
        self.machine.end_untimed();
        let counts = self.machine.snapshot(self.course.now);
        self.course.recorder.finish(&counts);
        Ok(ending)
    }
}
