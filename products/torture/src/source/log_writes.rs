//! The format of `dm-log-writes`, which Linux (drivers/md/dm-log-writes.c), xfstests (src/log-writes) and QEMU (block/blklogwrites.c) share.
//!
//! A log is a row of sectors of one size, a power of two: first its head (magic, version, number of entries, bytes of a sector; 8, 8, 8 and 4
//! bytes, little-endian), then the entries. An entry has a sector of its own (first sector, sectors, flags, length of a mark; 8 bytes each, then
//! the mark, then zeroes), and behind that, unless it is a discard, its data. An entry is a write that has completed; one with the flag of a
//! flush says that all before it had completed before a flush, which has completed, too.

mod export;
mod import;
mod reader;
mod recorder;
mod writer;

pub use export::export;
pub use import::history_of_log_writes;
pub use reader::LogWritesReader;
pub use recorder::LogWritesRecorder;
pub use writer::LogWritesWriter;

use outlast_units::SECTOR_BYTES;
use std::io;
use thiserror::Error;

/// Magic number: the first eight bytes of a log.
pub const MAGIC: u64 = 0x006a_7366_7773_6872;
/// Version of the format; there is no other.
const VERSION: u64 = 1;
/// Bytes of the head of a log.
const HEAD: usize = 28;
/// Bytes of an entry before its mark.
const ENTRY: usize = 32;
/// Range of the bytes of a sector: Linux writes up to 4096, QEMU reads less than 16 MiB.
const SECTOR_MIN: u64 = SECTOR_BYTES;
const SECTOR_MAX: u64 = 8 << 20;

/// Flags of an entry.
mod flag {
    pub(super) const FLUSH: u64 = 1;
    pub(super) const FUA: u64 = 2;
    pub(super) const DISCARD: u64 = 4;
    pub(super) const MARK: u64 = 8;
    /// Set by file systems on writes of metadata; of no consequence for a device.
    pub(super) const METADATA: u64 = 16;
    pub(super) const ALL: u64 = FLUSH | FUA | DISCARD | MARK | METADATA;
}

/// An entry of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogWritesEntry {
    /// True if a completed flush covers all entries before this one.
    pub flush: bool,
    /// Forced unit access: the write itself is durable.
    pub fua: bool,
    /// Operation of the entry, which comes after its flush.
    pub content: EntryContent,
}

/// Operation of an entry. Sectors here have 512 bytes, whatever the sector size of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryContent {
    /// No operation: a flush alone.
    Nothing,
    /// A write.
    Write {
        /// First sector.
        lba: u64,
        /// Number of sectors.
        sectors: u64,
        /// Byte of the log at which the data begin.
        payload: u64,
    },
    /// A discard: its sectors read as zeroes.
    Discard {
        /// First sector.
        lba: u64,
        /// Number of sectors.
        sectors: u64,
    },
    /// A mark.
    Mark(String),
}

/// Reason why a log cannot be read.
#[derive(Debug, Error)]
pub enum LogWritesDamage {
    /// The log is malformed.
    #[error("byte {at}: {what}")]
    At {
        /// Byte at which it is malformed.
        at: u64,
        /// Description of the error.
        what: String,
    },
    /// The system cannot read the file.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// True if a log may have sectors of `bytes` bytes.
fn is_sector_size(bytes: u64) -> bool {
    bytes.is_power_of_two() && (SECTOR_MIN..=SECTOR_MAX).contains(&bytes)
}
