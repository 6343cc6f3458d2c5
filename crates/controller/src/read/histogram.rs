//! How many bits of a codeword were wrong when it was first read: a sample.

use super::turns::Turns;
use outlast_media::reliability::binomial::BinomialDistribution;
use outlast_media::reliability::{Ecc, open_unit, sample_errors, sample_worst_errors};
use outlast_units::rng::mix;

/// Codewords by wrong bits, one for each unit sampled.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub(super) struct Histogram {
    counts: Vec<u64>,
    turns: Turns,
    sampled: u64,
    /// Codewords in what is decoded at once, and bits of each.
    #[persist(fixed)]
    codewords: u32,
    #[persist(fixed)]
    codeword_bits: u32,
}

impl Histogram {
    pub(super) fn new(turns: Turns, codewords: u32, ecc: &Ecc) -> Self {
        assert!(codewords > 0, "a unit has at least one codeword");
        Self { counts: Vec::new(), turns, sampled: 0, codewords, codeword_bits: ecc.codeword_bits() }
    }

    /// Codewords by wrong bits; counts after the last one above 0 are left out.
    pub(super) fn counts(&self) -> &[u64] {
        &self.counts
    }

    pub(super) fn reset(&mut self) {
        self.counts.clear();
    }

    /// A unit has been read for the first time: now and then a codeword of one is to be counted.
    #[inline]
    pub(super) fn is_turn(&mut self) -> bool {
        self.turns.is_next()
    }

    /// Counts the wrong bits of a codeword of a unit of luck `u`, read at `ln_rber`; `one`: no other was decoded.
    ///
    /// The unit's luck decides about its worst codeword; the one that is counted is taken at random.
    #[cold]
    pub(super) fn sample(&mut self, u: f64, ln_rber: f64, one: bool) {
        let (bits, rber) = (self.codeword_bits, ln_rber.exp());
        let codewords = if one { 1 } else { self.codewords };
        self.sampled += 1;
        let word = mix(u.to_bits() ^ self.sampled.rotate_left(32));
        let worst = sample_worst_errors(u, codewords, bits, rber);
        let binomial = BinomialDistribution { trials: bits, p: rber };
        let (just, tails) = (binomial.ln_pmf(worst).exp(), binomial.tails(worst));
        let share = (just / tails.ln_at_most.exp()).min(1.0);
        let errors = if worst == 0 || open_unit(word) < p_as_bad(share, codewords) {
            worst
        } else {
            let beyond = tails.ln_more.exp() + just;
            let other = beyond + (1.0 - beyond) * open_unit(mix(word));
            sample_errors(other.min(1.0 - f64::EPSILON), bits, rber).min(worst - 1)
        };
        assert!(errors <= bits, "{errors} wrong bits of {bits}");
        let index = errors as usize;
        if index >= self.counts.len() {
            self.counts.resize(index + 1, 0);
        }
        self.counts[index] += 1;
    }
}

/// The probability that one of `codewords` alike codewords, taken at random, is as bad as the worst of them: it may be that one, or another that
/// ties with it. The others are as a codeword that is better. Of codewords that are no worse than the worst, the share `share` is as bad: one that
/// is given is with this probability, and at least one of all is with 1 − (1 − share)^codewords.
fn p_as_bad(share: f64, codewords: u32) -> f64 {
    debug_assert!((0.0..=1.0).contains(&share) && codewords > 0, "{share} of {codewords} codewords");
    // Where the share vanishes nobody ties.
    if share == 0.0 {
        1.0 / f64::from(codewords)
    } else {
        share / -(f64::from(codewords) * (-share).ln_1p()).exp_m1()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of up to four codewords of up to five bits each, all cases are counted: the probability that the first has k wrong bits and none has more.
    #[test]
    fn a_codeword_ties_with_the_worst_as_often_as_among_all_cases() {
        for (bits, p) in [(1, 0.5), (3, 0.02), (4, 0.3), (5, 0.9)] {
            let binomial = BinomialDistribution { trials: bits, p };
            let of: Vec<f64> = (0..=bits).map(|k| binomial.ln_pmf(k).exp()).collect();
            for codewords in 1..=4 {
                let (mut worst, mut as_bad) = (vec![0.0; of.len()], vec![0.0; of.len()]);
                for case in 0..of.len().pow(codewords) {
                    let errors: Vec<usize> =
                        (0..codewords).map(|i| case / of.len().pow(i) % of.len()).collect();
                    let p_case: f64 = errors.iter().map(|&k| of[k]).product();
                    let most = errors.iter().copied().max().expect("there is a codeword");
                    worst[most] += p_case;
                    as_bad[most] += if errors[0] == most { p_case } else { 0.0 };
                }
                for k in 0..=bits {
                    let share = of[k as usize] / binomial.tails(k).ln_at_most.exp();
                    let expected = as_bad[k as usize] / worst[k as usize];
                    let found = p_as_bad(share.min(1.0), codewords);
                    assert!(
                        (found - expected).abs() < 1e-11,
                        "{k} of {bits} at {p}, {codewords} codewords: {found} {expected}"
                    );
                }
            }
        }
        assert_eq!((p_as_bad(0.0, 4), p_as_bad(1.0, 4)), (0.25, 1.0));
        assert!((p_as_bad(1e-200, 4) - 0.25).abs() < 1e-15, "{}", p_as_bad(1e-200, 4));
    }

    /// Units whose luck is uniform: whatever the number of codewords in each, a codeword taken at random has binomially many wrong bits. Of 50 000
    /// the mean, each with variance n·p·(1 − p), lies within five of its standard deviations, and so does each count, which is binomial itself.
    #[test]
    fn codewords_have_as_many_wrong_bits_as_the_rate_says() {
        const SAMPLES: u32 = 50_000;
        let ecc = Ecc { data_bits: 8192, strength: Some(75), ..Ecc::default() };
        let (n, p, samples) = (ecc.codeword_bits(), 1e-3f64, f64::from(SAMPLES));
        let binomial = BinomialDistribution { trials: n, p };
        for codewords in [1, 4, 32] {
            let mut histogram = Histogram::new(Turns::new(1, 1, "test"), codewords, &ecc);
            for unit in 0..SAMPLES {
                histogram.sample(open_unit(mix(u64::from(unit))), p.ln(), false);
            }
            let counts = histogram.counts();
            assert_eq!(counts.iter().sum::<u64>(), u64::from(SAMPLES));
            let mut mean = 0.0;
            for (wrong, &count) in (0u32..).zip(counts) {
                mean += f64::from(wrong) * count as f64 / samples;
                let share = binomial.ln_pmf(wrong).exp();
                let sigma = (samples * share * (1.0 - share)).sqrt();
                // A count of what is hardly ever seen is no normal number: one is always granted.
                assert!(
                    (count as f64 - samples * share).abs() < 5.0 * sigma + 1.0,
                    "{codewords} codewords: {count} with {wrong} wrong bits, expected {}",
                    samples * share
                );
            }
            let (expected, sigma) = (f64::from(n) * p, (f64::from(n) * p * (1.0 - p) / samples).sqrt());
            assert!((mean - expected).abs() < 5.0 * sigma, "{mean} wrong bits, expected {expected}");
        }
    }
}
