//! A vector that is indexed by one kind of address only.

use outlast_persist::{Damage, Persist, Reader, Table, Writer};
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// An address that counts from zero and can index an [`IndexVec`].
pub trait Idx: Copy {
    /// What [`Extents`](outlast_persist::Extents) count it as, if they do.
    const KIND: Option<usize> = None;

    /// The address with this number.
    ///
    /// # Panics
    /// If the number does not fit the address's width: a table was built larger than its addresses can tell apart.
    fn from_index(index: usize) -> Self;

    /// The number, for indexing.
    fn to_index(self) -> usize;
}

/// A number of its own accord, for tables whose entries have no type of index.
impl Idx for u32 {
    #[inline]
    fn from_index(index: usize) -> Self {
        crate::to_count(index)
    }

    #[inline]
    fn to_index(self) -> usize {
        self as usize
    }
}

/// A `Vec<T>` that only `I` indexes: the state of dies cannot be looked up with the number of a core.
///
/// ```
/// use outlast_units::{CoreId, IndexVec, LocalDie};
/// let mut load: IndexVec<CoreId, u32> = IndexVec::filled(0, 4);
/// load[CoreId(2)] += 1;
/// assert_eq!(load.iter().sum::<u32>(), 1);
/// ```
///
/// ```compile_fail
/// # use outlast_units::{CoreId, IndexVec, LocalDie};
/// # let load: IndexVec<CoreId, u32> = IndexVec::filled(0, 4);
/// let wrong = load[LocalDie(2)];
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexVec<I, T> {
    entries: Vec<T>,
    index: PhantomData<fn(I)>,
}

impl<I: Idx, T> IndexVec<I, T> {
    /// A table of `count` entries, all `value`.
    pub fn filled(value: T, count: usize) -> Self
    where
        T: Clone,
    {
        Self::from(vec![value; count])
    }

    /// Number of entries.
    #[inline]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Adds an entry; returns its address.
    pub fn push(&mut self, value: T) -> I {
        self.entries.push(value);
        I::from_index(self.entries.len() - 1)
    }

    /// Removes all entries; what was allocated stays.
    pub fn clear(&mut self) {
        self.entries.clear();
    }

    /// The entry, if there is one with that address.
    #[inline]
    pub fn get(&self, index: I) -> Option<&T> {
        self.entries.get(index.to_index())
    }

    /// All addresses, in order.
    pub fn indices(&self) -> impl ExactSizeIterator<Item = I> + use<I, T> {
        (0..self.entries.len()).map(I::from_index)
    }

    /// All entries with their addresses, in order.
    pub fn iter_indexed(&self) -> impl ExactSizeIterator<Item = (I, &T)> {
        self.entries.iter().enumerate().map(|(index, entry)| (I::from_index(index), entry))
    }

    /// All entries, in order.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.entries.iter()
    }

    /// All entries, to be changed.
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.entries.iter_mut()
    }

    /// All entries with their addresses, in order, to be changed.
    pub fn iter_mut_indexed(&mut self) -> impl ExactSizeIterator<Item = (I, &mut T)> {
        self.entries.iter_mut().enumerate().map(|(index, entry)| (I::from_index(index), entry))
    }

    /// The entries as a slice, for work in bulk.
    #[inline]
    pub fn as_slice(&self) -> &[T] {
        &self.entries
    }

    /// The entries as a slice, to be changed in bulk.
    #[inline]
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        &mut self.entries
    }
}

impl<I, T> Default for IndexVec<I, T> {
    fn default() -> Self {
        Self { entries: Vec::new(), index: PhantomData }
    }
}

impl<I, T> From<Vec<T>> for IndexVec<I, T> {
    fn from(entries: Vec<T>) -> Self {
        Self { entries, index: PhantomData }
    }
}

impl<I, T> Extend<T> for IndexVec<I, T> {
    fn extend<A: IntoIterator<Item = T>>(&mut self, iter: A) {
        self.entries.extend(iter);
    }
}

impl<I, T> FromIterator<T> for IndexVec<I, T> {
    fn from_iter<A: IntoIterator<Item = T>>(entries: A) -> Self {
        Self::from(entries.into_iter().collect::<Vec<T>>())
    }
}

impl<I: Idx, T: Persist> Persist for IndexVec<I, T> {
    const SHAPE: u64 = <Vec<T>>::SHAPE;

    fn write(&self, to: &mut Writer<'_>) {
        self.entries.write(to);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Damage> {
        let entries = Vec::read(from)?;
        if let Some(kind) = I::KIND {
            from.extents().check_table(kind, "a table", entries.len() as u64)?;
        }
        Ok(Self::from(entries))
    }
}

impl<I: Idx, T: Persist> Table for IndexVec<I, T> {
    type Entry = T;

    fn entries(&mut self) -> &mut Vec<T> {
        &mut self.entries
    }

    fn note_extent(&self, from: &mut Reader<'_>) {
        if let Some(kind) = I::KIND {
            let extents = from.extents().with(kind, self.entries.len() as u64);
            from.set_extents(extents);
        }
    }
}

impl<I: Idx, T> Index<I> for IndexVec<I, T> {
    type Output = T;

    #[inline]
    fn index(&self, index: I) -> &T {
        &self.entries[index.to_index()]
    }
}

impl<I: Idx, T> IndexMut<I> for IndexVec<I, T> {
    #[inline]
    fn index_mut(&mut self, index: I) -> &mut T {
        &mut self.entries[index.to_index()]
    }
}

impl<I, T> IntoIterator for IndexVec<I, T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.into_iter()
    }
}

impl<'a, I, T> IntoIterator for &'a IndexVec<I, T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.iter()
    }
}

impl<'a, I, T> IntoIterator for &'a mut IndexVec<I, T> {
    type Item = &'a mut T;
    type IntoIter = std::slice::IterMut<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.iter_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::{Idx, IndexVec};
    use crate::{CoreId, Pu};

    #[test]
    fn addresses_come_in_order() {
        let mut table: IndexVec<Pu, char> = IndexVec::default();
        assert_eq!(table.push('a'), Pu(0));
        assert_eq!(table.push('b'), Pu(1));
        assert_eq!(table.indices().collect::<Vec<_>>(), [Pu(0), Pu(1)]);
        assert_eq!(table.iter_indexed().last(), Some((Pu(1), &'b')));
        assert_eq!(table.get(Pu(2)), None);
    }

    #[test]
    #[should_panic(expected = "65536 is beyond the addresses of a CoreId")]
    fn a_number_too_large_for_its_address_is_refused() {
        let _ = CoreId::from_index(65_536);
    }
}
