//! The loop of jobs of fio, which run side by side.

use super::{LegRunner, RunEnding};
use crate::drives::AsDriveSet;
use crate::error::EngineError;
use crate::simulated_device::SimulatedDevice;
use outlast_device::Completion;
use outlast_units::Nanos;
use outlast_workload::JobStep;

impl<M: SimulatedDevice + AsDriveSet> LegRunner<'_, '_, '_, M> {
    /// Runs jobs side by side: each is asked for a command whenever one of its commands has completed or its wake-up time has come.
    pub(super) fn jobs_loop(&mut self) -> Result<RunEnding, EngineError> {
        let Some(mut schedule) = self.state.schedule.take() else { return Ok(RunEnding::Complete) };
        let mut completions = std::mem::take(&mut self.state.completions);
        let mut woken = self.state.woken.take();
        let latest = self.latest_request();
        // Time of the device while no command is in flight and jobs sleep: it follows when one of them issues a command, so that a run whose
        // jobs wake up only to end stops with its last command.
        let mut behind: Option<Nanos> = None;
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
            self.ask_ready_jobs(&mut schedule, &mut behind);
            let wake = schedule.next_wake();
            if self.state.in_flight() == 0 {
                let since = *behind.get_or_insert(self.state.now);
                if self.device.is_up() {
                    schedule.jobs.check_flows(self.state.now, wake.is_some())?;
                }
                let Some(limit) = wake.filter(|_| self.device.is_up()) else {
                    self.state.now = since;
                    return Ok(RunEnding::Complete);
                };
                if limit > latest {
                    return Err(EngineError::BeyondHorizon { at: limit, latest });
                }
                woken = Some(limit);
                continue;
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

    /// Has the device, which no command keeps at work, follow the jobs to the present; true if it takes commands.
    fn catch_up(&mut self) -> bool {
        let (now, mut completions) = (self.state.now, Vec::new());
        while self.device.advance_to_completion(now, &mut completions) < now {
            self.drop_notices();
        }
        debug_assert!(completions.is_empty(), "a command completes and none is in flight");
        self.device.is_up()
    }

    /// Asks the ready jobs, each until it has no more commands, until none is ready. The device may be `behind` them.
    fn ask_ready_jobs(&mut self, schedule: &mut super::JobSchedule, behind: &mut Option<Nanos>) {
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
                    if behind.take().is_some() && !self.catch_up() {
                        schedule.ready.clear();
                        return;
                    }
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
}
