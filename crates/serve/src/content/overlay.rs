//! What has been written, over what was there before.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;

use super::Content;
use super::ranges::Ranges;

/// Bytes that are kept together.
const BLOCK: usize = 4096;

/// A content with what has been written over it, in memory.
pub(super) struct Overlay {
    base: Box<dyn Content>,
    /// Written blocks, by number.
    written: BTreeMap<u64, Box<[u8; BLOCK]>>,
    /// What was made zero and not written since; where a block is written, the block counts.
    zeroed: Ranges,
    /// What cannot be read until it is written.
    bad: Ranges,
}

impl Overlay {
    pub(super) fn new(base: Box<dyn Content>) -> Self {
        let mut bad = Ranges::default();
        base.bad().into_iter().for_each(|range| bad.insert(range));
        Self { base, written: BTreeMap::new(), zeroed: Ranges::default(), bad }
    }

    /// The first byte of `range` that cannot be read, if there is one.
    pub(super) fn first_bad(&self, range: Range<u64>) -> Option<u64> {
        self.bad.within(range).next().map(|part| part.start)
    }

    /// What `to` reads from `offset` on; what cannot be read is whatever the base says.
    pub(super) fn read(&mut self, offset: u64, to: &mut [u8]) -> io::Result<()> {
        let range = offset..offset + to.len() as u64;
        self.base.read(offset, to)?;
        for part in self.zeroed.within(range.clone()) {
            to[(part.start - offset) as usize..(part.end - offset) as usize].fill(0);
        }
        let blocks = range.start / BLOCK as u64..range.end.div_ceil(BLOCK as u64);
        for (&block, bytes) in self.written.range(blocks) {
            let start = block * BLOCK as u64;
            let part = start.max(range.start)..(start + BLOCK as u64).min(range.end);
            let own = &bytes[(part.start - start) as usize..(part.end - start) as usize];
            to[(part.start - offset) as usize..(part.end - offset) as usize].copy_from_slice(own);
        }
        Ok(())
    }

    pub(super) fn write(&mut self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.bad.remove(offset..offset + data.len() as u64);
        let (mut at, mut rest) = (offset, data);
        while !rest.is_empty() {
            let (number, from) = (at / BLOCK as u64, at as usize % BLOCK);
            let (piece, later) = rest.split_at(rest.len().min(BLOCK - from));
            self.block(number, piece.len() < BLOCK)?[from..from + piece.len()].copy_from_slice(piece);
            at += piece.len() as u64;
            rest = later;
        }
        Ok(())
    }

    /// A block that is about to be written; with `keeps` it has what is there now, as a part of it stays.
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

    /// Makes a range zero.
    pub(super) fn zero(&mut self, range: Range<u64>) {
        self.bad.remove(range.clone());
        self.zeroed.insert(range.clone());
        let block = BLOCK as u64;
        let whole = range.start.div_ceil(block)..range.end / block;
        if whole.start < whole.end {
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
