//! Room: superblocks that a core needs for its data and its work, and the marks of collection.

use crate::ftl::Ftl;
use crate::held::HeldPus;
use outlast_media::{BlankUnit, ByteStore, ConfigError, Geometry, UnitBytes};
use outlast_settings::ftl::CodeConfig;
use outlast_units::{Lpn, Pu, SuperblockId};
use std::sync::Arc;

impl Ftl {
    /// Maps pages 0 to `end`, exclusively, those of the mapping table included, and sets that there must be room for `units` of the others. The table
    /// never shrinks: pages that were mapped stay so.
    ///
    /// # Panics
    /// If `end` is beyond what 32 bits can number.
    pub fn set_logical(&mut self, end: u64, units: u64) {
        assert!(end < u64::from(u32::MAX), "{end} pages cannot be numbered");
        self.pages.grow(end);
        assert!(
            self.pages.map().pages() == 0 || self.pages.map().pages() >= end,
            "pages up to {end} are not mapped"
        );
        self.space.set_logical_units(units);
    }

    /// True if the data of a page is known to be gone without reading: lost, or without parity on a lane that has failed.
    pub fn is_gone(&self, lpn: Lpn) -> bool {
        let slot = self.pages.lookup(lpn);
        if !slot.is_some() {
            return self.pages.is_lost(lpn);
        }
        self.space.lanes().dead().is_some()
            && self.space.pus().is_dead_lane(self.space.layout().pu_of(slot).0)
            && self.space.pus().is_programmed(slot)
            && !self.space.pus().has_parity(self.space.layout().superblock_of(slot))
    }

    /// The host rests, or does no more: see [`FlashSpace::set_idle`](crate::FlashSpace::set_idle).
    pub fn set_idle(&mut self, idle: bool) {
        self.space.set_idle(idle);
    }

    /// True if space must be collected: few superblocks are free.
    #[inline]
    pub fn needs_gc(&self) -> bool {
        self.space.needs_gc()
    }

    /// Records that garbage collection takes a victim; true if it is the first since the high mark was reached.
    pub fn begin_collection(&mut self) -> bool {
        self.space.begin_collection()
    }

    /// Begins to rebuild data that a failed die held: puts the streams for that into use, if superblocks suffice for the host's data beside them.
    /// True if they are in use, or scrubbing has streams anyway.
    pub fn begin_rebuild(&mut self) -> bool {
        self.space.begin_rebuild()
    }

    /// Ends a rebuild, as another die is about to be given up: room is counted without superblocks for rebuilding until [`Ftl::begin_rebuild`] finds
    /// enough.
    pub fn end_rebuild(&mut self) {
        self.space.end_rebuild();
    }

    /// Gives superblocks of class `class` that are opened from now on code `code`; older ones keep theirs until they are moved
    /// ([`SuperblockView::is_outdated`](crate::SuperblockView::is_outdated)).
    ///
    /// # Errors
    /// A code that does not suit the dies, or leaves too little room for the user data: then nothing has changed.
    pub fn set_code(&mut self, class: u8, code: CodeConfig) -> Result<(), ConfigError> {
        self.space.set_code(class, code)
    }

    /// Sets the wrong bits expected in the worst codeword of `superblock` as time begins.
    pub fn begin_use(&mut self, superblock: SuperblockId, expected_errors: f64) {
        self.space.begin_use(superblock, expected_errors);
    }

    /// Ends a use of `superblock`, which is about to be erased: `expected_errors` in its worst codeword, `rereads` pages read again.
    pub fn end_use(&mut self, superblock: SuperblockId, expected_errors: f64, rereads: u32) {
        self.space.end_use(superblock, expected_errors, rereads);
    }

    /// Counts `units` units of program unit `pu` that neither ECC nor re-reads recovered.
    pub fn count_uncorrectable(&mut self, pu: Pu, units: u32) {
        self.space.count_uncorrectable(pu, units);
    }

    /// Counts the unit just appended as handed over by another core.
    pub fn count_as_migrated(&mut self) {
        self.space.count_as_migrated();
    }

    /// Pages that are mapped: those of [`FlashSpace::logical_units`](crate::FlashSpace::logical_units), those of the mapping table, and those that are another core's by now.
    pub fn mapped_pages(&self) -> u64 {
        self.pages.map().pages()
    }

    /// Resident bytes of all tables. [`Ftl::new`] allocates them once; they grow only when the core takes over units of another.
    pub fn bytes(&self) -> usize {
        let held = self.held.as_ref().map_or(0, |held| held.bytes());
        self.pages.bytes() + self.space.bytes() + held
    }

    /// Value of [`Ftl::bytes`] when all tables are built.
    pub fn bytes_when_built(&self, geometry: &Geometry) -> u64 {
        let layout = self.space.layout();
        let pus = u64::from(layout.superblocks()) * u64::from(layout.pus_per_superblock());
        self.pages.bytes_when_built(layout, self.mount)
            + self.space.bytes_when_built(geometry)
            + self.held.as_ref().map_or(0, |_| HeldPus::bytes_when_built(pus))
    }

    /// A unit of logical page `lpn` with these bytes, when bytes are kept.
    #[inline]
    pub fn make_unit(&mut self, lpn: Lpn, bytes: &[u8]) -> Option<UnitBytes> {
        self.space.make_unit(lpn, bytes)
    }

    /// Keeps the bytes in `store`, when bytes are kept.
    pub fn keep_contents_in(&mut self, store: &Arc<dyn ByteStore>) {
        self.space.keep_contents_in(store);
    }

    /// Memory for a unit, when bytes are kept; it holds anything.
    pub fn blank(&mut self) -> Option<BlankUnit> {
        self.space.blank()
    }
}
