//! Growth of the heap in large steps.

use std::hint::black_box;

/// Bytes by which the heap grows.
const STEP: usize = 8 << 20;

/// Grows the heap of the loop's thread by some megabytes at a time. Written data stays in memory, unit by unit, and glibc grows the heap of any
/// thread but the first page by page: one system call for each write. A block that is allocated and freed leaves room on top of the heap, which
/// costs nothing until it is used.
#[derive(Debug)]
pub(crate) struct HeapReserve {
    /// Bytes that may be written before the heap is grown again.
    left: usize,
}

impl HeapReserve {
    pub(crate) fn new() -> Self {
        // Freeing one larger block raises glibc's threshold for mapped blocks, so that later blocks of `STEP` come from
        // the heap, too.
        grow_heap(2 * STEP);
        Self { left: 0 }
    }

    /// Makes room for `bytes` bytes that are about to be kept.
    #[inline]
    pub(crate) fn reserve(&mut self, bytes: usize) {
        if self.left < bytes {
            grow_heap(STEP);
            // Half of the step: each unit needs more than its bytes, and parity is stored with them.
            self.left = STEP / 2;
        }
        self.left = self.left.saturating_sub(bytes);
    }
}

fn grow_heap(bytes: usize) {
    drop(black_box(Vec::<u8>::with_capacity(bytes)));
}
