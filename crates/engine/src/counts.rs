//! What drives count, and what they are like at a moment.

use outlast_ftl::UnitsWritten;
use outlast_ssd::{Corrections, Counters, RberLevels, Ssd};
use outlast_units::Nanos;

outlast_units::counters! {
    /// What has been counted since the last reset, over one drive or several.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub(crate) struct Counts {
        /// Mapping units programmed, by cause.
        pub(crate) written: UnitsWritten,
        /// Operations and commands; `host_bytes_written` are bytes that drives were asked to write.
        pub(crate) drives: Counters,
        /// What gave the units that were read.
        pub(crate) corrections: Corrections,
        /// Superblocks relocated.
        pub(crate) victims: u64,
        /// Valid units in them.
        pub(crate) victim_units: u64,
        /// Bytes of all units programmed.
        pub(crate) programmed_bytes: u64,
        /// Bytes that the host wrote: those that drives were asked to write, unless an array adds its own.
        pub(crate) host_bytes: u64,
    }
}

impl Counts {
    /// Of one drive.
    pub(crate) fn of(ssd: &Ssd) -> Self {
        let (written, drives, (victims, victim_units)) = (ssd.written(), ssd.counters(), ssd.victims());
        Self {
            written,
            drives,
            corrections: ssd.corrections(),
            victims,
            victim_units,
            programmed_bytes: written.total() * ssd.config().ftl.mapping_unit.0,
            host_bytes: drives.host_bytes_written,
        }
    }
}

/// The state of the drives at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Snapshot {
    pub(crate) counts: Counts,
    /// Error rates over blocks with data.
    pub(crate) rber: RberLevels,
    pub(crate) free_superblocks: u64,
}

impl Snapshot {
    /// Of one drive, its error rates over `blocks` blocks.
    pub(crate) fn of(ssd: &Ssd, now: Nanos, blocks: usize) -> Self {
        Self {
            counts: Counts::of(ssd),
            rber: ssd.rber_levels(now, blocks).unwrap_or_default(),
            free_superblocks: ssd.free_superblocks().into(),
        }
    }
}
