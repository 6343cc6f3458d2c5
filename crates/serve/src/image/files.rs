//! Files of an image.

use super::folder::ImageFolder;
use super::line::ImageLine;
use super::{ImageError, creation};
use crate::log::{AcknowledgedPoint, segment_name};
use outlast_engine::{Scenario, parse_text};
use rustix::fs::{FlockOperation, flock};
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

pub(super) const IMAGE: &str = "image";
/// Name of the file `image` until everything else is there.
pub(super) const UNFINISHED_IMAGE: &str = "image.new";
pub(super) const SCENARIO: &str = "scenario.toml";
pub(super) const LOG: &str = "log";
pub(super) const CHECKPOINTS: &str = "checkpoints";
pub(super) const CLOCK: &str = "clock";
pub(super) const LOCK: &str = "lock";
pub(super) const CLEAN: &str = "clean";
/// Names of all entries of an image.
pub(super) const IMAGE_ENTRIES: [&str; 8] =
    [IMAGE, UNFINISHED_IMAGE, SCENARIO, LOG, CHECKPOINTS, CLOCK, LOCK, CLEAN];

/// Advice for images of another version.
pub(super) const OTHER_VERSION_ADVICE: &str =
    "serve the image with the Outlast that wrote it, and copy its data to a new one";

/// Longest content of the files `image` and `clock`, in bytes; both have less than 100.
pub(super) const MAX_LINE_BYTES: u64 = 4096;
/// Longest scenario in bytes. The largest tables of error rates take some 100 KiB.
pub(super) const MAX_SCENARIO_BYTES: u64 = 16 << 20;

#[derive(Clone, Debug)]
pub(super) struct ImageFiles {
    folder: ImageFolder,
}

impl ImageFiles {
    /// Opens the image in `folder`; `None` if there is none, or its creation was not completed.
    ///
    /// # Errors
    /// An entry is neither a plain file nor a folder.
    pub(super) fn find(folder: &Path) -> Result<Option<Self>, ImageError> {
        let files = match ImageFolder::open(folder) {
            Ok(opened) => Self { folder: opened },
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(io_error(folder.to_owned(), source)),
        };
        if !files.exists() {
            return Ok(None);
        }
        files.check_entries()?;
        Ok(Some(files))
    }

    /// Opens the image in `folder`, which must exist.
    pub(super) fn open(folder: &Path) -> Result<Self, ImageError> {
        Self::find(folder)?.ok_or_else(|| no_image(folder))
    }

    pub(super) fn with_folder(folder: ImageFolder) -> Self {
        Self { folder }
    }

    pub(super) fn folder(&self) -> &ImageFolder {
        &self.folder
    }

    pub(super) fn scenario(&self) -> PathBuf {
        self.folder.path_of(SCENARIO)
    }

    pub(super) fn log(&self) -> PathBuf {
        self.folder.path_of(LOG)
    }

    /// Folder of the log.
    pub(super) fn open_log(&self) -> Result<ImageFolder, ImageError> {
        self.folder.subfolder(LOG).map_err(|source| io_error(self.log(), source))
    }

    /// Folder of the checkpoints, if it exists.
    pub(super) fn open_checkpoints(&self) -> Result<Option<ImageFolder>, ImageError> {
        match self.folder.subfolder(CHECKPOINTS) {
            Ok(folder) => Ok(Some(folder)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(io_error(self.folder.path_of(CHECKPOINTS), source)),
        }
    }

    /// Folder of the checkpoints, created if absent.
    pub(super) fn make_checkpoints(&self) -> io::Result<ImageFolder> {
        self.folder.make_subfolder(CHECKPOINTS)
    }

    /// True if the creation of the image was completed.
    pub(super) fn exists(&self) -> bool {
        self.folder.has(IMAGE)
    }

    /// Checks that each entry is a file or folder, since the maker of an image could have put anything there.
    pub(super) fn check_entries(&self) -> Result<(), ImageError> {
        for name in IMAGE_ENTRIES.into_iter().filter(|name| self.folder.has(name)) {
            let is_folder = [LOG, CHECKPOINTS].contains(&name);
            let checked =
                if is_folder { self.folder.expect_folder(name) } else { self.folder.expect_file(name) };
            checked.map_err(|source| io_error(self.folder.path_of(name), source))?;
            if !is_folder {
                continue;
            }
            let subfolder =
                self.folder.subfolder(name).map_err(|source| io_error(self.folder.path_of(name), source))?;
            for entry in subfolder.names().map_err(|source| io_error(subfolder.path().to_owned(), source))? {
                subfolder
                    .expect_file(&entry)
                    .map_err(|source| io_error(subfolder.path_of(&entry), source))?;
            }
        }
        Ok(())
    }

    /// Locks the image for this process, as long as the file is open.
    pub(super) fn lock(&self) -> Result<File, ImageError> {
        let io = |source| io_error(self.folder.path_of(LOCK), source);
        // The lock belongs to the open file, so it ends with the process, however that ends.
        let file = self.folder.open_or_create(LOCK).map_err(io)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(file),
            Err(rustix::io::Errno::WOULDBLOCK) => {
                Err(ImageError::InUse { path: self.folder.path().to_owned() })
            }
            Err(error) => Err(io(error.into())),
        }
    }

    /// Number of the image, and its scenario.
    pub(super) fn read(&self) -> Result<(u64, Scenario), ImageError> {
        let line = self.read_text(IMAGE, MAX_LINE_BYTES)?;
        let ImageLine { image, scenario_sum } = ImageLine::parse(&line)
            .map_err(|why| ImageError::Foreign { path: self.folder.path_of(IMAGE), why })?;
        let text = self.read_text(SCENARIO, MAX_SCENARIO_BYTES)?;
        if crc32c::crc32c(text.as_bytes()) != scenario_sum {
            let why = "has been changed since the image was made; the log belongs to what it was".to_owned();
            return Err(ImageError::Foreign { path: self.scenario(), why });
        }
        Ok((image, parse_text(&text)?.0))
    }

    fn read_text(&self, name: &str, limit: u64) -> Result<String, ImageError> {
        let io = |source| io_error(self.folder.path_of(name), source);
        let bytes = self.folder.read_all(name, limit).map_err(io)?;
        String::from_utf8(bytes).map_err(|_| io(io::Error::other("is not text (UTF-8)")))
    }

    pub(super) fn clock(&self, image: u64) -> Result<AcknowledgedPoint, ImageError> {
        let path = self.folder.path_of(CLOCK);
        let bytes =
            self.folder.read_all(CLOCK, MAX_LINE_BYTES).map_err(|source| io_error(path.clone(), source))?;
        AcknowledgedPoint::from_bytes(image, &bytes).ok_or_else(|| {
            let why = "is damaged, or of another image".to_owned();
            ImageError::Foreign { path, why }
        })
    }

    pub(super) fn open_clock(&self) -> Result<File, ImageError> {
        self.folder.write(CLOCK).map_err(|source| io_error(self.folder.path_of(CLOCK), source))
    }

    /// Numbers of all segments, in ascending order.
    pub(super) fn segments(&self) -> Result<Vec<u32>, ImageError> {
        let log = self.open_log()?;
        let mut segments = Vec::new();
        for name in log.names().map_err(|source| io_error(self.log(), source))? {
            let path = log.path_of(&name);
            let Some(number) = number_of(&path) else {
                return Err(ImageError::Foreign { path, why: "is not a segment of the log".to_owned() });
            };
            segments.push(number);
        }
        segments.sort_unstable();
        Ok(segments)
    }

    /// Removes all segments outside `kept`.
    pub(super) fn keep_segments(&self, kept: RangeInclusive<u32>) -> Result<(), ImageError> {
        let others = self.segments()?.into_iter().filter(|segment| !kept.contains(segment));
        let log = self.open_log()?;
        others.map(segment_name).try_for_each(|name| remove(&log, name.as_ref()))
    }

    /// Bytes of all segments from `first` on.
    pub(super) fn log_bytes(&self, first: u32) -> Result<u64, ImageError> {
        let log = self.open_log()?;
        let size = |segment| {
            let name = segment_name(segment);
            log.size(&name).map_err(|source| io_error(log.path_of(name), source))
        };
        self.segments()?.into_iter().filter(|&segment| segment >= first).map(size).sum()
    }

    pub(super) fn open_segment(&self, segment: u32) -> Result<File, ImageError> {
        let (log, name) = (self.open_log()?, segment_name(segment));
        log.read(&name).map_err(|source| io_error(log.path_of(name), source))
    }

    /// Path of a segment, for messages.
    pub(super) fn segment_path(&self, segment: u32) -> PathBuf {
        self.log().join(segment_name(segment))
    }

    pub(super) fn is_clean(&self) -> bool {
        self.folder.has(CLEAN)
    }

    pub(super) fn mark_clean(&self, sync: bool) -> io::Result<()> {
        let file = self.folder.create(CLEAN)?;
        if sync {
            file.sync_all()?;
            self.folder.sync()?;
        }
        Ok(())
    }

    pub(super) fn remove_clean_mark(&self) -> Result<(), ImageError> {
        self.folder.remove_if_there(CLEAN).map_err(|error| io_error(self.folder.path_of(CLEAN), error))
    }
}

/// Error for a folder without an image.
pub(super) fn no_image(folder: &Path) -> ImageError {
    if let Some(error) = damage_of(folder) {
        return error;
    }
    let why = "is not an Outlast image; to create one: outlast serve SCENARIO --image DIR".to_owned();
    ImageError::Foreign { path: folder.to_owned(), why }
}

/// Error for a folder with all of an image but its first file, unless that is just being written.
fn damage_of(folder: &Path) -> Option<ImageError> {
    let folder = ImageFolder::open(folder).ok()?;
    let names = folder.names().ok()?;
    if folder.has(UNFINISHED_IMAGE) { None } else { creation::damaged(&folder, &names) }
}

pub(super) fn io_error(path: PathBuf, source: io::Error) -> ImageError {
    ImageError::Io { path, source }
}

/// Number of a segment or checkpoint, from its file name.
pub(super) fn number_of(path: &Path) -> Option<u32> {
    // Eight digits exactly, as `segment_name` writes them: two names must not mean one segment.
    let name = path.file_name()?.to_str()?;
    let number = name.parse().ok().filter(|&number: &u32| number > 0)?;
    (name == format!("{number:08}")).then_some(number)
}

pub(super) fn remove(folder: &ImageFolder, name: &OsStr) -> Result<(), ImageError> {
    folder.remove(name).map_err(|source| io_error(folder.path_of(name), source))
}
