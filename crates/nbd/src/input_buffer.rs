//! Buffer for received bytes that have not been parsed yet.

use std::ops::Range;

/// Capacity kept while the buffer is empty, in bytes.
const KEPT_BUFFER: usize = 1 << 20;

/// A buffer into which the socket is read directly, and from which payloads are lent. It grows with the bytes received, not with the length that a
/// client announces.
#[derive(Debug)]
pub(crate) struct InputBuffer {
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Bytes to be discarded, including ones that are not received yet.
    to_discard: u64,
    /// Length of the message at `start`, as far as it is known.
    required: usize,
    read_ahead: usize,
    /// Most bytes to be held, unless the read-ahead is more.
    limit: usize,
}

impl InputBuffer {
    pub(crate) fn new(read_ahead: usize) -> Self {
        Self {
            buffer: Vec::new(),
            start: 0,
            end: 0,
            to_discard: 0,
            required: 1,
            read_ahead,
            limit: usize::MAX,
        }
    }

    /// Limits the bytes to be held, beside the read-ahead. Bytes that are there stay.
    #[inline]
    pub(crate) fn allow(&mut self, bytes: usize) {
        self.limit = bytes;
    }

    /// True if the current message does not fit the limit.
    #[inline]
    pub(crate) fn is_capped(&self) -> bool {
        self.required > self.message_limit() && self.end - self.start >= self.message_limit()
    }

    /// Most bytes of the current message to be held.
    #[inline]
    fn message_limit(&self) -> usize {
        self.required.min(self.limit).max(self.read_ahead)
    }

    /// Received bytes that have not been taken.
    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Bytes of a range that [`InputBuffer::take`] returned, valid until there is new input.
    #[inline]
    pub(crate) fn taken(&self, range: Range<usize>) -> &[u8] {
        &self.buffer[range]
    }

    /// True if `count` bytes are there. Otherwise the buffer will make room for them.
    #[inline]
    pub(crate) fn require(&mut self, count: usize) -> bool {
        self.required = count;
        self.end - self.start >= count
    }

    /// Takes the first `count` bytes, which stay in place until there is new input; returns their range.
    #[inline]
    pub(crate) fn take(&mut self, count: usize) -> Range<usize> {
        debug_assert!(count <= self.end - self.start, "only what is there is taken");
        let range = self.start..self.start + count;
        self.start += count;
        range
    }

    /// Discards the next `count` bytes, including ones that are not received yet.
    pub(crate) fn discard(&mut self, count: u64) {
        debug_assert_eq!(self.to_discard, 0, "the message before this one is wholly gone");
        self.to_discard = count;
        self.discard_received();
    }

    /// True if no bytes remain to be discarded.
    #[inline]
    pub(crate) fn is_aligned(&self) -> bool {
        self.to_discard == 0
    }

    fn discard_received(&mut self) {
        let count = self.to_discard.min((self.end - self.start) as u64);
        self.start += count as usize;
        self.to_discard -= count;
    }

    /// Space for the next bytes; empty if bytes must be taken first.
    pub(crate) fn space(&mut self) -> &mut [u8] {
        // Without held bytes the buffer begins anew, and a large one is freed.
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
            if self.buffer.len() > KEPT_BUFFER.max(self.read_ahead) {
                self.buffer = Vec::new();
            }
        }
        let held = self.end - self.start;
        // Held bytes are moved to the front only when little space is left behind them.
        let is_tight = self.buffer.len() - self.end < (self.read_ahead / 4).max(1);
        if self.start > 0 && (is_tight || self.start + self.required > self.buffer.len()) {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, held);
        }
        // A message of 32 MiB gets room as it arrives: at most as much again as has been received, or the read-ahead.
        let room = self.message_limit().min(2 * held).max(self.read_ahead);
        // Zeroed, since the socket is read into initialised memory.
        if room > self.buffer.len() {
            self.buffer.reserve_exact(room - self.buffer.len());
            self.buffer.resize(room, 0);
        }
        &mut self.buffer[self.end..]
    }

    /// True if `space` would not be empty.
    pub(crate) fn has_space(&self) -> bool {
        self.end - self.start < self.message_limit()
    }

    /// Notes that `count` bytes were put into `space`.
    pub(crate) fn filled(&mut self, count: usize) {
        assert!(count <= self.buffer.len() - self.end, "no more bytes come than there was space for");
        self.end += count;
        if self.to_discard > 0 {
            self.discard_received();
        }
    }

    /// Allocated bytes beyond the read-ahead, which every client has.
    #[inline]
    pub(crate) fn bytes_beyond_read_ahead(&self) -> usize {
        self.buffer.len().saturating_sub(self.read_ahead)
    }

    /// Allocated bytes.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.buffer.capacity()
    }
}
