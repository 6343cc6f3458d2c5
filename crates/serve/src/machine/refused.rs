//! What a machine refuses.

use super::TAGS;
use outlast_device::Tag;
use outlast_engine::ServiceError;
use outlast_units::Nanos;
use thiserror::Error;

/// Why an input was refused. It has changed nothing, unless the variant says so.
#[derive(Debug, Error)]
pub enum Refused {
    /// There is no power.
    #[error("the power is off")]
    Off,
    /// There is power.
    #[error("the power is on")]
    On,
    /// The array did not start when its power came back.
    #[error(
        "the array has not started since its power came back: power on with force starts it, though data may be wrong"
    )]
    NotStarted,
    /// More time than can be simulated.
    #[error("time has come to {now}; this machine is simulated until {latest}")]
    BeyondHorizon {
        /// The time of the input.
        now: Nanos,
        /// The limit.
        latest: Nanos,
    },
    /// The tag names a command that is under way, or is not below [`TAGS`].
    #[error("tag {} names a command that is under way, or is not below {TAGS}", .0.0)]
    TagInUse(Tag),
    /// A write without the bytes of all its sectors, or bytes with something else than a write.
    #[error("the command comes with {given} bytes and needs {needed}")]
    Bytes {
        /// Bytes given.
        given: usize,
        /// Bytes needed.
        needed: usize,
    },
    /// What the drive or the array says. After a loss of power that an array refuses to start from, it has lost power.
    #[error(transparent)]
    Machine(#[from] ServiceError),
}
