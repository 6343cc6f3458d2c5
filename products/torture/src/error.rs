//! Errors of recordings and crash states.

use outlast_serve::{ImageError, ServeError};
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Why a recording, or a state of it, cannot be used.
#[derive(Debug, Error)]
pub enum TortureError {
    /// An image cannot be read.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// A state cannot be served.
    #[error(transparent)]
    Serve(#[from] ServeError),
    /// A file cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// A file is not a recording, or is damaged.
    #[error("{}: {why}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// Reason.
        why: String,
    },
    /// The recording has no such state.
    #[error("state {id}: {why}")]
    State {
        /// The state as it was named.
        id: String,
        /// Reason.
        why: String,
    },
    /// A setting is out of range or does not fit the recording.
    #[error("{name} = {value}: {limit}")]
    Setting {
        /// The setting.
        name: &'static str,
        /// Its value.
        value: String,
        /// Accepted values.
        limit: String,
    },
}

impl TortureError {
    pub(crate) fn state(id: &(impl ToString + ?Sized), why: &(impl ToString + ?Sized)) -> Self {
        Self::State { id: id.to_string(), why: why.to_string() }
    }
}
