//! Uncorrectable page error rates of stripes: N pages, m of them parity, each page protected by its own ECC.
//!
//! A stripe is rebuilt from parity if every page is either correctable or known to be wrong, and at most m are wrong. So it
//! loses data with probability `1 − Σ_{j=0..m} C(N,j)·CPER^(N−j)·DPER^j`. Computed literally, this difference is lost in
//! rounding below 1e-16. It is therefore computed as the sum of the remaining terms, all of them positive:
//!
//! `L = 1 − (1 − U)^N + Σ_{j>m} C(N,j)·CPER^(N−j)·DPER^j`, with U the probability of an undetected page, 1 − CPER − DPER.
//!
//! **Two ways to count.** mSAPL divides L by the N pages of the stripe (Equations 4 and 5), as if a stripe that fails lost
//! one page: [`PageStripe::uper`]. Its Equation 2, without parity, counts every lost page. [`PageStripe::ln_page_loss`] counts every lost
//! page for any m: the two agree at m = 0, and for m > 0 it is about m + 1 times as much.

use crate::DomainError;
use crate::error::within;
use crate::logs::{ln_add, ln_any, ln_any_weighted};
use crate::page::{PageCode, PageOutcome, any_of, checked};
use crate::tail::TrialProbability;
use outlast_media::reliability::binomial::BinomialDistribution;

/// A stripe of like pages, prepared once for many raw bit error rates.
#[derive(Clone, Debug)]
pub struct PageStripe {
    code: PageCode,
    pages: u32,
    parities: u32,
    /// C(N, m + 1).
    ways: f64,
}

/// Least result of plain arithmetic that is used: terms that underflowed on the way are below 1e-20 of it.
const PLAIN_LEAST: f64 = 1e-280;

impl PageStripe {
    /// A stripe of `pages` pages, data and parity together, that survives `parities` detected bad ones.
    ///
    /// # Errors
    /// No page or more than 65 536, or no data page.
    pub fn new(code: PageCode, pages: u32, parities: u32) -> Result<Self, DomainError> {
        within("stripe", pages.into(), "1 to 65536 pages", |pages| (1.0..=65_536.0).contains(&pages))?;
        within("parities", parities.into(), "less than the pages of the stripe", |m| m < f64::from(pages))?;
        let ways = (0..=parities).fold(1.0, |ways, i| ways * f64::from(pages - i) / f64::from(i + 1));
        Ok(Self { code, pages, parities, ways })
    }

    /// The uncorrectable page error rate as mSAPL counts: `1 − CPER` without parity (Equation 2), `L / N` with m parities
    /// (Equations 4 and 5, and their continuation). 0 if it is below 1e-308; see [`PageStripe::ln_uper`].
    ///
    /// # Errors
    /// `rber` is not within 0..=1.
    #[inline]
    pub fn uper(&self, rber: f64) -> Result<f64, DomainError> {
        let rber = checked(rber)?;
        if rber > 0.0 && rber < 1.0 && self.code.can_fail() {
            let plain = self.plain_uper(rber);
            if plain > PLAIN_LEAST {
                return Ok(plain.min(self.most()));
            }
        }
        Ok(self.ln_uper_at(rber).exp().min(self.most()))
    }

    /// Rate of a stripe that is certainly lost: the largest.
    #[inline]
    fn most(&self) -> f64 {
        if self.parities == 0 { 1.0 } else { 1.0 / f64::from(self.pages) }
    }

    /// ln of [`PageStripe::uper`], to any size.
    ///
    /// # Errors
    /// `rber` is not within 0..=1.
    pub fn ln_uper(&self, rber: f64) -> Result<f64, DomainError> {
        Ok(self.ln_uper_at(checked(rber)?))
    }

    /// ln of the probability that the stripe loses data, L.
    ///
    /// # Errors
    /// `rber` is not within 0..=1.
    pub fn ln_stripe_loss(&self, rber: f64) -> Result<f64, DomainError> {
        Ok(loss_of_like(&self.code.outcome_at(checked(rber)?), self.pages, self.parities))
    }

    /// ln of the probability that a given page of the stripe is lost: it is undetectably wrong, or it is detected and among
    /// the N − 1 others one is undetectably wrong or m are wrong. `U + DPER·L'`, L' being the loss of a stripe of N − 1 pages
    /// with m − 1 parities, 1 for m = 0.
    ///
    /// # Errors
    /// `rber` is not within 0..=1.
    pub fn ln_page_loss(&self, rber: f64) -> Result<f64, DomainError> {
        if self.parities == 0 {
            return self.code.ln_uncorrectable(rber);
        }
        let page = self.code.outcome_at(checked(rber)?);
        let others = loss_of_like(&page, self.pages - 1, self.parities - 1);
        Ok(ln_add(page.ln_undetected, page.ln_detected + others))
    }

    fn ln_uper_at(&self, rber: f64) -> f64 {
        if self.parities == 0 {
            return self.code.ln_uncorrectable(rber).unwrap_or(f64::NAN);
        }
        let page = self.code.outcome_at(rber);
        loss_of_like(&page, self.pages, self.parities) - f64::from(self.pages).ln()
    }

    /// As [`PageStripe::uper`] in plain arithmetic; 0, or far too little, where that underflows.
    #[inline]
    fn plain_uper(&self, rber: f64) -> f64 {
        let trial = TrialProbability::new(rber);
        if self.parities == 0 {
            let side = self.code.correct().side(&trial);
            let p = if side.upper { side.value() } else { 1.0 - side.value() };
            return if self.code.codewords() == 1 { p } else { any_of(p, f64::from(self.code.codewords())) };
        }
        let [correct, detected, undetected] = self.code.plain(&trial);
        let (pages, first) = (f64::from(self.pages), self.parities + 1);
        let ratio = detected / correct;
        let others_correct = power(correct, self.pages - first);
        if others_correct < 1e-200 {
            return 0.0;
        }
        // Terms by number of bad pages, each from the one before by its quotient.
        let (mut sum, mut last) = (1.0, 1.0);
        for j in first..self.pages {
            last *= f64::from(self.pages - j) / f64::from(j + 1) * ratio;
            sum += last;
            if last < sum * 1e-18 {
                break;
            }
        }
        let too_many = self.ways * power(detected, first) * others_correct * sum;
        (any_of(undetected, pages) + too_many) / pages
    }
}

/// ln of the probability that a stripe of unlike pages, of which `parities` are parity, loses data: some page is undetectably wrong,
/// or more than `parities` are detectably wrong. All sums, no difference.
///
/// # Errors
/// No pages, or as many parities as pages.
pub fn ln_stripe_loss(pages: &[PageOutcome], parities: u32) -> Result<f64, DomainError> {
    within("pages", pages.len() as f64, "at least 1 page", |count| count >= 1.0)?;
    within("parities", parities.into(), "less than the pages of the stripe", |m| m < pages.len() as f64)?;
    let most = parities as usize;
    // detected[j]: ln P(j pages detected, the others correct); the last: more than `parities`.
    let mut detected = vec![f64::NEG_INFINITY; most + 2];
    detected[0] = 0.0;
    for page in pages {
        detected[most + 1] = ln_add(detected[most + 1] + page.ln_noticed, detected[most] + page.ln_detected);
        for j in (1..=most).rev() {
            detected[j] = ln_add(detected[j] + page.ln_correct, detected[j - 1] + page.ln_detected);
        }
        detected[0] += page.ln_correct;
    }
    let unnoticed = ln_any(pages.iter().map(|page| (page.ln_undetected, page.ln_noticed)));
    Ok(ln_add(unnoticed, detected[most + 1]).min(0.0))
}

/// ln of the uncorrectable page error rate of an MDS code of `data` and `parities` pages when every bad page is noticed, a bad
/// page having probability `e^ln_page`: `(1 − F(m; k+m, p)) / (k+m)`, F being the binomial distribution function (Flexible,
/// section 4.2, where the parentheses around the difference are missing).
///
/// # Errors
/// `ln_page` is above 0 or not a number, or there is no data.
pub fn ln_mds_uper(data: u32, parities: u32, ln_page: f64) -> Result<f64, DomainError> {
    within("data", data.into(), "1 to 65536 pages", |data| (1.0..=65_536.0).contains(&data))?;
    within("parities", parities.into(), "at most 65536", |parities| parities <= 65_536.0)?;
    let page = noticed_page(ln_page)?;
    let pages = data + parities;
    Ok(loss_of_like(&page, pages, parities) - f64::from(pages).ln())
}

/// The outcomes of a page that is bad with probability `e^ln_page`, which is always noticed.
pub(crate) fn noticed_page(ln_page: f64) -> Result<PageOutcome, DomainError> {
    if ln_page.is_nan() || ln_page > 0.0 {
        return Err(DomainError {
            argument: "ln_page",
            value: ln_page,
            domain: "the logarithm of a probability",
        });
    }
    Ok(PageOutcome {
        ln_correct: outlast_media::reliability::binomial::ln_1m_exp(ln_page),
        ln_detected: ln_page,
        ln_undetected: f64::NEG_INFINITY,
        ln_noticed: 0.0,
    })
}

/// [`ln_stripe_loss`] of `pages` like pages.
fn loss_of_like(page: &PageOutcome, pages: u32, parities: u32) -> f64 {
    let count = f64::from(pages);
    let unnoticed = ln_any_weighted([(page.ln_undetected, page.ln_noticed, count)]);
    if parities >= pages {
        return unnoticed;
    }
    let ln_share = page.ln_detected - page.ln_noticed;
    let too_many = if page.ln_noticed == f64::NEG_INFINITY {
        f64::NEG_INFINITY
    } else if ln_share < -600.0 {
        // Beyond the first term all are less than e^-580 of it.
        let first = parities + 1;
        let half = BinomialDistribution { trials: pages, p: 0.5 };
        let ln_ways = half.ln_pmf(first) + count * std::f64::consts::LN_2;
        let ln_bad = if page.ln_detected == f64::NEG_INFINITY {
            f64::NEG_INFINITY
        } else {
            f64::from(first) * page.ln_detected
        };
        ln_ways + ln_bad + f64::from(pages - first) * page.ln_correct
    } else {
        let p = ln_share.exp().min(1.0);
        count * page.ln_noticed + BinomialDistribution { trials: pages, p }.tails(parities).ln_more
    };
    ln_add(unnoticed, too_many).min(0.0)
}

/// `base^exponent` by squaring: faster than `powi` for the small exponents of stripes.
#[inline]
fn power(base: f64, exponent: u32) -> f64 {
    let (mut result, mut base, mut exponent) = (1.0, base, exponent);
    while exponent > 0 {
        if exponent & 1 == 1 {
            result *= base;
        }
        base *= base;
        exponent >>= 1;
    }
    result
}
