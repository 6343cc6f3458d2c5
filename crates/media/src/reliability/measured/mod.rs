//! Error rates of a measured chip: rows of measurements, and the model fitted to them.

mod collapse;
mod exponential;
mod grid;
mod isotonic;
mod least_squares;
mod power_law;
mod rows;
mod settle;

pub use rows::MeasuredRow;
pub use settle::{FittedChip, ParameterEstimate, fit};

use super::{ModelRange, PageTypes, RberModel};
use crate::ConfigError;
use outlast_units::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The curve fitted to the rows of a chip's file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FitForm {
    /// The power law that comes nearest to them: HRM's Equation 1.
    #[default]
    PowerLaw,
    /// The exponential of P/E cycles that comes nearest to them: mSAPL's Equation 1. Of rows that tell wear only.
    Exponential,
    /// The measured rates with straight lines between them; where measurements fall, the nearest rates that never do.
    Interpolate,
}

impl fmt::Display for FitForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::PowerLaw => "power-law",
            Self::Exponential => "exponential",
            Self::Interpolate => "interpolate",
        })
    }
}

/// Settings by which the file of a chip is read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FitSettings {
    /// Form of the fitted model.
    pub fit: FitForm,
    /// Activation energy in electronvolts, by which rows of other temperatures count.
    pub activation_energy: f64,
    /// °C that times of retention are converted to; absent: that of the rows, the lowest if there are several.
    pub reference: Option<f64>,
}

impl Default for FitSettings {
    fn default() -> Self {
        Self { fit: FitForm::PowerLaw, activation_energy: super::ACTIVATION_ENERGY, reference: None }
    }
}

/// Result of reading a chip's file, as a resolved scenario holds it: the file is then not read again, so that the scenario means the same
/// elsewhere and later. Worked out when a scenario is loaded, not written by hand.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeasuredChip {
    /// The file of measurements.
    pub file: String,
    /// The `fit` that it was made by, else it is worked out anew.
    pub fit: FitForm,
    /// The `activation_energy` that it was made with, in electronvolts, else it is worked out anew.
    pub activation_energy: f64,
    /// The `reference_temperature` that was asked for, in °C, else it is worked out anew.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference_temperature: Option<f64>,
    /// The temperature that its times of retention are of, in °C; absent where the file does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// The error rates.
    pub model: RberModel,
    /// Factors of its page types.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_types: Option<PageTypes>,
    /// Range in which it was measured.
    pub range: ModelRange,
    /// Rows of the file.
    pub rows: u32,
    /// Root of the mean square of log10(fitted / measured).
    pub rms_log10: f64,
}

impl MeasuredChip {
    /// Whether it is what its file gives when it is read so.
    pub fn is_read_as(&self, reading: &FitSettings) -> bool {
        let same = |a: f64, b: f64| a.to_bits() == b.to_bits();
        let same_reference = match (self.reference_temperature, reading.reference) {
            (Some(a), Some(b)) => same(a, b),
            (a, b) => a.is_none() && b.is_none(),
        };
        self.fit == reading.fit && same(self.activation_energy, reading.activation_energy) && same_reference
    }
}

/// An error in a chip's file: `error` names the column, the value and the limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowError {
    /// Line of the file, counted from 1; absent where it is about the file as a whole.
    pub line: Option<u32>,
    /// Column, value and limit.
    pub error: ConfigError,
}

impl RowError {
    fn at(line: u32, column: &str, value: impl fmt::Display, limit: impl Into<String>) -> Self {
        Self { line: Some(line), error: ConfigError::new(column, value, limit) }
    }

    fn whole(column: &str, value: impl fmt::Display, limit: impl Into<String>) -> Self {
        Self { line: None, error: ConfigError::new(column, value, limit) }
    }
}
