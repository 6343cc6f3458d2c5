//! A new image: there when its machine is, and not there at all if anything is refused on the way.

use super::ImageError;
use super::files::{CHECKPOINTS, Files, LOCK, LOG, OWN, io_error};
use super::folder::Folder;
use super::{ImageOptions, with_bytes};
use crate::machine::Machine;
use outlast_engine::{OnProgress, Scenario};
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// A folder that is to become an image. Unless it does, what was made for it goes again.
pub(super) struct Begun {
    files: Files,
    lock: File,
    /// What was there before.
    found: Vec<OsString>,
    folders: NewFolders,
    is_kept: bool,
}

/// Folders that were not there, the innermost first: they go again while they are empty.
struct NewFolders(Vec<PathBuf>);

impl Begun {
    /// Makes the folder, or finds it without anything that is not an image's, and has it for this process alone.
    ///
    /// # Errors
    /// It holds something else, is in use, or cannot be written; what cannot be in an image.
    pub(super) fn new(folder: &Path, scenario: &Scenario) -> Result<Self, ImageError> {
        // What cannot be written is refused before anything is.
        with_bytes(scenario).to_toml()?;
        let io = |source| io_error(folder.to_owned(), source);
        let missing = folder.ancestors().filter(|path| !path.as_os_str().is_empty() && !path.exists());
        let folders = NewFolders(missing.map(Path::to_owned).collect());
        fs::create_dir_all(folder).map_err(io)?;
        let opened = Folder::open(folder).map_err(io)?;
        let found = opened.names().map_err(io)?;
        if let Some(other) = found.iter().find(|name| !OWN.iter().any(|own| name == own)) {
            let why = format!("holds {} and is not an Outlast image: name an empty folder", other.display());
            return Err(ImageError::Foreign { path: folder.to_owned(), why });
        }
        let files = Files::over(opened);
        files.check_entries()?;
        let lock = files.lock()?;
        Ok(Self { files, lock, found, folders, is_kept: false })
    }

    /// Prepares the machine, then makes the image; without a machine if another server has made the image meanwhile. `None` where `progress`
    /// stopped it.
    ///
    /// # Errors
    /// The machine is refused, or the image cannot be written.
    pub(super) fn make(
        mut self,
        scenario: &Scenario,
        options: ImageOptions,
        progress: OnProgress<'_>,
    ) -> Result<Option<(Files, File, Option<Machine>)>, ImageError> {
        let mut machine = None;
        if !self.files.exists() {
            machine = Machine::prepare(&with_bytes(scenario), progress)?;
            if machine.is_none() {
                return Ok(None);
            }
            self.files.make(scenario, options.sync)?;
        }
        self.is_kept = true;
        let lock =
            self.lock.try_clone().map_err(|source| io_error(self.files.folder().path_of(LOCK), source))?;
        Ok(Some((self.files.clone(), lock, machine)))
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        if self.is_kept {
            self.folders.0.clear();
            return;
        }
        let folder = self.files.folder();
        // The lock last: until then nobody else begins.
        for name in OWN.into_iter().filter(|own| !self.found.iter().any(|name| name == own)) {
            // Best effort: the refusal on the way is what the user is told.
            let _ = if [LOG, CHECKPOINTS].contains(&name) {
                folder.remove_folder(name)
            } else if name == LOCK {
                Ok(())
            } else {
                folder.remove_if_there(name)
            };
        }
        if !self.found.iter().any(|name| name == LOCK) {
            let _ = folder.remove_if_there(LOCK);
        }
    }
}

impl Drop for NewFolders {
    fn drop(&mut self) {
        self.0.iter().for_each(|path| {
            let _ = fs::remove_dir(path);
        });
    }
}
