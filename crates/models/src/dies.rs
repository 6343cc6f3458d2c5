//! The spare space of a drive whose flash cores have lost dies (Reparo, section 5.2).
//!
//! Space utilisation is logical over physical space of a core. Every core starts with the same of both.

use crate::DomainError;
use crate::error::{positive, share, within};

/// Relative rise of the victim core's utilisation when it alone makes up for a lost die: `1 / (x − 1)` with x dies to a
/// core (Reparo, Table 1). That of the other cores does not change.
///
/// # Errors
/// Fewer than two dies to a core.
pub fn isolated_increase(dies_per_core: f64) -> Result<f64, DomainError> {
    let dies = within("dies_per_core", dies_per_core, "at least 2", |dies| dies >= 2.0)?;
    Ok(1.0 / (dies - 1.0))
}

/// Relative rise of every core's utilisation when all cores share the loss of a die: `1 / (N·x − 1)` with N cores (Reparo,
/// Table 2; from Equation 3).
///
/// # Errors
/// No core, or fewer than two dies in all.
pub fn shared_increase(cores: f64, dies_per_core: f64) -> Result<f64, DomainError> {
    let cores = within("cores", cores, "at least 1", |cores| cores >= 1.0)?;
    let dies = positive("dies_per_core", dies_per_core)? * cores;
    Ok(1.0 / (within("cores · dies_per_core", dies, "at least 2", |dies| dies >= 2.0)? - 1.0))
}

/// Logical space that each helper core takes over after one die has failed, `α = |LS_h| / (D_ssd − 1)` (Reparo, Equation 4,
/// the root of Equation 3): the α of least highest utilisation.
///
/// # Errors
/// Space that is not above 0, fewer than two dies.
pub fn extra_space(helper_space: f64, dies: f64) -> Result<f64, DomainError> {
    let dies = within("dies", dies, "at least 2", |dies| dies >= 2.0)?;
    Ok(positive("helper_space", helper_space)? / (dies - 1.0))
}

/// The exact division after any failures: logical space in proportion to the dies that each core has left, which makes all
/// utilisations equal.
///
/// # Errors
/// No core, a negative number of dies, none left at all, space that is not above 0.
pub fn balanced_spaces(logical_space: f64, dies_left: &[f64]) -> Result<Vec<f64>, DomainError> {
    positive("logical_space", logical_space)?;
    for &dies in dies_left {
        within("dies_left", dies, "at least 0", |dies| dies >= 0.0)?;
    }
    let all = positive("dies left in all", dies_left.iter().sum())?;
    Ok(dies_left.iter().map(|dies| logical_space * dies / all).collect())
}

/// Dies that can fail before logical space no longer fits: the most f with `u·D / (D − f) < 1` for utilisation u of D dies. D
/// is a core's under isolated recovery (the core runs out), the drive's under cooperative recovery (Reparo, footnote 6).
/// A drive that has no spare space left cannot collect garbage, so the last one or two are theoretical.
///
/// # Errors
/// A utilisation that is not between 0 and 1, no die.
pub fn survivable_failures(utilisation: f64, dies: f64) -> Result<f64, DomainError> {
    let utilisation = share("utilisation", utilisation)?;
    let dies = within("dies", dies, "at least 1", |dies| dies >= 1.0)?;
    // Strictly below 1: at equality one die fewer, whatever the rounding of the product.
    Ok((dies * (1.0 - utilisation) - 1e-9).floor().max(0.0))
}

/// Spare factor ρ = physical / logical − 1 of a space utilisation.
///
/// # Errors
/// A utilisation that is not between 0 and 1.
pub fn spare_of(utilisation: f64) -> Result<f64, DomainError> {
    Ok(1.0 / share("utilisation", utilisation)? - 1.0)
}
