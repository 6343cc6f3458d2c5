//! Bytes for the host that are not yet sent.

use std::collections::VecDeque;

/// Longest joined piece, in bytes. Data of a read is longer, is sent from where it was read to, and its memory is free once it is sent: to copy 4 KiB, and
/// to let a piece grow for it, costs more than one more piece of a gathered write.
const JOINED: usize = 1 << 10;

/// Output in pieces, in order.
#[derive(Debug, Default)]
pub(crate) struct UnitOutput {
    pieces: VecDeque<Vec<u8>>,
    /// Bytes of the first piece that are sent.
    sent: usize,
    length: usize,
}

impl UnitOutput {
    /// Adds bytes. Short pieces are joined; a long one is kept as it is.
    pub(crate) fn push(&mut self, bytes: Vec<u8>) {
        self.length += bytes.len();
        match self.pieces.back_mut() {
            Some(last) if last.len() + bytes.len() <= JOINED => last.extend(bytes),
            _ if bytes.is_empty() => {}
            _ => self.pieces.push_back(bytes),
        }
    }

    /// Number of bytes.
    pub(crate) fn len(&self) -> usize {
        self.length
    }

    /// Pieces in order, without what is sent.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = &[u8]> {
        self.pieces.iter().enumerate().map(|(index, piece)| &piece[if index == 0 { self.sent } else { 0 }..])
    }

    /// Notes that the first `count` bytes are sent.
    pub(crate) fn sent(&mut self, count: usize) {
        self.length -= count;
        self.sent += count;
        while let Some(first) = self.pieces.front()
            && self.sent >= first.len()
        {
            self.sent -= first.len();
            self.pieces.pop_front();
        }
    }
}
