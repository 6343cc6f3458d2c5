//! The loops of a run: closed, open, by jobs, and without time.
//!
//! Each begins with the completions that the previous leg left unsettled, of which the first has none.

use super::{LegRunner, RunEnding};
use crate::drives::AsDriveSet;
use crate::error::EngineError;
use crate::simulated_device::{DRAIN_TIME, SimulatedDevice};
use outlast_device::{Completion, Outcome};
use outlast_units::Nanos;
use outlast_workload::{JobStep, WorkloadRequest};

impl<M: SimulatedDevice + AsDriveSet> LegRunner<'_, '_, '_, M> {
    /// The latest time at which the run may submit a request.
    fn latest_request(&self) -> Nanos {
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

    /// Runs jobs side by side: each is asked for a command whenever one of its commands has completed or its wake-up time has come.
    pub(super) fn jobs_loop(&mut self) -> Result<RunEnding, EngineError> {
        let Some(mut schedule) = self.state.schedule.take() else { return Ok(RunEnding::Complete) };
        let mut completions = std::mem::take(&mut self.state.completions);
        let mut woken = self.state.woken.take();
        let latest = self.latest_request();
        loop {
            let mut settled = 0;
            while let Some(&completion) = completions.get(settled) {
                settled += 1;
                if self.is_unseen(&mut schedule, &completion) {
                    continue;
                }
                self.settle_job(&mut schedule, &completion);
                if self.is_stopped() {
                    (self.state.schedule, self.state.woken) = (Some(schedule), woken);
                    self.state.pause(completions.split_off(settled));
                    return Ok(self.ending);
                }
            }
            completions.clear();
            if let Some(at) = woken {
                self.state.now = self.state.now.max(at);
                schedule.wake(at, &mut completions);
                // What a job sees now that its turn has come is settled before any job acts.
                if !completions.is_empty() {
                    continue;
                }
            }
            if self.state.standstill.is_on() && self.jobs_stand_still(&schedule.jobs) {
                return Ok(RunEnding::Complete);
            }
            self.ask_ready_jobs(&mut schedule);
            let wake = schedule.next_wake();
            if self.state.in_flight() == 0 {
                if !self.device.is_up() {
                    return Ok(RunEnding::Complete);
                }
                schedule.jobs.check_flows(self.state.now, wake.is_some())?;
                if wake.is_none() {
                    return Ok(RunEnding::Complete);
                }
            }
            woken = None;
            let Some(limit) = wake else {
                if !self.await_completion(&mut completions)? {
                    self.state.schedule = Some(schedule);
                    self.state.pause(completions);
                    return Ok(self.ending);
                }
                continue;
            };
            if limit > latest {
                return Err(EngineError::BeyondHorizon { at: limit, latest });
            }
            let reached = self.device.advance_to_completion(limit, &mut completions);
            woken = (reached >= limit).then_some(limit);
        }
    }

    /// Records a completion with its job, which becomes ready.
    #[inline]
    fn settle_job(&mut self, schedule: &mut super::JobSchedule, completion: &Completion) {
        let tag = completion.tag.0 as usize;
        let (issued, job) = (self.state.issued[tag], schedule.job_of[tag]);
        // First, because windows, and perhaps the warm-up, end before the completion counts for its job.
        self.settle(completion);
        let Some(issued) = issued else { return };
        let noted = schedule.jobs.handle_completion(job, completion.at, &issued.command);
        let (at, outcome) = (completion.at, completion.outcome);
        self.state.recorder.jobs.completed(job, &issued.command, issued.at, at, outcome, noted);
        schedule.ready.push_back(job);
    }

    /// Asks the ready jobs, each until it has no more commands, until none is ready.
    fn ask_ready_jobs(&mut self, schedule: &mut super::JobSchedule) {
        let now = self.state.now;
        let up = self.device.is_up();
        while let Some(&job) = schedule.ready.front() {
            // An array that is off takes no commands: its jobs are never asked again.
            if !up {
                schedule.ready.clear();
                return;
            }
            if schedule.defer(job, now) {
                self.state.recorder.jobs.begin_job(job, now);
                schedule.ready.pop_front();
                continue;
            }
            let ask = schedule.jobs.next_step(job, now);
            if schedule.jobs.has_begun(job) {
                self.state.recorder.jobs.begin_job(job, now);
            }
            if schedule.jobs.any_woken() {
                let woken = schedule.jobs.take_woken();
                // Jobs that waited for this one's end, or for a zone that it has let go.
                schedule.ready.extend(woken);
            }
            match ask {
                JobStep::Issue(command) => {
                    let tag = self.issue(now, command);
                    schedule.issued(job, tag);
                    self.state.recorder.jobs.issued(job, command.op);
                    // It stays in front: it may have more commands at this moment.
                    continue;
                }
                // It becomes ready again by a completion.
                JobStep::Wait => {}
                JobStep::SleepUntil(at) => schedule.sleep(job, at),
                JobStep::Ended => {
                    self.state.recorder.jobs.end_job(job, now);
                    schedule.wakes[job as usize] = None;
                    schedule.leave_core(job, now);
                }
            }
            schedule.ready.pop_front();
        }
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
