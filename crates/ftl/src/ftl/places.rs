//! Look-ups: where things are, and what they are for.

use super::Ftl;
use crate::layout::Layout;
use crate::streams::{Cause, Stream};
use crate::superblocks::State;
use crate::table::Mapping;
use outlast_media::Unit;
use outlast_units::{BlockIndex, LocalDie, Lpn, Ppn, Pu, SuperblockId};

impl Ftl {
    /// The arithmetic of slots.
    #[inline]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }
    /// The stream of host data of class `class` with stream hint `hint`.
    #[inline]
    pub fn host_stream(&self, hint: u8, class: u8) -> Stream {
        self.streams.host(hint, class)
    }
    /// Number of streams of host data; they are the first ones.
    #[inline]
    pub fn host_streams(&self) -> u8 {
        self.streams.hosts()
    }
    /// Number of classes.
    pub fn classes(&self) -> u8 {
        self.streams.classes()
    }
    /// The stream of data of class `class` moved by garbage collection.
    ///
    /// # Panics
    /// If there is no such class.
    #[inline]
    pub fn gc_stream(&self, class: u8) -> Stream {
        self.streams.relocated(Cause::Gc, class).expect("garbage collection has a stream for each class")
    }
    /// The stream of data of class `class` moved by static wear levelling.
    ///
    /// # Panics
    /// If static wear levelling is off.
    pub fn wear_leveling_stream(&self, class: u8) -> Stream {
        self.streams.relocated(Cause::WearLeveling, class).expect("static wear levelling is on")
    }
    /// The stream of data of class `class` moved by scrubbing.
    ///
    /// # Panics
    /// If there is no scrubbing.
    pub fn scrub_stream(&self, class: u8) -> Stream {
        self.streams.relocated(Cause::Scrub, class).expect("scrubbing is on")
    }
    /// Why units of `stream` are written.
    #[inline]
    pub fn cause_of(&self, stream: Stream) -> Cause {
        self.streams.cause(stream)
    }
    /// The class of what `stream` writes.
    #[inline]
    pub fn class_of(&self, stream: Stream) -> u8 {
        self.streams.class(stream)
    }
    /// The class of what a superblock holds.
    #[inline]
    pub fn class_of_superblock(&self, superblock: SuperblockId) -> u8 {
        self.streams.class(self.superblocks.opened_by(superblock))
    }
    /// Number of streams.
    pub fn streams(&self) -> u8 {
        self.streams.count() as u8
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

    /// Whether a slot's program unit is on flash, not still in the buffer.
    #[inline]
    pub fn is_programmed(&self, slot: Ppn) -> bool {
        self.superblocks.to_come(self.layout.superblock_of(slot)) == 0 || {
            let (pu, _) = self.layout.pu_of(slot);
            self.superblocks.is_programmed(pu)
        }
    }

    /// The state of a superblock.
    #[inline]
    pub fn state(&self, superblock: SuperblockId) -> State {
        self.superblocks.state(superblock)
    }

    /// The stream that opened a superblock last.
    pub fn stream_of(&self, superblock: SuperblockId) -> Stream {
        self.superblocks.opened_by(superblock)
    }

    /// Whether program unit `pu` is of a superblock that `stream` opened.
    pub fn is_of(&self, pu: Pu, stream: Stream) -> bool {
        self.superblocks.opened_by(self.layout.within_superblock(pu).0) == stream
    }

    /// Whether what a superblock holds was put there by scrubbing.
    pub fn is_scrubbed(&self, superblock: SuperblockId) -> bool {
        self.cause_of(self.superblocks.opened_by(superblock)) == Cause::Scrub
    }

    /// The block of a superblock in one plane of a die, numbered as by [`Blocks::index`].
    #[inline]
    pub fn block_index(&self, superblock: SuperblockId, local_die: LocalDie, plane: u16) -> BlockIndex {
        self.physical.blocks().index(self.physical.block(superblock, local_die, plane))
    }

    /// All blocks of a superblock, except for those whose lane is gone, numbered as by [`Blocks::index`].
    pub fn block_indices(&self, superblock: SuperblockId) -> impl Iterator<Item = BlockIndex> {
        self.lanes
            .live()
            .flat_map(move |lane| self.physical.blocks_of(&self.layout, superblock, lane))
            .map(|at| self.physical.blocks().index(at))
    }

    /// The superblock that a block, numbered as by [`Blocks::index`], belongs to; `None` of a spare or bad one.
    pub fn superblock_of_block(&self, block: BlockIndex) -> Option<SuperblockId> {
        self.physical.superblock_of(&self.layout, self.physical.blocks().address(block))
    }

    /// Gives the blocks the wear that they come with, in the order of [`Blocks::all_cycles`].
    pub fn wear(&mut self, cycles: &[u32]) {
        self.physical.set_cycles(cycles);
        for superblock in self.superblocks.ids() {
            let lanes = self.lanes.erasable(superblock);
            let cycles = self.physical.mean_cycles(&self.layout, superblock, lanes);
            self.superblocks.set_cycles(superblock, cycles);
        }
    }

    /// Has the entries of logical pages that will soon be looked up brought into the processor's cache.
    #[inline]
    pub fn touch(&self, lpns: impl Iterator<Item = Lpn>) {
        self.map.touch(lpns);
    }

    /// The same for logical pages that will soon be written: loads that do not wait for each other.
    #[inline]
    pub fn touch_written(&self, lpns: impl Iterator<Item = Lpn>) {
        self.map.touch_written(lpns);
    }

    /// Units that `stream` has put into a program unit that is not full yet.
    pub fn begun_units(&self, stream: Stream) -> u32 {
        self.frontiers[stream].begun(self.layout.units_per_pu())
    }

    /// The program unit that `stream` has begun and not filled.
    pub fn begun_pu(&self, stream: Stream) -> Option<Pu> {
        (self.begun_units(stream) != 0).then(|| self.layout.pu_of(self.frontiers[stream].next()).0)
    }

    /// Data slots left in the open superblock of `stream`.
    #[inline]
    pub fn room(&self, stream: Stream) -> u32 {
        self.frontiers[stream].room()
    }

    /// Valid units of a superblock.
    #[inline]
    pub fn valid_count(&self, superblock: SuperblockId) -> u32 {
        self.superblocks.valid(superblock)
    }

    /// Free superblocks.
    #[inline]
    pub fn free_superblocks(&self) -> u32 {
        self.superblocks.free().len() as u32
    }

    /// What lies in a slot of a drive that keeps an image of its flash; the tag of parity is the code's sum of owners.
    pub fn image(&self, slot: Ppn) -> Option<&Unit> {
        self.contents.as_ref().and_then(|contents| contents.raw(slot.0))
    }

    /// The unit of a live slot, when bytes are kept.
    pub fn load(&self, slot: Ppn) -> Option<&Unit> {
        self.contents.as_ref().map(|contents| contents.read(slot.0, self.map.owner(slot).0))
    }
}
