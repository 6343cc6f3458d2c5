//! How an image is opened, and what is found then.

use outlast_media::ConfigError;
use outlast_units::Bytes;

/// How an image is opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImageOptions {
    /// Whether it survives the host's own crash; see [`LogOptions`](crate::log::LogOptions).
    pub sync: bool,
    /// Whether a log that the host's crash has damaged is used up to the damage, though replies have left that later parts decided.
    pub salvage: bool,
    /// Whether the log before a checkpoint stays, so that there is the machine as it was at any moment of its life.
    pub keep_log: bool,
    /// How much log is written before the next checkpoint, from 64 KiB on. Absent: 64 MiB, or as much as the newest checkpoint takes if that
    /// is more.
    pub checkpoint_every: Option<Bytes>,
}

/// The least that `checkpoint_every` may be: below it a server would do little else than write checkpoints.
const CHECKPOINT_LEAST: Bytes = Bytes::kib(64);
/// What `checkpoint_every` is at least where it is absent.
const CHECKPOINT_EVERY: Bytes = Bytes::mib(64);

impl ImageOptions {
    /// Checks that they can work.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        match self.checkpoint_every.filter(|every| every.0 < CHECKPOINT_LEAST.0) {
            Some(every) => {
                let limit = format!("must be at least {CHECKPOINT_LEAST}");
                Err(ConfigError::new("checkpoint_every", every, limit))
            }
            None => Ok(()),
        }
    }

    /// Bytes of log after which the next checkpoint is made, where the newest has `bytes`.
    pub(super) fn limit(&self, bytes: u64) -> u64 {
        self.checkpoint_every.map_or_else(|| bytes.max(CHECKPOINT_EVERY.0), |every| every.0)
    }
}

/// What was found when an image was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Whether there was none, so that it was made.
    pub made: bool,
    /// Whether the last server had announced its end. Otherwise the machine has lost its power when that server ended.
    pub clean: bool,
    /// Inputs that have been repeated.
    pub inputs: u64,
    /// Whether the log ended within a record, which was taken away.
    pub torn: bool,
}
