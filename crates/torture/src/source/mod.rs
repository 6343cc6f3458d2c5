//! Where recordings come from.

mod copy;
mod image;
pub mod list;
pub mod log_writes;

pub use image::history_of_image;
pub use list::history_of_list;
pub use log_writes::history_of_log_writes;

use copy::copy_of;
use outlast_units::SECTOR_BYTES;
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

/// How the mark begins in which what we write has the size of its device, in bytes: the formats have no other place for it.
const CAPACITY: &str = "outlast:capacity ";

fn capacity_mark(sectors: u64) -> String {
    format!("{CAPACITY}{}", sectors * SECTOR_BYTES)
}

/// The sectors of the device, if the text is such a mark.
fn capacity_in(text: &str) -> Option<u64> {
    let bytes: u64 = text.strip_prefix(CAPACITY)?.parse().ok()?;
    Some(bytes / SECTOR_BYTES)
}
