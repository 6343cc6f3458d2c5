//! Where recordings come from.

mod image;

pub use image::history_of_image;

use std::fmt::Debug;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Files that hold the bytes of writes.
pub trait Source: Debug + Send + Sync {
    /// Fills `to` from byte `offset` of `file` on.
    ///
    /// # Errors
    /// It cannot be read.
    fn read(&self, file: u32, offset: u64, to: &mut [u8]) -> io::Result<()>;
}

/// Open files, by number.
#[derive(Debug)]
pub struct Files(pub Vec<File>);

impl Source for Files {
    fn read(&self, file: u32, offset: u64, to: &mut [u8]) -> io::Result<()> {
        let file = self.0.get(file as usize).ok_or(io::ErrorKind::NotFound)?;
        file.read_exact_at(to, offset)
    }
}

/// No files: all writes are of zeroes. Or bytes in memory.
impl Source for Vec<u8> {
    fn read(&self, _file: u32, offset: u64, to: &mut [u8]) -> io::Result<()> {
        let from = usize::try_from(offset).ok().and_then(|from| self.get(from..from + to.len()));
        to.copy_from_slice(from.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }
}
