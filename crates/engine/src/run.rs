//! The run loop: requests into the drive, completions out of it, simulated time from one event to the next.

use crate::batch::Batch;
use crate::clock::Pulse;
use crate::error::EngineError;
use crate::machine::Machine;
use crate::progress::{Control, OnProgress, Phase, Progress};
use crate::recorder::Recorder;
use outlast_device::{Command, Completion, Outcome, Tag};
use outlast_units::Nanos;
use outlast_workload::{Ask, FioLanes, Pacing, Request, Workload};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Completions between two looks at the clock.
const BETWEEN_CLOCKS: u64 = 4096;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The workload ended and everything it asked for completed.
    Complete,
    /// The caller stopped it.
    Stopped,
}

/// The lanes of a run and when each is to be asked.
struct Fleet {
    lanes: FioLanes,
    ready: VecDeque<u32>,
    /// When each lane that sleeps wakes up, and the same in order; what was changed since stays in the heap until it comes up.
    wakes: Vec<Option<Nanos>>,
    asleep: BinaryHeap<Reverse<(Nanos, u32)>>,
    /// By tag.
    lane_of: Vec<u32>,
}

impl Fleet {
    fn new(lanes: FioLanes) -> Self {
        let count = lanes.infos().len() as u32;
        Self {
            lanes,
            ready: (0..count).collect(),
            wakes: vec![None; count as usize],
            asleep: BinaryHeap::new(),
            lane_of: Vec::new(),
        }
    }

    fn issued(&mut self, lane: u32, tag: u32) {
        if tag as usize == self.lane_of.len() {
            self.lane_of.push(lane);
        } else {
            self.lane_of[tag as usize] = lane;
        }
    }

    fn sleep(&mut self, lane: u32, at: Nanos) {
        if self.wakes[lane as usize].replace(at) != Some(at) {
            self.asleep.push(Reverse((at, lane)));
        }
    }

    /// When the next lane wakes up.
    fn next_wake(&mut self) -> Option<Nanos> {
        while let Some(&Reverse((at, lane))) = self.asleep.peek() {
            if self.wakes[lane as usize] == Some(at) {
                return Some(at);
            }
            self.asleep.pop();
        }
        None
    }

    /// Makes ready the lanes that wake up by `now`.
    fn wake(&mut self, now: Nanos) {
        while self.next_wake().is_some_and(|at| at <= now) {
            let Some(Reverse((_, lane))) = self.asleep.pop() else { return };
            self.wakes[lane as usize] = None;
            self.ready.push_back(lane);
        }
    }
}

/// A command in flight, by tag.
#[derive(Clone, Copy, Debug)]
struct Issued {
    command: Command,
    at: Nanos,
}

pub(crate) struct Runner<'a, 'b, M> {
    machine: &'a mut M,
    workload: &'a mut Workload,
    pub(crate) recorder: Recorder,
    issued: Vec<Option<Issued>>,
    free_tags: Vec<u32>,
    batch: Batch,
    completions: Vec<Completion>,
    warm_up: Nanos,
    pub(crate) warming: bool,
    done: u64,
    now: Nanos,
    progress: OnProgress<'b>,
    pulse: Pulse,
}

impl<'a, 'b, M: Machine> Runner<'a, 'b, M> {
    pub(crate) fn new(
        machine: &'a mut M,
        workload: &'a mut Workload,
        recorder: Recorder,
        warm_up: Nanos,
        progress: OnProgress<'b>,
    ) -> Self {
        Self {
            machine,
            workload,
            recorder,
            issued: Vec::new(),
            free_tags: Vec::new(),
            batch: Batch::default(),
            completions: Vec::new(),
            warm_up,
            warming: warm_up > Nanos::ZERO,
            done: 0,
            now: Nanos::ZERO,
            progress,
            pulse: Pulse::new(),
        }
    }

    /// Runs the workload to its end. Never inlined: instructions are counted by it.
    #[inline(never)]
    pub(crate) fn run(&mut self) -> Result<Ending, EngineError> {
        self.machine.reset(Nanos::ZERO);
        let ending = match self.workload.pacing {
            Pacing::Open => self.open_loop()?,
            Pacing::Closed { queue_depth } => self.closed_loop(queue_depth)?,
            Pacing::Lanes { .. } => match &self.workload.lanes {
                Some(lanes) => self.lanes_loop(lanes.anew())?,
                None => self.closed_loop(1)?,
            },
        };
        let counts = self.machine.snapshot(self.now);
        self.recorder.finish(&counts);
        Ok(ending)
    }

    fn in_flight(&self) -> usize {
        self.issued.len() - self.free_tags.len()
    }

    #[inline]
    fn next_request(&mut self) -> Result<Option<Request>, EngineError> {
        self.batch.next(self.workload, self.machine)
    }

    #[inline]
    fn issue(&mut self, at: Nanos, command: Command) -> u32 {
        let issued = Some(Issued { command, at });
        let tag = if let Some(tag) = self.free_tags.pop() {
            self.issued[tag as usize] = issued;
            tag
        } else {
            self.issued.push(issued);
            (self.issued.len() - 1) as u32
        };
        self.recorder.submitted(at);
        self.machine.submit(at, command, Tag(tag));
        tag
    }

    /// Records a completion and frees its tag.
    #[inline]
    fn settle(&mut self, completion: &Completion) {
        let at = completion.at;
        self.now = at;
        if self.recorder.window_ends_by(at) {
            let counts = self.machine.snapshot(at);
            self.recorder.close_windows(at, &counts);
        }
        if self.warming && at >= self.warm_up {
            self.warming = false;
            self.machine.reset(at);
            let counts = self.machine.snapshot(at);
            self.recorder.restart(at, &counts);
        }
        let issued = self.issued[completion.tag.0 as usize].take().expect("a completion has a command");
        self.free_tags.push(completion.tag.0);
        self.recorder.completed(&issued.command, issued.at, at, completion.outcome);
        let (state, digits) = (self.machine.condition(), self.recorder.digits);
        self.recorder.by_state.record(state, digits, issued.command.op, at - issued.at);
        self.done += 1;
    }

    /// Whether the drive had something to tell, which a host without redundancy can do nothing about.
    #[inline]
    fn hear(&mut self) -> bool {
        let told = self.machine.has_notice();
        while self.machine.take_notice().is_some() {}
        told
    }

    /// Whether the caller wants to stop; asks now and then.
    #[inline]
    fn is_stopped(&mut self) -> bool {
        if !self.done.is_multiple_of(BETWEEN_CLOCKS) {
            return false;
        }
        self.machine.has_failed() || self.pulse.is_due() && self.report() == Control::Stop
    }

    #[cold]
    fn report(&mut self) -> Control {
        let by_time =
            self.workload.duration.map(|span| self.now.as_secs_f64() / span.as_secs_f64().max(1e-9));
        let by_count = self.workload.requests.map(|total| self.done as f64 / total.max(1) as f64);
        let fraction = self.workload.source.progress().or(by_count).or(by_time).map(|f| f.clamp(0.0, 1.0));
        (self.progress)(&Progress {
            phase: if self.warming { Phase::WarmUp } else { Phase::Run },
            fraction,
            requests: self.done,
            simulated: self.now,
        })
    }

    fn closed_loop(&mut self, queue_depth: u32) -> Result<Ending, EngineError> {
        let end = self.workload.duration.unwrap_or(Nanos::MAX);
        let latest = self.machine.latest().saturating_sub(Nanos::secs(86_400));
        for _ in 0..queue_depth {
            let Some(request) = self.next_request()? else { break };
            self.issue(Nanos::ZERO, request.command);
        }
        let mut completions = std::mem::take(&mut self.completions);
        while self.in_flight() != 0 {
            if self.now > latest {
                return Err(EngineError::BeyondHorizon { at: self.now, latest });
            }
            self.machine.advance_to_completion(Nanos::MAX, &mut completions);
            let told = self.hear();
            assert!(told || !completions.is_empty(), "commands are in flight and the drive is idle");
            for completion in completions.drain(..) {
                self.settle(&completion);
                if completion.at < end
                    && self.machine.is_up()
                    && let Some(request) = self.next_request()?
                {
                    self.issue(completion.at, request.command);
                }
                if self.is_stopped() {
                    return Ok(Ending::Stopped);
                }
            }
        }
        Ok(Ending::Complete)
    }

    fn open_loop(&mut self) -> Result<Ending, EngineError> {
        let mut completions = std::mem::take(&mut self.completions);
        // A day is kept for what is in flight at the end.
        let latest = self.machine.latest().saturating_sub(Nanos::secs(86_400));
        while let Some(request) = self.next_request()? {
            if request.at > latest {
                return Err(EngineError::BeyondHorizon { at: request.at, latest });
            }
            self.machine.advance(request.at, &mut completions);
            for completion in completions.drain(..) {
                self.settle(&completion);
                if self.is_stopped() {
                    return Ok(Ending::Stopped);
                }
            }
            if !self.machine.is_up() {
                break;
            }
            self.issue(request.at, request.command);
        }
        while self.in_flight() != 0 {
            if self.now > latest {
                return Err(EngineError::BeyondHorizon { at: self.now, latest });
            }
            self.machine.advance_to_completion(Nanos::MAX, &mut completions);
            let told = self.hear();
            assert!(told || !completions.is_empty(), "commands are in flight and the drive is idle");
            for completion in completions.drain(..) {
                self.settle(&completion);
                if self.is_stopped() {
                    return Ok(Ending::Stopped);
                }
            }
        }
        Ok(Ending::Complete)
    }

    /// Runs lanes side by side: each is asked what it does whenever one of its commands has completed or its time has come.
    fn lanes_loop(&mut self, lanes: FioLanes) -> Result<Ending, EngineError> {
        let mut fleet = Fleet::new(lanes);
        let mut completions = std::mem::take(&mut self.completions);
        let latest = self.machine.latest().saturating_sub(Nanos::secs(86_400));
        loop {
            self.serve(&mut fleet);
            let wake = fleet.next_wake();
            if self.in_flight() == 0 && wake.is_none() || !self.machine.is_up() && self.in_flight() == 0 {
                return Ok(Ending::Complete);
            }
            let limit = wake.unwrap_or(Nanos::MAX);
            if wake.is_some() && limit > latest {
                return Err(EngineError::BeyondHorizon { at: limit, latest });
            }
            let reached = self.machine.advance_to_completion(limit, &mut completions);
            let idle = completions.is_empty() && wake.is_none() && !self.machine.has_notice();
            assert!(!idle, "commands are in flight and the drive is idle");
            for completion in completions.drain(..) {
                self.settle_lane(&mut fleet, &completion);
                if self.is_stopped() {
                    return Ok(Ending::Stopped);
                }
            }
            if reached >= limit {
                self.now = self.now.max(limit);
                fleet.wake(limit);
            }
        }
    }

    /// Records a completion with its lane, which is to be asked next.
    #[inline]
    fn settle_lane(&mut self, fleet: &mut Fleet, completion: &Completion) {
        let tag = completion.tag.0 as usize;
        let issued = self.issued[tag].expect("a completion has a command");
        let lane = fleet.lane_of[tag];
        // Windows end, and the warm-up may, before the completion counts.
        self.settle(completion);
        let noted = fleet.lanes.completed(lane, completion.at, &issued.command);
        let (at, outcome) = (completion.at, completion.outcome);
        self.recorder.jobs.completed(lane, &issued.command, issued.at, at, outcome, noted);
        fleet.ready.push_back(lane);
    }

    /// Asks every lane that is ready until none is.
    fn serve(&mut self, fleet: &mut Fleet) {
        let now = self.now;
        let up = self.machine.is_up();
        while let Some(&lane) = fleet.ready.front() {
            if !up {
                fleet.ready.clear();
                return;
            }
            let ask = fleet.lanes.ask(lane, now);
            if fleet.lanes.has_begun(lane) {
                self.recorder.jobs.begun(lane, now);
            }
            match ask {
                Ask::Issue(command) => {
                    let tag = self.issue(now, command);
                    fleet.issued(lane, tag);
                    self.recorder.jobs.issued(lane, command.op);
                    continue;
                }
                Ask::Wait => {}
                Ask::Until(at) => fleet.sleep(lane, at),
                Ask::Ended => {
                    self.recorder.jobs.ended(lane, now);
                    fleet.wakes[lane as usize] = None;
                    let woken = fleet.lanes.woken();
                    fleet.ready.extend(woken);
                }
            }
            fleet.ready.pop_front();
        }
    }

    /// Runs the workload without time: every command is done before the next. Never inlined, as [`Runner::run`].
    #[inline(never)]
    pub(crate) fn run_untimed(&mut self) -> Result<Ending, EngineError> {
        self.machine.reset(Nanos::ZERO);
        let end = self.workload.duration.unwrap_or(Nanos::MAX);
        let mut ending = Ending::Complete;
        while let Some(request) = self.next_request()? {
            if request.at > end {
                break;
            }
            let outcome = self.machine.apply(request.command);
            self.recorder.counted(&request.command, outcome);
            self.done += 1;
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
        let counts = self.machine.snapshot(self.now);
        self.recorder.finish(&counts);
        Ok(ending)
    }
}
