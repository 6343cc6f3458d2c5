//! Opens a trace: checks the settings, detects the format, and surveys the addresses if they must be packed or laid side by side.

use super::address_placement::{AddressPlacement, PIECE, PlacementCounts, TraceSurvey};
use super::detect::{DetectedFormat, detect};
use super::input::TraceOrigin;
use super::pieces::{PackedPieces, TouchedPieces};
use super::replay::{TracePass, TraceReplay};
use super::{AddressOverflow, DeviceLayout, TraceFormat, TraceSpec};
use crate::error::bad_setting;
use crate::{RequestPacing, RequestSource, Workload, WorkloadError, WorkloadRequest, WorkloadTarget};
use outlast_units::{Bytes, Lba, SECTOR_BYTES};

const PATH: &str = "workload.trace";

impl TraceSpec {
    /// Checks the settings and opens the file. See [`crate::WorkloadSpec::open`].
    pub(crate) fn open(&self, target: &WorkloadTarget) -> Result<Workload, WorkloadError> {
        let capacity = target.capacity.0 / SECTOR_BYTES;
        let (mut replay, footprint, mut notes) = self.replay(Some(capacity))?;
        // An empty selection is refused here and not during the run; the replay then starts again.
        self.check_not_empty(&mut replay)?;
        replay.rewind()?;
        if self.addresses == AddressOverflow::Fit && !target.unit.0.is_multiple_of(SECTOR_BYTES) {
            notes.push(format!("mapping unit {} is not a whole number of sectors", target.unit));
        }
        let pacing =
            self.queue_depth.map_or(RequestPacing::Open, |queue_depth| RequestPacing::Closed { queue_depth });
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
            jobs: None,
        })
    }

    /// Checks that there is at least one request.
    fn check_not_empty(&self, replay: &mut TraceReplay) -> Result<(), WorkloadError> {
        if replay.next()?.is_some() {
            return Ok(());
        }
        let records = replay.records();
        let names: Vec<_> =
            records.devices().iter().take(8).map(|name| String::from_utf8_lossy(name)).collect();
        let content = match &self.device {
            Some(device) if !names.is_empty() => format!("device {device} is not among {}", names.join(", ")),
            _ => format!("{} other lines or records, skip = {}", records.skipped, self.skip),
        };
        Err(WorkloadError::Empty { file: records.file().to_owned(), content })
    }

    /// The replay, the end of the last sector touched if a survey has found it, and notes. Without a capacity addresses stay as recorded.
    pub(crate) fn replay(
        &self,
        capacity: Option<u64>,
    ) -> Result<(TraceReplay, Option<u64>, Vec<String>), WorkloadError> {
        if self.file.is_empty() {
            let needed = "name the trace file".into();
            return Err(WorkloadError::Missing { field: format!("{PATH}.file"), needed });
        }
        self.replay_of(TraceOrigin::File(self.file.clone()), capacity)
    }

    fn replay_of(
        &self,
        origin: TraceOrigin,
        capacity: Option<u64>,
    ) -> Result<(TraceReplay, Option<u64>, Vec<String>), WorkloadError> {
        self.check()?;
        let detected = detect(&origin, self)?;
        let notes = detected.notes.clone();
        let align = self.align.map_or(1, |align| align.0 / SECTOR_BYTES);
        let (starts, pieces) = (Vec::new(), PackedPieces::default());
        let counts = PlacementCounts::default();
        let mut placement =
            AddressPlacement { capacity, addresses: self.addresses, align, starts, pieces, counts };
        let fit = capacity.is_some() && self.addresses == AddressOverflow::Fit;
        let mut end = None;
        if self.devices == DeviceLayout::Concat || fit {
            let survey = self.survey(&origin, &detected, &mut placement, fit)?;
            let last = survey
                .ends
                .iter()
                .enumerate()
                .map(|(id, &end)| placement.with_device_start(id as u32, end))
                .max();
            end = last;
            // A trace that fits as it is keeps its addresses.
            if fit && last.is_some_and(|last| Some(last) > capacity) {
                end = Some(survey.pieces.len() * PIECE);
                placement.pieces = survey.pieces;
            }
        }
        Ok((TraceReplay::open(origin, detected, self.clone(), placement)?, end, notes))
    }

    /// True if recorded times are scaled.
    #[allow(clippy::float_cmp, reason = "compared with a literal that is exact")]
    pub(crate) fn is_time_scaled(&self) -> bool {
        self.time_scale != 1.0
    }

    /// Checks the settings that need no file.
    fn check(&self) -> Result<(), WorkloadError> {
        if self.queue_depth == Some(0) {
            return Err(bad_setting(format!("{PATH}.queue_depth"), 0, "must be at least 1"));
        }
        if self.queue_depth.is_some() && self.is_time_scaled() {
            return Err(WorkloadError::Conflict {
                first: format!("{PATH}.queue_depth"),
                second: format!("{PATH}.time_scale"),
                why: "a closed loop ignores the recorded times",
            });
        }
        if self.repeat == 0 {
            return Err(bad_setting(format!("{PATH}.repeat"), 0, "must be at least 1"));
        }
        if self.head == Some(0) {
            return Err(bad_setting(format!("{PATH}.head"), 0, "must be at least 1"));
        }
        if !(1e-6..=1e6).contains(&self.time_scale) {
            return Err(bad_setting(format!("{PATH}.time_scale"), self.time_scale, "must be 1e-6 to 1e6"));
        }
        match self.align {
            Some(align) if align.0 == 0 || align > Bytes::gib(1) || !align.0.is_multiple_of(SECTOR_BYTES) => {
                let limit = format!("must be a whole number of {SECTOR_BYTES}-byte sectors, at most 1GiB");
                Err(bad_setting(format!("{PATH}.align"), align, limit))
            }
            _ => Ok(()),
        }
    }

    /// Reads the trace once to find the end of each device and, for `fit`, the pieces that are touched.
    fn survey(
        &self,
        origin: &TraceOrigin,
        detected: &DetectedFormat,
        placement: &mut AddressPlacement,
        fit: bool,
    ) -> Result<TraceSurvey, WorkloadError> {
        let mut survey = TraceSurvey::default();
        let mut touched = TouchedPieces::default();
        let mut pass = TracePass::open(origin, detected, self)?;
        while let Some(record) = pass.next()? {
            let (lba, sectors) = placement.round_out(record.lba, record.sectors);
            let device = record.device as usize;
            if survey.ends.len() <= device {
                survey.ends.resize(device + 1, 0);
            }
            // A flush has no address, but its device counts.
            if sectors == 0 {
                continue;
            }
            survey.ends[device] = survey.ends[device].max(lba + sectors);
            if fit {
                // Devices that are merged share their pieces.
                let device = if self.devices == DeviceLayout::Concat { record.device } else { 0 };
                touched.add(device, lba / PIECE..=(lba + sectors - 1) / PIECE);
            }
        }
        if self.devices == DeviceLayout::Concat {
            placement.starts = survey.starts().ok_or_else(|| {
                bad_setting(
                    format!("{PATH}.devices"),
                    "concat",
                    "the devices together must span less than 2^64 bytes",
                )
            })?;
        }
        let piece = |(device, piece): (u32, u64)| placement.with_device_start(device, piece * PIECE) / PIECE;
        survey.pieces = touched.iter().map(piece).collect();
        Ok(survey)
    }
}

/// Decodes a whole trace in memory, plain or compressed, with addresses as recorded. For tests, fuzzing and small pastes.
///
/// # Errors
/// Those of a file; its name in messages is `(memory)`.
pub fn parse_bytes(format: TraceFormat, bytes: &[u8]) -> Result<Vec<WorkloadRequest>, WorkloadError> {
    parse_with(&TraceSpec { format, ..TraceSpec::default() }, bytes)
}

/// Decodes a whole trace in memory with the settings of `spec`, except for its file.
pub(crate) fn parse_with(spec: &TraceSpec, bytes: &[u8]) -> Result<Vec<WorkloadRequest>, WorkloadError> {
    let (mut replay, _, _) = spec.replay_of(TraceOrigin::Memory(bytes.into()), None)?;
    let mut requests = Vec::new();
    while replay.fill(&mut requests, 4096)? > 0 {}
    Ok(requests)
}
