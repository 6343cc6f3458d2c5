//! Entries of a log, one after another.

use super::{
    ENTRY, EntryContent, HEAD, LogWritesDamage, LogWritesEntry, MAGIC, SECTOR_MAX, SECTOR_MIN, VERSION, flag,
    is_sector_size,
};
use outlast_units::SECTOR_BYTES;
use std::io::{Read, Seek, SeekFrom};

/// Reader of the entries of a log, which skips their data.
#[derive(Debug)]
pub struct LogWritesReader<R> {
    from: R,
    /// Byte at which the next entry begins.
    at: u64,
    /// Length of the log in bytes.
    end: u64,
    /// Bytes of a sector.
    sector: u64,
    /// Entries not yet read.
    left: u64,
}

fn word(bytes: &[u8], index: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[8 * index..8 * index + 8]);
    u64::from_le_bytes(word)
}

fn damage<T>(at: u64, what: impl Into<String>) -> Result<T, LogWritesDamage> {
    Err(LogWritesDamage::At { at, what: what.into() })
}

impl<R: Read + Seek> LogWritesReader<R> {
    /// Reads the head.
    ///
    /// # Errors
    /// The head is not that of a log.
    pub fn new(mut from: R) -> Result<Self, LogWritesDamage> {
        let end = from.seek(SeekFrom::End(0))?;
        from.rewind()?;
        if end < HEAD as u64 {
            return damage(end, format!("the log ends within its head of {HEAD} bytes"));
        }
        let mut head = [0; HEAD];
        from.read_exact(&mut head)?;
        let (magic, version, left) = (word(&head, 0), word(&head, 1), word(&head, 2));
        let sector = u64::from(u32::from_le_bytes([head[24], head[25], head[26], head[27]]));
        if magic != MAGIC {
            return damage(0, format!("magic {magic:#018x} is not {MAGIC:#018x}"));
        }
        if version != VERSION {
            return damage(8, format!("version {version} is not {VERSION}"));
        }
        if !is_sector_size(sector) {
            let what = format!(
                "sectors of {sector} bytes; must be a power of two from {SECTOR_MIN} to {SECTOR_MAX}"
            );
            return damage(24, what);
        }
        from.seek(SeekFrom::Start(sector))?;
        Ok(Self { from, at: sector, end, sector, left })
    }

    /// Number of entries not yet read.
    pub fn left(&self) -> u64 {
        self.left
    }

    /// The next entry; `None` at the end.
    ///
    /// # Errors
    /// The entry is malformed, or the file cannot be read.
    pub fn next_entry(&mut self) -> Result<Option<LogWritesEntry>, LogWritesDamage> {
        if self.left == 0 {
            return Ok(None);
        }
        let at = self.at;
        if self.end.saturating_sub(at) < self.sector {
            return damage(
                at.min(self.end),
                format!("the log ends here, {} entries before its last", self.left),
            );
        }
        let mut head = [0; ENTRY + 1];
        self.from.read_exact(&mut head)?;
        let (first, sectors, flags, length) =
            (word(&head, 0), word(&head, 1), word(&head, 2), word(&head, 3));
        if flags & !flag::ALL != 0 {
            return damage(at + 16, format!("an entry has unknown flags {flags:#x}"));
        }
        if flags == 0 && sectors == 0 {
            return damage(at, "an entry of no sectors without flags");
        }
        let is_mark = flags & flag::MARK != 0;
        if !is_mark && head[ENTRY] != 0 {
            return damage(at + ENTRY as u64, "an entry that is not a mark has data behind its head");
        }
        let has_data = flags & flag::DISCARD == 0;
        let scale = self.sector / SECTOR_BYTES;
        let end_of_range = first.checked_add(sectors).and_then(|end| end.checked_mul(self.sector));
        if end_of_range.is_none_or(|end| end > i64::MAX as u64) {
            return damage(at, format!("{sectors} sectors from {first} on lie beyond 2^63 bytes"));
        }
        let payload = at + self.sector;
        self.at = payload + if has_data { sectors * self.sector } else { 0 };
        if self.at > self.end {
            let missing = self.at - self.end;
            return damage(at, format!("the log ends {missing} bytes before the data of this entry does"));
        }
        let (lba, sectors) = (first * scale, sectors * scale);
        let content = if is_mark {
            EntryContent::Mark(self.mark(at, length, head[ENTRY])?)
        } else if sectors == 0 {
            EntryContent::Nothing
        } else if has_data {
            EntryContent::Write { lba, sectors, payload }
        } else {
            EntryContent::Discard { lba, sectors }
        };
        let read = ENTRY as u64 + 1 + if is_mark { length.saturating_sub(1) } else { 0 };
        self.from.seek_relative((self.at - at - read).cast_signed())?;
        self.left -= 1;
        Ok(Some(LogWritesEntry { flush: flags & flag::FLUSH != 0, fua: flags & flag::FUA != 0, content }))
    }

    /// The text of the mark at `at`, of which the first byte has been read.
    fn mark(&mut self, at: u64, length: u64, first: u8) -> Result<String, LogWritesDamage> {
        let room = self.sector - ENTRY as u64;
        if length > room {
            return damage(at + 24, format!("a mark of {length} bytes; its sector has room for {room}"));
        }
        let mut text = vec![first; length as usize];
        if length > 1 {
            self.from.read_exact(&mut text[1..])?;
        }
        Ok(String::from_utf8_lossy(&text).into_owned())
    }
}
