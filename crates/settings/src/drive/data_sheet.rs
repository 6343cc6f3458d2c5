//! What the maker of a drive promises.

use outlast_media::ConfigError;
use outlast_units::{ByteRate, JsonSchema, Nanos};
use serde::{Deserialize, Serialize};

/// Promises of the drive's maker. They are shown beside the measured figures and affect nothing. Each figure may be absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DataSheet {
    /// Sequential reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read: Option<ByteRate>,
    /// Sequential writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write: Option<ByteRate>,
    /// Random reads of 4 KiB, or of a mapping unit where that is larger, a second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub random_read: Option<u64>,
    /// Random writes of 4 KiB, or of a mapping unit where that is larger, a second, in the steady state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub random_write: Option<u64>,
    /// Latency of a read of that size that waits for no other command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_latency: Option<Nanos>,
    /// Latency of a write of that size that waits for no other command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_latency: Option<Nanos>,
}

impl DataSheet {
    /// Checks the figures by themselves.
    ///
    /// # Errors
    /// The first one that promises nothing.
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        let figures = [
            ("random_read", self.random_read),
            ("random_write", self.random_write),
            ("read_latency", self.read_latency.map(|time| time.0)),
            ("write_latency", self.write_latency.map(|time| time.0)),
        ];
        match figures.iter().find(|(_, figure)| *figure == Some(0)) {
            Some((name, _)) => {
                Err(ConfigError::new(&format!("device.data_sheet.{name}"), 0, "must be above 0"))
            }
            None => Ok(()),
        }
    }
}
