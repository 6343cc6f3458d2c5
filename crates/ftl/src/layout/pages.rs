//! Pages of program units: which pages a unit lies on, and where.

use super::{PuPlace, SlotLayout};
use outlast_units::{Ppn, Pu, Row};
use std::ops::Range;

impl SlotLayout {
    /// The page (or, where a unit spans pages, the unit) that holds a slot, numbered over the core in write order.
    #[inline]
    pub fn page_of(&self, slot: Ppn) -> u32 {
        self.by_page.quotient(slot.0)
    }

    /// Pages that one unit spans; 1 where several units share a page.
    pub fn pages_per_unit(&self) -> u32 {
        self.pages_per_unit
    }

    /// Units on one page; 1 where a unit spans several.
    pub fn units_per_page(&self) -> u32 {
        self.units_per_page
    }

    /// The pages of a program unit over which its unit `unit` lies: plane by plane, then row by row.
    #[inline]
    pub fn pages_of_unit(&self, unit: u32) -> Range<u32> {
        debug_assert!(unit < self.units_per_pu, "unit {unit} of a program unit of {}", self.units_per_pu);
        let first = self.by_page.quotient(unit) * self.pages_per_unit;
        first..first + self.pages_per_unit
    }

    /// Plane of the die and row of the block of page `page` (counted as by [`SlotLayout::pages_of_unit`]) of the program unit at
    /// `place`.
    #[inline]
    #[allow(clippy::cast_possible_truncation, reason = "fewer planes than a die has, which 16 bits count")]
    pub fn page_place(&self, place: PuPlace, page: u32) -> (u16, Row) {
        debug_assert!(page < self.pages_per_pu(), "page {page} of a program unit of {}", self.pages_per_pu());
        let planes = u32::from(place.lane.planes);
        let (row, plane) = if page < planes { (0, page) } else { (page / planes, page % planes) };
        (place.lane.first_plane + plane as u16, place.first_page + row)
    }

    /// The first page row of program unit `pu` in its blocks.
    #[inline]
    pub fn first_page(&self, pu: Pu) -> Row {
        let within = self.pus_per_superblock.divide(pu.0).1;
        Row(self.by_lane.quotient(within) * self.rows_per_pu)
    }

    /// Pages that the slots in bit mask `units` lie on; the first slot is the first one of a page.
    #[inline]
    pub(crate) fn pages_under(&self, units: u64) -> u32 {
        if self.units_per_page == 1 {
            return units.count_ones() * self.pages_per_unit;
        }
        debug_assert!(units & !crate::bits::ones(self.mask_stride()) == 0, "a page reaches beyond the mask");
        let page = crate::bits::ones(self.units_per_page);
        let (mut left, mut pages) = (units, 0);
        while left != 0 {
            let first = self.by_page.quotient(left.trailing_zeros()) * self.units_per_page;
            left &= !(page << first);
            pages += 1;
        }
        pages
    }

    /// The units on page `page` of a program unit, counted as by [`SlotLayout::pages_of_unit`], one bit each; no unit spans pages.
    #[inline]
    pub fn units_of_page(&self, page: u32) -> u64 {
        debug_assert!(
            self.pages_per_unit == 1 && page < self.pages_per_pu(),
            "page {page} of a program unit"
        );
        crate::bits::ones(self.units_per_page) << (page * self.units_per_page)
    }

    /// Slots of so many whole pages that a bit mask has room for them: the stride at which a superblock is looked through.
    pub(crate) fn mask_stride(&self) -> u32 {
        64 / self.units_per_page * self.units_per_page
    }
}
