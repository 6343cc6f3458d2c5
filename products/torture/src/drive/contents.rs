//! The content of a simulated device, mapping unit by mapping unit, compared with what was written.

use super::read::read_ranges;
use super::units::{TouchedUnit, TouchedUnits};
use crate::error::TortureError;
use crate::history::CommandHistory;
use crate::pieces::{WritePiece, WritePieces};
use crate::state::OddSector;
use crate::versions::SectorVersions;
use outlast_device::{Held, Peek, SectorRun};
use outlast_serve::ServedDevice;
use outlast_units::rng::mix;
use outlast_units::{Lba, SECTOR_BYTES};
use std::sync::Arc;

const SECTOR: usize = SECTOR_BYTES as usize;

/// Peeks remembered for each unit; each holds a reference to the bytes, so that they stay in memory.
const RECENT: usize = 4;

/// One content of a unit.
#[derive(Debug, PartialEq, Eq)]
struct UnitContent {
    /// Hash of each sector; `None` if it is unreadable.
    hashes: Vec<Option<u64>>,
    /// Sectors with bytes that no write gave them.
    odd: Vec<OddSector>,
}

/// All contents of one unit that have been found so far.
#[derive(Debug, Default)]
struct KnownContents {
    contents: Vec<UnitContent>,
    /// Latest peeks with the index of the content that each stands for: an equal peek needs no hashing.
    recent: Vec<(Held, u32)>,
}

/// All contents of all touched units, each stored once, so that a device is described by an index for each unit.
#[derive(Debug)]
pub(super) struct ContentTable<'a> {
    history: &'a CommandHistory,
    units: TouchedUnits,
    known_contents: Vec<KnownContents>,
    peeks: Vec<Peek>,
    zeroes: u64,
}

/// Content of a device.
#[derive(Clone, Debug)]
pub(super) struct DeviceContent {
    /// For each unit, the index of its content.
    contents: Vec<u32>,
    /// Hash of all of it.
    pub(super) key: u128,
}

/// Differences between the content of a device and the writes that had arrived.
#[derive(Debug)]
pub(super) struct ContentDifferences {
    pub(super) lost: WritePieces,
    pub(super) odd: Vec<OddSector>,
    pub(super) bad: Vec<SectorRun>,
}

impl<'a> ContentTable<'a> {
    /// An empty table for `device` and copies of it.
    pub(super) fn new(history: &'a CommandHistory, device: &ServedDevice) -> Self {
        let units = TouchedUnits::new(history, device);
        let known_contents = units.all.iter().map(|_| KnownContents::default()).collect();
        Self { history, units, known_contents, peeks: Vec::new(), zeroes: SectorVersions::zeroes() }
    }

    /// Reads the content of `device`. Where a peek is not exact the device is read by commands, which changes its state: callers pass a copy.
    pub(super) fn read_device(&mut self, device: &mut ServedDevice) -> Result<DeviceContent, TortureError> {
        let mut contents = vec![u32::MAX; self.units.all.len()];
        let mut unknown = Vec::new();
        let mut peeks = std::mem::take(&mut self.peeks);
        for index in 0..self.units.runs.len() {
            let (first, ref run) = self.units.runs[index];
            peeks.clear();
            device.peek(Lba(run.start), run.end - run.start, &mut peeks);
            let mut at = 0;
            let mut unit = first;
            while at < peeks.len() {
                let range = self.units.all[unit].range();
                // A peek may extend into the next unit, and a unit may need several peeks.
                let count = peeks[at..].iter().take_while(|peek| peek.lba.0 < range.end).count();
                if let Some(content) = self.content_of_peeks(unit, &peeks[at..at + count]) {
                    contents[unit] = content;
                } else {
                    unknown.push(unit);
                }
                let last = &peeks[at + count - 1];
                at += if last.lba.0 + last.sectors > range.end { count - 1 } else { count };
                unit += 1;
            }
        }
        self.peeks = peeks;
        let ranges = unknown.iter().map(|&unit| self.units.all[unit].range());
        for (&unit, sectors) in unknown.iter().zip(read_ranges(device, ranges)?) {
            contents[unit] = self.intern_content(unit, sectors.iter().map(Option::as_deref));
        }
        Ok(DeviceContent { key: content_key(&contents), contents })
    }

    /// Index of the content that `peeks`, which cover the unit, give; `None` if only a read can tell.
    fn content_of_peeks(&mut self, unit: usize, peeks: &[Peek]) -> Option<u32> {
        let range = self.units.all[unit].range();
        if let [one] = peeks
            && one.lba.0 == range.start
        {
            if one.held == Held::Unknown {
                return None;
            }
            let remembered =
                self.known_contents[unit].recent.iter().find(|(held, _)| is_same(held, &one.held));
            if let Some(&(_, content)) = remembered {
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
        let content = self.intern_content(unit, sectors.into_iter());
        if let [one] = peeks {
            let recent = &mut self.known_contents[unit].recent;
            recent.truncate(RECENT - 1);
            recent.insert(0, (one.held.clone(), content));
        }
        Some(content)
    }

    /// Index of the content with these sectors, which is stored if it is new; `None` for an unreadable sector.
    fn intern_content<'b>(&mut self, unit: usize, sectors: impl Iterator<Item = Option<&'b [u8]>>) -> u32 {
        let touched: &TouchedUnit = &self.units.all[unit];
        let (mut hashes, mut odd) = (Vec::with_capacity(touched.versions.len()), Vec::new());
        let all = self.history.versions().all();
        for ((bytes, versions), lba) in sectors.zip(&touched.versions).zip(touched.range()) {
            let hash = bytes.map(SectorVersions::hash);
            let is_known = |hash| {
                hash == self.zeroes || all[versions.clone()].iter().any(|version| version.hash == hash)
            };
            if let (Some(hash), Some(bytes)) = (hash, bytes)
                && !is_known(hash)
            {
                odd.push(OddSector { lba, bytes: bytes.into() });
            }
            hashes.push(hash);
        }
        let contents = &mut self.known_contents[unit].contents;
        let content = UnitContent { hashes, odd };
        let index = contents.iter().position(|stored| *stored == content);
        index.unwrap_or_else(|| {
            contents.push(content);
            contents.len() - 1
        }) as u32
    }

    /// Compares `seen` with the writes that had arrived after `cut` events.
    pub(super) fn differences(
        &self,
        seen: &DeviceContent,
        cut: usize,
    ) -> Result<ContentDifferences, TortureError> {
        let (mut lost, mut odd, mut bad) = (Vec::new(), Vec::new(), Vec::new());
        for ((unit, known), &content) in self.units.all.iter().zip(&self.known_contents).zip(&seen.contents) {
            let content = &known.contents[content as usize];
            for ((hash, versions), lba) in content.hashes.iter().zip(&unit.versions).zip(unit.range()) {
                let Some(hash) = hash else {
                    bad.push(SectorRun { lba: Lba(lba), sectors: 1 });
                    continue;
                };
                let writes = &self.history.writes;
                let all = &self.history.versions().all()[versions.clone()];
                let arrived = all.partition_point(|version| writes[version.write.0 as usize].submitted < cut);
                // Of equal versions the latest: it loses the least.
                let latest = all[..arrived].iter().rposition(|version| version.hash == *hash);
                let kept = match latest {
                    Some(version) => version + 1,
                    None if *hash == self.zeroes => 0,
                    None => {
                        odd.push(self.odd_sector(content, all, *hash, lba)?);
                        continue;
                    }
                };
                let missing = all[kept..arrived].iter();
                lost.extend(missing.map(|version| WritePiece { write: version.write, lba, sectors: 1 }));
            }
        }
        Ok(ContentDifferences { lost: WritePieces::new(lost), odd, bad: SectorRun::joined(bad) })
    }

    /// A sector whose bytes come from no write before the cut: from none at all, or from a later one.
    fn odd_sector(
        &self,
        content: &UnitContent,
        all: &[crate::versions::SectorVersion],
        hash: u64,
        lba: u64,
    ) -> Result<OddSector, TortureError> {
        if let Some(odd) = content.odd.iter().find(|odd| odd.lba == lba) {
            return Ok(odd.clone());
        }
        let mut bytes = vec![0; SECTOR];
        if let Some(later) = all.iter().find(|version| version.hash == hash) {
            self.history
                .read_write(later.write, lba, &mut bytes)
                .map_err(|error| TortureError::state(&format!("write {}", later.write.0), &error))?;
        }
        Ok(OddSector { lba, bytes: bytes.into() })
    }
}

/// True if two peeks are equal without comparing their bytes: the same memory from the same byte on.
fn is_same(one: &Held, other: &Held) -> bool {
    match (one, other) {
        (Held::Bytes { memory, from }, Held::Bytes { memory: others, from: begin }) => {
            Arc::ptr_eq(memory, others) && from == begin
        }
        (Held::Bytes { .. }, _) | (_, Held::Bytes { .. }) => false,
        (one, other) => one == other,
    }
}

/// 128 bits of hash, so that chance collisions among millions of contents are out of the question.
fn content_key(contents: &[u32]) -> u128 {
    let fold = |start: u64| contents.iter().fold(start, |hash, &content| mix(hash ^ u64::from(content)));
    u128::from(fold(1)) << 64 | u128::from(fold(2))
}
