//! Storage for things in flight: dense, indexed by `u32`, reused, never shrinking.

/// No entry: the end of an intrusive list, or "not in a list".
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

    /// All entries in use, in order of their numbers.
    pub(crate) fn live(&self) -> impl Iterator<Item = &T> {
        let mut is_free = vec![false; self.entries.len()];
        self.free.iter().for_each(|&index| is_free[index as usize] = true);
        self.entries.iter().zip(is_free).filter(|(_, is_free)| !is_free).map(|(entry, _)| entry)
    }

    /// Gives entry `index` up; its number will be used again.
    #[inline]
    pub(crate) fn remove(&mut self, index: u32) {
        self.free.push(index);
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
