//! Roles of program units, and the state of each: data, parity or gap, on flash, on its way or gone.

use crate::codes::data_units;
use crate::lane_set::LaneSet;
use crate::space::PuStates;
use crate::stripes::{PuRole, StripeLayout};
use outlast_settings::ftl::CodeConfig;
use outlast_units::{LaneIndex, LocalDie, Ppn, Pu, PuWithin, SuperblockId, to_count};

impl PuStates {
    /// Class of the data of a superblock.
    #[inline]
    pub(crate) fn class_of_superblock(&self, superblock: SuperblockId) -> u8 {
        self.streams.class(self.superblocks.opened_by(superblock))
    }

    /// True if a slot's program unit is on flash, not still in the buffer.
    #[allow(clippy::inline_always, reason = "a comparison, mostly, for every unit that is read")]
    #[inline(always)]
    pub fn is_programmed(&self, slot: Ppn) -> bool {
        self.superblocks.to_come(self.layout.superblock_of(slot)) == 0 || {
            let (pu, _) = self.layout.pu_of(slot);
            self.superblocks.is_programmed(pu)
        }
    }

    pub(crate) fn code_of(&self, superblock: SuperblockId) -> Option<&StripeLayout> {
        self.codes.of(superblock)
    }

    pub(crate) fn opened_gaps(&self, superblock: SuperblockId) -> Option<&LaneSet> {
        self.lanes.opened(superblock)
    }

    pub(crate) fn lane_position(&self, pu_within: PuWithin) -> LaneIndex {
        LaneIndex(pu_within.0 % self.layout.lane_count())
    }

    pub(crate) fn is_skipped(&self, superblock: SuperblockId, pu_within: PuWithin) -> bool {
        self.lanes.is_given_up(superblock, self.lane_position(pu_within))
    }

    /// Role of program unit `pu_within` of `superblock`.
    pub(crate) fn role(&self, superblock: SuperblockId, pu_within: PuWithin) -> PuRole {
        let gaps = self.opened_gaps(superblock);
        match self.code_of(superblock) {
            Some(code) => match code.role(pu_within, gaps) {
                PuRole::Data if self.partials.is_spent(self.layout.pu_at(superblock, pu_within)) => {
                    PuRole::Partial
                }
                role => role,
            },
            None if gaps.is_some_and(|gaps| gaps.contains(self.lane_position(pu_within))) => PuRole::Gap,
            None => {
                let mode = self.superblocks.mode(superblock);
                match pu_within.0 {
                    pu if pu < self.layout.data_pus(mode) => PuRole::Data,
                    pu if pu < self.layout.used_pus(mode) => PuRole::List,
                    _ => PuRole::Gap,
                }
            }
        }
    }

    /// True if the data of `superblock` has parity, or will when its stripes are full.
    #[inline]
    pub(crate) fn has_parity(&self, superblock: SuperblockId) -> bool {
        self.codes.has_parity(superblock)
    }

    pub(crate) fn within_superblock(&self, pu: Pu) -> (SuperblockId, PuWithin) {
        self.layout.within_superblock(pu)
    }

    pub(crate) fn is_on_flash(&self, superblock: SuperblockId, pu: Pu) -> bool {
        let regular = self.superblocks.to_come(superblock) == 0 && !self.lanes.is_irregular(superblock);
        regular || self.superblocks.is_programmed(pu)
    }

    /// True if program unit `pu` has been programmed, or has failed on the way, since its blocks were erased.
    pub(crate) fn is_used_up(&self, pu: Pu) -> bool {
        let (superblock, within) = self.within_superblock(pu);
        let (row, lane) = self.layout.row_and_lane(within);
        row < self.physical.programmed(&self.layout, superblock, lane)
    }

    /// True if program unit `pu_within` of an open superblock can still be programmed with data.
    pub(crate) fn takes_data(&self, superblock: SuperblockId, pu_within: PuWithin) -> bool {
        let pu = self.layout.pu_at(superblock, pu_within);
        self.role(superblock, pu_within) == PuRole::Data
            && !self.is_skipped(superblock, pu_within)
            && !self.lanes.is_closed(superblock)
            && (!self.lanes.is_irregular(superblock) || !self.is_used_up(pu))
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

    /// True if all of a die has failed.
    pub fn is_dead_die(&self, local_die: LocalDie) -> bool {
        self.layout.lanes_of_die(local_die).iter().all(|&lane| self.lanes.is_dead(lane))
    }

    /// The lanes that are not gone for good, as positions in allocation order.
    pub fn live_lanes(&self) -> impl Iterator<Item = LaneIndex> {
        self.lanes.live()
    }

    /// The program units of a superblock that lie on lane `lane`.
    pub(crate) fn pus_on(
        &self,
        superblock: SuperblockId,
        lane: LaneIndex,
    ) -> impl Iterator<Item = Pu> + use<> {
        let all = self.layout.pus_of(superblock);
        Pu::each(all.start + lane.0..all.end).step_by(self.layout.lanes().len())
    }

    /// Lanes that are gone and were not when `superblock` was opened.
    pub(crate) fn lanes_lost_since(&self, superblock: SuperblockId) -> u32 {
        let Some(dead) = self.lanes.dead() else { return 0 };
        let opened = self.opened_gaps(superblock);
        let lanes = self.layout.lanes().indices();
        to_count(
            lanes
                .filter(|&lane| dead.contains(lane) && !opened.is_some_and(|gaps| gaps.contains(lane)))
                .count(),
        )
    }

    /// Data slots that `superblock` has had since it was opened.
    pub(crate) fn units_of(&self, superblock: SuperblockId) -> u32 {
        let gaps = self.opened_gaps(superblock);
        let stream = self.superblocks.opened_by(superblock);
        let mode = self.superblocks.mode(superblock);
        let is_current = self.codes.is_current(superblock, stream) && mode == self.streams.mode(stream);
        if gaps.is_none() && self.lanes.dead().is_none() && is_current {
            return self.codes.data_units(stream);
        }
        data_units(&self.layout, mode, self.codes.of(superblock), gaps)
    }

    /// True if classes, or superblocks of one class, have different codes.
    #[inline]
    pub(crate) fn is_mixed(&self) -> bool {
        self.codes.count() > 1 || self.streams.classes() > 1
    }

    /// The code that class `class` has now.
    pub(crate) fn code(&self, class: u8) -> CodeConfig {
        self.codes.of_class()[usize::from(class)]
    }
}
