//! Changes to a content, in memory.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;

use super::BaseContent;
use super::ranges::ByteRanges;

/// Bytes of a block, the unit in which writes are kept.
const BLOCK: usize = 4096;

/// A content and the changes to it.
pub(super) struct ContentOverlay {
    base: Box<dyn BaseContent>,
    /// Written blocks, by block number.
    written: BTreeMap<u64, Box<[u8; BLOCK]>>,
    /// Zeroed ranges. Where a block is written, its bytes count and not this.
    zeroed: ByteRanges,
    /// Ranges that cannot be read until they are written.
    bad: ByteRanges,
}

impl ContentOverlay {
    pub(super) fn new(base: Box<dyn BaseContent>) -> Self {
        let mut bad = ByteRanges::default();
        base.bad().into_iter().for_each(|range| bad.insert(range));
        Self { base, written: BTreeMap::new(), zeroed: ByteRanges::default(), bad }
    }

    /// First byte of `range` that cannot be read, if there is one.
    pub(super) fn first_bad(&self, range: Range<u64>) -> Option<u64> {
        self.bad.within(range).next().map(|part| part.start)
    }

    /// Reads from `offset` on. Bytes of unreadable ranges are those of the base.
    pub(super) fn read(&mut self, offset: u64, to: &mut [u8]) -> io::Result<()> {
        let range = offset..offset + to.len() as u64;
        // Three layers, each over the one before: base, zeroed ranges, written blocks.
        self.base.read(offset, to)?;
        for part in self.zeroed.within(range.clone()) {
            to[(part.start - offset) as usize..(part.end - offset) as usize].fill(0);
        }
        let blocks = range.start / BLOCK as u64..range.end.div_ceil(BLOCK as u64);
        for (&block, bytes) in self.written.range(blocks) {
            let start = block * BLOCK as u64;
            let part = start.max(range.start)..(start + BLOCK as u64).min(range.end);
            let source = &bytes[(part.start - start) as usize..(part.end - start) as usize];
            to[(part.start - offset) as usize..(part.end - offset) as usize].copy_from_slice(source);
        }
        Ok(())
    }

    pub(super) fn write(&mut self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.bad.remove(offset..offset + data.len() as u64);
        let (mut at, mut remaining) = (offset, data);
        while !remaining.is_empty() {
            let (number, from) = (at / BLOCK as u64, at as usize % BLOCK);
            let (piece, following) = remaining.split_at(remaining.len().min(BLOCK - from));
            self.block(number, piece.len() < BLOCK)?[from..from + piece.len()].copy_from_slice(piece);
            at += piece.len() as u64;
            remaining = following;
        }
        Ok(())
    }

    /// The block `number`, to be written. With `keeps` only a part of it will be, so it starts with its present bytes.
    fn block(&mut self, number: u64, keeps: bool) -> io::Result<&mut [u8; BLOCK]> {
        if !self.written.contains_key(&number) {
            let (start, mut bytes) = (number * BLOCK as u64, Box::new([0; BLOCK]));
            if keeps {
                let length = BLOCK.min((self.base.size().0 - start) as usize);
                self.read(start, &mut bytes[..length])?;
            }
            self.written.insert(number, bytes);
        }
        Ok(self.written.get_mut(&number).expect("it has just been made"))
    }

    /// Makes a range read as zeroes.
    pub(super) fn zero(&mut self, range: Range<u64>) {
        self.bad.remove(range.clone());
        self.zeroed.insert(range.clone());
        let block = BLOCK as u64;
        let whole = range.start.div_ceil(block)..range.end / block;
        if whole.start < whole.end {
            // Blocks within the range are dropped: `zeroed` stands for them. Blocks at its ends are zeroed in
            // part.
            let mut later = self.written.split_off(&whole.start);
            self.written.append(&mut later.split_off(&whole.end));
        }
        for number in [range.start / block, range.end / block] {
            if let Some(bytes) = self.written.get_mut(&number) {
                let start = number * block;
                let part = range.start.max(start)..range.end.min(start + block);
                bytes[(part.start - start) as usize..(part.end - start) as usize].fill(0);
            }
        }
    }
}
