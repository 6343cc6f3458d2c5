//! Zones of a drive in service.

use super::ServedDevice;
use crate::protocol::{ZoneList, ZoneListQuery};
use outlast_device::{Device, ZoneDescriptor, ZoneId, ZoneState, ZoneTable};
use outlast_units::{Lba, to_count};
use serde::Serialize;
use std::collections::BTreeMap;

/// Zones of a drive at one time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ZonesState {
    /// Number of zones in each state that some zone has.
    pub by_state: BTreeMap<&'static str, u32>,
    /// Zones that are active.
    pub active: u32,
    /// Most that may be.
    pub max_active: u32,
    /// Zones that are open.
    pub open: u32,
    /// Most that may be.
    pub max_open: u32,
}

impl ZonesState {
    pub(super) fn of(table: &ZoneTable) -> Self {
        let by_state = ZoneState::ALL.into_iter().zip(table.by_state()).filter(|&(_, count)| count > 0);
        Self {
            by_state: by_state.map(|(state, count)| (state.name(), count)).collect(),
            active: table.active(),
            max_active: table.limits().active,
            open: to_count(table.open()),
            max_open: table.limits().open,
        }
    }
}

impl ServedDevice {
    /// The zones, with their states; `None` where the device has none.
    pub fn zone_list(&self) -> Option<&ZoneTable> {
        self.service.zones()
    }

    /// Zones that begin among `sectors` sectors from `lba` on. The cost is proportional to their number.
    pub(crate) fn list_zones(&self, lba: Lba, sectors: u64, query: ZoneListQuery) -> ZoneList {
        let Some(table) = self.zone_list() else { return ZoneList::default() };
        let layout = table.layout();
        let (first, end) = (lba.0.div_ceil(layout.size), lba.0.saturating_add(sectors).div_ceil(layout.size));
        let ids = (first..end.min(layout.zones.into())).map(|zone| ZoneId(to_count(zone as usize)));
        let asked = ids.filter(|&zone| query.states[table.state(zone) as usize]);
        let mut list = ZoneList::default();
        for zone in asked {
            if list.count < query.most.into() {
                list.zones.push(table.descriptor(zone));
            }
            list.count += 1;
        }
        list
    }
}

/// The byte at which the next write to a zone goes, if its write pointer is valid.
pub(crate) fn write_offset(zone: &ZoneDescriptor) -> Option<u64> {
    zone.write_pointer.map(|lba| lba.0 * outlast_units::SECTOR_BYTES)
}
