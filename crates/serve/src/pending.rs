//! Commands under way on a device, with their clients.

use outlast_device::Command;
use outlast_units::Nanos;

use crate::session::RequestOrigin;
use crate::zeroing::RangeZeroing;
use crate::zone_reads::ZoneReads;

/// Role of a command in the request of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CommandPurpose {
    /// Read, answered with its bytes.
    Read,
    /// One of the commands of a read across zones, by its index in the [`ZoneReadPool`].
    ReadAcross(u32),
    /// Read of one member of an array, not counted among the commands of the array.
    MemberRead,
    /// Question for sectors to be written again, answered with their list.
    LbaStatus,
    /// Write at a write pointer, answered with the place.
    Append,
    /// Any other request of one command, answered when the command ends.
    Single,
    /// One of the commands of a [`RangeZeroing`], by its index in the [`ZeroingPool`].
    Zeroing(u32),
}

/// A command under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PendingCommand {
    pub(crate) origin: RequestOrigin,
    pub(crate) purpose: CommandPurpose,
    pub(crate) command: Command,
    /// Simulated time at which the device was given the command.
    pub(crate) submitted_at: Nanos,
}

/// Values by index. Free indices are used again, so that they stay as small as the largest number of values at a time.
#[derive(Clone, Debug)]
pub(crate) struct IndexedPool<T> {
    slots: Vec<Option<T>>,
    free: Vec<u32>,
    /// Number of indices that are never used.
    reserved: usize,
}

impl<T> Default for IndexedPool<T> {
    fn default() -> Self {
        Self { slots: Vec::new(), free: Vec::new(), reserved: 0 }
    }
}

impl<T> IndexedPool<T> {
    /// An empty pool that never uses the indices `reserved`, which must ascend.
    pub(crate) fn with_reserved(reserved: impl Iterator<Item = u32>) -> Self {
        let mut pool = Self::default();
        for index in reserved {
            // The gap before each reserved index is free; the reserved slot itself stays empty and is in no list.
            pool.free.extend(pool.slots.len() as u32..index);
            pool.slots.resize_with(index as usize + 1, || None);
            pool.reserved += 1;
        }
        pool
    }

    /// Number of values.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.slots.len() - self.free.len() - self.reserved
    }

    /// Stores `value`; returns its index.
    #[inline]
    pub(crate) fn insert(&mut self, value: T) -> u32 {
        if let Some(index) = self.free.pop() {
            self.slots[index as usize] = Some(value);
            return index;
        }
        self.slots.push(Some(value));
        self.slots.len() as u32 - 1
    }

    /// All values, by ascending index.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.slots.iter_mut().flatten()
    }

    /// The value at `index`, if there is one.
    pub(crate) fn get_mut(&mut self, index: u32) -> Option<&mut T> {
        self.slots.get_mut(index as usize)?.as_mut()
    }

    /// Removes the value at `index`, if there is one, and frees the index.
    #[inline]
    pub(crate) fn remove(&mut self, index: u32) -> Option<T> {
        let value = self.slots.get_mut(index as usize)?.take()?;
        self.free.push(index);
        Some(value)
    }
}

/// Trims and zeroes of more than one command that are under way.
pub(crate) type ZeroingPool = IndexedPool<RangeZeroing>;

/// Reads across zones that are under way.
pub(crate) type ZoneReadPool = IndexedPool<ZoneReads>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserved_indices_are_never_used() {
        let mut pool = IndexedPool::with_reserved([1, 4, 5].into_iter());
        assert_eq!(pool.len(), 0);
        let mut indices: Vec<u32> = (0..5).map(|value| pool.insert(value)).collect();
        indices.sort_unstable();
        assert_eq!((indices, pool.len()), (vec![0, 2, 3, 6, 7], 5));
        assert!(pool.remove(4).is_none(), "a reserved index holds no value");
        assert!(pool.remove(6).is_some());
        assert_eq!((pool.len(), pool.insert(9)), (4, 6));
    }
}
