//! Loops over all flash cores: scrubbing, flushes of the mapping table, exposure.

use crate::ssd::Ssd;
use outlast_units::Nanos;

impl Ssd {
    /// Pages times seconds, since the last reset and up to `now`, for which data of the host of class `class` on flash had no parity though its code
    /// has some: the stripe was not full, and nothing covered it.
    pub fn unprotected_page_seconds(&self, now: Nanos, class: u8) -> f64 {
        self.cores.iter().map(|core| core.unprotected_page_seconds(now, class)).sum()
    }

    /// Calls for flushes of the mapping table that are due by time; returns when the next is.
    pub(crate) fn call_map_flushes(&mut self, now: Nanos) -> Nanos {
        if self.context.take_map_flush(now) {
            for core in &mut self.cores {
                core.request_map_flush(&mut self.context);
            }
        }
        self.context.next_map_flush()
    }

    /// Simulated time begins, or the data has become older at once.
    pub(crate) fn begin_scrub(&mut self, now: Nanos) {
        if self.context.config.scrub.is_none() {
            return;
        }
        for core in &mut self.cores {
            core.begin_scrub(now, &mut self.context);
        }
    }
}
