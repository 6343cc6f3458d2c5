//! Checkpoints: the device as it was when a segment of the log began, so that older segments can be removed.
//!
//! A checkpoint is written by a thread of its own, from a fork of the device. It counts once its file has its final name; then the log before it is
//! removed. A process killed in between leaves an unfinished file, or unneeded log, which the next one removes.

use super::ImageError;
use super::files::{ImageFiles, io_error, number_of, remove};
use super::folder::ImageFolder;
use crate::device::ServedDevice;
use crate::log::segment_name;
use crate::store::FileStore;
use outlast_engine::{EngineError, Scenario, SnapshotError};
use std::ffi::OsString;
use std::io::{self, BufReader, BufWriter, Write};
use std::sync::Arc;
use std::thread::JoinHandle;

/// Bytes read or written with one call.
const BUFFER: usize = 1 << 20;
/// Extension of unfinished checkpoints.
const UNFINISHED: &str = "new";

/// Checkpoints of an image in use.
#[derive(Debug)]
pub(super) struct ImageCheckpoints {
    files: ImageFiles,
    /// Keeps the log before checkpoints.
    keep_log: bool,
    /// Bytes of the newest checkpoint.
    bytes: u64,
    under_way: Option<JoinHandle<io::Result<u64>>>,
}

impl ImageCheckpoints {
    pub(super) fn new(files: ImageFiles, keep_log: bool) -> Result<Self, ImageError> {
        let mut bytes = 0;
        if let Some(folder) = files.open_checkpoints()?
            && let Some(newest) = list(&folder)?.0.pop().map(segment_name)
        {
            bytes = folder.size(&newest).map_err(|source| io_error(folder.path_of(&newest), source))?;
        }
        Ok(Self { files, keep_log, bytes, under_way: None })
    }

    /// Bytes of the newest checkpoint, 0 without one.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// True while a checkpoint is being written.
    ///
    /// # Errors
    /// A checkpoint that has ended since the last call could not be written.
    pub(super) fn is_under_way(&mut self) -> io::Result<bool> {
        if self.under_way.as_ref().is_some_and(JoinHandle::is_finished) {
            self.wait()?;
        }
        Ok(self.under_way.is_some())
    }

    /// Waits for the checkpoint that is being written, if any.
    ///
    /// # Errors
    /// The checkpoint could not be written.
    pub(super) fn wait(&mut self) -> io::Result<()> {
        if let Some(thread) = self.under_way.take() {
            let outcome = thread.join();
            self.bytes = outcome.unwrap_or_else(|_| Err(io::Error::other("writing it was given up")))?;
        }
        Ok(())
    }

    /// Begins to write `device` as it is at the beginning of `segment`.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub(super) fn begin(&mut self, device: ServedDevice, segment: u32) -> io::Result<()> {
        let (files, keep_log) = (self.files.clone(), self.keep_log);
        let work = move || {
            let folder = files.make_checkpoints()?;
            let name = segment_name(segment);
            let bytes = write(&folder, &name, &device).map_err(|error| {
                // An unfinished checkpoint is useless, and the disk may be full.
                let _ = folder.remove(unfinished(&name));
                io::Error::new(error.kind(), format!("{}: {error}", folder.path_of(&name).display()))
            })?;
            // The fork shares contents with the device, which copies what it changes as long as the fork exists.
            drop(device);
            remove_before(&files, segment, keep_log).map_err(io::Error::other)?;
            Ok(bytes)
        };
        self.under_way = Some(std::thread::Builder::new().name("checkpoint".to_owned()).spawn(work)?);
        Ok(())
    }
}

impl Drop for ImageCheckpoints {
    /// Waits: nobody else may use the image while its checkpoint is written.
    fn drop(&mut self) {
        let _ = self.wait();
    }
}

/// Name of the checkpoint `name` while it is written.
fn unfinished(name: &str) -> String {
    format!("{name}.{UNFINISHED}")
}

/// Writes the checkpoint `name`; returns its length in bytes.
fn write(folder: &ImageFolder, name: &str, device: &ServedDevice) -> io::Result<u64> {
    let file = folder.create(unfinished(name))?;
    let mut to = BufWriter::with_capacity(BUFFER, file);
    device.write(&mut to)?;
    to.flush()?;
    // Synced even if the log is not: the log before the checkpoint is about to be removed, so a crash of the host must
    // not lose the only copy.
    to.get_ref().sync_all()?;
    let bytes = to.get_ref().metadata()?.len();
    // The checkpoint counts from here on, so its content must be on disk before.
    folder.rename(&unfinished(name), name)?;
    folder.sync()?;
    Ok(bytes)
}

/// Removes all checkpoints but that of `segment`, and unless `keep_log` all segments before it.
pub(super) fn remove_before(files: &ImageFiles, segment: u32, keep_log: bool) -> Result<(), ImageError> {
    if let Some(folder) = files.open_checkpoints()? {
        let (finished, unfinished) = list(&folder)?;
        let old = finished
            .into_iter()
            .filter(|&number| number != segment)
            .map(|number| segment_name(number).into());
        old.chain(unfinished).try_for_each(|name: OsString| remove(&folder, &name))?;
    }
    if keep_log { Ok(()) } else { files.keep_segments(segment..=u32::MAX) }
}

/// Segments of the finished checkpoints in `folder`, in order, and names of unfinished ones.
pub(super) fn list(folder: &ImageFolder) -> Result<(Vec<u32>, Vec<OsString>), ImageError> {
    let (mut finished, mut unfinished) = (Vec::new(), Vec::new());
    for name in folder.names().map_err(|source| io_error(folder.path().to_owned(), source))? {
        let path = folder.path_of(&name);
        if path.extension().is_some_and(|extension| extension == UNFINISHED) {
            unfinished.push(name);
        } else if let Some(segment) = number_of(&path) {
            finished.push(segment);
        } else {
            return Err(ImageError::Foreign { path, why: "is not a checkpoint of this image".to_owned() });
        }
    }
    finished.sort_unstable();
    Ok((finished, unfinished))
}

/// Reads the checkpoint that begins with `segment`.
pub(super) fn read(
    folder: &ImageFolder,
    segment: u32,
    scenario: &Scenario,
    store: Option<&Arc<FileStore>>,
) -> Result<ServedDevice, ImageError> {
    let path = folder.path_of(segment_name(segment));
    let file = folder.read(segment_name(segment)).map_err(|source| io_error(path.clone(), source))?;
    let device = ServedDevice::read(scenario, &mut BufReader::with_capacity(BUFFER, file), store.cloned());
    device.map_err(|error| {
        let why = match error {
            EngineError::Checkpoint(SnapshotError::Version { version }) => {
                format!("was written by Outlast {version}: {}", super::files::OTHER_VERSION_ADVICE)
            }
            EngineError::Checkpoint(error) => error.to_string(),
            other => other.to_string(),
        };
        ImageError::Foreign { path, why }
    })
}
