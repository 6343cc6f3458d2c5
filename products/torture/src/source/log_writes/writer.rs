//! Writing a log.

use super::{ENTRY, MAGIC, VERSION, flag, is_sector_size};
use outlast_units::SECTOR_BYTES;
use std::io::{self, Read, Seek, SeekFrom, Write};

/// Longest discard of an entry, 128 MiB: `replay-log` of xfstests, on a device without discards, zeroes no longer ones.
const MAX_DISCARD_SECTORS: u64 = (128 << 20) / SECTOR_BYTES;

/// Writes a log whose sectors have 512 bytes, whatever a device asks for: each write of a host then fits.
#[derive(Debug)]
pub struct LogWritesWriter<W> {
    to: W,
    entries: u64,
}

impl<W: Write + Seek> LogWritesWriter<W> {
    /// The longest mark, in bytes: one byte behind it is zero, as readers expect.
    pub const MARK_MAX: usize = SECTOR_BYTES as usize - ENTRY - 1;

    /// Begins a log at the beginning of `to`, which is empty.
    ///
    /// # Errors
    /// The log cannot be written.
    pub fn new(to: W) -> io::Result<Self> {
        debug_assert!(is_sector_size(SECTOR_BYTES), "the format has such sectors");
        let mut writer = Self { to, entries: 0 };
        writer.write_head()?;
        Ok(writer)
    }

    fn write_head(&mut self) -> io::Result<()> {
        let mut head = [0; SECTOR_BYTES as usize];
        for (slot, word) in head.chunks_exact_mut(8).zip([MAGIC, VERSION, self.entries, SECTOR_BYTES]) {
            slot.copy_from_slice(&word.to_le_bytes());
        }
        self.to.write_all(&head)
    }

    fn write_entry(&mut self, flags: u64, lba: u64, sectors: u64, text: &[u8]) -> io::Result<()> {
        let mut entry = [0; SECTOR_BYTES as usize];
        for (slot, word) in entry.chunks_exact_mut(8).zip([lba, sectors, flags, text.len() as u64]) {
            slot.copy_from_slice(&word.to_le_bytes());
        }
        entry[ENTRY..ENTRY + text.len()].copy_from_slice(text);
        self.entries += 1;
        self.to.write_all(&entry)
    }

    /// Adds a write whose bytes come from `data`.
    ///
    /// # Errors
    /// The log cannot be written, or `data` ends early.
    pub fn write(&mut self, lba: u64, sectors: u64, fua: bool, data: &mut dyn Read) -> io::Result<()> {
        self.write_entry(if fua { flag::FUA } else { 0 }, lba, sectors, &[])?;
        let bytes = sectors * SECTOR_BYTES;
        let copied = io::copy(&mut data.take(bytes), &mut self.to)?;
        if copied < bytes { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
    }

    /// Adds a discard; one longer than 128 MiB becomes several entries.
    ///
    /// # Errors
    /// The log cannot be written.
    pub fn discard(&mut self, lba: u64, sectors: u64, fua: bool) -> io::Result<()> {
        let flags = flag::DISCARD | if fua { flag::FUA } else { 0 };
        let (mut at, end) = (lba, lba + sectors);
        while at < end {
            let count = (end - at).min(MAX_DISCARD_SECTORS);
            self.write_entry(flags, at, count, &[])?;
            at += count;
        }
        Ok(())
    }

    /// Adds a flush.
    ///
    /// # Errors
    /// The log cannot be written.
    pub fn flush(&mut self) -> io::Result<()> {
        self.write_entry(flag::FLUSH, 0, 0, &[])
    }

    /// Adds a mark.
    ///
    /// # Errors
    /// The log cannot be written, or the mark is longer than [`LogWritesWriter::MARK_MAX`] bytes.
    pub fn mark(&mut self, text: &str) -> io::Result<()> {
        if text.len() > Self::MARK_MAX {
            let (start, limit) = (&text[..text.floor_char_boundary(40)], Self::MARK_MAX);
            let why = format!("mark \"{start}…\" has {} bytes; the format has room for {limit}", text.len());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        self.write_entry(flag::MARK, 0, 0, text.as_bytes())
    }

    /// Puts the number of entries into the head: what was written so far can be read.
    ///
    /// # Errors
    /// The log cannot be written.
    pub fn commit(&mut self) -> io::Result<()> {
        let end = self.to.stream_position()?;
        self.to.rewind()?;
        self.write_head()?;
        self.to.seek(SeekFrom::Start(end))?;
        self.to.flush()
    }

    /// Ends the log.
    ///
    /// # Errors
    /// The log cannot be written.
    pub fn end(mut self) -> io::Result<W> {
        self.commit()?;
        Ok(self.to)
    }
}
