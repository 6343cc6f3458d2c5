//! Bytes from the host that are not yet a whole unit.

use crate::pdu::{COMMON_BYTES, CommonHeader};

/// Most data of one `H2CData` unit, in bytes (MAXH2CDATA).
pub(crate) const MAX_DATA: usize = 64 << 10;
/// Length of the buffer: the longest unit has at most 255 bytes before its data, and a digest behind it.
const BUFFER_BYTES: usize = MAX_DATA + 512;

/// Buffer of input, in which units lie one behind another.
#[derive(Debug)]
pub(crate) struct UnitInput {
    bytes: Vec<u8>,
    from: usize,
    to: usize,
}

impl UnitInput {
    pub(crate) fn new() -> Self {
        Self { bytes: vec![0; BUFFER_BYTES], from: 0, to: 0 }
    }

    /// Room for more bytes.
    pub(crate) fn space(&mut self) -> &mut [u8] {
        if self.from > 0 {
            self.bytes.copy_within(self.from..self.to, 0);
            (self.from, self.to) = (0, self.to - self.from);
        }
        &mut self.bytes[self.to..]
    }

    pub(crate) fn filled(&mut self, count: usize) {
        debug_assert!(count <= self.bytes.len() - self.to, "no more is filled than there was room for");
        self.to += count;
    }

    /// Bytes that are there.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[self.from..self.to]
    }

    /// The common header of the next unit, if it is there.
    pub(crate) fn common_header(&self) -> Option<CommonHeader> {
        (self.to - self.from >= COMMON_BYTES).then(|| CommonHeader::read(self.bytes()))
    }

    /// The next unit of `length` bytes, if it is there.
    pub(crate) fn unit(&self, length: usize) -> Option<&[u8]> {
        self.bytes().get(..length)
    }

    /// Drops the next `length` bytes.
    pub(crate) fn consume(&mut self, length: usize) {
        self.from += length;
    }
}
