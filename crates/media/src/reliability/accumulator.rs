//! Sums of probabilities too different in size for one `f64`.

use super::greatest;
use std::f64::consts::LN_2;

/// A sum of very many probabilities from 1 down to 1e-300 and far below (e^-1 400 000), none lost to underflow or to rounding:
/// one compensated sum (Neumaier 1974) for each factor of 2^512 in size. Adding n terms costs a relative error of about
/// 2^-52 + n·2^-106, so it does not grow with the length of a run.
#[derive(Clone, Debug, Default, outlast_persist::Persist)]
pub struct ProbabilitySum {
    /// Sum b holds terms of 2^(-512·(b+1)) to 2^(-512·b), each times 2^(512·b).
    scales: Vec<CompensatedSum>,
    count: u64,
}

/// ln of the least probability that is summed plainly with others.
const LEAST_PLAIN: f64 = -300.0;

/// 1/13! down to 1/0!.
const INVERSE_FACTORIALS: [f64; 14] = [
    1.0 / 6_227_020_800.0,
    1.0 / 479_001_600.0,
    1.0 / 39_916_800.0,
    1.0 / 3_628_800.0,
    1.0 / 362_880.0,
    1.0 / 40_320.0,
    1.0 / 5_040.0,
    1.0 / 720.0,
    1.0 / 120.0,
    1.0 / 24.0,
    1.0 / 6.0,
    1.0 / 2.0,
    1.0,
    1.0,
];

/// e^x for x in -300..=1e-12 to a relative 1e-15 or so, without branches, so that many are worked out side by side: x = n·ln 2 + r with |r|
/// at most ln 2 / 2, and the Taylor series of e^r to the 13th power, the first left out being below 4e-18.
#[inline]
fn exp(x: f64) -> f64 {
    /// ln 2 in two parts, the first with zeros at its end, so that n times it is exact.
    const LN_2_HIGH: f64 = f64::from_bits(0x3fe6_2e42_fefa_3800);
    const LN_2_LOW: f64 = 5.497_923_018_708_371e-14;
    /// Adding it leaves the nearest whole number in the low bits.
    const SHIFT: f64 = 6_755_399_441_055_744.0;
    let shifted = x * std::f64::consts::LOG2_E + SHIFT;
    let n = shifted - SHIFT;
    let r = (x - n * LN_2_HIGH) - n * LN_2_LOW;
    let [first, others @ ..] = INVERSE_FACTORIALS;
    let sum = others.iter().fold(first, |sum, &c| sum * r + c);
    f64::from_bits(sum.to_bits().wrapping_add(shifted.to_bits() << 52))
}

#[derive(Clone, Copy, Debug, Default, outlast_persist::Persist)]
struct CompensatedSum {
    sum: f64,
    lost: f64,
}

impl CompensatedSum {
    #[inline]
    fn add(&mut self, term: f64) {
        let sum = self.sum + term;
        self.lost += if self.sum >= term { (self.sum - sum) + term } else { (term - sum) + self.sum };
        self.sum = sum;
    }

    fn value(self) -> f64 {
        self.sum + self.lost
    }
}

/// A probability scaled for a sum.
#[derive(Clone, Copy, Debug)]
pub struct ProbabilityTerm {
    /// Index of the sum to add it to; [`SCALES`] or more: too small for any.
    scale: usize,
    /// Value in the scale of that sum.
    scaled: f64,
}

impl ProbabilityTerm {
    /// The probability `e^ln_p`, which may be too small for an `f64`; `-inf` is 0.
    #[inline]
    pub fn from_ln(ln_p: f64) -> Self {
        debug_assert!(ln_p <= 1e-12, "ln of a probability: {ln_p}");
        let scale = greatest(ln_p * (-1.0 / (BITS * LN_2)), 0.0);
        if scale < SCALES as f64 {
            let scale = scale as i64 as usize;
            Self { scale, scaled: (ln_p + scale as f64 * (BITS * LN_2)).exp() }
        } else {
            Self { scale: SCALES, scaled: 0.0 }
        }
    }
}

/// Binary orders of magnitude in one sum.
const BITS: f64 = 512.0;
/// 2^512 and 2^-512.
const UP: f64 = f64::from_bits((1023 + 512) << 52);
const DOWN: f64 = f64::from_bits((1023 - 512) << 52);
/// Sums kept at most: terms below 2^(-512·4096) are counted and else ignored.
const SCALES: usize = 4096;

impl ProbabilitySum {
    /// An empty sum.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the probability `p`, within 0..=1. No exponential or logarithm is taken.
    #[inline]
    pub fn add(&mut self, p: f64) {
        debug_assert!((0.0..=1.0).contains(&p), "probability {p}");
        self.count += 1;
        if p >= DOWN {
            self.put(0, p);
        } else if p > 0.0 {
            self.put(1, p * UP);
        }
    }

    /// Adds the probability `e^ln_p`, which may be too small for an `f64`; `-inf` is 0.
    #[inline]
    pub fn add_ln(&mut self, ln_p: f64) {
        self.add_term(ProbabilityTerm::from_ln(ln_p));
    }

    /// Adds a probability that goes to several sums, and whose exponential is taken once for all of them.
    #[inline]
    pub fn add_term(&mut self, term: ProbabilityTerm) {
        self.count += 1;
        if term.scale < SCALES {
            self.put(term.scale, term.scaled);
        }
    }

    /// Adds `times` equal probabilities `e^ln_p` at once: reads of a block whose state has not changed.
    #[inline]
    pub fn add_ln_times(&mut self, ln_p: f64, times: u64) {
        self.count += times;
        let term = ProbabilityTerm::from_ln(ln_p);
        if term.scale < SCALES {
            self.put(term.scale, term.scaled * times as f64);
        }
    }

    /// Adds the probabilities `e^ln_p` of a short list: several times as fast as one by one. Those above e^-300 are summed plainly
    /// before they are added, which costs a relative error of 2^-52 for each of them at most.
    pub fn add_ln_all(&mut self, ln_p: &[f64]) {
        /// Exponentials taken side by side before they are summed one after the other.
        const AT_ONCE: usize = 64;
        let mut sum = 0.0;
        let mut tiny = false;
        for ln_p in ln_p.chunks(AT_ONCE) {
            let mut p = [0.0; AT_ONCE];
            for (p, &ln_p) in p.iter_mut().zip(ln_p) {
                debug_assert!(ln_p <= 1e-12, "ln of a probability: {ln_p}");
                let plain = exp(greatest(ln_p, LEAST_PLAIN));
                *p = if ln_p > LEAST_PLAIN { plain } else { 0.0 };
                tiny |= ln_p <= LEAST_PLAIN;
            }
            sum = p[..ln_p.len()].iter().fold(sum, |sum, p| sum + p);
        }
        self.count += ln_p.len() as u64;
        if sum > 0.0 {
            self.put(0, sum);
        }
        if tiny {
            for &ln_p in ln_p.iter().filter(|&&ln_p| ln_p <= LEAST_PLAIN) {
                self.add_ln_times(ln_p, 1);
                self.count -= 1;
            }
        }
    }

    /// Adds what `other` has summed and counted.
    pub fn merge(&mut self, other: &Self) {
        self.count += other.count;
        for (index, scale) in other.scales.iter().enumerate() {
            self.put(index, scale.sum);
            self.scales[index].lost += scale.lost;
        }
    }

    /// Probabilities added, zeros included.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// ln of the sum: of the expected number of events; `-inf` if there is nothing but zeros.
    pub fn ln_total(&self) -> f64 {
        let Some(top) = self.scales.iter().position(|scale| scale.sum > 0.0) else {
            return f64::NEG_INFINITY;
        };
        self.scaled_total(top).ln() - top as f64 * (BITS * LN_2)
    }

    /// The sum; 0 if it is below 1e-308 (see [`ProbabilitySum::ln_total`]).
    pub fn total(&self) -> f64 {
        self.scaled_total(0)
    }

    /// ln of the mean probability; `-inf` if nothing was added.
    pub fn ln_mean(&self) -> f64 {
        if self.count == 0 { f64::NEG_INFINITY } else { self.ln_total() - (self.count as f64).ln() }
    }

    #[inline]
    fn put(&mut self, index: usize, term: f64) {
        if index >= self.scales.len() {
            self.scales.resize(index + 1, CompensatedSum::default());
        }
        self.scales[index].add(term);
    }

    /// The sum times 2^(512·top), with all sums above `top` empty.
    fn scaled_total(&self, top: usize) -> f64 {
        let mut total = CompensatedSum::default();
        let mut weight = 1.0;
        for scale in self.scales.iter().skip(top) {
            total.add(scale.sum * weight);
            total.add(scale.lost * weight);
            weight *= DOWN;
        }
        total.value()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quick_exponential_agrees_with_the_library() {
        for i in 0..=300_000 {
            let x = f64::from(i) * -1e-3;
            let (found, expected) = (exp(x), x.exp());
            assert!((found - expected).abs() <= 4e-15 * expected, "e^{x}: {found} {expected}");
        }
        assert!((exp(1e-12) - 1.0).abs() < 1e-11);
    }

    #[test]
    fn many_at_once_equal_one_by_one() {
        let all: Vec<f64> = (0..1000).map(|i| f64::from(i) * -0.7).chain([f64::NEG_INFINITY]).collect();
        let (mut at_once, mut one_by_one) = (ProbabilitySum::new(), ProbabilitySum::new());
        at_once.add_ln_all(&all);
        for &ln_p in &all {
            one_by_one.add_ln(ln_p);
        }
        assert_eq!(at_once.count(), one_by_one.count());
        assert!((at_once.ln_total() - one_by_one.ln_total()).abs() < 1e-13);
        // Only what is tiny.
        let (mut at_once, mut one_by_one) = (ProbabilitySum::new(), ProbabilitySum::new());
        at_once.add_ln_all(&all[500..]);
        for &ln_p in &all[500..] {
            one_by_one.add_ln(ln_p);
        }
        assert!((at_once.ln_total() - one_by_one.ln_total()).abs() < 1e-12);
    }
}
