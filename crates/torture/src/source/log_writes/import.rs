//! A log as a history.

use super::{Damage, Entry, Logged, Reader};
use crate::error::TortureError;
use crate::history::{Builder, Data, History};
use crate::source::{Files, capacity_in};
use outlast_units::{Lba, Nanos, SECTOR_BYTES};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

/// What a device was asked, of which the file at `path` is a log.
///
/// There are no times, and nothing is under way for longer than an entry: it arrives and completes. A log of ours says how large its device is; of
/// any other it ends where the furthest entry does, which for a log with its mkfs is the end, as that writes or discards there. Discards before
/// the first write change nothing and are left out: mkfs discards a whole device.
///
/// # Errors
/// The file cannot be read, or is damaged.
pub fn history_of_log_writes(path: &Path) -> Result<History, TortureError> {
    let io = |source| TortureError::Io { path: path.to_owned(), source };
    let damaged = |damage| match damage {
        Damage::Io(source) => io(source),
        Damage::At { .. } => TortureError::Foreign { path: path.to_owned(), why: damage.to_string() },
    };
    let file = File::options().read(true).open(path).map_err(io)?;
    let mut reader = Reader::new(BufReader::new(file.try_clone().map_err(io)?)).map_err(damaged)?;
    let mut device = Device::default();
    while let Some(entry) = reader.next_entry().map_err(damaged)? {
        device.take(entry).map_err(|why| TortureError::Foreign { path: path.to_owned(), why })?;
    }
    let capacity = device.capacity.unwrap_or(device.end);
    device.builder.finish(capacity, false, Box::new(Files(vec![file]))).map_err(io)
}

#[derive(Default)]
struct Device {
    builder: Builder,
    /// Sectors, where the log says so.
    capacity: Option<u64>,
    /// The sector behind the furthest that an entry has.
    end: u64,
    /// Whether something has been written.
    has_data: bool,
}

impl Device {
    fn now(&self) -> Nanos {
        Nanos(self.builder.len() as u64)
    }

    /// An entry of the log; why it cannot be one.
    fn take(&mut self, Entry { flush, fua, what }: Entry) -> Result<(), String> {
        if flush {
            let id = self.builder.flush(self.now());
            self.builder.flush_done(self.now(), id);
        }
        match what {
            Logged::Nothing => Ok(()),
            Logged::Mark(text) => {
                match capacity_in(&text) {
                    Some(capacity) => self.capacity = Some(capacity),
                    None => self.builder.mark(self.now(), text),
                }
                Ok(())
            }
            Logged::Write { lba, sectors, payload } => {
                self.has_data = true;
                self.write(lba, sectors, Some(payload), fua)
            }
            Logged::Discard { lba, sectors } if self.has_data => self.write(lba, sectors, None, fua),
            Logged::Discard { lba, sectors } => self.reach(lba + sectors),
        }
    }

    /// The device is at least so many sectors long.
    fn reach(&mut self, end: u64) -> Result<(), String> {
        self.end = self.end.max(end);
        match self.capacity {
            Some(capacity) if end > capacity => {
                Err(format!("an entry ends at sector {end} of a device of {capacity} sectors"))
            }
            _ => Ok(()),
        }
    }

    /// A write, or a discard; in pieces that a history has numbers for.
    fn write(&mut self, lba: u64, sectors: u64, payload: Option<u64>, fua: bool) -> Result<(), String> {
        /// Sectors of a piece at most: a tebibyte.
        const PIECE: u64 = 1 << 31;
        self.reach(lba + sectors)?;
        let mut done = 0;
        while done < sectors {
            let count = (sectors - done).min(PIECE);
            let data = payload.map_or(Data::Zeroes, |payload| {
                let offset = payload + done * SECTOR_BYTES;
                Data::At { file: 0, offset }
            });
            let (now, flags) = (self.now(), (fua, payload.is_none()));
            let id = self.builder.write(now, Lba(lba + done), count as u32, data, flags);
            self.builder.write_done(self.now(), id);
            done += count;
        }
        Ok(())
    }
}
