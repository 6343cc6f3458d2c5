//! Life of a superblock in all parts: opened, sealed, erased.

use super::Ftl;
use crate::frontiers::WriteFrontier;
use crate::streams::StreamCause;
use crate::superblocks::FreePick;
use outlast_decisions::SuperblockState;
use outlast_units::{BlockIndex, Ppn, Stream, SuperblockId};

impl Ftl {
    /// True if `stream` may open a superblock.
    pub(super) fn may_open(&self, stream: Stream) -> bool {
        let relocates = !matches!(
            self.streams.cause(stream),
            StreamCause::Host | StreamCause::Partial | StreamCause::Map
        );
        if !relocates && self.config.gc.overlap {
            return self.leaves_reserve(self.kept_for_map(stream)) && self.codes.data_units(stream) != 0;
        }
        let held_back = if relocates { 0 } else { self.reserve() + self.kept_for_map(stream) };
        self.free_superblocks() > held_back && self.codes.data_units(stream) != 0
    }

    /// Superblocks that `stream`, if it is the host's, leaves to a flush of the mapping table that waits for one.
    fn kept_for_map(&self, stream: Stream) -> u32 {
        u32::from(self.streams.cause(stream) == StreamCause::Host && self.map_awaits_room())
    }

    /// True if a superblock may be taken for the host beside `kept`, where victims overlap: those promised to relocations are left, and the reserve
    /// is whole again when all victims of collection under way have been erased.
    fn leaves_reserve(&self, kept: u32) -> bool {
        let (free, promised) = (self.free_superblocks(), self.frontiers.promised() + kept);
        free > promised && free + self.superblocks.coming() > self.reserve() + promised
    }

    /// True if `stream` may open a superblock for units that relocation moves: any free one, held back or not.
    pub(super) fn may_open_for_moved(&self, stream: Stream) -> bool {
        self.free_superblocks() != 0 && self.codes.data_units(stream) != 0
    }

    /// Opens the next superblock of `stream`, for data of the host or its own writes.
    #[cold]
    pub(super) fn open_superblock(&mut self, stream: Stream) {
        assert!(self.may_open(stream), "stream {} has no free superblock", stream.0);
        self.open_next(stream);
    }

    /// Opens the next superblock of `stream`, for units that relocation moves.
    #[cold]
    pub(super) fn open_for_moved(&mut self, stream: Stream) {
        assert!(self.may_open_for_moved(stream), "stream {} has no superblock to move data to", stream.0);
        self.open_next(stream);
    }

    fn open_next(&mut self, stream: Stream) {
        let superblock = self.take_free(self.streams.cause(stream));
        self.begin_superblock(superblock, stream);
        if self.policies.choose_codes() {
            self.choose_code(superblock, stream);
        }
        let units = self.layout.units_per_pu();
        debug_assert!(self.frontiers[stream].is_full(), "stream {} leaves slots empty", stream.0);
        let (first, data) = (self.layout.first_slot(superblock), self.layout.data_pus() * units);
        self.partials.set_exposed(stream, 0);
        self.frontiers[stream] = WriteFrontier::at_start(superblock, first, data, units);
        let lacks_lanes = self.lanes.dead().is_some() || self.lanes.missing_of(superblock).is_some();
        if self.codes.has_parity(superblock) || lacks_lanes {
            self.open_irregular(stream);
        }
    }

    /// The free superblock that comes next for units written for `cause`.
    pub(super) fn take_free(&mut self, cause: StreamCause) -> SuperblockId {
        self.superblocks.take_free(match cause {
            // Cold data is put on the most worn blocks, which rest under it.
            StreamCause::WearLeveling => FreePick::MostWorn,
            _ if self.config.wear_leveling.dynamic => FreePick::LeastWorn,
            _ => FreePick::FreedFirst,
        })
    }

    /// Begins `superblock`, free until now, for `stream` in all parts.
    pub(super) fn begin_superblock(&mut self, superblock: SuperblockId, stream: Stream) {
        self.superblocks.open(superblock, stream);
        self.codes.assign_to(superblock, stream);
        if let Some(origins) = &mut self.origins {
            origins.open_table(superblock, self.layout.units_per_superblock());
        }
        if let Some(records) = &mut self.records {
            records.record_opening(superblock, stream);
        }
    }

    /// Takes `pus` program units of an open superblock off those to come: they will never be programmed. True if that seals it.
    pub(super) fn settle_pus(&mut self, superblock: SuperblockId, pus: u32) -> bool {
        let sealed = self.superblocks.settle(superblock, pus, self.counts.clock());
        if sealed {
            self.close_in_parts(superblock);
        }
        sealed
    }

    /// Closes `superblock` in origins and records: it is sealed, and no program unit is to come.
    #[cold]
    pub(super) fn close_in_parts(&mut self, superblock: SuperblockId) {
        if let Some(origins) = &mut self.origins {
            origins.free_table(superblock);
        }
        if let Some(records) = &mut self.records {
            records.record_closing(superblock);
        }
    }

    /// Reports that every block of `superblock` has been erased. It is free again, unless a block went bad and no spare block
    /// could replace it.
    ///
    /// # Panics
    /// If it still holds valid units: erasing them would lose data.
    pub fn erased(&mut self, superblock: SuperblockId) {
        self.erased_but(superblock, |_| false);
    }

    /// As [`Ftl::erased`], but blocks that are `is_bad` are retired and replaced by spare ones.
    ///
    /// # Panics
    /// As [`Ftl::erased`].
    pub fn erased_but(&mut self, superblock: SuperblockId, is_bad: impl Fn(BlockIndex) -> bool) {
        assert!(
            self.may_erase(superblock),
            "superblock {superblock} is erased, and the buffer goes back to it"
        );
        let lanes = self.lanes.erasable(superblock);
        let erased = self.physical.erase(&self.layout, superblock, lanes, is_bad);
        if let Some(records) = &mut self.records {
            records.record_retired(&erased.retired);
        }
        // From its next opening on, its stripes take the data of those lanes as zero. A lane of several planes comes once for each block that it has
        // lost.
        for lane in erased.gone {
            self.lanes.mark_missing(superblock, lane);
        }
        self.forget_content(superblock);
        let usable = self.lanes.is_usable(superblock, self.config.tolerated_bad_blocks);
        self.superblocks.free_erased(superblock, erased.cycles, usable);
        self.room.end_collection_at(self.free_superblocks());
        if usable && self.free_superblocks() >= self.reserve() {
            self.room.set_reserve_whole();
        }
        self.review_room();
    }

    /// Forgets all that parts keep about the content of `superblock`, which is erased.
    fn forget_content(&mut self, superblock: SuperblockId) {
        let pus = self.layout.pus_of(superblock);
        self.codes.forget(superblock);
        self.lanes.forget(superblock, pus.clone());
        self.partials.forget_spent(pus);
        if self.partials.are_on_flash() {
            self.uncover(superblock, u32::MAX);
        }
        let (first, count) = (self.layout.first_slot(superblock), self.layout.units_per_superblock());
        self.losses.forget_stale(first, Ppn(first.0 + count));
        if let Some(contents) = &mut self.contents {
            contents.erase(first.0, count);
        }
        if let Some(records) = &mut self.records {
            records.drop_superblock(&self.layout, superblock);
        }
    }

    /// Restores and retires superblocks after lanes have come or gone: those retired for bad blocks of a failed die can be used without that die;
    /// those whose last lane went with it cannot.
    pub(super) fn review_usable_superblocks(&mut self) {
        for superblock in self.superblocks.ids() {
            let usable = self.lanes.is_usable(superblock, self.config.tolerated_bad_blocks);
            match (self.superblocks.state(superblock), usable) {
                (SuperblockState::Retired, true) => self.superblocks.restore(superblock),
                (SuperblockState::Free, false) => self.superblocks.retire(superblock),
                _ => {}
            }
        }
    }
}
