//! Variation of blocks and page types about the chip's mean.

use super::least;
use super::normal::inverse_normal;
use crate::ConfigError;
use outlast_units::JsonSchema;
use outlast_units::rng::{mix, sub_seed};
use serde::{Deserialize, Serialize};

/// A number strictly between 0 and 1 from 64 random bits: the middles of 2^53 equal cells, so that neither end occurs.
#[inline]
pub fn open_unit(word: u64) -> f64 {
    // As a signed number, which it is below 2^53: one instruction converts that.
    let unit = ((word >> 11).cast_signed() as f64 + 0.5) * (1.0 / (1u64 << 53) as f64);
    // The topmost middle is not a double and would round to 1.
    least(unit, 1.0 - f64::EPSILON / 2.0)
}

/// Block-to-block variation: each block's RBER is the model's times a log-normal factor of mean 1, for ever the same.
/// The log-normal law is an assumption of this simulator; the papers only say that blocks differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BlockVariation {
    /// Standard deviation of ln(factor); 0 to 2; 0: all blocks are alike.
    pub sigma: f64,
}

impl BlockVariation {
    /// Checks the setting; `field` is its dotted name.
    ///
    /// # Errors
    /// `sigma` is outside 0..=2.
    pub fn validate(&self, field: &str) -> Result<(), ConfigError> {
        if (0.0..=2.0).contains(&self.sigma) {
            return Ok(());
        }
        Err(ConfigError::new(&format!("{field}.sigma"), self.sigma, "must be between 0 and 2"))
    }

    /// ln of the factor of block `block` (counted over the whole drive): `σ·z − σ²/2` with z standard normal, a pure
    /// function of seed and block. Subtracting σ²/2 makes the mean of the factor 1.
    pub fn ln_factor(&self, seed: u64, block: u64) -> f64 {
        if self.sigma == 0.0 {
            return 0.0;
        }
        let word = mix(sub_seed(seed, "media.block_variation") ^ mix(block));
        self.sigma * inverse_normal(open_unit(word)) - 0.5 * self.sigma * self.sigma
    }

    /// The factor itself.
    pub fn factor(&self, seed: u64, block: u64) -> f64 {
        self.ln_factor(seed, block).exp()
    }
}

/// Factors on the RBER by page type: page `p` of a block takes entry `p mod length` (LSB, CSB, MSB, …), in the order in which
/// `device.timing` lists them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PageTypes {
    /// One factor for each page type, above 0. They are divided by their mean, so that the chip's mean RBER stays what the model says.
    pub factors: Vec<f64>,
}

impl PageTypes {
    /// Checks the factors; `field` is their dotted name.
    ///
    /// # Errors
    /// None, more than eight, or one that is not a finite number above 0.
    pub fn validate(&self, field: &str) -> Result<(), ConfigError> {
        let field = format!("{field}.factors");
        if self.factors.is_empty() || self.factors.len() > 8 {
            let got = format!("{} factors", self.factors.len());
            return Err(ConfigError::new(&field, got, "takes one to eight page types"));
        }
        match self.factors.iter().find(|&&factor| !(factor.is_finite() && factor > 0.0)) {
            Some(factor) => Err(ConfigError::new(&field, factor, "must be finite numbers above 0")),
            None => Ok(()),
        }
    }

    /// ln of the factor of each page type over their mean: what a drive keeps.
    pub fn ln_factors(&self) -> Vec<f64> {
        let mean = self.factors.iter().sum::<f64>() / self.factors.len() as f64;
        self.factors.iter().map(|factor| (factor / mean).ln()).collect()
    }
}
