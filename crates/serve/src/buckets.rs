//! Histograms of times by powers of two. Unlike quantiles, counts can be subtracted, so any number of readers can compute differences.

use outlast_units::Nanos;
use serde::{Serialize, Serializer};

/// Upper bounds 1, 2, 4, … 2^25 microseconds (half a minute), and one bucket without bound.
const BUCKETS: usize = 27;

/// Counts of times, by powers of two of microseconds. Serialised cumulatively: times of at most 1, 2, 4, … microseconds, and all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TimeBuckets([u64; BUCKETS]);

impl TimeBuckets {
    /// Counts a time.
    #[inline]
    pub(crate) fn count(&mut self, time: Nanos) {
        let us = time.0.div_ceil(1000).max(1);
        // Rounded up: a time of exactly 2^n microseconds is counted in bucket n.
        let power = (u64::BITS - (us - 1).leading_zeros()) as usize;
        self.0[power.min(BUCKETS - 1)] += 1;
    }
}

impl Serialize for TimeBuckets {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let sums = self.0.iter().scan(0, |sum, count| {
            *sum += count;
            Some(*sum)
        });
        serializer.collect_seq(sums)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_counted_below_the_first_power_that_is_not_less() {
        let mut buckets = TimeBuckets::default();
        for ns in [0, 1, 1000, 1001, 2000, 2001, 4000, 4001, 33_554_432_000, 33_554_432_001, u64::MAX] {
            buckets.count(Nanos(ns));
        }
        let counts: Vec<u64> = serde_json::from_value(serde_json::to_value(buckets).unwrap()).unwrap();
        assert_eq!((&counts[..5], &counts[23..]), (&[3, 5, 7, 8, 8][..], &[8, 8, 9, 11][..]));
    }
}
