//! Spread of parity over the stripes of a period: exact over the period, and as even as possible within it.

use outlast_settings::array::Shares;
use std::cmp::Ordering;

/// For each stripe of the period, the members that hold its parity chunks, as bits.
///
/// After every stripe, each member has held parity within less than one chunk of its share of the stripes so far. This is
/// proportionate-fair scheduling: a member with `c` of `T` stripes takes its j-th in a window from ⌊(j−1)·T/c⌋ to ⌈j·T/c⌉.
/// For one parity, taking the earliest deadline suffices; for more, ties are broken by the deadlines that follow (Baruah,
/// Cohen, Plaxton, Varvel, "Proportionate progress", Algorithmica 15, 1996: algorithm PF).
///
/// # Panics
/// If the shares do not fill each stripe exactly; [`Shares`] has no way to build such.
pub fn spread(shares: &Shares) -> Vec<u64> {
    let parities = shares.parities();
    let tasks: Vec<SpreadTask> =
        shares.counts.iter().map(|&count| SpreadTask { count, period: shares.period }).collect();
    // The next chunk of each member, counted from 1; beyond its count there is none.
    let mut next = vec![1u32; tasks.len()];
    let mut eligible: Vec<usize> = Vec::with_capacity(tasks.len());
    (0..shares.period)
        .map(|stripe| {
            eligible.clear();
            eligible.extend(
                (0..tasks.len())
                    .filter(|&i| next[i] <= tasks[i].count && tasks[i].release(next[i]) <= stripe),
            );
            assert!(eligible.len() >= parities, "a stripe lacks members for its parity");
            eligible.sort_by(|&a, &b| order(tasks[a], next[a], tasks[b], next[b], parities > 1));
            let chosen = &eligible[..parities];
            let mut set = 0;
            for &member in chosen {
                set |= 1 << member;
                next[member] += 1;
            }
            set
        })
        .collect()
}

/// A member as a task of the scheduler: `count` chunks in `period` stripes.
#[derive(Clone, Copy)]
struct SpreadTask {
    count: u32,
    period: u32,
}

impl SpreadTask {
    /// First stripe in which chunk `j` may be placed.
    fn release(self, j: u32) -> u32 {
        to_stripe(u64::from(j - 1) * u64::from(self.period) / u64::from(self.count))
    }
    /// The stripe before which chunk `j` must be placed.
    fn deadline(self, j: u32) -> u32 {
        to_stripe((u64::from(j) * u64::from(self.period)).div_ceil(u64::from(self.count)))
    }
    /// True if the windows of chunks `j` and `j + 1` share a stripe.
    fn overlaps(self, j: u32) -> bool {
        !(u64::from(j) * u64::from(self.period)).is_multiple_of(u64::from(self.count))
    }
}

/// A stripe of a period, or its end: no chunk is numbered beyond a member's count, so that none lies beyond the period.
fn to_stripe(stripe: u64) -> u32 {
    #[allow(clippy::cast_possible_truncation, reason = "at most the period, which has 32 bits")]
    let stripe = stripe as u32;
    stripe
}

/// Order of two members' next chunks: by deadline, then, with `look_ahead`, by the windows that follow (algorithm PF).
fn order(a: SpreadTask, mut ja: u32, b: SpreadTask, mut jb: u32, look_ahead: bool) -> Ordering {
    loop {
        let earlier = a.deadline(ja).cmp(&b.deadline(jb));
        if earlier != Ordering::Equal || !look_ahead || a.count == b.count {
            return earlier;
        }
        match (a.overlaps(ja), b.overlaps(jb)) {
            (true, true) => (ja, jb) = (ja + 1, jb + 1),
            (more_a, more_b) => return more_b.cmp(&more_a),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The share of each member is exact over the period, and after every stripe less than one chunk off.
    fn check(shares: &Shares) -> Result<(), TestCaseError> {
        let sets = spread(shares);
        prop_assert_eq!(sets.len(), shares.period as usize);
        let mut held = vec![0u64; shares.counts.len()];
        for (stripe, set) in sets.iter().enumerate() {
            prop_assert_eq!(set.count_ones() as usize, shares.parities());
            for (member, held) in held.iter_mut().enumerate() {
                *held += set >> member & 1;
                let ideal = (stripe as u64 + 1) * u64::from(shares.counts[member]);
                let lag = (*held * u64::from(shares.period)).abs_diff(ideal);
                prop_assert!(lag < u64::from(shares.period), "member {} at stripe {}", member, stripe);
            }
        }
        for (member, &held) in held.iter().enumerate() {
            prop_assert_eq!(held, u64::from(shares.counts[member]));
        }
        Ok(())
    }

    /// Random whole shares that fill `parities` chunks of each of `period` stripes.
    fn any_shares() -> impl Strategy<Value = Shares> {
        (1usize..4, 1u32..200, prop::collection::vec(0u32..1000, 4..12)).prop_map(
            |(parities, period, weights)| {
                let mut counts = vec![0u32; weights.len()];
                let mut left = period * parities as u32;
                // Water-fill by weight, at most one chunk of each stripe to a member.
                let total: u64 = weights.iter().map(|&w| u64::from(w) + 1).sum();
                for (count, &weight) in counts.iter_mut().zip(&weights) {
                    let ideal = u64::from(period * parities as u32) * (u64::from(weight) + 1) / total;
                    *count = (ideal as u32).min(period).min(left);
                    left -= *count;
                }
                for count in &mut counts {
                    let more = left.min(period - *count);
                    *count += more;
                    left -= more;
                }
                Shares { period, counts }
            },
        )
    }

    proptest! {
        #[test]
        fn every_share_is_exact_over_the_period_and_within_one_chunk_before(shares in any_shares()) {
            check(&shares)?;
        }
    }

    #[test]
    fn the_finest_shares_are_placed_too() {
        for (percent, parities) in [
            (&[49.999, 49.998, 0.003][..], 1),
            (&[33.333, 33.334, 33.333][..], 1),
            (&[100.0, 0.0, 0.0][..], 1),
            (&[49.999, 0.001, 25.0, 20.0, 5.0][..], 2),
        ] {
            check(&Shares::from_percent("p", percent, parities).unwrap()).unwrap();
        }
    }
}
