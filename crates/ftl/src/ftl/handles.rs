//! View of reclaim unit handles: what they have cost, and what their data lies beside.

use crate::ftl::Ftl;
use crate::handles::{HandleContents, HandleCounts, HandleTable};
use outlast_units::Stream;

impl Ftl {
    /// The handle that is `stream` refers to an empty reclaim unit from now on; its open superblock has been closed.
    pub fn leave_unit(&mut self, stream: Stream) {
        if let Some(handles) = &mut self.pages.handles {
            handles.leave_unit(stream);
        }
    }

    /// The drive has closed the open superblock of `stream`, unasked.
    pub fn record_closing(&mut self, stream: Stream) {
        if let Some(handles) = &mut self.pages.handles {
            handles.record_closing(stream);
        }
    }
}

/// Reclaim unit handles of a core; without any, all answers are empty.
#[derive(Clone, Copy, Debug)]
pub struct HandlesView<'a> {
    ftl: &'a Ftl,
    table: Option<&'a HandleTable>,
}

impl<'a> HandlesView<'a> {
    /// The handles of `ftl`.
    pub fn of(ftl: &'a Ftl) -> Self {
        Self { ftl, table: ftl.pages.handles.as_deref() }
    }

    /// Counts of each handle since the beginning.
    pub fn counts(self) -> &'a [HandleCounts] {
        self.table.map_or(&[], HandleTable::counts)
    }

    /// Valid units of each handle, and those of them in superblocks with units of others. In time proportional to the flash.
    pub fn contents(self) -> Vec<HandleContents> {
        let Self { ftl, table } = self;
        table.map_or_else(Vec::new, |table| table.contents(ftl.pages.map(), &ftl.space))
    }

    /// Superblocks that the handle that is `stream` has not opened of the reclaim unit that it refers to; `None` where that is empty, or without handles.
    pub fn unopened(self, stream: Stream) -> Option<u32> {
        self.table?.unopened(stream)
    }

    /// Reclaim units that each handle left before they were full since the drive closed a superblock.
    pub fn left(self) -> &'a [u64] {
        self.table.map_or(&[], HandleTable::left)
    }

    /// Superblocks out of which units of the host were moved, and that were erased then, by the handle of the first of these units.
    pub fn reallocated(self) -> &'a [u64] {
        self.table.map_or(&[], HandleTable::reallocated)
    }
}
