//! Where the rates of a chip are known.

use outlast_units::JsonSchema;
use serde::{Deserialize, Serialize};

/// From where to where the source of a chip's error rates measured them, or itself used them; absent: it does not say, or the chip's rates do
/// not depend on it. Outside, the rates are what the form of the model makes of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Range {
    /// P/E cycles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cycles: Option<[f64; 2]>,
    /// Days since the data were written, at the reference temperature.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub days: Option<[f64; 2]>,
    /// Reads of the block since its erasure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reads: Option<[f64; 2]>,
    /// °C at which data was kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<[f64; 2]>,
}

impl Range {
    /// Nothing is said.
    pub const UNSAID: Self = Self { cycles: None, days: None, reads: None, temperature: None };
}
