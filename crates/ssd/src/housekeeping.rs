//! What the drive does at times of its own: scrubbing, sudden failures, ageing.

use crate::ssd::Ssd;
use outlast_flash::Source;
use outlast_units::Nanos;

impl Ssd {
    /// Sees that housekeeping is done at `at` at the latest.
    pub(crate) fn call_housekeeping(&mut self, at: Nanos) {
        if at < self.house_at {
            self.house_at = at;
            // Beyond the horizon nothing happens any more.
            let at = if at > self.flash.horizon() { Nanos::MAX } else { at };
            self.flash.schedule(Source::Housekeeping, at);
        }
    }

    pub(crate) fn house_event(&mut self, now: Nanos) {
        self.house_at = Nanos::MAX;
        self.flash.schedule(Source::Housekeeping, Nanos::MAX);
        let mut next = self.keep_failing(now).min(self.keep_changing(now));
        self.keep_watching(now);
        for core in 0..self.cores.len() {
            next = next.min(self.keep_scrubbing(now, core)).min(self.keep_covering(now, core));
        }
        // Nothing is ever due twice at one time, else the clock would stand still.
        self.call_housekeeping(next.max(Nanos(now.0 + 1)));
    }
}
