//! Summing up repairs: what drives found out about failed dies, what the array did about them, and what risk it was.

use crate::data_loss::mean_time;
use crate::member::ArrayMember;
use crate::volume::ArrayVolume;
use outlast_array::MemberRepair;
use outlast_models::array_loss::{ln_double_failure, ln_read_failure};
use outlast_scenario::RunSpec;
use outlast_settings::array::ArrayConfig;
use outlast_settings::drive::{Identifier, RepairScheme};
use outlast_ssd::{RepairRecord, Ssd};
use outlast_units::{Nanos, SECTOR_BYTES};
use serde::Serialize;

/// One repair of a die: `repair[]`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RepairSummary {
    /// The member of the array; absent for a drive by itself.
    pub device: Option<u64>,
    /// The die, numbered channel by channel.
    pub die: u64,
    /// The flash core that it belongs to.
    pub core: u64,
    /// What the array did: `die`, `assist` or `rebuild`; absent for a drive by itself.
    pub way: Option<&'static str>,
    /// Who took the place of the die in the drive.
    pub scheme: RepairScheme,
    /// How the drive found the failed data.
    pub identifier: Identifier,
    /// When the drive knew of it.
    pub detected_s: f64,
    /// From the failure to that.
    pub detected_after_ms: Option<f64>,
    /// When recovery began.
    pub started_s: Option<f64>,
    /// When it ended.
    pub finished_s: Option<f64>,
    /// Time of the questions which data has failed.
    pub identify_s: f64,
    /// Rest of the time from start to end.
    pub recover_s: f64,
    /// From the start to the end, or to the end of what was simulated.
    pub total_s: f64,
    /// Questions that the drive answered.
    pub queries: u64,
    /// Mapping units that were lost with the die.
    pub failed_units: u64,
    /// Mapping units that were to be written again though they could be read.
    pub fake_failures: u64,
    /// Read from the other members.
    pub bytes_read_from_peers: u64,
    /// Read from the member itself, or from the one that was replaced.
    pub bytes_read_from_member: u64,
    /// Written to the member, or to the one in its place.
    pub bytes_written: u64,
    /// Of the array's data, what nothing could bring back.
    pub lost_bytes: u64,
    /// Times that recovery was taken up again after a loss of power.
    pub resumed: u64,
    /// Logical over physical space of all flash cores before any die failed.
    pub space_utilisation_before: f64,
    /// Logical over physical space of each flash core, as this repair left it: before the next die failed, or at the end.
    pub space_utilisation_by_core: Vec<f64>,
    /// What a drive of full size would take; absent where `run.capacity_scale` is 1.
    pub scaled: Option<ScaledRepair>,
    /// The risk of these hours; absent for a drive by itself and where nothing was recovered.
    pub risk: Option<RepairRisk>,
}

/// Times and amounts that grow with the size of dies, times `run.capacity_scale`. Detection does not grow.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[allow(missing_docs, reason = "as in RepairSummary")]
pub struct ScaledRepair {
    pub factor: f64,
    pub identify_s: f64,
    pub recover_s: f64,
    pub total_s: f64,
    pub failed_units: f64,
    pub fake_failures: f64,
    pub bytes_read_from_peers: f64,
    pub bytes_read_from_member: f64,
    pub bytes_written: f64,
}

/// What may go wrong while data has less redundancy than it should, with the (scaled) duration and traffic of this repair.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RepairRisk {
    /// That another member fails meanwhile: 1 − e^−P₂ with P₂ of Reparo's Equation 1.
    pub second_failure: f64,
    /// That some bit which was read from the other members cannot be read: Reparo's Equation 2.
    pub read_failure: f64,
    /// Mean time to data loss of the array if each failure of a member, at `run.member_mttf_hours`, is made good like this one.
    pub mttdl_hours: f64,
}

fn seconds(from: Nanos, until: Nanos) -> f64 {
    until.saturating_sub(from).as_secs_f64()
}

/// Repairs of a drive by itself.
pub(crate) fn drive_repairs(ssd: &Ssd, run: &RunSpec, end: Nanos) -> Vec<RepairSummary> {
    ssd.repairs().iter().map(|record| summary(ssd, record, None, run, end)).collect()
}

/// Repairs of the members of an array, in the order in which members told of them.
pub(crate) fn array_repairs(volume: &ArrayVolume, run: &RunSpec, end: Nanos) -> Vec<RepairSummary> {
    let all = volume.array.repairs().iter();
    all.filter_map(|own| {
        // The drive may have left since.
        let drives = || {
            volume.array.member(own.member).and_then(ArrayMember::drive).into_iter().chain(volume.drives())
        };
        let found = drives().find_map(|ssd| {
            let of_die =
                |record: &&RepairRecord| record.die == own.die && record.detected_at == own.noticed_at;
            Some((ssd, ssd.repairs().iter().find(of_die)?))
        });
        let (ssd, record) = found?;
        let mut summary = summary(ssd, record, Some(own), run, end);
        summary.risk = risk(&summary, run, volume.array.config());
        Some(summary)
    })
    .collect()
}

fn summary(
    ssd: &Ssd,
    record: &RepairRecord,
    host: Option<&MemberRepair>,
    run: &RunSpec,
    end: Nanos,
) -> RepairSummary {
    let config = ssd.config().repair.clone().unwrap_or_default();
    let unit_sectors = u64::from(ssd.sectors_per_unit());
    let total = host.and_then(|own| Some(seconds(own.started_at?, own.finished_at.unwrap_or(end))));
    let identify_s = host.map_or(record.identify_busy, |own| own.identify).as_secs_f64();
    let mut summary = RepairSummary {
        device: host.map(|own| own.member as u64),
        die: record.die.into(),
        core: record.core.into(),
        way: host.map(|own| own.way.name()),
        scheme: config.scheme,
        identifier: config.identifier,
        detected_s: record.detected_at.as_secs_f64(),
        detected_after_ms: record.failed_at.map(|at| seconds(at, record.detected_at) * 1e3),
        started_s: host.and_then(|own| own.started_at).map(Nanos::as_secs_f64),
        finished_s: host.and_then(|own| own.finished_at).map(Nanos::as_secs_f64),
        identify_s,
        recover_s: total.map_or(0.0, |total| (total - identify_s).max(0.0)),
        total_s: total.unwrap_or(0.0),
        queries: host.map_or(record.queries, |own| own.queries),
        failed_units: record.failed_units,
        fake_failures: host.map_or(0, |own| own.fake_sectors / unit_sectors),
        bytes_read_from_peers: host.map_or(0, |own| own.bytes_read_from_peers.0),
        bytes_read_from_member: host.map_or(0, |own| own.bytes_read_from_member.0),
        bytes_written: host.map_or(0, |own| own.bytes_written.0),
        lost_bytes: host.map_or(0, |own| own.lost_sectors * SECTOR_BYTES),
        resumed: host.map_or(0, |own| own.resumed.into()),
        space_utilisation_before: ssd.space_utilisation_when_new(),
        space_utilisation_by_core: if record.space_utilisation.is_empty() {
            ssd.space_utilisation()
        } else {
            record.space_utilisation.clone()
        },
        scaled: None,
        risk: None,
    };
    if run.capacity_scale.total_cmp(&1.0).is_ne() {
        summary.scaled = Some(scaled(&summary, run.capacity_scale));
    }
    summary
}

fn scaled(own: &RepairSummary, factor: f64) -> ScaledRepair {
    ScaledRepair {
        factor,
        identify_s: own.identify_s * factor,
        recover_s: own.recover_s * factor,
        total_s: own.total_s * factor,
        failed_units: own.failed_units as f64 * factor,
        fake_failures: own.fake_failures as f64 * factor,
        bytes_read_from_peers: own.bytes_read_from_peers as f64 * factor,
        bytes_read_from_member: own.bytes_read_from_member as f64 * factor,
        bytes_written: own.bytes_written as f64 * factor,
    }
}

fn risk(own: &RepairSummary, run: &RunSpec, config: &ArrayConfig) -> Option<RepairRisk> {
    own.finished_s?;
    let scale = own.scaled.map_or(1.0, |scaled| scaled.factor);
    let hours = own.total_s * scale / 3600.0;
    let bits = (own.bytes_read_from_peers + own.bytes_read_from_member) as f64 * scale * 8.0;
    let (devices, mttf) = (f64::from(config.members), run.member_mttf_hours);
    let second_failure = ln_double_failure(hours, mttf, devices).ok()?.exp();
    let read_failure = ln_read_failure(run.member_uber.ln(), bits).ok()?.exp();
    let mttdl_hours = mean_time(config, 1.0 / mttf, 1.0 / hours.max(1e-9), read_failure).ok()?;
    Some(RepairRisk { second_failure, read_failure, mttdl_hours })
}
