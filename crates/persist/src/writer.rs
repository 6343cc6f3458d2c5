//! Writing, in blocks with checksums.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Bytes of a block.
pub(crate) const BLOCK: usize = 1 << 18;

/// Writes state in blocks, each with its length and a checksum, so that nothing damaged is ever looked at; the last is empty.
pub struct Writer<'a> {
    to: &'a mut dyn Write,
    block: Vec<u8>,
    blocks: u64,
    failed: io::Result<()>,
    /// What several refer to, by where it lies.
    numbers: BTreeMap<usize, u64>,
}

impl<'a> Writer<'a> {
    /// Writes to `to`, which need not be buffered.
    pub fn new(to: &'a mut dyn Write) -> Self {
        Self { to, block: Vec::with_capacity(BLOCK), blocks: 0, failed: Ok(()), numbers: BTreeMap::new() }
    }

    /// Writes `bytes` as they are.
    #[inline]
    pub fn bytes(&mut self, bytes: &[u8]) {
        if self.block.len() + bytes.len() > BLOCK {
            return self.bytes_across(bytes);
        }
        self.block.extend_from_slice(bytes);
    }

    #[cold]
    fn bytes_across(&mut self, mut bytes: &[u8]) {
        while self.block.len() + bytes.len() > BLOCK {
            let (own, rest) = bytes.split_at(BLOCK - self.block.len());
            self.block.extend_from_slice(own);
            self.end_block();
            bytes = rest;
        }
        self.block.extend_from_slice(bytes);
    }

    /// Writes how many entries follow.
    #[inline]
    pub fn count(&mut self, count: usize) {
        self.bytes(&(count as u64).to_le_bytes());
    }

    /// Writes `bytes`, or a reference where those of the same `place` have been written before. A place is an address in memory that all who
    /// hold these bytes share, and nobody else comes to have before all is written.
    pub fn shared<'b>(&mut self, place: usize, bytes: impl FnOnce() -> Cow<'b, [u8]>) {
        let next = self.numbers.len() as u64;
        let number = *self.numbers.entry(place).or_insert(next);
        self.bytes(&number.to_le_bytes());
        if number == next {
            let bytes = bytes();
            self.count(bytes.len());
            self.bytes(&bytes);
        }
    }

    fn end_block(&mut self) {
        if self.failed.is_ok() {
            let checksum = checksum(self.blocks, &self.block);
            let head = [self.block.len() as u32, checksum].map(u32::to_le_bytes);
            self.failed =
                self.to.write_all(head.as_flattened()).and_then(|()| self.to.write_all(&self.block));
        }
        self.blocks += 1;
        self.block.clear();
    }

    /// Ends what is written.
    ///
    /// # Errors
    /// Something could not be written.
    pub fn end(mut self) -> io::Result<()> {
        if !self.block.is_empty() {
            self.end_block();
        }
        self.end_block();
        self.failed
    }
}

/// The checksum of block `number`: a block in the place of another is as damaged as any.
pub(crate) fn checksum(number: u64, block: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&number.to_le_bytes());
    hasher.update(block);
    hasher.finalize()
}
