//! Superblocks of the SLC cache: those in another mode than the first.

use super::SuperblockTable;
use outlast_decisions::SuperblockState;
use outlast_units::{ModeId, SuperblockId};

impl SuperblockTable {
    /// Superblocks that are not erased and not in the first mode: the SLC cache.
    #[inline]
    pub(crate) fn cached(&self) -> u32 {
        self.cached
    }

    /// Those of [`SuperblockTable::cached`] that are full, or being emptied.
    #[inline]
    pub(crate) fn cached_full(&self) -> u32 {
        self.cached_full
    }

    /// True if `superblock` is of the SLC cache: not erased and not in the first mode.
    #[inline]
    pub(crate) fn is_cached(&self, superblock: SuperblockId) -> bool {
        self.mode[superblock] != ModeId::FIRST
            && !matches!(self.state[superblock], SuperblockState::Free | SuperblockState::Retired)
    }

    /// The full superblock of the SLC cache that was sealed first.
    pub(crate) fn oldest_cached(&self) -> Option<SuperblockId> {
        let sealed = self.in_state(SuperblockState::Sealed).filter(|&id| self.mode[id] != ModeId::FIRST);
        sealed.min_by_key(|&id| self.sealed_order[id])
    }
}
