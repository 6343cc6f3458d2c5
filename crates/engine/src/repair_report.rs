//! Summary of repairs: what drives found out about failed dies, how the array restored them, and the risk meanwhile.

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
    /// Method of the array: `die`, `assist` or `rebuild`; absent for a drive by itself.
    pub way: Option<&'static str>,
    /// Replacement of the die within the drive.
    pub scheme: RepairScheme,
    /// Method by which the drive identified the failed data.
    pub identifier: Identifier,
    /// Detection by the drive, in seconds.
    pub detected_s: f64,
    /// Milliseconds from the failure to its detection.
    pub detected_after_ms: Option<f64>,
    /// Beginning of recovery, in seconds.
    pub started_s: Option<f64>,
    /// End of recovery, in seconds.
    pub finished_s: Option<f64>,
    /// Seconds spent on queries for the failed data.
    pub identify_s: f64,
    /// Seconds from start to end without `identify_s`.
    pub recover_s: f64,
    /// Seconds from start to end, or to the end of the simulated time.
    pub total_s: f64,
    /// Queries that the drive answered.
    pub queries: u64,
    /// Mapping units that were lost with the die.
    pub failed_units: u64,
    /// Mapping units that were reported as failed though they could be read.
    pub fake_failures: u64,
    /// Bytes read from the other members.
    pub bytes_read_from_peers: u64,
    /// Bytes read from the member itself, or from the drive that it replaced.
    pub bytes_read_from_member: u64,
    /// Bytes written to the member, or to its replacement.
    pub bytes_written: u64,
    /// Bytes of the array's data that were lost.
    pub lost_bytes: u64,
    /// Times that recovery resumed after a loss of power.
    pub resumed: u64,
    /// Logical over physical space of all flash cores before any die failed.
    pub space_utilisation_before: f64,
    /// Logical over physical space of each flash core after this repair, measured before the next die failed or at the end.
    pub space_utilisation_by_core: Vec<f64>,
    /// Figures of a drive of full size; absent where `run.capacity_scale` is 1.
    pub scaled: Option<ScaledRepair>,
    /// Risk during recovery; absent for a drive by itself and where nothing was recovered.
    pub risk: Option<RepairRisk>,
}

/// Times and amounts that grow with the size of dies, multiplied by `run.capacity_scale`. Detection does not grow.
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

/// Risk of data loss while redundancy is reduced, from the scaled duration and traffic of this repair.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RepairRisk {
    /// Probability that another member fails meanwhile: 1 − e^−P₂ with P₂ of Reparo's Equation 1.
    pub second_failure: f64,
    /// Probability that some bit read for the repair is unreadable: Reparo's Equation 2.
    pub read_failure: f64,
    /// Mean time to data loss of the array if each failure of a member, at `run.member_mttf_hours`, is repaired like this one.
    pub mttdl_hours: f64,
}

fn seconds(from: Nanos, until: Nanos) -> f64 {
    until.saturating_sub(from).as_secs_f64()
}

/// Repairs of a drive by itself, in order of detection.
pub(crate) fn drive_repairs(ssd: &Ssd, run: &RunSpec, end: Nanos) -> Vec<RepairSummary> {
    ssd.repairs().iter().map(|record| repair_summary(ssd, record, None, run, end)).collect()
}

/// Repairs of the members of an array, in the order in which members reported them.
pub(crate) fn array_repairs(volume: &ArrayVolume, run: &RunSpec, end: Nanos) -> Vec<RepairSummary> {
    let all = volume.array.repairs().iter();
    all.filter_map(|repair| {
        // The member comes first, but its drive may have left since: then it is among the array's other drives.
        let drives = || {
            volume
                .array
                .member(repair.member.index())
                .and_then(ArrayMember::drive)
                .into_iter()
                .chain(volume.drives())
        };
        let (ssd, record) = drives().find_map(|ssd| {
            let of_die =
                |record: &&RepairRecord| record.die == repair.die && record.detected_at == repair.noticed_at;
            Some((ssd, ssd.repairs().iter().find(of_die)?))
        })?;
        let mut summary = repair_summary(ssd, record, Some(repair), run, end);
        summary.risk = risk(&summary, run, volume.array.config());
        Some(summary)
    })
    .collect()
}

/// Figures of one repair from the drive's record and, in an array, from the array's.
fn repair_summary(
    ssd: &Ssd,
    record: &RepairRecord,
    array_repair: Option<&MemberRepair>,
    run: &RunSpec,
    end: Nanos,
) -> RepairSummary {
    let config = ssd.config().repair.clone().unwrap_or_default();
    let unit_sectors = u64::from(ssd.sectors_per_unit());
    let total =
        array_repair.and_then(|repair| Some(seconds(repair.started_at?, repair.finished_at.unwrap_or(end))));
    let identify_s = array_repair.map_or(record.identify_busy, |repair| repair.identify).as_secs_f64();
    let mut summary = RepairSummary {
        device: array_repair.map(|repair| repair.member.0.into()),
        die: record.die.into(),
        core: record.core.into(),
        way: array_repair.map(|repair| repair.way.name()),
        scheme: config.scheme,
        identifier: config.identifier,
        detected_s: record.detected_at.as_secs_f64(),
        detected_after_ms: record.failed_at.map(|at| seconds(at, record.detected_at) * 1e3),
        started_s: array_repair.and_then(|repair| repair.started_at).map(Nanos::as_secs_f64),
        finished_s: array_repair.and_then(|repair| repair.finished_at).map(Nanos::as_secs_f64),
        identify_s,
        recover_s: total.map_or(0.0, |total| (total - identify_s).max(0.0)),
        total_s: total.unwrap_or(0.0),
        queries: array_repair.map_or(record.queries, |repair| repair.queries),
        failed_units: record.failed_units,
        fake_failures: array_repair.map_or(0, |repair| repair.fake_sectors / unit_sectors),
        bytes_read_from_peers: array_repair.map_or(0, |repair| repair.bytes_read_from_peers.0),
        bytes_read_from_member: array_repair.map_or(0, |repair| repair.bytes_read_from_member.0),
        bytes_written: array_repair.map_or(0, |repair| repair.bytes_written.0),
        lost_bytes: array_repair.map_or(0, |repair| repair.lost_sectors * SECTOR_BYTES),
        resumed: array_repair.map_or(0, |repair| repair.resumed.into()),
        space_utilisation_before: ssd.space_utilisation_when_new(),
        // Only the record of a repair that another failure followed has a state of its own.
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

/// Figures of a drive of full size, whose dies are `factor` times as large.
fn scaled(summary: &RepairSummary, factor: f64) -> ScaledRepair {
    ScaledRepair {
        factor,
        identify_s: summary.identify_s * factor,
        recover_s: summary.recover_s * factor,
        total_s: summary.total_s * factor,
        failed_units: summary.failed_units as f64 * factor,
        fake_failures: summary.fake_failures as f64 * factor,
        bytes_read_from_peers: summary.bytes_read_from_peers as f64 * factor,
        bytes_read_from_member: summary.bytes_read_from_member as f64 * factor,
        bytes_written: summary.bytes_written as f64 * factor,
    }
}

/// Risk of a finished repair; `None` while it goes on, or outside the models' domain.
fn risk(summary: &RepairSummary, run: &RunSpec, config: &ArrayConfig) -> Option<RepairRisk> {
    summary.finished_s?;
    let scale = summary.scaled.map_or(1.0, |scaled| scaled.factor);
    let hours = summary.total_s * scale / 3600.0;
    let bits = (summary.bytes_read_from_peers + summary.bytes_read_from_member) as f64 * scale * 8.0;
    let (devices, mttf) = (f64::from(config.members), run.member_mttf_hours);
    let second_failure = ln_double_failure(hours, mttf, devices).ok()?.exp();
    let read_failure = ln_read_failure(RunSpec::MEMBER_UBER.ln(), bits).ok()?.exp();
    // A repair within one step of time must not have an infinite rate.
    let mttdl_hours = mean_time(config, 1.0 / mttf, 1.0 / hours.max(1e-9), read_failure).ok()?;
    Some(RepairRisk { second_failure, read_failure, mttdl_hours })
}
