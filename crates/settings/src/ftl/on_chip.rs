//! On-chip copies: how many may follow one another, and what excludes them.

use super::{GcConfig, GcReads, GcRelocation};
use outlast_media::ConfigError;

/// Most on-chip copies in a row.
const MOST_COPIES: u8 = 15;

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
pub(super) fn is_zero(copies: &u8) -> bool {
    *copies == 0
}

impl GcConfig {
    /// Checks the number of copies in a row beside all else, in a drive that has parity or none.
    ///
    /// # Errors
    /// Too many of them, or something that needs all moved data to come to the controller.
    pub fn check_copies(&self, has_parity: bool) -> Result<(), ConfigError> {
        let refused = |limit: &str| {
            Err(ConfigError::new("device.ftl.gc.on_chip_copies", self.on_chip_copies, limit.to_owned()))
        };
        if self.on_chip_copies == 0 {
            return Ok(());
        }
        if self.on_chip_copies > MOST_COPIES {
            return refused(&format!("must be at most {MOST_COPIES}"));
        }
        if has_parity {
            return refused(
                "cannot be combined with device.protection: parity is made of data that has come to the controller",
            );
        }
        if self.relocation == GcRelocation::Host {
            return refused(
                "needs device.ftl.gc.relocation other than \"host\": what the host writes comes over the channel",
            );
        }
        if self.reads == GcReads::Page {
            return refused("needs device.ftl.gc.reads = \"multi-plane\": whole program units are copied");
        }
        Ok(())
    }
}
