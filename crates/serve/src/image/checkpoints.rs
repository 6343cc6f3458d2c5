//! Checkpoints: the machine as it was when a segment of the log began, so that what lies before need not be kept.
//!
//! A checkpoint is written beside the service, from a fork of the machine. It counts from the moment when its file has its name; then the log
//! before it goes. A process that is killed in between leaves an unfinished file, or log that nothing needs any more: the next one removes
//! them.

use super::ImageError;
use super::files::{Files, io_error, number_of, remove};
use super::folder::Folder;
use crate::log::segment_name;
use crate::machine::Machine;
use crate::store::FileStore;
use outlast_engine::{EngineError, Scenario, SnapshotError};
use std::ffi::OsString;
use std::io::{self, BufReader, BufWriter, Write};
use std::sync::Arc;
use std::thread::JoinHandle;

/// Bytes read or written at once.
const BUFFER: usize = 1 << 20;
/// What the name of an unfinished one ends with.
const UNFINISHED: &str = "new";

/// The checkpoints of an image that is in use.
#[derive(Debug)]
pub(super) struct Checkpoints {
    files: Files,
    /// Whether the log before them stays.
    keep_log: bool,
    /// Bytes of the newest one.
    bytes: u64,
    under_way: Option<JoinHandle<io::Result<u64>>>,
}

impl Checkpoints {
    pub(super) fn new(files: Files, keep_log: bool) -> Result<Self, ImageError> {
        let mut bytes = 0;
        if let Some(folder) = files.open_checkpoints()?
            && let Some(newest) = list(&folder)?.0.pop().map(segment_name)
        {
            bytes = folder.size(&newest).map_err(|source| io_error(folder.path_of(&newest), source))?;
        }
        Ok(Self { files, keep_log, bytes, under_way: None })
    }

    /// Bytes of the newest one.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether one is being written; one that has come to its end meanwhile is taken note of.
    ///
    /// # Errors
    /// It could not be written.
    pub(super) fn is_under_way(&mut self) -> io::Result<bool> {
        if self.under_way.as_ref().is_some_and(JoinHandle::is_finished) {
            self.wait()?;
        }
        Ok(self.under_way.is_some())
    }

    /// Waits for the one that is being written, if one is.
    ///
    /// # Errors
    /// It could not be written.
    pub(super) fn wait(&mut self) -> io::Result<()> {
        if let Some(thread) = self.under_way.take() {
            let ended = thread.join();
            self.bytes = ended.unwrap_or_else(|_| Err(io::Error::other("writing it was given up")))?;
        }
        Ok(())
    }

    /// Begins to write `machine` as it is when `segment` begins.
    ///
    /// # Errors
    /// There can be no thread for it.
    pub(super) fn begin(&mut self, machine: Machine, segment: u32) -> io::Result<()> {
        let (files, keep_log) = (self.files.clone(), self.keep_log);
        let work = move || {
            let folder = files.make_checkpoints()?;
            let name = segment_name(segment);
            let bytes = write(&folder, &name, &machine).map_err(|error| {
                // Half a checkpoint is good for nothing, and the disk may be full.
                let _ = folder.remove(unfinished(&name));
                io::Error::new(error.kind(), format!("{}: {error}", folder.path_of(&name).display()))
            })?;
            // The copy shares its contents with the machine: the sooner it is gone, the fewer of them are copied.
            drop(machine);
            keep_from(&files, segment, keep_log).map_err(io::Error::other)?;
            Ok(bytes)
        };
        self.under_way = Some(std::thread::Builder::new().name("checkpoint".to_owned()).spawn(work)?);
        Ok(())
    }
}

impl Drop for Checkpoints {
    /// Nobody else may use the image while it is written to.
    fn drop(&mut self) {
        let _ = self.wait();
    }
}

/// The name of a checkpoint that is being written.
fn unfinished(name: &str) -> String {
    format!("{name}.{UNFINISHED}")
}

/// Writes the checkpoint `name`; returns its bytes.
fn write(folder: &Folder, name: &str, machine: &Machine) -> io::Result<u64> {
    let file = folder.create(unfinished(name))?;
    let mut to = BufWriter::with_capacity(BUFFER, file);
    machine.write(&mut to)?;
    to.flush()?;
    // Whether or not the log is synced: all that the drive holds must not hang on what the host has not written yet.
    to.get_ref().sync_all()?;
    let bytes = to.get_ref().metadata()?.len();
    folder.rename(&unfinished(name), name)?;
    folder.sync()?;
    Ok(bytes)
}

/// Of an image whose machine begins with `segment`, removes the log before that, all other checkpoints, and unfinished ones.
pub(super) fn keep_from(files: &Files, segment: u32, keep_log: bool) -> Result<(), ImageError> {
    if let Some(folder) = files.open_checkpoints()? {
        let (finished, unfinished) = list(&folder)?;
        let old = finished.into_iter().filter(|&own| own != segment).map(|own| segment_name(own).into());
        old.chain(unfinished).try_for_each(|name: OsString| remove(&folder, &name))?;
    }
    if keep_log { Ok(()) } else { files.keep_segments(segment..=u32::MAX) }
}

/// The checkpoints in `folder` by their segments, in order, and the names of unfinished ones.
pub(super) fn list(folder: &Folder) -> Result<(Vec<u32>, Vec<OsString>), ImageError> {
    let (mut finished, mut unfinished) = (Vec::new(), Vec::new());
    for name in folder.names().map_err(|source| io_error(folder.path().to_owned(), source))? {
        let path = folder.path_of(&name);
        if path.extension().is_some_and(|extension| extension == UNFINISHED) {
            unfinished.push(name);
        } else if let Some(segment) = number_of(&path) {
            finished.push(segment);
        } else {
            return Err(ImageError::Foreign { path, why: "is no checkpoint".to_owned() });
        }
    }
    finished.sort_unstable();
    Ok((finished, unfinished))
}

/// The machine of the checkpoint in `folder` that begins with `segment`.
pub(super) fn read(
    folder: &Folder,
    segment: u32,
    scenario: &Scenario,
    store: Option<&Arc<FileStore>>,
) -> Result<Machine, ImageError> {
    let path = folder.path_of(segment_name(segment));
    let file = folder.read(segment_name(segment)).map_err(|source| io_error(path.clone(), source))?;
    let machine = Machine::read(scenario, &mut BufReader::with_capacity(BUFFER, file), store.cloned());
    machine.map_err(|error| {
        let why = match error {
            EngineError::Checkpoint(SnapshotError::Version { version }) => {
                format!("was written by Outlast {version}: {}", super::files::ELSEWHERE)
            }
            EngineError::Checkpoint(error) => error.to_string(),
            other => other.to_string(),
        };
        ImageError::Foreign { path, why }
    })
}
