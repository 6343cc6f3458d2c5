//! Checkpoints: the machine as it was when a segment of the log began, so that what lies before need not be kept.
//!
//! A checkpoint is written beside the service, from a fork of the machine. It counts from the moment when its file has its name; then the log
//! before it goes. A process that is killed in between leaves an unfinished file, which the next one removes.

use super::ImageError;
use super::files::{io_error, number_of, remove};
use crate::machine::Machine;
use outlast_engine::Scenario;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

/// Bytes read or written at once.
const BUFFER: usize = 1 << 20;
/// What the name of an unfinished one ends with.
const UNFINISHED: &str = "new";

/// The checkpoints of an image.
#[derive(Debug)]
pub(super) struct Checkpoints {
    folder: PathBuf,
    sync: bool,
    under_way: Option<JoinHandle<io::Result<u32>>>,
}

impl Checkpoints {
    pub(super) fn new(folder: PathBuf, sync: bool) -> Self {
        Self { folder, sync, under_way: None }
    }

    pub(super) fn is_under_way(&self) -> bool {
        self.under_way.is_some()
    }

    /// Begins to write `machine` as it is when `segment` begins.
    pub(super) fn begin(&mut self, machine: Machine, segment: u32) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        let (folder, sync) = (self.folder.clone(), self.sync);
        let thread = std::thread::Builder::new().name("checkpoint".to_owned());
        self.under_way = Some(thread.spawn(move || write(&folder, &machine, segment, sync))?);
        Ok(())
    }

    /// The segment with which the checkpoint begins that has been finished since this was asked last; with `wait`, the one under way is
    /// waited for.
    pub(super) fn finished(&mut self, wait: bool) -> io::Result<Option<u32>> {
        match self.under_way.take_if(|thread| wait || thread.is_finished()) {
            None => Ok(None),
            Some(thread) => {
                let ended = thread.join();
                ended.unwrap_or_else(|_| Err(io::Error::other("a checkpoint could not be written"))).map(Some)
            }
        }
    }
}

fn write(folder: &Path, machine: &Machine, segment: u32, sync: bool) -> io::Result<u32> {
    let name = folder.join(format!("{segment:08}"));
    let unfinished = name.with_extension(UNFINISHED);
    let file = OpenOptions::new().create(true).truncate(true).write(true).open(&unfinished)?;
    let mut to = BufWriter::with_capacity(BUFFER, file);
    machine.write(&mut to)?;
    to.flush()?;
    if sync {
        to.get_ref().sync_all()?;
    }
    fs::rename(unfinished, name)?;
    if sync {
        File::options().read(true).open(folder)?.sync_all()?;
    }
    Ok(segment)
}

/// The checkpoints in `folder`, oldest first, and what else there is: unfinished ones.
fn list(folder: &Path) -> Result<(Vec<u32>, Vec<PathBuf>), ImageError> {
    let (mut finished, mut unfinished) = (Vec::new(), Vec::new());
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((finished, unfinished)),
        entries => entries.map_err(|source| io_error(folder.to_owned(), source))?,
    };
    for entry in entries {
        let path = entry.map_err(|source| io_error(folder.to_owned(), source))?.path();
        if path.extension().is_some_and(|extension| extension == UNFINISHED) {
            unfinished.push(path);
        } else if let Some(segment) = number_of(&path) {
            finished.push(segment);
        } else {
            return Err(ImageError::Foreign { path, why: "is no checkpoint".to_owned() });
        }
    }
    finished.sort_unstable();
    Ok((finished, unfinished))
}

/// The machine of the newest checkpoint in `folder`, and the segment with which its log begins; `None` without any.
pub(super) fn newest(folder: &Path, scenario: &Scenario) -> Result<Option<(Machine, u32)>, ImageError> {
    let Some(segment) = list(folder)?.0.pop() else { return Ok(None) };
    let path = folder.join(format!("{segment:08}"));
    let file = File::options().read(true).open(&path).map_err(|source| io_error(path.clone(), source))?;
    let machine = Machine::read(scenario, &mut BufReader::with_capacity(BUFFER, file));
    let machine = machine.map_err(|error| ImageError::Foreign { path, why: error.to_string() })?;
    Ok(Some((machine, segment)))
}

/// Removes the checkpoints in `folder` that are older than that of `segment`, and unfinished ones.
pub(super) fn remove_before(folder: &Path, segment: u32) -> Result<(), ImageError> {
    let (finished, unfinished) = list(folder)?;
    let old = finished.into_iter().filter(|&own| own < segment).map(|own| folder.join(format!("{own:08}")));
    old.chain(unfinished).try_for_each(remove)
}
