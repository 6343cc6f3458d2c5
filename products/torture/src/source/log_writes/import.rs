//! Reading a log as a history.

use super::{EntryContent, LogWritesDamage, LogWritesEntry, LogWritesReader};
use crate::error::TortureError;
use crate::history::{CommandHistory, HistoryBuilder, WriteData};
use crate::source::{PayloadFiles, parse_capacity_mark};
use outlast_units::{Lba, Nanos, SECTOR_BYTES};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

/// Reads the history of the log at `path`.
///
/// A log has no times, and each entry completes on arrival. Logs that Outlast wrote have a mark with the capacity; any other device is taken to end
/// with the furthest entry, which is exact for a log with its mkfs, as that writes or discards the last sectors. Discards before the first write
/// change nothing and are left out: mkfs discards a whole device.
///
/// # Errors
/// The file cannot be read, or the log is malformed.
pub fn history_of_log_writes(path: &Path) -> Result<CommandHistory, TortureError> {
    let io = |source| TortureError::Io { path: path.to_owned(), source };
    let damaged = |damage| match damage {
        LogWritesDamage::Io(source) => io(source),
        LogWritesDamage::At { .. } => {
            TortureError::Foreign { path: path.to_owned(), why: damage.to_string() }
        }
    };
    let file = File::options().read(true).open(path).map_err(io)?;
    let mut reader = LogWritesReader::new(BufReader::new(file.try_clone().map_err(io)?)).map_err(damaged)?;
    let mut import = LogImport::default();
    while let Some(entry) = reader.next_entry().map_err(damaged)? {
        import.apply_entry(entry).map_err(|why| TortureError::Foreign { path: path.to_owned(), why })?;
    }
    let capacity = import.capacity.unwrap_or(import.end);
    import.builder.finish(capacity, false, Box::new(PayloadFiles(vec![file]))).map_err(io)
}

/// State of the import of a log, entry by entry.
#[derive(Default)]
struct LogImport {
    builder: HistoryBuilder,
    /// Sectors of the device, if the log has a capacity mark.
    capacity: Option<u64>,
    /// End of the furthest entry, in sectors.
    end: u64,
    /// True after the first write with data.
    has_data: bool,
}

impl LogImport {
    fn now(&self) -> Nanos {
        Nanos(self.builder.len() as u64)
    }

    /// Adds an entry to the history.
    ///
    /// # Errors
    /// The entry ends beyond the device.
    fn apply_entry(&mut self, LogWritesEntry { flush, fua, content }: LogWritesEntry) -> Result<(), String> {
        if flush {
            let id = self.builder.flush(self.now());
            self.builder.flush_done(self.now(), id);
        }
        match content {
            EntryContent::Nothing => Ok(()),
            EntryContent::Mark(text) => {
                match parse_capacity_mark(&text) {
                    Some(capacity) => self.capacity = Some(capacity),
                    None => self.builder.mark(self.now(), text),
                }
                Ok(())
            }
            EntryContent::Write { lba, sectors, payload } => {
                self.has_data = true;
                self.write(lba, sectors, Some(payload), fua)
            }
            EntryContent::Discard { lba, sectors } if self.has_data => self.write(lba, sectors, None, fua),
            EntryContent::Discard { lba, sectors } => self.extend_to(lba + sectors),
        }
    }

    /// Extends the device to `end` sectors, or refuses if its capacity is less.
    fn extend_to(&mut self, end: u64) -> Result<(), String> {
        self.end = self.end.max(end);
        match self.capacity {
            Some(capacity) if end > capacity => {
                Err(format!("an entry ends at sector {end} of a device of {capacity} sectors"))
            }
            _ => Ok(()),
        }
    }

    /// Adds a write or discard, split so that the number of sectors fits 32 bits.
    fn write(&mut self, lba: u64, sectors: u64, payload: Option<u64>, fua: bool) -> Result<(), String> {
        /// Most sectors of one write: 1 TiB.
        const MAX_WRITE: u64 = 1 << 31;
        self.extend_to(lba + sectors)?;
        let mut done = 0;
        while done < sectors {
            let count = (sectors - done).min(MAX_WRITE);
            let data = payload.map_or(WriteData::Zeroes, |payload| {
                let offset = payload + done * SECTOR_BYTES;
                WriteData::At { file: 0, offset }
            });
            let (now, flags) = (self.now(), (fua, payload.is_none()));
            let id = self.builder.write(now, Lba(lba + done), count as u32, data, flags);
            self.builder.write_done(self.now(), id);
            done += count;
        }
        Ok(())
    }
}
