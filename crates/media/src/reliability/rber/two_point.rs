//! Two measured points.

use super::{ExponentialRber, RberParts, not_negative, positive_rate};
use crate::ConfigError;
use outlast_units::JsonSchema;
use serde::{Deserialize, Serialize};

/// RBER measured at two wear states; between and beyond them `a·e^(b·cycles)` through both (the form of mSAPL's Equation 1).
/// Diff-RAID's Table 1 gives such pairs at 5000 and 10 000 cycles; what lies between is this form's assumption.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TwoPoint {
    /// P/E cycles of the first point; at least 0.
    pub low_cycles: f64,
    /// Errors per bit at the first point; above 0, at most 0.5.
    pub low_rber: f64,
    /// P/E cycles of the second point; more than of the first.
    pub high_cycles: f64,
    /// Errors per bit at the second point; at least that of the first, at most 0.5.
    pub high_rber: f64,
}

impl TwoPoint {
    pub(super) fn validate(&self, field: &str) -> Result<(), ConfigError> {
        not_negative(field, "low_cycles", self.low_cycles)?;
        not_negative(field, "high_cycles", self.high_cycles)?;
        positive_rate(field, "low_rber", self.low_rber)?;
        positive_rate(field, "high_rber", self.high_rber)?;
        if self.high_cycles <= self.low_cycles {
            let limit = format!("must be more than low_cycles = {}", self.low_cycles);
            return Err(ConfigError::new(&format!("{field}.high_cycles"), self.high_cycles, limit));
        }
        if self.high_rber < self.low_rber {
            let limit = format!("must be at least low_rber = {}: errors grow with wear", self.low_rber);
            return Err(ConfigError::new(&format!("{field}.high_rber"), self.high_rber, limit));
        }
        Ok(())
    }

    /// The curve through both points: `b = ln(high/low) / Δcycles`, `a = low·e^(−b·low_cycles)`.
    pub fn curve(&self) -> ExponentialRber {
        let b = self.growth();
        ExponentialRber { a: self.low_rber * (-b * self.low_cycles).exp(), b }
    }

    /// B, per P/E cycle.
    fn growth(&self) -> f64 {
        (self.high_rber / self.low_rber).ln() / (self.high_cycles - self.low_cycles)
    }

    pub(super) fn parts(&self, cycles: f64) -> RberParts {
        let at = |cycles: f64| self.low_rber * (self.growth() * (cycles - self.low_cycles)).exp();
        let floor = at(0.0);
        RberParts { floor, wear: at(cycles) - floor, ..RberParts::default() }
    }
}
