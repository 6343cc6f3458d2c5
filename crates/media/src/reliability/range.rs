//! Range in which the rates of a chip are known.

use outlast_units::JsonSchema;
use serde::{Deserialize, Serialize};

/// The range in which the source of a chip's error rates measured or used them; absent: the source does not say, or the rates do not depend
/// on it. Outside, the model extrapolates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ModelRange {
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

impl ModelRange {
    /// A source that states no range.
    pub const UNSAID: Self = Self { cycles: None, days: None, reads: None, temperature: None };
}
