//! Why a run could not be made or finished.

use outlast_media::ConfigError;
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
    /// The drive wore out while it was being prepared.
    #[error("the drive wore out while it was being prepared: {written} of {planned} units were written")]
    WornOut {
        /// Units written.
        written: u64,
        /// Units to be written.
        planned: u64,
    },
}
