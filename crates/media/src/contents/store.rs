//! Stores that keep the bytes of units outside memory.

use std::fmt;
use std::sync::Arc;

/// Address of bytes in a [`ByteStore`]: a number that the store chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreAddress(pub u32);

/// A store that keeps bytes in place of memory, for as long as a unit refers to them. It extends memory and persists nothing.
///
/// A store reports a failure to its maker, who must not use anything that depends on it; contents continue without it. Any thread may use a store,
/// since forks of a device share it.
pub trait ByteStore: fmt::Debug + Send + Sync {
    /// Stores `bytes`. `None` if it cannot: they stay in memory.
    fn put(&self, bytes: &[u8]) -> Option<StoreAddress>;

    /// Copies the bytes stored at `place`, from byte `from` on, to `to`; zeroes if it cannot.
    fn get(&self, place: StoreAddress, from: usize, to: &mut [u8]);

    /// Frees the `length` bytes at `place`, to which no unit refers any more.
    fn free(&self, place: StoreAddress, length: usize);
}

/// Bytes of a unit in a store, freed with the last reference to them.
#[derive(Debug)]
pub(super) struct StoredBytes {
    store: Arc<dyn ByteStore>,
    place: StoreAddress,
    length: u32,
}

/// Memory of a unit whose bytes are in a store, without its slot.
pub(super) const STORED_BYTES: usize = size_of::<StoredBytes>() + super::chunks::COUNTS;

impl StoredBytes {
    /// Puts `bytes` into `store`; `None` where it does not take them.
    pub(super) fn new(store: &Arc<dyn ByteStore>, bytes: &[u8]) -> Option<Self> {
        let place = store.put(bytes)?;
        Some(Self { store: store.clone(), place, length: bytes.len() as u32 })
    }

    /// Number of bytes.
    #[inline]
    pub(super) fn length(&self) -> usize {
        self.length as usize
    }

    /// Copies the bytes from byte `from` on to `to`.
    ///
    /// # Panics
    /// If there are not so many.
    pub(super) fn copy_to(&self, from: usize, to: &mut [u8]) {
        assert!(from + to.len() <= self.length(), "a unit has {} bytes", self.length);
        self.store.get(self.place, from, to);
    }
}

impl Drop for StoredBytes {
    fn drop(&mut self) {
        self.store.free(self.place, self.length());
    }
}
