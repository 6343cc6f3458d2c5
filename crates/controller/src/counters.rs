//! Counters of a drive.

use outlast_ftl::PagesRead;

outlast_units::counters! {
    /// Counters since the last `Ssd::reset_counters`, over all cores. Flash reads and programs count pages.
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
        /// Mapping units that host commands asked for whose page of the mapping table was in memory, where not all are.
        pub map_hits: u64,
        /// Mapping units whose page was not.
        pub map_misses: u64,
        /// Program units that relocation has copied on the chip.
        pub on_chip_copies: u64,
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
