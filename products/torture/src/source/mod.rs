//! Formats of recordings: images, logs of dm-log-writes, lists of blkparse.

mod image;
pub mod list;
pub mod log_writes;
mod write_reader;

pub use image::history_of_image;
pub use list::history_of_list;
pub use log_writes::history_of_log_writes;

use outlast_units::SECTOR_BYTES;
use std::fmt::Debug;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use write_reader::write_reader;

/// Source of the bytes of writes.
pub trait PayloadSource: Debug + Send + Sync {
    /// Fills `to` from byte `offset` of `file` on.
    ///
    /// # Errors
    /// The file cannot be read.
    fn read(&self, file: u32, offset: u64, to: &mut [u8]) -> io::Result<()>;
}

/// Open files, numbered from 0.
#[derive(Debug)]
pub struct PayloadFiles(pub Vec<File>);

impl PayloadSource for PayloadFiles {
    fn read(&self, file: u32, offset: u64, to: &mut [u8]) -> io::Result<()> {
        let file = self.0.get(file as usize).ok_or(io::ErrorKind::NotFound)?;
        file.read_exact_at(to, offset)
    }
}

/// Bytes in memory, as file 0; empty where all writes are of zeroes.
impl PayloadSource for Vec<u8> {
    fn read(&self, _file: u32, offset: u64, to: &mut [u8]) -> io::Result<()> {
        let from = usize::try_from(offset).ok().and_then(|from| self.get(from..from + to.len()));
        to.copy_from_slice(from.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }
}

/// Prefix of the mark that has the capacity of the device in bytes: the formats have no field for it.
const CAPACITY_PREFIX: &str = "outlast:capacity ";

fn capacity_mark(sectors: u64) -> String {
    format!("{CAPACITY_PREFIX}{}", sectors * SECTOR_BYTES)
}

/// Sectors of the device, if the text is a capacity mark.
fn parse_capacity_mark(text: &str) -> Option<u64> {
    let bytes: u64 = text.strip_prefix(CAPACITY_PREFIX)?.parse().ok()?;
    Some(bytes / SECTOR_BYTES)
}
