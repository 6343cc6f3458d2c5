//! The machine as it was: where a log begins, and a look at a moment of it.

use super::files::Files;
use super::{Image, ImageError, checkpoints, replay};
use crate::log::Place;
use crate::machine::Machine;
use outlast_engine::{OnProgress, Scenario};
use outlast_units::Nanos;
use std::path::Path;

impl Image {
    /// The machine as it was at `at`, before whatever came later: with the commands that were under way then. The image stays as it is, and
    /// may be in use.
    ///
    /// # Errors
    /// Those of [`Image::open`], or a moment that the log does not reach: before the oldest checkpoint where the log before that is gone, or
    /// after its end.
    pub fn as_it_was(
        folder: &Path,
        at: Nanos,
        progress: OnProgress<'_>,
    ) -> Result<Option<Machine>, ImageError> {
        let files = Files::new(folder);
        if !files.exists() {
            return Err(files.is_none());
        }
        let (image, own) = files.read()?;
        let acknowledged = files.clock(image)?;
        let Some((mut machine, first)) = begin(&files, &own, image, at, progress)? else { return Ok(None) };
        replay::replay(&mut machine, &files, first, acknowledged, true, Some(at))?;
        Ok(Some(machine))
    }
}

/// The machine from which the log goes on, of those there are the latest that is not beyond `latest`, and where in the log that is: that of a
/// checkpoint, or the one that `scenario` prepares if the log is there from its beginning. A checkpoint that cannot be read is passed over
/// where another way leads to the same machine.
pub(super) fn begin(
    files: &Files,
    scenario: &Scenario,
    image: u64,
    latest: Nanos,
    progress: OnProgress<'_>,
) -> Result<Option<(Machine, Place)>, ImageError> {
    let (folder, place) = (files.checkpoints(), |segment| Place { image, segment, offset: 0 });
    let mut refused = None;
    for segment in checkpoints::list(&folder)?.0.into_iter().rev() {
        let error = match checkpoints::read(&folder, segment, scenario) {
            Ok(machine) if machine.now() <= latest => return Ok(Some((machine, place(segment)))),
            Ok(machine) => too_early(files, machine.now(), latest),
            Err(error) => error,
        };
        refused.get_or_insert(error);
    }
    match refused {
        Some(error) if files.segments()?.first() != Some(&1) => Err(error),
        _ => Ok(Machine::prepare(scenario, progress)?.map(|machine| (machine, place(1)))),
    }
}

fn too_early(files: &Files, oldest: Nanos, at: Nanos) -> ImageError {
    let why = format!(
        "goes back to {oldest}, not to {at}: the log before its checkpoint is gone, which serving with keep-log prevents"
    );
    ImageError::Foreign { path: files.log(), why }
}
