//! Memory of byte buffers that are needed no more, for those to come: the system looks for memory each time, and zeroes what is to be zero.

use std::fmt;

/// Buffers that wait to be used again, a bounded number of bounded length.
#[derive(Default)]
pub struct SpareBuffers(Vec<Vec<u8>>);

impl fmt::Debug for SpareBuffers {
    /// Nothing of the buffers: machines that are in the same state show the same, whatever memory each has kept.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SpareBuffers")
    }
}

impl Clone for SpareBuffers {
    /// None: the copy of a machine makes its own.
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl SpareBuffers {
    /// Buffers kept at most: those that a queue of the usual depth has under way.
    const MOST: usize = 64;
    /// Bytes that a kept buffer has room for, at most.
    const LONGEST: usize = 1 << 16;

    /// A buffer, if there is one. It holds bytes without meaning, as many as it held before.
    #[inline]
    pub fn take(&mut self) -> Option<Vec<u8>> {
        self.0.pop()
    }

    /// Keeps `buffer` for use to come, unless it has no memory, or too much, or there are enough.
    #[inline]
    pub fn give(&mut self, buffer: Vec<u8>) {
        if self.0.len() < Self::MOST && (1..=Self::LONGEST).contains(&buffer.capacity()) {
            self.0.push(buffer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::SpareBuffers;

    #[test]
    fn what_is_kept_comes_back_and_is_bounded() {
        let mut spare = SpareBuffers::default();
        for length in [0, SpareBuffers::LONGEST + 1, 512] {
            spare.give(vec![7; length]);
        }
        assert_eq!((spare.take(), spare.take()), (Some(vec![7; 512]), None));
        (0..SpareBuffers::MOST + 3).for_each(|_| spare.give(vec![0; 1]));
        assert!(spare.clone().take().is_none(), "a copy has no memory of the original's");
        assert_eq!(std::iter::from_fn(|| spare.take()).count(), SpareBuffers::MOST);
    }
}
