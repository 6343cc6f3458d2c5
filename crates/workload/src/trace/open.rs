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

/// Facts that a trace has to know of the device on which it is replayed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TraceTarget {
    /// Sectors; `None` leaves addresses as recorded.
    capacity: Option<u64>,
    /// Sectors from the start of one zone to that of the next; `None` without zones.
    zone_sectors: Option<u64>,
    /// Placement handles that the host may use; 0 without flexible data placement.
    handles: u16,
}

impl TraceTarget {
    /// No device.
    pub(crate) const NONE: Self = Self { capacity: None, zone_sectors: None, handles: 0 };

    /// True if there is a device, and it has no zones.
    pub(crate) fn lacks_zones(&self) -> bool {
        self.capacity.is_some() && self.zone_sectors.is_none()
    }

    /// The handles of the device, where it has any.
    pub(crate) fn handles(&self) -> Option<u16> {
        Some(self.handles).filter(|&handles| handles != 0)
    }
}

impl TraceSpec {
    /// Checks the settings and opens the file. See [`crate::WorkloadSpec::open`].
    pub(crate) fn open(&self, target: &WorkloadTarget) -> Result<Workload, WorkloadError> {
        let capacity = target.capacity.0 / SECTOR_BYTES;
        let zone_sectors = target.zones.map(|zones| zones.layout.size);
        let own = TraceTarget { capacity: Some(capacity), zone_sectors, handles: target.handles };
        let (mut replay, footprint, mut notes) = self.replay(&own)?;
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
        target: &TraceTarget,
    ) -> Result<(TraceReplay, Option<u64>, Vec<String>), WorkloadError> {
        if self.file.is_empty() {
            let needed = "name the trace file".into();
            return Err(WorkloadError::Missing { field: format!("{PATH}.file"), needed });
        }
        self.replay_of(TraceOrigin::File(self.file.clone()), target)
    }

    fn replay_of(
        &self,
        origin: TraceOrigin,
        target: &TraceTarget,
    ) -> Result<(TraceReplay, Option<u64>, Vec<String>), WorkloadError> {
        self.check()?;
        let mut detected = detect(&origin, self)?;
        detected.zone_sectors = target.zone_sectors;
        if target.zone_sectors.is_some() {
            self.check_on_zones(&detected)?;
        }
        let capacity = target.capacity;
        // Of a zone nothing can be moved elsewhere.
        let addresses = if target.zone_sectors.is_some() { AddressOverflow::Strict } else { self.addresses };
        let notes = detected.notes.clone();
        let align = self.align.map_or(1, |align| align.0 / SECTOR_BYTES);
        let (starts, pieces) = (Vec::new(), PackedPieces::default());
        let counts = PlacementCounts::default();
        let mut placement = AddressPlacement { capacity, addresses, align, starts, pieces, counts };
        let fit = capacity.is_some() && addresses == AddressOverflow::Fit;
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
        Ok((TraceReplay::open(origin, detected, self.clone(), placement, *target)?, end, notes))
    }

    /// Checks that the trace says itself what it does with zones, and where.
    fn check_on_zones(&self, detected: &DetectedFormat) -> Result<(), WorkloadError> {
        if detected.format != TraceFormat::Commands {
            let limit = "does not go with [device.zones]: zones are written at their write pointers only; use format = \"commands\", [workload.zoned], or a fio job \
                         with zonemode=zbd";
            return Err(bad_setting(format!("{PATH}.format"), detected.format, limit));
        }
        if self.addresses == AddressOverflow::Wrap {
            let limit = "must be strict with [device.zones]: a write elsewhere than at a write pointer fails";
            return Err(bad_setting(format!("{PATH}.addresses"), "wrap", limit));
        }
        match self.align {
            Some(align) => {
                let limit =
                    "does not go with [device.zones]: a write elsewhere than at a write pointer fails";
                Err(bad_setting(format!("{PATH}.align"), align, limit))
            }
            None => Ok(()),
        }
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
    let (mut replay, _, _) = spec.replay_of(TraceOrigin::Memory(bytes.into()), &TraceTarget::NONE)?;
    let mut requests = Vec::new();
    while replay.fill(&mut requests, 4096)? > 0 {}
    Ok(requests)
}
