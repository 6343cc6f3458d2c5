//! Causes of programs and reads: the one list of each. Results, time series, charts and the reference of figures take their names from here, so that
//! a new cause is one new line (and the code that counts it).

outlast_units::causes! {
    /// Cause of programming a mapping unit.
    pub enum ProgramCause;
    /// A value for each cause of programs.
    pub struct ByProgramCause;
    Host = "host", "data of the host", label: "host data";
    Gc = "gc", "data moved by garbage collection", label: "garbage collection";
    Padding = "padding", "empty units programmed to complete a page for a flush, FUA or a flush of the mapping table";
    WearLeveling = "wear_leveling", "data moved by static wear levelling", label: "wear levelling";
    Scrub = "scrub", "data moved by scrubbing", label: "scrubbing";
    Rewritten = "rewritten", "data written again because its program operation failed", label: "failed programs written again";
    HostParity = "host_parity", "parity of stripes of host data", label: "parity", group: "parity";
    GcParity = "gc_parity", "parity of stripes that garbage collection wrote", label: "parity", group: "parity";
    WearLevelingParity = "wear_leveling_parity", "parity of stripes that wear levelling wrote", label: "parity", group: "parity";
    ScrubParity = "scrub_parity", "parity of stripes that scrubbing wrote", label: "parity", group: "parity";
    PartialParity = "partial_parity", "parity of incomplete stripes", label: "parity of incomplete stripes";
    Reencode = "reencode", "data moved to get another code, or to lie on other dies", label: "moved to another code";
    Migrated = "migrated", "data moved to another flash core after the failure of a die", label: "moved to another core";
    Lists = "lists", "lists of what a neighbouring die holds", label: "lists of neighbouring dies";
    Map = "map", "pages of the mapping table", label: "mapping table";
    MapParity = "map_parity", "parity of stripes of the mapping table", label: "parity", group: "parity";
    Fold = "fold", "data moved out of the SLC cache", label: "folding of the SLC cache";
}

outlast_units::causes! {
    /// Cause of reading a page.
    pub enum ReadCause;
    /// A value for each cause of reads.
    pub struct ByReadCause;
    Host = "host_reads", "for reads of the host";
    Rmw = "rmw_reads", "for the rest of partially written units";
    Gc = "gc_reads", "for garbage collection";
    WearLeveling = "wear_leveling_reads", "for static wear levelling";
    Scrub = "scrub_reads", "for scrubbing, to move them";
    Migration = "migration_reads", "to move data to another flash core after the failure of a die";
    Probe = "probe_reads", "to see whether a die has failed";
    Lists = "list_reads", "of the lists of a failed die's units";
    Patrol = "patrol_reads", "by patrol, to look at them";
    Reread = "rereads", "again after the ECC had failed, for any reader";
    Stripe = "stripe_reads", "to rebuild others of their stripe";
    Fold = "fold_reads", "to fold the SLC cache";
    Map = "map_reads", "of pages of the mapping table, for reads and writes of the host";
}

/// Mapping units programmed. Their sum is what the flash programmed, or still will from the buffer.
pub type UnitsWritten = ByProgramCause<u64>;

/// Pages read.
pub type PagesRead = ByReadCause<u64>;

impl UnitsWritten {
    /// All parity of full stripes.
    pub fn parity(&self) -> u64 {
        self.of_group("parity")
    }
}
