//! From settings to a source: checks, detection, and the survey where one is needed.

use super::detect::{Detected, detect};
use super::input::Origin;
use super::pieces::{Packed, Touched};
use super::place::{PIECE, Placed, Placement, Survey};
use super::replay::{Pass, Replay};
use super::{Addresses, Devices, Format, TraceSpec};
use crate::error::bad;
use crate::{Pacing, Request, Source, Target, Workload, WorkloadError};
use outlast_units::{Bytes, Lba, SECTOR_BYTES};

const PATH: &str = "workload.trace";

impl TraceSpec {
    /// Checks the settings and opens the file. See [`crate::WorkloadSpec::open`].
    pub(crate) fn open(&self, target: &Target) -> Result<Workload, WorkloadError> {
        let capacity = target.capacity.0 / SECTOR_BYTES;
        let (mut replay, footprint, mut notes) = self.replay(Some(capacity))?;
        self.probe(&mut replay)?;
        replay.rewind()?;
        if self.addresses == Addresses::Fit && !target.unit.0.is_multiple_of(SECTOR_BYTES) {
            notes.push(format!("mapping unit {} is not a whole number of sectors", target.unit));
        }
        let pacing = self.queue_depth.map_or(Pacing::Open, |queue_depth| Pacing::Closed { queue_depth });
        let label = self.file.rsplit('/').next().unwrap_or(&self.file).to_owned();
        let requests = self.head.map(|head| head.saturating_mul(u64::from(self.repeat)));
        let footprint = footprint.map(|end| Lba(0)..Lba(end.min(capacity)));
        Ok(Workload {
            source: Box::new(replay),
            pacing,
            requests,
            duration: None,
            endless: false,
            label,
            footprint,
            notes,
            ramp: outlast_units::Nanos::ZERO,
            lanes: None,
        })
    }

    /// Makes sure that there is at least one request.
    fn probe(&self, replay: &mut Replay) -> Result<(), WorkloadError> {
        if replay.next()?.is_some() {
            return Ok(());
        }
        let records = replay.records();
        let names: Vec<_> =
            records.devices().iter().take(8).map(|name| String::from_utf8_lossy(name)).collect();
        let found = match &self.device {
            Some(device) if !names.is_empty() => format!("device {device} is not among {}", names.join(", ")),
            _ => format!("{} other lines or records, skip = {}", records.skipped, self.skip),
        };
        Err(WorkloadError::Empty { file: records.file().to_owned(), found })
    }

    /// The replay, the first sector after the last one touched where known, and notes.
    pub(crate) fn replay(
        &self,
        capacity: Option<u64>,
    ) -> Result<(Replay, Option<u64>, Vec<String>), WorkloadError> {
        if self.file.is_empty() {
            let needed = "name the trace file".into();
            return Err(WorkloadError::Missing { field: format!("{PATH}.file"), needed });
        }
        self.replay_of(Origin::File(self.file.clone()), capacity)
    }

    fn replay_of(
        &self,
        origin: Origin,
        capacity: Option<u64>,
    ) -> Result<(Replay, Option<u64>, Vec<String>), WorkloadError> {
        self.check()?;
        let detected = detect(&origin, self)?;
        let notes = detected.notes.clone();
        let align = self.align.map_or(1, |align| align.0 / SECTOR_BYTES);
        let (starts, pieces) = (Vec::new(), Packed::default());
        let placed = Placed::default();
        let mut placement = Placement { capacity, addresses: self.addresses, align, starts, pieces, placed };
        let fit = capacity.is_some() && self.addresses == Addresses::Fit;
        let mut end = None;
        if self.devices == Devices::Concat || fit {
            let survey = self.survey(&origin, &detected, &mut placement, fit)?;
            let last =
                survey.ends.iter().enumerate().map(|(id, &end)| placement.laid_out(id as u32, end)).max();
            end = last;
            if fit && last.is_some_and(|last| Some(last) > capacity) {
                end = Some(survey.pieces.len() * PIECE);
                placement.pieces = survey.pieces;
            }
        }
        Ok((Replay::open(origin, detected, self.clone(), placement)?, end, notes))
    }

    /// Whether times change at all: 1 is the exact default.
    #[allow(clippy::float_cmp, reason = "compared with a literal that is exact")]
    pub(crate) fn scaled(&self) -> bool {
        self.time_scale != 1.0
    }

    fn check(&self) -> Result<(), WorkloadError> {
        if self.queue_depth == Some(0) {
            return Err(bad(format!("{PATH}.queue_depth"), 0, "must be at least 1"));
        }
        if self.queue_depth.is_some() && self.scaled() {
            return Err(WorkloadError::Conflict {
                first: format!("{PATH}.queue_depth"),
                second: format!("{PATH}.time_scale"),
                why: "a closed loop ignores the recorded times",
            });
        }
        if self.repeat == 0 {
            return Err(bad(format!("{PATH}.repeat"), 0, "must be at least 1"));
        }
        if self.head == Some(0) {
            return Err(bad(format!("{PATH}.head"), 0, "must be at least 1"));
        }
        if !(1..=1_000_000).contains(&self.window) {
            return Err(bad(format!("{PATH}.window"), self.window, "must be 1 to 1000000 records"));
        }
        if !(1e-6..=1e6).contains(&self.time_scale) {
            return Err(bad(format!("{PATH}.time_scale"), self.time_scale, "must be 1e-6 to 1e6"));
        }
        match self.align {
            Some(align) if align.0 == 0 || align > Bytes::gib(1) || !align.0.is_multiple_of(SECTOR_BYTES) => {
                let limit = format!("must be a whole number of {SECTOR_BYTES}-byte sectors, at most 1GiB");
                Err(bad(format!("{PATH}.align"), align, limit))
            }
            _ => Ok(()),
        }
    }

    /// One pass that finds where each device ends and, for `fit`, which pieces are touched.
    fn survey(
        &self,
        origin: &Origin,
        detected: &Detected,
        placement: &mut Placement,
        fit: bool,
    ) -> Result<Survey, WorkloadError> {
        let mut survey = Survey::default();
        let mut touched = Touched::default();
        let mut pass = Pass::open(origin, detected, self)?;
        while let Some(record) = pass.next()? {
            let (lba, sectors) = placement.aligned(record.lba, record.sectors);
            let device = record.device as usize;
            if survey.ends.len() <= device {
                survey.ends.resize(device + 1, 0);
            }
            if sectors == 0 {
                continue;
            }
            survey.ends[device] = survey.ends[device].max(lba + sectors);
            if fit {
                let device = if self.devices == Devices::Concat { record.device } else { 0 };
                touched.add(device, lba / PIECE..=(lba + sectors - 1) / PIECE);
            }
        }
        if self.devices == Devices::Concat {
            placement.starts = survey.starts().ok_or_else(|| {
                bad(
                    format!("{PATH}.devices"),
                    "concat",
                    "the devices together must span less than 2^64 bytes",
                )
            })?;
        }
        let piece = |(device, piece): (u32, u64)| placement.laid_out(device, piece * PIECE) / PIECE;
        survey.pieces = touched.iter().map(piece).collect();
        Ok(survey)
    }
}

/// Decodes a whole trace in memory, plain or compressed, with addresses as recorded. For tests, fuzzing and small pastes.
///
/// # Errors
/// As for a file; the file's name in messages is `(memory)`.
pub fn parse_bytes(format: Format, bytes: &[u8]) -> Result<Vec<Request>, WorkloadError> {
    parse_with(&TraceSpec { format, ..TraceSpec::default() }, bytes)
}

/// As [`parse_bytes`], with all the settings of `spec` but its file.
pub(crate) fn parse_with(spec: &TraceSpec, bytes: &[u8]) -> Result<Vec<Request>, WorkloadError> {
    let (mut replay, _, _) = spec.replay_of(Origin::Memory(bytes.into()), None)?;
    let mut requests = Vec::new();
    while replay.fill(&mut requests, 4096)? > 0 {}
    Ok(requests)
}
