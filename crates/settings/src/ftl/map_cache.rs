//! A mapping table that does not fit in memory.

use super::FtlConfig;
use outlast_media::ConfigError;
use outlast_units::{Bytes, JsonSchema, Nanos};
use serde::{Deserialize, Serialize};

/// The drive keeps only a part of its mapping table in memory: pages of the table used last (LRU). A host read or write whose page is not
/// among them waits until this has been read from flash. Needs `map_flush`, which says how large an entry is and writes pages of the table to flash.
/// After Gupta et al., "DFTL", ASPLOS 2009, with whole pages in place of single entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MapCacheConfig {
    /// Memory for pages of the table, of one mapping unit each; every flash core has an equal share. At least two pages for each core, and as many more
    /// as `prefetch` says.
    pub size: Bytes,
    /// Time that the flash core takes for each look-up, as the table lies in the host's memory (HMB). Default: 0, it lies in the drive's.
    #[serde(default, skip_serializing_if = "is_no_time")]
    pub host_lookup: Nanos,
    /// Pages after a missing one that are read with it when the page before was the one that was missing last. 0 to 64. Default: 0.
    #[serde(default, skip_serializing_if = "is_none")]
    pub prefetch: u32,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_no_time(time: &Nanos) -> bool {
    *time == Nanos::ZERO
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_none(pages: &u32) -> bool {
    *pages == 0
}

impl MapCacheConfig {
    /// Pages of the table that each of `cores` flash cores keeps, of `unit` bytes.
    pub fn pages(&self, unit: Bytes, cores: u16) -> u32 {
        u32::try_from(self.size.0 / unit.0 / u64::from(cores)).unwrap_or(u32::MAX)
    }

    /// Checks the settings beside `ftl`, those of a drive with `cores` flash cores.
    ///
    /// # Errors
    /// No pages of the table on flash, or less memory than one miss needs.
    pub fn validate(&self, ftl: &FtlConfig, cores: u16) -> Result<(), ConfigError> {
        let error = |setting: &str, value: &dyn std::fmt::Display, limit: &str| {
            Err(ConfigError::new(&format!("device.ftl.map_cache.{setting}"), value, limit))
        };
        if ftl.map_flush.is_none() {
            let limit = "needs device.ftl.map_flush: pages of the table on flash";
            return error("size", &self.size, limit);
        }
        if self.prefetch > 64 {
            return error("prefetch", &self.prefetch, "must be at most 64 pages");
        }
        if self.host_lookup > Nanos::millis(1000) {
            return error("host_lookup", &self.host_lookup, "must be at most a second");
        }
        let least = Bytes((2 + u64::from(self.prefetch)) * ftl.mapping_unit.0 * u64::from(cores));
        if self.size < least {
            let limit =
                format!("must be at least {least}: two pages of the table for each core, and `prefetch`");
            return error("size", &self.size, &limit);
        }
        Ok(())
    }
}
