//! Bytes that are kept elsewhere than in memory.

use std::fmt;
use std::sync::Arc;

/// Where bytes lie in a [`ByteStore`]: a number of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreAddress(pub u32);

/// Keeps bytes in place of memory, for as long as somebody refers to them. It is an extension of memory: whoever comes later finds nothing.
///
/// A store that fails says so where it was made, and whoever made it does not go on with what depends on it: contents go on without. Any thread may use it,
/// since forks of a machine share its store.
pub trait ByteStore: fmt::Debug + Send + Sync {
    /// Keeps `bytes`. `None` where it cannot: they stay in memory.
    fn put(&self, bytes: &[u8]) -> Option<StoreAddress>;

    /// Copies what was put at `place`, from its byte `from` on, to `to`; zeroes where it cannot.
    fn get(&self, place: StoreAddress, from: usize, to: &mut [u8]);

    /// Nobody refers any more to the `length` bytes at `place`.
    fn free(&self, place: StoreAddress, length: usize);
}

/// The bytes of a unit in a store, which are given up with the last reference to them.
#[derive(Debug)]
pub(super) struct StoredBytes {
    store: Arc<dyn ByteStore>,
    place: StoreAddress,
    length: u32,
}

/// What a unit takes in memory whose bytes are elsewhere, beside its slot.
pub(super) const STORED: usize = size_of::<StoredBytes>() + super::chunks::COUNTS;

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
