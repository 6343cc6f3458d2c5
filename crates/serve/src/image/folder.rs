//! A folder whose files may come from somebody else: no entry leads out of it.
//!
//! Images are passed on as archives, which can contain links. So each entry must be a plain file or a folder, is opened without following links, and
//! is checked again once open, since it could have been exchanged in between. The folder itself is opened once, by the user's path, which may be a
//! link.

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, fstat, mkdirat, openat, renameat, statat, unlinkat};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Flags for opening entries: links are not followed, and a FIFO does not block.
const PLAINLY: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);
/// Usual modes of new files and folders, before the umask.
const FILE: Mode = Mode::from_raw_mode(0o666);
const FOLDER: Mode = Mode::from_raw_mode(0o777);

/// An open folder. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct ImageFolder {
    /// Path, for messages.
    path: PathBuf,
    handle: Arc<OwnedFd>,
}

impl ImageFolder {
    /// Opens the folder that a user named; `path` may be a link.
    ///
    /// # Errors
    /// It is no folder, or cannot be opened.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let how = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let handle = rustix::fs::open(path, how, Mode::empty())?;
        Ok(Self { path: path.to_owned(), handle: Arc::new(handle) })
    }

    /// Path of an entry, for messages.
    pub(crate) fn path_of(&self, name: impl AsRef<Path>) -> PathBuf {
        self.path.join(name)
    }

    /// Path of the folder, for messages.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// True if there is an entry of this name, of any kind.
    pub(crate) fn has(&self, name: impl AsRef<OsStr>) -> bool {
        statat(&*self.handle, name.as_ref(), AtFlags::SYMLINK_NOFOLLOW).is_ok()
    }

    /// Names of all entries, sorted.
    pub(crate) fn names(&self) -> io::Result<Vec<OsString>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(&*self.handle)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name != b"." && name != b".." {
                names.push(OsStr::from_bytes(name).to_owned());
            }
        }
        names.sort_unstable();
        Ok(names)
    }

    /// Checks that an entry is a plain file.
    pub(crate) fn expect_file(&self, name: impl AsRef<OsStr>) -> io::Result<()> {
        self.expect(name.as_ref(), FileType::RegularFile).map(|_| ())
    }

    /// Checks that an entry is a folder.
    pub(crate) fn expect_folder(&self, name: impl AsRef<OsStr>) -> io::Result<()> {
        self.expect(name.as_ref(), FileType::Directory).map(|_| ())
    }

    /// Length of a plain file in bytes.
    pub(crate) fn size(&self, name: impl AsRef<OsStr>) -> io::Result<u64> {
        self.expect(name.as_ref(), FileType::RegularFile)
    }

    /// Opens a folder within this one.
    pub(crate) fn subfolder(&self, name: &str) -> io::Result<Self> {
        self.expect_folder(name)?;
        let how = PLAINLY | OFlags::RDONLY | OFlags::DIRECTORY;
        let handle = openat(&*self.handle, name, how, Mode::empty())?;
        Ok(Self { path: self.path.join(name), handle: Arc::new(handle) })
    }

    /// Opens a folder within this one, created if absent.
    pub(crate) fn make_subfolder(&self, name: &str) -> io::Result<Self> {
        match mkdirat(&*self.handle, name, FOLDER) {
            Ok(()) | Err(Errno::EXIST) => self.subfolder(name),
            Err(error) => Err(error.into()),
        }
    }

    /// Creates a folder within this one. Fails if there is an entry of this name.
    pub(crate) fn create_subfolder(&self, name: &str) -> io::Result<()> {
        Ok(mkdirat(&*self.handle, name, FOLDER)?)
    }

    /// Opens a file to be read.
    pub(crate) fn read(&self, name: impl AsRef<OsStr>) -> io::Result<File> {
        self.expect_file(&name)?;
        self.open_plain(name.as_ref(), OFlags::RDONLY).map(|(file, _)| file)
    }

    /// Reads a whole file, at most `limit` bytes.
    pub(crate) fn read_all(&self, name: &str, limit: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        // One byte more than allowed, to notice a longer file.
        self.read(name)?.take(limit + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > limit {
            return Err(io::Error::other(format!("is longer than {limit} bytes")));
        }
        Ok(bytes)
    }

    /// Opens a file to be written in place. Files with further hard links are refused, since these would change as well.
    pub(crate) fn write(&self, name: &str) -> io::Result<File> {
        self.open_unshared(name, OFlags::WRONLY)
    }

    /// Opens a file to be written at its end; otherwise as [`ImageFolder::write`].
    pub(crate) fn append(&self, name: &str) -> io::Result<File> {
        self.open_unshared(name, OFlags::WRONLY | OFlags::APPEND)
    }

    /// Opens a file to be written, created if absent.
    pub(crate) fn open_or_create(&self, name: &str) -> io::Result<File> {
        if self.has(name) {
            self.expect_file(name)?;
        }
        self.open_plain(name.as_ref(), OFlags::WRONLY | OFlags::CREATE).map(|(file, _)| file)
    }

    /// Creates a file. An entry of this name is removed first; if it is a link, its target is left alone.
    pub(crate) fn create(&self, name: impl AsRef<OsStr>) -> io::Result<File> {
        self.remove_if_there(&name)?;
        self.create_new(name)
    }

    /// Creates a file. Fails if there is an entry of this name.
    pub(crate) fn create_new(&self, name: impl AsRef<OsStr>) -> io::Result<File> {
        self.open_plain(name.as_ref(), OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL).map(|(file, _)| file)
    }

    /// Renames an entry, replacing any entry with the new name.
    pub(crate) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        Ok(renameat(&*self.handle, from, &*self.handle, to)?)
    }

    /// Removes a file.
    pub(crate) fn remove(&self, name: impl AsRef<OsStr>) -> io::Result<()> {
        Ok(unlinkat(&*self.handle, name.as_ref(), AtFlags::empty())?)
    }

    /// Removes a file that need not exist.
    pub(crate) fn remove_if_there(&self, name: impl AsRef<OsStr>) -> io::Result<()> {
        match self.remove(name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            outcome => outcome,
        }
    }

    /// Removes an empty folder.
    pub(crate) fn remove_folder(&self, name: &str) -> io::Result<()> {
        Ok(unlinkat(&*self.handle, name, AtFlags::REMOVEDIR)?)
    }

    /// Makes the entries survive a crash of the host.
    pub(crate) fn sync(&self) -> io::Result<()> {
        Ok(rustix::fs::fsync(&*self.handle)?)
    }

    fn open_unshared(&self, name: &str, how: OFlags) -> io::Result<File> {
        self.expect_file(name)?;
        let (file, names) = self.open_plain(name.as_ref(), how)?;
        if names == 1 {
            return Ok(file);
        }
        Err(io::Error::other(
            "has another name elsewhere (a hard link), under which it would change as well: copy it",
        ))
    }

    /// Opens an entry that must be a plain file; returns its number of hard links, too.
    fn open_plain(&self, name: &OsStr, how: OFlags) -> io::Result<(File, u64)> {
        let handle = openat(&*self.handle, name, PLAINLY | how, FILE)?;
        // Checked on the open file: the entry may have been exchanged since the first check.
        let status = fstat(&handle)?;
        let kind = FileType::from_raw_mode(status.st_mode);
        if kind != FileType::RegularFile {
            return Err(unexpected(kind, FileType::RegularFile));
        }
        #[allow(clippy::useless_conversion, reason = "of another width on other processors")]
        Ok((File::from(handle), u64::from(status.st_nlink)))
    }

    /// Checks the kind of an entry; returns its length in bytes.
    fn expect(&self, name: &OsStr, expected: FileType) -> io::Result<u64> {
        let status = statat(&*self.handle, name, AtFlags::SYMLINK_NOFOLLOW)?;
        let kind = FileType::from_raw_mode(status.st_mode);
        if kind == expected { Ok(status.st_size as u64) } else { Err(unexpected(kind, expected)) }
    }
}

fn unexpected(kind: FileType, expected: FileType) -> io::Error {
    let name = |kind| match kind {
        FileType::RegularFile => "a plain file",
        FileType::Directory => "a folder",
        FileType::Symlink => "a symbolic link",
        FileType::Fifo => "a FIFO",
        FileType::Socket => "a socket",
        FileType::BlockDevice | FileType::CharacterDevice => "a device",
        FileType::Unknown => "of an unknown kind",
    };
    io::Error::other(format!("is {}, and must be {}", name(kind), name(expected)))
}
