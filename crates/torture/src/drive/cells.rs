//! Where to look: every sector that a recording has written anything to, and those that share a mapping unit or a stripe with one.

use crate::history::History;
use crate::versions::{Version, Versions};
use outlast_serve::ServedDevice;
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
    pub(super) fn new(history: &History, machine: &ServedDevice) -> Self {
        let unit = machine.scenario().device.ftl.mapping_unit.0 / SECTOR_BYTES;
        let mut cells = Self::default();
        for touched in touched(history, unit, &Stripes::of(machine)) {
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

/// How sectors hang together: where parity gives the data of a member, with those of the other members in the same rows.
struct Stripes {
    /// Sectors of a chunk.
    chunk: u64,
    /// Chunks of a stripe that hold data; one where no parity is.
    data: u64,
}

impl Stripes {
    fn of(machine: &ServedDevice) -> Self {
        let Some(array) = &machine.scenario().array else { return Self { chunk: u64::MAX, data: 1 } };
        // Of an array with parity the best size of a write is a whole stripe.
        Self {
            chunk: array.chunk.0 / SECTOR_BYTES,
            data: (machine.identify().optimal_io.0 / array.chunk.0).max(1),
        }
    }

    /// The sectors that hang together with those of the unit from `first` on, which lies within a chunk.
    fn rows(&self, first: u64, end: u64) -> impl Iterator<Item = Range<u64>> {
        let Self { chunk, data } = *self;
        let (index, row) = (first / chunk, first % chunk);
        let begin = index / data * data;
        (begin..begin + data).map(move |index| index * chunk + row..index * chunk + row + (end - first))
    }
}

/// Runs of sectors that the recording has written anything but zeroes to, with those that hang together with them, in order.
fn touched(history: &History, unit: u64, stripes: &Stripes) -> Vec<Range<u64>> {
    let mut units: Vec<Range<u64>> = Vec::new();
    let zeroes = Versions::zeroes();
    for of_sector in history.versions().sectors() {
        // It never held anything else, whatever of it is lost: a file system begins with a trim of all that there is.
        if of_sector.iter().all(|version| version.hash == zeroes) {
            continue;
        }
        let first = of_sector[0].sector / unit * unit;
        if units.last().is_none_or(|last| last.end <= first) {
            units.push(first..(first + unit).min(history.capacity));
        }
    }
    let mut all: Vec<Range<u64>> = units
        .into_iter()
        .flat_map(|unit| within_chunks(unit, stripes.chunk))
        .flat_map(|part| stripes.rows(part.start, part.end))
        .collect();
    all.sort_unstable_by_key(|run| run.start);
    let mut runs: Vec<Range<u64>> = Vec::new();
    for run in all {
        match runs.last_mut() {
            Some(last) if last.end >= run.start => last.end = last.end.max(run.end),
            _ => runs.push(run),
        }
    }
    runs
}

/// The parts of `run` that lie in one chunk each.
fn within_chunks(run: Range<u64>, chunk: u64) -> impl Iterator<Item = Range<u64>> {
    let mut at = run.start;
    std::iter::from_fn(move || {
        let first = at;
        at = (first / chunk).saturating_add(1).saturating_mul(chunk).min(run.end);
        (first < run.end).then_some(first..at)
    })
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
