//! Pace of a job: rates, the jobs of its flow, and thinking.

use super::{JobPhase, RunningJob};
use crate::fio::flow::FlowGroup;
use crate::fio::job_options::RateProcess;
use crate::fio::offsets::READ;
use crate::job::JobStep;
use outlast_units::Nanos;

impl RunningJob {
    /// Holds a direction to its rate, and lets the other direction of a mixed job go first if that is due (fio's `rate_ddir`).
    pub(super) fn apply_rate(&mut self, now: Nanos, ddir: usize) -> JobPhase {
        let micros = self.micros(now);
        // The requests of a direction are due at the times that their bytes take at its rate.
        if self.rate_next[ddir] <= micros {
            return JobPhase::Fill { ddir };
        }
        let read = self.plan.access.read_percent;
        // Only reads (0) and writes (1) are mixed, so the lowest bit tells the other direction.
        let (mut chosen, other) = (ddir, ddir ^ 1);
        if self.plan.mixed() && (if other == READ { read } else { 100 - read }) != 0 {
            if self.rate_next[other] <= micros {
                return JobPhase::Fill { ddir: other };
            }
            if self.rate_next[ddir] > self.rate_next[other] {
                chosen = other;
            }
        }
        let sleep = self.rate_next[chosen] - micros;
        // Threads that submit for the job reap for it, too: the sleep begins with requests in flight.
        if self.plan.offloads {
            while self.reap_one() {}
            return self.rate_sleep(now, chosen, sleep, micros);
        }
        JobPhase::RateDrain { ddir: chosen, sleep, decided: micros }
    }

    /// Begins to sleep to keep the rate, but not beyond the runtime.
    pub(super) fn rate_sleep(&mut self, now: Nanos, ddir: usize, sleep: u64, decided: u64) -> JobPhase {
        let runtime = self.plan.runtime;
        let mut sleep = sleep;
        if runtime != 0 && decided + sleep > runtime {
            if decided > runtime {
                return self.end_file();
            }
            sleep = runtime - decided;
        }
        // fio computes in whole microseconds: the sleep ends at one, wherever within one it begins.
        let from = self.epoch.0 + self.micros(now) * 1000;
        JobPhase::RateSleep { ddir, until: Nanos(from.saturating_add(sleep.saturating_mul(1000))) }
    }

    /// Microsecond after `epoch` at which the next request of a direction is due (fio's `usec_for_io`); 0 without a rate.
    pub(super) fn next_due(&mut self, ddir: usize) -> u64 {
        let rate = self.plan.rate[ddir];
        if rate == 0 {
            return 0;
        }
        if self.plan.process == RateProcess::Poisson {
            // fio computes in whole requests per second and whole microseconds.
            let iops = (rate / self.plan.access.sizes[ddir].least).max(1);
            // fio computes in single precision.
            let gap = (1_000_000 / iops) as f32 * -(self.poisson[ddir].unit() as f32).ln();
            self.poisson_at[ddir] += gap as u64;
            return self.poisson_at[ddir];
        }
        let micros = u128::from(self.rate_bytes[ddir]) * 1_000_000 / u128::from(rate);
        u64::try_from(micros).unwrap_or(u64::MAX)
    }

    /// Ahead of the other jobs of `flow`: sleeps, or waits until one of them has issued, at most to the end of the runtime.
    pub(super) fn stall(&mut self, now: Nanos, flow: &mut FlowGroup) -> Option<JobStep> {
        flow.wait(self.number);
        // fio does not reap meanwhile, so that what counts completions stands still; but a zone that is held is let go, or the job could wait for itself.
        if self.zoned.is_some() {
            while self.reap_one() {}
        }
        if self.plan.flow.sleep != 0 {
            self.phase = JobPhase::FlowDrain;
            return None;
        }
        let end = Nanos(self.epoch.0 + self.plan.runtime * 1000);
        Some(if self.ends_by_time() && now < end { JobStep::SleepUntil(end) } else { JobStep::Wait })
    }

    /// Sleeps, once nothing is in flight, before it asks `flow` again.
    pub(super) fn sleep_in_flow(&mut self, now: Nanos) -> Option<JobStep> {
        if let JobPhase::FlowSleep { until } = self.phase {
            if now < until && !self.terminate {
                return Some(JobStep::SleepUntil(until));
            }
            self.phase = JobPhase::Top;
        } else {
            if !self.is_drained() {
                return Some(JobStep::Wait);
            }
            self.phase = JobPhase::FlowSleep { until: Nanos(now.0 + self.plan.flow.sleep * 1000) };
        }
        None
    }

    /// Decides whether to think (fio's `handle_thinktime`).
    pub(super) fn think(&mut self, now: Nanos, ddir: usize) -> JobPhase {
        let plan = &self.plan;
        if plan.think_time == 0 {
            return JobPhase::Top;
        }
        // As in fio a job thinks after a time of requests or after a number of them, whichever comes first.
        let mut stall = false;
        if plan.think_every != 0 {
            let since = now.saturating_sub(self.think_last).0 / 1000;
            if since >= plan.think_every + plan.think_time {
                stall = true;
            } else if plan.think_blocks.is_none() {
                return JobPhase::Top;
            }
        }
        let counted: u64 = if plan.think_issued { self.issues } else { self.blocks }.iter().sum();
        stall |= counted >= self.think_blocks + plan.think_blocks.unwrap_or(1);
        if !stall {
            return JobPhase::Top;
        }
        self.think_blocks = counted;
        if plan.think_every != 0 {
            self.think_last = now;
        }
        JobPhase::ThinkDrain { ddir, sleep: plan.think_time }
    }

    /// With `rate_ignore_thinktime` counts the bytes that the rate would have allowed during the sleep, so that the job does not catch up.
    pub(super) fn count_think_time(&mut self, ddir: usize, slept: u64) {
        let rate = self.plan.rate[ddir];
        if slept == 0 || rate == 0 || !self.plan.rate_ignores_think {
            return;
        }
        let block = self.plan.access.sizes[ddir].least;
        let missed = (u128::from(rate) * u128::from(slept) / 1_000_000) as u64;
        let each = block * 1_000_000 / rate;
        // One block less, so that the job issues at once after the sleep (fio's `handle_thinktime`).
        let over = if each <= slept { block } else { 0 };
        self.rate_bytes[ddir] = (self.rate_bytes[ddir] + missed).saturating_sub(over);
        self.poisson_at[ddir] += slept;
    }
}
