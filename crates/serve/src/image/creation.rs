//! Steps in which an image comes to be, and what is left of one whose creation was cut short.
//!
//! The file `image.new` is written first and becomes `image` last, by its new name. It has the number of the image and the checksum of its scenario, so
//! that whatever else the creation has made can be told from everything else: `scenario.toml` and `clock` are what they were to become, or the
//! beginning of it, and `log` is empty. Only such a folder is taken for an uncompleted image. Any other one without `image` holds a damaged image, or
//! things of the user's, and stays as it is.

#[cfg(test)]
mod tests;

use super::files::{
    CHECKPOINTS, CLEAN, CLOCK, IMAGE, IMAGE_ENTRIES, LOCK, LOG, MAX_LINE_BYTES, MAX_SCENARIO_BYTES, SCENARIO,
    UNFINISHED_IMAGE, io_error,
};
use super::folder::ImageFolder;
use super::line::ImageLine;
use super::{ImageError, with_bytes};
use crate::log::{AcknowledgedPoint, CLOCK_BYTES};
use outlast_engine::Scenario;
use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::time::{SystemTime, UNIX_EPOCH};

/// An image that is to be created, as its files will have it.
#[derive(Debug)]
pub(super) struct ImageCreation {
    line: ImageLine,
    scenario: String,
    /// Brings each file to the disk.
    sync: bool,
}

/// A step of the creation. A process may be killed before, after and within each.
type CreationStep = fn(&ImageCreation, &ImageFolder) -> io::Result<()>;

/// All steps in order, each with the entry that it makes.
const STEPS: [(&str, CreationStep); 5] = [
    (UNFINISHED_IMAGE, |creation, folder| creation.announce(folder)),
    (LOG, |_, folder| folder.create_subfolder(LOG)),
    (SCENARIO, |creation, folder| creation.write(folder, SCENARIO, creation.scenario.as_bytes())),
    (CLOCK, |creation, folder| creation.write(folder, CLOCK, &first_clock(creation.line.image))),
    (IMAGE, |creation, folder| creation.complete(folder)),
];

impl ImageCreation {
    /// Prepares the creation of an image of `scenario`. Nothing is written yet.
    ///
    /// # Errors
    /// The scenario cannot be written as text.
    pub(super) fn new(scenario: &Scenario, sync: bool) -> Result<Self, ImageError> {
        let scenario = with_bytes(scenario).to_toml()?;
        let line = ImageLine { image: new_image_number(), scenario_sum: crc32c::crc32c(scenario.as_bytes()) };
        Ok(Self { line, scenario, sync })
    }

    /// Creates the image in a folder that has nothing but the lock. If that fails, what was made is removed.
    ///
    /// # Errors
    /// A file cannot be written, or somebody has put one of its name into the folder.
    pub(super) fn run(&self, folder: &ImageFolder) -> Result<(), ImageError> {
        for (number, (entry, step)) in STEPS.iter().enumerate() {
            if let Err(source) = step(self, folder) {
                let is_others = source.kind() == io::ErrorKind::AlreadyExists;
                let made = if is_others { &STEPS[..number] } else { &STEPS[..=number] };
                made.iter().rev().for_each(|(entry, _)| remove_entry(folder, entry));
                return Err(io_error(folder.path_of(entry), source));
            }
        }
        Ok(())
    }

    fn announce(&self, folder: &ImageFolder) -> io::Result<()> {
        self.write(folder, UNFINISHED_IMAGE, self.line.to_text().as_bytes())?;
        // What follows means nothing without it, so it must be on the disk before.
        if self.sync { folder.sync() } else { Ok(()) }
    }

    fn write(&self, folder: &ImageFolder, name: &str, bytes: &[u8]) -> io::Result<()> {
        let mut file = folder.create_new(name)?;
        file.write_all(bytes)?;
        if self.sync { file.sync_all() } else { Ok(()) }
    }

    fn complete(&self, folder: &ImageFolder) -> io::Result<()> {
        if folder.has(IMAGE) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        folder.rename(UNFINISHED_IMAGE, IMAGE)?;
        if self.sync { folder.sync() } else { Ok(()) }
    }

    /// Checks that a folder without an image is empty, or has only what an uncompleted creation has left there; true if it has.
    ///
    /// # Errors
    /// The folder holds anything else, or cannot be read.
    pub(super) fn check_leftovers(&self, folder: &ImageFolder) -> Result<bool, ImageError> {
        let names = folder.names().map_err(|source| io_error(folder.path().to_owned(), source))?;
        check_names(folder, &names)?;
        let marker = Marker::read(folder)?;
        for name in &names {
            let is_left = self.is_leftover(folder, name, &marker);
            if !is_left.map_err(|source| io_error(folder.path_of(name), source))? {
                return Err(not_an_image(folder, &names, name));
            }
        }
        Ok(!matches!(marker, Marker::Absent))
    }

    fn is_leftover(&self, folder: &ImageFolder, name: &OsStr, marker: &Marker) -> io::Result<bool> {
        let text = name.to_str().unwrap_or_default();
        if text == LOCK {
            return Ok(folder.size(name)? == 0);
        }
        let line = match marker {
            Marker::Absent | Marker::Other => return Ok(false),
            // The first file has not been written completely, so there is no second one.
            Marker::Torn => return Ok(text == UNFINISHED_IMAGE),
            Marker::Whole(line) => line,
        };
        Ok(match text {
            UNFINISHED_IMAGE => true,
            LOG => folder.subfolder(LOG)?.names()?.is_empty(),
            SCENARIO => {
                let bytes = folder.read_all(SCENARIO, MAX_SCENARIO_BYTES)?;
                // One that was cut short can only be recognised by the same scenario.
                crc32c::crc32c(&bytes) == line.scenario_sum || self.scenario.as_bytes().starts_with(&bytes)
            }
            CLOCK => first_clock(line.image).starts_with(&folder.read_all(CLOCK, MAX_LINE_BYTES)?),
            _ => false,
        })
    }
}

/// The clock of a new image.
fn first_clock(image: u64) -> [u8; CLOCK_BYTES] {
    AcknowledgedPoint { segment: 1, ..AcknowledgedPoint::default() }.to_bytes(image)
}

/// The file `image.new`.
enum Marker {
    Absent,
    /// Its writing was cut short.
    Torn,
    Whole(ImageLine),
    /// No such file of this version.
    Other,
}

impl Marker {
    fn read(folder: &ImageFolder) -> Result<Self, ImageError> {
        if !folder.has(UNFINISHED_IMAGE) {
            return Ok(Self::Absent);
        }
        let bytes = folder.read_all(UNFINISHED_IMAGE, MAX_LINE_BYTES);
        let bytes = bytes.map_err(|source| io_error(folder.path_of(UNFINISHED_IMAGE), source))?;
        let Ok(text) = String::from_utf8(bytes) else { return Ok(Self::Other) };
        if text.ends_with('\n') {
            return Ok(ImageLine::parse(&text).map_or(Self::Other, Self::Whole));
        }
        Ok(if ImageLine::begins_with(&text) { Self::Torn } else { Self::Other })
    }
}

/// Removes what an uncompleted creation has left. The marker goes last, so that a kill on the way leaves what can be told apart.
pub(super) fn remove_leftovers(folder: &ImageFolder) {
    STEPS
        .iter()
        .rev()
        .filter(|(entry, _)| *entry != IMAGE)
        .for_each(|(entry, _)| remove_entry(folder, entry));
}

/// Removes an entry, best effort.
fn remove_entry(folder: &ImageFolder, entry: &str) {
    // A folder is removed only if it is empty.
    let _ = if entry == LOG { folder.remove_folder(LOG) } else { folder.remove_if_there(entry) };
}

/// A number that is probably unique to an image.
fn new_image_number() -> u64 {
    #[allow(clippy::disallowed_methods, reason = "images are told apart by when and by whom they were made")]
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64);
    outlast_units::rng::mix(now ^ u64::from(std::process::id()) << 40)
}

/// Checks that a folder has only entries of an image.
fn check_names(folder: &ImageFolder, names: &[OsString]) -> Result<(), ImageError> {
    match names.iter().find(|name| !IMAGE_ENTRIES.iter().any(|entry| name == entry)) {
        Some(other) => Err(foreign(folder, other)),
        None => Ok(()),
    }
}

/// Error for a folder without `image` that holds `name`, which no uncompleted creation has left there.
fn not_an_image(folder: &ImageFolder, names: &[OsString], name: &OsStr) -> ImageError {
    damaged(folder, names).unwrap_or_else(|| foreign(folder, name))
}

/// Error for a folder with entries of an image and without the file `image`. `None` if they might be anything.
pub(super) fn damaged(folder: &ImageFolder, names: &[OsString]) -> Option<ImageError> {
    let own =
        [LOG, CHECKPOINTS, CLOCK, CLEAN].into_iter().find(|own| names.iter().any(|name| name == own))?;
    let why = format!(
        "is missing, although the folder holds {own}: the image is damaged, and stays as it is; for a new one name an empty folder"
    );
    Some(ImageError::Foreign { path: folder.path_of(IMAGE), why })
}

fn foreign(folder: &ImageFolder, name: &OsStr) -> ImageError {
    let why = format!("holds {} and is not an Outlast image: name an empty folder", name.display());
    ImageError::Foreign { path: folder.path().to_owned(), why }
}
