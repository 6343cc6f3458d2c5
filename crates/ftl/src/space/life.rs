//! Life of a superblock: opened, sealed, relocated, erased.

use crate::mount::RetiredBlock;
use crate::slc_cache::SlcCacheCounts;
use crate::space::{FlashSpace, Translation};
use crate::streams::StreamCause;
use crate::superblocks::FreePick;
use outlast_decisions::SuperblockState;
use outlast_units::{BlockIndex, Ppn, Pu, Stream, SuperblockId};

impl FlashSpace {
    /// State of a superblock.
    #[inline]
    pub fn state(&self, superblock: SuperblockId) -> SuperblockState {
        self.pus.superblocks.state(superblock)
    }

    /// Units of a superblock that count as valid.
    #[inline]
    pub fn valid_units(&self, superblock: SuperblockId) -> u32 {
        self.pus.superblocks.valid(superblock)
    }

    /// Erases `superblock`: every block of it has been. It is free again, unless a block went bad and no spare block could replace it. Blocks that
    /// are `is_bad` are retired and replaced by spare ones; returns those that were retired.
    ///
    /// # Panics
    /// If it still holds valid units: erasing them would lose data.
    pub fn erase(
        &mut self,
        superblock: SuperblockId,
        is_bad: impl Fn(BlockIndex) -> bool,
        translation: &mut impl Translation,
    ) -> Vec<RetiredBlock> {
        let lanes = self.pus.lanes.erasable(superblock);
        let erases_before = self.pus.physical.blocks().erases();
        let erased = self.pus.physical.erase(
            &self.pus.layout,
            superblock,
            self.pus.superblocks.mode(superblock),
            lanes,
            is_bad,
        );
        // From its next opening on, its stripes take the data of those lanes as zero. A lane of several planes comes once for each block that it has
        // lost.
        for lane in erased.gone {
            self.pus.lanes.mark_missing(superblock, lane);
        }
        self.forget_content(superblock, translation);
        let usable = self.pus.lanes.is_usable(superblock, self.config.tolerated_bad_blocks);
        self.pus.superblocks.free_erased(superblock, erased.cycles, usable);
        if self.slc_cache.is_some() {
            let erased_blocks = self.pus.physical.blocks().erases() - erases_before;
            self.note_cached(superblock, SlcCacheCounts { filled_units: 0, erased_blocks });
        }
        self.marks.end_collection_at(self.free_superblocks());
        if usable && self.free_superblocks() >= self.reserve() {
            self.marks.set_reserve_whole();
        }
        self.review_room();
        erased.retired
    }

    /// Reports that program unit `pu` is on flash; true if it was the last of its superblock.
    ///
    /// # Panics
    /// If its pages were not the next ones of their blocks.
    #[allow(clippy::inline_always, reason = "as Ftl::programmed")]
    #[inline(always)]
    pub fn programmed(&mut self, pu: Pu, translation: &mut impl Translation) -> bool {
        if self.pus.partials.are_on_flash() {
            self.settle_cover(pu, translation);
        }
        self.programmed_run(pu, 1, translation)
    }

    /// Counts a unit put into the open superblock of `stream` as valid.
    #[allow(clippy::inline_always, reason = "once for every unit that is written")]
    #[inline(always)]
    pub fn add_valid(&mut self, stream: Stream) {
        self.pus.superblocks.add_valid(self.frontiers[stream].superblock());
    }

    /// Counts a unit of `superblock`, not free, as valid again: a loss of power made it the newest copy.
    pub(crate) fn revive(&mut self, superblock: SuperblockId) {
        self.pus.superblocks.add_valid(superblock);
    }

    /// Counts the unit in `slot` as stale; its bytes stay.
    pub(crate) fn remove_valid(&mut self, slot: Ppn) {
        self.pus.superblocks.remove_valid(self.pus.layout.superblock_of(slot));
    }

    /// Counts `count` valid units of superblock `from` as moved to the open superblock `into`.
    #[inline]
    pub(crate) fn move_valid(&mut self, from: SuperblockId, into: SuperblockId, count: u32) {
        self.pus.superblocks.move_valid(from, into, count);
    }

    /// True if `stream` may open a superblock.
    pub(crate) fn may_open(&self, stream: Stream, translation: &impl Translation) -> bool {
        let relocates = !matches!(
            self.pus.streams.cause(stream),
            StreamCause::Host | StreamCause::Partial | StreamCause::Map
        );
        if !relocates && self.config.gc.overlap {
            return self.leaves_reserve(self.kept_for_map(stream, translation) + self.left_to_cache(stream))
                && self.pus.codes.data_units(stream) != 0
                && !(self.slc_cache.is_some() && self.awaits_folding(stream));
        }
        let held_back = if relocates { 0 } else { self.reserve() + self.kept_for_map(stream, translation) };
        self.free_superblocks() > held_back + self.left_to_cache(stream)
            && self.pus.codes.data_units(stream) != 0
            && !(self.slc_cache.is_some() && self.awaits_folding(stream))
    }

    /// Superblocks that `stream`, if it is the host's, leaves to a flush of the mapping table that waits for one.
    fn kept_for_map(&self, stream: Stream, translation: &impl Translation) -> u32 {
        let waits =
            |stream| self.frontiers[stream].is_full() && translation.awaits_superblock(self.counts.clock());
        u32::from(
            self.pus.streams.cause(stream) == StreamCause::Host && self.pus.streams.map().is_some_and(waits),
        )
    }

    /// True if a superblock may be taken for the host beside `kept`, where victims overlap: those promised to relocations are left, and the reserve
    /// is whole again when all victims of collection under way have been erased.
    fn leaves_reserve(&self, kept: u32) -> bool {
        let (free, promised) = (self.free_superblocks(), self.frontiers.promised() + kept);
        free > promised && free + self.pus.superblocks.coming() > self.reserve() + promised
    }

    /// True if `stream` may open a superblock for units that relocation moves: any free one, held back or not.
    pub(crate) fn may_open_for_moved(&self, stream: Stream) -> bool {
        self.free_superblocks() != 0 && self.pus.codes.data_units(stream) != 0
    }

    /// True if `stream` can take a unit that relocation moves.
    pub fn can_take_moved(&self, stream: Stream) -> bool {
        !self.frontiers[stream].is_full() || self.may_open_for_moved(stream)
    }

    /// The free superblock that comes next for units written for `cause`.
    pub(crate) fn take_free(&mut self, cause: StreamCause) -> SuperblockId {
        self.pus.superblocks.take_free(match cause {
            // Cold data is put on the most worn blocks, which rest under it.
            StreamCause::WearLeveling => FreePick::MostWorn,
            _ if self.config.wear_leveling.dynamic => FreePick::LeastWorn,
            _ => FreePick::FreedFirst,
        })
    }

    /// Begins `superblock`, free until now, for `stream` in all parts.
    pub(crate) fn begin_superblock(
        &mut self,
        superblock: SuperblockId,
        stream: Stream,
        translation: &mut impl Translation,
    ) {
        let mode = self.pus.streams.mode(stream);
        self.pus.superblocks.open(superblock, stream, mode, self.pus.layout.used_pus(mode));
        self.pus.codes.assign_to(superblock, stream);
        translation.opened(&self.pus.layout, superblock, stream);
        self.review_slc_cache();
    }

    /// Takes `pus` program units of an open superblock off those to come: they will never be programmed. True if that seals it.
    pub(crate) fn settle_pus(
        &mut self,
        superblock: SuperblockId,
        pus: u32,
        translation: &mut impl Translation,
    ) -> bool {
        let sealed = self.pus.superblocks.settle(superblock, pus, self.counts.clock());
        if sealed {
            translation.sealed(superblock);
            self.note_full(superblock);
        }
        sealed
    }

    /// Forgets all that parts keep about the content of `superblock`, which is erased.
    fn forget_content(&mut self, superblock: SuperblockId, translation: &mut impl Translation) {
        let pus = self.pus.layout.pus_of(superblock);
        self.pus.codes.forget(superblock);
        self.pus.lanes.forget(superblock, pus.clone());
        self.pus.partials.forget_spent(pus);
        if self.pus.partials.are_on_flash() {
            self.uncover(superblock, u32::MAX, translation);
        }
        let (first, count) = (self.pus.layout.first_slot(superblock), self.pus.layout.units_per_superblock());
        if let Some(contents) = &mut self.contents.bytes {
            contents.erase(first.0, count);
        }
    }

    /// Restores and retires superblocks after lanes have come or gone: those retired for bad blocks of a failed die can be used without that die;
    /// those whose last lane went with it cannot.
    pub(crate) fn review_usable_superblocks(&mut self) {
        for superblock in self.pus.superblocks.ids() {
            let usable = self.pus.lanes.is_usable(superblock, self.config.tolerated_bad_blocks);
            match (self.pus.superblocks.state(superblock), usable) {
                (SuperblockState::Retired, true) => self.pus.superblocks.restore(superblock),
                (SuperblockState::Free, false) => self.pus.superblocks.retire(superblock),
                _ => {}
            }
        }
    }

    /// [`FlashSpace::programmed`](Self::programmed) of `count` program units of one superblock, at most 64, from `first` on. Only for program units that are of no cover and
    /// release no origin.
    #[allow(
        clippy::inline_always,
        reason = "for each program, where the count is known to be one: most of it falls away"
    )]
    #[inline(always)]
    pub(crate) fn programmed_run(
        &mut self,
        first: Pu,
        count: u32,
        translation: &mut impl Translation,
    ) -> bool {
        let (superblock, within) = self.pus.layout.within_superblock(first);
        self.pus.physical.program(&self.pus.layout, superblock, within, count);
        self.counts.count_programmed(count);
        let sealed = self.pus.superblocks.mark_programmed(superblock, first, count, self.counts.clock());
        if sealed {
            translation.sealed(superblock);
            self.note_full(superblock);
        }
        sealed
    }

    /// Marks the unit in `slot` as stale.
    #[allow(clippy::inline_always, reason = "once for every unit that is overwritten")]
    #[inline(always)]
    pub fn invalidate(&mut self, slot: Ppn) {
        self.pus.superblocks.remove_valid(self.pus.layout.superblock_of(slot));
        if let Some(contents) = &mut self.contents.bytes {
            contents.discard(slot.0);
        }
    }

    /// True if the valid units of `superblock` have a place to go: the open superblock of `stream` and free ones that are not promised to another
    /// stream.
    pub fn can_relocate(&self, superblock: SuperblockId, stream: Stream) -> bool {
        let free = self.free_superblocks().saturating_sub(self.frontiers.promised_beside(stream));
        let room = u64::from(self.room(stream)) + u64::from(free) * u64::from(self.data_units(stream));
        u64::from(self.pus.superblocks.valid(superblock)) <= room
    }

    /// True if a slot of `stream` is left beside `units` units that are still to be moved there; one held-back superblock counts for them.
    pub fn leaves_room(&self, stream: Stream, units: u32) -> bool {
        // One superblock of the reserve is for this stream.
        let of_others = self.frontiers.promised_beside(stream).max(self.reserve() - 1);
        let free = self.free_superblocks().saturating_sub(of_others);
        let room = u64::from(self.room(stream)) + u64::from(free) * u64::from(self.data_units(stream));
        room > u64::from(units)
    }

    /// Takes `superblock` out of the candidates: its valid units are now to be relocated to `stream` and counted for `cause`. Returns
    /// their number.
    ///
    /// # Panics
    /// If it is not sealed.
    pub fn begin_relocation(&mut self, superblock: SuperblockId, stream: Stream, cause: StreamCause) -> u32 {
        self.pus.superblocks.begin_collecting(superblock, cause);
        debug_assert!(
            self.pus.streams.cause(stream) != StreamCause::Host || self.pus.streams.are_mixed(),
            "relocated data goes to streams of its own"
        );
        let valid = self.pus.superblocks.valid(superblock);
        let promised = valid > self.room(stream);
        self.frontiers[stream].promise(promised);
        valid
    }

    /// Gives up the relocation of `superblock`, which is a candidate again.
    ///
    /// # Panics
    /// If it is not being relocated.
    pub fn end_relocation(&mut self, superblock: SuperblockId) {
        self.pus.superblocks.end_collecting(superblock);
    }

    /// [`FlashSpace::end_relocation`](Self::end_relocation) of one whose data found no room in `stream`: what was promised to the stream is free for others.
    pub fn give_up_relocation(&mut self, superblock: SuperblockId, stream: Stream) {
        self.frontiers[stream].promise(false);
        self.end_relocation(superblock);
    }

    /// Takes back the promise of a superblock to `stream`: all units that were to move there have.
    pub fn end_promise(&mut self, stream: Stream) {
        self.frontiers[stream].promise(false);
    }
}
