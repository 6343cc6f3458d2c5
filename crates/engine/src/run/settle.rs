//! Completions of requests: what is recorded of each.

use super::{IssuedCommand, JobSchedule, LegRunner, RunState};
use crate::drives::AsDriveSet;
use crate::requests::CompletedRequest;
use crate::simulated_device::SimulatedDevice;
use outlast_device::{Completion, LatencyCause, Op, Outcome};
use outlast_units::Nanos;

impl<M: SimulatedDevice + AsDriveSet> LegRunner<'_, '_, '_, M> {
    /// Records a completion and frees its tag; true if it belongs to the workload.
    #[allow(clippy::inline_always, reason = "once for each request")]
    #[inline(always)]
    pub(super) fn settle(&mut self, completion: &Completion) -> bool {
        let at = completion.at;
        self.state.now = at;
        if self.state.recorder.window_ends_by(at) {
            self.close_windows(at);
        }
        if self.state.warming {
            self.end_warm_up(at);
        }
        let RunState { issued, free_tags, recorder, requests, .. } = &mut self.state;
        let slot = &mut issued[completion.tag.0 as usize];
        let Some(own) = slot else {
            self.extra_completed(completion);
            return false;
        };
        if own.command.op > Op::LbaStatus || requests.is_some() {
            self.settle_apart(completion);
            return true;
        }
        let (op, since) = (own.command.op, own.at);
        recorder.completed(&own.command, since, at, completion.outcome);
        *slot = None;
        free_tags.push(completion.tag.0);
        self.settled(op, since, completion);
        true
    }

    /// Keeps a completion of a job that is not running on the core that jobs share; false if its job sees it now.
    #[inline]
    pub(super) fn is_unseen(&self, schedule: &mut JobSchedule, completion: &Completion) -> bool {
        let tag = completion.tag.0 as usize;
        schedule.shares_core()
            && self.state.issued[tag].is_some()
            && schedule.hold(schedule.job_of[tag], completion)
    }

    /// [`LegRunner::settle`] of a command to a zone, or where requests are recorded one by one.
    #[inline(never)]
    fn settle_apart(&mut self, completion: &Completion) {
        let Some(mut issued) = self.state.issued[completion.tag.0 as usize].take() else { return };
        self.state.free_tags.push(completion.tag.0);
        if issued.command.op > Op::LbaStatus && self.settle_in_zone(&mut issued, completion) {
            return;
        }
        self.state.recorder.completed(&issued.command, issued.at, completion.at, completion.outcome);
        if self.state.requests.is_some() {
            self.record_request(&issued, completion);
        }
        self.settled(issued.command.op, issued.at, completion);
    }

    /// A command of kind `op`, submitted at `since`, has been recorded.
    #[allow(clippy::inline_always, reason = "as LegRunner::settle")]
    #[inline(always)]
    fn settled(&mut self, op: Op, since: Nanos, completion: &Completion) {
        let (condition, digits) = (self.device.condition(), self.state.recorder.digits);
        if completion.outcome == Outcome::Ok {
            self.state.recorder.by_state.record(condition, digits, op, completion.at - since);
        }
        self.state.done += 1;
    }

    /// Closes the windows that end before `at`.
    #[cold]
    #[inline(never)]
    fn close_windows(&mut self, at: Nanos) {
        let counts = self.device.snapshot(at);
        let RunState { recorder, reached, .. } = &mut self.state;
        recorder.close_windows(at, &counts);
        if let Some(over_time) = &mut recorder.over_time {
            over_time.sample(at.max(*reached), &self.device.as_drives());
        }
    }

    /// Ends the warm-up, if a completion at `at` does: it is itself the first to be measured.
    #[inline(never)]
    fn end_warm_up(&mut self, at: Nanos) {
        if at >= self.state.warm_up {
            self.state.warming = false;
            self.state.measure_from(at, self.device);
        }
    }

    /// Records the completion of a request beside the workload, and has the leg end at the next check.
    #[cold]
    fn extra_completed(&mut self, completion: &Completion) {
        self.device.take_parts(completion.tag);
        self.state.extra_completed(completion);
        self.next_check = self.state.done;
    }

    /// Records a completed request by itself: causes, log, queue.
    #[inline(never)]
    fn record_request(&mut self, issued: &IssuedCommand, completion: &Completion) {
        let IssuedCommand { ref command, at: since } = *issued;
        let Completion { at, tag, outcome, .. } = *completion;
        let mut parts = self.device.take_parts(tag);
        if let Some(parts) = parts.as_mut().filter(|_| self.shares_core()) {
            // What is left is the time of the host until the job that polls had its turn.
            parts[LatencyCause::Link] += (at - since).0 - parts.total();
        }
        if let Some(requests) = &mut self.state.requests {
            requests.completed(&CompletedRequest { command, since, at, outcome, parts });
        }
    }
}
