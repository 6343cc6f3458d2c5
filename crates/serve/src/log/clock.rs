//! The clock file: simulated time, and length of the log, when the last reply left.

use outlast_units::Nanos;

/// Bytes of the file.
pub(crate) const CLOCK_BYTES: usize = 24;

/// The point up to which replies have been sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AcknowledgedPoint {
    /// Simulated time when the last replies left.
    pub now: Nanos,
    /// Segment of the log that was written then.
    pub segment: u32,
    /// Length of that segment then. Replies depend on records before it, and on none behind it.
    pub offset: u64,
}

impl AcknowledgedPoint {
    pub(crate) fn to_bytes(self, image: u64) -> [u8; CLOCK_BYTES] {
        let mut bytes = [0; CLOCK_BYTES];
        bytes[..8].copy_from_slice(&self.now.0.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.offset.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.segment.to_le_bytes());
        let sum = checksum(image, &bytes);
        bytes[20..].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    /// Reads a clock of `image`; `None` if it is damaged or of another image.
    pub(crate) fn from_bytes(image: u64, bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; CLOCK_BYTES] = bytes.try_into().ok()?;
        let word = |at: usize| bytes[at..at + 8].try_into().map(u64::from_le_bytes).ok();
        let half = |at: usize| bytes[at..at + 4].try_into().map(u32::from_le_bytes).ok();
        let clock = Self { now: Nanos(word(0)?), offset: word(8)?, segment: half(16)? };
        (half(20)? == checksum(image, bytes)).then_some(clock)
    }
}

fn checksum(image: u64, bytes: &[u8; CLOCK_BYTES]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(&image.to_le_bytes()), &bytes[..20])
}
