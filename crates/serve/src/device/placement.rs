//! Flexible data placement of a drive in service.

use super::ServedDevice;
use outlast_device::PlacementId;
use outlast_ssd::{PlacementEvents, PlacementStatistics, PlacementView, Ssd};
use outlast_units::{Bytes, Nanos, Stream};
use serde::Serialize;

/// Figures of flexible data placement, over the drive's life.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct PlacementReport {
    /// Simulated time of the report, in nanoseconds since the drive was put in service.
    pub(crate) now_ns: u64,
    /// Bytes written, programmed and erased.
    pub(crate) statistics: PlacementStatistics,
    /// Events by type.
    pub(crate) events: PlacementEvents,
    /// Reclaim unit handles of the enabled configuration, in order.
    pub(crate) handles: Vec<HandleState>,
}

/// A reclaim unit handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct HandleState {
    /// Bytes that the host has written through it since the drive was put in service, in whole mapping units.
    pub(crate) host_bytes: u64,
    /// Bytes of it that the drive has moved.
    pub(crate) moved_bytes: u64,
    /// Reclaim units that it has begun: superblocks of each flash core.
    pub(crate) reclaim_units: u64,
    /// Bytes that still fit into the reclaim units that it refers to.
    pub(crate) remaining_bytes: u64,
    /// Nanoseconds until it leaves its reclaim unit for the time limit of that; absent where none is begun, or there is no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) remaining_ns: Option<u64>,
}

impl ServedDevice {
    /// Figures of flexible data placement; `None` for an array, and for a drive without it. The cost is proportional to the flash.
    pub(crate) fn placement_report(&self) -> Option<PlacementReport> {
        let scenario = self.scenario();
        let is_placed = scenario.array.is_none() && scenario.device.placement.is_some();
        let view = PlacementView::of(self.service.drive(0).filter(|_| is_placed)?);
        let unit = scenario.device.ftl.mapping_unit.0;
        let times = view.unit_times(self.now).into_iter().chain(std::iter::repeat(None));
        let handles = view.figures().into_iter().zip(times).map(|(own, time)| HandleState {
            remaining_ns: time.map(|time| time.0),
            host_bytes: own.counts.host_units * unit,
            moved_bytes: own.counts.moved_units * unit,
            reclaim_units: own.counts.reclaim_units,
            remaining_bytes: own.remaining_units * unit,
        });
        Some(PlacementReport {
            now_ns: self.now.0,
            statistics: view.statistics(),
            events: view.events(),
            handles: handles.collect(),
        })
    }

    /// Bytes of a superblock of each flash core, of which reclaim units consist, as codes are now; 0 without flexible data placement.
    pub(crate) fn reclaim_unit(&self) -> Bytes {
        let scenario = self.scenario();
        let drive = self.service.drive(0).filter(|_| scenario.device.placement.is_some());
        let units: u64 = drive
            .into_iter()
            .flat_map(Ssd::ftls)
            .map(|ftl| u64::from(ftl.stream(Stream(0)).data_units()))
            .sum();
        Bytes(units * scenario.device.ftl.mapping_unit.0)
    }

    pub(super) fn update_handle(&mut self, now: Nanos, identifier: PlacementId) {
        self.service.update_handle(now, identifier);
    }
}
