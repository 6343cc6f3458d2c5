//! How many bits of a codeword were wrong when it was first read: a sample.

use super::turns::Turns;
use outlast_media::reliability::binomial::Binomial;
use outlast_media::reliability::{Ecc, open_unit, sample_errors, sample_worst_errors};
use outlast_units::rng::mix;

/// Codewords by wrong bits, one for each unit sampled.
#[derive(Clone, Debug)]
pub(super) struct Histogram {
    counts: Vec<u64>,
    turns: Turns,
    sampled: u64,
    /// Codewords in what is decoded at once, and bits of each.
    codewords: u32,
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

    /// Counts the wrong bits of a codeword of a unit of luck `u`, read at `ln_rber`.
    ///
    /// The unit's luck decides about its worst codeword. One of the unit's codewords, taken at random, is the worst with
    /// probability 1 / codewords, and else has as many wrong bits as a codeword that is no worse.
    #[cold]
    pub(super) fn sample(&mut self, u: f64, ln_rber: f64) {
        let (bits, rber) = (self.codeword_bits, ln_rber.exp());
        self.sampled += 1;
        let word = mix(u.to_bits() ^ self.sampled.rotate_left(32));
        let worst = sample_worst_errors(u, self.codewords, bits, rber);
        let errors = if word.is_multiple_of(u64::from(self.codewords)) {
            worst
        } else {
            let beyond = Binomial { trials: bits, p: rber }.tails(worst).ln_more.exp();
            let other = beyond + (1.0 - beyond) * open_unit(mix(word));
            sample_errors(other.min(1.0 - f64::EPSILON), bits, rber).min(worst)
        };
        assert!(errors <= bits, "{errors} wrong bits of {bits}");
        let index = errors as usize;
        if index >= self.counts.len() {
            self.counts.resize(index + 1, 0);
        }
        self.counts[index] += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Units of one codeword whose luck is uniform have binomially many wrong bits. The mean of 20 000, each with variance n·p·(1 − p), lies
    /// within five of its standard deviations.
    #[test]
    fn codewords_have_as_many_wrong_bits_as_the_rate_says() {
        const SAMPLES: u32 = 20_000;
        let ecc = Ecc { data_bits: 8192, strength: Some(75), ..Ecc::default() };
        let (n, p) = (f64::from(ecc.codeword_bits()), 1e-3f64);
        let mut histogram = Histogram::new(Turns::new(1, 1, "test"), 1, &ecc);
        for unit in 0..SAMPLES {
            histogram.sample(open_unit(mix(u64::from(unit))), p.ln());
        }
        let of = |(wrong, &count): (usize, &u64)| wrong as f64 * count as f64;
        let mean = histogram.counts().iter().enumerate().map(of).sum::<f64>() / f64::from(SAMPLES);
        let sigma = (n * p * (1.0 - p) / f64::from(SAMPLES)).sqrt();
        assert_eq!(histogram.counts().iter().sum::<u64>(), u64::from(SAMPLES));
        assert!((mean - n * p).abs() < 5.0 * sigma, "{mean} wrong bits, expected {}", n * p);
    }
}
