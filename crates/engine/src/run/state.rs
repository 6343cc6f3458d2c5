//! What of a run outlasts one of its legs, and how far a leg goes.

use super::IssuedCommand;
use super::job_schedule::JobSchedule;
use crate::batch::RequestBatch;
use crate::recorder::RunRecorder;
use crate::requests::RequestRecorder;
use crate::simulated_device::SimulatedDevice;
use outlast_device::{Completion, Outcome};
use outlast_units::Nanos;
use outlast_workload::Request;

/// How far a leg of a run goes; the end of the workload ends it, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LegGoal {
    /// Until so many requests of the workload have completed, those of the warm-up included.
    pub requests: u64,
    /// Until this simulated time.
    pub time: Nanos,
}

impl LegGoal {
    /// The end of the workload.
    pub const END: Self = Self { requests: u64::MAX, time: Nanos::MAX };
}

/// A request that does not belong to the workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExtraRequest {
    /// When it was handed to the device.
    pub submitted: Nanos,
    /// When it completed, and how.
    pub completed: Option<(Nanos, Outcome)>,
}

/// A run under way.
pub(crate) struct RunState {
    pub(crate) recorder: RunRecorder,
    /// What is kept of single requests; absent where nothing is.
    pub(crate) requests: Option<Box<RequestRecorder>>,
    pub(super) issued: Vec<Option<IssuedCommand>>,
    pub(super) free_tags: Vec<u32>,
    pub(super) batch: RequestBatch,
    /// What has completed and is not settled yet.
    pub(super) completions: Vec<Completion>,
    /// Of an open loop: the request that arrives next, where it is known.
    pub(super) upcoming: Option<Request>,
    /// Of a host with lanes: these, once the run has begun.
    pub(super) schedule: Option<JobSchedule>,
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
    pub(crate) extra: Option<ExtraRequest>,
    pub(crate) has_begun: bool,
}

impl RunState {
    pub(crate) fn new(recorder: RunRecorder, warm_up: Nanos, requests: Option<Box<RequestRecorder>>) -> Self {
        Self {
            recorder,
            requests,
            issued: Vec::new(),
            free_tags: Vec::new(),
            batch: RequestBatch::default(),
            completions: Vec::new(),
            upcoming: None,
            schedule: None,
            woken: None,
            warm_up,
            warming: warm_up > Nanos::ZERO,
            done: 0,
            now: Nanos::ZERO,
            reached: Nanos::ZERO,
            clock: Nanos::ZERO,
            extra: None,
            has_begun: false,
        }
    }

    /// Measuring begins at `at`.
    pub(super) fn measure_from<M: SimulatedDevice>(&mut self, at: Nanos, device: &mut M) {
        device.reset(at);
        let counts = device.snapshot(at);
        self.recorder.restart(at, &counts);
        self.requests.iter_mut().for_each(|requests| requests.restart());
    }

    /// The run has ended within its warm-up: nothing of it was measured.
    pub(crate) fn discard_warm_up<M: SimulatedDevice>(&mut self, device: &mut M) {
        self.measure_from(self.recorder.end, device);
    }

    /// Whether a leg to `goal` has nothing to do.
    pub(crate) fn is_at(&self, goal: &LegGoal) -> bool {
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
    pub(super) fn tag(&mut self, issued: Option<IssuedCommand>) -> u32 {
        if let Some(tag) = self.free_tags.pop() {
            self.issued[tag as usize] = issued;
            tag
        } else {
            self.issued.push(issued);
            (self.issued.len() - 1) as u32
        }
    }

    /// A leg ends here; `unsettled` has completed and is not settled.
    #[cold]
    pub(super) fn pause(&mut self, unsettled: Vec<Completion>) {
        let last = unsettled.last().map_or(Nanos::ZERO, |completion| completion.at);
        let arrival = self.upcoming.map_or(Nanos::ZERO, |request| request.at);
        self.clock = self.clock.max(self.now).max(last).max(arrival);
        self.completions = unsettled;
    }

    /// A request that does not belong to the workload has completed.
    #[cold]
    pub(super) fn extra_completed(&mut self, completion: &Completion) {
        self.free_tags.push(completion.tag.0);
        if let Some(extra) = &mut self.extra {
            extra.completed = Some((completion.at, completion.outcome));
        }
    }

    /// Whether somebody waits for a request that has completed.
    pub(super) fn extra_is_done(&self) -> bool {
        self.extra.is_some_and(|extra| extra.completed.is_some())
    }

    /// Hands a request that does not belong to the workload a tag.
    pub(super) fn extra_tag(&mut self) -> u32 {
        self.extra = Some(ExtraRequest { submitted: self.clock, completed: None });
        let tag = self.tag(None);
        if let Some(schedule) = &mut self.schedule {
            schedule.issued(0, tag);
        }
        tag
    }
}
