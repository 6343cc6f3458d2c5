//! Storage for things in flight: dense, indexed by `u32`, reused, never shrinking.

/// No entry: the end of an intrusive list, or "not in a list".
pub const NIL: u32 = u32::MAX;

/// A slab of `T`.
#[derive(Clone, Debug, outlast_persist::Persist)]
#[persist(check)]
pub struct Slab<T> {
    entries: Vec<T>,
    free: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self { entries: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slab<T> {
    /// What has been given up is there, and has been given up once.
    fn check_restored(&self) -> Result<(), String> {
        let mut is_free = vec![false; self.entries.len()];
        for &index in &self.free {
            match is_free.get_mut(index as usize) {
                Some(seen) if !*seen => *seen = true,
                _ => {
                    return Err(format!(
                        "entry {index} of {} is free that is none or free twice",
                        is_free.len()
                    ));
                }
            }
        }
        Ok(())
    }

    /// Keeps `entry`; returns its number until it is given up.
    #[allow(clippy::inline_always, reason = "an entry is made in its place, not made and copied")]
    #[inline(always)]
    pub fn insert(&mut self, entry: T) -> u32 {
        if let Some(index) = self.free.pop() {
            self.entries[index as usize] = entry;
            index
        } else {
            self.entries.push(entry);
            (self.entries.len() - 1) as u32
        }
    }

    /// All entries in use, in order of their numbers.
    pub fn live(&self) -> impl Iterator<Item = &T> {
        let mut is_free = vec![false; self.entries.len()];
        self.free.iter().for_each(|&index| is_free[index as usize] = true);
        self.entries.iter().zip(is_free).filter(|(_, is_free)| !is_free).map(|(entry, _)| entry)
    }

    /// Whether `index` is in use, at a cost proportional to what is free. For checks.
    pub fn is_live(&self, index: u32) -> bool {
        (index as usize) < self.entries.len() && !self.free.contains(&index)
    }

    /// Gives entry `index` up; its number will be used again.
    #[inline]
    pub fn remove(&mut self, index: u32) {
        self.free.push(index);
    }

    /// Entries in use.
    pub fn used(&self) -> usize {
        self.entries.len() - self.free.len()
    }

    /// All entries, given up or not.
    pub fn slots(&self) -> &[T] {
        &self.entries
    }

    /// The numbers of entries that were given up.
    pub fn free(&self) -> &[u32] {
        &self.free
    }

    /// As [`Slab::live`], with their numbers.
    pub fn live_indexed(&self) -> impl Iterator<Item = (u32, &T)> {
        let mut is_free = vec![false; self.entries.len()];
        self.free.iter().for_each(|&index| is_free[index as usize] = true);
        (0u32..).zip(&self.entries).zip(is_free).filter(|(_, is_free)| !is_free).map(|(entry, _)| entry)
    }

    /// As [`Slab::slots`], to change them.
    pub fn slots_mut(&mut self) -> &mut [T] {
        &mut self.entries
    }

    /// Gives everything up.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.free.clear();
    }

    /// Bytes allocated.
    pub fn heap_bytes(&self) -> usize {
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
