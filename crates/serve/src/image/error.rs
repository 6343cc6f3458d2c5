//! Why an image cannot be used.

use crate::log::Damage;
use outlast_engine::{EngineError, ScenarioError};
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Why an image cannot be made, opened or written. Nothing has been changed in it.
#[derive(Debug, Error)]
pub enum ImageError {
    /// A file of it cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Another server has it.
    #[error("{}: is in use by another server", path.display())]
    InUse {
        /// The image.
        path: PathBuf,
    },
    /// A file that does not belong to an image of this version and scenario.
    #[error("{}: {why}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// A segment of the log.
    #[error("{}: {damage}", path.display())]
    Log {
        /// The segment.
        path: PathBuf,
        /// What is wrong with it.
        damage: Damage,
    },
    /// Replies have left that more of the log decided than there is.
    #[error(
        "{}: ends at byte {found}, but replies that depend on the log up to byte {promised} of segment {segment} were already sent: the machine \
         must have crashed (serving with sync prevents this; salvage serves what is left)",
        path.display()
    )]
    Short {
        /// The last segment.
        path: PathBuf,
        /// Its length.
        found: u64,
        /// The segment that was written when the last reply left.
        segment: u32,
        /// Its length then.
        promised: u64,
    },
    /// A trace of the log cannot be written.
    #[error(transparent)]
    Trace(#[from] outlast_workload::WorkloadError),
    /// The scenario.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// What the scenario describes.
    #[error(transparent)]
    Engine(#[from] EngineError),
}
