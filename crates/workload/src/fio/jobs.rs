//! All jobs of a file: which of them have begun, and what they do.

use super::host::{Course, Thread};
use super::job::ExitWhat;
use crate::lanes::{Ask, LaneInfo, Noted};
use crate::{Request, Source, WorkloadError};
use outlast_device::{Command, QueueId};
use outlast_units::Nanos;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;

/// One job or clone of a job.
#[derive(Clone, Debug)]
pub(super) struct Lane {
    pub(super) info: Arc<LaneInfo>,
    pub(super) course: Arc<Course>,
    /// Nanoseconds after which it may begin.
    pub(super) delay: Nanos,
    pub(super) stonewall: bool,
    /// Names of jobs that must have ended.
    pub(super) wait_for: Option<String>,
    pub(super) exit_what: ExitWhat,
}

#[derive(Debug)]
enum State {
    NotBegun,
    Running(Box<Thread>),
    Ended,
}

/// Jobs that run side by side, each a lane: asked what they do at a time, and told what has completed.
///
/// **Call order.** `ask` of every lane at time zero; then of a lane whose command has completed (`completed` first), whose time has come,
/// or that is among the [`FioLanes::woken`] after another has ended. Time never runs backwards.
#[derive(Debug)]
pub struct FioLanes {
    lanes: Arc<[Lane]>,
    states: Vec<State>,
    exit_all: bool,
    /// Terminated before they began.
    dropped: Vec<bool>,
    running: usize,
    first_waiting: usize,
    woken: Vec<u32>,
}

impl FioLanes {
    pub(super) fn new(lanes: Arc<[Lane]>, exit_all: bool) -> Self {
        let count = lanes.len();
        Self {
            lanes,
            states: (0..count).map(|_| State::NotBegun).collect(),
            exit_all,
            dropped: vec![false; count],
            running: 0,
            first_waiting: 0,
            woken: Vec::new(),
        }
    }

    /// The same jobs, not begun.
    #[must_use]
    pub fn anew(&self) -> Self {
        Self::new(self.lanes.clone(), self.exit_all)
    }

    /// What is known of each lane.
    pub fn infos(&self) -> impl ExactSizeIterator<Item = &LaneInfo> {
        self.lanes.iter().map(|lane| &*lane.info)
    }

    /// What `lane` does at `now`. Its commands come through the submission queue of its number modulo 256.
    pub fn ask(&mut self, lane: u32, now: Nanos) -> Ask {
        let index = lane as usize;
        if matches!(self.states[index], State::NotBegun) {
            self.begin_those_due(now);
        }
        match &mut self.states[index] {
            State::Running(thread) => match thread.ask(now) {
                Ask::Issue(command) => Ask::Issue(Command { queue: QueueId(lane as u8), ..command }),
                Ask::Ended => {
                    self.end(index, now);
                    Ask::Ended
                }
                ask @ (Ask::Wait | Ask::Until(_)) => ask,
            },
            State::Ended => Ask::Ended,
            State::NotBegun if self.dropped[index] => {
                self.running += 1;
                self.end(index, now);
                Ask::Ended
            }
            State::NotBegun if now < self.lanes[index].delay => Ask::Until(self.lanes[index].delay),
            State::NotBegun => Ask::Wait,
        }
    }

    /// A command of `lane` has completed.
    #[inline]
    pub fn completed(&mut self, lane: u32, now: Nanos, command: &Command) -> Noted {
        match &mut self.states[lane as usize] {
            State::Running(thread) => thread.completed(now, command),
            State::NotBegun | State::Ended => Noted::Passed,
        }
    }

    /// Lanes to be asked since the last call, because another has ended.
    pub fn woken(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.woken)
    }

    /// Whether `lane` has begun.
    pub fn has_begun(&self, lane: u32) -> bool {
        !matches!(self.states[lane as usize], State::NotBegun)
    }

    /// Share of all work done.
    pub fn progress(&self, now: Nanos) -> f64 {
        let sum: f64 = self
            .states
            .iter()
            .map(|state| match state {
                State::NotBegun => 0.0,
                State::Running(thread) => thread.progress(now),
                State::Ended => 1.0,
            })
            .sum();
        sum / self.states.len().max(1) as f64
    }

    /// Begins what may begin, in the order of the file, as fio's `run_threads` does.
    fn begin_those_due(&mut self, now: Nanos) {
        for index in self.first_waiting..self.lanes.len() {
            if !matches!(self.states[index], State::NotBegun) || self.dropped[index] {
                if index == self.first_waiting {
                    self.first_waiting += 1;
                }
                continue;
            }
            let lane = &self.lanes[index];
            if now < lane.delay {
                continue;
            }
            if lane.stonewall && self.running > 0 {
                break;
            }
            if lane.wait_for.as_ref().is_some_and(|name| self.has_unended(name, &lane.info.name)) {
                continue;
            }
            self.states[index] = State::Running(Box::new(Thread::new(lane.course.clone(), now)));
            self.running += 1;
        }
    }

    fn has_unended(&self, name: &str, own: &str) -> bool {
        name != own
            && self
                .lanes
                .iter()
                .zip(&self.states)
                .any(|(lane, state)| lane.info.name == name && !matches!(state, State::Ended))
    }

    fn end(&mut self, index: usize, now: Nanos) {
        self.states[index] = State::Ended;
        self.running -= 1;
        if self.exit_all {
            self.terminate(index);
        }
        let unbegun: Vec<usize> = (self.first_waiting..self.lanes.len())
            .filter(|&other| matches!(self.states[other], State::NotBegun))
            .collect();
        self.begin_those_due(now);
        let due = |other: &usize| self.dropped[*other] || !matches!(self.states[*other], State::NotBegun);
        self.woken.extend(unbegun.iter().filter(|other| due(other)).map(|&other| other as u32));
    }

    /// `exitall`: the others end as soon as they have nothing in flight.
    fn terminate(&mut self, index: usize) {
        let (what, group) = (self.lanes[index].exit_what, self.lanes[index].info.group);
        for other in 0..self.lanes.len() {
            if what == ExitWhat::Group && self.lanes[other].info.group != group {
                continue;
            }
            match &mut self.states[other] {
                State::Running(thread) => {
                    if !std::mem::replace(&mut thread.terminate, true) {
                        self.woken.push(other as u32);
                    }
                }
                State::NotBegun => self.dropped[other] |= what != ExitWhat::Running,
                State::Ended => {}
            }
        }
    }
}

/// What a request takes where there is no time: jobs beside each other then come to their turns in proportion to their depths and rates.
const NOMINAL: Nanos = Nanos::micros(100);

/// The jobs on a device that takes the same time for every request.
pub(super) struct Paced {
    lanes: FioLanes,
    latency: Nanos,
    /// Completions in order, and lanes that sleep.
    flying: VecDeque<(Nanos, u32, Command)>,
    asleep: BinaryHeap<Reverse<(Nanos, u32)>>,
    ready: VecDeque<u32>,
    now: Nanos,
    /// When each lane began and ended.
    pub(super) spans: Vec<(Option<Nanos>, Option<Nanos>)>,
}

impl Paced {
    pub(super) fn new(lanes: FioLanes, latency: Nanos) -> Self {
        let count = lanes.lanes.len();
        Self {
            lanes,
            latency,
            flying: VecDeque::new(),
            asleep: BinaryHeap::new(),
            ready: (0..count as u32).collect(),
            now: Nanos::ZERO,
            spans: vec![(None, None); count],
        }
    }

    /// When, by which lane, and what comes next.
    pub(super) fn next(&mut self) -> Option<(Nanos, u32, Command)> {
        loop {
            while let Some(&lane) = self.ready.front() {
                let ask = self.lanes.ask(lane, self.now);
                let span = &mut self.spans[lane as usize];
                if span.0.is_none() && self.lanes.has_begun(lane) {
                    span.0 = Some(self.now);
                }
                match ask {
                    Ask::Issue(command) => {
                        self.flying.push_back((Nanos(self.now.0 + self.latency.0), lane, command));
                        return Some((self.now, lane, command));
                    }
                    Ask::Wait => {}
                    Ask::Until(at) => self.asleep.push(Reverse((at, lane))),
                    Ask::Ended => {
                        span.1.get_or_insert(self.now);
                        let woken = self.lanes.woken();
                        self.ready.extend(woken);
                    }
                }
                self.ready.pop_front();
            }
            let asleep = self.asleep.peek().map(|&Reverse((at, _))| at);
            match self.flying.front().map(|&(at, _, _)| at) {
                Some(at) if asleep.is_none_or(|wake| at <= wake) => {
                    let (at, lane, command) = self.flying.pop_front()?;
                    self.now = at;
                    self.lanes.completed(lane, at, &command);
                    self.ready.push_back(lane);
                }
                _ => {
                    let Reverse((at, lane)) = self.asleep.pop()?;
                    self.now = self.now.max(at);
                    self.ready.push_back(lane);
                }
            }
        }
    }
}

/// The requests of the jobs in the order in which they would come if each took [`NOMINAL`]: for runs and preconditioning without time.
pub(super) struct Untimed(Paced);

impl Untimed {
    pub(super) fn new(lanes: FioLanes) -> Self {
        Self(Paced::new(lanes, NOMINAL))
    }
}

impl Source for Untimed {
    fn fill(&mut self, out: &mut Vec<Request>, max: usize) -> Result<usize, WorkloadError> {
        for count in 0..max {
            let Some((_, _, command)) = self.0.next() else { return Ok(count) };
            out.push(Request { at: Nanos::ZERO, command });
        }
        Ok(max)
    }

    fn rewind(&mut self) -> Result<(), WorkloadError> {
        self.0 = Paced::new(self.0.lanes.anew(), NOMINAL);
        Ok(())
    }

    fn progress(&self) -> Option<f64> {
        Some(self.0.lanes.progress(self.0.now))
    }
}
