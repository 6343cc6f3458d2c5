//! Figures: time that dies and channels were busy, and suspensions.

use crate::die::PerArrayWork;
use crate::flash::Flash;
use outlast_units::{DieId, Nanos};

impl<T: Copy> Flash<T> {
    /// The share of `span`, which ends at `now`, for which each channel was busy since the last reset.
    pub fn channel_utilisation(&self, now: Nanos, span: Nanos) -> Vec<f64> {
        self.context.channels.iter().map(|channel| share(channel.busy_until(now), span)).collect()
    }

    /// The share of `span`, which ends at `now`, for which each die was busy since the last reset.
    pub fn die_utilisation(&self, now: Nanos, span: Nanos) -> Vec<f64> {
        self.dies.iter().map(|die| share(die.busy_until(now), span)).collect()
    }

    /// The shares of `span`, which ends at `now`, for which the array of each die programmed and erased since the last reset. Time in which data
    /// comes in, or an operation is being suspended or resumed, does not count.
    pub fn die_work(&self, now: Nanos, span: Nanos) -> Vec<PerArrayWork<f64>> {
        let per_span = |nanos: i64| nanos as f64 / span.0.max(1) as f64;
        let of = |die: DieId| {
            let worked = self.worked_until(die, now);
            PerArrayWork { programs: per_span(worked.programs), erases: per_span(worked.erases) }
        };
        self.dies.indices().map(of).collect()
    }

    /// Time that the array of `die` has worked until `now`, the part under way included.
    pub(crate) fn worked_until(&self, die: DieId, now: Nanos) -> PerArrayWork<i64> {
        // A copy: the part under way is counted for good when it ends.
        let mut state = self.dies[die].clone();
        if state.is_array_at_work() {
            state.count_work(self.context.ops[state.current].kind(), now);
        }
        state.worked
    }

    /// Time that each die was busy since the last reset.
    pub fn die_busy(&self, now: Nanos) -> Vec<Nanos> {
        self.dies.iter().map(|die| die.busy_until(now)).collect()
    }

    /// Time that each channel was busy since the last reset.
    pub fn channel_busy(&self, now: Nanos) -> Vec<Nanos> {
        self.context.channels.iter().map(|channel| channel.busy_until(now)).collect()
    }

    /// Programs and erases suspended by reads since the last reset.
    pub fn suspends(&self) -> u64 {
        self.context.suspends
    }

    /// Starts counting anew.
    pub fn reset_figures(&mut self, now: Nanos) {
        self.context.suspends = 0;
        for channel in &mut self.context.channels {
            channel.reset(now);
        }
        for die in self.dies.indices() {
            self.dies[die].worked = PerArrayWork::default();
            // The part under way is counted whole when it ends: less what was done of it before the reset, it gives the time since.
            let PerArrayWork { programs, erases } = self.worked_until(die, now);
            let state = &mut self.dies[die];
            state.worked = PerArrayWork { programs: -programs, erases: -erases };
            state.reset_busy(now);
        }
    }
}

fn share(busy: Nanos, span: Nanos) -> f64 {
    busy.0 as f64 / span.0.max(1) as f64
}
