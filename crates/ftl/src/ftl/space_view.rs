//! View of room for callers: superblocks, units and memory.

use super::{Ftl, MappingInUse};
use crate::codes::{CodeTable, data_units};
use crate::held::HeldPus;
use crate::lanes::LaneHealth;
use crate::layout::LISTED_BYTES;
use crate::mount::FlashRecords;
use crate::physical::CoreBlocks;
use crate::streams::StreamCause;
use crate::stripes::LaneSet;
use crate::superblocks::SuperblockTable;
use crate::table::PageMapping;
use crate::uses::SuperblockUses;
use outlast_units::LocalDie;

/// Room of a translation layer.
#[derive(Clone, Copy, Debug)]
pub struct SpaceView<'a> {
    pub(super) ftl: &'a Ftl,
}

impl SpaceView<'_> {
    /// Free superblocks.
    #[inline]
    pub fn free_superblocks(self) -> u32 {
        self.ftl.free_superblocks()
    }

    /// Streams that take superblocks.
    pub fn streams(self) -> u32 {
        self.ftl.streams_in_use()
    }

    /// Free superblocks held back for relocation.
    pub fn reserve(self) -> u32 {
        self.ftl.reserve()
    }

    /// Data slots in the open superblocks of the host, and in the free ones beyond those with which collection begins; `coming` that are not free yet count too.
    pub fn room_for_host(self, coming: u32) -> u32 {
        let open: u32 = self.ftl.streams.hosts().map(|stream| self.ftl.room(stream)).sum();
        let further = (self.ftl.free_superblocks() + coming).saturating_sub(self.ftl.room.start_free());
        open + further * self.ftl.data_units(self.ftl.streams.host(0, 0))
    }

    /// Superblocks that scrubbing keeps for itself, whether or not it moves anything (open, held back, or waiting for their
    /// erasure), and all that hold no data of the host. Without scrubbing the first is 0.
    pub fn superblocks_for_scrubbing(self) -> (u32, u32) {
        let spare = self.ftl.layout.superblocks().saturating_sub(self.ftl.superblocks_for_data());
        let held_back = self.ftl.room.held_back();
        let in_use = self.ftl.frontiers.streams().filter(|&stream| self.ftl.is_in_use(stream));
        let scrub_streams = in_use.filter(|&stream| self.ftl.streams.cause(stream) == StreamCause::Scrub);
        match scrub_streams.count() as u32 {
            0 => (0, spare),
            open => (open + held_back + (held_back - 1), spare),
        }
    }

    /// Data units that can be written before anything more must be erased: in free superblocks and in those that streams have open.
    pub fn unwritten_units(self) -> u64 {
        let free =
            u64::from(self.ftl.free_superblocks()) * u64::from(self.ftl.data_units(self.ftl.streams.gc(0)));
        free + self.ftl.frontiers.streams().map(|stream| u64::from(self.ftl.room(stream))).sum::<u64>()
    }

    /// Units of the host that there must be room for.
    pub fn logical_units(self) -> u64 {
        self.ftl.room.logical_units() - u64::from(self.ftl.map_pages())
    }

    /// Pages that are mapped: those of [`SpaceView::logical_units`], those of the mapping table, and those that are another core's by now.
    pub fn mapped_pages(self) -> u64 {
        self.ftl.map.pages()
    }

    /// Units that the dies which are left can hold, parity included.
    pub fn physical_units(self) -> u64 {
        self.ftl.physical_units()
    }

    /// As [`SpaceView::physical_units`] while no die has failed.
    pub fn physical_units_when_new(self) -> u64 {
        let lanes = self.ftl.layout.lanes().len() as u64;
        let left = lanes - u64::from(self.ftl.lanes.dead_count());
        (self.ftl.physical_units() * lanes).checked_div(left).unwrap_or(0)
    }

    /// True if `units` units of the host could be taken for ever if die `without` were not there either.
    pub fn could_hold(self, units: u64, without: Option<LocalDie>) -> bool {
        let mut dead = self.dead_lanes();
        for &lane in without.map_or(&[][..], |die| self.ftl.layout.lanes_of_die(die)) {
            dead.insert(lane);
        }
        self.could_hold_without(units, &dead)
    }

    /// Dies that may fail before the core has too little room for its data and takes no more writes.
    pub fn dies_to_spare(self) -> u32 {
        let mut dead = self.dead_lanes();
        let mut works = self.ftl.layout.local_dies().filter(|&die| !self.ftl.is_dead_die(die));
        let bears = |die: &LocalDie| {
            self.ftl.layout.lanes_of_die(*die).iter().for_each(|&lane| dead.insert(lane));
            self.could_hold_without(self.logical_units(), &dead)
        };
        works.by_ref().take_while(bears).count() as u32
    }

    fn dead_lanes(self) -> LaneSet {
        self.ftl.lanes.dead().cloned().unwrap_or_else(|| LaneSet::new(self.ftl.layout.lanes().len()))
    }

    fn could_hold_without(self, units: u64, dead: &LaneSet) -> bool {
        let gaps: Option<&LaneSet> = Some(dead).filter(|dead| !dead.is_empty());
        let data = self
            .ftl
            .data_streams()
            .map(|stream| data_units(&self.ftl.layout, self.ftl.codes.of_stream(stream), gaps));
        let units = units + u64::from(self.ftl.map_pages());
        let needed = self.ftl.superblocks_for(units, data.min().unwrap_or(0))
            + self.ftl.superblocks_beside_without_rebuild();
        self.ftl.layout.superblocks() - self.ftl.superblocks.retired() >= needed
    }

    /// Resident bytes of all tables. [`Ftl::new`] allocates them once; they grow only when the core takes over units of another.
    pub fn bytes(self) -> usize {
        let each = CodeTable::BYTES_EACH + LaneHealth::BYTES_EACH + self.bytes_of_use();
        let others = self.ftl.superblocks.ids().len() * each;
        let held = self.ftl.held.as_ref().map_or(0, |held| held.bytes());
        let maps = self.ftl.maps.as_ref().map_or(0, |maps| maps.bytes());
        self.ftl.map.bytes() + self.ftl.superblocks.bytes() + others + held + maps + self.ftl.physical.bytes()
    }

    /// Value of [`SpaceView::bytes`] when all tables are built.
    pub fn bytes_when_built(self, geometry: &outlast_media::Geometry) -> u64 {
        let layout = &self.ftl.layout;
        let superblocks = u64::from(layout.superblocks());
        let pus = superblocks * u64::from(layout.pus_per_superblock());
        MappingInUse::bytes_when_built(u64::from(layout.logical_units()), layout.slots())
            + superblocks
                * (SuperblockTable::BYTES_EACH + CodeTable::BYTES_EACH + LaneHealth::BYTES_EACH) as u64
            + superblocks * self.bytes_of_use() as u64
            + pus.div_ceil(64) * size_of::<u64>() as u64
            + CoreBlocks::bytes_when_built(geometry, layout)
            + self.ftl.held.as_ref().map_or(0, |_| HeldPus::bytes_when_built(pus))
            + self.ftl.maps.as_ref().map_or(0, |maps| maps.bytes() as u64)
            + self.ftl.mount.map_or(0, |mount| {
                let pages = u64::from(layout.logical_units());
                FlashRecords::bytes(u64::from(layout.slots()), pages, mount.checkpoint_every)
            })
    }

    /// Bytes of figures of uses for each superblock.
    fn bytes_of_use(self) -> usize {
        if self.ftl.keeps_uses() { SuperblockUses::BYTES_EACH } else { 0 }
    }

    /// Bytes of the lists of superblocks that are open, one for each stream of data: they are in the controller's memory until the
    /// superblock is full.
    pub fn list_buffer_bytes(self) -> u64 {
        let open = self.ftl.data_streams().count() as u64;
        open * self.ftl.layout.lanes().len() as u64 * self.ftl.units_per_lane() * LISTED_BYTES
    }
}
