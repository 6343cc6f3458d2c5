//! Look-ups: slots, owners, blocks, views.

use super::{Ftl, ParityView, SpaceView, StreamView, SuperblockView};
use crate::layout::SlotLayout;
use crate::streams::StreamTable;
use crate::table::PageMapping;
use outlast_media::UnitBytes;
use outlast_units::{BlockIndex, LocalDie, Lpn, Ppn, Pu, Stream, SuperblockId};

impl Ftl {
    /// The arithmetic of slots.
    #[inline]
    pub fn layout(&self) -> &SlotLayout {
        &self.layout
    }
    /// The streams, and what each is for.
    #[inline]
    pub fn streams(&self) -> &StreamTable {
        &self.streams
    }
    /// Class of the data of a superblock.
    #[inline]
    pub(super) fn class_of_superblock(&self, superblock: SuperblockId) -> u8 {
        self.streams.class(self.superblocks.opened_by(superblock))
    }

    /// One superblock.
    #[inline]
    pub fn superblock(&self, superblock: SuperblockId) -> SuperblockView<'_> {
        debug_assert!(
            superblock.0 < self.layout.superblocks(),
            "superblock {superblock} of {}",
            self.layout.superblocks()
        );
        SuperblockView { ftl: self, id: superblock }
    }

    /// One stream.
    #[inline]
    pub fn stream(&self, stream: Stream) -> StreamView<'_> {
        debug_assert!(stream.0 < self.streams.count(), "stream {} of {}", stream.0, self.streams.count());
        StreamView { ftl: self, stream }
    }

    /// Room.
    #[inline]
    pub fn space(&self) -> SpaceView<'_> {
        SpaceView { ftl: self }
    }

    /// Parity.
    #[inline]
    pub fn parity(&self) -> ParityView<'_> {
        ParityView { ftl: self }
    }

    /// The slot of a logical page; [`Ppn::NONE`] where nothing is written.
    #[inline]
    pub fn lookup(&self, lpn: Lpn) -> Ppn {
        self.map.lookup(lpn)
    }

    /// The logical page that a slot was written for; it is stale unless [`Ftl::lookup`] leads back.
    #[inline]
    pub fn owner(&self, slot: Ppn) -> Lpn {
        self.map.owner(slot)
    }

    /// True if a slot's program unit is on flash, not still in the buffer.
    #[inline]
    pub fn is_programmed(&self, slot: Ppn) -> bool {
        self.superblocks.to_come(self.layout.superblock_of(slot)) == 0 || {
            let (pu, _) = self.layout.pu_of(slot);
            self.superblocks.is_programmed(pu)
        }
    }

    /// The block of a superblock in one plane of a die.
    #[inline]
    pub fn block_index(&self, superblock: SuperblockId, local_die: LocalDie, plane: u16) -> BlockIndex {
        self.physical.blocks().index(self.physical.block(superblock, local_die, plane))
    }

    /// The superblock that a block belongs to; `None` of a spare or bad one.
    pub fn superblock_of_block(&self, block: BlockIndex) -> Option<SuperblockId> {
        self.physical.superblock_of(&self.layout, self.physical.blocks().address(block))
    }

    /// Sets the wear that blocks come with, in the order of [`PhysicalBlocks::all_cycles`](outlast_media::PhysicalBlocks::all_cycles).
    pub fn set_wear(&mut self, cycles: &[u32]) {
        self.physical.set_cycles(cycles);
        for superblock in self.superblocks.ids() {
            let lanes = self.lanes.erasable(superblock);
            let cycles = self.physical.mean_cycles(&self.layout, superblock, lanes);
            self.superblocks.set_cycles(superblock, cycles);
        }
    }

    /// Prefetches the entries of logical pages that will soon be looked up into the processor's cache.
    #[inline]
    pub fn touch(&self, lpns: impl Iterator<Item = Lpn>) {
        self.map.touch(lpns);
    }

    /// Prefetches the entries of logical pages that will soon be written: loads that do not wait for each other.
    #[inline]
    pub fn touch_written(&self, lpns: impl Iterator<Item = Lpn> + Clone) {
        self.map.touch_written(lpns);
    }

    /// Prefetches the entries of the `units` of program unit `pu` that will soon be relocated: stores that miss the cache would hold up all that come
    /// after them. Their owners should have been [touched](Ftl::touch_owners) before.
    #[inline]
    pub fn touch_moving(&self, pu: Pu, units: u64) {
        self.map.touch_moving(self.layout.first_slot_of(pu), units);
    }

    /// Prefetches the owners of program unit `pu`.
    #[inline]
    pub fn touch_owners(&self, pu: Pu) {
        self.map.touch_owner(self.layout.first_slot_of(pu));
    }

    /// Units that `stream` has put into a program unit that is not full yet.
    pub(super) fn begun_units(&self, stream: Stream) -> u32 {
        self.frontiers[stream].begun(self.layout.units_per_pu())
    }

    /// The program unit that `stream` has begun and not filled.
    pub(super) fn begun_pu(&self, stream: Stream) -> Option<Pu> {
        (self.begun_units(stream) != 0).then(|| self.layout.pu_of(self.frontiers[stream].next()).0)
    }

    /// Data slots left in the open superblock of `stream`.
    #[inline]
    pub(super) fn room(&self, stream: Stream) -> u32 {
        self.frontiers[stream].room()
    }

    /// Free superblocks.
    #[inline]
    pub(super) fn free_superblocks(&self) -> u32 {
        self.superblocks.free().len() as u32
    }

    /// Content of a slot of a drive that keeps an image of its flash; the tag of parity is the code's sum of owners.
    pub fn image(&self, slot: Ppn) -> Option<&UnitBytes> {
        self.contents.as_ref().and_then(|contents| contents.raw(slot.0))
    }

    /// The unit of a live slot, when bytes are kept.
    pub fn load(&self, slot: Ppn) -> Option<&UnitBytes> {
        self.contents.as_ref().map(|contents| contents.read(slot.0, self.map.owner(slot).0))
    }
}
