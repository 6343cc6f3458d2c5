//! Zones on the flash cores: commands take their turn, finishes write the rest of a zone, resets erase its superblocks, and what a loss of power leaves.

use crate::host::CommandSplit;
use crate::ssd::Ssd;
use outlast_controller::{
    HostRequestId, UnitWork, WaitingWrite, ZoneFill, ZoneReset, Zones, random_write_areas, zone_layout,
};
use outlast_device::{ZoneAction, ZoneId, ZoneState, ZoneTable};
use outlast_ftl::Ftl;
use outlast_media::ConfigError;
use outlast_settings::drive::SsdConfig;
use outlast_settings::namespace::NamespaceConfig;
use outlast_units::{Bytes, Lpn, Nanos, SECTOR_BYTES, Stream};

/// Units of a finish that wait for room in the buffers, for each die: they are never empty then, and no write of the host waits long behind them.
const FILL_DEPTH_PER_DIE: u32 = 16;

/// A command of zones that is being split.
#[derive(Clone, Debug, Default)]
pub(crate) struct ZoneSplit(Option<CommandSplit>);

/// Has `config` say the capacity and the streams that its zones need, of a drive whose flash cores are like `core`. Returns the zones.
///
/// # Errors
/// Zones that are smaller than their superblocks.
pub(crate) fn zones_of(config: &mut SsdConfig, core: &Ftl) -> Result<Option<Zones>, ConfigError> {
    let Some(zones) = &config.zones else { return Ok(None) };
    let unit = config.ftl.mapping_unit;
    let units = u64::from(core.stream(Stream(0)).data_units()) * u64::from(config.controller.flash_cores);
    let (layout, limits) = zone_layout(zones, Bytes(units * unit.0), unit)?;
    config.ftl.capacity = Some(Bytes(u64::from(zones.count) * layout.capacity * SECTOR_BYTES));
    config.ftl.over_provisioning = None;
    let table = ZoneTable::new(layout, limits);
    let table = match random_write_areas(zones, &layout)? {
        Some(areas) => table.with_random_write(areas),
        None => table,
    };
    Ok(Some(Zones::new(zones, table)))
}

impl Ssd {
    /// The zones; `None` where the drive has none.
    pub fn zones_view(&self) -> Option<&Zones> {
        self.context.zones.as_deref()
    }

    /// The drive, which has just been built, has these namespaces: their zones share what limits zones. Nothing follows without zones.
    pub fn share_zones(&mut self, namespaces: &[NamespaceConfig]) {
        if let Some(zones) = &mut self.context.zones {
            let size = zones.table().layout().size * SECTOR_BYTES;
            let own: Vec<u32> = namespaces.iter().map(|own| (own.capacity.0 / size) as u32).collect();
            zones.share_among(&own);
        }
    }

    /// Does the next thing that commands to zones wait for, as nothing else is due. False if there is none.
    #[inline(never)]
    pub(crate) fn go_on_in_zones(&mut self, now: Nanos) -> bool {
        if let Some(mut split) = self.zone_split.0.take() {
            let request = split.request;
            if split.rest == 0 {
                self.end_split(now, &split);
                self.context.finish_parts(now, request, 1);
            } else {
                self.hand_over_next(now, &mut split);
                self.zone_split.0 = Some(split);
            }
            return true;
        }
        let Some(zones) = &mut self.context.zones else { return false };
        if let Some(stream) = zones.take_closing() {
            for core in self.cores.indices() {
                self.cores[core].close_stream(now, &mut self.context, Stream(stream as u8));
            }
            if let Some(zones) = &mut self.context.zones {
                zones.closed(stream, &mut self.context.commands.requests);
            }
            return true;
        }
        if let Some(request) = zones.take_ready() {
            match self.begin_split(now, request) {
                None => self.context.finish_parts(now, request, 1),
                split => self.zone_split.0 = split,
            }
            return true;
        }
        let Some((fill, unit)) = zones.next_of_fill() else { return false };
        self.fill_next(now, fill, unit);
        true
    }

    /// Carries out the action of `request`, whose turn has come.
    pub(crate) fn act_on_zone(&mut self, now: Nanos, request: HostRequestId) {
        let command = *self.context.commands.requests.command(request);
        let Some(zones) = &self.context.zones else { return };
        let zone = zones.zone_of(command.lba.0);
        let stream = zones.stream(zone).map(|stream| Stream(stream as u8));
        match command.zone_action {
            ZoneAction::Finish => self.finish_zone(now, request, zone, stream),
            ZoneAction::Reset => self.reset_zone(now, request, zone, stream),
            ZoneAction::Commit => self.commit_zone(request),
            ZoneAction::Open | ZoneAction::OpenRandom | ZoneAction::Close | ZoneAction::Offline => return,
        }
        if !self.context.zones.as_ref().is_some_and(|zones| zones.is_fill(request)) {
            self.context.end_zone_action(zone);
        }
    }

    /// Sectors of `zone`, from its start on, that are there: up to the first unit that is not.
    pub(crate) fn kept_of(&self, zone: ZoneId) -> u64 {
        let Some(zones) = &self.context.zones else { return 0 };
        let (range, per_unit) = (zones.range(zone), u64::from(self.context.size.sectors_per_unit));
        let (first, end) = (range.first / per_unit, range.end / per_unit);
        let is_there = |&unit: &u64| {
            let (core, lpn) = self.context.core_of(unit);
            let ftl = self.cores[core].ftl();
            ftl.lookup(lpn).is_some() || ftl.is_lost(lpn)
        };
        (first..end).take_while(is_there).count() as u64 * per_unit
    }

    fn finish_zone(&mut self, _now: Nanos, request: HostRequestId, zone: ZoneId, stream: Option<Stream>) {
        let kept = self.kept_of(zone);
        let (per_unit, dies) = (u64::from(self.context.size.sectors_per_unit), self.context.places.len());
        let Some(zones) = &mut self.context.zones else { return };
        let range = zones.range(zone);
        let (next, end) = ((range.first + kept) / per_unit, range.end / per_unit);
        let in_area = zones.area_end(zone);
        let is_partial = (kept != 0 || in_area.is_some()) && next != end;
        zones.set_time(request, ZoneAction::Finish, is_partial);
        // What is in a random write area is written in any case.
        let end = if zones.writes_rest() { Some(end) } else { in_area };
        if let Some(end) = end.filter(|_| is_partial && stream.is_some()) {
            let depth = FILL_DEPTH_PER_DIE.saturating_mul(dies as u32);
            zones.begin_fill(request, zone, (next, end), depth, false);
            // The fill itself is a part, so that the request does not end between two units.
            self.context.commands.requests.add_part(request);
        }
    }

    /// The next unit of a fill goes to the buffer of its core, in turn with what the host writes.
    fn fill_next(&mut self, now: Nanos, fill: ZoneFill, unit: u64) {
        let (core, lpn) = self.context.core_of(unit);
        let Some(stream) = self.context.zones.as_ref().and_then(|zones| zones.stream(fill.zone)) else {
            return;
        };
        self.context.commands.requests.add_part(fill.request);
        let work = UnitWork::new(fill.request, lpn, 0, self.context.size.sectors_per_unit as u16);
        self.queue_write(now, core, WaitingWrite { work, stream: Stream(stream as u8) });
    }

    fn reset_zone(&mut self, now: Nanos, request: HostRequestId, zone: ZoneId, stream: Option<Stream>) {
        let time = self.context.config.zones.as_ref().and_then(|zones| zones.erase_time);
        let share = u64::from(self.context.size.sectors_per_unit) * self.cores.len() as u64;
        let Some(zones) = &mut self.context.zones else { return };
        let range = zones.range(zone);
        debug_assert!(range.first.is_multiple_of(share), "every core has as much of zone {}", zone.0);
        // The units that each flash core has, by their numbers there.
        let (first, end) = (Lpn((range.first / share) as u32), Lpn((range.end / share) as u32));
        let (state, sectors) = zones.take_before_reset(zone);
        zones.drop_area(zone);
        zones.set_time(request, ZoneAction::Reset, state.is_active() && sectors != 0);
        let written = first + sectors.div_ceil(share) as u32;
        let mut superblocks = 0;
        for core in self.cores.indices() {
            let reset = ZoneReset { request, units: (first, written, end), stream, time };
            superblocks += self.cores[core].reset_zone(now, &mut self.context, reset);
        }
        if let Some(zones) = &mut self.context.zones {
            zones.count_reset(superblocks);
        }
    }

    /// Power fails: what commands to zones were doing is forgotten.
    pub(crate) fn forget_zone_commands(&mut self) {
        self.zone_split = ZoneSplit::default();
        if let Some(zones) = &mut self.context.zones {
            zones.power_failed();
        }
    }

    /// The zones as they are on flash: after a loss of power, or once a drive has been filled without time.
    pub(crate) fn find_zones(&mut self, now: Nanos) {
        if self.context.zones.is_none() {
            return;
        }
        let ids: Vec<ZoneId> = self.context.zones.iter().flat_map(|zones| zones.table().ids()).collect();
        let kept: Vec<u64> = ids.iter().map(|&zone| self.kept_of(zone)).collect();
        let is_whole = |zone: &ZoneId| {
            self.context.zones.as_ref().is_some_and(|zones| {
                let table = zones.table();
                let is_there = kept[zone.0 as usize] >= table.written(*zone);
                table.state(*zone) == ZoneState::Full && is_there && !zones.was_cut_short(*zone)
            })
        };
        let whole: Vec<bool> = ids.iter().map(is_whole).collect();
        let reached: Vec<u64> = self.context.zones.iter().flat_map(|zones| zones.ends_in_areas()).collect();
        if let Some(zones) = &mut self.context.zones {
            zones.power_cycle(|zone| kept[zone.0 as usize]);
        }
        if reached.iter().any(|&end| end != 0) {
            self.find_areas(&reached);
        }
        // What lies beyond a write pointer is not to be read, nor to be there when the zone is written on.
        for zone in ids {
            let Some(zones) = &self.context.zones else { return };
            let (range, table) = (zones.range(zone), zones.table());
            if table.state(zone) == ZoneState::Full && whole[zone.0 as usize] {
                continue;
            }
            let per_unit = u64::from(self.context.size.sectors_per_unit);
            let from = (range.first + table.written(zone)) / per_unit;
            for unit in from..range.end / per_unit {
                let (core, lpn) = self.context.core_of(unit);
                if self.cores[core].ftl().lookup(lpn).is_some() {
                    self.cores[core].drop_units(lpn, lpn + 1);
                }
            }
        }
        while let Some(stream) = self.context.zones.as_mut().and_then(|zones| zones.take_closing()) {
            for core in self.cores.indices() {
                self.cores[core].close_stream(now, &mut self.context, Stream(stream as u8));
            }
            if let Some(zones) = &mut self.context.zones {
                zones.closed(stream, &mut self.context.commands.requests);
            }
        }
        if let Some(zones) = &mut self.context.zones {
            zones.give_streams();
        }
    }
}
