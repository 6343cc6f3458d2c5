//! Queue of bytes to be sent.

use std::collections::VecDeque;

/// Payloads of at least this many bytes are sent without copying; smaller ones are copied behind their headers, which is cheaper than another slice.
const MIN_OWNED_PIECE: usize = 16 << 10;

/// Length at which a piece is closed, so that its memory is freed once it is sent.
pub(crate) const PIECE_BYTES: usize = 256 << 10;

/// Capacity kept for the next piece, in bytes.
const KEPT_SPARE: usize = 64 << 10;

/// Queue of pieces: small replies share one, a large payload has its own.
#[derive(Debug, Default)]
pub(crate) struct OutputQueue {
    pieces: VecDeque<OutputPiece>,
    /// Bytes of the first piece that were sent.
    sent_bytes: usize,
    length: usize,
    spare: Vec<u8>,
}

#[derive(Debug)]
struct OutputPiece {
    bytes: Vec<u8>,
    is_open: bool,
}

impl OutputQueue {
    /// Bytes that are not sent.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.length
    }

    /// Appends `bytes`.
    #[inline]
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.length += bytes.len();
        self.open().extend_from_slice(bytes);
    }

    /// Appends `count` zeroes.
    pub(crate) fn push_zeroes(&mut self, count: usize) {
        self.length += count;
        let open = self.open();
        open.resize(open.len() + count, 0);
    }

    /// Appends `bytes`, without copying them if they are many.
    #[inline]
    pub(crate) fn push_owned(&mut self, bytes: Vec<u8>) {
        if bytes.len() < MIN_OWNED_PIECE {
            return self.push(&bytes);
        }
        self.length += bytes.len();
        self.pieces.push_back(OutputPiece { bytes, is_open: false });
    }

    #[inline]
    fn open(&mut self) -> &mut Vec<u8> {
        let is_new =
            self.pieces.back().is_none_or(|piece| !piece.is_open || piece.bytes.len() >= PIECE_BYTES);
        if is_new {
            let bytes = std::mem::take(&mut self.spare);
            debug_assert!(bytes.is_empty(), "a spare piece has been emptied");
            self.pieces.push_back(OutputPiece { bytes, is_open: true });
        }
        let last = self.pieces.len() - 1;
        &mut self.pieces[last].bytes
    }

    /// Unsent bytes in order.
    pub(crate) fn slices(&self) -> impl Iterator<Item = &[u8]> {
        let sent_bytes = self.sent_bytes;
        self.pieces
            .iter()
            .enumerate()
            .map(move |(index, piece)| &piece.bytes[if index == 0 { sent_bytes } else { 0 }..])
    }

    /// Notes that the first `count` bytes were sent.
    pub(crate) fn sent(&mut self, mut count: usize) {
        assert!(count <= self.length, "no more is sent than there was");
        self.length -= count;
        while let Some(first) = self.pieces.front() {
            let unsent = first.bytes.len() - self.sent_bytes;
            if count < unsent {
                self.sent_bytes += count;
                return;
            }
            count -= unsent;
            self.sent_bytes = 0;
            self.pop();
        }
        debug_assert_eq!((count, self.length), (0, 0), "the length is the sum of the pieces");
    }

    fn pop(&mut self) {
        let Some(OutputPiece { mut bytes, is_open }) = self.pieces.pop_front() else { return };
        // Small pieces are used again; a large payload gives its memory back.
        if is_open && bytes.capacity() <= 2 * PIECE_BYTES && bytes.capacity() > self.spare.capacity() {
            bytes.clear();
            bytes.shrink_to(KEPT_SPARE);
            self.spare = bytes;
        }
    }

    /// Drops everything.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Allocated bytes.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.pieces.iter().map(|piece| piece.bytes.capacity()).sum::<usize>() + self.spare.capacity()
    }
}
