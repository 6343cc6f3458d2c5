//! A reader of the bytes of one write.

use crate::history::{CommandHistory, WriteId};
use outlast_units::SECTOR_BYTES;
use std::io::{self, Read};

/// A reader of the bytes of write `id`.
pub(super) fn write_reader(history: &CommandHistory, id: WriteId) -> impl Read {
    let write = &history.writes[id.0 as usize];
    WriteReader { history, id, lba: write.lba.0, left: write.sectors, buffer: Vec::new(), at: 0 }
}

/// Bytes of a write, read in steps.
struct WriteReader<'a> {
    history: &'a CommandHistory,
    id: WriteId,
    lba: u64,
    left: u32,
    buffer: Vec<u8>,
    at: usize,
}

impl Read for WriteReader<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        /// Sectors read at once: 1 MiB.
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
