//! Sectors to examine: those that a recording wrote to, and those that share a mapping unit or a stripe with one.

use crate::history::CommandHistory;
use crate::versions::{SectorVersion, SectorVersions};
use outlast_serve::ServedDevice;
use outlast_units::SECTOR_BYTES;
use std::ops::Range;

/// The sectors to examine of one mapping unit.
#[derive(Clone, Debug)]
pub(super) struct TouchedUnit {
    /// First sector.
    pub(super) lba: u64,
    /// For each sector, the range of its versions in [`SectorVersions::all`].
    pub(super) versions: Vec<Range<usize>>,
}

impl TouchedUnit {
    /// Number of sectors.
    pub(super) fn sectors(&self) -> u64 {
        self.versions.len() as u64
    }

    /// The sectors.
    pub(super) fn range(&self) -> Range<u64> {
        self.lba..self.lba + self.sectors()
    }
}

/// The touched units of a recording in order, and runs of adjacent ones.
#[derive(Debug, Default)]
pub(super) struct TouchedUnits {
    pub(super) all: Vec<TouchedUnit>,
    /// For each run, the index of its first unit, and its sectors.
    pub(super) runs: Vec<(usize, Range<u64>)>,
}

impl TouchedUnits {
    /// The units that `history` touches on `device`.
    pub(super) fn new(history: &CommandHistory, device: &ServedDevice) -> Self {
        let unit = device.scenario().device.ftl.mapping_unit.0 / SECTOR_BYTES;
        let mut touched_units = Self::default();
        for touched in touched(history, unit, &StripeRows::of(device)) {
            touched_units.runs.push((touched_units.all.len(), touched.clone()));
            let mut lba = touched.start;
            while lba < touched.end {
                let end = ((lba / unit + 1) * unit).min(touched.end);
                touched_units.all.push(TouchedUnit { lba, versions: versions_of(history, lba..end) });
                lba = end;
            }
        }
        touched_units
    }
}

/// Sectors whose contents depend on each other: parity recomputes the data of a member from the same rows of the other members.
struct StripeRows {
    /// Sectors in a chunk.
    chunk: u64,
    /// Data chunks in a stripe; 1 without parity.
    data: u64,
}

impl StripeRows {
    fn of(device: &ServedDevice) -> Self {
        let Some(array) = &device.scenario().array else { return Self { chunk: u64::MAX, data: 1 } };
        // An array with parity reports a whole stripe of data as its optimal write.
        Self {
            chunk: array.chunk.0 / SECTOR_BYTES,
            data: (device.identify().optimal_io.0 / array.chunk.0).max(1),
        }
    }

    /// The rows of all data chunks of a stripe that correspond to sectors `first..end`, which lie within a chunk.
    fn rows(&self, first: u64, end: u64) -> impl Iterator<Item = Range<u64>> {
        let Self { chunk, data } = *self;
        let (index, row) = (first / chunk, first % chunk);
        let begin = index / data * data;
        (begin..begin + data).map(move |index| index * chunk + row..index * chunk + row + (end - first))
    }
}

/// Runs of sectors to examine, in order: units that ever held anything but zeroes, and the rows that depend on them.
fn touched(history: &CommandHistory, unit: u64, stripes: &StripeRows) -> Vec<Range<u64>> {
    let mut units: Vec<Range<u64>> = Vec::new();
    let zeroes = SectorVersions::zeroes();
    for of_sector in history.versions().sectors() {
        // Zeroes only, whatever is lost: `mkfs` trims the whole device first.
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

/// For each of `sectors`, the range of its versions in [`SectorVersions::all`].
fn versions_of(history: &CommandHistory, sectors: Range<u64>) -> Vec<Range<usize>> {
    let all: &[SectorVersion] = history.versions().all();
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
