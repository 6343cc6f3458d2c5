//! Where to look: every sector that a recording has touched, and those that share a mapping unit or a stripe with one.

use crate::history::History;
use crate::versions::Version;
use outlast_serve::Machine;
use outlast_units::SECTOR_BYTES;
use std::ops::Range;

/// Sectors within one mapping unit.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    /// The first.
    pub(super) lba: u64,
    /// Of each, which of the history's versions are its own.
    pub(super) versions: Vec<Range<usize>>,
}

impl Cell {
    /// How many sectors.
    pub(super) fn sectors(&self) -> u64 {
        self.versions.len() as u64
    }

    /// Its sectors.
    pub(super) fn range(&self) -> Range<u64> {
        self.lba..self.lba + self.sectors()
    }
}

/// The cells of a recording in order, and runs of them that follow each other.
#[derive(Debug, Default)]
pub(super) struct Cells {
    pub(super) all: Vec<Cell>,
    /// The first cell, and the sectors of the run.
    pub(super) runs: Vec<(usize, Range<u64>)>,
}

impl Cells {
    /// Those of `history`, whose machine is `machine`.
    pub(super) fn new(history: &History, machine: &Machine) -> Self {
        let unit = machine.scenario().device.ftl.mapping_unit.0 / SECTOR_BYTES;
        // Where parity gives the data of a member, all of a stripe hangs together.
        let wide = match machine.members() {
            0 => unit,
            _ => unit.max(machine.identify().optimal_io.0 / SECTOR_BYTES),
        };
        let mut cells = Self::default();
        for touched in touched(history, wide) {
            cells.runs.push((cells.all.len(), touched.clone()));
            let mut lba = touched.start;
            while lba < touched.end {
                let end = ((lba / unit + 1) * unit).min(touched.end);
                cells.all.push(Cell { lba, versions: versions_of(history, lba..end) });
                lba = end;
            }
        }
        cells
    }
}

/// Runs of sectors that the recording has touched, made to begin and end at multiples of `wide`.
fn touched(history: &History, wide: u64) -> Vec<Range<u64>> {
    let mut runs: Vec<Range<u64>> = Vec::new();
    for of_sector in history.versions().sectors() {
        let first = of_sector[0].sector / wide * wide;
        let end = (first + wide).min(history.capacity);
        match runs.last_mut() {
            Some(last) if last.end >= first => last.end = last.end.max(end),
            _ => runs.push(first..end),
        }
    }
    runs
}

/// Of each of these sectors, which of the history's versions are its own.
fn versions_of(history: &History, sectors: Range<u64>) -> Vec<Range<usize>> {
    let all: &[Version] = history.versions().all();
    let mut at = all.partition_point(|version| version.sector < sectors.start);
    let of = |sector| {
        let first = at;
        while all.get(at).is_some_and(|version| version.sector == sector) {
            at += 1;
        }
        first..at
    };
    sectors.map(of).collect()
}
