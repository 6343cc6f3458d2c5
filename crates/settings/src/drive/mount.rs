//! How a drive finds its data again when power is back.

use super::{SsdConfig, Trims};
use outlast_media::ConfigError;
use outlast_units::{Bytes, JsonSchema};
use serde::{Deserialize, Serialize};

/// A mount from flash. The drive records what a real one keeps on flash beside the data: spare areas with logical page and order of
/// writing, a header and a list of owners for each superblock, a journal of trims and losses, and checkpoints of the mapping. After a
/// loss of power it finds its mapping in these alone, reads them in simulated time, and takes commands only when it has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MountConfig {
    /// Whether a superblock that is full has a list of the owners of all its units, 12 bytes each, in pages of its own; else the mount reads
    /// the spare areas of all its pages. Default: true.
    pub lists: bool,
    /// After so many programmed bytes a checkpoint of the mapping is written, so that a mount looks only at what came later. Absent: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpoint_every: Option<Bytes>,
}

impl Default for MountConfig {
    fn default() -> Self {
        Self { lists: true, checkpoint_every: None }
    }
}

impl MountConfig {
    /// Checks the settings against those of the drive.
    ///
    /// # Errors
    /// Checkpoints that follow each other faster than superpages, and trims that are not in the journal at once.
    pub fn validate(&self, drive: &SsdConfig) -> Result<(), ConfigError> {
        if drive.controller.trims == Trims::Volatile {
            let limit =
                "needs trims that are kept: without [device.mount], or with controller.trims = \"kept\"";
            return Err(ConfigError::new("device.controller.trims", "volatile", limit));
        }
        let superpage = Bytes(drive.geometry.page_size.0 * drive.geometry.planes() as u64);
        match self.checkpoint_every {
            Some(every) if every < superpage => {
                let limit = format!("must be at least one page of every plane of the drive, {superpage}");
                Err(ConfigError::new("device.mount.checkpoint_every", every, limit))
            }
            _ => Ok(()),
        }
    }
}
