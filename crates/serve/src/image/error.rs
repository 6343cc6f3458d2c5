//! Errors of images.

use crate::log::LogDamage;
use outlast_engine::{EngineError, ScenarioError};
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Reason for which an image cannot be created, opened or written. The image is unchanged.
#[derive(Debug, Error)]
pub enum ImageError {
    /// A file cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// Path of the file.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// Another server uses the image.
    #[error("{}: is in use by another server", path.display())]
    InUse {
        /// Folder of the image.
        path: PathBuf,
    },
    /// A file does not belong to an image of this version and scenario.
    #[error("{}: {why}", path.display())]
    Foreign {
        /// Path of the file.
        path: PathBuf,
        /// Description of the fault.
        why: String,
    },
    /// A segment of the log is damaged.
    #[error("{}: {damage}", path.display())]
    Log {
        /// Path of the segment.
        path: PathBuf,
        /// The damage.
        damage: LogDamage,
    },
    /// The log is shorter than the part on which sent replies depend.
    #[error(
        "{}: ends at byte {length}, but replies that depend on the log up to byte {promised} of segment {segment} were already sent: the machine \
         must have crashed (serving with sync prevents this; salvage serves what is left)",
        path.display()
    )]
    Short {
        /// Path of the last segment.
        path: PathBuf,
        /// Its length in bytes.
        length: u64,
        /// Segment that was written when the last reply left.
        segment: u32,
        /// Length of that segment then, in bytes.
        promised: u64,
    },
    /// The trace of a log cannot be written.
    #[error(transparent)]
    Trace(#[from] outlast_workload::WorkloadError),
    /// The scenario cannot be read.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// The device of the scenario cannot be built.
    #[error(transparent)]
    Engine(#[from] EngineError),
}
