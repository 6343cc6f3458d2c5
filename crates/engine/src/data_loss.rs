//! How likely an array is to lose data within a year: the same question for every level, so that levels can be compared.
//!
//! Members fail at `1 / run.member_mttf_hours`, each failure is made good within the time that the run took to rebuild (else that one takes
//! beside which the host does nothing), and a rebuild for which
//! no redundancy is left meets bits that cannot be read at the rate that flash had when the run ended. The chains are those of
//! [`outlast_models`]; ages of members enter by the mean of what they put at risk.

use crate::member::Member;
use crate::sequential::sequential_rate;
use crate::volume::Volume;
use outlast_device::Device;
use outlast_models::DomainError;
use outlast_models::mirrors::Mirrors;
use outlast_models::mttdl::Array;
use outlast_scenario::RunSpec;
use outlast_settings::array::{ArrayConfig, CopyLayout, Level};
use outlast_units::SECTOR_BYTES;
use serde::Serialize;

/// Hours of a year, as `outlast model mttdl` counts them.
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
    /// Whether that is what the run's rebuilds took, else what one takes that no host slows down; absent without redundancy.
    pub repair_measured: Option<bool>,
    /// The limit of a rebuild that was not measured; absent otherwise.
    pub repair_limit: Option<RebuildLimit>,
    /// Probability that a rebuild for which no redundancy is left meets a bit that cannot be read; absent without redundancy.
    pub read_failure: Option<f64>,
    /// Whether that is from the flash as the run left it, else from `run.member_uber`; absent without redundancy.
    pub read_failure_measured: Option<bool>,
}

/// The limit of a rebuild beside which the host does nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum RebuildLimit {
    /// The setting.
    #[serde(rename = "array.background.max_rate")]
    MaxRate,
    /// The rate that a member's dies, channels and link let through, of reads or of writes into erased blocks.
    #[serde(rename = "bandwidth of a member")]
    Member,
}

/// What one member puts at risk, and how long it is at risk.
pub(crate) struct Exposure {
    /// Hours of each rebuild that came to its end, on average.
    pub(crate) measured_hours: Option<f64>,
    /// ln of the uncorrectable bit error rate of each member that tells one.
    pub(crate) ln_ubers: Vec<f64>,
}

/// Absent where nothing says how long a rebuild takes, or where no chain exists: mirrors whose sets overlap with more than 8 copies.
pub(crate) fn data_loss(volume: &Volume, run: &RunSpec, exposure: &Exposure) -> Option<DataLoss> {
    let config = volume.array.config();
    let redundancy = config.redundancy();
    let failure_rate = 1.0 / run.member_mttf_hours;
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
    let bytes = (sectors * SECTOR_BYTES) as f64 * run.capacity_scale;
    let measured = exposure.measured_hours.map(|hours| hours * run.capacity_scale);
    let (hours, repair_limit) = if let Some(hours) = measured {
        (hours, None)
    } else {
        let (rate, limit) = rate_without_host(volume)?;
        (bytes / rate / 3600.0, Some(limit))
    };
    // Mean over the members of −bits · ln(1 − UBER).
    let hazard = |ln_uber: f64| -bytes * 8.0 * (-ln_uber.exp()).ln_1p();
    let own =
        exposure.ln_ubers.iter().map(|&ln| hazard(ln)).sum::<f64>() / exposure.ln_ubers.len().max(1) as f64;
    let is_told = !exposure.ln_ubers.is_empty();
    let own = if is_told { own } else { hazard(run.member_uber.ln()) };
    let read = read_at_last(config);
    let read_failure = -(-read * own).exp_m1();
    let mttdl_hours = mean_time(config, failure_rate, 1.0 / hours.max(1e-9), read_failure).ok()?;
    Some(DataLoss {
        per_year: per_year(mttdl_hours),
        mttdl_hours,
        repair_hours: Some(hours),
        repair_measured: Some(measured.is_some()),
        repair_limit,
        read_failure: Some(read_failure),
        read_failure_measured: Some(is_told),
    })
}

/// Bytes a second of a rebuild beside which the host does nothing, and what limits it; absent without limits and drives.
fn rate_without_host(volume: &Volume) -> Option<(f64, RebuildLimit)> {
    let set = volume
        .array
        .config()
        .background
        .max_rate
        .map(|max| (max.bytes_per_s() as f64, RebuildLimit::MaxRate));
    let drives = volume.array.devices().filter_map(Member::drive);
    let of_drives = drives.filter_map(|ssd| sequential_rate(ssd.config())).min_by(f64::total_cmp);
    let member = of_drives.map(|rate| (rate, RebuildLimit::Member));
    set.into_iter().chain(member).min_by(|one, other| one.0.total_cmp(&other.0))
}

fn per_year(mttdl_hours: f64) -> f64 {
    -(-YEAR_HOURS / mttdl_hours).exp_m1()
}

/// Members that the last rebuild which can still succeed reads whole: all that are left of a stripe, or one copy.
fn read_at_last(config: &ArrayConfig) -> f64 {
    match config.level {
        Level::Raid1 | Level::Raid10 => 1.0,
        _ => f64::from(config.members - config.redundancy()),
    }
}

/// Mean time to data loss of an array whose members fail and are repaired at these rates, each by itself.
pub(crate) fn mean_time(
    config: &ArrayConfig,
    failure_rate: f64,
    repair_rate: f64,
    read_failure: f64,
) -> Result<f64, DomainError> {
    let devices = u32::from(config.members);
    if config.level == Level::Raid10 {
        let copies = u32::from(config.copies);
        let step = match config.copy_layout {
            CopyLayout::Near => Mirrors::near_step(devices, copies),
            CopyLayout::Far | CopyLayout::Offset if devices == copies => copies,
            CopyLayout::Far | CopyLayout::Offset => 1,
        };
        return Mirrors { devices, copies, step, failure_rate, repair_rate, read_failure }
            .mean_time_to_data_loss();
    }
    Array {
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
