//! Requests that take no simulated time, of which a workload that only time ends would be served for ever.
//!
//! Counted in completions and never by the wall clock, so that the same scenario always ends after the same request.

use super::{BETWEEN_CLOCKS, LegRunner};
use crate::drives::AsDriveSet;
use crate::recorder::RunRecorder;
use crate::simulated_device::SimulatedDevice;
use outlast_array::ArrayCondition;
use outlast_device::Op;
use outlast_units::{Nanos, SECTOR_BYTES};
use outlast_workload::FioJobs;

/// Checks without simulated time in between, on an array that has failed, after which it never passes: a million requests that failed at once.
const CHECKS_OF_FAILED_ARRAY: u32 = 256;
/// The same on other devices, four million requests: of a request that takes time, in a mix of one to a hundred thousand, they miss all by a
/// chance of e^-42.
const CHECKS: u32 = 1024;
/// Number of checks, a billion requests, that no walk over a device is waited for any longer.
const MOST_CHECKS: u32 = 1 << 18;
/// Size of request by which the passes of several jobs are counted, if theirs are no smaller on average.
const SIZE_OF_JOBS: u64 = 4096;
/// Operations of the host, and their names in the plural.
const OPS: [(Op, &str); 4] =
    [(Op::Read, "reads"), (Op::Write, "writes"), (Op::Trim, "trims"), (Op::Flush, "flushes")];

/// Counts of a run, between two of which simulated time has not passed.
#[derive(Clone, Copy, Debug, Default)]
struct CountsAtCheck {
    done: u64,
    /// Commands served and failed by [`Op`], and bytes of those served.
    served: [u64; 4],
    failed: [u64; 4],
    bytes: [u64; 4],
}

impl CountsAtCheck {
    fn of(recorder: &RunRecorder, done: u64) -> Self {
        // A window does not end while time does not pass.
        let window = &recorder.windows.current;
        let failed = recorder.completed.failed;
        Self { done, served: window.commands, failed, bytes: window.bytes }
    }

    /// Requests served and failed since `before`.
    fn since(&self, before: &Self) -> Self {
        let minus =
            |now: [u64; 4], then: [u64; 4]| std::array::from_fn(|op| now[op].saturating_sub(then[op]));
        Self {
            done: self.done - before.done,
            served: minus(self.served, before.served),
            failed: minus(self.failed, before.failed),
            bytes: minus(self.bytes, before.bytes),
        }
    }

    /// True if the requests would cover `bytes`, had all the mean size of those served: a walk over the device has then seen every place.
    fn cover(&self, bytes: u64, jobs: u64) -> bool {
        // Flushes have no size.
        let served: u64 = self.served[..3].iter().sum();
        let Some(mean) = self.bytes[..3].iter().sum::<u64>().checked_div(served) else { return true };
        let size = if jobs > 1 { mean.min(SIZE_OF_JOBS) } else { mean };
        u128::from(self.done) * u128::from(size) >= u128::from(bytes) * u128::from(jobs)
    }

    /// Its requests in words, by operation and outcome.
    fn words(&self) -> String {
        let kinds = OPS.iter().flat_map(|&(op, name)| {
            let (served, failed) = (self.served[op as usize], self.failed[op as usize]);
            let served = (served != 0).then(|| format!("{served} {name}"));
            let failed = (failed != 0).then(|| format!("{failed} {name} that failed"));
            served.into_iter().chain(failed)
        });
        let kinds: Vec<String> = kinds.collect();
        if kinds.is_empty() { "all to zones".to_owned() } else { kinds.join(", ") }
    }
}

/// A run that ended because simulated time no longer passed.
#[derive(Clone, Debug)]
pub(crate) struct Standstill {
    at: Nanos,
    /// Its last requests, none of which took time; `None` on an array that has failed.
    requests: Option<CountsAtCheck>,
}

impl Standstill {
    /// Note of the result.
    pub(crate) fn note(&self) -> String {
        let at = self.at.as_secs_f64();
        let Some(requests) = &self.requests else {
            return format!(
                "The run ended at {at:.6} s: the array has failed and answers at once, so that time no longer passed."
            );
        };
        format!(
            "The run ended at {at:.6} s, where time no longer passed, so that no duration would have ended it: its last {} requests took no \
             time ({}). device.controller.link gives each request a time; a number of requests or bytes ends a workload without.",
            requests.done,
            requests.words(),
        )
    }
}

/// Watches for a moment at which simulated time no longer passes.
#[derive(Debug, Default)]
pub(super) struct StandstillWatch {
    /// Time of the last completion at the last check, and how many checks before it found the same.
    at: Nanos,
    checks: u32,
    /// Number of these at which the source, or a job that amounts end, was last seen to get on, and the counts then.
    moved: u32,
    before: CountsAtCheck,
    /// Work of the jobs that amounts end, as it was then.
    work: Option<(u64, u64)>,
    /// True where an array has failed, and where time has stood for as long as any device could make it.
    has_failed: bool,
    stands: bool,
}

impl StandstillWatch {
    /// True if time has stood for a whole interval between two checks.
    #[inline]
    pub(super) fn is_on(&self) -> bool {
        self.checks != 0
    }
}

impl<M: SimulatedDevice + AsDriveSet> LegRunner<'_, '_, '_, M> {
    /// Counts the checks since simulated time last passed; true if a workload that only time ends does not get on. Jobs are judged where they
    /// are asked.
    pub(super) fn stands_still(&mut self) -> bool {
        let now = self.state.now;
        let counts = CountsAtCheck::of(&self.state.recorder, self.state.done);
        let watch = &mut self.state.standstill;
        if now != watch.at {
            *watch = StandstillWatch { at: now, before: counts, ..StandstillWatch::default() };
            return false;
        }
        watch.checks += 1;
        if !self.workload.source.is_in_last_phase() {
            (watch.moved, watch.before) = (watch.checks, counts);
        }
        let (checks, waited) = (watch.checks, watch.checks - watch.moved);
        let since = counts.since(&watch.before);
        let stands = waited >= CHECKS
            && (waited >= MOST_CHECKS || since.cover(self.footprint_bytes(), self.count_of_jobs()));
        let has_failed = checks >= CHECKS_OF_FAILED_ARRAY
            && now > Nanos::ZERO
            && self.device.condition() == Some(ArrayCondition::Failed);
        let watch = &mut self.state.standstill;
        (watch.stands, watch.has_failed) = (stands, has_failed);
        if self.has_jobs() || !self.workload.endless || !(stands || has_failed) {
            return false;
        }
        self.stand_still();
        true
    }

    /// True if jobs do not get on where time stands: all that run are ended by time, or those that amounts end wait for it.
    #[cold]
    #[inline(never)]
    pub(super) fn jobs_stand_still(&mut self, jobs: &FioJobs) -> bool {
        let watch = &self.state.standstill;
        if watch.at != self.state.now {
            return false;
        }
        if watch.has_failed && jobs.only_time_ends() {
            self.stand_still();
            return true;
        }
        if watch.work.is_some() && !watch.stands {
            return false;
        }
        let work = Some(jobs.work_of_counted());
        if watch.work == work {
            self.stand_still();
            return true;
        }
        // What gets on without time ends without time: it is waited for.
        let counts = CountsAtCheck::of(&self.state.recorder, self.state.done);
        let watch = &mut self.state.standstill;
        (watch.moved, watch.before, watch.work, watch.stands) = (watch.checks, counts, work, false);
        false
    }

    /// Records that the run ends here.
    fn stand_still(&mut self) {
        let watch = &self.state.standstill;
        let counts = CountsAtCheck::of(&self.state.recorder, self.state.done);
        let requests = (!watch.has_failed).then(|| counts.since(&watch.before));
        self.state.stood_still = Some(Standstill { at: watch.at, requests });
    }

    /// Bytes that the workload may touch.
    fn footprint_bytes(&self) -> u64 {
        match &self.workload.footprint {
            Some(range) => (range.end.0 - range.start.0) * SECTOR_BYTES,
            None => self.device.identify().capacity.0,
        }
    }

    /// Sources of requests side by side.
    fn count_of_jobs(&self) -> u64 {
        self.workload.jobs.as_ref().map_or(1, |jobs| jobs.infos().len() as u64)
    }
}

const _: () = assert!(BETWEEN_CLOCKS * CHECKS as u64 == 1 << 22);
