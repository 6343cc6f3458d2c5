//! The tails of one binomial about one threshold, prepared for many probabilities.

use outlast_media::reliability::binomial::{BinomialDistribution, ln_1m_exp};

/// P(X > t) and P(X <= t) of n trials, with everything that does not depend on the probability p of a trial computed
/// in advance: an evaluation takes one exponential or logarithm, and a few multiplications for each significant term.
///
/// The first term is that of `outlast_media`'s binomial at p0 = (t+1)/(n+1), carried to p by
/// `k·(ln p − ln p0) + (n − k)·(ln(1−p) − ln(1−p0))`; the others follow by their quotients. Below p0 the upper tail is summed
/// and the lower one is its complement, from p0 on the other way round, so neither cancels. Relative error: a few
/// 1e-16 times the exponents in that sum; below 1e-11 for codewords of up to 2^20 bits.
#[derive(Clone, Debug)]
pub(crate) struct FixedTail {
    /// True if X > t is possible at all.
    possible: bool,
    /// The p from which t + 1 is at least as probable as t.
    turn: f64,
    upper: BinomialTerm,
    lower: BinomialTerm,
    /// P(X = k + 1) / P(X = k) over the odds p/(1−p), from k = t + 1 on.
    rising: Vec<f64>,
    /// P(X = k − 1) / P(X = k) times the odds, from k = t downward.
    falling: Vec<f64>,
}

/// Probability of one trial, strictly between 0 and 1, with its odds and logarithms, which all tails share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TrialProbability {
    pub(crate) p: f64,
    odds: f64,
    ln_p: f64,
    ln_not_p: f64,
}

impl TrialProbability {
    pub(crate) fn new(p: f64) -> Self {
        Self { p, odds: p / (1.0 - p), ln_p: p.ln(), ln_not_p: (-p).ln_1p() }
    }
}

/// P(X = k) as a function of p.
#[derive(Clone, Copy, Debug)]
struct BinomialTerm {
    k: f64,
    /// n − k.
    misses: f64,
    ln_at_p0: f64,
    ln_p0: f64,
    ln_not_p0: f64,
}

impl BinomialTerm {
    fn new(trials: u32, k: u32, p0: f64) -> Self {
        Self {
            k: f64::from(k),
            misses: f64::from(trials - k),
            ln_at_p0: BinomialDistribution { trials, p: p0 }.ln_pmf(k),
            ln_p0: p0.ln(),
            ln_not_p0: (-p0).ln_1p(),
        }
    }

    #[inline]
    fn ln(&self, trial: &TrialProbability) -> f64 {
        self.k.mul_add(
            trial.ln_p - self.ln_p0,
            self.misses.mul_add(trial.ln_not_p - self.ln_not_p0, self.ln_at_p0),
        )
    }
}

/// One tail, the lesser one except for rounding: `e^ln_first · sum`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TailSide {
    /// True for P(X > t), false for P(X <= t).
    pub(crate) upper: bool,
    ln_first: f64,
    sum: f64,
}

impl TailSide {
    /// The probability.
    #[inline]
    pub(crate) fn value(&self) -> f64 {
        self.ln_first.exp() * self.sum
    }

    /// Natural logarithm of the probability.
    #[inline]
    pub(crate) fn ln(&self) -> f64 {
        (self.ln_first + self.sum.ln()).min(0.0)
    }
}

impl FixedTail {
    /// Share of the sum below which a term ends it; all following terms add at most some dozen times as much.
    const NEGLIGIBLE: f64 = 1e-18;

    /// The tails of `trials` trials about `t`.
    pub(crate) fn new(trials: u32, t: u32) -> Self {
        let possible = t < trials;
        let t = t.min(trials.saturating_sub(1));
        let (n, turn) = (f64::from(trials), (f64::from(t) + 1.0) / (f64::from(trials) + 1.0));
        let odds = turn / (1.0 - turn);
        let rising = (t + 1..trials).map(|k| (n - f64::from(k)) / (f64::from(k) + 1.0));
        let falling = (1..=t).rev().map(|k| f64::from(k) / (n - f64::from(k) + 1.0));
        Self {
            possible,
            turn,
            upper: BinomialTerm::new(trials, t + 1, turn),
            lower: BinomialTerm::new(trials, t, turn),
            rising: significant(rising, odds),
            falling: significant(falling, 1.0 / odds),
        }
    }

    /// True if X > t can happen.
    pub(crate) fn possible(&self) -> bool {
        self.possible
    }

    /// The tail that is summed at this p.
    #[inline]
    pub(crate) fn side(&self, trial: &TrialProbability) -> TailSide {
        let upper = trial.p < self.turn;
        let (term, ratios, factor) = if upper {
            (&self.upper, &self.rising, trial.odds)
        } else {
            (&self.lower, &self.falling, 1.0 / trial.odds)
        };
        let (mut sum, mut last) = (1.0, 1.0);
        for ratio in ratios {
            last *= ratio * factor;
            sum += last;
            if last < sum * Self::NEGLIGIBLE {
                break;
            }
        }
        TailSide { upper, ln_first: term.ln(trial), sum }
    }

    /// ln P(X > t) and ln P(X <= t) at any p within 0..=1.
    pub(crate) fn ln_both(&self, p: f64) -> (f64, f64) {
        if !self.possible || p <= 0.0 {
            return (f64::NEG_INFINITY, 0.0);
        }
        if p >= 1.0 {
            return (0.0, f64::NEG_INFINITY);
        }
        let side = self.side(&TrialProbability::new(p));
        let ln = side.ln();
        if side.upper { (ln, ln_1m_exp(ln)) } else { (ln_1m_exp(ln), ln) }
    }
}

/// The leading ratios, up to the first whose term is negligible if each is multiplied by `factor`, the largest that occurs.
fn significant(ratios: impl Iterator<Item = f64>, factor: f64) -> Vec<f64> {
    let (mut sum, mut last) = (1.0, 1.0);
    let mut kept = Vec::new();
    for ratio in ratios {
        kept.push(ratio);
        last *= ratio * factor;
        sum += last;
        if last < sum * FixedTail::NEGLIGIBLE {
            break;
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Both are accurate; they differ by their rounding, which grows with the exponents.
    fn agree(n: u32, t: u32, p: f64) -> Result<(), TestCaseError> {
        let (ln_more, ln_at_most) = FixedTail::new(n, t).ln_both(p);
        let tails = BinomialDistribution { trials: n, p }.tails(t);
        let close = |actual: f64, expected: f64| {
            actual.to_bits() == expected.to_bits()
                || (actual - expected).abs()
                    <= 2e-11 * expected.abs().min(1.0) + 4.0 * f64::EPSILON * expected.abs()
                || expected > -1e-290
        };
        prop_assert!(close(ln_more, tails.ln_more), "P(X > {t}) of {n}, {p:e}: {ln_more} {}", tails.ln_more);
        prop_assert!(
            close(ln_at_most, tails.ln_at_most),
            "P(X <= {t}) of {n}, {p:e}: {ln_at_most} {}",
            tails.ln_at_most
        );
        Ok(())
    }

    proptest! {
        #[test]
        fn as_the_general_binomial(n in 1u32..70_000, share in 0.0f64..1.0, ln_p in -690.0f64..-1e-9) {
            agree(n, (f64::from(n) * share.powi(4)) as u32, ln_p.exp())?;
        }

        #[test]
        fn as_the_general_binomial_about_the_turn(n in 2u32..1 << 20, t in 0u32..4000, factor in 0.5f64..2.0) {
            let t = t.min(n - 1);
            agree(n, t, ((f64::from(t) + 1.0) / (f64::from(n) + 1.0) * factor).min(1.0))?;
        }
    }

    #[test]
    fn tails_are_exact_at_probabilities_of_zero_and_one() {
        for (n, t) in [(10, 3), (1, 0), (4096, 4095)] {
            assert_eq!(FixedTail::new(n, t).ln_both(0.0), (f64::NEG_INFINITY, 0.0));
            assert_eq!(FixedTail::new(n, t).ln_both(1.0), (0.0, f64::NEG_INFINITY));
        }
        assert_eq!(FixedTail::new(10, 10).ln_both(0.7), (f64::NEG_INFINITY, 0.0));
        assert!(!FixedTail::new(10, 12).possible());
    }
}
