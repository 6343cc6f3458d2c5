//! The log of inputs: segments of records, and the clock beside them.

mod clock;
mod reader;
mod record;
mod writer;

pub use clock::Acknowledged;
pub use reader::{Damage, Reader};
pub(crate) use record::PAYLOAD;
pub use record::{LONGEST, Record};
pub use writer::{Log, LogOptions};

/// The format of images: another one is refused, as is a log that this version of the simulator would make something else of. It grows with
/// either; `tests/image.rs` has a log with what must come of it.
pub const VERSION: u32 = 2;

/// Where a record lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Of which image.
    pub image: u64,
    /// In which segment, counted from 1.
    pub segment: u32,
    /// At which byte of it.
    pub offset: u64,
}

impl Place {
    fn to_bytes(self) -> [u8; 20] {
        let mut bytes = [0; 20];
        bytes[..8].copy_from_slice(&self.image.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.segment.to_le_bytes());
        bytes[12..].copy_from_slice(&self.offset.to_le_bytes());
        bytes
    }
}

/// What a segment begins with.
const MAGIC: [u8; 8] = *b"outlast\n";
/// Bytes before the first record of a segment.
pub const SEGMENT_HEADER: usize = 28;

/// The header of a segment: magic, version, image, segment, and their CRC-32C.
pub fn segment_header(image: u64, segment: u32) -> [u8; SEGMENT_HEADER] {
    let mut bytes = [0; SEGMENT_HEADER];
    bytes[..8].copy_from_slice(&MAGIC);
    bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
    bytes[12..20].copy_from_slice(&image.to_le_bytes());
    bytes[20..24].copy_from_slice(&segment.to_le_bytes());
    let sum = crc32c::crc32c(&bytes[..24]);
    bytes[24..].copy_from_slice(&sum.to_le_bytes());
    bytes
}

/// The name of a segment's file, and of a checkpoint that begins with it.
pub(crate) fn segment_name(segment: u32) -> String {
    format!("{segment:08}")
}
