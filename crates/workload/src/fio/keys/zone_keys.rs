//! Keys of zones, and extents that may count zones.

use super::key_values::{extent, open_zones, share, text, zones};
use super::{EntryFault, apply_pace};
use crate::fio::job_options::JobOptions;
use crate::fio::parse::JobFileEntry;
use crate::fio::values::{self, ValueFault};

/// Applies a size or an offset, in bytes, percent or zones.
pub(super) fn extents(job: &mut JobOptions, entry: &JobFileEntry) -> Result<(), EntryFault> {
    let text = text(entry)?;
    let own = &mut job.zbd.in_zones;
    let in_zones = match entry.key.as_str() {
        "size" => &mut own.size,
        "io_size" | "io_limit" => &mut own.io_size,
        "offset" | "fileoffset" => &mut own.offset,
        _ => &mut own.offset_increment,
    };
    *in_zones = zones(text)?;
    if in_zones.is_some() {
        return Ok(());
    }
    let extent = extent(text)?;
    match entry.key.as_str() {
        "size" => job.size = Some(extent),
        "io_size" | "io_limit" => job.io_size = Some(extent),
        "offset" | "fileoffset" => job.offset = extent,
        _ => job.offset_increment = extent,
    }
    Ok(())
}

/// Applies the keys of `zonemode=zbd`.
pub(super) fn apply_zones(job: &mut JobOptions, entry: &JobFileEntry) -> Result<(), EntryFault> {
    let zbd = &mut job.zbd;
    match entry.key.as_str() {
        "zonemode" => {
            zbd.is_on = match text(entry)? {
                "zbd" => true,
                "none" => false,
                "strided" => return Err(ValueFault::from("not supported: strided zones; use zbd").into()),
                _ => return Err(ValueFault::from("expected none or zbd").into()),
            }
        }
        "zonesize" => zbd.zone_size = Some(values::size(text(entry)?)?),
        "zonecapacity" => zbd.zone_capacity = Some(values::size(text(entry)?)?),
        "max_open_zones" => zbd.max_open = open_zones(text(entry)?)?,
        "job_max_open_zones" => zbd.job_max_open = open_zones(text(entry)?)?,
        "zone_reset_threshold" => zbd.reset_threshold = share(text(entry)?)?,
        "zone_reset_frequency" => zbd.reset_frequency = share(text(entry)?)?,
        "read_beyond_wp" => zbd.read_beyond_wp = values::flag(entry.value.as_deref())?,
        "ignore_zone_limits" => zbd.ignore_limits = values::flag(entry.value.as_deref())?,
        _ => return apply_pace(job, entry),
    }
    Ok(())
}
