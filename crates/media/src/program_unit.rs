//! How mapping units lie on the pages that one program operation writes.

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
    /// Units of it, at most 64.
    #[inline]
    pub fn units(&self) -> u32 {
        self.planes * self.rows / self.pages_per_unit * self.units_per_page
    }

    /// What sensing the units in bit mask `units` takes: how many pages, and a bit mask of the page rows.
    #[inline]
    pub fn sensed(&self, units: u64) -> (u64, u64) {
        if self.rows == 1 && self.units_per_page == 1 {
            (u64::from(units.count_ones() * self.pages_per_unit), 1)
        } else {
            self.sensed_slowly(units)
        }
    }

    fn sensed_slowly(&self, units: u64) -> (u64, u64) {
        let (mut pages, mut row_mask) = (0u64, 0u64);
        let (mut rest, mut last) = (units, u32::MAX);
        while rest != 0 {
            let unit = rest.trailing_zeros();
            rest &= rest - 1;
            let first = unit / self.units_per_page * self.pages_per_unit;
            // Units of one page are neighbours, so a page sensed before is the last one.
            if first != last {
                last = first;
                pages += u64::from(self.pages_per_unit);
                for page in first..first + self.pages_per_unit {
                    row_mask |= 1 << (page / self.planes);
                }
            }
        }
        (pages, row_mask)
    }
}
