//! The log of inputs: segments of records, and the clock file beside them.

mod clock;
mod reader;
mod record;
mod writer;

pub use clock::AcknowledgedPoint;
pub(crate) use clock::CLOCK_BYTES;
pub use reader::{LogDamage, SegmentReader};
pub(crate) use record::PAYLOAD_OFFSET;
pub use record::{LogRecord, MAX_PAYLOAD};
pub use writer::{InputLog, LogOptions};

/// Version of the image format, raised when the format changes, or when this version of the simulator would replay a log differently. Other versions
/// are refused. `tests/image.rs` has a log and its expected result.
pub const VERSION: u32 = 4;

/// Address of a record. Its checksum covers it, so a record counts only in its own place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RecordPlace {
    /// Number of the image.
    pub image: u64,
    /// Number of the segment, counted from 1.
    pub segment: u32,
    /// Offset in the segment, in bytes.
    pub offset: u64,
}

impl RecordPlace {
    fn to_bytes(self) -> [u8; 20] {
        let mut bytes = [0; 20];
        bytes[..8].copy_from_slice(&self.image.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.segment.to_le_bytes());
        bytes[12..].copy_from_slice(&self.offset.to_le_bytes());
        bytes
    }
}

/// First bytes of a segment.
const MAGIC: [u8; 8] = *b"outlast\n";
/// Length of a segment's header in bytes.
pub const SEGMENT_HEADER: usize = 28;

/// Header of a segment: magic, version, image, segment, and their CRC-32C.
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

/// File name of a segment, and of the checkpoint taken when it began.
pub(crate) fn segment_name(segment: u32) -> String {
    format!("{segment:08}")
}
