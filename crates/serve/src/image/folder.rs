//! A folder of files that somebody else may have made: no entry of it leads out of it.
//!
//! An image is passed on as an archive, and archives keep links. So an entry counts only if it is a plain file or a folder, is opened without
//! following, and is looked at again once it is open, for it may have been exchanged in between. The folder itself is opened once, by the path
//! that the user gave, which may be a link.

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, fstat, mkdirat, openat, renameat, statat, unlinkat};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How entries are opened: neither through a link, nor waiting for the other end of a FIFO.
const PLAINLY: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);
/// As files and folders are made everywhere: the umask takes its part.
const FILE: Mode = Mode::from_raw_mode(0o666);
const FOLDER: Mode = Mode::from_raw_mode(0o777);

/// An open folder. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct Folder {
    /// For messages.
    path: PathBuf,
    handle: Arc<OwnedFd>,
}

impl Folder {
    /// The folder that a user named; `path` may be a link.
    ///
    /// # Errors
    /// It is no folder, or cannot be opened.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let how = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let handle = rustix::fs::open(path, how, Mode::empty())?;
        Ok(Self { path: path.to_owned(), handle: Arc::new(handle) })
    }

    /// The path of an entry, for messages.
    pub(crate) fn path_of(&self, name: impl AsRef<Path>) -> PathBuf {
        self.path.join(name)
    }

    /// Its own path, for messages.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether there is an entry of that name, of whatever kind.
    pub(crate) fn has(&self, name: impl AsRef<OsStr>) -> bool {
        statat(&*self.handle, name.as_ref(), AtFlags::SYMLINK_NOFOLLOW).is_ok()
    }

    /// The names of all entries, in order.
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

    /// Bytes of a plain file.
    pub(crate) fn size(&self, name: impl AsRef<OsStr>) -> io::Result<u64> {
        self.expect(name.as_ref(), FileType::RegularFile)
    }

    /// A folder in it.
    pub(crate) fn inner(&self, name: &str) -> io::Result<Self> {
        self.expect_folder(name)?;
        let how = PLAINLY | OFlags::RDONLY | OFlags::DIRECTORY;
        let handle = openat(&*self.handle, name, how, Mode::empty())?;
        Ok(Self { path: self.path.join(name), handle: Arc::new(handle) })
    }

    /// A folder in it, which is made if there is none.
    pub(crate) fn make_inner(&self, name: &str) -> io::Result<Self> {
        match mkdirat(&*self.handle, name, FOLDER) {
            Ok(()) | Err(Errno::EXIST) => self.inner(name),
            Err(error) => Err(error.into()),
        }
    }

    /// A file to be read.
    pub(crate) fn read(&self, name: impl AsRef<OsStr>) -> io::Result<File> {
        self.expect_file(&name)?;
        self.opened(name.as_ref(), OFlags::RDONLY).map(|(file, _)| file)
    }

    /// All of a file, which has at most `limit` bytes.
    pub(crate) fn read_all(&self, name: &str, limit: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.read(name)?.take(limit + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > limit {
            return Err(io::Error::other(format!("is longer than {limit} bytes")));
        }
        Ok(bytes)
    }

    /// A file to be written in place. It has no second name, under which something else would be written, too.
    pub(crate) fn write(&self, name: &str) -> io::Result<File> {
        self.own(name, OFlags::WRONLY)
    }

    /// A file to be written at its end; otherwise as [`Folder::write`].
    pub(crate) fn append(&self, name: &str) -> io::Result<File> {
        self.own(name, OFlags::WRONLY | OFlags::APPEND)
    }

    /// A file that is there from now on, with what it has.
    pub(crate) fn open_or_create(&self, name: &str) -> io::Result<File> {
        if self.has(name) {
            self.expect_file(name)?;
        }
        self.opened(name.as_ref(), OFlags::WRONLY | OFlags::CREATE).map(|(file, _)| file)
    }

    /// A new file. What had its name loses only the name: if that was a link, what it leads to stays as it is.
    pub(crate) fn create(&self, name: impl AsRef<OsStr>) -> io::Result<File> {
        self.remove_if_there(&name)?;
        self.opened(name.as_ref(), OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL).map(|(file, _)| file)
    }

    /// An entry gets another name; what had it is gone.
    pub(crate) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        Ok(renameat(&*self.handle, from, &*self.handle, to)?)
    }

    /// A file is no longer in it.
    pub(crate) fn remove(&self, name: impl AsRef<OsStr>) -> io::Result<()> {
        Ok(unlinkat(&*self.handle, name.as_ref(), AtFlags::empty())?)
    }

    /// The same, of a file that may not be there.
    pub(crate) fn remove_if_there(&self, name: impl AsRef<OsStr>) -> io::Result<()> {
        match self.remove(name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            done => done,
        }
    }

    /// An empty folder is no longer in it.
    pub(crate) fn remove_folder(&self, name: &str) -> io::Result<()> {
        Ok(unlinkat(&*self.handle, name, AtFlags::REMOVEDIR)?)
    }

    /// Its entries survive a crash of the host from now on.
    pub(crate) fn sync(&self) -> io::Result<()> {
        Ok(rustix::fs::fsync(&*self.handle)?)
    }

    fn own(&self, name: &str, how: OFlags) -> io::Result<File> {
        self.expect_file(name)?;
        let (file, names) = self.opened(name.as_ref(), how)?;
        if names == 1 {
            return Ok(file);
        }
        Err(io::Error::other(
            "has another name elsewhere (a hard link), under which it would change as well: copy it",
        ))
    }

    /// An entry, and how many names it has.
    fn opened(&self, name: &OsStr, how: OFlags) -> io::Result<(File, u64)> {
        let handle = openat(&*self.handle, name, PLAINLY | how, FILE)?;
        let found = fstat(&handle)?;
        let kind = FileType::from_raw_mode(found.st_mode);
        if kind != FileType::RegularFile {
            return Err(unexpected(kind, FileType::RegularFile));
        }
        #[allow(clippy::useless_conversion, reason = "of another width on other processors")]
        Ok((File::from(handle), u64::from(found.st_nlink)))
    }

    /// Checks the kind of an entry; returns its bytes.
    fn expect(&self, name: &OsStr, expected: FileType) -> io::Result<u64> {
        let found = statat(&*self.handle, name, AtFlags::SYMLINK_NOFOLLOW)?;
        let kind = FileType::from_raw_mode(found.st_mode);
        if kind == expected { Ok(found.st_size as u64) } else { Err(unexpected(kind, expected)) }
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
