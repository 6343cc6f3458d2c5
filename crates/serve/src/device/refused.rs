//! Reasons for which a device refuses an input.

use super::TAG_LIMIT;
use outlast_device::Tag;
use outlast_engine::ServiceError;
use outlast_units::Nanos;
use thiserror::Error;

/// Reason for which an input was refused. The device is unchanged, unless the variant says otherwise.
#[derive(Debug, Error)]
pub enum RefusedInput {
    /// The input needs power, which is off.
    #[error("the power is off")]
    Off,
    /// Power is to be switched on, and is on.
    #[error("the power is on")]
    On,
    /// The array did not start when its power returned.
    #[error(
        "the array has not started since its power came back: power on with force starts it, though data may be wrong"
    )]
    NotStarted,
    /// The time is later than can be simulated.
    #[error("time has come to {now}; this machine is simulated until {latest}")]
    BeyondHorizon {
        /// Time of the input.
        now: Nanos,
        /// Latest time.
        latest: Nanos,
    },
    /// The tag belongs to a command under way, or is not below [`TAG_LIMIT`].
    #[error("tag {} names a command that is under way, or is not below {TAG_LIMIT}", .0.0)]
    TagInUse(Tag),
    /// A write with too few or too many bytes, or bytes with another command.
    #[error("the command comes with {got} bytes and needs {needed}")]
    Bytes {
        /// Number of bytes with the command.
        got: usize,
        /// Number of bytes that the command needs.
        needed: usize,
    },
    /// Refusal of the drive or array. An array that refuses to start after a loss of power has lost its power nevertheless.
    #[error(transparent)]
    Service(#[from] ServiceError),
}
