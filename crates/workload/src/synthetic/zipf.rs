//! Zipf's law over any number of places, without a table of the places and, for nearly all draws, without a power.

use super::alias_table::AliasTable;
use outlast_units::rng::SplitMix;

/// Ranks below this have a cell of their own; above, each octave is cut into `PARTS` buckets.
const HEAD: u64 = 256;
/// Buckets per octave. Within a bucket the probability falls by at most the factor (1 + 1 / `PARTS`)^-theta, so fewer
/// than theta / `PARTS` of the draws need the exact comparison.
const PARTS: u64 = 128;
const _: () = assert!(HEAD >= PARTS && HEAD.is_power_of_two() && PARTS.is_power_of_two());

/// Draws rank r of 0..n with a probability proportional to (r + 1)^-theta, exactly: an alias table over buckets weighted
/// by an upper bound, then rejection within the bucket (the idea of W. Hörmann and G. Derflinger, "Rejection-inversion to
/// generate variates from monotone discrete distributions", 1996, with a step function as the hat).
#[derive(Clone, Debug)]
pub(crate) struct ZipfRanks {
    buckets: Box<[ZipfBucket]>,
    table: AliasTable,
    theta: f64,
}

#[derive(Clone, Copy, Debug)]
struct ZipfBucket {
    /// First rank, counted from 1.
    first: u64,
    /// Ranks in the bucket; at least 1.
    count: u64,
    /// 2^63 times the least chance of acceptance in the bucket, that of its last rank.
    accept: u64,
}

impl ZipfRanks {
    /// The law over `places` ranks (at least 1) with skew `theta` > 0.
    pub(crate) fn new(places: u64, theta: f64) -> Self {
        let mut buckets = Vec::new();
        let mut weights = Vec::new();
        let mut first = 1u64;
        while first <= places {
            // The octave of `first` is 2^ilog2; its parts are equal and, above HEAD, whole.
            let width = if first < HEAD { 1 } else { (1u64 << first.ilog2()) / PARTS };
            let count = width.min(places - first + 1);
            let last = first + (count - 1);
            // Ranks are accepted in proportion to the first one; the last is the least likely, so below its chance all are.
            let least = (first as f64 / last as f64).powf(theta);
            buckets.push(ZipfBucket { first, count, accept: (least * 2f64.powi(63)) as u64 });
            // The first rank is the likeliest, so this weight bounds the bucket's true share from above.
            weights.push(count as f64 * (first as f64).powf(-theta));
            first = match last.checked_add(1) {
                Some(next) => next,
                None => break,
            };
        }
        Self { table: AliasTable::new(&weights), buckets: buckets.into(), theta }
    }

    /// A rank, counted from 0.
    #[inline]
    pub(crate) fn draw(&self, rng: &mut SplitMix) -> u64 {
        loop {
            let bucket = self.buckets[self.table.draw(rng)];
            if bucket.count == 1 {
                return bucket.first - 1;
            }
            // One word gives the place within the bucket (upper part) and the rejection variate (lower part).
            let product = u128::from(rng.next_u64()) * u128::from(bucket.count);
            let rank = bucket.first + (product >> 64) as u64;
            let variate = (product as u64) >> 1;
            if variate < bucket.accept || self.accepts(bucket.first, rank, variate) {
                return rank - 1;
            }
        }
    }

    /// The exact comparison with the probability of `rank`, needed where the bound of the bucket does not decide.
    #[cold]
    fn accepts(&self, first: u64, rank: u64, variate: u64) -> bool {
        (variate as f64) < (first as f64 / rank as f64).powf(self.theta) * 2f64.powi(63)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Oracle: the probabilities by their definition.
    fn exact(places: u64, theta: f64) -> Vec<f64> {
        let weights: Vec<f64> = (1..=places).map(|r| (r as f64).powf(-theta)).collect();
        let total: f64 = weights.iter().sum();
        weights.into_iter().map(|w| w / total).collect()
    }

    #[test]
    fn frequencies_match_the_law() {
        for (places, theta) in [(1, 0.99), (7, 0.5), (256, 0.99), (257, 0.99), (5000, 0.99), (100_000, 1.2)] {
            let law = ZipfRanks::new(places, theta);
            let mut rng = SplitMix::new(11, "zipf");
            let draws = 400_000u32;
            // Compare sums over ranges of ranks [2^i, 2^(i+1)) and the ten first ranks.
            let probability = exact(places, theta);
            let mut counts = vec![0u32; places as usize];
            for _ in 0..draws {
                counts[law.draw(&mut rng) as usize] += 1;
            }
            let ranges =
                (0..10.min(places)).map(|i| (i, i + 1)).chain((0..17).map(|i| ((1 << i) - 1, (2 << i) - 1)));
            for (from, to) in ranges.filter(|&(from, _)| from < places) {
                let range = from as usize..to.min(places) as usize;
                let p: f64 = probability[range.clone()].iter().sum();
                let count: u32 = counts[range].iter().sum();
                // Binomial, six standard deviations (27 comparisons a case: below one failure in 10^7), plus one count.
                let sigma = (f64::from(draws) * p * (1.0 - p).max(0.0)).sqrt();
                let miss = (f64::from(count) - f64::from(draws) * p).abs();
                assert!(
                    miss <= 6.0 * sigma + 1.0,
                    "{places} {theta} {from}..{to}: off by {miss}, sigma {sigma}"
                );
            }
        }
    }

    #[test]
    fn huge_spaces_stay_small_and_in_range() {
        let law = ZipfRanks::new(u64::MAX, 0.99);
        assert!(law.buckets.len() < 8_000);
        let mut rng = SplitMix::new(5, "zipf");
        assert!((0..10_000).map(|_| law.draw(&mut rng)).any(|rank| rank > u64::from(u32::MAX)));
    }
}
