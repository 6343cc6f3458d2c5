//! Counts over the life of a drive, and those at the last reset.

use outlast_controller::Corrections;
use outlast_ftl::{HandleCounts, PagesRead, SlcCacheCounts, UnitsWritten};

outlast_units::counters! {
    /// Counts of the translation layers since the beginning.
    #[derive(Clone, Copy, Debug, Default, outlast_persist::Persist)]
    pub(crate) struct Totals {
        pub(crate) written: UnitsWritten,
        pub(crate) coalesced: u64,
        pub(crate) programs: u64,
        pub(crate) multi_plane_programs: u64,
        pub(crate) erases: u64,
        pub(crate) untimed_reads: PagesRead,
        pub(crate) victims: u64,
        pub(crate) victim_units: u64,
        pub(crate) cache: SlcCacheCounts,
    }
}

/// Counts at the last reset of the counters.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub(crate) struct AtReset {
    /// Sums, to be subtracted.
    pub(crate) totals: Totals,
    /// Units written, by flash core, and those of the host's that took the place of older ones.
    pub(crate) by_core: Vec<(UnitsWritten, u64)>,
    /// Units lost to the host or to the drive.
    pub(crate) errors: u64,
    /// Pages read before it, those of untimed relocation aside; not to be subtracted.
    pub(crate) reads: PagesRead,
    /// How reads had ended before it.
    pub(crate) corrections: Corrections,
    /// Superblocks that scrubbing had moved before it.
    pub(crate) refreshed: u64,
    /// Counts of each reclaim unit handle.
    pub(crate) handles: Vec<HandleCounts>,
}

impl AtReset {
    /// Nothing, by a drive of so many flash cores.
    pub(crate) fn new(cores: usize) -> Self {
        Self {
            totals: Totals::default(),
            by_core: vec![<(UnitsWritten, u64)>::default(); cores],
            errors: 0,
            reads: PagesRead::default(),
            corrections: Corrections::default(),
            refreshed: 0,
            handles: Vec::new(),
        }
    }
}

/// Losses of power and their damage over its life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, outlast_persist::Persist)]
pub struct PowerCuts {
    /// How often power failed.
    pub cuts: u64,
    /// Program operations that were under way without a protected buffer: their program units hold garbage.
    pub torn: u64,
    /// Units that were only in the buffer, and lost: older copies became current again.
    pub lost_units: u64,
    /// Pages that the mounts would have had to read: one of each filled superblock, in which a real drive keeps the owners of all
    /// others; all programmed ones of superblocks not filled; and those whose parity had to be computed anew.
    pub mount_pages: u64,
}
