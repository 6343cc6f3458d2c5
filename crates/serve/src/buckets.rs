//! Counts of times by powers of two: sums, of which any number of onlookers can take differences. Quantiles have none.

use outlast_units::Nanos;
use serde::{Serialize, Serializer};

/// Limits: 1, 2, 4, … 2^25 microseconds, which is half a minute, and none.
const COUNT: usize = 27;

/// How many times were at most 1, 2, 4, … microseconds. Serialised as those counts, the last one of all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Buckets([u64; COUNT]);

impl Buckets {
    /// Counts one.
    #[inline]
    pub(crate) fn note(&mut self, time: Nanos) {
        let us = time.0.div_ceil(1000).max(1);
        let power = (u64::BITS - (us - 1).leading_zeros()) as usize;
        self.0[power.min(COUNT - 1)] += 1;
    }
}

impl Serialize for Buckets {
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
        let mut buckets = Buckets::default();
        for ns in [0, 1, 1000, 1001, 2000, 2001, 4000, 4001, 33_554_432_000, 33_554_432_001, u64::MAX] {
            buckets.note(Nanos(ns));
        }
        let told: Vec<u64> = serde_json::from_value(serde_json::to_value(buckets).unwrap()).unwrap();
        assert_eq!((&told[..5], &told[23..]), (&[3, 5, 7, 8, 8][..], &[8, 8, 9, 11][..]));
    }
}
