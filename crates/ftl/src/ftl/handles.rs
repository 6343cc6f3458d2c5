//! What reclaim unit handles have cost, and what their data lies beside.

use crate::ftl::Ftl;
use crate::handles::{HandleContents, HandleCounts};
use outlast_units::{Ppn, Stream};

impl Ftl {
    /// Counts of each handle since the beginning; empty where the host's streams are no handles.
    pub fn handle_counts(&self) -> &[HandleCounts] {
        self.pages.handles().map_or(&[], |handles| handles.counts())
    }

    /// Valid units of each handle, and those of them in superblocks with units of others. In time proportional to the flash; empty without handles.
    pub fn handle_contents(&self) -> Vec<HandleContents> {
        self.pages.handles().map_or_else(Vec::new, |_| self.pages.handle_contents(&self.space))
    }

    /// Superblocks out of which units of the host were moved, and that were erased then.
    pub fn reallocated_superblocks(&self) -> u64 {
        self.pages.handles().map_or(0, |handles| handles.reallocated())
    }

    /// The handle through which the unit in `slot` was written; `None` without handles, and of units that are not the host's.
    pub fn handle_of(&self, slot: Ppn) -> Option<Stream> {
        self.pages.handles()?.handle_of(slot)
    }
}
