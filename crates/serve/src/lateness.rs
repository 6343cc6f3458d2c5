//! Lateness of replies: the real time by which they leave after their simulated time.

use crate::buckets::TimeBuckets;
use hdrhistogram::Histogram;
use outlast_units::Nanos;
use serde::Serialize;
use std::time::Duration;

/// Completions later than this count as late. The threshold of FEMU (`hw/femu/nvme-io.c`), so that figures can be compared.
const LATE_ABOVE: Nanos = Nanos(20_000);
/// Under an overload, no completion for `OVERLOAD_DURATION` is less late than this. A round figure, not a measured one.
const OVERLOAD_LATENESS: Nanos = Nanos(1_000_000_000);
/// Shortest overload that is reported.
const OVERLOAD_DURATION: Duration = Duration::from_secs(10);
/// Greatest lateness of the histogram: one day.
const MAX_LATENESS_NS: u64 = 86_400_000_000_000;

/// Lateness of all completions under a wall clock, in real time.
#[derive(Clone, Debug)]
pub(crate) struct ReplyLateness {
    histogram: Histogram<u64>,
    below: TimeBuckets,
    sum: u128,
    late: u64,
    /// Time since which all completions have been later than [`OVERLOAD_LATENESS`].
    behind_since: Option<Duration>,
    /// Set once an overload was reported.
    is_reported: bool,
}

/// Figures of lateness, for reports.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct LatenessFigures {
    /// Number of completions.
    count: u64,
    /// Median in microseconds, as are the next four.
    p50_us: f64,
    p90_us: f64,
    p99_us: f64,
    p999_us: f64,
    max_us: f64,
    /// Sum in microseconds.
    sum_us: f64,
    /// Number of completions late by at most 1, 2, 4, … microseconds, and of all.
    below: TimeBuckets,
    /// Share of completions later than 20 microseconds.
    late_share: f64,
}

impl ReplyLateness {
    pub(crate) fn new() -> Self {
        let Ok(histogram) = Histogram::new_with_bounds(1, MAX_LATENESS_NS, 3) else {
            unreachable!("the bounds are constants that a histogram can have");
        };
        Self {
            histogram,
            below: TimeBuckets::default(),
            sum: 0,
            late: 0,
            behind_since: None,
            is_reported: false,
        }
    }

    /// Counts a completion that was late by `late`, at system time `now`. True once, when an overload is found.
    #[inline]
    pub(crate) fn record(&mut self, late: Nanos, now: Duration) -> bool {
        self.histogram.saturating_record(late.0.max(1));
        self.below.count(late);
        self.sum += u128::from(late.0);
        self.late += u64::from(late > LATE_ABOVE);
        if late < OVERLOAD_LATENESS {
            self.behind_since = None;
            return false;
        }
        let since = *self.behind_since.get_or_insert(now);
        // Reported once: an overloaded server would otherwise warn with every completion.
        let is_new = !self.is_reported && now.saturating_sub(since) >= OVERLOAD_DURATION;
        self.is_reported |= is_new;
        is_new
    }

    pub(crate) fn figures(&self) -> LatenessFigures {
        let count = self.histogram.len();
        let at = |quantile| {
            if count == 0 { 0.0 } else { self.histogram.value_at_quantile(quantile) as f64 * 1e-3 }
        };
        LatenessFigures {
            count,
            p50_us: at(0.5),
            p90_us: at(0.9),
            p99_us: at(0.99),
            p999_us: at(0.999),
            max_us: at(1.0),
            sum_us: self.sum as f64 * 1e-3,
            below: self.below,
            late_share: if count == 0 { 0.0 } else { self.late as f64 / count as f64 },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_summarise_all_counted_completions() {
        let mut lateness = ReplyLateness::new();
        assert_eq!(lateness.figures().count, 0);
        for late in 1..=1000 {
            lateness.record(Nanos(late * 100), Duration::ZERO);
        }
        let figures = lateness.figures();
        assert_eq!((figures.count, figures.late_share), (1000, 0.8));
        // Three significant digits, as the histogram keeps.
        for (figure, expected) in [(figures.p50_us, 50.0), (figures.p99_us, 99.0), (figures.max_us, 100.0)] {
            assert!((figure - expected).abs() <= expected * 1e-3, "{figure} for {expected}");
        }
    }

    #[test]
    fn overload_is_reported_once_and_only_if_it_lasts() {
        let mut lateness = ReplyLateness::new();
        let (long, short) = (Nanos(2_000_000_000), Nanos(5_000));
        let mut record = |late, s| lateness.record(late, Duration::from_secs(s));
        assert!(!record(long, 0) && !record(long, 9));
        // The completion in time ends the overload: its duration is counted anew.
        assert!(!record(short, 10) && !record(long, 11) && !record(long, 20));
        assert!(record(long, 21));
        assert!(!record(long, 22) && !record(short, 23) && !record(long, 24) && !record(long, 60));
    }
}
