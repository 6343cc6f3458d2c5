//! The loops of a run, one for each way in which a host asks.
//!
//! Each begins with what the leg before has left to be settled, which at the beginning of a run is nothing.

use super::{Ending, Runner};
use crate::drives::AsDrives;
use crate::error::EngineError;
use crate::machine::Machine;
use outlast_device::Completion;
use outlast_units::Nanos;
use outlast_workload::Ask;

/// A day is kept for what is in flight at the end.
const LEFT_FOR_THE_END: Nanos = Nanos::secs(86_400);

impl<M: Machine + AsDrives> Runner<'_, '_, '_, M> {
    /// The latest time at which the run may still ask for something.
    fn latest(&self) -> Nanos {
        self.machine.latest().saturating_sub(LEFT_FOR_THE_END)
    }

    pub(super) fn closed_loop(&mut self) -> Result<Ending, EngineError> {
        let end = self.workload.duration.unwrap_or(Nanos::MAX);
        let latest = self.latest();
        let mut completions = std::mem::take(&mut self.course.completions);
        loop {
            let mut due = completions.drain(..);
            while let Some(completion) = due.next() {
                if self.settle(&completion)
                    && completion.at < end
                    && self.machine.is_up()
                    && let Some(request) = self.next_request()?
                {
                    self.issue(completion.at, request.command);
                }
                if self.is_stopped() {
                    self.course.pause(due.collect());
                    return Ok(self.ending);
                }
            }
            drop(due);
            if self.course.in_flight() == 0 {
                return Ok(Ending::Complete);
            }
            if self.course.now > latest {
                return Err(EngineError::BeyondHorizon { at: self.course.now, latest });
            }
            self.machine.advance_to_completion(Nanos::MAX, &mut completions);
            let told = self.hear();
            assert!(told || !completions.is_empty(), "commands are in flight and the drive is idle");
        }
    }

    pub(super) fn open_loop(&mut self) -> Result<Ending, EngineError> {
        let latest = self.latest();
        let bound = latest.min(self.goal.time);
        let mut completions = std::mem::take(&mut self.course.completions);
        let mut upcoming = match self.course.upcoming.take() {
            None => self.next_request()?,
            known => known,
        };
        while let Some(request) = upcoming {
            if request.at > bound {
                if request.at > latest {
                    return Err(EngineError::BeyondHorizon { at: request.at, latest });
                }
                self.course.upcoming = upcoming;
                return Ok(self.wait(bound, completions));
            }
            self.machine.advance(request.at, &mut completions);
            self.course.reached = request.at;
            let mut due = completions.drain(..);
            while let Some(completion) = due.next() {
                self.settle(&completion);
                if self.is_stopped() {
                    self.course.upcoming = upcoming;
                    self.course.pause(due.collect());
                    return Ok(self.ending);
                }
            }
            drop(due);
            if !self.machine.is_up() {
                break;
            }
            self.issue(request.at, request.command);
            upcoming = self.next_request()?;
        }
        self.last_of_open_loop(completions, latest)
    }

    /// Nothing arrives any more.
    fn last_of_open_loop(
        &mut self,
        mut completions: Vec<Completion>,
        latest: Nanos,
    ) -> Result<Ending, EngineError> {
        loop {
            let mut due = completions.drain(..);
            while let Some(completion) = due.next() {
                self.settle(&completion);
                if self.is_stopped() {
                    self.course.pause(due.collect());
                    return Ok(self.ending);
                }
            }
            drop(due);
            if self.course.in_flight() == 0 {
                return Ok(Ending::Complete);
            }
            if self.course.now > latest {
                return Err(EngineError::BeyondHorizon { at: self.course.now, latest });
            }
            self.machine.advance_to_completion(Nanos::MAX, &mut completions);
            let told = self.hear();
            assert!(told || !completions.is_empty(), "commands are in flight and the drive is idle");
        }
    }

    /// An open loop: nothing arrives before the end of the leg, `until`.
    #[cold]
    fn wait(&mut self, until: Nanos, mut completions: Vec<Completion>) -> Ending {
        if M::MAY_WAIT {
            self.machine.advance(until, &mut completions);
        }
        let due = completions.partition_point(|completion| completion.at <= until);
        for completion in completions.drain(..due) {
            self.settle(&completion);
        }
        self.course.completions = completions;
        self.course.clock = self.course.clock.max(until);
        Ending::Paused
    }

    /// Runs lanes side by side: each is asked what it does whenever one of its commands has completed or its time has come.
    pub(super) fn lanes_loop(&mut self) -> Result<Ending, EngineError> {
        let Some(mut fleet) = self.course.fleet.take() else { return Ok(Ending::Complete) };
        let mut completions = std::mem::take(&mut self.course.completions);
        let mut woken = self.course.woken.take();
        let latest = self.latest();
        loop {
            let mut due = completions.drain(..);
            while let Some(completion) = due.next() {
                self.settle_lane(&mut fleet, &completion);
                if self.is_stopped() {
                    (self.course.fleet, self.course.woken) = (Some(fleet), woken);
                    self.course.pause(due.collect());
                    return Ok(self.ending);
                }
            }
            drop(due);
            if let Some(at) = woken {
                self.course.now = self.course.now.max(at);
                fleet.wake(at);
            }
            self.serve(&mut fleet);
            let wake = fleet.next_wake();
            if self.course.in_flight() == 0 && (wake.is_none() || !self.machine.is_up()) {
                return Ok(Ending::Complete);
            }
            let limit = wake.unwrap_or(Nanos::MAX);
            if wake.is_some() && limit > latest {
                return Err(EngineError::BeyondHorizon { at: limit, latest });
            }
            let reached = self.machine.advance_to_completion(limit, &mut completions);
            let idle = completions.is_empty() && wake.is_none() && !self.machine.has_notice();
            assert!(!idle, "commands are in flight and the drive is idle");
            woken = (reached >= limit).then_some(limit);
        }
    }

    /// Records a completion with its lane, which is to be asked next.
    #[inline]
    fn settle_lane(&mut self, fleet: &mut super::Fleet, completion: &Completion) {
        let tag = completion.tag.0 as usize;
        let (issued, lane) = (self.course.issued[tag], fleet.lane_of[tag]);
        // Windows end, and the warm-up may, before the completion counts.
        self.settle(completion);
        let Some(issued) = issued else { return };
        let noted = fleet.lanes.completed(lane, completion.at, &issued.command);
        let (at, outcome) = (completion.at, completion.outcome);
        self.course.recorder.jobs.completed(lane, &issued.command, issued.at, at, outcome, noted);
        fleet.ready.push_back(lane);
    }

    /// Asks every lane that is ready until none is.
    fn serve(&mut self, fleet: &mut super::Fleet) {
        let now = self.course.now;
        let up = self.machine.is_up();
        while let Some(&lane) = fleet.ready.front() {
            if !up {
                fleet.ready.clear();
                return;
            }
            let ask = fleet.lanes.ask(lane, now);
            if fleet.lanes.has_begun(lane) {
                self.course.recorder.jobs.begun(lane, now);
            }
            match ask {
                Ask::Issue(command) => {
                    let tag = self.issue(now, command);
                    fleet.issued(lane, tag);
                    self.course.recorder.jobs.issued(lane, command.op);
                    continue;
                }
                Ask::Wait => {}
                Ask::Until(at) => fleet.sleep(lane, at),
                Ask::Ended => {
                    self.course.recorder.jobs.ended(lane, now);
                    fleet.wakes[lane as usize] = None;
                    let woken = fleet.lanes.woken();
                    fleet.ready.extend(woken);
                }
            }
            fleet.ready.pop_front();
        }
    }
}
