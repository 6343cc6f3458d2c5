//! The error of every configuration check below the engine.

use thiserror::Error;

/// A setting that cannot work: its dotted name below `device`, its value, and the limit it breaks.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{field} = {value}: {limit}")]
pub struct ConfigError {
    /// Dotted name of the setting, such as `device.geometry.channels`.
    pub field: String,
    /// The value, as it would be written in a scenario.
    pub value: String,
    /// Accepted values, with the limit in figures.
    pub limit: String,
}

impl ConfigError {
    /// An error of setting `field` with `value`, breaking `limit`.
    pub fn new(field: &str, value: impl std::fmt::Display, limit: impl Into<String>) -> Self {
        Self { field: field.to_owned(), value: value.to_string(), limit: limit.into() }
    }
}
