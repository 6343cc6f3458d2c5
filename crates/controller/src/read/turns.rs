//! Which of many things are looked at.

use outlast_units::rng::SplitMix;

/// Which of many things are looked at: each with probability 1 in `every`, by a draw of its own. So what is looked at does not keep
/// step with a workload that repeats itself. An `every` of 0: none is.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub(super) struct Turns {
    #[persist(fixed)]
    every: u32,
    /// Things up to the next that is looked at, itself included.
    left: u64,
    rng: SplitMix,
}

impl Turns {
    pub(super) fn new(every: u32, seed: u64, name: &str) -> Self {
        let mut turns = Self { every, left: 0, rng: SplitMix::new(seed, name) };
        turns.left = turns.gap();
        turns
    }

    /// Geometrically distributed, with mean `every`.
    fn gap(&mut self) -> u64 {
        if self.every <= 1 {
            return if self.every == 0 { u64::MAX } else { 1 };
        }
        let ln_passed_over = (-1.0 / f64::from(self.every)).ln_1p();
        1 + ((1.0 - self.rng.unit()).ln() / ln_passed_over) as u64
    }

    #[inline]
    pub(super) fn is_next(&mut self) -> bool {
        debug_assert!(self.left > 0, "the next thing to look at has been passed");
        self.left -= 1;
        let is_next = self.left == 0;
        if is_next {
            self.left = self.gap();
        }
        is_next
    }
}

#[cfg(test)]
mod tests {
    use super::Turns;

    #[test]
    fn one_in_one_is_every_one() {
        let mut turns = Turns::new(1, 5, "test");
        assert!((0..100).all(|_| turns.is_next()));
    }

    #[test]
    fn one_in_none_is_none() {
        let mut turns = Turns::new(0, 5, "test");
        assert!((0..100_000).all(|_| !turns.is_next()));
    }

    /// The gaps are geometric with mean 7: of 100 000, the mean lies within five of its standard deviations, √(7·6 / 100 000).
    #[test]
    fn the_mean_gap_is_the_one_asked_for() {
        let mut turns = Turns::new(7, 1, "test");
        let gaps: Vec<u64> = (0..100_000).map(|_| turns.gap()).collect();
        let mean = gaps.iter().sum::<u64>() as f64 / gaps.len() as f64;
        assert!(
            gaps.iter().all(|&gap| gap >= 1) && (mean - 7.0).abs() < 5.0 * (42.0f64 / 1e5).sqrt(),
            "{mean}"
        );
    }
}
