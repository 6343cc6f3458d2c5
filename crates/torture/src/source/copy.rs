//! The bytes of a write, from wherever they are.

use crate::history::{History, WriteId};
use outlast_units::SECTOR_BYTES;
use std::io::{self, Read};

/// Reads the bytes of a write.
pub(super) fn copy_of(history: &History, id: WriteId) -> impl Read {
    let write = &history.writes[id.0 as usize];
    Bytes { history, id, lba: write.lba.0, left: write.sectors, buffer: Vec::new(), at: 0 }
}

/// The bytes of a write.
struct Bytes<'a> {
    history: &'a History,
    id: WriteId,
    lba: u64,
    left: u32,
    buffer: Vec<u8>,
    at: usize,
}

impl Read for Bytes<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        /// Sectors read at once.
        const STEP: u32 = 2048;
        if self.at == self.buffer.len() {
            let count = self.left.min(STEP);
            self.buffer.resize(count as usize * SECTOR_BYTES as usize, 0);
            self.history.read_write(self.id, self.lba, &mut self.buffer)?;
            (self.lba, self.left, self.at) = (self.lba + u64::from(count), self.left - count, 0);
        }
        let count = to.len().min(self.buffer.len() - self.at);
        to[..count].copy_from_slice(&self.buffer[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}
