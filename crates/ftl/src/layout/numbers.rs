//! Numbers of slots and program units: each from the other, and the place of a program unit.

use super::{DieLane, PuPlace, SlotLayout};
use outlast_units::{Group, LaneIndex, Ppn, Pu, PuWithin, Row, SuperblockId};
use std::ops::Range;

impl SlotLayout {
    /// The superblock of a slot.
    #[inline]
    pub fn superblock_of(&self, slot: Ppn) -> SuperblockId {
        debug_assert!(slot.0 < self.slots(), "slot {slot} lies beyond the {} of the core", self.slots());
        SuperblockId(self.by_superblock.quotient(slot.0))
    }

    /// The first slot of a superblock.
    #[inline]
    pub(crate) fn first_slot(&self, superblock: SuperblockId) -> Ppn {
        debug_assert!(superblock.0 <= self.superblocks, "superblock {superblock} of {}", self.superblocks);
        Ppn(superblock.0 * self.units_per_superblock())
    }

    /// The first slot of a program unit; of the one after the last, the end of all slots.
    #[inline]
    pub fn first_slot_of(&self, pu: Pu) -> Ppn {
        debug_assert!(
            pu.0 <= self.superblocks * self.pus_per_superblock(),
            "program unit {pu} lies beyond the core"
        );
        Ppn(pu.0 * self.units_per_pu)
    }

    /// The slots of a program unit.
    #[inline]
    pub fn slots_of(&self, pu: Pu) -> Range<Ppn> {
        let first = self.first_slot_of(pu);
        first..first + self.units_per_pu
    }

    /// The program units of a superblock.
    #[inline]
    pub(crate) fn pus_of(&self, superblock: SuperblockId) -> Range<Pu> {
        self.pu_at(superblock, PuWithin(0))..self.pu_at(superblock, PuWithin(self.pus_per_superblock()))
    }

    /// Program unit `within` of `superblock`; after its last one comes the first one of the next superblock.
    #[inline]
    pub fn pu_at(&self, superblock: SuperblockId, within: PuWithin) -> Pu {
        debug_assert!(within.0 <= self.pus_per_superblock(), "program unit {within} of a superblock");
        Pu(superblock.0 * self.pus_per_superblock() + within.0)
    }

    /// The program unit of a superblock in which slot `slot` lies, be it the slot after the last one.
    #[inline]
    pub(crate) fn within_of(&self, superblock: SuperblockId, slot: Ppn) -> PuWithin {
        PuWithin(self.by_pu.quotient(slot - self.first_slot(superblock)))
    }

    /// The program unit of a slot, numbered over the core, and the slot's place in it.
    #[inline]
    pub fn pu_of(&self, slot: Ppn) -> (Pu, u32) {
        // The slot after the last one ends the last program unit.
        debug_assert!(slot.0 <= self.slots(), "slot {slot} lies beyond the {} of the core", self.slots());
        let (pu, unit) = self.by_pu.divide(slot.0);
        (Pu(pu), unit)
    }

    /// The lane of program unit `pu`.
    #[inline]
    pub fn lane_of_pu(&self, pu: Pu) -> DieLane {
        // A superblock holds a whole number of superpages, so the lane follows from the number over the core.
        self.lanes[LaneIndex(self.by_lane.divide(pu.0).1)]
    }

    /// The superpage of program unit `pu`, numbered over the core.
    #[inline]
    pub fn group_of_pu(&self, pu: Pu) -> Group {
        Group(self.by_lane.quotient(pu.0))
    }

    /// The superblock of program unit `pu`.
    #[inline]
    pub(crate) fn superblock_of_pu(&self, pu: Pu) -> SuperblockId {
        SuperblockId(self.pus_per_superblock.quotient(pu.0))
    }

    /// The superblock of program unit `pu`, and the number of `pu` within it.
    #[inline]
    pub(crate) fn within_superblock(&self, pu: Pu) -> (SuperblockId, PuWithin) {
        let (superblock, within) = self.pus_per_superblock.divide(pu.0);
        debug_assert!(superblock < self.superblocks, "program unit {pu} lies beyond the core");
        (SuperblockId(superblock), PuWithin(within))
    }

    /// Superpage and lane of a program unit, all counted within the superblock.
    #[inline]
    pub(crate) fn row_and_lane(&self, pu_within: PuWithin) -> (u32, LaneIndex) {
        debug_assert!(pu_within.0 < self.pus_per_superblock(), "program unit {pu_within} of a superblock");
        let (row, lane) = self.by_lane.divide(pu_within.0);
        (row, LaneIndex(lane))
    }

    /// The first page row of program unit `within` of a superblock.
    #[inline]
    pub fn first_row_of(&self, within: PuWithin) -> Row {
        debug_assert!(within.0 < self.pus_per_superblock(), "program unit {within} of a superblock");
        Row(self.by_lane.quotient(within.0) * self.rows_per_pu)
    }

    /// Place of program unit `pu`.
    #[inline]
    pub fn place(&self, pu: Pu) -> PuPlace {
        self.place_and_group(pu).0
    }

    /// Place of program unit `pu`, and its superpage, numbered over the core.
    #[allow(clippy::inline_always, reason = "two multiplications for every operation of flash")]
    #[inline(always)]
    pub fn place_and_group(&self, pu: Pu) -> (PuPlace, Group) {
        let (group, position) = self.by_lane.divide(pu.0);
        let (superblock, superpage) = self.by_superpage.divide(group);
        let place = PuPlace {
            superblock: SuperblockId(superblock),
            lane: self.lanes[LaneIndex(position)],
            first_page: Row(superpage * self.rows_per_pu),
        };
        (place, Group(group))
    }
}
