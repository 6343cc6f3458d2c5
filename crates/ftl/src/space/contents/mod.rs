//! Bytes of slots, and parity over them.

mod check;
mod parity;
mod shards;

use outlast_media::SlotBytes;

/// Bytes on flash of a core, with parity over program units. Which program units go together is said by the [`PuStates`](super::PuStates), which
/// each call gets.
#[derive(Clone, Debug, outlast_persist::Restore)]
pub(super) struct SlotContents {
    /// Bytes of each slot; absent where no bytes are kept.
    #[persist(each)]
    pub(crate) bytes: Option<SlotBytes>,
    /// Bytes of a unit.
    #[persist(skip)]
    unit: usize,
}

impl SlotContents {
    /// Contents of units of `unit` bytes, none written. Unless `kept`, there are no bytes. `keeps_stale`: stale units keep theirs until they are erased.
    pub(crate) fn new(unit: usize, kept: bool, keeps_stale: bool) -> Self {
        Self { bytes: kept.then(|| SlotBytes::new(unit, keeps_stale)), unit }
    }
}
