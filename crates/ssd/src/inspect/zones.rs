//! The host's addresses of a drive with zones, where the drive speaks of its own, which have no gaps.

use crate::ssd::Ssd;
use outlast_controller::Zones;
use outlast_device::{Extent, ExtentState, Extents, Held, LbaRun, Peek, SectorRun, Tag, ZoneTable};
use outlast_units::{Lba, SECTOR_BYTES};

/// A range of the host's sectors within one zone.
struct Stretch {
    /// The first of the drive's own sectors, and how many of them there are.
    own: Lba,
    sectors: u64,
    /// Sectors behind them, beyond the capacity of the zone.
    gap: u64,
}

impl Ssd {
    /// The host's range from `lba` on, zone by zone.
    fn stretches(table: &ZoneTable, lba: Lba, sectors: u64) -> Vec<Stretch> {
        let layout = table.layout();
        let end = lba.0.saturating_add(sectors).min(layout.sectors());
        let mut stretches = Vec::new();
        let mut at = lba.0;
        while at < end {
            let (zone, within) = layout.place(Lba(at));
            let next = (layout.start(zone).0 + layout.size).min(end);
            let own = within.min(layout.capacity);
            let sectors = (next - at).min(layout.capacity - own);
            let first = u64::from(zone.0) * layout.capacity + own;
            stretches.push(Stretch { own: Lba(first), sectors, gap: next - at - sectors });
            at = next;
        }
        stretches
    }

    /// As `extents_of`, by the host's addresses.
    pub(crate) fn extents_in_zones(&self, lba: Lba, sectors: u64) -> Vec<Extent> {
        let Some(table) = self.zones_view().map(Zones::table) else { return Vec::new() };
        let empty = ExtentState { allocated: false, lost: false, misplaced: false, volatile: false };
        let (mut extents, mut at) = (Extents::default(), lba.0);
        for Stretch { own, sectors, gap } in Self::stretches(table, lba, sectors) {
            for extent in self.extents_of(own, sectors) {
                extents.push(Lba(at), extent.sectors, extent.state);
                at += extent.sectors;
            }
            if gap != 0 {
                extents.push(Lba(at), gap, empty);
                at += gap;
            }
        }
        extents.into_vec()
    }

    /// As `peek_at`, by the host's addresses.
    pub(crate) fn peek_in_zones(&self, lba: Lba, sectors: u64, to: &mut Vec<Peek>) {
        let Some(table) = self.zones_view().map(Zones::table) else { return };
        let (mut at, first) = (lba.0, to.len());
        for Stretch { own, sectors, gap } in Self::stretches(table, lba, sectors) {
            self.peek_at(own, sectors, to);
            if gap != 0 {
                to.push(Peek { lba: Lba(0), sectors: gap, held: Held::Zeroes });
            }
        }
        for peek in &mut to[first..] {
            peek.lba = Lba(at);
            at += peek.sectors;
        }
    }

    /// The data of read `tag`, with zeroes for what it asked for beyond the capacity of its zone.
    pub(crate) fn with_rest_of_zone(&mut self, tag: Tag, data: Option<Vec<u8>>) -> Option<Vec<u8>> {
        let keeps_bytes = self.config().bytes;
        let long = self.context.zones.as_mut().and_then(|zones| zones.take_long_read(tag));
        let Some(sectors) = long.filter(|_| keeps_bytes) else { return data };
        let mut data = data.unwrap_or_default();
        data.resize((u64::from(sectors) * SECTOR_BYTES) as usize, 0);
        Some(data)
    }

    /// Runs of the drive's own sectors, by the host's addresses.
    pub(crate) fn failed_in_zones(&self, runs: Vec<SectorRun>) -> Vec<SectorRun> {
        let Some(zones) = self.zones_view() else { return runs };
        runs.into_iter().map(|run| SectorRun { lba: zones.to_host(run.lba.0), ..run }).collect()
    }

    /// The same of runs that are to be written again.
    pub(crate) fn runs_in_zones(&self, runs: Vec<LbaRun>) -> Vec<LbaRun> {
        let Some(zones) = self.zones_view() else { return runs };
        runs.into_iter().map(|run| LbaRun { lba: zones.to_host(run.lba.0), ..run }).collect()
    }
}
