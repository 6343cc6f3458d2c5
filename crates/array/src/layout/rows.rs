//! Runs of rows, and rectangles of them.

use crate::ids::GroupIndex;
use outlast_units::{SECTOR_BYTES, to_length};

/// A run of rows of one chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, outlast_persist::Persist)]
#[persist(check)]
pub(crate) struct RowRange {
    pub(crate) first: u32,
    pub(crate) end: u32,
}

impl RowRange {
    /// Checks that a restored run of rows is not empty.
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "as the derived reading calls it")]
    fn check_restored(&self) -> Result<(), String> {
        if self.first < self.end {
            Ok(())
        } else {
            Err(format!("rows {} to {} are empty", self.first, self.end))
        }
    }

    pub(crate) fn new(first: u32, end: u32) -> Self {
        debug_assert!(first < end, "rows are never empty");
        Self { first, end }
    }
    pub(crate) fn len(self) -> u32 {
        self.end - self.first
    }
    /// Bytes of the rows.
    pub(crate) fn byte_length(self) -> usize {
        to_length(u64::from(self.len()) * SECTOR_BYTES)
    }

    pub(crate) fn overlaps(self, other: Self) -> bool {
        self.first < other.end && other.first < self.end
    }
    /// The rows as bytes of a buffer that begins with row `from`.
    pub(crate) fn bytes(self, from: u32) -> std::ops::Range<usize> {
        let sector = to_length(SECTOR_BYTES);
        (self.first - from) as usize * sector..(self.end - from) as usize * sector
    }
}

/// A rectangle of one group: data roles `first_role..end_role`, each over the same rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GroupPiece {
    pub(crate) group: GroupIndex,
    pub(crate) first_role: u8,
    pub(crate) end_role: u8,
    pub(crate) rows: RowRange,
}

/// A row of a chunk, or the number of rows of a chunk or a command, from an address.
#[inline]
pub(crate) fn to_row(row: u64) -> u32 {
    debug_assert!(u32::try_from(row).is_ok(), "a chunk and a command have fewer than 2^32 sectors");
    #[allow(clippy::cast_possible_truncation, reason = "below 2^32, as asserted")]
    let row = row as u32;
    row
}
