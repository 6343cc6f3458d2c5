//! A log that is being written.

use super::{ENTRY, MAGIC, VERSION, flag, is_sector_size};
use outlast_units::SECTOR_BYTES;
use std::io::{self, Read, Seek, SeekFrom, Write};

/// What `replay-log` of xfstests makes zero at once on what has no discards; what is longer it leaves as it is.
const DISCARD_MAX: u64 = (128 << 20) / SECTOR_BYTES;

/// Writes a log whose sectors have 512 bytes, whatever a device asks for: each write of a host then fits.
#[derive(Debug)]
pub struct Writer<W> {
    to: W,
    entries: u64,
}

impl<W: Write + Seek> Writer<W> {
    /// The longest mark, in bytes: one byte behind it is zero, as readers expect.
    pub const MARK_MAX: usize = SECTOR_BYTES as usize - ENTRY - 1;

    /// Begins a log at the beginning of `to`, which is empty.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn new(to: W) -> io::Result<Self> {
        debug_assert!(is_sector_size(SECTOR_BYTES), "the format has such sectors");
        let mut own = Self { to, entries: 0 };
        own.head()?;
        Ok(own)
    }

    fn head(&mut self) -> io::Result<()> {
        let mut head = [0; SECTOR_BYTES as usize];
        for (slot, word) in head.chunks_exact_mut(8).zip([MAGIC, VERSION, self.entries, SECTOR_BYTES]) {
            slot.copy_from_slice(&word.to_le_bytes());
        }
        self.to.write_all(&head)
    }

    fn entry(&mut self, flags: u64, lba: u64, sectors: u64, text: &[u8]) -> io::Result<()> {
        let mut entry = [0; SECTOR_BYTES as usize];
        for (slot, word) in entry.chunks_exact_mut(8).zip([lba, sectors, flags, text.len() as u64]) {
            slot.copy_from_slice(&word.to_le_bytes());
        }
        entry[ENTRY..ENTRY + text.len()].copy_from_slice(text);
        self.entries += 1;
        self.to.write_all(&entry)
    }

    /// A write whose bytes come from `data`.
    ///
    /// # Errors
    /// It cannot be written, or `data` has too little.
    pub fn write(&mut self, lba: u64, sectors: u64, fua: bool, data: &mut dyn Read) -> io::Result<()> {
        self.entry(if fua { flag::FUA } else { 0 }, lba, sectors, &[])?;
        let bytes = sectors * SECTOR_BYTES;
        let copied = io::copy(&mut data.take(bytes), &mut self.to)?;
        if copied < bytes { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
    }

    /// A discard. A long one becomes several, none longer than 128 MiB.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn discard(&mut self, lba: u64, sectors: u64, fua: bool) -> io::Result<()> {
        let flags = flag::DISCARD | if fua { flag::FUA } else { 0 };
        let (mut at, end) = (lba, lba + sectors);
        while at < end {
            let count = (end - at).min(DISCARD_MAX);
            self.entry(flags, at, count, &[])?;
            at += count;
        }
        Ok(())
    }

    /// A flush.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn flush(&mut self) -> io::Result<()> {
        self.entry(flag::FLUSH, 0, 0, &[])
    }

    /// A mark.
    ///
    /// # Errors
    /// It cannot be written, or is longer than [`Writer::MARK_MAX`] bytes.
    pub fn mark(&mut self, text: &str) -> io::Result<()> {
        if text.len() > Self::MARK_MAX {
            let (start, limit) = (&text[..text.floor_char_boundary(40)], Self::MARK_MAX);
            let why = format!("mark \"{start}…\" has {} bytes; the format has room for {limit}", text.len());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        self.entry(flag::MARK, 0, 0, text.as_bytes())
    }

    /// Puts the number of entries into the head: what was written so far can be read.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn commit(&mut self) -> io::Result<()> {
        let end = self.to.stream_position()?;
        self.to.rewind()?;
        self.head()?;
        self.to.seek(SeekFrom::Start(end))?;
        self.to.flush()
    }

    /// Ends the log.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn end(mut self) -> io::Result<W> {
        self.commit()?;
        Ok(self.to)
    }
}
