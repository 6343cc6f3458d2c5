//! Ranges of a member, about which it is queried one by one.

use crate::ids::RangeIndex;
use std::ops::Range;

/// The sectors of a member, cut into ranges of equal size; the last one may be shorter.
#[derive(Clone, Copy, Debug)]
pub(in crate::machine) struct RepairRanges {
    /// Sectors of a range.
    pub(in crate::machine) sectors: u64,
    /// Sectors of the member that data and redundancy lie in.
    pub(in crate::machine) member_sectors: u64,
}

impl RepairRanges {
    /// The range that holds a sector of a member.
    pub(in crate::machine) fn range_of(self, sector: u64) -> RangeIndex {
        RangeIndex(to_range(sector / self.sectors))
    }

    /// Number of ranges of a member.
    pub(in crate::machine) fn count(self) -> u32 {
        to_range(self.member_sectors.div_ceil(self.sectors))
    }

    /// Sectors of the member that a range has.
    pub(in crate::machine) fn sectors_of(self, range: RangeIndex) -> Range<u64> {
        let first = u64::from(range.0) * self.sectors;
        first..(first + self.sectors).min(self.member_sectors)
    }
}

/// A number of ranges of a member.
fn to_range(ranges: u64) -> u32 {
    u32::try_from(ranges).expect("a range has at least one sector of 2^32")
}
