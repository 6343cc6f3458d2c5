//! Runs of rows, and rectangles of them.

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
    pub(crate) fn overlaps(self, other: Self) -> bool {
        self.first < other.end && other.first < self.end
    }
    /// The rows as bytes of a buffer that begins with row `from`.
    pub(crate) fn bytes(self, from: u32) -> std::ops::Range<usize> {
        let sector = outlast_units::SECTOR_BYTES as usize;
        (self.first - from) as usize * sector..(self.end - from) as usize * sector
    }
}

/// A rectangle of one group: data roles `first_role..end_role`, each over the same rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GroupPiece {
    pub(crate) group: u64,
    pub(crate) first_role: u8,
    pub(crate) end_role: u8,
    pub(crate) rows: RowRange,
}
