//! The settings of a zoned workload.

use super::generator::{ZonedPlan, ZonedSource};
use crate::error::bad_setting;
use crate::pass::PassSeeds;
use crate::{RequestPacing, Workload, WorkloadError, WorkloadTarget, ZonedTarget};
use outlast_device::{RandomWriteAreas, share_of};
use outlast_units::{Bytes, JsonSchema, Lba, Nanos, SECTOR_BYTES};
use serde::{Deserialize, Serialize};

/// The command by which a zoned workload writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ZoneCommand {
    /// Writes at the write pointer, which the host knows.
    #[default]
    Write,
    /// Appends: the drive says where the data has gone.
    Append,
}

/// Which full zone is reset where no zone is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ZoneResetPolicy {
    /// The one that became full first.
    #[default]
    Oldest,
    /// Any, each as likely.
    Random,
}

/// A host that writes zones one after another, several at a time, and resets full ones where it needs an empty one. A closed loop.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ZonedSpec {
    /// A name for reports. Default: the command and size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The command by which it writes. Default: write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<ZoneCommand>,
    /// Size of every request; a whole number of mapping units, at most the capacity of a zone. The last write to a zone is shorter where it does not divide.
    /// Default: 4 KiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<Bytes>,
    /// Zones that are written side by side, in turns; at most `device.zones.max_active`, and with `rewrite_percent` at most `device.zones.max_open`.
    /// Default: 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zones_in_flight: Option<u32>,
    /// The first so many zones are used, at least one more than `zones_in_flight`. Default: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zones: Option<u32>,
    /// Share of a zone at which it is finished; above 0, at most 1. Default: 1, which leaves it to the last write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finish_at: Option<f64>,
    /// Which full zone is reset where no zone is empty. Default: oldest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reset: Option<ZoneResetPolicy>,
    /// Reads among the requests, in percent, of what has been written. Default: 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_percent: Option<f64>,
    /// Writes, in percent, that write again what lies in the random write area of their zone, from 0 to 99. Given, each zone is opened with such an area, and
    /// committed at its end; it needs `device.zones.random_write` and goes with writes only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rewrite_percent: Option<f64>,
    /// Requests kept in flight. Default: 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_depth: Option<u32>,
    /// Ends after so many reads and writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<u64>,
    /// Ends with the request that reaches so many bytes read and written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Bytes>,
    /// Ends after so much simulated time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<Nanos>,
}

impl ZonedSpec {
    /// Checks the spec against the zones of the device and opens it.
    ///
    /// # Errors
    /// A setting outside its limits, or a device without zones.
    pub(crate) fn open(&self, target: &WorkloadTarget, seeds: PassSeeds) -> Result<Workload, WorkloadError> {
        let refused = |name: &str, value: &dyn std::fmt::Display, limit: String| {
            Err(bad_setting(format!("workload.zoned.{name}"), value, limit))
        };
        let Some(own) = target.zones else {
            return Err(bad_setting(
                "workload.zoned",
                "given",
                "needs [device.zones]: the drive has no zones",
            ));
        };
        let capacity = Bytes(own.layout.capacity * SECTOR_BYTES);
        let size = self.size.unwrap_or(target.unit.max(Bytes::kib(4)));
        if size.0 == 0 || !size.0.is_multiple_of(target.unit.0) || size > capacity {
            let limit = format!(
                "must be a multiple of the mapping unit, {}, and at most the capacity of a zone, {capacity}",
                target.unit
            );
            return refused("size", &size, limit);
        }
        let zones = self.zones.unwrap_or(own.layout.zones);
        if zones == 0 || zones > own.layout.zones {
            return refused(
                "zones",
                &zones,
                format!("must be between 1 and the zones of the drive, {}", own.layout.zones),
            );
        }
        let side_by_side = self.zones_in_flight.unwrap_or(1);
        let own = within(own, target, zones);
        if own.active.min(own.open) == 0 {
            let limit = "must be at most those of the namespaces, which share all that may be open or active";
            return refused("zones", &zones, limit.to_owned());
        }
        let most = own.active.min(zones.saturating_sub(1).max(1));
        if side_by_side == 0 || side_by_side > most {
            let share =
                if target.namespaces.len() < 2 { "" } else { ", of which each namespace has its share" };
            let limit = format!(
                "must be between 1 and {most}: at most device.zones.max_active{share}, and fewer than the zones used"
            );
            return refused("zones_in_flight", &side_by_side, limit);
        }
        let finish_at = self.finish_at.unwrap_or(1.0);
        if !(finish_at > 0.0 && finish_at <= 1.0) {
            return refused("finish_at", &finish_at, "must be above 0 and at most 1".to_owned());
        }
        let read = self.read_percent.unwrap_or(0.0);
        if !(0.0..=100.0).contains(&read) {
            return refused("read_percent", &read, "must be between 0 and 100".to_owned());
        }
        let rewrite = self.rewrite(&own, size)?;
        let queue_depth = self.queue_depth.unwrap_or(1);
        if queue_depth == 0 {
            return refused("queue_depth", &queue_depth, "must be at least 1".to_owned());
        }
        if rewrite.is_some() {
            check_areas(&own, side_by_side)?;
        }
        let mut plan = self.plan(&own, (size, zones, side_by_side), finish_at, read / 100.0, seeds);
        plan.rewrite = rewrite;
        Ok(self.workload(plan, size, queue_depth))
    }

    /// The share of writes that write again, and the random write areas in which they do.
    fn rewrite(
        &self,
        own: &ZonedTarget,
        size: Bytes,
    ) -> Result<Option<(f64, RandomWriteAreas)>, WorkloadError> {
        let Some(percent) = self.rewrite_percent else { return Ok(None) };
        let refused = |limit: String| Err(bad_setting("workload.zoned.rewrite_percent", percent, limit));
        let Some(areas) = own.random_write else {
            return refused("needs [device.zones.random_write]: zones have no random write area".to_owned());
        };
        if self.command == Some(ZoneCommand::Append) {
            return refused(
                "needs command = \"write\": a zone with a random write area takes no appends".to_owned(),
            );
        }
        if !(0.0..=99.0).contains(&percent) {
            return refused("must be between 0 and 99".to_owned());
        }
        let area = Bytes(areas.size * SECTOR_BYTES);
        if size > area {
            let limit =
                format!("must be at most the size of a random write area, {area}, with rewrite_percent");
            return Err(bad_setting("workload.zoned.size", size, limit));
        }
        Ok(Some((percent / 100.0, areas)))
    }

    /// The plan of settings that have been checked.
    fn plan(
        &self,
        own: &ZonedTarget,
        (size, zones, side_by_side): (Bytes, u32, u32),
        finish_at: f64,
        read: f64,
        seeds: PassSeeds,
    ) -> ZonedPlan {
        let command = self.command.unwrap_or_default();
        let size_sectors = size.0 / SECTOR_BYTES;
        let block = u64::from(own.layout.block);
        let until =
            ((own.layout.capacity as f64 * finish_at / block as f64).ceil() as u64 * block).max(block);
        ZonedPlan {
            layout: own.layout,
            zones,
            side_by_side,
            append: command == ZoneCommand::Append,
            sectors: size_sectors as u32,
            until: until.min(own.layout.capacity),
            random_reset: self.reset == Some(ZoneResetPolicy::Random),
            read,
            rewrite: None,
            filled: own.filled.min(zones),
            requests: self.requests.unwrap_or(u64::MAX),
            bytes: self.bytes.map_or(u64::MAX, |bytes| bytes.0),
            seed: seeds.within("zoned").chance,
        }
    }

    fn workload(&self, plan: ZonedPlan, size: Bytes, queue_depth: u32) -> Workload {
        let verb = if plan.append { "appends" } else { "writes" };
        Workload {
            pacing: RequestPacing::Closed { queue_depth },
            requests: self.requests,
            duration: self.duration,
            endless: self.requests.is_none() && self.bytes.is_none(),
            label: self.name.clone().unwrap_or_else(|| format!("zoned {verb} of {size}")),
            footprint: Some(Lba(0)..Lba(plan.layout.sectors())),
            notes: Vec::new(),
            ramp: Nanos::ZERO,
            jobs: None,
            source: Box::new(ZonedSource::new(plan)),
        }
    }
}

/// The zones of `target`, which writes the first `zones` of them, with the least limits that hold there: several namespaces share those of the drive, and
/// zones behind them have what is left over.
fn within(own: ZonedTarget, target: &WorkloadTarget, zones: u32) -> ZonedTarget {
    let (namespaces, size) = (target.namespaces.len() as u32, own.layout.size * SECTOR_BYTES);
    if namespaces < 2 {
        return own;
    }
    let end = target.namespaces.iter().map(|namespace| (namespace.start + namespace.capacity.0) / size).max();
    let reaches_rest = end.is_some_and(|end| u64::from(zones) > end);
    let least = |limit: u32| {
        let share = share_of(limit, namespaces);
        if reaches_rest { share.min(limit - share * namespaces) } else { share }
    };
    let random_write = own.random_write.map(|areas| RandomWriteAreas { zones: least(areas.zones), ..areas });
    ZonedTarget { active: least(own.active), open: least(own.open), random_write, ..own }
}

/// Checks that `side_by_side` zones may be open at once, each with a random write area: none of those is closed for another.
fn check_areas(own: &ZonedTarget, side_by_side: u32) -> Result<(), WorkloadError> {
    let areas = own.random_write.map_or(side_by_side, |areas| areas.zones);
    for (most, setting) in [(areas, "random_write.zones"), (own.open, "max_open")] {
        if side_by_side > most {
            let limit = format!("must be at most device.zones.{setting}, {most}, with rewrite_percent");
            return Err(bad_setting("workload.zoned.zones_in_flight", side_by_side, limit));
        }
    }
    Ok(())
}
