//! Section `wear` of the result, and the table of blocks.

use crate::drives::DriveSet;
use crate::member::ArrayMember;
use crate::table::{ResultColumn, ResultTable};
use outlast_ssd::Ssd;
use outlast_units::CoreId;
use serde::Serialize;

/// Most blocks for which the wear table is made.
const WEAR_ROWS: usize = 4_000_000;

/// P/E cycles over the drive's life, of blocks in use: the good blocks of superblocks that take data.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct WearFigures {
    pub mean_pe: f64,
    pub max_pe: u32,
    pub min_pe: u32,
    pub bad_blocks: u64,
    pub spare_blocks_left: u64,
}

pub(crate) fn wear(ssd: &DriveSet<'_>) -> WearFigures {
    let in_use: outlast_ftl::BlockWear = ssd.ftls().map(|ftl| ftl.space().worn()).sum();
    WearFigures {
        mean_pe: in_use.mean(),
        max_pe: in_use.most,
        // Without blocks in use, `least` is the largest number there is.
        min_pe: in_use.least.min(in_use.most),
        bad_blocks: ssd.ftls().map(|ftl| ftl.space().bad_blocks()).sum(),
        spare_blocks_left: ssd.ftls().map(|ftl| ftl.space().spare_blocks_left()).sum(),
    }
}

/// One row for each block; `None` for more than [`WEAR_ROWS`] blocks.
pub(crate) fn wear_table(drives: &DriveSet<'_>) -> Option<ResultTable> {
    let rows = |ssd: &Ssd| ssd.config().geometry.planes() * ssd.config().geometry.blocks_per_plane as usize;
    if drives.all().iter().map(|ssd| rows(ssd)).sum::<usize>() > WEAR_ROWS {
        return None;
    }
    let mut columns: [Vec<u64>; 8] = Default::default();
    match drives.array {
        None => wear_rows(drives.first(), 0, &mut columns),
        Some(volume) => {
            for device in 0..usize::from(volume.array.config().members) {
                if let Some(ssd) = volume.array.member(device).and_then(ArrayMember::drive) {
                    wear_rows(ssd, device as u64, &mut columns);
                }
            }
        }
    }
    let mut table = ResultTable::default();
    let names = ["core", "die", "channel", "plane", "block", "cycles", "bad", "device"];
    let shown = if drives.array.is_some() { 8 } else { 7 };
    for (name, column) in names.into_iter().zip(columns).take(shown) {
        table.push(name, ResultColumn::U64(column));
    }
    Some(table)
}

/// Adds a row for each block of `ssd`, in the order of the columns of [`wear_table`].
fn wear_rows(ssd: &Ssd, device: u64, columns: &mut [Vec<u64>; 8]) {
    let geometry = &ssd.config().geometry;
    for (core, ftl) in (0..).map(CoreId).zip(ssd.ftls()) {
        let blocks = ftl.space().blocks();
        for ((index, &cycles), bad) in blocks.all_cycles().iter_indexed().zip(ftl.space().all_bad()) {
            let at = blocks.address(index);
            let die = ssd.dies_of_core(core)[at.die];
            let channel = geometry.locate(die).channel.0;
            let row = [
                u64::from(core.0),
                u64::from(die.0),
                u64::from(channel),
                u64::from(at.plane),
                u64::from(at.block.0),
                u64::from(cycles),
                u64::from(bad),
                device,
            ];
            for (column, value) in columns.iter_mut().zip(row) {
                column.push(value);
            }
        }
    }
}
