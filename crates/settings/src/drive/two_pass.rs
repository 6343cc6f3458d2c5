//! Programs in two passes, beside the rest of a drive.

use super::SsdConfig;
use crate::ftl::PartialPlace;
use outlast_media::ConfigError;

impl SsdConfig {
    /// Checks that nothing else of the drive excludes two passes. Zones are checked in `validate`, which leaves them out for all else.
    ///
    /// # Errors
    /// What does not go together with them.
    pub(super) fn check_passes(&self) -> Result<(), ConfigError> {
        let Some(passes) = &self.ftl.two_pass else { return Ok(()) };
        let refused = |limit| Err(ConfigError::new("device.ftl.two_pass.coarse", passes.coarse, limit));
        if !self.ftl.multi_plane && self.geometry.planes_per_die > 1 {
            return refused("needs device.ftl.multi_plane = true: the passes of a die follow one order");
        }
        if self.ftl.gc.on_chip_copies != 0 {
            return refused(
                "cannot be combined with device.ftl.gc.on_chip_copies: the fine pass needs the data again",
            );
        }
        let partial = self.protection.as_ref().map_or(PartialPlace::None, |own| own.partial.place);
        if matches!(partial, PartialPlace::Inline | PartialPlace::Blocks) {
            return refused(
                "cannot be combined with partial parity on flash (device.protection.partial.place): it protects nothing before its fine pass",
            );
        }
        Ok(())
    }

    /// Checks that a drive with zones programs in one pass.
    ///
    /// # Errors
    /// Two passes.
    pub(super) fn check_zoned_passes(&self) -> Result<(), ConfigError> {
        let Some(passes) = self.ftl.two_pass.filter(|_| self.zones.is_some()) else { return Ok(()) };
        let limit = "cannot be combined with device.zones: a zone that rests would hold the buffer";
        Err(ConfigError::new("device.ftl.two_pass.coarse", passes.coarse, limit))
    }
}
