//! What can be wrong with a recording.

use outlast_serve::{ImageError, ServeError};
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Why a recording, or a state of it, cannot be used.
#[derive(Debug, Error)]
pub enum TortureError {
    /// The image that was recorded.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// A state that cannot be served.
    #[error(transparent)]
    Serve(#[from] ServeError),
    /// A file cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file is not what it should be.
    #[error("{}: {why}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// A state that the recording does not have.
    #[error("state {id}: {why}")]
    State {
        /// The state as it was named.
        id: String,
        /// What is wrong with it.
        why: String,
    },
    /// A setting.
    #[error("{name} = {value}: {limit}")]
    Setting {
        /// The setting.
        name: &'static str,
        /// Its value.
        value: String,
        /// What it must be.
        limit: String,
    },
}

impl TortureError {
    pub(crate) fn state(id: &(impl ToString + ?Sized), why: &(impl ToString + ?Sized)) -> Self {
        Self::State { id: id.to_string(), why: why.to_string() }
    }
}
