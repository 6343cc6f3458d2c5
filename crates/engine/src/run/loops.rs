//! The loops of a run: closed, open, and without time.
//!
//! Each begins with the completions that the previous leg left unsettled, of which the first has none.

use super::{LegRunner, RunEnding};
use crate::drives::AsDriveSet;
use crate::error::EngineError;
use crate::simulated_device::{DRAIN_TIME, SimulatedDevice};
use outlast_device::{Completion, Outcome};
use outlast_units::Nanos;
use outlast_workload::WorkloadRequest;

impl<M: SimulatedDevice + AsDriveSet> LegRunner<'_, '_, '_, M> {
    /// The latest time at which the run may submit a request.
    pub(super) fn latest_request(&self) -> Nanos {
        self.device.latest().saturating_sub(DRAIN_TIME)
    }

    /// Runs a closed loop: each completion before the end submits the next request.
    pub(super) fn closed_loop(&mut self) -> Result<RunEnding, EngineError> {
        let end = self.workload.duration.unwrap_or(Nanos::MAX);
        let latest = self.latest_request();
        let mut completions = std::mem::take(&mut self.state.completions);
        loop {
            let mut settled = 0;
            while let Some(completion) = completions.get(settled) {
                settled += 1;
                if self.settle(completion)
                    && completion.at < end
                    && self.device.is_up()
                    && let Some(&WorkloadRequest { command, .. }) = self.next_request()?
                {
                    self.issue(completion.at, command);
                }
                if self.is_stopped() {
                    self.state.pause(completions.split_off(settled));
                    return Ok(self.ending);
                }
            }
            completions.clear();
            if self.state.in_flight() == 0 {
                return Ok(RunEnding::Complete);
            }
            if self.state.now > latest {
                return Err(EngineError::BeyondHorizon { at: self.state.now, latest });
            }
            if !self.await_completion(&mut completions)? {
                self.state.pause(completions);
                return Ok(self.ending);
            }
        }
    }

    /// Runs an open loop: requests arrive at their own times.
    pub(super) fn open_loop(&mut self) -> Result<RunEnding, EngineError> {
        let latest = self.latest_request();
        let bound = latest.min(self.goal.time);
        let mut completions = std::mem::take(&mut self.state.completions);
        let mut upcoming = match self.state.upcoming.take() {
            None => self.next_request()?.copied(),
            drawn => drawn,
        };
        while let Some(request) = upcoming {
            if request.at > bound {
                if request.at > latest {
                    return Err(EngineError::BeyondHorizon { at: request.at, latest });
                }
                self.state.upcoming = upcoming;
                return Ok(self.wait_until(bound, completions));
            }
            self.device.advance(request.at, &mut completions);
            self.state.reached = request.at;
            let mut settled = 0;
            while let Some(&completion) = completions.get(settled) {
                settled += 1;
                self.settle(&completion);
                if self.is_stopped() {
                    self.state.upcoming = upcoming;
                    self.state.pause(completions.split_off(settled));
                    return Ok(self.ending);
                }
            }
            completions.clear();
            if !self.device.is_up() {
                break;
            }
            self.issue(request.at, request.command);
            upcoming = self.next_request()?.copied();
        }
        self.drain_open_loop(completions, latest)
    }

    /// Advances an open loop without further arrivals until nothing is in flight.
    fn drain_open_loop(
        &mut self,
        mut completions: Vec<Completion>,
        latest: Nanos,
    ) -> Result<RunEnding, EngineError> {
        loop {
            let mut settled = 0;
            while let Some(&completion) = completions.get(settled) {
                settled += 1;
                self.settle(&completion);
                if self.is_stopped() {
                    self.state.pause(completions.split_off(settled));
                    return Ok(self.ending);
                }
            }
            completions.clear();
            if self.state.in_flight() == 0 {
                return Ok(RunEnding::Complete);
            }
            if self.state.now > latest {
                return Err(EngineError::BeyondHorizon { at: self.state.now, latest });
            }
            if !self.await_completion(&mut completions)? {
                self.state.pause(completions);
                return Ok(self.ending);
            }
        }
    }

    /// Advances an open loop to the end of the leg, `until`, before which no request arrives.
    #[cold]
    fn wait_until(&mut self, until: Nanos, mut completions: Vec<Completion>) -> RunEnding {
        // An array must be advanced to each request at once, or its members would act in another order.
        if M::MAY_WAIT {
            self.device.advance(until, &mut completions);
        }
        let due = completions.partition_point(|completion| completion.at <= until);
        for completion in completions.drain(..due) {
            self.settle(&completion);
        }
        self.state.completions = completions;
        self.state.clock = self.state.clock.max(until);
        RunEnding::Paused
    }

    /// Runs the workload without time: every command ends before the next begins. Never inlined, as [`LegRunner::run`].
    #[inline(never)]
    pub(crate) fn run_untimed(&mut self) -> Result<RunEnding, EngineError> {
        self.state.has_begun = true;
        self.device.reset(Nanos::ZERO);
        let end = self.workload.duration.unwrap_or(Nanos::MAX);
        let mut ending = RunEnding::Complete;
        while let Some(&request) = self.next_request()? {
            if request.at > end {
                break;
            }
            let outcome = self.device.apply(&request.command);
            self.state.recorder.count(&request.command, outcome);
            self.state.done += 1;
            if self.is_stopped() {
                ending = RunEnding::Stopped;
                break;
            }
            // A worn-out drive takes no more writes: the study is over.
            if outcome == Outcome::ReadOnly {
                break;
            }
        }
        // The outcome is ignored: only a worn-out drive has one, and its study is over anyway.
        self.device.catch_up();
        self.device.end_untimed();
        let counts = self.device.snapshot(self.state.now);
        self.state.recorder.finish(&counts);
        Ok(ending)
    }
}
