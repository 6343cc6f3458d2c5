//! What a run will take, told from the scenario before any of it is taken.

use crate::window::Window;
use outlast_scenario::{Scenario, TimingMode};
use outlast_ssd::Ssd;

/// Blocks up to which there is a table of wear, and what a row of it takes until it is written: here, and as Python has it.
const WEAR_ROWS: u64 = 4_000_000;
const WEAR_ROW_BYTES: u64 = 2 * 8 * 8;
/// A histogram of latencies that has grown: two of them for each kind of command, three digits.
const HISTOGRAM_BYTES: u64 = 8 * 40_000 * 8;
/// Bytes kept about each superblock while it is watched whether the spare space has settled.
const WATCH_BYTES: u64 = 16;

/// Memory that a run takes, in bytes, beside what the process has before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Tables of drives and of the array.
    pub drives: u64,
    /// What is measured, until it is written.
    pub results: u64,
}

impl Memory {
    /// All of it.
    pub fn total(&self) -> u64 {
        self.drives + self.results
    }
}

/// What the run of `scenario` takes over `drives`, which need not have tables, and `array` bytes of an array's own.
pub(crate) fn of(scenario: &Scenario, drives: &[&Ssd], array: u64) -> Memory {
    let tables: u64 = drives.iter().map(|ssd| ssd.bytes_when_built()).sum();
    let superblocks: u64 =
        drives.iter().flat_map(|ssd| ssd.ftls()).map(|ftl| u64::from(ftl.layout().superblocks())).sum();
    let rows: u64 = drives
        .iter()
        .map(|ssd| ssd.config().geometry.planes() as u64 * u64::from(ssd.config().geometry.blocks_per_plane))
        .sum();
    let wear = if rows <= WEAR_ROWS { rows * WEAR_ROW_BYTES } else { 0 };
    let windows = match scenario.run.timing {
        TimingMode::Full => u64::from(scenario.run.max_windows) * size_of::<Window>() as u64,
        TimingMode::None => 0,
    };
    let beside = if scenario.run.twin { 2 } else { 1 };
    Memory {
        drives: beside * (tables + array) + superblocks * WATCH_BYTES,
        results: wear + windows + HISTOGRAM_BYTES,
    }
}
