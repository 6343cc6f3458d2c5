//! What drives count, and what they are like at a moment.

use outlast_ftl::UnitsWritten;
use outlast_ssd::{Corrections, Counters, RberLevels, Ssd};
use outlast_units::Nanos;

/// Blocks whose error rates are looked at for a window.
pub(crate) const WINDOW_BLOCKS: usize = 256;

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

/// What several drives count now, together; of host bytes, what reaches the drives.
pub(crate) fn snapshot_of<'a>(drives: impl Iterator<Item = &'a Ssd>, now: Nanos) -> Snapshot {
    let drives: Vec<&Ssd> = drives.collect();
    let blocks = (WINDOW_BLOCKS / drives.len().max(1)).max(16);
    // A spare holds no data yet, and says nothing of the others.
    let levels: Vec<RberLevels> = drives.iter().filter_map(|ssd| ssd.rber_levels(now, blocks)).collect();
    Snapshot {
        counts: drives.iter().map(|ssd| Counts::of(ssd)).sum(),
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
