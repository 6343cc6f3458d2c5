//! Creation of an image. If anything fails on the way, nothing is left of it.

use super::creation::{ImageCreation, remove_leftovers};
use super::files::{ImageFiles, LOCK, io_error};
use super::folder::ImageFolder;
use super::{ImageError, with_bytes};
use crate::device::ServedDevice;
use outlast_engine::{OnProgress, Scenario};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// A folder that is to become an image. If it does not, everything created for it is removed.
pub(super) struct NewImage {
    files: ImageFiles,
    lock: File,
    creation: ImageCreation,
    /// Set if the lock was there before, and nothing of a creation beside it: then it may be the user's.
    keeps_lock: bool,
    /// Set once the folder is known to hold no image.
    is_vacant: bool,
    folders: NewFolders,
    is_kept: bool,
}

/// Folders that were created, innermost first. They are removed if they are empty.
struct NewFolders(Vec<PathBuf>);

impl NewImage {
    /// Creates the folder, or checks that an existing one is empty or has only what an uncompleted creation has left, and locks it for this process.
    ///
    /// # Errors
    /// The folder holds something else, is in use, or cannot be written; or the scenario cannot be in an image.
    pub(super) fn new(folder: &Path, scenario: &Scenario, sync: bool) -> Result<Self, ImageError> {
        // Scenarios that cannot be written are refused before anything is created.
        let creation = ImageCreation::new(scenario, sync)?;
        let io = |source| io_error(folder.to_owned(), source);
        let missing = folder.ancestors().filter(|path| !path.as_os_str().is_empty() && !path.exists());
        let folders = NewFolders(missing.map(Path::to_owned).collect());
        fs::create_dir_all(folder).map_err(io)?;
        let files = ImageFiles::with_folder(ImageFolder::open(folder).map_err(io)?);
        files.check_entries()?;
        let keeps_lock = files.folder().has(LOCK);
        // Whoever creates an image makes the lock first. Without one nobody does, and the folder is refused with nothing made in it.
        if !keeps_lock && !files.exists() {
            creation.check_leftovers(files.folder())?;
        }
        let lock = files.lock()?;
        let mut new_image =
            Self { files, lock, creation, keeps_lock, is_vacant: false, folders, is_kept: false };
        // Another server may have created the image meanwhile.
        if !new_image.files.exists() {
            let folder = new_image.files.folder();
            if new_image.creation.check_leftovers(folder)? {
                remove_leftovers(folder);
                new_image.keeps_lock = false;
            }
            new_image.is_vacant = true;
        }
        Ok(new_image)
    }

    /// Prepares the device and creates the image; without a device if another server has created the image meanwhile. `None` if `progress` stopped
    /// the preparation.
    ///
    /// # Errors
    /// The device cannot be built, or the image cannot be written.
    pub(super) fn make(
        mut self,
        scenario: &Scenario,
        progress: OnProgress<'_>,
    ) -> Result<Option<(ImageFiles, File, Option<ServedDevice>)>, ImageError> {
        let mut device = None;
        if self.is_vacant {
            device = ServedDevice::prepare(&with_bytes(scenario), progress)?;
            if device.is_none() {
                return Ok(None);
            }
            self.creation.run(self.files.folder())?;
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
        // The lock is removed last: until then no other server begins. Best effort: the user sees the error that led here.
        if !self.keeps_lock {
            let _ = self.files.folder().remove_if_there(LOCK);
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
