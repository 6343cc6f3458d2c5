//! A crash state, and the bytes of it.

use crate::error::TortureError;
use crate::history::CommandHistory;
use crate::id::StateId;
use crate::losable::is_loss_allowed;
use crate::pieces::{WritePiece, WritePieces};
use crate::versions::SectorVersion;
use outlast_device::SectorRun;
use outlast_units::{Nanos, SECTOR_BYTES};
use std::io;
use std::ops::Range;

/// Bytes of a sector.
const SECTOR: usize = SECTOR_BYTES as usize;

/// A sector with bytes that no write gave it: part of a unit that was torn while it was being programmed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OddSector {
    /// The sector.
    pub lba: u64,
    /// The bytes that reading gives.
    pub bytes: Box<[u8]>,
}

/// Content of a device after a loss of power.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CrashState {
    /// Name from which the state can be made again.
    pub id: StateId,
    /// Number of events before the loss of power.
    pub cut: usize,
    /// Time of the loss of power.
    pub at: Nanos,
    /// Parts of writes that had arrived and are missing.
    pub lost: WritePieces,
    /// Sectors with bytes that no write gave them, in order.
    pub odd: Vec<OddSector>,
    /// Sectors that cannot be read, in order.
    pub bad: Vec<SectorRun>,
    /// With a simulated device, spans of time, in order, in which a loss of power leaves this state; ends are exclusive.
    pub spans: Vec<(Nanos, Nanos)>,
    /// Why the device does not start, and so gives no data; `None` if it starts.
    pub refused: Option<String>,
}

impl CrashState {
    /// The state after `cut` events in which exactly `lost` is lost.
    pub fn of(history: &CommandHistory, cut: usize, lost: WritePieces) -> Self {
        let is_allowed = is_loss_allowed(history, cut, &lost);
        let id = StateId::Lost { is_allowed, cut, lost: lost.names(history) };
        let (at, odd, bad, spans) = (history.time_of(cut), Vec::new(), Vec::new(), Vec::new());
        Self { id, cut, at, lost, odd, bad, spans, refused: None }
    }

    /// Parses a state that is named by the writes it loses.
    ///
    /// # Errors
    /// The recording has no such state, or the contract does not allow it although the name says so.
    pub fn parse(
        history: &CommandHistory,
        cut: usize,
        lost: &[String],
        is_allowed: bool,
    ) -> Result<Self, TortureError> {
        let id = StateId::Lost { is_allowed, cut, lost: lost.to_vec() };
        if cut > history.events.len() {
            let why = format!("the recording has {} events", history.events.len());
            return Err(TortureError::state(&id, &why));
        }
        let pieces = WritePieces::parse(lost.iter().map(String::as_str), history)?;
        let late = pieces.iter().find(|piece| history.writes[piece.write.0 as usize].submitted >= cut);
        if let Some(piece) = late {
            return Err(TortureError::state(&id, &format!("write {} comes after the cut", piece.write.0)));
        }
        if is_allowed && !is_loss_allowed(history, cut, &pieces) {
            return Err(TortureError::state(&id, "a flush covered some of what is lost: name it lost@…"));
        }
        let state = Self::of(history, cut, pieces);
        Ok(Self { id: StateId::Lost { is_allowed, cut, lost: state.lost.names(history) }, ..state })
    }

    /// The state in which `kept` is not lost; without odd and unreadable sectors, which only a simulated device leaves.
    #[must_use]
    pub fn keep(&self, history: &CommandHistory, kept: &WritePieces) -> Self {
        let still_lost = self.lost.iter().flat_map(|piece| {
            let is_lost = |&sector: &u64| !kept.contains(piece.write, sector);
            piece.range().filter(is_lost).map(|lba| WritePiece { write: piece.write, lba, sectors: 1 })
        });
        Self::of(history, self.cut, WritePieces::new(still_lost.collect()))
    }

    /// The version that a sector holds, out of its versions `of_sector`; `None` where it is as it was at first.
    fn version<'a>(
        &self,
        history: &CommandHistory,
        of_sector: &'a [SectorVersion],
    ) -> Option<&'a SectorVersion> {
        let has_arrived =
            |version: &&SectorVersion| history.writes[version.write.0 as usize].submitted < self.cut;
        let mut candidates = of_sector.iter().rev().filter(has_arrived);
        candidates.find(|version| !self.lost.contains(version.write, version.sector))
    }

    /// Calls `visit` with the first sector and the bytes of each run of sectors that is not all zeroes, in order; odd sectors come last. Unreadable
    /// sectors are visited with what the writes gave them.
    ///
    /// # Errors
    /// Bytes of the recording cannot be read, or what `visit` returns.
    pub fn visit(
        &self,
        history: &CommandHistory,
        range: Range<u64>,
        mut visit: impl FnMut(u64, &[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        /// Sectors read at once at most: 1 MiB.
        const RUN: usize = 2048;
        let mut run: Option<(SectorVersion, usize)> = None;
        let mut buffer = vec![0; RUN * SECTOR];
        let mut put = |(first, sectors): (SectorVersion, usize)| {
            let part = &mut buffer[..sectors * SECTOR];
            history.read_write(first.write, first.sector, part)?;
            visit(first.sector, part)
        };
        let touched = history.versions().within(range.clone());
        for of_sector in touched.chunk_by(|one, other| one.sector == other.sector) {
            let Some(&version) = self.version(history, of_sector) else { continue };
            if matches!(history.writes[version.write.0 as usize].data, crate::history::WriteData::Zeroes) {
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

    /// Fills `to` with the content from byte `offset` on; unreadable sectors give zeroes.
    ///
    /// # Errors
    /// Bytes of the recording cannot be read.
    pub fn read(&self, history: &CommandHistory, offset: u64, to: &mut [u8]) -> io::Result<()> {
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
