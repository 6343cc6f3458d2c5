//! Losses of power, and checks.

use super::Zones;
use super::random_write::RandomArea;
use super::way::ZoneWay;
use outlast_device::ZoneId;

impl Zones {
    /// True if commands to `zone` waited when power failed: a reset among them may not have been carried out.
    pub fn was_cut_short(&self, zone: ZoneId) -> bool {
        self.cut_short.contains(&zone)
    }

    /// Power fails: commands are forgotten.
    pub fn power_failed(&mut self) {
        self.ready.clear();
        self.fills.clear();
        self.area_writes.clear();
        self.long_reads.clear();
        self.later.clear();
        self.before_reset.clear();
        self.cut_short = self.ways.iter().filter(|way| !way.held.is_empty()).map(|way| way.zone).collect();
        for way in &mut self.ways {
            *way = ZoneWay { stream: way.stream, ..ZoneWay::new(way.zone) };
        }
    }

    /// Power is back, and `kept` says how many sectors of each zone from its start on are there. Streams of zones that take no more are to be closed.
    pub fn power_cycle(&mut self, kept: impl FnMut(ZoneId) -> u64) {
        let areas = &self.areas;
        let held = |zone| areas.iter().find(|own| own.zone == zone).map_or(0, RandomArea::end);
        let cut_short = &self.cut_short;
        self.table.power_cycle_with_areas(kept, held, |zone| cut_short.contains(&zone));
        // Of a superblock that was full what was lost may be to come again.
        self.closing.extend(self.free.drain(..));
        let ways = std::mem::take(&mut self.ways);
        for way in ways {
            let Some(stream) = way.stream else { continue };
            if self.table.state(way.zone).is_active() {
                self.ways.push(ZoneWay { stream: Some(stream), ..ZoneWay::new(way.zone) });
            } else {
                self.closing.push_back(stream);
            }
        }
    }

    /// After a loss of power, and once no stream is to be closed: every zone that is partly written has a stream.
    pub fn give_streams(&mut self) {
        for zone in self.table.ids() {
            if self.table.state(zone).is_active() && self.stream(zone).is_none() {
                let stream = self.free.pop();
                self.ways.push(ZoneWay { stream, ..ZoneWay::new(zone) });
            }
        }
    }

    /// Checks that every stream is of one zone, or free, and the states.
    ///
    /// # Errors
    /// The first thing that is wrong, in words.
    pub fn self_check(&self) -> Result<(), String> {
        self.table.self_check()?;
        let of_ways = self.ways.iter().filter_map(|way| way.stream);
        let mut streams: Vec<u16> =
            of_ways.chain(self.free.iter().copied()).chain(self.closing.iter().copied()).collect();
        streams.sort_unstable();
        if !streams.iter().copied().eq(0..self.streams) {
            return Err(format!("zones have the streams {streams:?} of {}", self.streams));
        }
        let mut zones: Vec<ZoneId> = self.ways.iter().map(|way| way.zone).collect();
        zones.sort_unstable();
        if zones.windows(2).any(|two| two[0] == two[1])
            || zones.last().is_some_and(|zone| zone.0 >= self.table.layout().zones)
        {
            return Err("a zone has two ways, or is none".into());
        }
        self.check_areas()?;
        if self.ways.iter().any(|way| way.is_idle() && !self.table.state(way.zone).is_active()) {
            return Err("a zone that is not active has a stream".into());
        }
        Ok(())
    }

    pub(super) fn check_restored(&self) -> Result<(), String> {
        self.self_check()
    }
}
