//! Memory from the system in large steps.

use std::hint::black_box;

/// Asked for at once.
const STEP: usize = 8 << 20;

/// Sees to it that the heap of the loop's thread grows in steps of some megabytes. What clients write stays in memory, unit by unit, and the C library
/// of Linux lets the heap of any thread but the first grow by a page at a time: a system call for each write. A block that is
/// taken and given back leaves room on top of the heap, at no cost until it is touched.
#[derive(Debug)]
pub(crate) struct Heap {
    /// Bytes that may be written before the next step.
    left: usize,
}

impl Heap {
    pub(crate) fn new() -> Self {
        // One of twice the size has the library keep blocks of this one in its heap, when they are given back, too.
        make_room(2 * STEP);
        Self { left: 0 }
    }

    /// So many bytes are about to be kept.
    #[inline]
    pub(crate) fn keep(&mut self, bytes: usize) {
        if self.left < bytes {
            make_room(STEP);
            // Half of it: each unit costs more than its bytes, and parity comes with them.
            self.left = STEP / 2;
        }
        self.left = self.left.saturating_sub(bytes);
    }
}

fn make_room(bytes: usize) {
    drop(black_box(Vec::<u8>::with_capacity(bytes)));
}
