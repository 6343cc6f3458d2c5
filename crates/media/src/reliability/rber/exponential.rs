//! Exponential growth with wear.

use super::{RberParts, not_negative, positive_rate};
use crate::ConfigError;
use outlast_units::JsonSchema;
use serde::{Deserialize, Serialize};

/// `RBER = a·e^(b·c)` with c in P/E cycles. Source: mSAPL (Electronics 2020), Equation 1; constants in its Table 3.
/// At 0 cycles all is `floor`; growth above it is `wear`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExponentialRber {
    /// A: errors per bit of an unworn block; above 0, at most 0.5.
    pub a: f64,
    /// B: growth per P/E cycle; at least 0.
    pub b: f64,
}

impl ExponentialRber {
    pub(super) fn validate(&self, field: &str) -> Result<(), ConfigError> {
        positive_rate(field, "a", self.a)?;
        not_negative(field, "b", self.b)
    }

    pub(super) fn parts(&self, cycles: f64) -> RberParts {
        RberParts { floor: self.a, wear: self.a * (self.b * cycles).exp_m1(), ..RberParts::default() }
    }
}
