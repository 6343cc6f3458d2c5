//! Random write areas of zones on the flash cores: what enters them, what is read from them, commits, and what a loss of power leaves.

use crate::ssd::Ssd;
use outlast_controller::{AreaCommit, HostRequestId, UnitWork};
use outlast_device::{ZoneId, ZoneState};
use outlast_media::UnitBytes;
use outlast_units::{CoreId, Nanos, SECTOR_BYTES};

/// Units of a commit that wait for room in the buffers, for each die.
const COMMIT_DEPTH_PER_DIE: u32 = 16;

impl Ssd {
    /// The unit of `work`, a write, enters the random write area of its zone. False if it is not of a write to one.
    #[cold]
    #[inline(never)]
    pub(crate) fn enters_area(&mut self, now: Nanos, core: CoreId, work: UnitWork) -> bool {
        if !self.context.zones.as_ref().is_some_and(|zones| zones.is_area_write(work.request)) {
            return false;
        }
        let unit = self.context.unit_at(core, work.lpn);
        let content = if self.context.config.bytes { self.merged(core, work) } else { None };
        let bytes = u64::from(work.sectors) * SECTOR_BYTES;
        self.context.counters.host_bytes_written += bytes;
        let commit = self
            .context
            .zones
            .as_mut()
            .and_then(|zones| zones.enter_area(work.request, unit, bytes, content));
        if let Some(commit) = commit {
            self.begin_commit(work.request, commit);
        }
        self.context.finish_parts(now, work.request, 1);
        true
    }

    /// Reads the unit of `work` from a random write area. False if it is in none.
    #[cold]
    #[inline(never)]
    pub(crate) fn reads_area(&mut self, now: Nanos, core: CoreId, work: UnitWork) -> bool {
        let unit = self.context.unit_at(core, work.lpn);
        let Some(zones) = self.context.zones.as_ref().filter(|zones| zones.is_in_area(unit)) else {
            return false;
        };
        if let Some(content) = zones.area_content(unit).cloned() {
            let start = self.context.first_sector(core, work.lpn);
            let command = *self.context.commands.requests.command(work.request);
            self.context.commands.bytes.copy_out(&command, start, work, &content);
        }
        self.context.counters.buffer_hits += 1;
        self.context.data_moved(now, work.request, u64::from(work.sectors));
        self.context.finish_parts(now, work.request, 1);
        true
    }

    /// Carries out the commit `request`.
    pub(super) fn commit_zone(&mut self, request: HostRequestId) {
        if let Some(commit) = self.context.zones.as_mut().and_then(|zones| zones.take_commit(request)) {
            self.begin_commit(request, commit);
        }
    }

    fn begin_commit(&mut self, request: HostRequestId, commit: AreaCommit) {
        let depth = COMMIT_DEPTH_PER_DIE.saturating_mul(self.context.places.len() as u32);
        if let Some(zones) = &mut self.context.zones {
            zones.begin_fill(request, commit.zone, commit.units, depth, true);
            // The commit itself is a part, so that the request does not end between two units.
            self.context.commands.requests.add_part(request);
        }
        self.context.look_at_zones();
    }

    /// After a loss of power: of a zone that has a random write area what is on its way from there to flash, behind the write pointer, is in the area again;
    /// gaps in a full one that has no area any more hold zeroes. `reached` says how far the host had written each zone.
    pub(super) fn find_areas(&mut self, reached: &[u64]) {
        let per_unit = u64::from(self.context.size.sectors_per_unit);
        for (at, &reached) in reached.iter().enumerate().filter(|&(_, &reached)| reached != 0) {
            let zone = ZoneId(at as u32);
            let Some(zones) = &self.context.zones else { return };
            let (first, table) = (zones.range(zone).first, zones.table());
            let (has_area, written) = (table.has_area(zone), table.written(zone));
            let is_full = table.state(zone) == ZoneState::Full && zones.area_end(zone).is_some();
            let from = if has_area { written } else { 0 };
            for unit in (first + from) / per_unit..(first + reached) / per_unit {
                let is_held = self.context.zones.as_ref().is_some_and(|zones| zones.is_in_area(unit));
                if is_held {
                    continue;
                }
                let (core, lpn) = self.context.core_of(unit);
                let ftl = self.cores[core].ftl();
                let slot = ftl.lookup(lpn);
                let content = match slot.is_some() {
                    true if has_area => ftl.load(slot).cloned(),
                    false if is_full && !ftl.is_lost(lpn) => {
                        self.context.config.bytes.then(|| UnitBytes::zero(lpn.0))
                    }
                    _ => continue,
                };
                if let Some(zones) = &mut self.context.zones {
                    zones.hold_in_area(zone, unit, content);
                }
            }
        }
    }
}
