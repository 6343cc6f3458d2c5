//! Settings of a device without firmware.

use outlast_media::{ConfigError, at_most_a_second};
use outlast_units::{ByteRate, Bytes, JsonSchema, Nanos, SECTOR_BYTES};
use serde::{Deserialize, Serialize};

/// Settings of a plain device: fixed latency, bandwidth, and no flash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, outlast_persist::Persist)]
#[serde(deny_unknown_fields)]
pub struct PlainConfig {
    /// Capacity; a multiple of 512 bytes.
    pub capacity: Bytes,
    /// Time of a read besides its transfer.
    #[serde(default)]
    pub read_latency: Nanos,
    /// Time of a write besides its transfer.
    #[serde(default)]
    pub write_latency: Nanos,
    /// Time to find out which sectors of a range are to be written again, whatever its length.
    #[serde(default)]
    pub status_latency: Nanos,
    /// Bandwidth of reads; absent: unlimited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_rate: Option<ByteRate>,
    /// Bandwidth of writes; absent: unlimited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_rate: Option<ByteRate>,
    /// Commands carried out at once, each with the whole bandwidth; 1 makes latency and bandwidth a common limit.
    #[serde(default = "one")]
    pub lanes: u16,
    /// Completed writes may be lost with power until a flush, unless they are FUA.
    #[serde(default)]
    pub volatile_cache: bool,
    /// Rated cycles. One cycle is one capacity's worth of writes: perfect wear levelling, no write amplification (Diff-RAID,
    /// section 4.1). Absent: wear is counted but has no rating.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endurance: Option<u32>,
    /// Keep the bytes.
    #[serde(default)]
    pub bytes: bool,
}

fn one() -> u16 {
    1
}

impl PlainConfig {
    /// A device of `capacity` with no delay at all.
    pub fn new(capacity: Bytes) -> Self {
        Self {
            capacity,
            read_latency: Nanos::ZERO,
            write_latency: Nanos::ZERO,
            status_latency: Nanos::ZERO,
            read_rate: None,
            write_rate: None,
            lanes: 1,
            volatile_cache: false,
            endurance: None,
            bytes: false,
        }
    }

    /// Checks the settings.
    ///
    /// # Errors
    /// The first that cannot work.
    pub fn validate(&self) -> Result<(), ConfigError> {
        if self.capacity.0 == 0 || !self.capacity.0.is_multiple_of(SECTOR_BYTES) {
            let limit = "must be a multiple of 512 bytes, above 0";
            return Err(ConfigError::new("device.capacity", self.capacity, limit));
        }
        if self.lanes == 0 || self.lanes > 1024 {
            return Err(ConfigError::new("device.lanes", self.lanes, "must be between 1 and 1024"));
        }
        if self.endurance == Some(0) {
            return Err(ConfigError::new("device.endurance", 0, "must be above 0"));
        }
        at_most_a_second("device.read_latency", self.read_latency)?;
        at_most_a_second("device.write_latency", self.write_latency)?;
        at_most_a_second("device.status_latency", self.status_latency)
    }
}
