//! The files of an image.

use super::folder::Folder;
use super::{ImageError, checkpoints, with_bytes};
use crate::log::{Acknowledged, VERSION, segment_name};
use outlast_engine::{Scenario, parse_text};
use rustix::fs::{FlockOperation, flock};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

const IMAGE: &str = "image";
const SCENARIO: &str = "scenario.toml";
pub(super) const LOG: &str = "log";
pub(super) const CHECKPOINTS: &str = "checkpoints";
const CLOCK: &str = "clock";
pub(super) const LOCK: &str = "lock";
const CLEAN: &str = "clean";
/// What an image consists of.
pub(super) const OWN: [&str; 7] = [IMAGE, SCENARIO, LOG, CHECKPOINTS, CLOCK, LOCK, CLEAN];

/// What to do with an image of another version.
pub(super) const ELSEWHERE: &str =
    "serve the image with the Outlast that wrote it, and copy its data to a new one";

/// The longest first line of an image, in bytes: it has 50 or so.
const LINE_MAX: u64 = 4096;
/// The longest scenario, in bytes: the largest tables of error rates take some 100 KiB.
const SCENARIO_MAX: u64 = 16 << 20;

#[derive(Clone, Debug)]
pub(super) struct Files {
    folder: Folder,
}

impl Files {
    /// Those of the image in `folder`; `None` where there is none, or one that was not made to its end.
    ///
    /// # Errors
    /// An entry is neither a plain file nor a folder.
    pub(super) fn find(folder: &Path) -> Result<Option<Self>, ImageError> {
        let files = match Folder::open(folder) {
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

    /// Those of the image in `folder`, which must be there.
    pub(super) fn of(folder: &Path) -> Result<Self, ImageError> {
        Self::find(folder)?.ok_or_else(|| is_none(folder))
    }

    pub(super) fn over(folder: Folder) -> Self {
        Self { folder }
    }

    pub(super) fn folder(&self) -> &Folder {
        &self.folder
    }

    pub(super) fn scenario(&self) -> PathBuf {
        self.folder.path_of(SCENARIO)
    }

    pub(super) fn log(&self) -> PathBuf {
        self.folder.path_of(LOG)
    }

    /// The folder of the log.
    pub(super) fn open_log(&self) -> Result<Folder, ImageError> {
        self.folder.inner(LOG).map_err(|source| io_error(self.log(), source))
    }

    /// The folder of the checkpoints, if there is one.
    pub(super) fn open_checkpoints(&self) -> Result<Option<Folder>, ImageError> {
        match self.folder.inner(CHECKPOINTS) {
            Ok(folder) => Ok(Some(folder)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(io_error(self.folder.path_of(CHECKPOINTS), source)),
        }
    }

    /// The same, which is made if there is none.
    pub(super) fn make_checkpoints(&self) -> io::Result<Folder> {
        self.folder.make_inner(CHECKPOINTS)
    }

    fn image(&self) -> PathBuf {
        self.folder.path_of(IMAGE)
    }

    /// Whether it has been made to its end.
    pub(super) fn exists(&self) -> bool {
        self.folder.has(IMAGE)
    }

    /// Checks the kind of each entry that an image may have: whoever made it decides what they are.
    pub(super) fn check_entries(&self) -> Result<(), ImageError> {
        for name in OWN.into_iter().filter(|name| self.folder.has(name)) {
            let is_folder = [LOG, CHECKPOINTS].contains(&name);
            let checked =
                if is_folder { self.folder.expect_folder(name) } else { self.folder.expect_file(name) };
            checked.map_err(|source| io_error(self.folder.path_of(name), source))?;
            if !is_folder {
                continue;
            }
            let inner =
                self.folder.inner(name).map_err(|source| io_error(self.folder.path_of(name), source))?;
            for entry in inner.names().map_err(|source| io_error(inner.path().to_owned(), source))? {
                inner.expect_file(&entry).map_err(|source| io_error(inner.path_of(&entry), source))?;
            }
        }
        Ok(())
    }

    /// Has the image for this process alone, as long as the file lives.
    pub(super) fn lock(&self) -> Result<File, ImageError> {
        let io = |source| io_error(self.folder.path_of(LOCK), source);
        let file = self.folder.open_or_create(LOCK).map_err(io)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(file),
            Err(rustix::io::Errno::WOULDBLOCK) => {
                Err(ImageError::InUse { path: self.folder.path().to_owned() })
            }
            Err(error) => Err(io(error.into())),
        }
    }

    /// Makes the image; its first file last.
    pub(super) fn make(&self, scenario: &Scenario, sync: bool) -> Result<(), ImageError> {
        let text = with_bytes(scenario).to_toml()?;
        let image = fresh_number();
        let write = |name: &str, bytes: &[u8]| {
            let write = || -> io::Result<()> {
                let mut file = self.folder.create(name)?;
                file.write_all(bytes)?;
                if sync { file.sync_all() } else { Ok(()) }
            };
            write().map_err(|source| io_error(self.folder.path_of(name), source))
        };
        self.folder.make_inner(LOG).map_err(|source| io_error(self.log(), source))?;
        checkpoints::keep_from(self, u32::MAX, false)?;
        write(SCENARIO, text.as_bytes())?;
        let begin = Acknowledged { segment: 1, ..Acknowledged::default() };
        write(CLOCK, &begin.to_bytes(image))?;
        self.unclean()?;
        let line = format!("outlast image {VERSION} {image:016x} {:08x}\n", crc32c::crc32c(text.as_bytes()));
        write(IMAGE, line.as_bytes())?;
        if sync {
            self.folder.sync().map_err(|source| io_error(self.folder.path().to_owned(), source))?;
        }
        Ok(())
    }

    /// The number of the image and its scenario.
    pub(super) fn read(&self) -> Result<(u64, Scenario), ImageError> {
        let line = self.read_text(IMAGE, LINE_MAX)?;
        let words: Vec<&str> = line.split_whitespace().collect();
        let foreign = |why: String| ImageError::Foreign { path: self.image(), why };
        let ["outlast", "image", version, number, sum] = words[..] else {
            return Err(foreign("is not an Outlast image".to_owned()));
        };
        if version != VERSION.to_string() {
            let why = format!("has version {version}; this program reads version {VERSION}: {ELSEWHERE}");
            return Err(foreign(why));
        }
        let numbers = u64::from_str_radix(number, 16).ok().zip(u32::from_str_radix(sum, 16).ok());
        let (image, sum) = numbers.ok_or_else(|| foreign("is damaged".to_owned()))?;
        let text = self.read_text(SCENARIO, SCENARIO_MAX)?;
        if crc32c::crc32c(text.as_bytes()) != sum {
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

    pub(super) fn clock(&self, image: u64) -> Result<Acknowledged, ImageError> {
        let path = self.folder.path_of(CLOCK);
        let bytes = self.folder.read_all(CLOCK, LINE_MAX).map_err(|source| io_error(path.clone(), source))?;
        Acknowledged::from_bytes(image, &bytes).ok_or_else(|| {
            let why = "is damaged, or of another image".to_owned();
            ImageError::Foreign { path, why }
        })
    }

    pub(super) fn open_clock(&self) -> Result<File, ImageError> {
        self.folder.write(CLOCK).map_err(|source| io_error(self.folder.path_of(CLOCK), source))
    }

    /// The segments that there are, in order: without a gap, and nothing else.
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

    /// Removes the segments that are not within `kept`.
    pub(super) fn keep_segments(&self, kept: RangeInclusive<u32>) -> Result<(), ImageError> {
        let others = self.segments()?.into_iter().filter(|segment| !kept.contains(segment));
        let log = self.open_log()?;
        others.map(segment_name).try_for_each(|name| remove(&log, name.as_ref()))
    }

    /// Bytes of the segments from `first` on.
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

    /// The path of a segment, for messages.
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

    pub(super) fn unclean(&self) -> Result<(), ImageError> {
        self.folder.remove_if_there(CLEAN).map_err(|error| io_error(self.folder.path_of(CLEAN), error))
    }
}

/// There is no image in `folder`.
pub(super) fn is_none(folder: &Path) -> ImageError {
    let why = "is not an Outlast image; to create one: outlast serve SCENARIO --image DIR".to_owned();
    ImageError::Foreign { path: folder.to_owned(), why }
}

/// A number that no other image is likely to have.
fn fresh_number() -> u64 {
    #[allow(clippy::disallowed_methods, reason = "images are told apart by when and by whom they were made")]
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64);
    outlast_units::rng::mix(now ^ u64::from(std::process::id()) << 40)
}

/// What went wrong with the file `path`.
pub(super) fn io_error(path: PathBuf, source: io::Error) -> ImageError {
    ImageError::Io { path, source }
}

/// The segment that a file is named after.
pub(super) fn number_of(path: &Path) -> Option<u32> {
    let name = path.file_name()?.to_str()?;
    let number = name.parse().ok().filter(|&number: &u32| number > 0)?;
    (name == format!("{number:08}")).then_some(number)
}

pub(super) fn remove(folder: &Folder, name: &OsStr) -> Result<(), ImageError> {
    folder.remove(name).map_err(|source| io_error(folder.path_of(name), source))
}
