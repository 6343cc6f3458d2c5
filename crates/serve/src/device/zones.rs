//! Zones of a drive in service.

use super::ServedDevice;
use crate::protocol::{ZoneList, ZoneListQuery};
use outlast_device::{Device, ZoneDescriptor, ZoneId, ZoneTable};
use outlast_units::{Lba, to_count};

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
