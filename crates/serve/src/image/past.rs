//! The machine as it was: where a log begins, and a look at a moment of it.

use super::files::{Files, io_error};
use super::{Image, ImageError, checkpoints, replay};
use crate::log::Place;
use crate::machine::Machine;
use crate::store::{ContentsIn, FileStore};
use outlast_engine::{OnProgress, Scenario};
use outlast_units::Nanos;
use std::path::Path;
use std::sync::Arc;

impl Image {
    /// The machine as it was at `at`, before whatever came later: with the commands that were under way then. The image stays as it is, and
    /// may be in use; the bytes of the machine are where `contents` says.
    ///
    /// # Errors
    /// Those of [`Image::open`], or a moment that the log does not reach: before the oldest checkpoint where the log before that is gone, or
    /// after its end.
    pub fn as_it_was(
        folder: &Path,
        at: Nanos,
        contents: ContentsIn,
        progress: OnProgress<'_>,
    ) -> Result<Option<Machine>, ImageError> {
        let files = Files::of(folder)?;
        let (image, own) = files.read()?;
        let acknowledged = files.clock(image)?;
        let store = contents.store(folder).map_err(|source| io_error(folder.to_owned(), source))?;
        let begun = begin(&files, &own, image, at, store.as_ref(), progress)?;
        let Some((mut machine, first)) = begun else { return Ok(None) };
        replay::replay(&mut machine, &files, first, acknowledged, true, Some(at))?;
        Ok(Some(machine))
    }
}

/// The machine from which the log goes on, of those there are the latest that is not beyond `latest`, and where in the log that is: that of a
/// checkpoint, or the one that `scenario` prepares if the log is there from its beginning. A checkpoint that cannot be read is passed over
/// where another way leads to the same machine. The bytes of the machine go to `store`, if there is one.
pub(super) fn begin(
    files: &Files,
    scenario: &Scenario,
    image: u64,
    latest: Nanos,
    store: Option<&Arc<FileStore>>,
    progress: OnProgress<'_>,
) -> Result<Option<(Machine, Place)>, ImageError> {
    let place = |segment| Place { image, segment, offset: 0 };
    let mut refused = None;
    if let Some(folder) = files.open_checkpoints()? {
        for segment in checkpoints::list(&folder)?.0.into_iter().rev() {
            let error = match checkpoints::read(&folder, segment, scenario, store) {
                Ok(machine) if machine.now() <= latest => return Ok(Some((machine, place(segment)))),
                Ok(machine) => too_early(files, machine.now(), latest),
                Err(error) => error,
            };
            refused.get_or_insert(error);
        }
    }
    match refused {
        Some(error) if files.segments()?.first() != Some(&1) => Err(error),
        _ => Ok(Machine::prepare(scenario, progress)?.map(|machine| at_first(machine, image, store))),
    }
}

/// The machine that was prepared, and where its log begins. Its bytes go to `store`, if there is one.
pub(super) fn at_first(mut machine: Machine, image: u64, store: Option<&Arc<FileStore>>) -> (Machine, Place) {
    if let Some(store) = store {
        machine.keep_contents_in(store.clone());
    }
    (machine, Place { image, segment: 1, offset: 0 })
}

fn too_early(files: &Files, oldest: Nanos, at: Nanos) -> ImageError {
    let why = format!(
        "goes back to {oldest}, not to {at}: the log before its checkpoint is gone, which serving with keep-log prevents"
    );
    ImageError::Foreign { path: files.log(), why }
}
