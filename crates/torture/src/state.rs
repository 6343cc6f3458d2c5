//! A crash state, and the bytes of it.

use crate::error::TortureError;
use crate::history::History;
use crate::id::StateId;
use crate::open::allowed;
use crate::pieces::{Piece, Pieces};
use crate::versions::Version;
use outlast_device::SectorRun;
use outlast_units::{Nanos, SECTOR_BYTES};
use std::io;
use std::ops::Range;

/// Bytes of a sector.
const SECTOR: usize = SECTOR_BYTES as usize;

/// Bytes that no write has brought to a sector: a unit that was being programmed, and is torn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Odd {
    /// The sector.
    pub lba: u64,
    /// What it holds.
    pub bytes: Box<[u8]>,
}

/// What a device may hold after a loss of power.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CrashState {
    /// By which there is the same state again.
    pub id: StateId,
    /// Events that had happened.
    pub cut: usize,
    /// When power was lost.
    pub at: Nanos,
    /// What had been asked and is not there.
    pub lost: Pieces,
    /// Sectors with bytes that no write has brought, in order.
    pub odd: Vec<Odd>,
    /// Sectors that cannot be read, in order.
    pub bad: Vec<SectorRun>,
    /// Of what a machine leaves: when a loss of power leaves just this, from the first nanosecond to before the second. In order.
    pub spans: Vec<(Nanos, Nanos)>,
    /// Why the device does not start; then it holds nothing that could be read.
    pub refused: Option<String>,
}

impl CrashState {
    /// What is there after `cut` events if just `lost` is lost.
    pub fn of(history: &History, cut: usize, lost: Pieces) -> Self {
        let is_allowed = allowed(history, cut, &lost);
        let id = StateId::Lost { is_allowed, cut, lost: lost.names(history) };
        let (at, odd, bad, spans) = (history.time_of(cut), Vec::new(), Vec::new(), Vec::new());
        Self { id, cut, at, lost, odd, bad, spans, refused: None }
    }

    /// The state that is named so, of those that are told by what is lost.
    ///
    /// # Errors
    /// The recording has no such state, or the contract does not allow it although the name says so.
    pub fn parse(
        history: &History,
        cut: usize,
        lost: &[String],
        is_allowed: bool,
    ) -> Result<Self, TortureError> {
        let id = StateId::Lost { is_allowed, cut, lost: lost.to_vec() };
        if cut > history.events.len() {
            let why = format!("the recording has {} events", history.events.len());
            return Err(TortureError::state(&id, &why));
        }
        let pieces = Pieces::parse(lost.iter().map(String::as_str), history)?;
        let late = pieces.iter().find(|piece| history.writes[piece.write.0 as usize].submitted >= cut);
        if let Some(piece) = late {
            return Err(TortureError::state(&id, &format!("write {} comes after the cut", piece.write.0)));
        }
        if is_allowed && !allowed(history, cut, &pieces) {
            return Err(TortureError::state(&id, "a flush covered some of what is lost: name it lost@…"));
        }
        let state = Self::of(history, cut, pieces);
        Ok(Self { id: StateId::Lost { is_allowed, cut, lost: state.lost.names(history) }, ..state })
    }

    /// The same, but that `kept` is not lost; without odd and bad sectors, which only a machine leaves.
    #[must_use]
    pub fn keep(&self, history: &History, kept: &Pieces) -> Self {
        let left = self.lost.iter().flat_map(|piece| {
            let is_lost = |&sector: &u64| !kept.has(piece.write, sector);
            piece.range().filter(is_lost).map(|lba| Piece { write: piece.write, lba, sectors: 1 })
        });
        Self::of(history, self.cut, Pieces::new(left.collect()))
    }

    /// The version that is in a sector, of those that were written to it; none where it is as it was at first.
    fn version<'a>(&self, history: &History, of_sector: &'a [Version]) -> Option<&'a Version> {
        let has_come = |version: &&Version| history.writes[version.write.0 as usize].submitted < self.cut;
        let mut candidates = of_sector.iter().rev().filter(has_come);
        candidates.find(|version| !self.lost.has(version.write, version.sector))
    }

    /// Calls `visit` with runs of sectors, in order, that are not zero throughout, and their bytes; sectors that cannot be read are among them.
    ///
    /// # Errors
    /// Bytes of the recording cannot be read, or what `visit` returns.
    pub fn visit(
        &self,
        history: &History,
        range: Range<u64>,
        mut visit: impl FnMut(u64, &[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        /// Sectors read at once at most.
        const RUN: usize = 2048;
        let mut run: Option<(Version, usize)> = None;
        let mut buffer = vec![0; RUN * SECTOR];
        let mut put = |(first, sectors): (Version, usize)| {
            let part = &mut buffer[..sectors * SECTOR];
            history.read_write(first.write, first.sector, part)?;
            visit(first.sector, part)
        };
        let touched = history.versions().within(range.clone());
        for of_sector in touched.chunk_by(|one, other| one.sector == other.sector) {
            let Some(&version) = self.version(history, of_sector) else { continue };
            if matches!(history.writes[version.write.0 as usize].data, crate::history::Data::Zeroes) {
                continue;
            }
            match &mut run {
                Some((first, sectors))
                    if first.write == version.write
                        && first.sector + *sectors as u64 == version.sector
                        && *sectors < RUN =>
                {
                    *sectors += 1;
                }
                _ => run.replace((version, 1)).map_or(Ok(()), &mut put)?,
            }
        }
        run.map_or(Ok(()), &mut put)?;
        let mut odd = self.odd.iter().filter(|odd| range.contains(&odd.lba));
        odd.try_for_each(|odd| visit(odd.lba, &odd.bytes))
    }

    /// Fills `to` with what is there from byte `offset` on; sectors that cannot be read give zeroes.
    ///
    /// # Errors
    /// Bytes of the recording cannot be read.
    pub fn read(&self, history: &History, offset: u64, to: &mut [u8]) -> io::Result<()> {
        to.fill(0);
        let end = offset + to.len() as u64;
        let sectors = offset / SECTOR_BYTES..end.div_ceil(SECTOR_BYTES);
        self.visit(history, sectors, |lba, bytes| {
            let start = lba * SECTOR_BYTES;
            let (from, until) = (start.max(offset), (start + bytes.len() as u64).min(end));
            let part = &bytes[(from - start) as usize..(until - start) as usize];
            to[(from - offset) as usize..(until - offset) as usize].copy_from_slice(part);
            Ok(())
        })?;
        for run in &self.bad {
            let (start, stop) = (run.lba.0 * SECTOR_BYTES, (run.lba.0 + run.sectors) * SECTOR_BYTES);
            let (from, until) = (start.max(offset), stop.min(end));
            if from < until {
                to[(from - offset) as usize..(until - offset) as usize].fill(0);
            }
        }
        Ok(())
    }
}
