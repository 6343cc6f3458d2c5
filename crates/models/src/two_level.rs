//! Two-level codes: one parity across cards and one within each block, an M × N product code.

use crate::DomainError;
use crate::error::within;
use crate::logs::ln_add;
use crate::uper::noticed_page;
use outlast_media::reliability::binomial::BinomialDistribution;
use std::f64::consts::LN_2;

/// ln of the uncorrectable page error rate of a code with `pages` pages when a page is bad, and known to be, with probability
/// `e^ln_page`: `Σ_i β(i)·p^i·(1−p)^(MN−i) / MN` (Flexible, section 4.2).
///
/// `ln_unrecoverable[i]` is ln β(i), the number of patterns of i bad pages from which the code cannot recover, `-inf` for
/// none; its length is the number of pages + 1. The counts come from the caller, exact or estimated, and may be those of
/// any code. The sum has positive terms only.
///
/// # Errors
/// No pages; a count above C(MN, i); `ln_page` above 0.
pub fn ln_uper_of_patterns(ln_unrecoverable: &[f64], ln_page: f64) -> Result<f64, DomainError> {
    let pages = ln_unrecoverable.len().saturating_sub(1);
    within("pages", pages as f64, "1 to 65536 pages", |pages| (1.0..=65_536.0).contains(&pages))?;
    let page = noticed_page(ln_page)?;
    let half = BinomialDistribution { trials: pages as u32, p: 0.5 };
    let mut loss = f64::NEG_INFINITY;
    for (bad, &ln_patterns) in (0u32..).zip(ln_unrecoverable) {
        let ln_all = half.ln_pmf(bad) + pages as f64 * LN_2;
        // C(n, i) itself is accurate to a few last places only.
        if ln_patterns.is_nan() || ln_patterns > ln_all + 1e-12 * (1.0 + pages as f64) {
            return Err(DomainError {
                argument: "ln_unrecoverable",
                value: ln_patterns,
                domain: "the logarithms of at most C(pages, i) patterns of i bad pages",
            });
        }
        if ln_patterns > f64::NEG_INFINITY {
            let ln_bad = times(f64::from(bad), page.ln_detected);
            let ln_good = times(pages as f64 - f64::from(bad), page.ln_correct);
            loss = ln_add(loss, ln_patterns + ln_bad + ln_good);
        }
    }
    Ok((loss - (pages as f64).ln()).min(0.0))
}

/// ln of the number of smallest patterns that an M × N product of single-parity codes cannot recover: β(4) = C(M,2)·C(N,2), the rectangles.
///
/// # Errors
/// Fewer than two rows or columns.
pub fn ln_rectangles(rows: u32, columns: u32) -> Result<f64, DomainError> {
    let pairs = |argument, count: u32| {
        within(argument, count.into(), "2 to 65536", |count| (2.0..=65_536.0).contains(&count))
            .map(|count| 0.5 * count * (count - 1.0))
    };
    Ok((pairs("rows", rows)? * pairs("columns", columns)?).ln())
}

/// `count·ln`; 0 for a count of 0, even if `ln` is infinite.
fn times(count: f64, ln: f64) -> f64 {
    if count == 0.0 { 0.0 } else { count * ln }
}
