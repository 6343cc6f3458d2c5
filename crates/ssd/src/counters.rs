//! Counters of a drive.

use outlast_ftl::{PagesRead, UnitsWritten};

outlast_units::counters! {
    /// Counters since the last [`crate::Ssd::reset_counters`], over all cores. Flash reads and programs count pages.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, outlast_persist::Persist)]
    pub struct Counters {
        /// Bytes that completed host writes carried.
        pub host_bytes_written: u64,
        /// Mapping units that host reads asked for and that were never written (or trimmed): no flash read was needed.
        pub unmapped_reads: u64,
        /// Mapping units that host reads found in the write buffer.
        pub buffer_hits: u64,
        /// Mapping units that host reads found in the read cache.
        pub read_cache_hits: u64,
        /// Mapping units that the host wrote in place of older ones in the write buffer: these were never programmed.
        pub coalesced_writes: u64,
        /// Units of which the host wrote only a part, so that the rest had to be kept.
        pub partial_writes: u64,
        /// Bytes of those units that the host did not write.
        pub partial_bytes: u64,
        /// Pages read, by cause.
        pub reads: PagesRead,
        /// Mapping units that the host asked for and did not get.
        pub medium_errors: u64,
        /// Mapping units whose data is gone: relocation could not read them.
        pub lost_units: u64,
        /// Program operations that failed.
        pub program_failures: u64,
        /// Erasures that failed.
        pub erase_failures: u64,
        /// Pages programmed.
        pub programs: u64,
        /// Program operations that used more than one plane.
        pub multi_plane_programs: u64,
        /// Blocks erased.
        pub erases: u64,
        /// Programs and erases suspended by host reads.
        pub suspends: u64,
        /// Nanoseconds during which host writes waited for garbage collection, summed over cores.
        pub blocked_ns: u64,
    }
}

outlast_units::counters! {
    /// What the translation layers count since the beginning.
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
    }
}

/// What had been counted at the last reset of the counters.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub(crate) struct AtReset {
    /// Sums, to be subtracted.
    pub(crate) totals: Totals,
    /// Units written, by flash core, and those of the host's that took the place of older ones.
    pub(crate) by_core: Vec<(UnitsWritten, u64)>,
    /// Units lost to the host or to the drive.
    pub(crate) errors: u64,
}

impl AtReset {
    /// Nothing, by a drive of so many flash cores.
    pub(crate) fn new(cores: usize) -> Self {
        Self { totals: Totals::default(), by_core: vec![<(UnitsWritten, u64)>::default(); cores], errors: 0 }
    }
}

/// What losses of power have done to a drive over its life.
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
