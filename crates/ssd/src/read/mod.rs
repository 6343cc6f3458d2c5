//! Reading flash that errs: what a sensing gives, and how likely it was to fail.
//!
//! A sensing ([`sense`]) disturbs the cells of one flash core ([`CoreCells`]) and says which units the ECC does not give. What it learns the
//! drive keeps in its [`Reliability`]: the exact probabilities of all host reads ([`tails`]) and a sample of the numbers of wrong bits
//! ([`histogram`]).

mod cells;
mod corrections;
mod histogram;
mod lines;
mod sense;
mod tails;

pub(crate) use cells::CoreCells;
pub use corrections::Corrections;
pub(crate) use sense::{Attempt, Sensed, broken_units, faulty_units, units};
pub use tails::ExactTails;

use crate::config::{ReliabilityConfig, SsdConfig};
use histogram::Histogram;
use outlast_media::reliability::{Ecc, FailTable, ReadLadder};
use outlast_units::rng::SplitMix;
use tails::Tails;

/// How a drive's flash errs, and what is counted of it.
#[derive(Clone, Debug)]
pub(crate) struct Reliability {
    ladder: ReadLadder,
    ecc: Ecc,
    /// Whether reads of a block begin with the re-read that last worked on it.
    has_history: bool,
    /// Whether every unit lies within a page.
    has_small_units: bool,
    /// Which units patrol reads find bad.
    patrol: Option<FailTable>,
    tails: Tails,
    histogram: Histogram,
}

impl Reliability {
    pub(crate) fn new(config: &SsdConfig, reliability: &ReliabilityConfig, seed: u64) -> Self {
        let (unit, page) = (config.ftl.mapping_unit.0, config.geometry.page_size.0);
        // What is decoded at once: a unit, or a page where a unit spans several.
        let codewords = (unit.min(page) * 8).div_ceil(u64::from(reliability.ecc.data_bits)) as u32;
        let table = FailTable::new(&reliability.ecc, codewords);
        let patrol_errors = config
            .scrub
            .filter(|scrub| scrub.patrol.is_some())
            .and_then(|scrub| scrub.patrol_errors.or(reliability.ecc.strength.map(|strength| strength / 2)));
        let patrol = patrol_errors.map(|errors| {
            let strength = Some(errors.min(reliability.ecc.codeword_bits()));
            FailTable::new(&Ecc { strength, ..reliability.ecc.clone() }, codewords)
        });
        let stripes = Turns::new(reliability.stripe_exact_every, seed, "ssd.exact_tails");
        let samples = Turns::new(reliability.histogram_every, seed, "ssd.histogram");
        Self {
            ladder: ReadLadder::new(&reliability.rereads, table),
            ecc: reliability.ecc.clone(),
            has_history: reliability.reread_history,
            has_small_units: unit <= page,
            patrol,
            tails: Tails::new(stripes),
            histogram: Histogram::new(samples, codewords, &reliability.ecc),
        }
    }

    /// What corrects the bits.
    pub(crate) fn ecc(&self) -> &Ecc {
        &self.ecc
    }

    /// The exact probabilities of everything up to now.
    pub(crate) fn exact_tails(&self) -> ExactTails {
        self.tails.up_to_now(&self.ladder)
    }

    /// Codewords by wrong bits, as first read, of the units sampled.
    pub(crate) fn histogram(&self) -> &[u64] {
        self.histogram.counts()
    }

    /// Starts counting anew.
    pub(crate) fn reset(&mut self) {
        self.tails.reset();
        self.histogram.reset();
    }
}

/// Which of many things are looked at: each with probability 1 in `every`, by a draw of its own. So what is looked at does not keep
/// step with a workload that repeats itself.
#[derive(Clone, Debug)]
struct Turns {
    every: u32,
    /// Things up to the next that is looked at, itself included.
    left: u64,
    rng: SplitMix,
}

impl Turns {
    fn new(every: u32, seed: u64, name: &str) -> Self {
        assert!(every > 0, "one in none is looked at");
        let mut turns = Self { every, left: 0, rng: SplitMix::new(seed, name) };
        turns.left = turns.gap();
        turns
    }

    /// Geometrically distributed, with mean `every`.
    fn gap(&mut self) -> u64 {
        if self.every <= 1 {
            return 1;
        }
        let ln_passed_over = (-1.0 / f64::from(self.every)).ln_1p();
        1 + ((1.0 - self.rng.unit()).ln() / ln_passed_over) as u64
    }

    #[inline]
    fn is_next(&mut self) -> bool {
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
