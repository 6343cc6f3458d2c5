//! Recorded latencies: a histogram for percentiles, with exact sums and extremes.

use hdrhistogram::Histogram;
use outlast_device::Op;

/// Longest latency of the histogram in nanoseconds (28 hours); longer ones count as this.
const HIGHEST_NS: u64 = 100_000_000_000_000;

/// Latencies of one kind, in nanoseconds. Percentiles are rounded to the digits of the histogram; sum, minimum and maximum are exact.
#[derive(Clone, Debug)]
pub(crate) struct LatencyHistogram {
    histogram: Histogram<u64>,
    /// A run may have 10^9 requests of 10^11 ns each: more than 64 bits.
    sum: u128,
    min: u64,
    max: u64,
}

impl LatencyHistogram {
    /// Empty histogram of so many significant digits, whose range grows with the latencies recorded.
    pub(crate) fn new(digits: u8) -> Self {
        let mut histogram =
            Histogram::new_with_bounds(1, 2_000_000, digits).expect("bounds and digits were validated");
        histogram.auto(true);
        Self { histogram, sum: 0, min: u64::MAX, max: 0 }
    }

    #[inline]
    pub(crate) fn record(&mut self, latency_ns: u64) {
        // Not `saturating_record`, which does not grow.
        self.histogram.record(latency_ns.min(HIGHEST_NS)).expect("it grows up to the highest latency");
        self.sum += u128::from(latency_ns);
        self.min = self.min.min(latency_ns);
        self.max = self.max.max(latency_ns);
    }

    pub(crate) fn histogram(&self) -> &Histogram<u64> {
        &self.histogram
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.histogram.is_empty()
    }

    /// Number of latencies recorded.
    pub(crate) fn len(&self) -> u64 {
        self.histogram.len()
    }

    pub(crate) fn sum(&self) -> u128 {
        self.sum
    }

    /// The shortest; [`u64::MAX`] if empty.
    pub(crate) fn min(&self) -> u64 {
        self.min
    }

    pub(crate) fn max(&self) -> u64 {
        self.max
    }

    pub(crate) fn mean(&self) -> f64 {
        self.sum as f64 / self.len().max(1) as f64
    }

    /// The `q`-quantile. The histogram gives the upper end of a bucket, which may lie beyond the extremes.
    pub(crate) fn quantile(&self, q: f64) -> u64 {
        self.histogram.value_at_quantile(q).clamp(self.min.min(self.max), self.max)
    }

    /// Adds all of `other` and empties it.
    fn take_in(&mut self, other: &mut Self) {
        if other.is_empty() {
            return;
        }
        if self.is_empty() {
            // As of a run with one window: nothing is added up, and nothing zeroed.
            std::mem::swap(self, other);
            return;
        }
        self.histogram.add(&other.histogram).expect("histograms grow");
        self.sum += other.sum;
        (self.min, self.max) = (self.min.min(other.min), self.max.max(other.max));
        other.histogram.reset();
        (other.sum, other.min, other.max) = (0, u64::MAX, 0);
    }

    /// Removes the latencies of `part`, all of which it contains. Extremes that came from `part` are then known only to the resolution of the
    /// histogram.
    fn subtract(&mut self, part: &Self) {
        if part.is_empty() {
            return;
        }
        self.histogram.subtract(&part.histogram).expect("a part is contained in the whole");
        self.sum -= part.sum;
        // A remaining extreme that came from `part` is replaced by that of the histogram, an exact one stays.
        if self.histogram.is_empty() {
            (self.min, self.max) = (u64::MAX, 0);
        } else {
            (self.min, self.max) = (self.min.max(self.histogram.min()), self.max.min(self.histogram.max()));
        }
    }
}

/// One distribution for each kind of command.
#[derive(Clone, Debug)]
pub(crate) struct ByOp([LatencyHistogram; 4]);

pub(crate) const OPS: [Op; 4] = [Op::Read, Op::Write, Op::Trim, Op::Flush];

impl ByOp {
    pub(crate) fn new(digits: u8) -> Self {
        Self(std::array::from_fn(|_| LatencyHistogram::new(digits)))
    }

    #[inline]
    pub(crate) fn of(&self, op: Op) -> &LatencyHistogram {
        &self.0[op as usize]
    }

    #[inline]
    pub(crate) fn of_mut(&mut self, op: Op) -> &mut LatencyHistogram {
        &mut self.0[op as usize]
    }

    /// Adds all counts of `other` and empties it.
    pub(crate) fn take_in(&mut self, other: &mut Self) {
        for (own, theirs) in self.0.iter_mut().zip(&mut other.0) {
            own.take_in(theirs);
        }
    }

    /// A copy without the latencies of `part`.
    pub(crate) fn without(&self, part: &Self) -> Self {
        let mut difference = self.clone();
        for (own, theirs) in difference.0.iter_mut().zip(&part.0) {
            own.subtract(theirs);
        }
        difference
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_that_are_taken_in_leave_nothing_behind() {
        let (mut all, mut part) = (LatencyHistogram::new(3), LatencyHistogram::new(3));
        for round in 1..4 {
            // Beyond the first range, so that the histogram grows.
            part.record(7_000_000_000);
            part.record(5);
            all.take_in(&mut part);
            assert_eq!((all.len(), all.sum()), (2 * round, u128::from(round) * 7_000_000_005));
            assert_eq!((all.min(), all.max()), (5, 7_000_000_000));
            assert!(part.is_empty(), "the part is empty in round {round}");
            assert_eq!((part.sum(), part.min(), part.max()), (0, u64::MAX, 0));
        }
    }
}
