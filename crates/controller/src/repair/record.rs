//! Records of failures of dies.

use outlast_units::Nanos;

/// A die that has failed, and what finding its data took.
#[derive(Clone, Debug, Default, PartialEq, outlast_persist::Persist)]
pub struct RepairRecord {
    /// The die, numbered channel by channel.
    pub die: u16,
    /// Its flash core.
    pub core: u16,
    /// When it, or a plane of it, broke; `None` where bad blocks came one by one.
    pub failed_at: Option<Nanos>,
    /// When the first of its bad blocks was found.
    pub first_bad_at: Nanos,
    /// When firmware knew that the die had failed.
    pub detected_at: Nanos,
    /// Its bad blocks at that time.
    pub bad_blocks: u32,
    /// Blocks read to see whether they are bad.
    pub probes: u32,
    /// Units whose current copy was on it when that was detected.
    pub failed_units: u64,
    /// Queries answered since it was detected.
    pub queries: u64,
    /// The sum of their latencies, from the master core on.
    pub identify_busy: Nanos,
    /// Pages read that list its units.
    pub lists_read: u64,
    /// Units marked as failed for what lists say.
    pub marked: u64,
    /// True if the mapping table was searched all the same, since a list was gone.
    pub searched: bool,
    /// Logical over physical space of each flash core, as this repair left it, known from when the next die fails on; empty until then.
    pub space_utilisation: Vec<f64>,
}

impl RepairRecord {
    /// How long detection took since the first bad block was found.
    pub fn detection(&self) -> Nanos {
        self.detected_at.saturating_sub(self.first_bad_at)
    }
}
