//! Reclaim unit handles: through which of them each unit was written, and what each has cost.

use crate::layout::SlotLayout;
use crate::space::FlashSpace;
use crate::streams::{StreamCause, StreamTable};
use crate::table::FlatMap;
use outlast_units::{IndexVec, Ppn, Stream, SuperblockId, to_length};

/// Handle of a slot that holds none of the host's data: a page of the mapping table, or nothing yet.
const NO_HANDLE: u8 = u8::MAX;

outlast_units::counters! {
    /// Counts of one handle since the beginning.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, outlast_persist::Persist)]
    pub struct HandleCounts {
        /// Units that the host has written through it.
        pub host_units: u64,
        /// Units of it that collection, wear levelling or scrubbing has moved, or that were written again after a failed program operation.
        pub moved_units: u64,
        /// Reclaim units that it has opened: one superblock each, or several.
        pub reclaim_units: u64,
    }
}

outlast_units::counters! {
    /// Valid units of one handle by what lies beside them.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct HandleContents {
        /// Valid units.
        pub valid: u64,
        /// Valid units among them in superblocks that also hold valid units of another handle.
        pub mixed: u64,
    }
}

/// The handle of each slot, and counts by handle. It stays with a slot until that is written anew, so that it is right again when a loss of power
/// makes an older copy the newest.
#[derive(Clone, Debug, outlast_persist::Restore)]
pub(crate) struct HandleTable {
    #[persist(each)]
    of_slot: IndexVec<Ppn, u8>,
    #[persist(each)]
    counts: Vec<HandleCounts>,
    /// Superblocks that each handle has opened of the reclaim unit that it refers to; 0 where that is empty.
    #[persist(each)]
    in_unit: Vec<u32>,
    /// Superblocks in a reclaim unit.
    #[persist(skip)]
    per_unit: u32,
    /// Reclaim units that the drive had each handle leave before they were full.
    #[persist(each)]
    left: Vec<u64>,
    /// Superblocks that units were moved out of and that were erased then, by the handle of the first of these units: what `NVMe` reports as media reallocated.
    #[persist(each)]
    reallocated: Vec<u64>,
    /// Handle of the first unit that has been moved out of each superblock since it was opened.
    #[persist(each)]
    first_moved: Vec<u8>,
    /// True of each superblock that took in a unit which isolation keeps from it, since all else would have lost that unit, and has not been erased since.
    #[persist(each)]
    has_strays: Vec<bool>,
}

impl HandleTable {
    /// A table for erased flash; `None` where `streams` has no handles.
    pub(crate) fn of(streams: &StreamTable, layout: &SlotLayout, built: bool) -> Option<Box<Self>> {
        let (slots, superblocks) = if built { (layout.slots(), layout.superblocks()) } else { (0, 0) };
        streams.has_handles().then(|| {
            Box::new(Self {
                of_slot: IndexVec::filled(NO_HANDLE, to_length(slots.into())),
                counts: vec![HandleCounts::default(); streams.hosts().len()],
                in_unit: vec![0; streams.hosts().len()],
                per_unit: streams.unit_superblocks(),
                left: vec![0; streams.hosts().len()],
                reallocated: vec![0; streams.hosts().len()],
                first_moved: vec![NO_HANDLE; to_length(superblocks.into())],
                has_strays: vec![false; to_length(superblocks.into())],
            })
        })
    }

    /// Resident bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.of_slot.len() + self.first_moved.len() + self.has_strays.len()
    }

    /// Value of [`HandleTable::bytes`] when it is built on `layout`.
    pub(crate) fn bytes_when_built(layout: &SlotLayout) -> u64 {
        u64::from(layout.slots()) + 2 * u64::from(layout.superblocks())
    }

    /// The host has written a unit to `slot` through the handle that is `stream`.
    pub(crate) fn record_write(&mut self, slot: Ppn, stream: Stream) {
        self.of_slot[slot] = stream.0;
        self.counts[usize::from(stream.0)].host_units += 1;
    }

    /// The unit in slot `from` has moved to `to`. A stray one may be one there, too.
    pub(crate) fn record_move(&mut self, space: &FlashSpace, from: Ppn, to: Ppn) {
        self.count_move(space.layout(), from, to);
        if self.has_strays[space.layout().superblock_of(from).0 as usize] {
            self.note_stray(space, to);
        }
    }

    /// The unit in slot `from`, whose program operation failed, has gone to `to`, where there was room, be it that of another handle: better there than lost.
    pub(crate) fn record_rewrite(&mut self, space: &FlashSpace, from: Ppn, to: Ppn) {
        self.count_move(space.layout(), from, to);
        self.note_stray(space, to);
    }

    #[cold]
    fn note_stray(&mut self, space: &FlashSpace, slot: Ppn) {
        let superblock = space.layout().superblock_of(slot);
        let stream = space.superblocks().opened_by(superblock);
        if !self.admits(space.streams(), stream, self.handle_of(slot)) {
            self.has_strays[superblock.0 as usize] = true;
        }
    }

    fn count_move(&mut self, layout: &SlotLayout, from: Ppn, to: Ppn) {
        let handle = self.of_slot[from];
        self.of_slot[to] = handle;
        if let Some(counts) = self.counts.get_mut(usize::from(handle)) {
            counts.moved_units += 1;
            let first = &mut self.first_moved[layout.superblock_of(from).0 as usize];
            if *first == NO_HANDLE {
                *first = handle;
            }
        }
    }

    /// A page of the mapping table has been written to `slot`.
    pub(crate) fn record_own(&mut self, slot: Ppn) {
        self.of_slot[slot] = NO_HANDLE;
    }

    /// A superblock has been opened for `stream`.
    pub(crate) fn record_opening(&mut self, stream: Stream) {
        let handle = usize::from(stream.0);
        let Some((counts, in_unit)) = self.counts.get_mut(handle).zip(self.in_unit.get_mut(handle)) else {
            return;
        };
        if *in_unit == 0 || *in_unit >= self.per_unit {
            *in_unit = 0;
            counts.reclaim_units += 1;
        }
        *in_unit += 1;
    }

    /// The handle that is `stream` refers to an empty reclaim unit from now on.
    pub(crate) fn leave_unit(&mut self, stream: Stream) {
        self.in_unit[usize::from(stream.0)] = 0;
    }

    /// The drive has closed the open superblock of `stream`. If it was the last of a reclaim unit, its handle refers to another one.
    pub(crate) fn record_closing(&mut self, stream: Stream) {
        let handle = usize::from(stream.0);
        if let Some((in_unit, left)) = self.in_unit.get_mut(handle).zip(self.left.get_mut(handle))
            && *in_unit >= self.per_unit
        {
            *in_unit = 0;
            *left += 1;
        }
    }

    /// Superblocks that the handle that is `stream` has not opened of the reclaim unit that it refers to; `None` where that is empty.
    pub(crate) fn unopened(&self, stream: Stream) -> Option<u32> {
        let in_unit = *self.in_unit.get(usize::from(stream.0))?;
        (in_unit != 0).then(|| self.per_unit.saturating_sub(in_unit))
    }

    /// Reclaim units that the drive had each handle leave before they were full.
    pub(crate) fn left(&self) -> &[u64] {
        &self.left
    }

    /// Superblock number `superblock` has been erased.
    pub(crate) fn record_erasure(&mut self, superblock: usize) {
        self.has_strays[superblock] = false;
        let handle = std::mem::replace(&mut self.first_moved[superblock], NO_HANDLE);
        if let Some(reallocated) = self.reallocated.get_mut(usize::from(handle)) {
            *reallocated += 1;
        }
    }

    /// Counts by handle.
    pub(crate) fn counts(&self) -> &[HandleCounts] {
        &self.counts
    }

    /// Superblocks that units were moved out of and that were erased then, by the handle of the first of these units.
    pub(crate) fn reallocated(&self) -> &[u64] {
        &self.reallocated
    }

    /// The handle of the unit in `slot`; `None` of one that is not the host's.
    fn handle_of(&self, slot: Ppn) -> Option<Stream> {
        Some(Stream(self.of_slot[slot])).filter(|handle| handle.0 != NO_HANDLE)
    }

    /// Valid units of each handle by `map`, and those of them that lie beside units of others. In time proportional to the flash.
    pub(crate) fn contents(&self, map: &FlatMap, space: &FlashSpace) -> Vec<HandleContents> {
        let mut sums = vec![HandleContents::default(); self.counts.len()];
        for superblock in space.superblocks().ids() {
            let mut valid = vec![0; sums.len()];
            for handle in self.handles_in(map, space, superblock).flatten() {
                valid[usize::from(handle.0)] += 1;
            }
            let is_mixed = valid.iter().filter(|&&units| units != 0).count() > 1;
            for (sum, units) in sums.iter_mut().zip(valid) {
                sum.valid += units;
                sum.mixed += if is_mixed { units } else { 0 };
            }
        }
        sums
    }

    /// The handle of each valid unit of `superblock`; `None` of a page of the mapping table.
    fn handles_in<'a>(
        &'a self,
        map: &'a FlatMap,
        space: &FlashSpace,
        superblock: SuperblockId,
    ) -> impl Iterator<Item = Option<Stream>> + 'a {
        let first = space.layout().first_slot(superblock);
        let slots = Ppn::each(first..first + space.layout().units_per_superblock());
        slots.filter(|&slot| map.is_valid(slot)).map(|slot| self.handle_of(slot))
    }

    /// True if a superblock of `stream` may hold a unit of `handle`, or a page of the mapping table: one of a handle has units of it alone, and one of moved
    /// data only units of handles that are isolated together.
    fn admits(&self, streams: &StreamTable, stream: Stream, handle: Option<Stream>) -> bool {
        let is_host = streams.cause(stream) == StreamCause::Host;
        let shares_class = |other| streams.class(other) == streams.class(stream);
        match handle {
            Some(handle) if is_host => handle == stream,
            Some(handle) => usize::from(handle.0) < self.counts.len() && shares_class(handle),
            None => !is_host && streams.map().is_some_and(shares_class),
        }
    }

    /// Checks that each superblock holds units of those handles alone whose data may lie in it, except for superblocks with strays.
    ///
    /// # Errors
    /// The first superblock with a unit that must not be there.
    pub(crate) fn check(&self, map: &FlatMap, space: &FlashSpace) -> Result<(), String> {
        for superblock in space.superblocks().ids() {
            let stream = space.superblocks().opened_by(superblock);
            let stray = self
                .handles_in(map, space, superblock)
                .find(|&handle| !self.admits(space.streams(), stream, handle))
                .filter(|_| !self.has_strays[superblock.0 as usize]);
            if let Some(stray) = stray {
                return Err(format!(
                    "superblock {superblock} of {stream:?} holds a unit of handle {stray:?}"
                ));
            }
        }
        Ok(())
    }
}
