//! Estimate of the memory that a run needs, from its scenario alone.

use crate::window::TimeWindow;
use outlast_scenario::{RunSpec, Scenario, TimingMode};
use outlast_ssd::Ssd;

/// Blocks up to which there is a table of wear, as in `summary/wear.rs`.
const WEAR_ROWS: u64 = 4_000_000;
/// Bytes of a row of that table, eight columns of eight bytes: here, and again as Python's copy.
const WEAR_ROW_BYTES: u64 = 2 * 8 * 8;
/// Bytes of all latency histograms when fully grown: two for each of four kinds of command, 40,000 buckets at three digits.
const HISTOGRAM_BYTES: u64 = 8 * 40_000 * 8;
/// Bytes for each superblock while preconditioning watches the spare space: one `FirstWritten`.
const WATCH_BYTES: u64 = 16;

/// Memory that a run needs in addition to the process itself, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryNeeds {
    /// Tables of drives and of the array.
    pub drives: u64,
    /// Results until they are written.
    pub results: u64,
}

impl MemoryNeeds {
    /// Sum of both.
    pub fn total(&self) -> u64 {
        self.drives + self.results
    }
}

/// Estimates the memory of the run of `scenario` on `drives`, which may be built without tables, and of an array that itself takes
/// `array_bytes`.
pub(crate) fn memory_needs(scenario: &Scenario, drives: &[&Ssd], array_bytes: u64) -> MemoryNeeds {
    let tables: u64 = drives.iter().map(|ssd| ssd.bytes_when_built()).sum();
    let superblocks: u64 =
        drives.iter().flat_map(|ssd| ssd.ftls()).map(|ftl| u64::from(ftl.layout().superblocks())).sum();
    let rows: u64 = drives
        .iter()
        .map(|ssd| ssd.config().geometry.planes() as u64 * u64::from(ssd.config().geometry.blocks_per_plane))
        .sum();
    let wear = if rows <= WEAR_ROWS { rows * WEAR_ROW_BYTES } else { 0 };
    // As many windows as may be kept; without simulated time there are none.
    let windows = match scenario.run.timing {
        TimingMode::Full => u64::from(RunSpec::MAX_WINDOWS) * size_of::<TimeWindow>() as u64,
        TimingMode::None => 0,
    };
    // The twin has tables of its own, and is kept until its run has ended.
    let devices = if scenario.run.twin { 2 } else { 1 };
    MemoryNeeds {
        drives: devices * (tables + array_bytes) + superblocks * WATCH_BYTES,
        results: wear + windows + HISTOGRAM_BYTES,
    }
}
