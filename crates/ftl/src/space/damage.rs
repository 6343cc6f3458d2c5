//! Lanes that are given up, or added.

use crate::space::{FlashSpace, Translation};
use crate::stripes::PuRole;
use outlast_decisions::SuperblockState;
use outlast_units::{LaneIndex, LocalDie, Pu, SuperblockId};

impl FlashSpace {
    /// Records that a program operation, or power, has failed.
    pub(crate) fn record_failure(&mut self) {
        self.pus.lanes.record_failure();
    }

    /// Gives up the block of `pu`, whose program operation failed, and what depended on it. True if units of it are to be kept in the controller's
    /// memory until they have been written elsewhere; to be [settled](FlashSpace::settle_pus) then.
    pub(crate) fn program_failed(&mut self, pu: Pu, translation: &mut impl Translation) -> bool {
        let (superblock, within) = self.pus.within_superblock(pu);
        self.record_failure();
        self.give_up_lane(superblock, self.pus.lane_position(within), translation);
        self.counts.count_failed();
        let role = self.pus.role(superblock, within);
        let complete = self.is_stripe_complete(pu);
        if self.pus.partials.are_on_flash() {
            self.cover_failed(pu, translation);
            if role == PuRole::Data && !complete {
                self.expose(superblock, within, translation);
            }
        }
        let holds_none = matches!(role, PuRole::Parity | PuRole::BlockParity | PuRole::List) || complete;
        if holds_none {
            self.pus.lanes.mark_failed(pu);
        }
        !holds_none
    }

    /// Gives up die `local_die` (or only `plane` of it), which has failed for good: no superblock uses its lanes any more.
    pub fn give_up_die(
        &mut self,
        local_die: LocalDie,
        plane: Option<u16>,
        translation: &mut impl Translation,
    ) {
        let lanes: Vec<LaneIndex> = self.pus.layout.lanes_of_die(local_die).to_vec();
        for lane in lanes {
            let planes = self.pus.layout.lanes()[lane];
            let hit = plane.is_none_or(|plane| {
                (planes.first_plane..planes.first_plane + planes.planes).contains(&plane)
            });
            if !hit || self.pus.lanes.is_dead(lane) {
                continue;
            }
            self.pus.lanes.mark_dead(lane);
            let open: Vec<SuperblockId> = self.pus.superblocks.in_state(SuperblockState::Open).collect();
            for superblock in open {
                self.give_up_lane(superblock, lane, translation);
            }
        }
        self.pus.lanes.forget_missing_of_dead();
        self.review_usable_superblocks();
        self.count_data_units();
        self.review_room();
    }

    /// Marks the lanes of `dies` as absent.
    pub(crate) fn mark_absent_dies(&mut self, dies: &[LocalDie]) {
        for &lane in dies.iter().flat_map(|&die| self.pus.layout.lanes_of_die(die)) {
            self.pus.lanes.mark_absent(lane);
        }
    }

    /// Adds die `local_die`, absent until now: superblocks opened from now on lie on it, too. Those that are open or full do not until they have been
    /// moved ([`SuperblockView::is_narrow`](crate::SuperblockView::is_narrow)).
    pub fn add_die(&mut self, local_die: LocalDie) {
        for &lane in self.pus.layout.lanes_of_die(local_die) {
            self.pus.lanes.mark_present(lane);
        }
        self.review_usable_superblocks();
        self.count_data_units();
        self.review_room();
    }

    /// Gives up `lane` of the open superblock `superblock`: nothing more is programmed there. Program units already begun or full are still to be
    /// reported as programmed or failed.
    fn give_up_lane(
        &mut self,
        superblock: SuperblockId,
        lane: LaneIndex,
        translation: &mut impl Translation,
    ) {
        if self.pus.superblocks.state(superblock) != SuperblockState::Open {
            return;
        }
        if !self.pus.lanes.give_up(superblock, lane) {
            return;
        }
        let units = self.pus.layout.units_per_pu();
        let Some(stream) = self.filler(superblock).filter(|&stream| !self.frontiers[stream].is_full()) else {
            // All of its data is on the way to flash, and its parity has been taken.
            return;
        };
        // Program units without any unit: those after the one begun.
        let frontier = &self.frontiers[stream];
        let at = self.pus.layout.within_of(superblock, frontier.next());
        let begun = frontier.begun(units) != 0;
        let due = frontier.due().stripe;
        let from = at + u32::from(begun);
        let (mut gone, mut data) = (0, 0);
        for pu in self
            .pus
            .layout
            .pus_within(self.pus.superblocks.mode(superblock))
            .filter(|&pu| self.pus.lane_position(pu) == lane)
        {
            match self.pus.role(superblock, pu) {
                PuRole::Data if pu >= from && !self.pus.is_used_up(self.pus.layout.pu_at(superblock, pu)) => {
                    gone += 1;
                    data += 1;
                }
                PuRole::Parity | PuRole::BlockParity
                    if self.pus.code_of(superblock).is_some_and(|code| code.stripe_of(pu) >= due) =>
                {
                    gone += 1;
                }
                // Lists are handed out once all data has been.
                PuRole::List if !self.pus.is_used_up(self.pus.layout.pu_at(superblock, pu)) => gone += 1,
                _ => {}
            }
        }
        self.frontiers[stream].break_straight();
        let here =
            !begun && self.pus.lane_position(at) == lane && self.pus.role(superblock, at) == PuRole::Data;
        // The frontier counts the program unit under way apart from those that come later.
        self.frontiers[stream].lose_later((data - u32::from(here)) * units);
        if here {
            self.advance_frontier(stream, at, translation);
        }
        self.settle_pus(superblock, gone, translation);
    }
}
