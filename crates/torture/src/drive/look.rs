//! What a machine holds, sector by sector, told apart by what each holds and compared with what was written.

use super::cells::{Cell, Cells};
use super::read::read;
use crate::error::TortureError;
use crate::history::History;
use crate::pieces::{Piece, Pieces};
use crate::state::Odd;
use crate::versions::Versions;
use outlast_device::{Held, Peek, SectorRun};
use outlast_serve::ServedDevice;
use outlast_units::rng::mix;
use outlast_units::{Lba, SECTOR_BYTES};
use std::sync::Arc;

const SECTOR: usize = SECTOR_BYTES as usize;

/// Answers of a cell that are remembered: the bytes stay in memory for as long.
const RECENT: usize = 4;

/// What a cell has been found to hold.
#[derive(Debug, PartialEq, Eq)]
struct Content {
    /// Of each sector: the hash of its bytes, or nothing where it cannot be read.
    hashes: Vec<Option<u64>>,
    /// The bytes of sectors that no write has brought.
    odd: Vec<Odd>,
}

/// What has been seen of a cell.
#[derive(Debug, Default)]
struct Known {
    contents: Vec<Content>,
    /// The latest answers, and which of the contents each is.
    recent: Vec<(Held, u32)>,
}

/// What has been seen of all cells.
#[derive(Debug)]
pub(super) struct Looks<'a> {
    history: &'a History,
    cells: Cells,
    known: Vec<Known>,
    peeks: Vec<Peek>,
    zeroes: u64,
}

/// What a machine holds.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    /// Of each cell, which of its contents.
    contents: Vec<u32>,
    /// By which it is told from others.
    pub(super) key: u128,
}

/// What is there of what was written.
#[derive(Debug)]
pub(super) struct Differences {
    pub(super) lost: Pieces,
    pub(super) odd: Vec<Odd>,
    pub(super) bad: Vec<SectorRun>,
}

impl<'a> Looks<'a> {
    /// Nothing seen yet of `machine`, or of any like it.
    pub(super) fn new(history: &'a History, machine: &ServedDevice) -> Self {
        let cells = Cells::new(history, machine);
        let known = cells.all.iter().map(|_| Known::default()).collect();
        Self { history, cells, known, peeks: Vec::new(), zeroes: Versions::zeroes() }
    }

    /// What `machine` holds; it is as good as used up, since where only a read can tell it is read.
    pub(super) fn look(&mut self, machine: &mut ServedDevice) -> Result<Seen, TortureError> {
        let mut contents = vec![u32::MAX; self.cells.all.len()];
        let mut unknown = Vec::new();
        let mut peeks = std::mem::take(&mut self.peeks);
        for index in 0..self.cells.runs.len() {
            let (first, ref run) = self.cells.runs[index];
            peeks.clear();
            machine.peek(Lba(run.start), run.end - run.start, &mut peeks);
            let mut at = 0;
            let mut cell = first;
            while at < peeks.len() {
                let range = self.cells.all[cell].range();
                // A run of the answer may go on into the next cell, and a cell take several.
                let count = peeks[at..].iter().take_while(|peek| peek.lba.0 < range.end).count();
                if let Some(content) = self.told(cell, &peeks[at..at + count]) {
                    contents[cell] = content;
                } else {
                    unknown.push(cell);
                }
                let last = &peeks[at + count - 1];
                at += if last.lba.0 + last.sectors > range.end { count - 1 } else { count };
                cell += 1;
            }
        }
        self.peeks = peeks;
        let ranges = unknown.iter().map(|&cell| self.cells.all[cell].range());
        for (&cell, sectors) in unknown.iter().zip(read(machine, ranges)?) {
            contents[cell] = self.of_sectors(cell, sectors.iter().map(Option::as_deref));
        }
        Ok(Seen { key: key_of(&contents), contents })
    }

    /// Which content of `cell` these answers make, which cover it; none where a read has to tell.
    fn told(&mut self, cell: usize, peeks: &[Peek]) -> Option<u32> {
        let range = self.cells.all[cell].range();
        if let [one] = peeks
            && one.lba.0 == range.start
        {
            if one.held == Held::Unknown {
                return None;
            }
            let known = self.known[cell].recent.iter().find(|(held, _)| is_same(held, &one.held));
            if let Some(&(_, content)) = known {
                return Some(content);
            }
        }
        let mut sectors = Vec::with_capacity(peeks.len());
        for sector in range {
            let peek = peeks.iter().find(|peek| sector < peek.lba.0 + peek.sectors)?;
            sectors.push(match &peek.held {
                Held::Unknown => return None,
                Held::Lost => None,
                Held::Zeroes => Some(&[0; SECTOR][..]),
                Held::Bytes { memory, from } => {
                    let first = from + (sector - peek.lba.0) as usize * SECTOR;
                    Some(&memory[first..first + SECTOR])
                }
            });
        }
        let content = self.of_sectors(cell, sectors.into_iter());
        if let [one] = peeks {
            let recent = &mut self.known[cell].recent;
            recent.truncate(RECENT - 1);
            recent.insert(0, (one.held.clone(), content));
        }
        Some(content)
    }

    /// Which content of `cell` these bytes of its sectors are; none where one cannot be read.
    fn of_sectors<'b>(&mut self, cell: usize, sectors: impl Iterator<Item = Option<&'b [u8]>>) -> u32 {
        let own: &Cell = &self.cells.all[cell];
        let (mut hashes, mut odd) = (Vec::with_capacity(own.versions.len()), Vec::new());
        let all = self.history.versions().all();
        for ((bytes, versions), lba) in sectors.zip(&own.versions).zip(own.range()) {
            let hash = bytes.map(Versions::hash);
            let is_known =
                |hash| hash == self.zeroes || all[versions.clone()].iter().any(|own| own.hash == hash);
            if let (Some(hash), Some(bytes)) = (hash, bytes)
                && !is_known(hash)
            {
                odd.push(Odd { lba, bytes: bytes.into() });
            }
            hashes.push(hash);
        }
        let contents = &mut self.known[cell].contents;
        let content = Content { hashes, odd };
        let known = contents.iter().position(|known| *known == content);
        known.unwrap_or_else(|| {
            contents.push(content);
            contents.len() - 1
        }) as u32
    }

    /// How what was seen differs from all that had come after `cut` events.
    pub(super) fn differences(&self, seen: &Seen, cut: usize) -> Result<Differences, TortureError> {
        let (mut lost, mut odd, mut bad) = (Vec::new(), Vec::new(), Vec::new());
        for ((cell, known), &content) in self.cells.all.iter().zip(&self.known).zip(&seen.contents) {
            let content = &known.contents[content as usize];
            for ((hash, versions), lba) in content.hashes.iter().zip(&cell.versions).zip(cell.range()) {
                let Some(hash) = hash else {
                    bad.push(SectorRun { lba: Lba(lba), sectors: 1 });
                    continue;
                };
                let writes = &self.history.writes;
                let all = &self.history.versions().all()[versions.clone()];
                let come = all.partition_point(|own| writes[own.write.0 as usize].submitted < cut);
                let latest = all[..come].iter().rposition(|own| own.hash == *hash);
                let kept = match latest {
                    Some(version) => version + 1,
                    None if *hash == self.zeroes => 0,
                    None => {
                        odd.push(self.odd(content, all, *hash, lba)?);
                        continue;
                    }
                };
                let gone = all[kept..come].iter();
                lost.extend(gone.map(|own| Piece { write: own.write, lba, sectors: 1 }));
            }
        }
        Ok(Differences { lost: Pieces::new(lost), odd, bad: SectorRun::joined(bad) })
    }

    /// A sector with bytes that no write has brought, or none before the cut.
    fn odd(
        &self,
        content: &Content,
        all: &[crate::versions::Version],
        hash: u64,
        lba: u64,
    ) -> Result<Odd, TortureError> {
        if let Some(odd) = content.odd.iter().find(|odd| odd.lba == lba) {
            return Ok(odd.clone());
        }
        let mut bytes = vec![0; SECTOR];
        if let Some(later) = all.iter().find(|own| own.hash == hash) {
            self.history
                .read_write(later.write, lba, &mut bytes)
                .map_err(|error| TortureError::state(&format!("write {}", later.write.0), &error))?;
        }
        Ok(Odd { lba, bytes: bytes.into() })
    }
}

/// Whether two answers are the same without a look at the bytes.
fn is_same(one: &Held, other: &Held) -> bool {
    match (one, other) {
        (Held::Bytes { memory, from }, Held::Bytes { memory: others, from: begin }) => {
            Arc::ptr_eq(memory, others) && from == begin
        }
        (Held::Bytes { .. }, _) | (_, Held::Bytes { .. }) => false,
        (one, other) => one == other,
    }
}

fn key_of(contents: &[u32]) -> u128 {
    let fold = |start: u64| contents.iter().fold(start, |hash, &content| mix(hash ^ u64::from(content)));
    u128::from(fold(1)) << 64 | u128::from(fold(2))
}
