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
pub use reader::Reader;
pub use recorder::Recorder;
pub use writer::Writer;

use outlast_units::SECTOR_BYTES;
use std::io;
use thiserror::Error;

/// The first eight bytes.
pub const MAGIC: u64 = 0x006a_7366_7773_6872;
/// The only version there is.
const VERSION: u64 = 1;
/// Bytes of the head, and of an entry before its mark.
const HEAD: usize = 28;
const ENTRY: usize = 32;
/// Bytes of a sector: Linux has up to 4096, QEMU less than 16 MiB.
const SECTOR_MIN: u64 = SECTOR_BYTES;
const SECTOR_MAX: u64 = 8 << 20;

/// Flags of an entry.
mod flag {
    pub(super) const FLUSH: u64 = 1;
    pub(super) const FUA: u64 = 2;
    pub(super) const DISCARD: u64 = 4;
    pub(super) const MARK: u64 = 8;
    /// What a file system said of a write; it has no bearing on what a device may lose.
    pub(super) const METADATA: u64 = 16;
    pub(super) const ALL: u64 = FLUSH | FUA | DISCARD | MARK | METADATA;
}

/// An entry of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// All entries before it were completed before a flush that has completed.
    pub flush: bool,
    /// It is durable by itself.
    pub fua: bool,
    /// What it brings, after the flush.
    pub what: Logged,
}

/// What an entry brings. Sectors have 512 bytes, whatever those of the log have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Logged {
    /// Nothing: a flush alone.
    Nothing,
    /// A write.
    Write {
        /// Its first sector.
        lba: u64,
        /// How many it has.
        sectors: u64,
        /// The byte of the log at which its data begins.
        payload: u64,
    },
    /// A discard: its sectors read as zeroes.
    Discard {
        /// Its first sector.
        lba: u64,
        /// How many it has.
        sectors: u64,
    },
    /// A mark.
    Mark(String),
}

/// Why a log cannot be read.
#[derive(Debug, Error)]
pub enum Damage {
    /// It is not what it should be.
    #[error("byte {at}: {what}")]
    At {
        /// Where.
        at: u64,
        /// What is wrong there.
        what: String,
    },
    /// The system cannot read it.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Whether a log may have sectors of so many bytes.
fn is_sector_size(bytes: u64) -> bool {
    bytes.is_power_of_two() && (SECTOR_MIN..=SECTOR_MAX).contains(&bytes)
}
