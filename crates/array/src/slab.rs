//! Storage for things in flight: dense, indexed by `u32`, reused, never shrinking.

/// No entry.
pub(crate) const NIL: u32 = u32::MAX;

/// A slab of `T`.
#[derive(Clone, Debug)]
pub(crate) struct Slab<T> {
    entries: Vec<T>,
    free: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self { entries: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slab<T> {
    #[inline]
    pub(crate) fn insert(&mut self, entry: T) -> u32 {
        if let Some(index) = self.free.pop() {
            self.entries[index as usize] = entry;
            index
        } else {
            self.entries.push(entry);
            (self.entries.len() - 1) as u32
        }
    }

    /// Gives entry `index` up; its number will be used again.
    #[inline]
    pub(crate) fn remove(&mut self, index: u32) {
        self.free.push(index);
    }

    /// Entries in use.
    pub(crate) fn used(&self) -> usize {
        self.entries.len() - self.free.len()
    }

    /// All entries, given up or not.
    pub(crate) fn slots(&self) -> &[T] {
        &self.entries
    }

    /// As [`Slab::slots`], to change them.
    pub(crate) fn slots_mut(&mut self) -> &mut [T] {
        &mut self.entries
    }

    /// Gives everything up.
    pub(crate) fn clear(&mut self) {
        self.entries.clear();
        self.free.clear();
    }

    /// Bytes allocated.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.entries.capacity() * size_of::<T>() + self.free.capacity() * 4
    }
}

impl<T> std::ops::Index<u32> for Slab<T> {
    type Output = T;
    #[inline]
    fn index(&self, index: u32) -> &T {
        &self.entries[index as usize]
    }
}

impl<T> std::ops::IndexMut<u32> for Slab<T> {
    #[inline]
    fn index_mut(&mut self, index: u32) -> &mut T {
        &mut self.entries[index as usize]
    }
}
