//! What every sector held, one write after another.

use crate::history::{Data, Write, WriteId};
use crate::source::Source;
use outlast_units::SECTOR_BYTES;
use outlast_units::rng::mix;
use std::io;

/// Bytes read at once.
const PIECE: usize = 1 << 20;

/// What a write made of a sector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// The sector.
    pub sector: u64,
    /// The write.
    pub write: WriteId,
    /// A hash of the bytes: [`Versions::hash`].
    pub hash: u64,
}

/// What all sectors held: by sector, then in order of arrival. A sector that is not among them holds zeroes all the time, and zeroes that come to a
/// sector which nothing else has come to are no version: whether they are lost makes no difference. (A file system that is made trims all of
/// its device first.)
#[derive(Debug, Default)]
pub struct Versions {
    all: Vec<Version>,
    /// By write, then by sector: where in `all` its versions are.
    places: Vec<u32>,
    /// By write, and once more: where in `places` its first one is.
    firsts: Vec<usize>,
}

impl Versions {
    pub(crate) fn of(writes: &[Write], source: &dyn Source) -> io::Result<Self> {
        let mut all = Vec::new();
        let mut buffer = vec![0; PIECE];
        for (write, number) in writes.iter().zip(0..) {
            let id = WriteId(number);
            let Data::At { file, mut offset } = write.data else { continue };
            let mut sectors = write.range();
            while !sectors.is_empty() {
                let count = (sectors.end - sectors.start).min(PIECE as u64 / SECTOR_BYTES);
                let part = &mut buffer[..(count * SECTOR_BYTES) as usize];
                source.read(file, offset, part)?;
                let hashes = part.chunks_exact(SECTOR_BYTES as usize).map(Self::hash);
                let versions = (sectors.start..).zip(hashes);
                all.extend(versions.map(|(sector, hash)| Version { sector, write: id, hash }));
                (sectors.start, offset) = (sectors.start + count, offset + count * SECTOR_BYTES);
            }
        }
        all.sort_unstable();
        all.extend(zeroes(writes, &all));
        all.sort_unstable();
        let mut by_write: Vec<(WriteId, u32)> = all.iter().map(|version| version.write).zip(0..).collect();
        by_write.sort_unstable();
        let first = |write| by_write.partition_point(|&(own, _)| own < WriteId(write));
        let firsts = (0..=writes.len() as u32).map(first).collect();
        let places = by_write.into_iter().map(|(_, place)| place).collect();
        Ok(Self { all, places, firsts })
    }

    /// Where in [`Versions::all`] the versions of a write are, by sector.
    pub fn of_write(&self, write: WriteId) -> impl ExactSizeIterator<Item = usize> {
        let own = self.firsts[write.0 as usize]..self.firsts[write.0 as usize + 1];
        self.places[own].iter().map(|&place| place as usize)
    }

    /// Where the version of a sector is that the write has brought; none where it has brought none.
    pub fn place(&self, write: WriteId, sector: u64) -> Option<usize> {
        self.all.binary_search_by_key(&(sector, write), |version| (version.sector, version.write)).ok()
    }

    /// Where the version before the one at `place` is, of the same sector.
    pub fn before(&self, place: usize) -> Option<usize> {
        place.checked_sub(1).filter(|&before| self.all[before].sector == self.all[place].sector)
    }

    /// The versions after the one at `place`, of the same sector, oldest first.
    pub fn after(&self, place: usize) -> impl Iterator<Item = &Version> {
        let sector = self.all[place].sector;
        self.all[place + 1..].iter().take_while(move |version| version.sector == sector)
    }

    /// A hash of a sector's bytes, by which contents are told apart.
    pub fn hash(bytes: &[u8]) -> u64 {
        bytes.chunks_exact(8).fold(bytes.len() as u64, |hash, word| {
            let word = word.try_into().map_or(0, u64::from_le_bytes);
            mix(hash ^ word).wrapping_add(hash.rotate_left(17))
        })
    }

    /// The hash of a sector that holds zeroes.
    pub fn zeroes() -> u64 {
        Self::hash(&[0; SECTOR_BYTES as usize])
    }

    /// All of them.
    pub fn all(&self) -> &[Version] {
        &self.all
    }

    /// Those of one sector, oldest first.
    pub fn of_sector(&self, sector: u64) -> &[Version] {
        let first = self.all.partition_point(|version| version.sector < sector);
        let count = self.all[first..].iter().take_while(|version| version.sector == sector).count();
        &self.all[first..first + count]
    }

    /// Those of sectors within `range`.
    pub fn within(&self, range: std::ops::Range<u64>) -> &[Version] {
        let first = self.all.partition_point(|version| version.sector < range.start);
        let end = self.all.partition_point(|version| version.sector < range.end);
        &self.all[first..end]
    }

    /// Every sector that was written, with its versions.
    pub fn sectors(&self) -> impl Iterator<Item = &[Version]> {
        self.all.chunk_by(|one, other| one.sector == other.sector)
    }
}

/// The versions that trims and writes of zeroes have brought, beside those of all others, which are in order.
fn zeroes(writes: &[Write], others: &[Version]) -> Vec<Version> {
    let (hash, mut found) = (Versions::zeroes(), Vec::new());
    for (write, number) in writes.iter().zip(0..) {
        if write.data != Data::Zeroes {
            continue;
        }
        let (id, range) = (WriteId(number), write.range());
        let first = others.partition_point(|version| version.sector < range.start);
        let end = others.partition_point(|version| version.sector < range.end);
        let sectors = others[first..end].chunk_by(|one, other| one.sector == other.sector);
        let written = sectors.filter(|versions| versions[0].write < id);
        found.extend(written.map(|versions| Version { sector: versions[0].sector, write: id, hash }));
    }
    found
}
