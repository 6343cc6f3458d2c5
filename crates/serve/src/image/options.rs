//! Options of an image, and facts found when it is opened.

use crate::store::ContentsIn;
use outlast_media::ConfigError;
use outlast_units::Bytes;

/// Options of an image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImageOptions {
    /// Makes the image survive a crash of the host; see [`LogOptions`](crate::log::LogOptions).
    pub sync: bool,
    /// Accepts a log that a crash of the host has damaged, up to the damage, even if sent replies depend on later records.
    pub salvage: bool,
    /// Keeps the log before checkpoints, which allows the device to be opened as it was at any time.
    pub keep_log: bool,
    /// Bytes of log between checkpoints, at least 64 KiB. Absent: the length of the newest checkpoint, at least 64 MiB.
    pub checkpoint_every: Option<Bytes>,
    /// Storage of the device's bytes: memory, or a file in the image's folder.
    pub contents: ContentsIn,
}

/// Least `checkpoint_every`: below it a server would do little but write checkpoints.
const CHECKPOINT_LEAST: Bytes = Bytes::kib(64);
/// Least log between checkpoints if `checkpoint_every` is absent.
const CHECKPOINT_EVERY: Bytes = Bytes::mib(64);

impl ImageOptions {
    /// Checks the values.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        match self.checkpoint_every.filter(|every| every.0 < CHECKPOINT_LEAST.0) {
            Some(every) => {
                let limit = format!("must be at least {CHECKPOINT_LEAST}");
                Err(ConfigError::new("checkpoint_every", every, limit))
            }
            None => Ok(()),
        }
    }

    /// Bytes of log between checkpoints, if the newest has `bytes`.
    pub(super) fn limit(&self, bytes: u64) -> u64 {
        // As much log as the checkpoint is long: writing at most doubles, and a start replays a bounded log.
        self.checkpoint_every.map_or_else(|| bytes.max(CHECKPOINT_EVERY.0), |every| every.0)
    }
}

/// Facts found when an image was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpeningReport {
    /// True if the image was created.
    pub made: bool,
    /// True if the last server was shut down regularly; otherwise the device has lost its power.
    pub clean: bool,
    /// Number of inputs replayed.
    pub inputs: u64,
    /// True if the log ended with an incomplete record, which was cut off.
    pub torn: bool,
}
