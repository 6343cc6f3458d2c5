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

/// What all sectors held: by sector, then in order of arrival. A sector that is not among them holds zeroes all the time.
#[derive(Debug, Default)]
pub struct Versions {
    all: Vec<Version>,
    /// By write, then by its sectors: where in `all` it is.
    places: Vec<u32>,
    /// By write: where in `places` its first sector is.
    firsts: Vec<usize>,
}

impl Versions {
    pub(crate) fn of(writes: &[Write], source: &dyn Source) -> io::Result<Self> {
        let mut all = Vec::new();
        let (mut buffer, zeroes) = (vec![0; PIECE], Self::hash(&[0; SECTOR_BYTES as usize]));
        for (write, number) in writes.iter().zip(0..) {
            let id = WriteId(number);
            let Data::At { file, mut offset } = write.data else {
                all.extend(write.range().map(|sector| Version { sector, write: id, hash: zeroes }));
                continue;
            };
            let mut sectors = write.range();
            while !sectors.is_empty() {
                let count = (sectors.end - sectors.start).min(PIECE as u64 / SECTOR_BYTES);
                let part = &mut buffer[..(count * SECTOR_BYTES) as usize];
                source.read(file, offset, part)?;
                let hashes = part.chunks_exact(SECTOR_BYTES as usize).map(Self::hash);
                all.extend((sectors.start..).zip(hashes).map(|(sector, hash)| Version {
                    sector,
                    write: id,
                    hash,
                }));
                (sectors.start, offset) = (sectors.start + count, offset + count * SECTOR_BYTES);
            }
        }
        all.sort_unstable();
        let (mut firsts, mut end) = (Vec::with_capacity(writes.len()), 0);
        for write in writes {
            firsts.push(end);
            end += write.sectors as usize;
        }
        let mut places = vec![0; end];
        for (version, place) in all.iter().zip(0..) {
            let write = version.write.0 as usize;
            places[firsts[write] + (version.sector - writes[write].lba.0) as usize] = place;
        }
        Ok(Self { all, places, firsts })
    }

    /// Where in [`Versions::all`] sector number `sector` of the write is, counted from its first.
    pub fn place(&self, write: WriteId, sector: u64) -> usize {
        self.places[self.firsts[write.0 as usize] + sector as usize] as usize
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
