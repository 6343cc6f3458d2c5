//! Storage for things in flight: dense, indexed by `u32` or a type of index, reused, never shrinking.

use crate::{Idx, to_count};
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// No entry: the end of an intrusive list, or "not in a list".
pub const NIL: u32 = u32::MAX;

/// A slab of `T`, whose entries are named by `I`.
#[derive(Clone, Debug, outlast_persist::Persist)]
#[persist(check)]
pub struct Slab<T, I = u32> {
    entries: Vec<T>,
    free: Vec<u32>,
    #[persist(skip)]
    index: PhantomData<fn(I)>,
}

impl<T, I> Default for Slab<T, I> {
    fn default() -> Self {
        Self { entries: Vec::new(), free: Vec::new(), index: PhantomData }
    }
}

impl<T, I> Slab<T, I> {
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

    /// All entries in use, in order of their numbers.
    pub fn live(&self) -> impl Iterator<Item = &T> {
        let mut is_free = vec![false; self.entries.len()];
        self.free.iter().for_each(|&index| is_free[index as usize] = true);
        self.entries.iter().zip(is_free).filter(|(_, is_free)| !is_free).map(|(entry, _)| entry)
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

impl<T, I: Idx> Slab<T, I> {
    /// Keeps `entry`; returns its number until it is given up.
    #[allow(clippy::inline_always, reason = "an entry is made in its place, not made and copied")]
    #[inline(always)]
    pub fn insert(&mut self, entry: T) -> I {
        if let Some(index) = self.free.pop() {
            self.entries[index as usize] = entry;
            I::from_index(index as usize)
        } else {
            self.entries.push(entry);
            I::from_index(self.entries.len() - 1)
        }
    }

    /// Takes an entry that was given up into use again, as it was left; `None` if there is none.
    #[inline]
    pub fn reuse(&mut self) -> Option<I> {
        self.free.pop().map(|index| I::from_index(index as usize))
    }

    /// Gives entry `index` up; its number will be used again.
    #[inline]
    pub fn remove(&mut self, index: I) {
        self.free.push(to_count(index.to_index()));
    }

    /// Entry `index`, given up or not, if there has been one.
    pub fn get(&self, index: I) -> Option<&T> {
        self.entries.get(index.to_index())
    }

    /// As [`Slab::live`], with their numbers.
    pub fn live_indexed(&self) -> impl Iterator<Item = (I, &T)> {
        let mut is_free = vec![false; self.entries.len()];
        self.free.iter().for_each(|&index| is_free[index as usize] = true);
        let entries = self.entries.iter().enumerate().zip(is_free).filter(|(_, is_free)| !is_free);
        entries.map(|((index, entry), _)| (I::from_index(index), entry))
    }

    /// Whether `index` is in use, at a cost proportional to what is free. For checks.
    pub fn is_live(&self, index: I) -> bool {
        self.entries.len() > index.to_index() && !self.free.contains(&to_count(index.to_index()))
    }
}

impl<T, I: Idx> Index<I> for Slab<T, I> {
    type Output = T;
    #[inline]
    fn index(&self, index: I) -> &T {
        &self.entries[index.to_index()]
    }
}

impl<T, I: Idx> IndexMut<I> for Slab<T, I> {
    #[inline]
    fn index_mut(&mut self, index: I) -> &mut T {
        &mut self.entries[index.to_index()]
    }
}
