//! Outcome of reading a page through its ECC: corrected, detected as wrong, or neither.

use crate::DomainError;
use crate::error::within;
use crate::logs::{ln_any_weighted, ln_exp_m1, ln_sub};
use crate::tail::{FixedTail, TrialProbability};
use outlast_media::reliability::Ecc;

/// A page of equal codewords, each with a bounded-distance decoder: up to `strength` wrong bits of a codeword are
/// corrected, up to twice as many are noticed, and more are not noticed (mSAPL, Equations 2 and 3). Prepared once for
/// many raw bit error rates.
///
/// A page is *correctable* if all its codewords are, and *detected* if one is not but every one that is not is noticed. With
/// one codeword, as in mSAPL, their probabilities are CPER and DPER.
#[derive(Clone, Debug)]
pub struct PageCode {
    codewords: u32,
    /// Tails about the strength: more wrong bits are not corrected.
    correct: FixedTail,
    /// Tails about twice the strength: more wrong bits are not noticed.
    detect: FixedTail,
}

/// Natural logarithms of the probabilities of each outcome of reading a page; each is accurate relative to itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PageOutcome {
    /// ln CPER: all codewords are corrected.
    pub ln_correct: f64,
    /// ln DPER: not corrected, and known to be wrong.
    pub ln_detected: f64,
    /// ln P(a codeword has more wrong bits than are noticed).
    pub ln_undetected: f64,
    /// ln(1 − P(undetected)), that is ln(CPER + DPER).
    pub ln_noticed: f64,
}

impl PageCode {
    /// Pages of `codewords` codewords of `bits` bits (data and parity), `strength` of which are corrected.
    ///
    /// # Errors
    /// An empty codeword or one beyond 2^20 bits, a strength beyond the codeword, no codeword.
    pub fn new(bits: u32, strength: u32, codewords: u32) -> Result<Self, DomainError> {
        let most = f64::from(Ecc::MAX_CODEWORD_BITS);
        within("n", bits.into(), "1 to 1048576 bits", |bits| (1.0..=most).contains(&bits))?;
        within("k", strength.into(), "at most the bits of a codeword, n", |k| k <= f64::from(bits))?;
        within("codewords", codewords.into(), "1 to 65536", |count| (1.0..=65_536.0).contains(&count))?;
        Ok(Self {
            codewords,
            correct: FixedTail::new(bits, strength),
            detect: FixedTail::new(bits, strength.saturating_mul(2)),
        })
    }

    /// The outcomes at `rber` wrong bits per bit.
    ///
    /// Equations 2 and 3 of mSAPL: `CPER = Σ_{i=0..k} C(n,i)·p^i·(1−p)^(n−i)` and `DPER` likewise over k+1 to 2k, for one
    /// codeword; for M of them `CPER^M` and `(CPER + DPER)^M − CPER^M`.
    ///
    /// # Errors
    /// `rber` is not within 0..=1.
    pub fn outcome(&self, rber: f64) -> Result<PageOutcome, DomainError> {
        Ok(self.outcome_at(checked(rber)?))
    }

    /// ln of the uncorrectable page error rate without parity, `1 − CPER` (mSAPL, Equation 2).
    ///
    /// # Errors
    /// `rber` is not within 0..=1.
    pub fn ln_uncorrectable(&self, rber: f64) -> Result<f64, DomainError> {
        let (ln_more, ln_at_most) = self.correct.ln_both(checked(rber)?);
        Ok(self.any(ln_more, ln_at_most))
    }

    pub(crate) fn outcome_at(&self, rber: f64) -> PageOutcome {
        let (ln_more, ln_correct) = self.correct.ln_both(rber);
        let (ln_undetected, ln_noticed) = self.detect.ln_both(rber);
        // DPER as a difference of like tails: at most a factor of three is lost, since its k terms are no smaller than
        // those that are taken away.
        let ln_detected = if ln_more < ln_correct {
            ln_sub(ln_more, ln_undetected)
        } else if ln_undetected < ln_noticed {
            (1.0 - ln_correct.exp() - ln_undetected.exp()).max(0.0).ln()
        } else {
            ln_sub(ln_noticed, ln_correct)
        };
        if self.codewords == 1 {
            return PageOutcome { ln_correct, ln_detected, ln_undetected, ln_noticed };
        }
        let count = f64::from(self.codewords);
        PageOutcome {
            ln_correct: count * ln_correct,
            ln_detected: detected_of_several(count, ln_correct, ln_detected),
            ln_undetected: self.any(ln_undetected, ln_noticed),
            ln_noticed: count * ln_noticed,
        }
    }

    /// Probabilities of a page as plain numbers, for stripes: correctable, detected, undetected. An undetected one below
    /// 1e-308 becomes 0; callers must not depend on it.
    #[inline]
    pub(crate) fn plain(&self, trial: &TrialProbability) -> [f64; 3] {
        let (inner, outer) = (self.correct.side(trial), self.detect.side(trial));
        // Each tail is used as it is summed, never as a complement where that would cancel.
        let [correct, detected, undetected] = match (inner.upper, outer.upper) {
            (true, _) => {
                let (more, undetected) = (inner.value(), self.undetected(outer.value()));
                [1.0 - more, more - undetected, undetected]
            }
            (false, true) => {
                let (correct, undetected) = (inner.value(), self.undetected(outer.value()));
                [correct, 1.0 - correct - undetected, undetected]
            }
            (false, false) if self.detect.possible() => {
                let (correct, noticed) = (inner.value(), outer.value());
                [correct, noticed - correct, 1.0 - noticed]
            }
            (false, false) => [inner.value(), 1.0 - inner.value(), 0.0],
        };
        if self.codewords == 1 {
            return [correct, detected, undetected];
        }
        let count = f64::from(self.codewords);
        let ln_correct = if inner.upper { count * (-inner.value()).ln_1p() } else { count * correct.ln() };
        let all = ln_correct.exp();
        [all, all * (count * (detected / correct).ln_1p()).exp_m1(), any_of(undetected, count)]
    }

    /// `value`, or 0 if so many wrong bits cannot occur.
    #[inline]
    fn undetected(&self, value: f64) -> f64 {
        if self.detect.possible() { value } else { 0.0 }
    }

    pub(crate) fn can_fail(&self) -> bool {
        self.correct.possible()
    }

    pub(crate) fn codewords(&self) -> u32 {
        self.codewords
    }

    pub(crate) fn correct(&self) -> &FixedTail {
        &self.correct
    }

    /// ln of the probability that at least one codeword has an outcome of probability `e^ln_p`.
    fn any(&self, ln_p: f64, ln_not_p: f64) -> f64 {
        if self.codewords == 1 {
            ln_p
        } else {
            ln_any_weighted([(ln_p, ln_not_p, f64::from(self.codewords))])
        }
    }
}

/// `rber` if it is a probability.
pub(crate) fn checked(rber: f64) -> Result<f64, DomainError> {
    within("rber", rber, "within 0 to 1 wrong bits per bit", |rber| (0.0..=1.0).contains(&rber))
}

/// `1 − (1 − p)^count` for a plain p.
#[inline]
pub(crate) fn any_of(p: f64, count: f64) -> f64 {
    let mean = p * count;
    // The next term of the series is (count·p)²/6 of the first.
    if mean < 1e-8 { mean * (1.0 - 0.5 * (mean - p)) } else { -(count * (-p).ln_1p()).exp_m1() }
}

/// ln((c + d)^M − c^M) of ln c and ln d.
fn detected_of_several(count: f64, ln_correct: f64, ln_detected: f64) -> f64 {
    if ln_correct == f64::NEG_INFINITY {
        return count * ln_detected;
    }
    let ln_ratio = ln_detected - ln_correct;
    // The first term of the binomial alone: the next is below 1e-17 of it.
    if ln_ratio < -40.0 - count.ln() {
        return count * ln_correct + count.ln() + ln_ratio;
    }
    let growth = if ln_ratio > 40.0 { ln_ratio } else { ln_ratio.exp().ln_1p() };
    count * ln_correct + ln_exp_m1(count * growth)
}
