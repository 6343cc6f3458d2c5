//! Write amplification of garbage collection: flash writes over host writes in the long run.
//!
//! Throughout, `spare` is ρ = (physical − user) / user space, physical space without blocks that are never used for
//! data (blocks held back, free superblocks kept in reserve), and α = 1 + ρ is physical over user space.
//!
//! **Greedy and FIFO coincide for large blocks.** Under uniform random writes the equation of Xiang and Kurkoski for greedy
//! collection is the same as that of FIFO (LRU) collection: when blocks are so large that the number of valid pages in a
//! block of a given age has no spread, the oldest block is also the emptiest. They differ for small blocks, where greedy
//! finds those that by chance are emptier: see [`greedy_finite_blocks`]. A block here is the unit that is collected, in a
//! drive with superblocks the superblock, and a page is a mapping unit.

mod isolated;
mod parity;

pub use isolated::IsolatedHandle;
pub use parity::{effective_spare, parity_overhead, with_parity};

use crate::error::{positive, share, within};
use crate::{DomainError, lambert_w0};

/// Valid share of a collected block under uniform random writes and FIFO collection, or greedy collection of large blocks.
///
/// A block is collected when all others have been since it was written. Meanwhile the host writes α·U·(1 − u) pages, U being
/// the user pages, since of every block's pages the share 1 − u is new; a page survives each with probability 1 − 1/U, so
/// `u = exp(−α·(1 − u))`, whose root below 1 is `u = −W(−α·e^−α) / α`.
///
/// Source: Desnoyers, "Analytic Modeling of SSD Write Performance", SYSTOR 2012 (LRU); Xiang and Kurkoski, "An Improved
/// Analytic Expression for Write Amplification in NAND Flash", arXiv:1110.4245, 2011 (greedy).
///
/// # Errors
/// `spare` is not above 0.
pub fn victim_utilisation(spare: f64) -> Result<f64, DomainError> {
    Ok(1.0 - freed_share(spare)?)
}

/// 1 − u of [`victim_utilisation`], accurate for every `spare`.
fn freed_share(spare: f64) -> Result<f64, DomainError> {
    let alpha = 1.0 + positive("spare", spare)?;
    let lambert = 1.0 + lambert_w0(-alpha * (-alpha).exp())? / alpha;
    if spare > 0.05 {
        return Ok(lambert);
    }
    // For little spare space the sum above cancels. With t = 1 − u the equation reads ρ = g(t); Newton from t ≈ 2ρ − 8ρ²/3.
    let mut freed = 2.0 * spare * (1.0 - spare * (4.0 / 3.0));
    for _ in 0..8 {
        let (value, slope) = spare_of_freed(freed);
        let step = (value - spare) / slope;
        freed -= step;
        if step.abs() <= 4.0 * f64::EPSILON * freed {
            break;
        }
    }
    Ok(freed)
}

/// `g(t) = −1 − ln(1 − t)/t`, the spare space at which collection frees the share t of its victims, and its derivative.
fn spare_of_freed(freed: f64) -> (f64, f64) {
    if freed > 0.2 {
        let log = (-freed).ln_1p();
        return (-1.0 - log / freed, 1.0 / (freed * (1.0 - freed)) + log / (freed * freed));
    }
    // g(t) = Σ t^k / (k + 1): nothing cancels, and 0.2^24 is below the last place.
    let (mut value, mut slope, mut power) = (0.0, 0.0, 1.0);
    for k in 1..=24 {
        let k = f64::from(k);
        slope += k * power / (k + 1.0);
        power *= freed;
        value += power / (k + 1.0);
    }
    (value, slope)
}

/// Greedy collection of large blocks under uniform random writes: `WAF = α / (α + W(−α·e^−α))`.
///
/// Source: Xiang and Kurkoski 2011, as [`victim_utilisation`]. Domain: `spare` above 0.
///
/// # Errors
/// `spare` is not above 0.
pub fn greedy(spare: f64) -> Result<f64, DomainError> {
    Ok(1.0 / freed_share(spare)?)
}

/// FIFO (LRU) collection under uniform random writes: `WAF = 1 / (1 − u)` with [`victim_utilisation`]'s u. For blocks of any
/// size, and the same number as [`greedy`].
///
/// # Errors
/// `spare` is not above 0.
pub fn fifo(spare: f64) -> Result<f64, DomainError> {
    greedy(spare)
}

/// Greedy collection of blocks of `pages` pages under uniform random writes.
///
/// In equilibrium as many blocks leave each count of valid pages n as enter it, at n/U of host writes, so their number goes
/// as 1/n between N pages and the X0 from which the next loss makes a block the victim. The harmonic sum over them,
/// `α·(N − X0 + 1)/N = Σ 1/n ≈ ln((N + ½)/(X0 − ½))`, gives `X0 = ½ − (N/α)·W(−c·e^−c)` with `c = α·(1 + 1/(2N))`, and
/// `WAF = N / (N − (X0 − 1))`. Tends to [`greedy`] as N grows.
///
/// Source: Desnoyers 2012 (greedy), whose X0 is derived here anew. Domain: `spare` above 0 and at least a page
/// to a block; good to about 1 % from 16 pages on.
///
/// # Errors
/// `spare` is not above 0, or `pages` is below 1.
pub fn greedy_finite_blocks(spare: f64, pages: f64) -> Result<f64, DomainError> {
    let alpha = 1.0 + positive("spare", spare)?;
    let pages = within("pages", pages, "at least 1", |pages| pages >= 1.0)?;
    // The same equation as for large blocks with α' = α·(1 + 1/(2N)), so N + ½ − y = (N/α)·(α' + W) = (N/α)·α'·(1 − u').
    let widened = 0.5f64.mul_add(alpha / pages, alpha);
    let freed = freed_share(widened - 1.0)? * widened / alpha;
    Ok((1.0 / freed).max(1.0))
}

/// The `spare` at which [`greedy`] gives `write_amplification`: `ρ = −ln(1 − 1/WAF)·WAF − 1`, the inverse in closed form,
/// from u = 1 − 1/WAF and α = −ln(u)/(1 − u).
///
/// # Errors
/// `write_amplification` is not above 1.
pub fn spare_for(write_amplification: f64) -> Result<f64, DomainError> {
    let waf = within("write_amplification", write_amplification, "above 1", |waf| waf > 1.0)?;
    Ok(spare_of_freed(1.0 / waf).0)
}

/// Hot and cold data in streams of their own, uniform within each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HotCold {
    /// Share of the user space that is hot.
    pub hot_space: f64,
    /// Share of the writes that go to it.
    pub hot_writes: f64,
}

impl HotCold {
    /// Write amplification when hot data is given the share `hot_spare` of all spare space: each class is a drive of its own,
    /// `r·WAF(ρ·s/f) + (1 − r)·WAF(ρ·(1 − s)/(1 − f))` with [`greedy`]'s WAF, f and r the fields of `self` (Desnoyers 2012;
    /// Stoica and Ailamaki, "Improving Flash Write Performance by Using Update Frequency", VLDB 2013).
    ///
    /// # Errors
    /// A share that is not strictly between 0 and 1, or `spare` not above 0.
    pub fn separated(&self, spare: f64, hot_spare: f64) -> Result<f64, DomainError> {
        let space = share("hot_space", self.hot_space)?;
        let writes = share("hot_writes", self.hot_writes)?;
        let hot_spare = share("hot_spare", hot_spare)?;
        positive("spare", spare)?;
        let hot = greedy(spare * hot_spare / space)?;
        let cold = greedy(spare * (1.0 - hot_spare) / (1.0 - space))?;
        Ok(writes * hot + (1.0 - writes) * cold)
    }

    /// The least write amplification over all divisions of the spare space, and the share of it that hot data then has.
    /// No collection that keeps the classes apart does better.
    ///
    /// # Errors
    /// As [`HotCold::separated`].
    pub fn best(&self, spare: f64) -> Result<(f64, f64), DomainError> {
        let golden = f64::midpoint(5f64.sqrt(), -1.0);
        // WAF is convex in its spare space, hence so is the sum over the split: one minimum.
        let (mut low, mut high) = (1e-9, 1.0 - 1e-9);
        for _ in 0..100 {
            let (left, right) = (high - golden * (high - low), low + golden * (high - low));
            if self.separated(spare, left)? < self.separated(spare, right)? {
                high = right;
            } else {
                low = left;
            }
        }
        let split = f64::midpoint(low, high);
        Ok((self.separated(spare, split)?, split))
    }
}

#[cfg(test)]
mod tests;
