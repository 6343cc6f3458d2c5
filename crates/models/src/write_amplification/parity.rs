//! Parity and lost space as a reduction of spare space.

use super::greedy;
use crate::DomainError;
use crate::error::{positive, within};

/// Spare factor that remains for garbage collection when the share `unusable` of the flash is lost (bad blocks, a failed die,
/// blocks held back) and each page of data takes `overhead` pages of flash: `(1 + ρ)·(1 − unusable) / overhead − 1`.
///
/// HRM's device, ρ = 256/200 − 1 = 28 %, is left with 20 % by one parity to 15 pages and 12 % by one to 7 (both in its text).
///
/// # Errors
/// `spare` is not above 0, a share outside 0..=1, an overhead below 1, or no spare space is left.
pub fn effective_spare(spare: f64, unusable: f64, overhead: f64) -> Result<f64, DomainError> {
    let spare = positive("spare", spare)?;
    let unusable =
        within("unusable", unusable, "at least 0 and below 1", |share| (0.0..1.0).contains(&share))?;
    let overhead = within("overhead", overhead, "at least 1", |overhead| overhead >= 1.0)?;
    positive("spare space left for collection", (1.0 + spare) * (1.0 - unusable) / overhead - 1.0)
}

/// Pages of flash for each page of data, parity included, when the share w of the data is in stripes of `pages` pages with
/// `parities` among them: `Σ w·N / (N − m)` over classes (w, N, m) whose shares add up to 1.
///
/// # Errors
/// Shares that do not add up to 1 (to 1e-9), a negative one, or a stripe without data.
pub fn parity_overhead(classes: &[(f64, u32, u32)]) -> Result<f64, DomainError> {
    let mut overhead = 0.0;
    for &(share, pages, parities) in classes {
        within("share of a class", share, "within 0 to 1", |share| (0.0..=1.0).contains(&share))?;
        within("parities", parities.into(), "less than the pages of the stripe", |_| parities < pages)?;
        overhead += share * f64::from(pages) / f64::from(pages - parities);
    }
    let sum: f64 = classes.iter().map(|class| class.0).sum();
    within("sum of the classes' shares", sum, "1", |sum| (sum - 1.0).abs() <= 1e-9)?;
    Ok(overhead)
}

/// Write amplification of greedy collection with parity in write order: each page that the host writes or collection moves
/// takes `overhead` pages of flash, and collection works with the spare space that parity leaves:
/// `overhead · WAF(effective spare)` with [`greedy`]'s WAF.
///
/// Assumed: parity is written once, with its stripe (a full stripe, or one whose parity waits in protected memory), and
/// uniform random writes. Parity of partial stripes comes on top.
///
/// # Errors
/// As [`effective_spare`].
pub fn with_parity(spare: f64, unusable: f64, overhead: f64) -> Result<f64, DomainError> {
    Ok(overhead * greedy(effective_spare(spare, unusable, overhead)?)?)
}
