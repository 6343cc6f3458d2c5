//! The additive power law.

use super::{RberParts, not_negative};
use crate::ConfigError;
use outlast_units::JsonSchema;
use serde::{Deserialize, Serialize};

/// `RBER = ε + α·c^k + β·c^m·t^n + γ·c^p·r^q` with c in P/E cycles, t in days since the data were written, r in reads since
/// the erasure. Source: Kim, Choi, Min, "Design Tradeoffs for SSD Reliability", FAST 2019, Equation 1 (called HRM here);
/// the form is that of Mielke et al. and Liu et al., whom the paper cites.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PowerLaw {
    /// ε: errors per bit of a fresh page.
    pub epsilon: f64,
    /// α: errors per bit and cycle^k.
    pub alpha: f64,
    /// β: errors per bit, cycle^m and day^n.
    pub beta: f64,
    /// γ: errors per bit, cycle^p and read^q.
    pub gamma: f64,
    /// k: exponent of cycles in the wear term.
    pub k: f64,
    /// m: exponent of cycles in the retention term.
    pub m: f64,
    /// n: exponent of days in the retention term.
    pub n: f64,
    /// p: exponent of cycles in the disturbance term.
    pub p: f64,
    /// q: exponent of reads in the disturbance term.
    pub q: f64,
}

impl PowerLaw {
    pub(super) fn validate(&self, field: &str) -> Result<(), ConfigError> {
        let settings = [
            ("epsilon", self.epsilon),
            ("alpha", self.alpha),
            ("beta", self.beta),
            ("gamma", self.gamma),
            ("k", self.k),
            ("m", self.m),
            ("n", self.n),
            ("p", self.p),
            ("q", self.q),
        ];
        settings.into_iter().try_for_each(|(name, value)| not_negative(field, name, value))
    }

    pub(super) fn parts(&self, cycles: f64, days: f64, reads: f64) -> RberParts {
        RberParts {
            floor: self.epsilon,
            wear: term(self.alpha, cycles.powf(self.k), 1.0),
            retention: term(self.beta, cycles.powf(self.m), days.powf(self.n)),
            disturbance: term(self.gamma, cycles.powf(self.p), reads.powf(self.q)),
        }
    }
}

/// A product in which a zero wins over an overflowed power (0·∞ would not be a number).
fn term(coefficient: f64, of_cycles: f64, of_other: f64) -> f64 {
    if coefficient == 0.0 || of_cycles == 0.0 || of_other == 0.0 {
        0.0
    } else {
        coefficient * of_cycles * of_other
    }
}
