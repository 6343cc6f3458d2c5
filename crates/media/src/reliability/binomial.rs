//! The binomial distribution in natural logarithms, exact in both tails: relative accuracy of a probability is a few 1e-13
//! whether it is 0.3 or 1e-3000.

use std::f64::consts::{LN_2, PI};
use std::ops::RangeInclusive;

/// The number of errors among `trials` bits that err independently with probability `p`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BinomialDistribution {
    /// Bits.
    pub trials: u32,
    /// Probability of an error of each; within 0..=1.
    pub p: f64,
}

/// Both sides of a threshold, each accurate relative to itself: neither is computed as 1 minus the other unless that loses
/// nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BinomialTails {
    /// ln P(X <= t).
    pub ln_at_most: f64,
    /// ln P(X > t).
    pub ln_more: f64,
}

impl BinomialDistribution {
    /// A sum of terms stops at one this small beside the sum; what follows adds at most a few hundred times as much.
    const NEGLIGIBLE: f64 = 1e-20;

    /// ln P(X = k), by the saddle-point expansion: Loader, "Fast and Accurate Computation of Binomial Probabilities", 2000.
    ///
    /// # Panics
    /// If `p` is not a probability.
    pub fn ln_pmf(&self, k: u32) -> f64 {
        let Self { trials, p } = *self;
        assert!((0.0..=1.0).contains(&p), "probability {p}");
        if k > trials {
            return f64::NEG_INFINITY;
        }
        let (n, x) = (f64::from(trials), f64::from(k));
        if k == 0 {
            return if trials == 0 { 0.0 } else { n * (-p).ln_1p() };
        }
        if k == trials {
            return n * p.ln();
        }
        if p == 0.0 || p >= 1.0 {
            return f64::NEG_INFINITY;
        }
        let passes = n - x;
        stirling_error(trials)
            - stirling_error(k)
            - stirling_error(trials - k)
            - deviance(x, n * p)
            - deviance(passes, n * (1.0 - p))
            + 0.5 * (n / (2.0 * PI * x * passes)).ln()
    }

    /// ln P(X in `range`), summed without cancellation. An empty range, or one beyond `trials`, has probability 0.
    pub fn ln_range(&self, range: RangeInclusive<u32>) -> f64 {
        let (low, high) = (*range.start(), (*range.end()).min(self.trials));
        if low > high {
            return f64::NEG_INFINITY;
        }
        let mode = self.mode();
        if (low..=high).contains(&mode) {
            // The range holds the mode: 1 minus the outer parts loses nothing if these are the lesser mass.
            let below = if low == 0 { 0.0 } else { self.ln_outward(low - 1, 0..=low - 1).exp() };
            let above = if high == self.trials {
                0.0
            } else {
                self.ln_outward(high + 1, high + 1..=self.trials).exp()
            };
            if below + above <= 0.5 {
                return (-(below + above)).ln_1p();
            }
        }
        self.ln_outward(mode.clamp(low, high), low..=high)
    }

    /// Both tails about `t`.
    pub fn tails(&self, t: u32) -> BinomialTails {
        if t >= self.trials {
            return BinomialTails { ln_at_most: 0.0, ln_more: f64::NEG_INFINITY };
        }
        if t < self.mode() {
            let ln_at_most = self.ln_outward(t, 0..=t);
            BinomialTails { ln_at_most, ln_more: ln_1m_exp(ln_at_most) }
        } else {
            let ln_more = self.ln_outward(t + 1, t + 1..=self.trials);
            BinomialTails { ln_at_most: ln_1m_exp(ln_more), ln_more }
        }
    }

    /// The most probable count (the greater, if two are).
    pub fn mode(&self) -> u32 {
        ((f64::from(self.trials) + 1.0) * self.p).min(f64::from(self.trials)) as u32
    }

    /// ln of the sum over `range`, from its most probable count `start` outward until the terms vanish.
    fn ln_outward(&self, start: u32, range: RangeInclusive<u32>) -> f64 {
        let ln_start = self.ln_pmf(start);
        if ln_start == f64::NEG_INFINITY {
            // p is 0 or 1, and all the mass lies outside.
            return f64::NEG_INFINITY;
        }
        let mut sum = 1.0;
        let (n, odds) = (f64::from(self.trials), self.p / (1.0 - self.p));
        let mut term = 1.0;
        for k in start + 1..=*range.end() {
            let k = f64::from(k);
            term *= (n - k + 1.0) / k * odds;
            sum += term;
            if term < sum * Self::NEGLIGIBLE {
                break;
            }
        }
        term = 1.0;
        for k in (*range.start()..start).rev() {
            let k = f64::from(k);
            term *= (k + 1.0) / ((n - k) * odds);
            sum += term;
            if term < sum * Self::NEGLIGIBLE {
                break;
            }
        }
        ln_start + sum.ln()
    }
}

/// ln(1 − e^x) for x <= 0, accurate at both ends (Mächler, "Accurately Computing log(1 − exp(−|a|))", 2012).
pub fn ln_1m_exp(x: f64) -> f64 {
    if x > -LN_2 { (-x.exp_m1()).ln() } else { (-x.exp()).ln_1p() }
}

/// ln of the probability that at least one of `count` independent events happens, each with probability `e^ln_p`:
/// `1 − (1 − p)^count`.
pub fn ln_any_of(ln_p: f64, count: u32) -> f64 {
    if count == 0 {
        return f64::NEG_INFINITY;
    }
    ln_any_of_given(ln_p, ln_1m_exp(ln_p), count)
}

/// [`ln_any_of`] when ln(1 − p) is known to full accuracy too, as it must be where p is nearly 1.
pub(super) fn ln_any_of_given(ln_p: f64, ln_not_p: f64, count: u32) -> f64 {
    let ln_count = f64::from(count).ln();
    if ln_p + ln_count < -40.0 {
        // The next term is count·p/2 < 1e-17 of this one; below 1e-308 the general form would underflow.
        return ln_p + ln_count;
    }
    ln_1m_exp(f64::from(count) * ln_not_p)
}

/// `ln k! − ln(√(2πk)·(k/e)^k)`, the error of Stirling's formula: a table, then Stirling's series, whose first omitted term
/// is below 2e-16 from 16 on.
fn stirling_error(k: u32) -> f64 {
    /// `python3 -c "from mpmath import *; mp.dps=40; [print(log(factorial(k))-(log(2*pi*k)/2+k*log(k)-k)) for k in range(1,16)]"`
    const SMALL: [f64; 16] = [
        0.0,
        0.081_061_466_795_327_26,
        0.041_340_695_955_409_3,
        0.027_677_925_684_998_34,
        0.020_790_672_103_765_093,
        0.016_644_691_189_821_193,
        0.013_876_128_823_070_748,
        0.011_896_709_945_891_77,
        0.010_411_265_261_972_096,
        0.009_255_462_182_712_733,
        0.008_330_563_433_362_87,
        0.007_573_675_487_951_841,
        0.006_942_840_107_209_53,
        0.006_408_994_188_004_207,
        0.005_951_370_112_758_848,
        0.005_554_733_551_962_802,
    ];
    if let Some(&error) = SMALL.get(k as usize) {
        return error;
    }
    let k = f64::from(k);
    let square = k * k;
    let series = [1.0 / 12.0, -1.0 / 360.0, 1.0 / 1260.0, -1.0 / 1680.0, 1.0 / 1188.0];
    series.iter().rev().fold(0.0, |sum, term| sum / square + term) / k
}

/// `x·ln(x/mean) + mean − x` without cancellation near x = mean (Loader's bd0).
fn deviance(x: f64, mean: f64) -> f64 {
    let difference = x - mean;
    let v = difference / (x + mean);
    if v.abs() < 0.1 {
        // With x/mean = (1+v)/(1−v): difference·v + 2x·(v³/3 + v⁵/5 + …).
        let mut sum = difference * v;
        let mut power = 2.0 * x * v;
        for odd in 1..1000 {
            power *= v * v;
            let next = sum + power / f64::from(2 * odd + 1);
            if next.to_bits() == sum.to_bits() {
                break;
            }
            sum = next;
        }
        return sum;
    }
    let ratio = x / mean;
    let ln_ratio = if ratio.is_finite() { ratio.ln() } else { x.ln() - mean.ln() };
    x * ln_ratio - difference
}
