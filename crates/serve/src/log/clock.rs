//! The clock: how far time had come, and the log with it, when the last reply left.

use outlast_units::Nanos;

/// Bytes of the file.
pub(crate) const CLOCK: usize = 24;

/// What has been promised to the outside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Acknowledged {
    /// When the last replies left.
    pub now: Nanos,
    /// The segment of the log that was written then.
    pub segment: u32,
    /// Its length then. What lies before has decided replies, what lies behind has not.
    pub offset: u64,
}

impl Acknowledged {
    pub(crate) fn to_bytes(self, image: u64) -> [u8; CLOCK] {
        let mut bytes = [0; CLOCK];
        bytes[..8].copy_from_slice(&self.now.0.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.offset.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.segment.to_le_bytes());
        let sum = checksum(image, &bytes);
        bytes[20..].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    /// `None` where that is no clock of `image`.
    pub(crate) fn from_bytes(image: u64, bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; CLOCK] = bytes.try_into().ok()?;
        let word = |at: usize| bytes[at..at + 8].try_into().map(u64::from_le_bytes).ok();
        let half = |at: usize| bytes[at..at + 4].try_into().map(u32::from_le_bytes).ok();
        let clock = Self { now: Nanos(word(0)?), offset: word(8)?, segment: half(16)? };
        (half(20)? == checksum(image, bytes)).then_some(clock)
    }
}

fn checksum(image: u64, bytes: &[u8; CLOCK]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(&image.to_le_bytes()), &bytes[..20])
}
