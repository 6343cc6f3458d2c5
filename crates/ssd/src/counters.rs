//! What a drive counts.

use serde::Serialize;

/// Counters since the last [`crate::Ssd::reset_counters`], over all cores. Flash reads and programs count pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counters {
    /// Bytes that completed host writes carried.
    pub host_bytes_written: u64,
    /// Mapping units that host reads asked for and that were never written (or trimmed): no flash read was needed.
    pub unmapped_reads: u64,
    /// Mapping units that host reads found in the write buffer.
    pub buffer_hits: u64,
    /// Units of which the host wrote only a part, so that the rest had to be kept.
    pub partial_writes: u64,
    /// Bytes of those units that the host did not write.
    pub partial_bytes: u64,
    /// Pages read for the host.
    pub host_reads: u64,
    /// Pages read to complete partly written units.
    pub rmw_reads: u64,
    /// Pages read by garbage collection.
    pub gc_reads: u64,
    /// Pages read by wear levelling.
    pub wear_leveling_reads: u64,
    /// Pages read by scrubbing to move them.
    pub scrub_reads: u64,
    /// Pages read to hand data over to another core, after a die has failed.
    pub migration_reads: u64,
    /// Pages read to see whether a die has failed.
    pub probe_reads: u64,
    /// Pages read for the lists of a failed die's units.
    pub list_reads: u64,
    /// Pages read by patrol.
    pub patrol_reads: u64,
    /// Pages read again because the ECC could not correct them.
    pub rereads: u64,
    /// Pages read to rebuild others of their stripe.
    pub stripe_reads: u64,
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

impl Counters {
    /// Pages read, for whatever reason.
    pub fn reads(&self) -> u64 {
        self.host_reads
            + self.rmw_reads
            + self.gc_reads
            + self.wear_leveling_reads
            + self.scrub_reads
            + self.migration_reads
            + self.probe_reads
            + self.list_reads
            + self.patrol_reads
            + self.rereads
            + self.stripe_reads
    }
}
