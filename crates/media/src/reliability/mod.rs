//! Mathematics of flash errors: raw bit error rates, failures of an ECC, re-reads, and exact tails.
//!
//! Architecture Invariant: pure functions of numbers. No state of a drive, no clock and no generator: a random outcome is a
//! function of a uniform number that the caller derives from seed, address and state, so that reading the same cells again
//! tells the same story (a re-read is not a fresh coin).
//!
//! One convention holds throughout: **small u is bad luck**. A read with the uniform number u fails while
//! `u < P(fail)`, and [`sample_errors`] returns more than t errors just when `u < P(more than t)`; so a histogram of bit
//! errors and the outcomes of the ECC agree read by read.
//!
//! Independence assumed: the bits of a codeword err independently with one rate, codewords of a page likewise. Correlation
//! enters through the rate itself (block factor, wear, age, reads are shared), never through the coin.

mod accumulator;
mod arrhenius;
pub mod binomial;
mod chips;
mod ecc;
pub mod measured;
pub mod normal;
mod power_table;
mod range;
mod rber;
mod reread;
mod sampling;
mod table;
mod variation;

pub use accumulator::{ProbabilitySum, ProbabilityTerm};
pub use arrhenius::{ACTIVATION_ENERGY, BOLTZMANN, acceleration};
pub use chips::{ChipTrust, PublishedChip, chip, chips};
pub use ecc::Ecc;
pub use power_table::PowerTable;
pub(crate) use power_table::quadratic;
pub use range::ModelRange;
pub use rber::{
    ClampedRber, ExponentialRber, PowerLaw, RberGrid, RberModel, RberParts, SATURATED_RBER, TwoPoint,
};
pub(crate) use rber::{GridTable, age};
pub use reread::{ReadLadder, RereadConfig};
pub use sampling::{sample_errors, sample_worst_errors};
pub use table::FailTable;
pub use variation::{BlockVariation, PageTypes, open_unit};

/// The lesser of two numbers, neither of them NaN: one instruction, because unlike `f64::min` it need not look for one.
#[inline]
pub(crate) fn least(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

/// The greater of two numbers, neither of them NaN.
#[inline]
pub(crate) fn greatest(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}
