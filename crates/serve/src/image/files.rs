//! The files of an image.

use super::{ImageError, checkpoints, with_bytes};
use crate::log::{Acknowledged, VERSION, segment_path};
use outlast_engine::{Scenario, parse_text};
use rustix::fs::{FlockOperation, flock};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// What an image consists of.
const OWN: [&str; 7] = ["image", "scenario.toml", "log", "checkpoints", "clock", "lock", "clean"];

/// What to do with an image of another version.
pub(super) const ELSEWHERE: &str =
    "serve the image with the Outlast that wrote it, and copy its data to a new one";

#[derive(Clone, Debug)]
pub(super) struct Files {
    folder: PathBuf,
}

impl Files {
    pub(super) fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned() }
    }

    pub(super) fn scenario(&self) -> PathBuf {
        self.folder.join("scenario.toml")
    }

    pub(super) fn log(&self) -> PathBuf {
        self.folder.join("log")
    }

    pub(super) fn checkpoints(&self) -> PathBuf {
        self.folder.join("checkpoints")
    }

    fn image(&self) -> PathBuf {
        self.folder.join("image")
    }

    fn clock_path(&self) -> PathBuf {
        self.folder.join("clock")
    }

    fn clean(&self) -> PathBuf {
        self.folder.join("clean")
    }

    /// Whether it has been made to its end.
    pub(super) fn exists(&self) -> bool {
        self.image().exists()
    }

    pub(super) fn is_none(&self) -> ImageError {
        let why = "is not an Outlast image; to create one: outlast serve SCENARIO --image DIR".to_owned();
        ImageError::Foreign { path: self.folder.clone(), why }
    }

    /// Makes the folder, or finds it without anything that is not an image's.
    pub(super) fn prepare(&self, scenario: &Scenario) -> Result<(), ImageError> {
        // What cannot be written is refused before anything is.
        with_bytes(scenario).to_toml()?;
        fs::create_dir_all(self.log()).map_err(|source| io_error(self.log(), source))?;
        let entries = fs::read_dir(&self.folder).map_err(|source| io_error(self.folder.clone(), source))?;
        for entry in entries {
            let name = entry.map_err(|source| io_error(self.folder.clone(), source))?.file_name();
            if !OWN.iter().any(|own| name == *own) {
                let why =
                    format!("holds {} and is not an Outlast image: name an empty folder", name.display());
                return Err(ImageError::Foreign { path: self.folder.clone(), why });
            }
        }
        Ok(())
    }

    /// Has the image for this process alone, as long as the file lives.
    pub(super) fn lock(&self) -> Result<File, ImageError> {
        let path = self.folder.join("lock");
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
        let file = file.map_err(|source| io_error(path.clone(), source))?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(file),
            Err(rustix::io::Errno::WOULDBLOCK) => Err(ImageError::InUse { path: self.folder.clone() }),
            Err(error) => Err(io_error(path, error.into())),
        }
    }

    /// Makes the image; its first file last.
    pub(super) fn make(&self, scenario: &Scenario, sync: bool) -> Result<(), ImageError> {
        let text = with_bytes(scenario).to_toml()?;
        let image = fresh_number();
        let write = |path: &Path, bytes: &[u8]| {
            let write = || -> io::Result<()> {
                let mut file = OpenOptions::new().create(true).write(true).truncate(true).open(path)?;
                file.write_all(bytes)?;
                if sync { file.sync_all() } else { Ok(()) }
            };
            write().map_err(|source| io_error(path.to_owned(), source))
        };
        checkpoints::keep_from(self, u32::MAX, false)?;
        write(&self.scenario(), text.as_bytes())?;
        let begin = Acknowledged { segment: 1, ..Acknowledged::default() };
        write(&self.clock_path(), &begin.to_bytes(image))?;
        self.unclean()?;
        let line = format!("outlast image {VERSION} {image:016x} {:08x}\n", crc32c::crc32c(text.as_bytes()));
        write(&self.image(), line.as_bytes())?;
        if sync {
            let folder = File::options().read(true).open(&self.folder).and_then(|folder| folder.sync_all());
            folder.map_err(|source| io_error(self.folder.clone(), source))?;
        }
        Ok(())
    }

    /// The number of the image and its scenario.
    pub(super) fn read(&self) -> Result<(u64, Scenario), ImageError> {
        let line = read_text(self.image())?;
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
        let text = read_text(self.scenario())?;
        if crc32c::crc32c(text.as_bytes()) != sum {
            let why = "has been changed since the image was made; the log belongs to what it was".to_owned();
            return Err(ImageError::Foreign { path: self.scenario(), why });
        }
        Ok((image, parse_text(&text)?.0))
    }

    pub(super) fn clock(&self, image: u64) -> Result<Acknowledged, ImageError> {
        let path = self.clock_path();
        #[allow(clippy::disallowed_methods, reason = "an image is a folder of files")]
        let bytes = fs::read(&path).map_err(|source| io_error(path.clone(), source))?;
        Acknowledged::from_bytes(image, &bytes).ok_or_else(|| {
            let why = "is damaged, or of another image".to_owned();
            ImageError::Foreign { path, why }
        })
    }

    pub(super) fn open_clock(&self) -> Result<File, ImageError> {
        let path = self.clock_path();
        OpenOptions::new().write(true).open(&path).map_err(|source| io_error(path, source))
    }

    /// The segments that there are, in order: without a gap, and nothing else.
    pub(super) fn segments(&self) -> Result<Vec<u32>, ImageError> {
        let entries = fs::read_dir(self.log()).map_err(|source| io_error(self.log(), source))?;
        let mut segments = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|source| io_error(self.log(), source))?;
            let Some(number) = number_of(&entry.path()) else {
                return Err(ImageError::Foreign {
                    path: entry.path(),
                    why: "is not a segment of the log".to_owned(),
                });
            };
            segments.push(number);
        }
        segments.sort_unstable();
        Ok(segments)
    }

    /// Removes the segments that are not within `kept`.
    pub(super) fn keep_segments(&self, kept: RangeInclusive<u32>) -> Result<(), ImageError> {
        let others = self.segments()?.into_iter().filter(|segment| !kept.contains(segment));
        others.map(|segment| segment_path(&self.log(), segment)).try_for_each(remove)
    }

    /// Bytes of the segments from `first` on.
    pub(super) fn log_bytes(&self, first: u32) -> Result<u64, ImageError> {
        let size = |segment| {
            let path = segment_path(&self.log(), segment);
            fs::metadata(&path).map(|found| found.len()).map_err(|source| io_error(path, source))
        };
        self.segments()?.into_iter().filter(|&segment| segment >= first).map(size).sum()
    }

    pub(super) fn open_segment(&self, segment: u32) -> Result<File, ImageError> {
        let path = segment_path(&self.log(), segment);
        File::options().read(true).open(&path).map_err(|source| io_error(path, source))
    }

    pub(super) fn is_clean(&self) -> bool {
        self.clean().exists()
    }

    pub(super) fn mark_clean(&self, sync: bool) -> io::Result<()> {
        let file = OpenOptions::new().create(true).truncate(true).write(true).open(self.clean())?;
        if sync {
            file.sync_all()?;
            File::options().read(true).open(&self.folder)?.sync_all()?;
        }
        Ok(())
    }

    pub(super) fn unclean(&self) -> Result<(), ImageError> {
        match fs::remove_file(self.clean()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(io_error(self.clean(), error)),
            _ => Ok(()),
        }
    }
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

fn read_text(path: PathBuf) -> Result<String, ImageError> {
    #[allow(clippy::disallowed_methods, reason = "an image is a folder of files")]
    fs::read_to_string(&path).map_err(|source| io_error(path, source))
}

/// The segment that a file is named after.
pub(super) fn number_of(path: &Path) -> Option<u32> {
    let name = path.file_name()?.to_str()?;
    let number = name.parse().ok().filter(|&number: &u32| number > 0)?;
    (name == format!("{number:08}")).then_some(number)
}

pub(super) fn remove(path: PathBuf) -> Result<(), ImageError> {
    fs::remove_file(&path).map_err(|source| io_error(path, source))
}
