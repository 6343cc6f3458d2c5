//! Look-ups: slots, owners, blocks, views.

use super::{RedundancyView, StreamView, SuperblockView};
use crate::ftl::Ftl;
use crate::layout::SlotLayout;
use crate::pages::{MountOptions, MountReads};
use crate::space::{FlashSpace, ParityView};
use crate::streams::StreamTable;
use outlast_media::UnitBytes;
use outlast_units::{Lpn, Ppn, Pu, Stream, SuperblockId};

impl Ftl {
    /// The arithmetic of slots.
    #[inline]
    pub fn layout(&self) -> &SlotLayout {
        self.space.layout()
    }

    /// The streams, and what each is for.
    #[inline]
    pub fn streams(&self) -> &StreamTable {
        self.space.streams()
    }

    /// One superblock.
    #[inline]
    pub fn superblock(&self, superblock: SuperblockId) -> SuperblockView<'_> {
        debug_assert!(
            superblock.0 < self.space.layout().superblocks(),
            "superblock {superblock} of {}",
            self.space.layout().superblocks()
        );
        SuperblockView { ftl: self, id: superblock }
    }

    /// One stream.
    #[inline]
    pub fn stream(&self, stream: Stream) -> StreamView<'_> {
        debug_assert!(
            stream.0 < self.space.streams().count(),
            "stream {} of {}",
            stream.0,
            self.space.streams().count()
        );
        StreamView { ftl: self, stream }
    }

    /// Superblocks: room, blocks, codes, lanes.
    #[inline]
    pub fn space(&self) -> &FlashSpace {
        &self.space
    }

    /// Parity.
    #[inline]
    pub fn parity(&self) -> ParityView<'_> {
        self.space.parity()
    }

    /// Prefetches the entries of logical pages that will soon be looked up into the processor's cache.
    #[inline]
    pub fn touch(&self, lpns: impl Iterator<Item = Lpn>) {
        self.pages.map().touch(lpns);
    }

    /// Prefetches the entries of logical pages that will soon be written: loads that do not wait for each other. Where they are `NEXT`, also the bytes that they
    /// will supersede.
    #[inline]
    pub fn touch_written<const NEXT: bool>(&self, lpns: impl Iterator<Item = Lpn> + Clone) {
        self.pages.map().touch_written(lpns.clone());
        if NEXT && let Some(contents) = self.space.contents() {
            let slots = lpns.map(|lpn| self.lookup(lpn)).filter(|slot| slot.is_some());
            slots.for_each(|slot| contents.prefetch(slot.0));
        }
    }

    /// Prefetches the entries of the `units` of program unit `pu` that will soon be relocated: stores that miss the cache would hold up all that come
    /// after them. Their owners should have been [touched](Ftl::touch_owners) before.
    #[inline]
    pub fn touch_moving(&self, pu: Pu, units: u64) {
        self.pages.map().touch_moving(self.space.layout().first_slot_of(pu), units);
    }

    /// Prefetches the owners of program unit `pu`.
    #[inline]
    pub fn touch_owners(&self, pu: Pu) {
        self.pages.map().touch_owner(self.space.layout().first_slot_of(pu));
    }

    /// The unit of a live slot, when bytes are kept.
    pub fn load(&self, slot: Ppn) -> Option<&UnitBytes> {
        self.space.contents().as_ref().map(|contents| contents.read(slot.0, self.pages.map().owner(slot).0))
    }

    /// The slot of a logical page; [`Ppn::NONE`] where nothing is written.
    #[inline]
    pub fn lookup(&self, lpn: Lpn) -> Ppn {
        self.pages.lookup(lpn)
    }

    /// The logical page that a slot was written for; it is stale unless [`Ftl::lookup`] leads back.
    #[inline]
    pub fn owner(&self, slot: Ppn) -> Lpn {
        self.pages.owner(slot)
    }

    /// True if the data of a logical page has been lost.
    #[inline]
    pub fn is_lost(&self, lpn: Lpn) -> bool {
        self.pages.is_lost(lpn)
    }

    /// True if the newest data of `lpn`, or its trim, is only in a buffer that a loss of power empties.
    pub fn is_volatile(&self, lpn: Lpn) -> bool {
        self.pages.is_volatile(&self.space, lpn)
    }

    /// Redundancy of the data.
    pub fn redundancy(&self) -> RedundancyView<'_> {
        RedundancyView { space: &self.space, pages: &self.pages }
    }

    /// True if too few superblocks are left to take writes for ever: the core serves reads only.
    #[inline]
    pub fn is_read_only(&self) -> bool {
        self.space.is_read_only()
    }

    /// Sets the wear that blocks come with, in the order of [`PhysicalBlocks::all_cycles`](outlast_media::PhysicalBlocks::all_cycles).
    pub fn set_wear(&mut self, cycles: &[u32]) {
        self.space.set_wear(cycles);
    }

    /// Checks that flash alone gives the tables: the slot of each page, lost pages, erased, open and full superblocks, the blocks of each, and bad
    /// blocks. With `dump`, units that are not on flash count.
    ///
    /// # Errors
    /// The first disagreement.
    pub fn check_mount(&self, dump: bool) -> Result<(), String> {
        self.pages.check_mount(&self.space, dump)
    }

    /// Reads of a mount by `options`, with pages of `page_bytes`, in the present state. With `dump` the buffer has been written to flash.
    ///
    /// # Panics
    /// If nothing has been recorded.
    pub fn mount_reads(&self, options: MountOptions, page_bytes: u64, dump: bool) -> MountReads {
        self.pages.mount_reads(&self.space, options, page_bytes, dump)
    }

    /// Checkpoints made so far, and the pages of `page_bytes` that one takes.
    pub fn checkpoints(&self, page_bytes: u64) -> (u64, u64) {
        self.pages.checkpoints(page_bytes)
    }
}
