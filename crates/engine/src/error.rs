//! Errors that prevent or end a run.

use outlast_array::ArrayError;
use outlast_media::ConfigError;
use outlast_settings::drive::ThermalShutdown;
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
    /// A fault cannot be injected.
    #[error(transparent)]
    Refused(#[from] ServiceError),
    /// A snapshot cannot be written.
    #[error("the snapshot cannot be written: {0}")]
    Snapshot(std::io::Error),
    /// The saved state of a device in service cannot be read.
    #[error("the checkpoint {0}")]
    Checkpoint(crate::SnapshotError),
    /// A request arrives, or the run goes on, later than the drive can count time.
    #[error(
        "workload: the run lasts until {at}, but a drive with this many dies can be simulated only until {latest}: lower workload.trace.time_scale, or shorten the workload"
    )]
    BeyondHorizon {
        /// Moment that the run reached, or of its next request.
        at: Nanos,
        /// Last moment that can be simulated.
        latest: Nanos,
    },
    /// Commands wait, and none completes, however long.
    #[error(
        "workload: {commands} commands wait from {:.3} s to {:.3} s of simulated time, and none completes: {}",
        .since.as_secs_f64(), .until.as_secs_f64(), why_unanswered(*.shutdown)
    )]
    Unanswered {
        /// Moment of the last completion or submission.
        since: Nanos,
        /// Moment that the run reached.
        until: Nanos,
        /// Shut-down of its drives, if they have one.
        shutdown: Option<ThermalShutdown>,
        /// Commands that wait.
        commands: usize,
    },
    /// The drive wore out while it was being prepared.
    #[error(
        "precondition: the drive wore out when {written} of {planned} mapping units were written: blocks that have failed or reached their endurance (device.defects, device.hazards) leave too few superblocks; give it more spare space, or write less (precondition.min_drive_writes, max_drive_writes)"
    )]
    WornOut {
        /// Units written.
        written: u64,
        /// Units to be written.
        planned: u64,
    },
}

fn why_unanswered(shutdown: Option<ThermalShutdown>) -> String {
    match shutdown {
        Some(ThermalShutdown { from, until }) => format!(
            "device.heat.shutdown = {{ from = {from}, until = {until} }} keeps the host out all that time, in which work of the drive's own keeps it at {until} °C or more"
        ),
        None => "the device keeps its host out for good".to_owned(),
    }
}

/// Refusal of an intervention in a drive or an array: a fault, an exchange, a repair. Nothing has changed, unless the variant says so.
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
