//! Contents of devices on disk, in an unnamed file that extends memory.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use outlast_media::{ByteStore, StoreAddress};
use outlast_units::SECTOR_BYTES;
use thiserror::Error;

/// Storage of the bytes of a device in service.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ContentsIn {
    /// Memory.
    #[default]
    Memory,
    /// An unnamed file, which is deleted with the last device that uses it.
    Disk,
}

/// A name of a storage that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("contents = \"{0}\": must be memory or disk")]
pub struct UnknownContentsPlace(String);

impl FromStr for ContentsIn {
    type Err = UnknownContentsPlace;

    fn from_str(text: &str) -> Result<Self, UnknownContentsPlace> {
        match text {
            "memory" => Ok(Self::Memory),
            "disk" => Ok(Self::Disk),
            _ => Err(UnknownContentsPlace(text.to_owned())),
        }
    }
}

impl ContentsIn {
    /// A new store, with its file in `folder`; `None` for memory.
    ///
    /// # Errors
    /// The file cannot be created.
    pub fn store(self, folder: &Path) -> io::Result<Option<Arc<FileStore>>> {
        match self {
            Self::Memory => Ok(None),
            Self::Disk => FileStore::new(folder).map(|store| Some(Arc::new(store))),
        }
    }
}

/// Bytes in slots of an unnamed file. Free slots are used again, so the file is as long as the most that was held at a time. The file goes through
/// the page cache of the host, which writes it back and drops it as it does other files.
///
/// After a failure, data that depends on the store must not be trusted: see [`FileStore::check`].
#[derive(Debug)]
pub struct FileStore {
    folder: PathBuf,
    file: File,
    slots: Mutex<FileSlots>,
}

#[derive(Debug, Default)]
struct FileSlots {
    /// Length of the file in sectors.
    end: u32,
    /// Free slots, by their length in sectors.
    free: BTreeMap<u32, Vec<StoreAddress>>,
    /// Sectors in use.
    held: u64,
    /// First failure.
    failure: Option<String>,
}

impl FileStore {
    /// An unnamed file in `folder`.
    ///
    /// # Errors
    /// The file cannot be created.
    pub fn new(folder: &Path) -> io::Result<Self> {
        match tempfile::tempfile_in(folder) {
            Ok(file) => Ok(Self::over(file, folder)),
            Err(error) => Err(io::Error::new(error.kind(), format!("{}: {error}", folder.display()))),
        }
    }

    fn over(file: File, folder: &Path) -> Self {
        Self { folder: folder.to_owned(), file, slots: Mutex::default() }
    }

    /// Checks that everything could be written and read.
    ///
    /// # Errors
    /// The first failure, in one line with the folder. If it is a lack of space, devices that use the store are still intact; otherwise they may not
    /// be.
    pub fn check(&self) -> io::Result<()> {
        match &self.slots().failure {
            None => Ok(()),
            Some(failure) => Err(io::Error::other(failure.clone())),
        }
    }

    /// Length of the file, and bytes of it that are in use.
    pub fn bytes(&self) -> (u64, u64) {
        let slots = self.slots();
        (u64::from(slots.end) * SECTOR_BYTES, slots.held * SECTOR_BYTES)
    }

    fn slots(&self) -> MutexGuard<'_, FileSlots> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cold]
    fn fail(&self, why: &dyn std::fmt::Display) {
        let folder = self.folder.display();
        self.slots().failure.get_or_insert_with(|| format!("contents on disk, in {folder}: {why}"));
    }
}

/// Sectors for `length` bytes, rounded up.
fn sectors(length: usize) -> u32 {
    length.div_ceil(SECTOR_BYTES as usize) as u32
}

/// Offset of a place in the file, in bytes.
fn offset(place: StoreAddress) -> u64 {
    u64::from(place.0) * SECTOR_BYTES
}

impl FileSlots {
    /// Takes a slot of `length` sectors; `None` if the file would have more sectors than can be numbered.
    fn take(&mut self, length: u32) -> Option<StoreAddress> {
        let free = self.free.get_mut(&length).and_then(Vec::pop);
        let place = if let Some(place) = free {
            place
        } else {
            let end = self.end.checked_add(length)?;
            StoreAddress(std::mem::replace(&mut self.end, end))
        };
        self.held += u64::from(length);
        Some(place)
    }

    fn give_back(&mut self, place: StoreAddress, length: u32) {
        self.held -= u64::from(length);
        self.free.entry(length).or_default().push(place);
    }
}

impl ByteStore for FileStore {
    fn put(&self, bytes: &[u8]) -> Option<StoreAddress> {
        let taken = self.slots().take(sectors(bytes.len()));
        let Some(place) = taken else {
            self.fail(&format!("more than {} bytes", u64::from(u32::MAX) * SECTOR_BYTES));
            return None;
        };
        match self.file.write_all_at(bytes, offset(place)) {
            Ok(()) => Some(place),
            Err(error) => {
                self.fail(&error);
                self.free(place, bytes.len());
                None
            }
        }
    }

    fn get(&self, place: StoreAddress, from: usize, to: &mut [u8]) {
        if let Err(error) = self.file.read_exact_at(to, offset(place) + from as u64) {
            self.fail(&error);
            // No stale bytes; the failure itself is reported by `check`.
            to.fill(0);
        }
    }

    fn free(&self, place: StoreAddress, length: usize) {
        self.slots().give_back(place, sectors(length));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store() -> FileStore {
        FileStore::new(&std::env::temp_dir()).unwrap()
    }

    #[test]
    fn slots_are_reused_and_the_file_is_as_long_as_the_most_that_was_held() {
        let store = store();
        let put = |value: u8, length: usize| store.put(&vec![value; length]).unwrap();
        let (first, other) = (put(1, 4096), put(2, 1000));
        let third = put(3, 4096);
        assert_eq!(store.bytes(), (9216, 9216));
        store.free(first, 4096);
        assert_eq!(store.bytes(), (9216, 5120));
        assert_eq!(put(4, 4096), first);
        let mut read = [9; 600];
        for (place, from, expected) in [(first, 3496, 4), (other, 400, 2), (third, 0, 3)] {
            store.get(place, from, &mut read);
            assert_eq!(read, [expected; 600]);
        }
        store.free(third, 4096);
        assert_ne!(put(5, 512), third, "slots are of one length each");
        store.check().unwrap();
    }

    #[test]
    fn a_full_disk_keeps_nothing_and_says_so() {
        let full = File::options().read(true).write(true).open("/dev/full").unwrap();
        let store = FileStore::over(full, Path::new("/somewhere"));
        store.check().unwrap();
        assert_eq!((store.put(&[1; 512]), store.bytes().1), (None, 0));
        let failure = "contents on disk, in /somewhere: No space left on device (os error 28)";
        assert_eq!(store.check().unwrap_err().to_string(), failure);
    }

    #[test]
    fn unreadable_contents_read_as_zeroes_and_are_reported() {
        let store = store();
        let place = store.put(&[1; 512]).unwrap();
        store.file.set_len(0).unwrap();
        let mut read = [9; 8];
        store.get(place, 0, &mut read);
        assert_eq!(read, [0; 8]);
        assert!(store.check().unwrap_err().to_string().contains("failed to fill whole buffer"));
    }

    #[test]
    fn contents_are_in_memory_or_on_disk() {
        assert_eq!("disk".parse(), Ok(ContentsIn::Disk));
        let refused = "ram".parse::<ContentsIn>().unwrap_err().to_string();
        assert_eq!(refused, "contents = \"ram\": must be memory or disk");
        let none = FileStore::new(Path::new("/no/such/folder")).unwrap_err().to_string();
        assert!(none.starts_with("/no/such/folder: No such file"), "{none}");
    }
}
