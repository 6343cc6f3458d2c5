//! Recording of a served crash state as a log.

use super::LogWritesWriter;
use crate::error::TortureError;
use crate::history::CommandHistory;
use crate::source::capacity_mark;
use crate::state::CrashState;
use outlast_serve::ContentJournal;
use outlast_units::SECTOR_BYTES;
use std::fs::File;
use std::io::{self, BufWriter};
use std::ops::Range;
use std::path::Path;

/// A content journal that writes a log.
#[derive(Debug)]
pub struct LogWritesRecorder(LogWritesWriter<BufWriter<File>>);

impl LogWritesRecorder {
    /// Begins the log at `path`, whatever was there before: with the content of `state`, flushed, and the mark that what follows counts. Unreadable sectors
    /// have what the writes gave them.
    ///
    /// # Errors
    /// The log cannot be written, or bytes of the recording cannot be read.
    pub fn begin(path: &Path, history: &CommandHistory, state: &CrashState) -> Result<Self, TortureError> {
        let file = File::options().write(true).create(true).truncate(true).open(path);
        let begun = file.and_then(|file| {
            let mut log = LogWritesWriter::new(BufWriter::new(file))?;
            log.mark(&capacity_mark(history.capacity))?;
            state.visit(history, 0..history.capacity, |lba, mut bytes| {
                log.write(lba, bytes.len() as u64 / SECTOR_BYTES, false, &mut bytes)
            })?;
            log.flush()?;
            log.mark("outlast:begin")?;
            log.commit()?;
            Ok(Self(log))
        });
        begun.map_err(|source| TortureError::Io { path: path.to_owned(), source })
    }
}

impl ContentJournal for LogWritesRecorder {
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
