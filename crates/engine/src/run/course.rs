//! What of a run outlasts one of its legs, and how far a leg goes.

use super::Issued;
use super::fleet::Fleet;
use crate::batch::Batch;
use crate::machine::Machine;
use crate::recorder::Recorder;
use crate::requests::Requests;
use outlast_device::{Completion, Outcome};
use outlast_units::Nanos;
use outlast_workload::Request;

/// How far a leg of a run goes; the end of the workload ends it, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Goal {
    /// Until so many requests of the workload have completed, those of the warm-up included.
    pub requests: u64,
    /// Until this simulated time.
    pub time: Nanos,
}

impl Goal {
    /// The end of the workload.
    pub const END: Self = Self { requests: u64::MAX, time: Nanos::MAX };
}

/// A request that does not belong to the workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnRequest {
    /// When it was handed to the device.
    pub submitted: Nanos,
    /// When it completed, and how.
    pub completed: Option<(Nanos, Outcome)>,
}

/// A run under way.
pub(crate) struct Course {
    pub(crate) recorder: Recorder,
    /// What is kept of single requests; absent where nothing is.
    pub(crate) requests: Option<Box<Requests>>,
    pub(super) issued: Vec<Option<Issued>>,
    pub(super) free_tags: Vec<u32>,
    pub(super) batch: Batch,
    /// What has completed and is not settled yet.
    pub(super) completions: Vec<Completion>,
    /// Of an open loop: the request that arrives next, where it is known.
    pub(super) upcoming: Option<Request>,
    /// Of a host with lanes: these, once the run has begun.
    pub(super) fleet: Option<Fleet>,
    /// Of a host with lanes: until when they are to be woken.
    pub(super) woken: Option<Nanos>,
    pub(super) warm_up: Nanos,
    pub(crate) warming: bool,
    /// Requests of the workload that have completed.
    pub(crate) done: u64,
    /// When the last one did.
    pub(super) now: Nanos,
    /// How far an open loop has let the machine go, which may be beyond the last completion.
    pub(super) reached: Nanos,
    /// Where the host stands between two legs: nothing is asked before.
    pub(crate) clock: Nanos,
    /// The last request that does not belong to the workload.
    pub(crate) own: Option<OwnRequest>,
    pub(crate) has_begun: bool,
}

impl Course {
    pub(crate) fn new(recorder: Recorder, warm_up: Nanos, requests: Option<Box<Requests>>) -> Self {
        Self {
            recorder,
            requests,
            issued: Vec::new(),
            free_tags: Vec::new(),
            batch: Batch::default(),
            completions: Vec::new(),
            upcoming: None,
            fleet: None,
            woken: None,
            warm_up,
            warming: warm_up > Nanos::ZERO,
            done: 0,
            now: Nanos::ZERO,
            reached: Nanos::ZERO,
            clock: Nanos::ZERO,
            own: None,
            has_begun: false,
        }
    }

    /// Measuring begins at `at`.
    pub(super) fn measure_from<M: Machine>(&mut self, at: Nanos, machine: &mut M) {
        machine.reset(at);
        let counts = machine.snapshot(at);
        self.recorder.restart(at, &counts);
        self.requests.iter_mut().for_each(|requests| requests.restart());
    }

    /// The run has ended within its warm-up: nothing of it was measured.
    pub(crate) fn forget<M: Machine>(&mut self, machine: &mut M) {
        self.measure_from(self.recorder.end, machine);
    }

    /// Whether a leg to `goal` has nothing to do.
    pub(crate) fn is_at(&self, goal: &Goal) -> bool {
        self.done >= goal.requests || self.clock >= goal.time
    }

    #[inline]
    pub(super) fn in_flight(&self) -> usize {
        self.issued.len() - self.free_tags.len()
    }

    /// A tag for what is issued now; nothing, where it does not belong to the workload.
    #[allow(
        clippy::inline_always,
        reason = "once for each request; what a run does not use of it costs nothing"
    )]
    #[inline(always)]
    pub(super) fn tag(&mut self, issued: Option<Issued>) -> u32 {
        if let Some(tag) = self.free_tags.pop() {
            self.issued[tag as usize] = issued;
            tag
        } else {
            self.issued.push(issued);
            (self.issued.len() - 1) as u32
        }
    }

    /// A leg ends here; `rest` has completed and is not settled.
    #[cold]
    pub(super) fn pause(&mut self, rest: Vec<Completion>) {
        let last = rest.last().map_or(Nanos::ZERO, |completion| completion.at);
        let arrival = self.upcoming.map_or(Nanos::ZERO, |request| request.at);
        self.clock = self.clock.max(self.now).max(last).max(arrival);
        self.completions = rest;
    }

    /// A request that does not belong to the workload has completed.
    #[cold]
    pub(super) fn own_completed(&mut self, completion: &Completion) {
        self.free_tags.push(completion.tag.0);
        if let Some(own) = &mut self.own {
            own.completed = Some((completion.at, completion.outcome));
        }
    }

    /// Whether somebody waits for a request that has completed.
    pub(super) fn own_is_done(&self) -> bool {
        self.own.is_some_and(|own| own.completed.is_some())
    }

    /// Hands a request that does not belong to the workload a tag.
    pub(super) fn own_tag(&mut self) -> u32 {
        self.own = Some(OwnRequest { submitted: self.clock, completed: None });
        let tag = self.tag(None);
        if let Some(fleet) = &mut self.fleet {
            fleet.issued(0, tag);
        }
        tag
    }
}
