//! A queue that is mostly drained before it grows.

use outlast_persist::{Damage, Persist, Reader, Writer, shape};
use std::fmt;

/// A queue, first come first: a list that begins anew at its end, so that adding one and taking the first move nothing else. Its memory grows until it is
/// drained.
#[derive(Clone)]
pub struct DrainedQueue<T> {
    items: Vec<T>,
    /// Items at the beginning of the list that have been taken.
    taken: usize,
}

impl<T> Default for DrainedQueue<T> {
    fn default() -> Self {
        Self { items: Vec::new(), taken: 0 }
    }
}

impl<T: fmt::Debug> fmt::Debug for DrainedQueue<T> {
    /// Shows what is left: machines that are in the same state show the same, whatever has been taken.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.as_slice()).finish()
    }
}

impl<T> DrainedQueue<T> {
    /// All that is left, first come first.
    #[inline]
    pub fn as_slice(&self) -> &[T] {
        self.items.get(self.taken..).unwrap_or_default()
    }

    /// How many are left.
    #[inline]
    pub fn len(&self) -> usize {
        self.items.len() - self.taken
    }

    /// True if none is left.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The first of those that are left.
    #[inline]
    pub fn first(&self) -> Option<&T> {
        self.items.get(self.taken)
    }

    /// Adds `item` at the end.
    #[inline]
    pub fn push(&mut self, item: T) {
        self.items.push(item);
    }

    /// Drops the first, of which there is one.
    #[inline]
    pub fn pass(&mut self) {
        debug_assert!(self.taken < self.items.len(), "nothing is left to be taken");
        self.taken += 1;
        if self.taken >= self.items.len() {
            self.items.clear();
            self.taken = 0;
        }
    }
}

impl<T: Copy> DrainedQueue<T> {
    /// Takes the first.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        let first = self.first().copied()?;
        self.pass();
        Some(first)
    }
}

impl<T> Extend<T> for DrainedQueue<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        self.items.extend(items);
    }
}

impl<T: Persist> Persist for DrainedQueue<T> {
    const SHAPE: u64 = shape("DrainedQueue", &[("", T::SHAPE)]);

    fn write(&self, to: &mut Writer<'_>) {
        to.count(self.len());
        self.as_slice().iter().for_each(|item| item.write(to));
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Damage> {
        Ok(Self { items: Vec::read(from)?, taken: 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::SplitMix;
    use std::collections::VecDeque;

    #[test]
    fn it_does_what_a_double_ended_queue_does() {
        let (mut queue, mut oracle, mut rng) =
            (DrainedQueue::default(), VecDeque::new(), SplitMix::new(5, "queue"));
        for item in 0..4_000_u64 {
            match rng.below(5) {
                0 | 1 => {
                    queue.push(item);
                    oracle.push_back(item);
                }
                2 => {
                    queue.extend([item, 7]);
                    oracle.extend([item, 7]);
                }
                _ => assert_eq!(queue.pop(), oracle.pop_front()),
            }
            assert!(queue.as_slice().iter().eq(&oracle), "the same is left");
            assert_eq!((queue.len(), queue.is_empty()), (oracle.len(), oracle.is_empty()));
            assert_eq!(queue.first(), oracle.front());
            assert_eq!(format!("{queue:?}"), format!("{oracle:?}"), "what was taken does not show");
        }
    }
}
