//! Room as callers see it: superblocks, units and memory.

use crate::codes::data_units;
use crate::lane_set::LaneSet;
use crate::layout::LISTED_BYTES;
use crate::space::FlashSpace;
use crate::streams::StreamCause;
use outlast_units::{LocalDie, to_count};

impl FlashSpace {
    /// Data slots in the open superblocks of the host, and in the free ones beyond those with which collection begins; `coming` that are not free yet count too.
    pub fn room_for_host(&self, coming: u32) -> u32 {
        let open: u32 = self.pus.streams.hosts().map(|stream| self.room(stream)).sum();
        let further = (self.free_superblocks() + coming).saturating_sub(self.marks.start_free());
        open + further * self.data_units(self.pus.streams.host(0, 0))
    }

    /// Superblocks that scrubbing keeps for itself, whether or not it moves anything (open, held back, or waiting for their
    /// erasure), and all that hold no data of the host. Without scrubbing the first is 0.
    pub fn superblocks_for_scrubbing(&self) -> (u32, u32) {
        let spare = self.pus.layout.superblocks().saturating_sub(self.superblocks_for_data());
        let held_back = self.marks.held_back();
        let in_use = self.frontiers.streams().filter(|&stream| self.is_in_use(stream));
        let scrub_streams = in_use.filter(|&stream| self.pus.streams.cause(stream) == StreamCause::Scrub);
        match to_count(scrub_streams.count()) {
            0 => (0, spare),
            open => (open + held_back + (held_back - 1), spare),
        }
    }

    /// Data units that can be written before anything more must be erased: in free superblocks and in those that streams have open.
    pub fn unwritten_units(&self) -> u64 {
        let free = u64::from(self.free_superblocks()) * u64::from(self.data_units(self.pus.streams.gc(0)));
        free + self.frontiers.streams().map(|stream| u64::from(self.room(stream))).sum::<u64>()
    }

    /// Units of the host that there must be room for.
    pub fn logical_units(&self) -> u64 {
        self.marks.logical_units() - u64::from(self.own_units)
    }

    /// As [`FlashSpace::physical_units`] while no die has failed.
    pub fn physical_units_when_new(&self) -> u64 {
        let lanes = self.pus.layout.lanes().len() as u64;
        let left = lanes - u64::from(self.pus.lanes.dead_count());
        (self.physical_units() * lanes).checked_div(left).unwrap_or(0)
    }

    /// Units of the host that could be taken for ever, with the superblocks that are left and the mark from which on collection rests.
    pub fn most_units(&self) -> u64 {
        let (_, stop) = self.marks.marks();
        let beside = self.superblocks_beside() + (stop - 1).saturating_sub(self.reserve());
        let superblocks = self.pus.layout.superblocks() - self.pus.superblocks.retired();
        let slots = u64::from(superblocks.saturating_sub(beside)) * u64::from(self.least_data_units());
        slots.saturating_sub(self.missing_units() + u64::from(self.own_units))
    }

    /// True if `units` units of the host could be taken for ever if die `without` were not there either.
    pub fn could_hold(&self, units: u64, without: Option<LocalDie>) -> bool {
        let mut dead = self.dead_lanes();
        for &lane in without.map_or(&[][..], |die| self.pus.layout.lanes_of_die(die)) {
            dead.insert(lane);
        }
        self.could_hold_without(units, &dead)
    }

    /// Dies that may fail before the core has too little room for its data and takes no more writes.
    pub fn dies_to_spare(&self) -> u32 {
        let mut dead = self.dead_lanes();
        let mut works = self.pus.layout.local_dies().filter(|&die| !self.pus.is_dead_die(die));
        let bears = |die: &LocalDie| {
            self.pus.layout.lanes_of_die(*die).iter().for_each(|&lane| dead.insert(lane));
            self.could_hold_without(self.logical_units(), &dead)
        };
        to_count(works.by_ref().take_while(bears).count())
    }

    fn dead_lanes(&self) -> LaneSet {
        self.pus.lanes.dead().cloned().unwrap_or_else(|| LaneSet::new(self.pus.layout.lanes().len()))
    }

    fn could_hold_without(&self, units: u64, dead: &LaneSet) -> bool {
        let gaps: Option<&LaneSet> = Some(dead).filter(|dead| !dead.is_empty());
        let data = self
            .data_streams()
            .filter(|&stream| self.pus.streams.keeps_data(stream, &self.pus.layout))
            .map(|stream| {
                let mode = self.pus.streams.mode(stream);
                data_units(&self.pus.layout, mode, self.pus.codes.of_stream(stream), gaps)
            });
        let units = units + u64::from(self.own_units);
        let needed =
            self.superblocks_for(units, data.min().unwrap_or(0)) + self.superblocks_beside_without_rebuild();
        self.pus.layout.superblocks() - self.pus.superblocks.retired() >= needed
    }

    /// Bytes of the lists of superblocks that are open, one for each stream of data: they are in the controller's memory until the
    /// superblock is full.
    pub fn list_buffer_bytes(&self) -> u64 {
        let open = self.data_streams().count() as u64;
        open * self.pus.layout.lanes().len() as u64 * self.pus.units_per_lane() * LISTED_BYTES
    }
}
