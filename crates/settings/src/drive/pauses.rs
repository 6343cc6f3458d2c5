//! Settings of pauses of admission.

use outlast_media::ConfigError;
use outlast_units::{JsonSchema, Nanos};
use serde::{Deserialize, Serialize};

/// Regular pauses in which no host write enters the buffer, because firmware works for itself: it writes a journal, looks after its tables or its
/// flash. Reads, collection and programs go on. Writes without time, as in preconditioning, meet no pauses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PausesConfig {
    /// Time between the beginnings of two pauses; 10 us to 100 s.
    pub every: Nanos,
    /// Length of a pause; less than `every`.
    pub length: Nanos,
}

impl PausesConfig {
    /// Checks the times.
    ///
    /// # Errors
    /// A time out of range.
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        if !(10_000..=100_000_000_000).contains(&self.every.0) {
            let limit = "must be between 10us and 100s";
            return Err(ConfigError::new("device.controller.pauses.every", self.every, limit));
        }
        if self.length == Nanos::ZERO || self.length >= self.every {
            let limit = format!("must be more than nothing, and less than every, {}", self.every);
            return Err(ConfigError::new("device.controller.pauses.length", self.length, limit));
        }
        Ok(())
    }
}
