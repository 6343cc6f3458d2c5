//! Bytes that have come in and are not understood yet.

use std::ops::Range;

/// What is kept when nothing is in it.
const KEPT: usize = 1 << 20;

/// A buffer that its owner reads a socket straight into, and that lends payloads where they lie. It grows with what has come in, never with
/// what a client says will come.
#[derive(Debug)]
pub(crate) struct Inbox {
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Bytes that are thrown away as they come.
    skip: u64,
    /// Bytes of the message at `start`, as far as is known.
    want: usize,
    read_ahead: usize,
    /// Bytes that it may have room for, if more than the read-ahead.
    cap: usize,
}

impl Inbox {
    pub(crate) fn new(read_ahead: usize) -> Self {
        Self { buffer: Vec::new(), start: 0, end: 0, skip: 0, want: 1, read_ahead, cap: usize::MAX }
    }

    /// It may have room for so many bytes from now on, and for the read-ahead in any case. What is there stays.
    #[inline]
    pub(crate) fn allow(&mut self, bytes: usize) {
        self.cap = bytes;
    }

    /// Whether the message that is looked at does not fit what is allowed.
    #[inline]
    pub(crate) fn is_capped(&self) -> bool {
        self.want > self.most() && self.end - self.start >= self.most()
    }

    /// Bytes of the message that may be there at once.
    #[inline]
    fn most(&self) -> usize {
        self.want.min(self.cap).max(self.read_ahead)
    }

    /// What is there and not taken.
    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// The bytes of a range that was taken.
    #[inline]
    pub(crate) fn taken(&self, range: Range<usize>) -> &[u8] {
        &self.buffer[range]
    }

    /// The first `count` bytes, if they are there: where they lie. Otherwise room will be made for them.
    #[inline]
    pub(crate) fn has(&mut self, count: usize) -> bool {
        self.want = count;
        self.end - self.start >= count
    }

    /// Takes the first `count` bytes. They stay where they are until there is new input.
    #[inline]
    pub(crate) fn take(&mut self, count: usize) -> Range<usize> {
        debug_assert!(count <= self.end - self.start, "only what is there is taken");
        let range = self.start..self.start + count;
        self.start += count;
        range
    }

    /// Throws the next `count` bytes away, those to come included.
    pub(crate) fn skip(&mut self, count: u64) {
        debug_assert_eq!(self.skip, 0, "the message before this one is wholly gone");
        self.skip = count;
        self.throw_away();
    }

    /// Whether nothing is thrown away at present.
    #[inline]
    pub(crate) fn is_aligned(&self) -> bool {
        self.skip == 0
    }

    fn throw_away(&mut self) {
        let now = self.skip.min((self.end - self.start) as u64);
        self.start += now as usize;
        self.skip -= now;
    }

    /// Where the next bytes go; empty when what is there has to be understood first.
    pub(crate) fn space(&mut self) -> &mut [u8] {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
            if self.buffer.len() > KEPT.max(self.read_ahead) {
                self.buffer = Vec::new();
            }
        }
        let held = self.end - self.start;
        let is_tight = self.buffer.len() - self.end < (self.read_ahead / 4).max(1);
        if self.start > 0 && (is_tight || self.start + self.want > self.buffer.len()) {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, held);
        }
        // A message of 32 MiB gets its room as it comes: at most as much again as has come, or the read-ahead.
        let room = self.most().min(2 * held).max(self.read_ahead);
        if room > self.buffer.len() {
            self.buffer.reserve_exact(room - self.buffer.len());
            self.buffer.resize(room, 0);
        }
        &mut self.buffer[self.end..]
    }

    /// Whether `space` would have room.
    pub(crate) fn has_space(&self) -> bool {
        self.end - self.start < self.most()
    }

    /// `count` bytes have been put where `space` said.
    pub(crate) fn filled(&mut self, count: usize) {
        assert!(count <= self.buffer.len() - self.end, "no more bytes come than there was space for");
        self.end += count;
        if self.skip > 0 {
            self.throw_away();
        }
    }

    /// Bytes allocated beyond the read-ahead, which every client has.
    #[inline]
    pub(crate) fn beyond(&self) -> usize {
        self.buffer.len().saturating_sub(self.read_ahead)
    }

    /// Bytes allocated.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.buffer.capacity()
    }
}
