//! Entries of the table: look-ups, writes, losses, and units that move.

use crate::pages::PageTable;
use crate::space::FlashSpace;
use crate::streams::StreamCause;
use outlast_units::{Lpn, Ppn, Pu, PuWithin, Stream, SuperblockId, to_length};

/// Units of a stretch of slots: a bit each, and their number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UnitRun(pub(crate) u64, pub(crate) u32);

impl PageTable {
    /// Maps `lpn` to `slot`, just taken from `stream` for new data of the host; the old copy becomes stale.
    #[allow(clippy::inline_always, reason = "in a loop that fills a drive it is not to be a call")]
    #[inline(always)]
    pub(crate) fn put_new(&mut self, space: &mut FlashSpace, stream: Stream, lpn: Lpn, slot: Ppn) {
        let old = self.map.put(lpn, slot);
        debug_assert!(old != slot, "page {lpn} supersedes itself");
        let (origin, was_lost) = if old.is_some() {
            debug_assert!(!self.losses.is_lost(lpn), "page {lpn} counted as lost and had data");
            space.invalidate(old);
            (old, false)
        } else {
            (self.take_trimmed(lpn), self.losses.forget(lpn))
        };
        if self.tracks_writes {
            self.record_put(space, slot, lpn, origin, was_lost);
            if let Some(handles) = &mut self.handles {
                handles.record_write(slot, stream);
            }
        }
        space.add_valid(stream);
    }

    /// Forgets program unit `pu`, whose program operation failed, in origins and records.
    pub(crate) fn forget_failed(&mut self, space: &FlashSpace, pu: Pu) {
        self.pass_on_origins(space, pu);
        if let Some(records) = &mut self.records {
            records.drop_pu(space.layout(), pu);
        }
    }

    /// Moves the valid unit of `slot`, whose program operation failed, to `to`, just taken from `stream`.
    pub(crate) fn rewrite(&mut self, space: &mut FlashSpace, stream: Stream, slot: Ppn, to: Ppn) {
        let lpn = self.map.owner(slot);
        self.map.relocate(slot, 1, 1, to);
        if let Some(contents) = space.contents_mut() {
            match self.losses.take(slot) {
                Some(unit) => contents.write(to.0, unit),
                None => contents.relocate(slot.0, to.0, lpn.0),
            }
        }
        self.move_origin(space, slot, to);
        if let Some(handles) = &mut self.handles {
            handles.record_rewrite(space, slot, to);
        }
        if let Some(records) = &mut self.records {
            records.record_put(space.layout(), to, lpn);
        }
        if let Some(maps) = &mut self.maps {
            maps.mark_entry(lpn);
        }
        space.remove_valid(slot);
        space.add_valid(stream);
    }

    /// The slot of a logical page; [`Ppn::NONE`] where nothing is written.
    #[inline]
    pub(crate) fn lookup(&self, lpn: Lpn) -> Ppn {
        self.map.lookup(lpn)
    }

    /// The logical page that a slot was written for; it is stale unless [`PageTable::lookup`](Self::lookup) leads back.
    #[inline]
    pub(crate) fn owner(&self, slot: Ppn) -> Lpn {
        self.map.owner(slot)
    }

    /// True if the data of a logical page has been lost.
    #[inline]
    pub(crate) fn is_lost(&self, lpn: Lpn) -> bool {
        self.losses.is_lost(lpn)
    }

    /// Records that a unit of `lpn` has been put into `slot`; it supersedes the one in `old`, or data that was lost.
    #[inline(never)]
    pub(crate) fn record_put(&mut self, space: &FlashSpace, slot: Ppn, lpn: Lpn, old: Ppn, was_lost: bool) {
        self.set_origin(space, slot, old, was_lost);
        if let Some(maps) = &mut self.maps {
            maps.mark_entry(lpn);
        }
        if let Some(records) = &mut self.records {
            records.record_put(space.layout(), slot, lpn);
        }
    }

    /// Records that program unit `pu` is on flash.
    #[inline(never)]
    pub(crate) fn record_programmed(&mut self, space: &FlashSpace, pu: Pu) {
        self.release_origins(space, pu);
        if let Some(records) = &mut self.records {
            records.record_programmed(pu);
            records.tidy(space.layout(), to_length(self.map.pages()));
        }
    }

    /// Records that the host has given up the data of `lpn`.
    #[inline]
    pub(crate) fn record_trim(&mut self, lpn: Lpn) {
        if let Some(records) = &mut self.records {
            records.record_trim(lpn);
        }
    }

    /// Records that the newest copy of `lpn` is lost; true if its data is lost with it, and not in the controller's memory.
    pub(crate) fn record_loss(&mut self, lpn: Lpn) -> bool {
        if self.is_map_page(lpn) {
            self.record_trim(lpn);
            return false;
        }
        self.losses.lose(lpn);
        if let Some(records) = &mut self.records {
            records.record_loss(lpn);
        }
        true
    }

    pub(crate) fn is_disowned(&self, space: &FlashSpace, pu: Pu) -> bool {
        Ppn::each(space.layout().slots_of(pu)).all(|slot| !self.map.owner(slot).is_some())
    }

    /// Valid slots of `superblock` by the mapping.
    pub(crate) fn mapped_in(&self, space: &FlashSpace, superblock: SuperblockId) -> u32 {
        let units = space.layout().units_per_superblock();
        let first = space.layout().first_slot(superblock).0;
        let end = first + units;
        let strides = (first..end).step_by(64);
        strides.map(|at| self.map.valid_in(Ppn(at), (end - at).min(64)).count_ones()).sum()
    }

    /// Pages whose current copy lies on flash in program unit `pu`.
    pub(crate) fn current_in(&self, space: &FlashSpace, pu: Pu) -> impl Iterator<Item = Lpn> {
        let slots = Ppn::each(space.layout().slots_of(pu));
        slots
            .filter(|&slot| self.map.is_valid(slot) && space.pus().is_programmed(slot))
            .map(|slot| self.owner(slot))
    }

    pub(crate) fn holds_data(&self, space: &FlashSpace, pu: Pu) -> bool {
        let first = space.layout().first_slot_of(pu);
        let valid = self.map.valid_in(first, space.layout().units_per_pu());
        if self.maps.is_none() {
            return valid != 0;
        }
        // Pages of the mapping table do not count: the controller has them in its memory, too.
        let mut slots = Ppn::each(space.layout().slots_of(pu)).enumerate();
        slots.any(|(unit, slot)| valid >> unit & 1 == 1 && !self.is_map_page(self.map.owner(slot)))
    }

    /// Valid units of a sealed superblock without parity that lie on failed lanes.
    pub(crate) fn units_gone(&self, space: &FlashSpace, superblock: SuperblockId) -> u32 {
        if space.pus().has_parity(superblock) {
            return 0;
        }
        let dead = Pu::each(space.layout().pus_of(superblock)).filter(|&pu| space.pus().is_dead_lane(pu));
        let units = space.layout().units_per_pu();
        dead.map(|pu| self.map.valid_in(space.layout().first_slot_of(pu), units).count_ones()).sum()
    }

    /// Valid units of program unit `pu_within` of a superblock in any state, a bit each.
    #[inline]
    pub(crate) fn valid_units_of_any(
        &self,
        space: &FlashSpace,
        superblock: SuperblockId,
        pu_within: PuWithin,
    ) -> u64 {
        let units = space.layout().units_per_pu();
        self.map.valid_in(space.layout().first_slot(superblock) + pu_within.0 * units, units)
    }

    /// Deallocates a logical page; true when there was data.
    pub(crate) fn trim(&mut self, space: &mut FlashSpace, lpn: Lpn) -> bool {
        let old = self.map.unmap(lpn);
        if old.is_some() {
            space.invalidate(old);
        }
        if old.is_some() || self.losses.forget(lpn) {
            self.mark_entry_dirty(lpn);
            self.record_trim(lpn);
        }
        old.is_some()
    }

    /// Loses the unit of `slot`, which cannot be read any more. If it is current, its logical page is lost: reads of it fail until it is written or
    /// trimmed. Returns the page. A page of the mapping table is not lost, as the controller still has it in its memory: the next flush writes it
    /// again.
    pub(crate) fn lose(&mut self, space: &mut FlashSpace, slot: Ppn) -> Option<Lpn> {
        if !self.map.is_valid(slot) {
            return None;
        }
        let lpn = self.map.owner(slot);
        self.map.unmap(lpn);
        if self.losses.take(slot).is_some() {
            // Its bytes were moved to the controller's memory when its program operation failed.
            space.remove_valid(slot);
        } else {
            space.invalidate(slot);
        }
        self.mark_entry_dirty(lpn);
        self.record_loss(lpn).then_some(lpn)
    }

    /// Loses the unit in `slot`, which cannot be read while its stripe's parity is computed anew: the stripe covers it no more. Returns its page, if
    /// it was current.
    pub(crate) fn lose_uncovered(&mut self, space: &mut FlashSpace, slot: Ppn) -> Option<Lpn> {
        if space.partials().are_on_flash() {
            let (superblock, within) = space.pus().within_superblock(space.layout().pu_of(slot).0);
            space.expose(superblock, within, self);
        }
        let lost = self.lose(space, slot);
        if lost.is_none() && self.origins.is_some() && self.owner(slot).is_some() {
            // Another loss of power may come before the unit that superseded it is on flash.
            self.losses.lose_stale(slot);
        }
        self.map.disown(slot, 1);
        if let Some(contents) = space.contents_mut() {
            contents.erase(slot.0, 1);
        }
        lost
    }

    /// Keeps the units of a program unit that failed before its stripe got its parity in the controller's memory until they have been written
    /// elsewhere: they no longer count in the stripe.
    pub(crate) fn keep_failed_units(&mut self, space: &mut FlashSpace, pu: Pu) {
        let slots = space.layout().slots_of(pu);
        let Some(contents) = space.contents_mut().filter(|contents| contents.keeps_stale()) else { return };
        for slot in Ppn::each(slots.clone()) {
            if let Some(unit) = contents.raw(slot.0) {
                self.losses.keep(slot, unit.clone());
            }
        }
        contents.erase(slots.start.0, slots.end - slots.start);
    }

    /// Drops the kept units of failed program units. To be called when they have been written again.
    pub(crate) fn drop_failed(&mut self, space: &FlashSpace) {
        self.losses.drop_unwritten();
        self.drop_origins(space);
    }

    /// Moves bytes, origins and records of units that have moved.
    #[cold]
    fn carry_contents(&mut self, space: &mut FlashSpace, first: Ppn, moved: u64, to: Ppn) {
        let (mut left_to_move, mut to) = (moved, to);
        while left_to_move != 0 {
            let from = Ppn(first.0 + left_to_move.trailing_zeros());
            left_to_move &= left_to_move - 1;
            if let Some(contents) = space.contents_mut() {
                contents.relocate(from.0, to.0, self.map.owner(to).0);
            }
            self.record_put(space, to, self.map.owner(to), from, false);
            if let Some(handles) = &mut self.handles {
                handles.record_move(space, from, to);
            }
            to.0 += 1;
        }
    }

    /// Moves the units in those slots of a superblock from `first` on that are set in `moved`, all valid, to the slots of superblock `into` from
    /// `to` on, at the frontier of a stream, which is then to be set on.
    #[allow(clippy::inline_always, reason = "as Ftl::relocate_units")]
    #[inline(always)]
    pub(crate) fn move_units(
        &mut self,
        space: &mut FlashSpace,
        (superblock, first): (SuperblockId, Ppn),
        moved: UnitRun,
        (into, to): (SuperblockId, Ppn),
        cause: StreamCause,
    ) {
        debug_assert!(
            space.layout().superblock_of(first) == superblock,
            "slot {first} is not of {superblock}"
        );
        let UnitRun(units, count) = moved;
        debug_assert!(units.count_ones() == count, "{count} units move, of {units:b}");
        self.map.relocate(first, units, count, to);
        if space.contents().is_some() || self.tracks_writes {
            self.carry_contents(space, first, units, to);
        }
        debug_assert!(self.map.is_valid(to), "the first unit that moved is not where it went");
        space.move_valid(superblock, into, count);
        space.counts_mut().count_units(cause.moved(), count);
    }
}
