//! What is done to a served content, as a log.

use super::{CAPACITY, Writer};
use crate::error::TortureError;
use outlast_serve::Journal;
use outlast_units::{Bytes, SECTOR_BYTES};
use std::fs::File;
use std::io::{self, BufWriter};
use std::ops::Range;
use std::path::Path;

/// Keeps what it is told in a log.
#[derive(Debug)]
pub struct Recorder(Writer<BufWriter<File>>);

impl Recorder {
    /// Begins the log at `path`, whatever was there before, of a device of `size` bytes.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn create(path: &Path, size: Bytes) -> Result<Self, TortureError> {
        let file = File::options().write(true).create(true).truncate(true).open(path);
        let begun = file.and_then(|file| {
            let mut writer = Writer::new(BufWriter::new(file))?;
            writer.mark(&format!("{CAPACITY}{}", size.0))?;
            writer.commit()?;
            Ok(Self(writer))
        });
        begun.map_err(|source| TortureError::Io { path: path.to_owned(), source })
    }
}

impl Journal for Recorder {
    fn write(&mut self, offset: u64, mut data: &[u8], fua: bool) -> io::Result<()> {
        self.0.write(offset / SECTOR_BYTES, data.len() as u64 / SECTOR_BYTES, fua, &mut data)
    }

    fn zero(&mut self, range: Range<u64>, fua: bool) -> io::Result<()> {
        self.0.discard(range.start / SECTOR_BYTES, (range.end - range.start) / SECTOR_BYTES, fua)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }

    fn end(&mut self) -> io::Result<()> {
        self.0.commit()
    }
}
