//! All jobs of a file: which of them have begun, and what they do.

use super::host::{Course, Thread};
use super::job::ExitWhat;
use crate::lanes::{Ask, LaneInfo, Noted};
use outlast_device::{Command, QueueId};
use outlast_units::Nanos;
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
