//! Flushes of the mapping table to flash.

use outlast_media::ConfigError;
use outlast_units::{Bytes, JsonSchema, Nanos};
use serde::{Deserialize, Serialize};

/// From time to time the drive writes its mapping table to flash, in pages of one mapping unit each, through a write stream of its own. A flush is
/// due by time, by what the host has written, or by both, whichever comes first; it goes on beside everything else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MapFlushConfig {
    /// Time between the beginnings of two flushes. Writes without time, as in preconditioning, know no such flushes. Absent: none is due by
    /// time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Nanos>,
    /// What the host writes, in whole mapping units, between the beginnings of two flushes. Each flash core counts its share. Absent: none is due
    /// by what is written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written: Option<Bytes>,
    /// Size of an entry: as many as fit into a mapping unit make a page of the table. 1 to 64 bytes. Default: 4 bytes.
    pub entry: Bytes,
    /// Whether only those pages are written that have changed since they were last written; else a flush writes the whole table.
    /// Default: true.
    pub dirty_only: bool,
}

impl Default for MapFlushConfig {
    fn default() -> Self {
        Self { interval: None, written: None, entry: Bytes(4), dirty_only: true }
    }
}

impl MapFlushConfig {
    /// Entries in a page of the table, of `unit` bytes.
    pub fn entries(&self, unit: Bytes) -> u32 {
        (unit.0 / self.entry.0.max(1)) as u32
    }

    /// Pages of the table of a flash core with `units` mapping units of `unit` bytes.
    pub fn pages(&self, units: u64, unit: Bytes) -> u64 {
        units.div_ceil(u64::from(self.entries(unit).max(1)))
    }

    /// Checks the settings; a mapping unit has `unit` bytes.
    ///
    /// # Errors
    /// No moment at which a flush is due, or a size out of range.
    pub fn validate(&self, unit: Bytes) -> Result<(), ConfigError> {
        let error = |setting: &str, value: String, limit: &str| {
            Err(ConfigError::new(&format!("device.ftl.map_flush.{setting}"), value, limit))
        };
        if self.entry.0 == 0 || self.entry.0 > 64 {
            return error("entry", self.entry.to_string(), "must be between 1 and 64 bytes");
        }
        match (self.interval, self.written) {
            (None, None) => {
                error("interval", "absent".to_owned(), "give interval, written or both: when a flush is due")
            }
            (Some(interval), _) if interval < Nanos::micros(1) => {
                error("interval", interval.to_string(), "must be at least 1us")
            }
            (_, Some(written)) if written < unit => {
                error("written", written.to_string(), &format!("must be at least one mapping unit, {unit}"))
            }
            _ => Ok(()),
        }
    }
}
