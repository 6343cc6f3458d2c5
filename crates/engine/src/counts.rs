//! Counts of drives since the last reset, and their state at one moment.

use outlast_ftl::UnitsWritten;
use outlast_ssd::{Corrections, Counters, RberLevels, Ssd};
use outlast_units::Nanos;

/// Blocks over which error rates are sampled at the end of a window.
pub(crate) const WINDOW_BLOCKS: usize = 256;

outlast_units::counters! {
    /// Counts since the last reset, over one drive or several.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub(crate) struct DriveCounts {
        /// Mapping units programmed, by cause.
        pub(crate) written: UnitsWritten,
        /// Operations and commands. In an array `host_bytes_written` includes what the array itself writes to its members.
        pub(crate) drives: Counters,
        /// Units read, by the mechanism that delivered them: ECC, re-read, block or stripe parity.
        pub(crate) corrections: Corrections,
        /// Superblocks relocated.
        pub(crate) victims: u64,
        /// Valid units in these.
        pub(crate) victim_units: u64,
        /// Bytes of all units programmed.
        pub(crate) programmed_bytes: u64,
        /// Bytes that the host wrote: `drives.host_bytes_written`, in an array only those of the host.
        pub(crate) host_bytes: u64,
    }
}

impl DriveCounts {
    /// Counts of one drive.
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
pub(crate) struct DriveSnapshot {
    pub(crate) counts: DriveCounts,
    /// Error rates over blocks with data.
    pub(crate) rber: RberLevels,
    pub(crate) free_superblocks: u64,
}

impl DriveSnapshot {
    /// State of one drive, with error rates sampled over `blocks` blocks.
    pub(crate) fn of(ssd: &Ssd, now: Nanos, blocks: usize) -> Self {
        Self {
            counts: DriveCounts::of(ssd),
            rber: ssd.rber_levels(now, blocks).unwrap_or_default(),
            free_superblocks: ssd.free_superblocks().into(),
        }
    }
}

/// Sums over several drives. `host_bytes` are those that reach the drives, which an array replaces by its own count.
pub(crate) fn snapshot_of<'a>(drives: impl Iterator<Item = &'a Ssd>, now: Nanos) -> DriveSnapshot {
    let drives: Vec<&Ssd> = drives.collect();
    // Shared out over the drives, since a window ends often.
    let blocks = (WINDOW_BLOCKS / drives.len().max(1)).max(16);
    // A spare holds no data yet and has no levels, so it does not dilute the means.
    let levels: Vec<RberLevels> = drives.iter().filter_map(|ssd| ssd.rber_levels(now, blocks)).collect();
    DriveSnapshot {
        counts: drives.iter().map(|ssd| DriveCounts::of(ssd)).sum(),
        rber: mean_levels(&levels),
        free_superblocks: drives.iter().map(|ssd| u64::from(ssd.free_superblocks())).sum(),
    }
}

/// Error rates of several drives as one: means of mean and median, the worst of the 99th percentiles and maxima.
pub(crate) fn mean_levels(levels: &[RberLevels]) -> RberLevels {
    if levels.is_empty() {
        return RberLevels::default();
    }
    let count = levels.len() as f64;
    RberLevels {
        mean: levels.iter().map(|level| level.mean).sum::<f64>() / count,
        p50: levels.iter().map(|level| level.p50).sum::<f64>() / count,
        p99: levels.iter().map(|level| level.p99).fold(0.0, f64::max),
        max: levels.iter().map(|level| level.max).fold(0.0, f64::max),
    }
}
