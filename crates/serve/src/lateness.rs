//! How much later than simulated a completion is sent.

use hdrhistogram::Histogram;
use outlast_units::Nanos;
use serde::Serialize;
use std::time::Duration;

/// Later than this a completion counts as late: FEMU's measure (`hw/femu/nvme-io.c`), so that figures can be compared.
const LATE: Nanos = Nanos(20_000);
/// The server cannot keep up where its completions are never less late than this...
const OVERLOAD: Nanos = Nanos(1_000_000_000);
/// ...for so long.
const PATIENCE: Duration = Duration::from_secs(10);
/// A day: nothing is counted as later.
const LONGEST: u64 = 86_400_000_000_000;

/// Lateness of every completion under a wall clock, in the system's time.
#[derive(Clone, Debug)]
pub(crate) struct Lateness {
    histogram: Histogram<u64>,
    late: u64,
    /// Since when completions have all been later than [`OVERLOAD`].
    behind_since: Option<Duration>,
    /// Whether an overload was told.
    told: bool,
}

/// The figures.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Figures {
    /// Completions counted.
    count: u64,
    /// Median, in microseconds; so are the next four.
    p50_us: f64,
    p90_us: f64,
    p99_us: f64,
    p999_us: f64,
    max_us: f64,
    /// Share of completions that were more than 20 microseconds late.
    late_share: f64,
}

impl Lateness {
    pub(crate) fn new() -> Self {
        let Ok(histogram) = Histogram::new_with_bounds(1, LONGEST, 3) else {
            unreachable!("the bounds are constants that a histogram can have");
        };
        Self { histogram, late: 0, behind_since: None, told: false }
    }

    /// A completion is `late`, at the time `now` of the system's clock. Whether the server has turned out to be overloaded, which is
    /// said once.
    #[inline]
    pub(crate) fn note(&mut self, late: Nanos, now: Duration) -> bool {
        self.histogram.saturating_record(late.0.max(1));
        self.late += u64::from(late > LATE);
        if late < OVERLOAD {
            self.behind_since = None;
            return false;
        }
        let since = *self.behind_since.get_or_insert(now);
        let is_new = !self.told && now.saturating_sub(since) >= PATIENCE;
        self.told |= is_new;
        is_new
    }

    pub(crate) fn figures(&self) -> Figures {
        let count = self.histogram.len();
        let at = |quantile| {
            if count == 0 { 0.0 } else { self.histogram.value_at_quantile(quantile) as f64 * 1e-3 }
        };
        Figures {
            count,
            p50_us: at(0.5),
            p90_us: at(0.9),
            p99_us: at(0.99),
            p999_us: at(0.999),
            max_us: at(1.0),
            late_share: if count == 0 { 0.0 } else { self.late as f64 / count as f64 },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_those_of_what_was_counted() {
        let mut lateness = Lateness::new();
        assert_eq!(lateness.figures().count, 0);
        for late in 1..=1000 {
            lateness.note(Nanos(late * 100), Duration::ZERO);
        }
        let figures = lateness.figures();
        assert_eq!((figures.count, figures.late_share), (1000, 0.8));
        // Three digits.
        for (found, expected) in [(figures.p50_us, 50.0), (figures.p99_us, 99.0), (figures.max_us, 100.0)] {
            assert!((found - expected).abs() <= expected * 1e-3, "{found} for {expected}");
        }
    }

    #[test]
    fn overload_is_told_once_and_only_when_it_lasts() {
        let mut lateness = Lateness::new();
        let (long, short) = (Nanos(2_000_000_000), Nanos(5_000));
        let mut note = |late, s| lateness.note(late, Duration::from_secs(s));
        assert!(!note(long, 0) && !note(long, 9));
        // It has caught up: patience begins anew.
        assert!(!note(short, 10) && !note(long, 11) && !note(long, 20));
        assert!(note(long, 21));
        assert!(!note(long, 22) && !note(short, 23) && !note(long, 24) && !note(long, 60));
    }
}
