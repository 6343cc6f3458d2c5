//! Layout of mapping units on the pages that one program operation writes.

use outlast_units::count_few;

/// The shape of a program unit: page rows on the planes of a lane, and units over them, plane by plane, then row by row. Units and
/// pages divide each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramUnit {
    /// Planes that program together.
    pub planes: u32,
    /// Page rows, at most 64.
    pub rows: u32,
    /// Pages that one unit spans; 1 where several units share a page.
    pub pages_per_unit: u32,
    /// Units on one page; 1 where a unit spans several.
    pub units_per_page: u32,
}

impl ProgramUnit {
    /// Number of units, at most 64.
    #[inline]
    pub fn units(&self) -> u32 {
        self.planes * self.rows / self.pages_per_unit * self.units_per_page
    }

    /// True if bit mask `units` is not empty and has only units of this program unit.
    pub fn contains(&self, units: u64) -> bool {
        units != 0 && units >> (self.units() - 1) <= 1
    }

    /// Pages to sense for the units in bit mask `units`: their number, and a bit mask of their rows.
    #[allow(
        clippy::inline_always,
        reason = "called for each read of flash; left to itself it is a call of its own since a third place calls it"
    )]
    #[inline(always)]
    pub fn sensed(&self, units: u64) -> (u64, u64) {
        debug_assert!(units != 0 && units >> (self.units() - 1) <= 1, "{self:?} has no units {units:b}");
        if self.rows == 1 && units.is_power_of_two() {
            (u64::from(self.pages_per_unit), 1)
        } else if self.rows == 1 && self.units_per_page == 1 {
            (u64::from(count_few(units) * self.pages_per_unit), 1)
        } else {
            self.sensed_slowly(units)
        }
    }

    /// The planes on which the units in bit mask `units` lie, one bit each.
    pub fn planes_of(&self, units: u64) -> u64 {
        let pages = |unit: u32| {
            let first = unit / self.units_per_page * self.pages_per_unit;
            (first..first + self.pages_per_unit).fold(0, |planes, page| planes | 1 << (page % self.planes))
        };
        let own = (0..self.units()).filter(|unit| units >> unit & 1 == 1);
        own.fold(0, |planes, unit| planes | pages(unit))
    }

    fn sensed_slowly(&self, units: u64) -> (u64, u64) {
        let on_a_page = u64::MAX >> (64 - self.units_per_page);
        let (mut pages, mut rows, mut first, mut rest) = (0, 0, 0, units);
        // Page by page or, where units span several pages, unit by unit.
        while rest != 0 {
            if rest & on_a_page != 0 {
                pages += u64::from(self.pages_per_unit);
                for page in first..first + self.pages_per_unit {
                    rows |= if self.rows == 1 { 1 } else { 1 << (page / self.planes) };
                }
            }
            rest = rest.checked_shr(self.units_per_page).unwrap_or(0);
            first += self.pages_per_unit;
        }
        (pages, rows)
    }
}

#[cfg(test)]
mod tests {
    use super::ProgramUnit;
    use std::collections::BTreeSet;

    /// Every mask of every small shape, page by page.
    #[test]
    fn the_pages_of_the_units_are_sensed() {
        let shapes = [
            (1, 1, 1, 1),
            (2, 1, 1, 1),
            (2, 1, 1, 4),
            (4, 1, 2, 1),
            (1, 3, 3, 1),
            (2, 2, 4, 1),
            (4, 3, 6, 1),
            (3, 1, 1, 3),
        ];
        for (planes, rows, pages_per_unit, units_per_page) in shapes {
            let shape = ProgramUnit { planes, rows, pages_per_unit, units_per_page };
            for mask in 1u64..1 << shape.units() {
                let units = (0..shape.units()).filter(|unit| mask >> unit & 1 == 1);
                let first = |unit: u32| unit / units_per_page * pages_per_unit;
                let pages: BTreeSet<u32> =
                    units.flat_map(|unit| first(unit)..first(unit) + pages_per_unit).collect();
                let rows = pages.iter().fold(0, |rows, page| rows | 1 << (page / planes));
                assert_eq!(shape.sensed(mask), (pages.len() as u64, rows), "{shape:?}, {mask:b}");
                let planes = pages.iter().fold(0, |set, page| set | 1 << (page % planes));
                assert_eq!(shape.planes_of(mask), planes, "{shape:?}, {mask:b}");
            }
        }
    }
}
