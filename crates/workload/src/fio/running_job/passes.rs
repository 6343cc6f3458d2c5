//! Passes of a job over its region, and the choice at the head of fio's loop: end, flush or request.

use super::{JobPhase, RunningJob};
use crate::fio::flow::FlowGroup;
use crate::fio::job_options::AccessKind;
use crate::fio::offsets::{READ, TRIM, WRITE};
use crate::job::JobStep;
use outlast_device::Command;
use outlast_units::Nanos;

impl RunningJob {
    /// Begins another pass or ends the job (fio's `keep_running`).
    pub(super) fn begin_pass(&mut self) {
        let plan = &self.plan;
        let continues = if self.terminate {
            false
        } else if plan.is_endless() {
            true
        } else if self.loops_left > 0 {
            self.loops_left -= 1;
            true
        } else {
            // Beyond its loops a job goes on only to reach `io_size`, and only while the largest request fits into what is left.
            let limit = plan.io_size.unwrap_or(plan.size);
            let left = limit.saturating_sub(self.bytes.iter().sum());
            let exhausted = self.file_done && plan.io_size.is_none();
            !self.has_all_ios() && left > 0 && left >= plan.access.largest() && !exhausted
        };
        self.phase = if continues { JobPhase::Top } else { JobPhase::Ended };
        if continues {
            self.passes += 1;
            (self.pass_issued, self.pass_done, self.file_done) = (0, 0, false);
        }
    }

    /// Ends a pass.
    pub(super) fn finish_pass(&mut self) {
        // A pass without a request is the last, as another would be the same.
        self.terminate |= self.pass_done == 0;
        self.last_was_sync = false;
        self.mix_until = 0;
        self.begin_pass();
        if self.phase == JobPhase::Top {
            self.offsets.begin_pass();
            if self.plan.reseeds {
                self.offsets.seed();
            }
        }
    }

    /// Ends the pass because the region is exhausted or the runtime is over; returns the next phase.
    pub(super) fn end_file(&mut self) -> JobPhase {
        self.file_done = true;
        JobPhase::Drain
    }

    /// Decides at the head of the loop: the pass ends, or a flush or a request comes next.
    pub(super) fn top(&mut self, now: Nanos, flow: Option<&mut FlowGroup>) -> Option<JobStep> {
        let plan = &self.plan;
        // The order of these checks is fio's: of several limits it decides which one ends the pass, and if a flush still comes.
        let timed = plan.access.time_based;
        // Where each range is trimmed and then written, the writes count.
        let bytes = if plan.trims_first() { self.write_bytes } else { self.issue_bytes };
        let full = bytes >= plan.limit() || self.has_all_ios();
        if self.terminate || (full && !timed) {
            self.phase = JobPhase::Drain;
        } else if self.timed_out(now) {
            self.terminate = true;
            self.phase = JobPhase::Drain;
        } else if let Some(flow) = flow
            && !flow.admit(self.number, plan.flow, &mut self.flow_requests)
        {
            return self.stall(now, flow);
        } else if self.pass_issued >= plan.pass_bytes() && !timed {
            self.phase = JobPhase::Drain;
        } else if self.is_flush_due() {
            self.phase = JobPhase::Flush { last: false };
            return Some(JobStep::Issue(Command::FLUSH));
        } else {
            let ddir = self.choose_direction();
            self.phase = self.apply_rate(now, ddir);
        }
        None
    }

    fn is_flush_due(&self) -> bool {
        // `last_was_sync` keeps the count of writes, which a flush does not change, from asking for another one.
        let issued = self.issues[WRITE];
        let due = |every: u64| every != 0 && issued.is_multiple_of(every);
        self.plan.writes() && !self.last_was_sync && issued != 0 && self.plan.fsync.into_iter().any(due)
    }

    /// The direction of the next request (fio's `get_rw_ddir`).
    fn choose_direction(&mut self) -> usize {
        match self.plan.rw {
            AccessKind::Read => return READ,
            // As in fio the rate of writes holds back the trims before them, too.
            AccessKind::Write | AccessKind::TrimWrite => return WRITE,
            AccessKind::Trim => return TRIM,
            AccessKind::Mixed => {}
        }
        if self.issues[self.mix] >= self.mix_until {
            let ddir = self.offsets.draw_direction();
            if ddir != self.mix {
                let read = u64::from(self.plan.access.read_percent);
                let other = if self.mix == READ { 100 - read } else { read };
                // fio's `set_rwmix_bytes`: the other direction is kept until it has its share of this one's requests.
                self.mix_until = self.issues[self.mix] * other / 100;
            }
            self.mix = ddir;
        }
        self.mix
    }

    /// Counts a completion, or waits for one; `left` are still to be counted.
    pub(super) fn reap(&mut self, ddir: Option<usize>, left: u32) -> Option<JobStep> {
        if !self.reap_one() {
            if self.depth > 0 {
                return Some(JobStep::Wait);
            }
        } else if left > 1 {
            self.phase = JobPhase::Reap { ddir, left: left - 1 };
            return None;
        } else if self.depth > self.plan.depth_low {
            self.phase = JobPhase::Reap { ddir, left: self.plan.complete_min.min(self.depth).max(1) };
            return None;
        }
        self.phase = ddir.map_or(JobPhase::Top, |ddir| JobPhase::Think { ddir });
        None
    }

    /// Share of its work done, 0 to 1, by the limit that is nearest; 0 without a limit.
    pub(in crate::fio) fn progress(&self, now: Nanos) -> f64 {
        let plan = &self.plan;
        if self.phase == JobPhase::Ended {
            return 1.0;
        }
        let part = |done: u64, all: u64| if all == 0 { 0.0 } else { (done as f64 / all as f64).min(1.0) };
        let ios = part(self.blocks.iter().sum(), plan.number_ios.saturating_mul(plan.loops));
        let time = part(self.micros(now), plan.runtime);
        let bytes = if plan.access.time_based { 0.0 } else { part(self.issue_bytes, plan.limit()) };
        ios.max(time).max(bytes)
    }
}
