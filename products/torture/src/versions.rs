//! All contents that each sector has held, in order of arrival.

use crate::history::{RecordedWrite, WriteData, WriteId};
use crate::source::PayloadSource;
use outlast_units::SECTOR_BYTES;
use outlast_units::rng::mix;
use std::io;

/// Bytes of a payload read at once.
const READ_BYTES: usize = 1 << 20;

/// The content that one write gave one sector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SectorVersion {
    /// The sector.
    pub sector: u64,
    /// The write.
    pub write: WriteId,
    /// A hash of the bytes: [`SectorVersions::hash`].
    pub hash: u64,
}

/// The versions of all sectors, ordered by sector, then by arrival.
///
/// A sector without a version holds zeroes throughout. Zeroes written to a sector that has held nothing else make no version, since their loss
/// changes nothing: `mkfs` trims its whole device first, which would otherwise make a version of every sector.
#[derive(Debug, Default)]
pub struct SectorVersions {
    all: Vec<SectorVersion>,
    /// Indices into `all`, ordered by write, then by sector.
    indices: Vec<u32>,
    /// For each write, where its indices begin in `indices`; one more entry marks the end of the last write.
    firsts: Vec<usize>,
}

impl SectorVersions {
    /// Hashes the payloads of all `writes`.
    ///
    /// # Errors
    /// A payload cannot be read.
    pub(crate) fn build(writes: &[RecordedWrite], source: &dyn PayloadSource) -> io::Result<Self> {
        let mut all = Vec::new();
        let mut buffer = vec![0; READ_BYTES];
        for (write, number) in writes.iter().zip(0..) {
            let id = WriteId(number);
            let WriteData::At { file, mut offset } = write.data else { continue };
            let mut sectors = write.range();
            while !sectors.is_empty() {
                let count = (sectors.end - sectors.start).min(READ_BYTES as u64 / SECTOR_BYTES);
                let part = &mut buffer[..(count * SECTOR_BYTES) as usize];
                source.read(file, offset, part)?;
                let hashes = part.chunks_exact(SECTOR_BYTES as usize).map(Self::hash);
                let versions = (sectors.start..).zip(hashes);
                all.extend(versions.map(|(sector, hash)| SectorVersion { sector, write: id, hash }));
                (sectors.start, offset) = (sectors.start + count, offset + count * SECTOR_BYTES);
            }
        }
        all.sort_unstable();
        // Zeroes last: only sectors that have a version get one of zeroes.
        all.extend(zeroed_versions(writes, &all));
        all.sort_unstable();
        let mut by_write: Vec<(WriteId, u32)> = all.iter().map(|version| version.write).zip(0..).collect();
        by_write.sort_unstable();
        let first = |write| by_write.partition_point(|&(id, _)| id < WriteId(write));
        let firsts = (0..=writes.len() as u32).map(first).collect();
        let indices = by_write.into_iter().map(|(_, index)| index).collect();
        Ok(Self { all, indices, firsts })
    }

    /// Indices into [`SectorVersions::all`] of the versions of a write, ordered by sector.
    pub fn of_write(&self, write: WriteId) -> impl ExactSizeIterator<Item = usize> {
        let range = self.firsts[write.0 as usize]..self.firsts[write.0 as usize + 1];
        self.indices[range].iter().map(|&index| index as usize)
    }

    /// Index of the version that a write gave a sector, if it gave it one.
    pub fn index_of(&self, write: WriteId, sector: u64) -> Option<usize> {
        self.all.binary_search_by_key(&(sector, write), |version| (version.sector, version.write)).ok()
    }

    /// Index of the preceding version of the same sector.
    pub fn previous(&self, index: usize) -> Option<usize> {
        index.checked_sub(1).filter(|&previous| self.all[previous].sector == self.all[index].sector)
    }

    /// Later versions of the same sector, oldest first.
    pub fn later(&self, index: usize) -> impl Iterator<Item = &SectorVersion> {
        let sector = self.all[index].sector;
        self.all[index + 1..].iter().take_while(move |version| version.sector == sector)
    }

    /// Hash of a sector's bytes; two sectors with equal hashes are taken to be equal.
    pub fn hash(bytes: &[u8]) -> u64 {
        bytes.chunks_exact(8).fold(bytes.len() as u64, |hash, word| {
            let word = word.try_into().map_or(0, u64::from_le_bytes);
            mix(hash ^ word).wrapping_add(hash.rotate_left(17))
        })
    }

    /// Hash of a sector of zeroes.
    pub fn zeroes() -> u64 {
        Self::hash(&[0; SECTOR_BYTES as usize])
    }

    /// All versions, ordered by sector, then by arrival.
    pub fn all(&self) -> &[SectorVersion] {
        &self.all
    }

    /// Versions of one sector, oldest first.
    pub fn of_sector(&self, sector: u64) -> &[SectorVersion] {
        let first = self.all.partition_point(|version| version.sector < sector);
        let count = self.all[first..].iter().take_while(|version| version.sector == sector).count();
        &self.all[first..first + count]
    }

    /// Versions of the sectors within `range`.
    pub fn within(&self, range: std::ops::Range<u64>) -> &[SectorVersion] {
        let first = self.all.partition_point(|version| version.sector < range.start);
        let end = self.all.partition_point(|version| version.sector < range.end);
        &self.all[first..end]
    }

    /// The versions of each sector that has any, sector by sector.
    pub fn sectors(&self) -> impl Iterator<Item = &[SectorVersion]> {
        self.all.chunk_by(|one, other| one.sector == other.sector)
    }
}

/// Versions made by trims and writes of zeroes, to sectors that had held something else. `others` are the sorted versions of all other writes.
fn zeroed_versions(writes: &[RecordedWrite], others: &[SectorVersion]) -> Vec<SectorVersion> {
    let (hash, mut zeroed) = (SectorVersions::zeroes(), Vec::new());
    for (write, number) in writes.iter().zip(0..) {
        if write.data != WriteData::Zeroes {
            continue;
        }
        let (id, range) = (WriteId(number), write.range());
        let first = others.partition_point(|version| version.sector < range.start);
        let end = others.partition_point(|version| version.sector < range.end);
        let sectors = others[first..end].chunk_by(|one, other| one.sector == other.sector);
        let written = sectors.filter(|versions| versions[0].write < id);
        zeroed.extend(written.map(|versions| SectorVersion { sector: versions[0].sector, write: id, hash }));
    }
    zeroed
}
