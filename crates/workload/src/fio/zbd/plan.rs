//! Checks of jobs with `zonemode=zbd`, as fio's `zbd_setup_files` makes them.

use super::{HostZones, ZbdOptions};
use crate::fio::job_options::{AccessKind, AccessPlan, JobOptions};
use crate::{SizeOrPercent, WorkloadTarget};
use outlast_device::share_of;
use outlast_units::{Bytes, SECTOR_BYTES};

/// Most open zones, as in fio.
const MOST_OPEN: u32 = 4096;

/// Key, value and expected form of an option that cannot be simulated.
type RefusedZoneOption = (&'static str, String, String);

/// The checked options of a job with `zonemode=zbd`.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::fio) struct ZbdPlan {
    /// The first zone of the region and the one after the last.
    pub(in crate::fio) first_zone: u32,
    pub(in crate::fio) end_zone: u32,
    /// Zero: no limit.
    pub(in crate::fio) job_max_open: u32,
    pub(in crate::fio) reset_threshold: f64,
    pub(in crate::fio) reset_frequency: f64,
    pub(in crate::fio) read_beyond_wp: bool,
}

/// Size and capacity of a zone in bytes, and number of zones, for a job: those of the device, or fio's own.
fn layout(options: &ZbdOptions, target: &WorkloadTarget) -> Result<(u64, u64, u32), RefusedZoneOption> {
    if let Some(zones) = &target.zones {
        let own = zones.layout;
        let size = own.size * SECTOR_BYTES;
        return match options.zone_size {
            Some(asked) if asked != 0 && asked != size => {
                Err(("zonesize", asked.to_string(), format!("must be that of the device, {}", Bytes(size))))
            }
            _ => Ok((size, own.capacity * SECTOR_BYTES, own.zones)),
        };
    }
    let size = options.zone_size.unwrap_or(0);
    if size < SECTOR_BYTES || !size.is_multiple_of(SECTOR_BYTES) || size > target.capacity.0 {
        let limit = format!(
            "must be given for a drive without zones: sectors of 512 bytes, at most the {} of the drive",
            target.capacity
        );
        return Err(("zonesize", size.to_string(), limit));
    }
    let capacity = options.zone_capacity.filter(|&own| own != 0).unwrap_or(size);
    if capacity > size {
        return Err((
            "zonecapacity",
            capacity.to_string(),
            format!("must be at most zonesize, {}", Bytes(size)),
        ));
    }
    match u32::try_from(target.capacity.0.div_ceil(size)) {
        Ok(count) if count <= 1 << 24 => Ok((size, capacity, count)),
        _ => Err(("zonesize", size.to_string(), "must leave at most 16777216 zones".into())),
    }
}

/// The options of a job, with the extents that it counts in zones as bytes.
pub(in crate::fio) fn in_bytes(
    options: &JobOptions,
    target: &WorkloadTarget,
) -> Result<JobOptions, RefusedZoneOption> {
    let Some((key, value)) = options.zbd.in_zones.key() else { return Ok(options.clone()) };
    if !options.zbd.is_on {
        return Err((key, format!("{value}z"), "needs zonemode=zbd to count zones".into()));
    }
    let (size, ..) = layout(&options.zbd, target)?;
    let mut own = options.clone();
    let bytes = |zones: u64| SizeOrPercent::Size(Bytes(zones.saturating_mul(size)));
    let zones = options.zbd.in_zones;
    // As in fio, no zones is no value.
    let given = |value: Option<u64>| value.filter(|&zones| zones != 0).map(bytes);
    own.size = given(zones.size).or(own.size);
    own.io_size = given(zones.io_size).or(own.io_size);
    own.offset = given(zones.offset).unwrap_or(own.offset);
    own.offset_increment = given(zones.offset_increment).unwrap_or(own.offset_increment);
    Ok(own)
}

impl ZbdPlan {
    /// The plan of a job, whose region is cut to whole zones if it does more than read; `None` without `zonemode=zbd`.
    pub(in crate::fio) fn of(
        options: &JobOptions,
        target: &WorkloadTarget,
        access: &mut AccessPlan,
    ) -> Result<Option<Self>, RefusedZoneOption> {
        let own = &options.zbd;
        if !own.is_on {
            if target.zones.is_some() {
                let limit = "must be zbd on a drive with zones: it is written at write pointers only";
                return Err(("zonemode", "none".into(), limit.into()));
            }
            if let Some(size) = own.zone_size.filter(|&size| size != 0) {
                let limit = "needs zonemode=zbd: strided zones are not simulated";
                return Err(("zonesize", size.to_string(), limit.into()));
            }
            return Ok(None);
        }
        let (size, capacity, _) = layout(own, target)?;
        if options.rw != AccessKind::Read {
            let whole = |access: &AccessPlan| {
                let start = access.start.next_multiple_of(size);
                let end = (access.start + access.length) / size * size;
                (end > start).then_some((start, end - start))
            };
            let Some((start, length)) = whole(access) else {
                let limit = format!("must hold at least one whole zone, {}", Bytes(size));
                return Err(("size", format!("{} bytes", access.length), limit));
            };
            (access.start, access.length) = (start, length);
        }
        let blocks = |kind: &[AccessKind]| kind.contains(&options.rw);
        let most = access.sizes[1].most;
        if blocks(&[AccessKind::Write, AccessKind::Mixed]) && most > capacity {
            return Err((
                "bs",
                most.to_string(),
                format!("must be at most the capacity of a zone, {}", Bytes(capacity)),
            ));
        }
        if options.rw == AccessKind::Trim {
            let sizes = &access.sizes[2];
            if sizes.least != size || sizes.most != size {
                return Err((
                    "bs",
                    sizes.most.to_string(),
                    format!("must be a whole zone for trims, {}", Bytes(size)),
                ));
            }
            if target.zones.is_none() {
                let limit = "must be a drive with zones for trims, which reset them";
                return Err(("zonemode", "zbd".into(), limit.into()));
            }
        }
        #[allow(clippy::cast_possible_truncation, reason = "a device has at most 2^24 zones")]
        let zone_at = |offset: u64| (offset / size) as u32;
        let (first_zone, end_zone) = (zone_at(access.start), zone_at(access.start + access.length));
        if first_zone == end_zone {
            let limit = format!("must hold at least one whole zone, {}", Bytes(size));
            return Err(("size", format!("{} bytes", access.length), limit));
        }
        Ok(Some(Self {
            first_zone,
            end_zone,
            job_max_open: own.job_max_open,
            reset_threshold: own.reset_threshold,
            reset_frequency: own.reset_frequency,
            read_beyond_wp: own.read_beyond_wp,
        }))
    }
}

/// The zones that the jobs of these sections share; `None` if none has `zonemode=zbd`. A refused option comes with the number of its section.
pub(in crate::fio) fn shared(
    sections: &[JobOptions],
    target: &WorkloadTarget,
    jobs: usize,
) -> Result<Option<HostZones>, (usize, RefusedZoneOption)> {
    let Some(first) = sections.iter().position(|section| section.zbd.is_on) else { return Ok(None) };
    let own = layout(&sections[first].zbd, target).map_err(|refusal| (first, refusal))?;
    let max_open = sections[first].zbd.max_open;
    // All zones that are open may be of one namespace, which has its share.
    let open = target.zones.map_or(0, |zones| share_of(zones.open, target.namespaces.len() as u32));
    let device = if sections[first].zbd.ignore_limits { 0 } else { open };
    if device != 0 && max_open > device || max_open > MOST_OPEN {
        let most = if device == 0 { MOST_OPEN } else { device };
        return Err((first, ("max_open_zones", max_open.to_string(), format!("must be at most {most}"))));
    }
    let limit = if max_open == 0 { device } else { max_open };
    for (at, section) in sections.iter().enumerate().filter(|(_, section)| section.zbd.is_on) {
        let zbd = &section.zbd;
        if layout(zbd, target).map_err(|refusal| (at, refusal))? != own {
            let limit = "must be the same in all jobs: they share the zones of one device";
            return Err((at, ("zonesize", zbd.zone_size.unwrap_or(0).to_string(), limit.into())));
        }
        if zbd.max_open != 0 && zbd.max_open != limit {
            let limit = format!("must be the same in all jobs, as in fio: {limit}");
            return Err((at, ("max_open_zones", zbd.max_open.to_string(), limit)));
        }
        if zbd.job_max_open != 0 && limit == 0 {
            let limit = "needs max_open_zones, or a device with such a limit";
            return Err((at, ("job_max_open_zones", zbd.job_max_open.to_string(), limit.into())));
        }
    }
    let filled = target.zones.map_or(0, |zones| zones.filled);
    Ok(Some(HostZones::new(own, filled, limit, target.zones.is_some(), jobs)))
}
