//! Latency histograms.

use hdrhistogram::Histogram;
use outlast_device::Op;

/// Nanoseconds up to so much are told apart (28 hours); longer latencies count as this.
const HIGHEST_NS: u64 = 100_000_000_000_000;

/// A histogram that grows to what it has seen.
pub(crate) fn empty(digits: u8) -> Histogram<u64> {
    let mut histogram =
        Histogram::new_with_bounds(1, 2_000_000, digits).expect("bounds and digits were validated");
    histogram.auto(true);
    histogram
}

#[inline]
pub(crate) fn record(histogram: &mut Histogram<u64>, latency_ns: u64) {
    // Not `saturating_record`, which does not grow.
    histogram.record(latency_ns.min(HIGHEST_NS)).expect("the histogram grows up to the highest latency");
}

/// One histogram for each kind of command.
#[derive(Clone, Debug)]
pub(crate) struct ByOp([Histogram<u64>; 4]);

pub(crate) const OPS: [Op; 4] = [Op::Read, Op::Write, Op::Trim, Op::Flush];

impl ByOp {
    pub(crate) fn new(digits: u8) -> Self {
        Self(std::array::from_fn(|_| empty(digits)))
    }

    #[inline]
    pub(crate) fn of(&self, op: Op) -> &Histogram<u64> {
        &self.0[op as usize]
    }

    #[inline]
    pub(crate) fn of_mut(&mut self, op: Op) -> &mut Histogram<u64> {
        &mut self.0[op as usize]
    }

    /// Adds all counts of `other` and empties it.
    pub(crate) fn take_in(&mut self, other: &mut Self) {
        for (own, theirs) in self.0.iter_mut().zip(&mut other.0) {
            if !theirs.is_empty() {
                own.add(&*theirs).expect("histograms grow");
                theirs.reset();
            }
        }
    }

    /// What is here and not in `part`.
    pub(crate) fn without(&self, part: &Self) -> Self {
        let mut rest = self.clone();
        for (own, theirs) in rest.0.iter_mut().zip(&part.0) {
            if !theirs.is_empty() {
                own.subtract(theirs).expect("a part is contained in the whole");
            }
        }
        rest
    }
}
