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
    /// Map of the zones.
    pub map: ZoneMap,
}

/// Map of the zones of a drive, in the order of their addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ZoneMap {
    /// Zones in each cell; the last one may hold fewer.
    pub per_cell: usize,
    /// State of each cell: of several zones, that of the one which asks for most attention.
    pub states: Vec<&'static str>,
    /// Share of each cell below write pointers, in percent of its capacity, rounded down.
    pub written: Vec<u8>,
}

impl ZoneMap {
    /// A map of at most `most_cells` cells; at a cost proportional to the zones.
    fn of(table: &ZoneTable, most_cells: usize) -> Self {
        let ids: Vec<ZoneId> = table.ids().collect();
        let per_cell = ids.len().div_ceil(most_cells).max(1);
        let mut map = Self { per_cell, ..Self::default() };
        for cell in ids.chunks(per_cell) {
            let worst = cell.iter().map(|&zone| table.state(zone)).max_by_key(|&state| attention(state));
            map.states.push(worst.unwrap_or(ZoneState::Empty).name());
            let written: u64 = cell.iter().map(|&zone| table.written(zone)).sum();
            let capacity = table.layout().capacity * cell.len() as u64;
            map.written.push((100 * written).checked_div(capacity).map_or(0, |share| share.min(100) as u8));
        }
        map
    }
}

/// Order in which states of zones show on a map: what is wrong first, then what takes resources.
fn attention(state: ZoneState) -> u8 {
    match state {
        ZoneState::Empty => 0,
        ZoneState::Full => 1,
        ZoneState::Closed => 2,
        ZoneState::ImplicitlyOpen => 3,
        ZoneState::ExplicitlyOpen => 4,
        ZoneState::ReadOnly => 5,
        ZoneState::Offline => 6,
    }
}

impl ZonesState {
    /// The zones of `table`, with a map of at most `most_cells` cells.
    pub(super) fn of(table: &ZoneTable, most_cells: usize) -> Self {
        let by_state = ZoneState::ALL.into_iter().zip(table.by_state()).filter(|&(_, count)| count > 0);
        Self {
            by_state: by_state.map(|(state, count)| (state.name(), count)).collect(),
            active: table.active(),
            max_active: table.limits().active,
            open: to_count(table.open()),
            max_open: table.limits().open,
            map: ZoneMap::of(table, most_cells),
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

#[cfg(test)]
mod tests {
    use super::ZoneMap;
    use outlast_device::{Op, ZoneId, ZoneLayout, ZoneLimits, ZoneState, ZoneTable};
    use outlast_units::Lba;

    #[test]
    fn a_cell_shows_the_zone_that_asks_for_most_attention() {
        let layout = ZoneLayout { zones: 5, size: 16, capacity: 10, block: 1 };
        let mut table = ZoneTable::new(layout, ZoneLimits { open: 2, active: 3 });
        table.write(Op::Write, Lba(16), 4).unwrap();
        table.write(Op::Write, Lba(32), 10).unwrap();
        table.give_up(ZoneId(4), ZoneState::ReadOnly);
        let map = ZoneMap::of(&table, 8);
        assert_eq!(map.states, ["empty", "implicitly-open", "full", "empty", "read-only"]);
        assert_eq!((map.per_cell, &map.written[..]), (1, &[0, 40, 100, 0, 0][..]));
        let coarse = ZoneMap::of(&table, 2);
        assert_eq!(coarse.states, ["implicitly-open", "read-only"]);
        assert_eq!((coarse.per_cell, &coarse.written[..]), (3, &[46, 0][..]));
    }
}
