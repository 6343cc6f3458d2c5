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
    /// Those of each handle in each reclaim group: first those of the first handle.
    #[serde(skip)]
    pub(crate) events_by_unit: Vec<PlacementEvents>,
    /// Reclaim unit handles of the enabled configuration, in order.
    pub(crate) handles: Vec<HandleState>,
    /// Reclaim groups, in order; absent where there is one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) groups: Vec<GroupState>,
}

/// What is left of the reclaim unit that a handle refers to in a reclaim group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct UnitState {
    /// Bytes that still fit into it.
    pub(crate) remaining_bytes: u64,
    /// Nanoseconds until the handle leaves it for its time limit; absent where it is not begun, or has no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) remaining_ns: Option<u64>,
}

/// A reclaim group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[allow(clippy::struct_field_names, reason = "names of figures end with their unit")]
pub(crate) struct GroupState {
    /// Bytes that the host has written and the group has taken since the drive was put in service, in whole mapping units.
    pub(crate) host_bytes: u64,
    /// Bytes that it has written, for whatever cause.
    pub(crate) media_bytes: u64,
    /// Bytes that the host has written to it and that went to another group, as it had no room.
    pub(crate) elsewhere_bytes: u64,
    /// Bytes of the host's data in it.
    pub(crate) valid_bytes: u64,
}

/// A reclaim unit handle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
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
    /// The same of the reclaim unit in each reclaim group; absent where there is one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) units: Vec<UnitState>,
}

impl PlacementReport {
    /// The reclaim unit of each handle in each reclaim group: first those of the first handle.
    pub(crate) fn units(&self) -> impl Iterator<Item = UnitState> {
        self.handles.iter().flat_map(|own| {
            let only = UnitState { remaining_bytes: own.remaining_bytes, remaining_ns: own.remaining_ns };
            let only = own.units.is_empty().then_some(only);
            only.into_iter().chain(own.units.iter().copied())
        })
    }
}

impl ServedDevice {
    /// Figures of flexible data placement; `None` for an array, and for a drive without it. The cost is proportional to the flash.
    pub(crate) fn placement_report(&self) -> Option<PlacementReport> {
        let scenario = self.scenario();
        let is_placed = scenario.array.is_none() && scenario.device.placement.is_some();
        let view = PlacementView::of(self.service.drive(0).filter(|_| is_placed)?);
        let unit = scenario.device.ftl.mapping_unit.0;
        let groups = 0..view.group_count();
        let times: Vec<_> = groups.clone().map(|group| view.unit_times(self.now, group)).collect();
        let remaining: Vec<_> = groups.map(|group| view.remaining_units(group)).collect();
        let unit_of = |handle: usize, (remaining, times): (&Vec<u64>, &Vec<Option<Nanos>>)| UnitState {
            remaining_bytes: remaining.get(handle).copied().unwrap_or(0) * unit,
            remaining_ns: times.get(handle).copied().flatten().map(|time| time.0),
        };
        let handles = view.figures().into_iter().enumerate().map(|(handle, own)| {
            let units: Vec<_> = remaining.iter().zip(&times).map(|group| unit_of(handle, group)).collect();
            HandleState {
                remaining_ns: units.iter().filter_map(|unit| unit.remaining_ns).min(),
                host_bytes: own.counts.host_units * unit,
                moved_bytes: own.counts.moved_units * unit,
                reclaim_units: own.counts.reclaim_units,
                remaining_bytes: own.remaining_units * unit,
                units: if units.len() > 1 { units } else { Vec::new() },
            }
        });
        let groups = view.groups().into_iter().map(|own| GroupState {
            host_bytes: own.host_units * unit,
            media_bytes: own.written_units * unit,
            elsewhere_bytes: own.elsewhere_units * unit,
            valid_bytes: own.held_units * unit,
        });
        Some(PlacementReport {
            now_ns: self.now.0,
            statistics: view.statistics(),
            events: view.events(),
            events_by_unit: view.events_by_unit(),
            handles: handles.collect(),
            groups: groups.collect(),
        })
    }

    /// Bytes of a superblock of each flash core, of which the reclaim units of all reclaim groups consist, as codes are now; 0 without flexible data placement.
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
