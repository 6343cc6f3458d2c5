//! The self-check of zones.

use crate::ssd::Ssd;
use outlast_device::ZoneState;

impl Ssd {
    /// Checks that every unit below the write pointers is there, and none above, of zones of which nothing is under way; and that what streams have
    /// written lies apart by zone.
    pub(crate) fn check_zones(&self) -> Result<(), String> {
        let Some(zones) = &self.context.zones else { return Ok(()) };
        zones.self_check()?;
        let per_unit = u64::from(self.context.size.sectors_per_unit);
        let table = zones.table();
        for zone in table.ids().filter(|&zone| !zones.is_busy(zone)) {
            let (mut kept, written) = (self.kept_of(zone), table.written(zone));
            if zones.area_end(zone).is_some() && !table.state(zone).is_active() {
                // There was no resource left for its area after a loss of power, and no write to it can come.
                let first = (zones.range(zone).first + kept) / per_unit;
                let is_there = |unit: &u64| zones.is_in_area(*unit) || self.is_mapped(*unit);
                kept +=
                    (first..zones.range(zone).end / per_unit).take_while(is_there).count() as u64 * per_unit;
            }
            let may_be_more =
                matches!(table.state(zone), ZoneState::Full | ZoneState::ReadOnly | ZoneState::Offline);
            let may_be_less = self.context.counters.medium_errors != 0
                || self.cores.iter().any(|core| core.ftl().is_read_only());
            if (kept < written && !may_be_less) || (kept > written && !may_be_more) {
                return Err(format!("zone {} has {kept} sectors of {written} that were written", zone.0));
            }
            if may_be_more {
                continue;
            }
            let range = zones.range(zone);
            for unit in (range.first + written) / per_unit..range.end / per_unit {
                let (core, lpn) = self.context.core_of(unit);
                if self.cores[core].ftl().lookup(lpn).is_some() {
                    return Err(format!("unit {unit} lies beyond the write pointer of zone {}", zone.0));
                }
            }
        }
        Ok(())
    }

    fn is_mapped(&self, unit: u64) -> bool {
        let (core, lpn) = self.context.core_of(unit);
        let ftl = self.cores[core].ftl();
        ftl.lookup(lpn).is_some() || ftl.is_lost(lpn)
    }
}
