//! Read reclaim: a block has been read so often since its erasure that reading has disturbed it.

use super::{Policy, RowReads, View};
use outlast_units::BlockIndex;

/// The least reads of a block at which its superblock is moved.
#[derive(Clone, Copy, Debug, outlast_persist::Persist)]
pub(super) struct Reads(#[persist(fixed)] u32);

impl Policy for Reads {
    type Setting = u32;

    fn new(reads: u32, _superblocks: u32) -> Self {
        Self(reads)
    }

    fn watches_reads(&self) -> bool {
        true
    }

    fn alarm_at(&self, _row: &dyn RowReads) -> u32 {
        self.0
    }

    fn alarmed(&self, view: &impl View, block: BlockIndex) -> bool {
        view.reads(block) >= self.0
    }
}
