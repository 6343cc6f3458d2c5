//! Creation of an image. If anything fails on the way, nothing is left of it.

use super::ImageError;
use super::files::{CHECKPOINTS, IMAGE_ENTRIES, ImageFiles, LOCK, LOG, io_error};
use super::folder::ImageFolder;
use super::{ImageOptions, with_bytes};
use crate::device::ServedDevice;
use outlast_engine::{OnProgress, Scenario};
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// A folder that is to become an image. If it does not, everything created for it is removed.
pub(super) struct NewImage {
    files: ImageFiles,
    lock: File,
    /// Entries that were there before.
    previous_entries: Vec<OsString>,
    folders: NewFolders,
    is_kept: bool,
}

/// Folders that were created, innermost first. They are removed if they are empty.
struct NewFolders(Vec<PathBuf>);

impl NewImage {
    /// Creates the folder, or checks that an existing one has only entries of an image, and locks it for this process.
    ///
    /// # Errors
    /// The folder holds something else, is in use, or cannot be written; or the scenario cannot be in an image.
    pub(super) fn new(folder: &Path, scenario: &Scenario) -> Result<Self, ImageError> {
        // Scenarios that cannot be written are refused before anything is created.
        with_bytes(scenario).to_toml()?;
        let io = |source| io_error(folder.to_owned(), source);
        let missing = folder.ancestors().filter(|path| !path.as_os_str().is_empty() && !path.exists());
        let folders = NewFolders(missing.map(Path::to_owned).collect());
        fs::create_dir_all(folder).map_err(io)?;
        let opened = ImageFolder::open(folder).map_err(io)?;
        let previous_entries = opened.names().map_err(io)?;
        if let Some(other) =
            previous_entries.iter().find(|name| !IMAGE_ENTRIES.iter().any(|entry| name == entry))
        {
            let why = format!("holds {} and is not an Outlast image: name an empty folder", other.display());
            return Err(ImageError::Foreign { path: folder.to_owned(), why });
        }
        let files = ImageFiles::with_folder(opened);
        files.check_entries()?;
        let lock = files.lock()?;
        Ok(Self { files, lock, previous_entries, folders, is_kept: false })
    }

    /// Prepares the device and creates the image; without a device if another server has created the image meanwhile. `None` if `progress` stopped
    /// the preparation.
    ///
    /// # Errors
    /// The device cannot be built, or the image cannot be written.
    pub(super) fn make(
        mut self,
        scenario: &Scenario,
        options: ImageOptions,
        progress: OnProgress<'_>,
    ) -> Result<Option<(ImageFiles, File, Option<ServedDevice>)>, ImageError> {
        let mut device = None;
        if !self.files.exists() {
            device = ServedDevice::prepare(&with_bytes(scenario), progress)?;
            if device.is_none() {
                return Ok(None);
            }
            self.files.make(scenario, options.sync)?;
        }
        self.is_kept = true;
        let lock =
            self.lock.try_clone().map_err(|source| io_error(self.files.folder().path_of(LOCK), source))?;
        Ok(Some((self.files.clone(), lock, device)))
    }
}

impl Drop for NewImage {
    fn drop(&mut self) {
        if self.is_kept {
            self.folders.0.clear();
            return;
        }
        let folder = self.files.folder();
        // The lock is removed last: until then no other server begins.
        for name in
            IMAGE_ENTRIES.into_iter().filter(|entry| !self.previous_entries.iter().any(|name| name == entry))
        {
            // Best effort: the user sees the error that led here.
            let _ = if [LOG, CHECKPOINTS].contains(&name) {
                folder.remove_folder(name)
            } else if name == LOCK {
                Ok(())
            } else {
                folder.remove_if_there(name)
            };
        }
        if !self.previous_entries.iter().any(|name| name == LOCK) {
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
