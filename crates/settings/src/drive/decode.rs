//! Settings of the decoder.

use outlast_media::{ConfigError, at_most_a_second};
use outlast_units::{JsonSchema, Nanos};
use serde::{Deserialize, Serialize};

/// How long the decoder of the error-correcting code takes, from the moment at which the data of a sensing is in the controller. Decoding is
/// pipelined: it delays a read, and holds neither the channel nor, where it succeeds, the die. A die whose data cannot be corrected waits for
/// that to be known, so that a re-read begins after the decoding before it has failed.
///
/// It is the time of reads that the host waits for, and of whatever fails. Data that is only moved within the drive, or read to be
/// merged with a partial write, is not held back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DecodeTimes {
    /// Of what was sensed first: hard decisions. The last time, too, of a unit that was rebuilt from its stripe. Default: 0.
    pub hard: Nanos,
    /// Of what a re-read gave. Default: 0.
    pub retry: Nanos,
}

impl DecodeTimes {
    /// Whether decoding takes no time, which is not written out.
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
    pub(super) fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// The time of what re-read number `rereads` (0: the plain read) gave.
    #[inline]
    pub fn of(&self, rereads: u16) -> Nanos {
        if rereads == 0 { self.hard } else { self.retry }
    }

    /// Checks the times.
    ///
    /// # Errors
    /// More than a second.
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        for (name, time) in [("hard", self.hard), ("retry", self.retry)] {
            at_most_a_second(&format!("device.controller.decode.{name}"), time)?;
        }
        Ok(())
    }
}
