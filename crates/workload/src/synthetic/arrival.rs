//! Arrival times of a synthetic stream.

use outlast_units::{Nanos, rng::SplitMix};

/// The arrival process of one stream.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ArrivalPlan {
    /// No times: closed loop.
    Closed,
    /// Equal gaps of this many nanoseconds.
    Fixed(f64),
    /// Exponential gaps with this mean in nanoseconds.
    Poisson(f64),
}

/// One nanosecond in the clock's fixed point.
const ONE: f64 = (1u64 << 32) as f64;

/// A clock that adds up gaps without losing fractions: 96.32 bits, so a rate holds exactly over any run.
#[derive(Clone, Debug)]
pub(crate) struct ArrivalClock {
    plan: ArrivalPlan,
    rng: SplitMix,
    /// The last arrival in units of 2^-32 ns.
    clock: u128,
    /// The gap in the same units, for equal gaps.
    gap: u128,
    first: bool,
}

impl ArrivalClock {
    pub(crate) fn new(plan: ArrivalPlan, rng: SplitMix, start: Nanos) -> Self {
        let gap = if let ArrivalPlan::Fixed(gap) = plan { (gap * ONE) as u128 } else { 0 };
        Self { plan, rng, clock: u128::from(start.0) << 32, gap, first: true }
    }

    /// The next arrival. With equal gaps the first request arrives at the start; with exponential gaps after the first gap.
    #[inline]
    pub(crate) fn next(&mut self) -> Nanos {
        match self.plan {
            ArrivalPlan::Closed => return Nanos::ZERO,
            ArrivalPlan::Fixed(_) => {
                if !std::mem::replace(&mut self.first, false) {
                    self.clock += self.gap;
                }
            }
            ArrivalPlan::Poisson(mean) => {
                // 1 - unit() lies in (0, 1], so the logarithm is finite.
                let gap = -(1.0 - self.rng.unit()).ln() * mean;
                let units = gap * ONE;
                // Gaps below 4.3 s fit into 64 bits, whose conversion is one instruction instead of a call.
                self.clock += if units < u64::MAX as f64 { u128::from(units as u64) } else { units as u128 };
            }
        }
        Nanos(u64::try_from(self.clock >> 32).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_gaps_do_not_drift() {
        // Three per microsecond: the gap is a third of a microsecond, never representable.
        let mut arrivals = ArrivalClock::new(ArrivalPlan::Fixed(1e3 / 3.0), SplitMix::new(1, "a"), Nanos(5));
        assert_eq!(arrivals.next(), Nanos(5));
        let last = (0..3_000_000).map(|_| arrivals.next()).last();
        // Each gap is short by less than 2^-32 ns: together less than a nanosecond.
        assert!(last.is_some_and(|at| at.0.abs_diff(1_000_000_005) <= 1), "{last:?}");
    }

    #[test]
    fn exponential_gaps_have_the_mean_and_variance() {
        gaps_have_the_mean_and_variance(2000.0);
    }

    #[test]
    fn exponential_gaps_of_minutes_are_not_cut_at_the_4_seconds_of_64_bits() {
        gaps_have_the_mean_and_variance(100e9);
    }

    fn gaps_have_the_mean_and_variance(mean: f64) {
        let mut arrivals = ArrivalClock::new(ArrivalPlan::Poisson(mean), SplitMix::new(1, "a"), Nanos::ZERO);
        let count = 200_000;
        let times: Vec<u64> = (0..count).map(|_| arrivals.next().0).collect();
        let mean_gap = times[count - 1] as f64 / count as f64;
        // The mean of n exponentials has a standard deviation of mean / sqrt(n); six of them.
        assert!((mean_gap - mean).abs() < 6.0 * mean / (count as f64).sqrt(), "{mean_gap}");
        let squares: f64 =
            times.windows(2).map(|w| ((w[1] - w[0]) as f64).powi(2)).sum::<f64>() / (count - 1) as f64;
        // E[x^2] = 2 mean^2; Var[x^2] = 20 mean^4.
        assert!(
            (squares - 2.0 * mean * mean).abs() < 6.0 * (20.0f64 / count as f64).sqrt() * mean * mean,
            "{squares}"
        );
    }
}
