//! Why a run could not be made or finished.

use outlast_array::ArrayError;
use outlast_media::ConfigError;
use outlast_units::Nanos;
use outlast_workload::WorkloadError;
use thiserror::Error;

/// The error of [`crate::Simulation`].
#[derive(Debug, Error)]
pub enum EngineError {
    /// A setting cannot work.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The workload cannot be opened or read.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    /// What was to break does not.
    #[error(transparent)]
    Refused(#[from] ServiceError),
    /// A snapshot cannot be written.
    #[error("the snapshot cannot be written: {0}")]
    Snapshot(std::io::Error),
    /// The state of a machine in service cannot be read.
    #[error("the checkpoint {0}")]
    Checkpoint(crate::SnapshotError),
    /// A request arrives, or the run goes on, later than the drive can count time.
    #[error(
        "workload: the run lasts until {at}, but a drive with this many dies can be simulated only until {latest}: lower workload.trace.time_scale, or shorten the workload"
    )]
    BeyondHorizon {
        /// How far it went.
        at: Nanos,
        /// The limit.
        latest: Nanos,
    },
    /// The drive wore out while it was being prepared.
    #[error("the drive wore out while it was being prepared: {written} of {planned} units were written")]
    WornOut {
        /// Units written.
        written: u64,
        /// Units to be written.
        planned: u64,
    },
}

/// Why what was asked of a drive or an array in service is not done. Nothing has changed, unless the variant says so.
#[derive(Debug, Error)]
pub enum ServiceError {
    /// A setting of a fault cannot work.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The array refuses.
    #[error(transparent)]
    Array(#[from] ArrayError),
    /// Only an array can do that.
    #[error("only an array can do that: there is no [array]")]
    NoArray,
}
