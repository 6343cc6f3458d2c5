//! Probability that an array loses data within a year, computed alike for every level so that levels can be compared.
//!
//! Members fail at `1 / run.member_mttf_hours`. Each failure is repaired within the mean rebuild time of the run, or, without a finished
//! rebuild, within the time of one that the host does not slow down. A rebuild for which no redundancy is left meets unreadable bits at
//! the rate of the flash at the end of the run. The Markov chains are those of [`outlast_models`]; members of different age enter by
//! the mean of their hazards.

use crate::member::ArrayMember;
use crate::sequential::sequential_rate;
use crate::volume::ArrayVolume;
use outlast_device::Device;
use outlast_models::DomainError;
use outlast_models::mirrors::MirroredArray;
use outlast_models::mttdl::ParityArray;
use outlast_scenario::RunSpec;
use outlast_settings::array::{ArrayConfig, CopyLayout, Level};
use outlast_units::SECTOR_BYTES;
use serde::Serialize;

/// Hours of a year, as in `outlast model mttdl`.
const YEAR_HOURS: f64 = 8760.0;

/// Loss of data over the years.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct DataLoss {
    /// Probability that data is lost within a year of 8760 hours: 1 − e^(−8760 / MTTDL).
    pub per_year: f64,
    /// Mean time to data loss in hours.
    pub mttdl_hours: f64,
    /// Mean time to rebuild a member in hours; absent without redundancy.
    pub repair_hours: Option<f64>,
    /// True if `repair_hours` is the mean of the run's rebuilds, false if it is computed for a rebuild without a host; absent without
    /// redundancy.
    pub repair_measured: Option<bool>,
    /// The limit of a rebuild that was not measured; absent otherwise.
    pub repair_limit: Option<RebuildLimit>,
    /// Probability that a rebuild for which no redundancy is left meets a bit that cannot be read; absent without redundancy.
    pub read_failure: Option<f64>,
    /// True if `read_failure` follows from the flash as the run left it, false if from [`RunSpec::MEMBER_UBER`]; absent without redundancy.
    pub read_failure_measured: Option<bool>,
}

/// Limit of the rate of a rebuild while the host is idle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum RebuildLimit {
    /// The setting `array.background.max_rate`.
    #[serde(rename = "array.background.max_rate")]
    MaxRate,
    /// Sequential bandwidth of a member: the lesser of reads and of writes into erased blocks, by dies, channels and link.
    #[serde(rename = "bandwidth of a member")]
    Member,
}

/// Duration of rebuilds, and error rates of the members that they read.
pub(crate) struct RebuildExposure {
    /// Mean hours of the finished rebuilds; `None` without any.
    pub(crate) measured_hours: Option<f64>,
    /// Natural logarithm of the uncorrectable bit error rate of each member whose flash errs.
    pub(crate) ln_ubers: Vec<f64>,
}

/// Data loss of the array; `None` where the duration of a rebuild is unknown, or where there is no chain: overlapping mirror sets of more
/// than 8 copies.
pub(crate) fn data_loss(volume: &ArrayVolume, run: &RunSpec, exposure: &RebuildExposure) -> Option<DataLoss> {
    let config = volume.array.config();
    let redundancy = config.redundancy();
    let failure_rate = 1.0 / run.member_mttf_hours;
    // Without redundancy the first failure of any member loses data.
    if redundancy == 0 {
        let mttdl_hours = run.member_mttf_hours / f64::from(config.members);
        let per_year = per_year(mttdl_hours);
        return Some(DataLoss {
            per_year,
            mttdl_hours,
            repair_hours: None,
            repair_measured: None,
            repair_limit: None,
            read_failure: None,
            read_failure_measured: None,
        });
    }
    let sectors = volume.array.devices().map(|device| device.identify().capacity.0 / SECTOR_BYTES).min()?;
    // Sizes and durations are those of the drive that the simulated one stands for.
    let bytes = (sectors * SECTOR_BYTES) as f64 * run.capacity_scale;
    let measured = exposure.measured_hours.map(|hours| hours * run.capacity_scale);
    let (hours, repair_limit) = if let Some(hours) = measured {
        (hours, None)
    } else {
        let (rate, limit) = rate_without_host(volume)?;
        (bytes / rate / 3600.0, Some(limit))
    };
    // Expected unreadable bits of one member read whole, −bits · ln(1 − UBER); the mean over the members follows.
    let hazard = |ln_uber: f64| -bytes * 8.0 * (-ln_uber.exp()).ln_1p();
    let is_measured = !exposure.ln_ubers.is_empty();
    let member_hazard = if is_measured {
        exposure.ln_ubers.iter().map(|&ln| hazard(ln)).sum::<f64>() / exposure.ln_ubers.len() as f64
    } else {
        hazard(RunSpec::MEMBER_UBER.ln())
    };
    let read_failure = -(-members_read_last(config) * member_hazard).exp_m1();
    // A rebuild that took no time at all must not have an infinite rate.
    let mttdl_hours = mean_time(config, failure_rate, 1.0 / hours.max(1e-9), read_failure).ok()?;
    Some(DataLoss {
        per_year: per_year(mttdl_hours),
        mttdl_hours,
        repair_hours: Some(hours),
        repair_measured: Some(measured.is_some()),
        repair_limit,
        read_failure: Some(read_failure),
        read_failure_measured: Some(is_measured),
    })
}

/// Bytes a second of a rebuild while the host is idle, and its limit; `None` without a set limit and without drives.
fn rate_without_host(volume: &ArrayVolume) -> Option<(f64, RebuildLimit)> {
    let set = volume
        .array
        .config()
        .background
        .max_rate
        .map(|max| (max.bytes_per_s() as f64, RebuildLimit::MaxRate));
    let drives = volume.array.devices().filter_map(ArrayMember::drive);
    let of_drives = drives.filter_map(|ssd| sequential_rate(ssd.config())).min_by(f64::total_cmp);
    let member = of_drives.map(|rate| (rate, RebuildLimit::Member));
    set.into_iter().chain(member).min_by(|one, other| one.0.total_cmp(&other.0))
}

fn per_year(mttdl_hours: f64) -> f64 {
    -(-YEAR_HOURS / mttdl_hours).exp_m1()
}

/// Members that a rebuild reads whole when no redundancy is left: all others of a stripe, or the one remaining copy.
fn members_read_last(config: &ArrayConfig) -> f64 {
    match config.level {
        Level::Raid1 | Level::Raid10 => 1.0,
        _ => f64::from(config.members - config.redundancy()),
    }
}

/// Mean time to data loss in hours of an array whose members fail and are repaired independently at these rates per hour.
pub(crate) fn mean_time(
    config: &ArrayConfig,
    failure_rate: f64,
    repair_rate: f64,
    read_failure: f64,
) -> Result<f64, DomainError> {
    let devices = u32::from(config.members);
    if config.level == Level::Raid10 {
        let copies = u32::from(config.copies);
        // Offset between neighbouring mirror sets: `copies` where they are disjoint, 1 where every rotation of the members is one.
        let step = match config.copy_layout {
            CopyLayout::Near => MirroredArray::near_step(devices, copies),
            CopyLayout::Far | CopyLayout::Offset if devices == copies => copies,
            CopyLayout::Far | CopyLayout::Offset => 1,
        };
        return MirroredArray { devices, copies, step, failure_rate, repair_rate, read_failure }
            .mean_time_to_data_loss();
    }
    ParityArray {
        devices,
        parities: config.redundancy().into(),
        failure_rate,
        repair_rate,
        parallel_repair: true,
        latent_rate: 0.0,
        scrub_rate: 0.0,
        read_failure,
    }
    .mean_time_to_data_loss()
}
