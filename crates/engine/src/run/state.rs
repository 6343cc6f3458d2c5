//! State of a run between its legs, and the goal of a leg.

use super::IssuedCommand;
use super::job_schedule::JobSchedule;
use super::standstill::{Standstill, StandstillWatch};
use crate::batch::RequestBatch;
use crate::recorder::RunRecorder;
use crate::requests::RequestRecorder;
use crate::simulated_device::SimulatedDevice;
use outlast_device::{Completion, Outcome};
use outlast_units::Nanos;
use outlast_workload::WorkloadRequest;

/// End of a leg, by whichever comes first; the end of the workload ends it as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LegGoal {
    /// Completed requests of the workload, those of the warm-up included.
    pub requests: u64,
    /// Simulated time.
    pub time: Nanos,
}

impl LegGoal {
    /// The end of the workload.
    pub const END: Self = Self { requests: u64::MAX, time: Nanos::MAX };
}

/// A request submitted beside the workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExtraRequest {
    /// Time of submission.
    pub submitted: Nanos,
    /// Time of completion and outcome; `None` while in flight.
    pub completed: Option<(Nanos, Outcome)>,
}

/// Everything of a run that outlasts its legs.
pub(crate) struct RunState {
    pub(crate) recorder: RunRecorder,
    /// Recorder of single requests; `None` if nothing asks for them.
    pub(crate) requests: Option<Box<RequestRecorder>>,
    /// Commands in flight by tag; `None` for free tags and for requests beside the workload.
    pub(super) issued: Vec<Option<IssuedCommand>>,
    pub(super) free_tags: Vec<u32>,
    pub(super) batch: RequestBatch,
    /// Completions that have not been settled.
    pub(super) completions: Vec<Completion>,
    /// Open loop: the next request, if it has been drawn already.
    pub(super) upcoming: Option<WorkloadRequest>,
    /// Host with jobs: their schedule, once the run has begun.
    pub(super) schedule: Option<JobSchedule>,
    /// Host with jobs: time up to which sleeping jobs are to be woken when the next leg begins.
    pub(super) woken: Option<Nanos>,
    pub(super) warm_up: Nanos,
    pub(crate) warming: bool,
    /// Requests of the workload that have completed.
    pub(crate) done: u64,
    /// Time of the last completion.
    pub(super) now: Nanos,
    /// Time to which an open loop has advanced the device; may be later than the last completion.
    pub(super) reached: Nanos,
    /// Time of the host between two legs: nothing is submitted earlier.
    pub(crate) clock: Nanos,
    /// The last request beside the workload.
    pub(crate) extra: Option<ExtraRequest>,
    pub(crate) has_begun: bool,
    pub(super) standstill: StandstillWatch,
    /// Why the run ended, if time no longer passed.
    pub(crate) stood_still: Option<Standstill>,
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
            standstill: StandstillWatch::default(),
            stood_still: None,
        }
    }

    /// Resets all counts and records: measuring begins at `at`.
    pub(super) fn measure_from<M: SimulatedDevice>(&mut self, at: Nanos, device: &mut M) {
        device.reset(at);
        let counts = device.snapshot(at);
        self.recorder.restart(at, &counts);
        self.requests.iter_mut().for_each(|requests| requests.restart());
    }

    /// Drops all records of a run that ended within its warm-up.
    pub(crate) fn discard_warm_up<M: SimulatedDevice>(&mut self, device: &mut M) {
        self.measure_from(self.recorder.end, device);
    }

    /// True if a leg to `goal` has nothing to do.
    pub(crate) fn is_at(&self, goal: &LegGoal) -> bool {
        self.done >= goal.requests || self.clock >= goal.time
    }

    /// True if the device has been advanced beyond the last completion: a job thinks, or a request has arrived that never completes.
    pub(crate) fn is_beyond_last_completion(&self) -> bool {
        self.now.max(self.reached) > self.recorder.end
    }

    #[inline]
    pub(super) fn in_flight(&self) -> usize {
        self.issued.len() - self.free_tags.len()
    }

    /// Takes a free tag for a command; `issued` gives `None` for a request beside the workload, and is called where its result is kept.
    #[allow(
        clippy::inline_always,
        reason = "once for each request; what a run does not use of it costs nothing"
    )]
    #[inline(always)]
    pub(super) fn tag(&mut self, issued: impl FnOnce() -> Option<IssuedCommand>) -> u32 {
        // Free tags are used first, so there are never more than commands were in flight at once.
        if let Some(tag) = self.free_tags.pop() {
            self.issued[tag as usize] = issued();
            tag
        } else {
            self.issued.push(issued());
            (self.issued.len() - 1) as u32
        }
    }

    /// Ends a leg with `unsettled` completions, which the next leg begins with.
    #[cold]
    pub(super) fn pause(&mut self, unsettled: Vec<Completion>) {
        // The device may be ahead of the last settled completion, and time never goes back.
        let last = unsettled.last().map_or(Nanos::ZERO, |completion| completion.at);
        let arrival = self.upcoming.map_or(Nanos::ZERO, |request| request.at);
        self.clock = self.clock.max(self.now).max(last).max(arrival);
        self.completions = unsettled;
    }

    /// Records the completion of the request beside the workload.
    #[cold]
    pub(super) fn extra_completed(&mut self, completion: &Completion) {
        self.free_tags.push(completion.tag.0);
        if let Some(extra) = &mut self.extra {
            extra.completed = Some((completion.at, completion.outcome));
        }
    }

    /// True if the request beside the workload has completed.
    pub(super) fn extra_is_done(&self) -> bool {
        self.extra.is_some_and(|extra| extra.completed.is_some())
    }

    /// Takes a tag for a request beside the workload, submitted now.
    pub(super) fn extra_tag(&mut self) -> u32 {
        self.extra = Some(ExtraRequest { submitted: self.clock, completed: None });
        let tag = self.tag(|| None);
        if let Some(schedule) = &mut self.schedule {
            // The table of jobs by tag has no gaps; the job named here is never read.
            schedule.issued(0, tag);
        }
        tag
    }
}
