//! What a drive keeps in its memory.

use super::{ControllerConfig, SsdConfig, WriteCache};
use outlast_media::ConfigError;
use outlast_units::Bytes;

impl SsdConfig {
    /// Units of the read cache of each flash core, if there is one.
    pub fn read_cache_units(&self) -> Option<u32> {
        let bytes = self.controller.read_cache?;
        let units = bytes.0 / self.ftl.mapping_unit.0 / u64::from(self.controller.flash_cores);
        u32::try_from(units).ok()
    }

    /// Where writes coalesce: units of each flash core in full program units that are held back, at most.
    pub fn units_held_back(&self) -> Option<u32> {
        let units =
            self.controller.hold_back.0 / self.ftl.mapping_unit.0 / u64::from(self.controller.flash_cores);
        self.controller.coalesce.then_some(u32::try_from(units).unwrap_or(u32::MAX))
    }

    pub(super) fn check_read_cache(&self) -> Result<(), ConfigError> {
        /// Each unit takes some twenty bytes of this computer's memory.
        const MOST: u64 = 1 << 26;
        let Some(given) = self.controller.read_cache else { return Ok(()) };
        let each = self.ftl.mapping_unit.0 * u64::from(self.controller.flash_cores);
        if given.0 / each == 0 || given.0 / each > MOST {
            let limit = format!(
                "must be between {} and {}: mapping units of every core",
                Bytes(each),
                Bytes(each * MOST)
            );
            return Err(ConfigError::new("device.controller.read_cache", given, limit));
        }
        Ok(())
    }
}

impl ControllerConfig {
    /// Checks that there is something to hold back, and that it may wait.
    pub(super) fn check_coalescing(&self) -> Result<(), ConfigError> {
        if self.coalesce && self.write_cache == WriteCache::Off {
            let limit = "needs write_cache = \"protected\" or \"volatile\": without a cache each write is programmed before it ends";
            return Err(ConfigError::new("device.controller.coalesce", true, limit));
        }
        if !self.coalesce && self.hold_back.0 != 0 {
            let limit = "needs coalesce = true: what is held back waits to be written again";
            return Err(ConfigError::new("device.controller.hold_back", self.hold_back, limit));
        }
        Ok(())
    }
}
