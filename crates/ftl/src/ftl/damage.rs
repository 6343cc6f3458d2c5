//! Damage: program operations that failed, data that is lost, lanes that are given up.

use super::{Ftl, WrittenSlot};
use crate::causes::ProgramCause;
use crate::stripes::PuRole;
use crate::table::PageMapping;
use outlast_decisions::SuperblockState;
use outlast_units::{LaneIndex, LocalDie, Lpn, Ppn, Pu, Stream, SuperblockId};

impl Ftl {
    /// Reports that programming `pu` failed: nothing is on flash there, and its blocks take no more data until they have been
    /// replaced. Its valid units, still in the controller's memory, are to be written again ([`Ftl::rewrite`]).
    /// Returns whether that ends the filling of its superblock.
    pub fn program_failed(&mut self, pu: Pu) -> bool {
        let (superblock, within) = self.within_superblock(pu);
        let lane = self.lane_position(within);
        debug_assert!(!self.superblocks.is_programmed(pu), "program unit {pu} fails after it was programmed");
        // After a loss of power, program units without data are programmed all the same, and may fail.
        debug_assert!(
            !self.lanes.has_failed(pu) || self.is_disowned(pu),
            "program unit {pu} fails twice, with data in it"
        );
        self.lanes.record_failure();
        self.pass_on_origins(pu);
        if let Some(records) = &mut self.records {
            records.drop_pu(&self.layout, pu);
        }
        self.give_up_lane(superblock, lane);
        self.counts.count_failed();
        let role = self.role(superblock, within);
        let complete = self.is_stripe_complete(pu);
        if self.partials.are_on_flash() {
            self.cover_failed(pu);
            if role == PuRole::Data && !complete {
                self.expose(superblock, within);
            }
        }
        if matches!(role, PuRole::Parity | PuRole::BlockParity | PuRole::List) || complete {
            self.lanes.mark_failed(pu);
        } else {
            self.keep_failed_units(pu);
        }
        self.settle_pus(superblock, 1)
    }

    fn is_disowned(&self, pu: Pu) -> bool {
        Ppn::each(self.layout.slots_of(pu)).all(|slot| !self.map.owner(slot).is_some())
    }

    /// Keeps the units of a program unit that failed before its stripe got its parity in the controller's memory until they have been written
    /// elsewhere: they no longer count in the stripe.
    pub(super) fn keep_failed_units(&mut self, pu: Pu) {
        let slots = self.layout.slots_of(pu);
        let Some(contents) = self.contents.as_mut().filter(|contents| contents.keeps_stale()) else { return };
        for slot in Ppn::each(slots.clone()) {
            if let Some(unit) = contents.raw(slot.0) {
                self.losses.keep(slot, unit.clone());
            }
        }
        contents.erase(slots.start.0, slots.end - slots.start);
    }

    /// Drops the kept units of failed program units. To be called when they have been written again.
    pub fn drop_failed(&mut self) {
        self.losses.drop_unwritten();
        self.drop_origins();
    }

    /// Puts the unit of `slot`, whose program operation failed, at the frontier of `stream`; `None` when it is stale or the
    /// stream cannot take it.
    pub fn rewrite(&mut self, stream: Stream, slot: Ppn) -> Option<WrittenSlot> {
        if !self.map.is_valid(slot) {
            return None;
        }
        if !self.can_append(stream) {
            // Where collection moves data to the host's stream, too, held-back superblocks are for data that the drive has accepted.
            if !self.streams.are_mixed() || !self.may_open_for_moved(stream) {
                return None;
            }
            self.open_for_moved(stream);
        }
        let lpn = self.map.owner(slot);
        let to = self.advance(stream);
        self.map.relocate(slot, 1, 1, to.ppn);
        if let Some(contents) = &mut self.contents {
            match self.losses.take(slot) {
                Some(unit) => contents.write(to.ppn.0, unit),
                None => contents.relocate(slot.0, to.ppn.0, lpn.0),
            }
        }
        self.move_origin(slot, to.ppn);
        if let Some(records) = &mut self.records {
            records.record_put(&self.layout, to.ppn, lpn);
        }
        if let Some(maps) = &mut self.maps {
            maps.mark_entry(lpn);
        }
        self.superblocks.remove_valid(self.layout.superblock_of(slot));
        self.superblocks.add_valid(self.frontiers[stream].superblock());
        self.counts.count_units(ProgramCause::Rewritten, 1);
        Some(to)
    }

    /// Loses the unit of `slot`, which cannot be read any more. If it is current, its logical page is lost: reads of it fail until it is written or
    /// trimmed. Returns the page. A page of the mapping table is not lost, as the controller still has it in its memory: the next flush writes it
    /// again.
    pub fn lose(&mut self, slot: Ppn) -> Option<Lpn> {
        if !self.map.is_valid(slot) {
            return None;
        }
        let lpn = self.map.owner(slot);
        self.map.unmap(lpn);
        if self.losses.take(slot).is_some() {
            // Its bytes were moved to the controller's memory when its program operation failed.
            self.superblocks.remove_valid(self.layout.superblock_of(slot));
        } else {
            self.invalidate(slot);
        }
        self.mark_entry_dirty(lpn);
        self.record_loss(lpn).then_some(lpn)
    }

    /// Records that the newest copy of `lpn` is lost; true if its data is lost with it, and not in the controller's memory.
    pub(super) fn record_loss(&mut self, lpn: Lpn) -> bool {
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

    /// True if the data of a logical page has been lost.
    #[inline]
    pub fn is_lost(&self, lpn: Lpn) -> bool {
        self.losses.is_lost(lpn)
    }

    /// True if the block of program unit `pu` takes no more data before it has been erased.
    pub fn is_given_up(&self, pu: Pu) -> bool {
        let (superblock, within) = self.within_superblock(pu);
        self.is_skipped(superblock, within)
    }

    /// True if nothing can be programmed or erased on the lane of program unit `pu`.
    pub fn is_dead_lane(&self, pu: Pu) -> bool {
        self.lanes.is_dead(self.lane_position(self.within_superblock(pu).1))
    }

    /// Gives up die `local_die` (or only `plane` of it), which has failed for good: no superblock uses its lanes any more.
    pub fn give_up_die(&mut self, local_die: LocalDie, plane: Option<u16>) {
        let lanes: Vec<LaneIndex> = self.layout.lanes_of_die(local_die).to_vec();
        for lane in lanes {
            let planes = self.layout.lanes()[lane];
            let hit = plane.is_none_or(|plane| {
                (planes.first_plane..planes.first_plane + planes.planes).contains(&plane)
            });
            if !hit || self.lanes.is_dead(lane) {
                continue;
            }
            self.lanes.mark_dead(lane);
            let open: Vec<SuperblockId> = self.superblocks.in_state(SuperblockState::Open).collect();
            for superblock in open {
                self.give_up_lane(superblock, lane);
            }
        }
        self.lanes.forget_missing_of_dead();
        self.review_usable_superblocks();
        self.count_data_units();
        self.review_room();
    }

    /// Marks the lanes of `dies` as absent.
    pub(super) fn mark_absent_dies(&mut self, dies: &[LocalDie]) {
        for &lane in dies.iter().flat_map(|&die| self.layout.lanes_of_die(die)) {
            self.lanes.mark_absent(lane);
        }
    }

    /// Adds die `local_die`, absent until now: superblocks opened from now on lie on it, too. Those that are open or full do not until they have been
    /// moved ([`SuperblockView::is_narrow`](super::SuperblockView::is_narrow)).
    pub fn add_die(&mut self, local_die: LocalDie) {
        for &lane in self.layout.lanes_of_die(local_die) {
            self.lanes.mark_present(lane);
        }
        self.review_usable_superblocks();
        self.count_data_units();
        self.review_room();
    }

    /// Gives up `lane` of the open superblock `superblock`: nothing more is programmed there. Program units already begun or full are still to be
    /// reported as programmed or failed.
    fn give_up_lane(&mut self, superblock: SuperblockId, lane: LaneIndex) {
        if self.superblocks.state(superblock) != SuperblockState::Open {
            return;
        }
        if !self.lanes.give_up(superblock, lane) {
            return;
        }
        let units = self.layout.units_per_pu();
        let Some(stream) = self.filler(superblock).filter(|&stream| !self.frontiers[stream].is_full()) else {
            // All of its data is on the way to flash, and its parity has been taken.
            return;
        };
        // Program units without any unit: those after the one begun.
        let frontier = &self.frontiers[stream];
        let at = self.layout.within_of(superblock, frontier.next());
        let begun = frontier.begun(units) != 0;
        let due = frontier.due().stripe;
        let from = at + u32::from(begun);
        let (mut gone, mut data) = (0, 0);
        for pu in self.layout.pus_within().filter(|&pu| self.lane_position(pu) == lane) {
            match self.role(superblock, pu) {
                PuRole::Data if pu >= from && !self.is_used_up(self.layout.pu_at(superblock, pu)) => {
                    gone += 1;
                    data += 1;
                }
                PuRole::Parity | PuRole::BlockParity
                    if self.code_of(superblock).is_some_and(|code| code.stripe_of(pu) >= due) =>
                {
                    gone += 1;
                }
                // Lists are handed out once all data has been.
                PuRole::List if !self.is_used_up(self.layout.pu_at(superblock, pu)) => gone += 1,
                _ => {}
            }
        }
        self.frontiers[stream].break_straight();
        let here = !begun && self.lane_position(at) == lane && self.role(superblock, at) == PuRole::Data;
        // The frontier counts the program unit under way apart from those that come later.
        self.frontiers[stream].lose_later((data - u32::from(here)) * units);
        if here {
            self.advance_frontier(stream, at);
        }
        self.settle_pus(superblock, gone);
    }
}
