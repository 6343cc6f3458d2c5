//! Bytes that are to be sent.

use std::collections::VecDeque;

/// Payloads from here on are sent from where they are; smaller ones are copied behind their headers, which costs less than a further slice.
const OWN_PIECE: usize = 16 << 10;

/// A piece is closed when it has this many bytes, so that what has been sent is given back.
pub(crate) const PIECE: usize = 256 << 10;

/// What is kept for the next piece.
const KEPT: usize = 64 << 10;

/// A queue of pieces: small replies are gathered in one, a large payload is one of its own.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    pieces: VecDeque<Piece>,
    /// Bytes of the first piece that are sent.
    begun: usize,
    length: usize,
    spare: Vec<u8>,
}

#[derive(Debug)]
struct Piece {
    bytes: Vec<u8>,
    is_open: bool,
}

impl Outbox {
    /// Bytes that are not sent.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.length
    }

    /// Appends `bytes`.
    #[inline]
    pub(crate) fn put(&mut self, bytes: &[u8]) {
        self.length += bytes.len();
        self.open().extend_from_slice(bytes);
    }

    /// Appends `count` zeroes.
    pub(crate) fn put_zeroes(&mut self, count: usize) {
        self.length += count;
        let open = self.open();
        open.resize(open.len() + count, 0);
    }

    /// Appends `bytes` without copying them, when they are many.
    #[inline]
    pub(crate) fn give(&mut self, bytes: Vec<u8>) {
        if bytes.len() < OWN_PIECE {
            return self.put(&bytes);
        }
        self.length += bytes.len();
        self.pieces.push_back(Piece { bytes, is_open: false });
    }

    #[inline]
    fn open(&mut self) -> &mut Vec<u8> {
        let is_new = self.pieces.back().is_none_or(|piece| !piece.is_open || piece.bytes.len() >= PIECE);
        if is_new {
            let bytes = std::mem::take(&mut self.spare);
            debug_assert!(bytes.is_empty(), "a spare piece has been emptied");
            self.pieces.push_back(Piece { bytes, is_open: true });
        }
        let last = self.pieces.len() - 1;
        &mut self.pieces[last].bytes
    }

    /// What is to be sent, in order.
    pub(crate) fn slices(&self) -> impl Iterator<Item = &[u8]> {
        let begun = self.begun;
        self.pieces.iter().enumerate().map(move |(at, piece)| &piece.bytes[if at == 0 { begun } else { 0 }..])
    }

    /// The first `count` bytes are sent.
    pub(crate) fn sent(&mut self, mut count: usize) {
        assert!(count <= self.length, "no more is sent than there was");
        self.length -= count;
        while let Some(first) = self.pieces.front() {
            let rest = first.bytes.len() - self.begun;
            if count < rest {
                self.begun += count;
                return;
            }
            count -= rest;
            self.begun = 0;
            self.pop();
        }
        debug_assert_eq!((count, self.length), (0, 0), "the length is the sum of the pieces");
    }

    fn pop(&mut self) {
        let Some(Piece { mut bytes, is_open }) = self.pieces.pop_front() else { return };
        if is_open && bytes.capacity() <= 2 * PIECE && bytes.capacity() > self.spare.capacity() {
            bytes.clear();
            bytes.shrink_to(KEPT);
            self.spare = bytes;
        }
    }

    /// Throws everything away.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Bytes allocated.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.pieces.iter().map(|piece| piece.bytes.capacity()).sum::<usize>() + self.spare.capacity()
    }
}
