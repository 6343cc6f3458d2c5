//! Bytes for the host that are not yet sent.

use std::collections::VecDeque;

/// Longest joined piece, in bytes. Data of a read is longer, is sent from where it was read to, and its memory is free once it is sent: to copy 4 KiB, and
/// to let a piece grow for it, costs more than one more piece of a gathered write.
const JOINED: usize = 1 << 10;
/// Least capacity of a joined piece, in bytes: a completion and the head of the next unit, with digests.
const LEAST_ROOM: usize = 64;

/// Output in pieces, in order.
#[derive(Debug, Default)]
pub(crate) struct UnitOutput {
    pieces: VecDeque<Vec<u8>>,
    /// Bytes of the first piece that are sent.
    sent: usize,
    length: usize,
}

impl UnitOutput {
    /// Adds a few bytes, joined to others.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.length += bytes.len();
        match self.pieces.back_mut() {
            Some(last) if last.len() + bytes.len() <= JOINED => last.extend_from_slice(bytes),
            _ => {
                let mut piece = Vec::with_capacity(bytes.len().max(LEAST_ROOM));
                piece.extend_from_slice(bytes);
                self.pieces.push_back(piece);
            }
        }
    }

    /// Adds data, which is kept as it is if it is long.
    pub(crate) fn push_data(&mut self, bytes: Vec<u8>) {
        if bytes.len() <= JOINED {
            return self.push(&bytes);
        }
        self.length += bytes.len();
        self.pieces.push_back(bytes);
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
