//! Figures of blocks: wear, bad blocks, progress of programming.

use crate::codes::CodeTable;
use crate::lanes::LaneHealth;
use crate::physical::CoreBlocks;
use crate::space::FlashSpace;
use crate::superblocks::SuperblockTable;
use crate::uses::SuperblockUses;
use outlast_decisions::SuperblockState;
use outlast_media::{BlankUnit, ByteStore, Geometry, PhysicalBlocks, SlotBytes, UnitBytes, UnitTear};
use outlast_units::{BlockIndex, LocalDie, Lpn, Ppn, SuperblockId};
use std::iter::Sum;
use std::sync::Arc;

/// P/E cycles of some blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockWear {
    /// Number of blocks.
    pub blocks: u64,
    /// The sum of their P/E cycles.
    pub cycles: u64,
    /// P/E cycles of the least-worn one; [`u32::MAX`] if there is none.
    pub least: u32,
    /// P/E cycles of the most-worn one.
    pub most: u32,
}

impl Default for BlockWear {
    fn default() -> Self {
        Self { blocks: 0, cycles: 0, least: u32::MAX, most: 0 }
    }
}

impl BlockWear {
    /// Wear of one block.
    fn of(cycles: u32) -> Self {
        Self { blocks: 1, cycles: cycles.into(), least: cycles, most: cycles }
    }

    /// The mean; 0 of no block.
    pub fn mean(&self) -> f64 {
        self.cycles as f64 / self.blocks.max(1) as f64
    }
}

impl Sum for BlockWear {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        parts.fold(Self::default(), |all, part| Self {
            blocks: all.blocks + part.blocks,
            cycles: all.cycles + part.cycles,
            least: all.least.min(part.least),
            most: all.most.max(part.most),
        })
    }
}

impl FlashSpace {
    /// The physical blocks.
    pub fn blocks(&self) -> &PhysicalBlocks {
        self.pus.physical.blocks()
    }

    /// Page rows of a block that have been programmed since it was erased: the first ones.
    pub fn programmed_rows(&self, block: BlockIndex) -> u32 {
        let at = self.pus.physical.blocks().address(block);
        // A spare block has not been programmed, and one that is bad was erased last.
        let Some(superblock) = self.superblock_of_block(block) else { return 0 };
        let lane = self.pus.layout.lanes_of_die(at.die).iter().find(|&&lane| {
            let lane = self.pus.layout.lanes()[lane];
            (lane.first_plane..lane.first_plane + lane.planes).contains(&at.plane)
        });
        let pus = lane.map_or(0, |&lane| self.pus.physical.programmed(&self.pus.layout, superblock, lane));
        pus * self.pus.layout.rows_per_pu()
    }

    /// Spare blocks left.
    pub fn spare_blocks_left(&self) -> u64 {
        self.pus.physical.spares_left()
    }

    /// Wear of the blocks in use: the good ones of superblocks that are not retired, on lanes that are there. Spare blocks, which nothing
    /// has used, and blocks that take no more data do not count.
    pub fn worn(&self) -> BlockWear {
        let in_use = self
            .pus
            .superblocks
            .ids()
            .filter(|&superblock| self.pus.superblocks.state(superblock) != SuperblockState::Retired);
        let good = |superblock| {
            self.pus.physical.good(&self.pus.layout, superblock, self.pus.lanes.erasable(superblock))
        };
        let blocks = self.pus.physical.blocks();
        let worn: BlockWear = in_use.flat_map(good).map(|block| BlockWear::of(blocks.cycles(block))).sum();
        // A drive without a block that takes data is as worn as all its blocks.
        if worn.blocks != 0 {
            worn
        } else {
            blocks.all_cycles().iter().map(|&cycles| BlockWear::of(cycles)).sum()
        }
    }

    /// For each block, in the order of [`PhysicalBlocks::all_cycles`], true if it takes no more data: it is bad, or its die or plane has failed.
    pub fn all_bad(&self) -> impl Iterator<Item = bool> {
        let blocks = self.pus.physical.blocks();
        let mut failed =
            vec![false; usize::from(self.pus.layout.dies()) * usize::from(self.pus.layout.planes_per_die())];
        for lane in self.pus.lanes.failed_for_good() {
            let planes = self.pus.layout.lanes()[lane];
            let first = planes.local_die.index() * usize::from(self.pus.layout.planes_per_die())
                + usize::from(planes.first_plane);
            failed[first..first + usize::from(planes.planes)].fill(true);
        }
        let plane_of = |block: BlockIndex| {
            let at = blocks.address(block);
            at.die.index() * usize::from(self.pus.layout.planes_per_die()) + usize::from(at.plane)
        };
        blocks
            .all_cycles()
            .indices()
            .zip(blocks.all_bad())
            .map(move |(block, bad)| bad || failed[plane_of(block)])
    }

    /// Number of blocks that take no more data.
    pub fn bad_blocks(&self) -> u64 {
        self.all_bad().filter(|&bad| bad).count() as u64
    }

    /// The least-worn and the most-worn superblock's P/E cycles, each the mean of its blocks.
    pub fn cycle_range(&self) -> (u32, u32) {
        let live = || {
            let in_use = self
                .pus
                .superblocks
                .ids()
                .filter(|&superblock| self.pus.superblocks.state(superblock) != SuperblockState::Retired);
            in_use.map(|superblock| self.pus.superblocks.cycles(superblock))
        };
        (live().min().unwrap_or(0), live().max().unwrap_or(0))
    }

    /// The block of a superblock in one plane of a die.
    #[inline]
    pub fn block_index(&self, superblock: SuperblockId, local_die: LocalDie, plane: u16) -> BlockIndex {
        self.pus.physical.blocks().index(self.pus.physical.block(superblock, local_die, plane))
    }

    /// The superblock that a block belongs to; `None` of a spare or bad one.
    pub fn superblock_of_block(&self, block: BlockIndex) -> Option<SuperblockId> {
        self.pus.physical.superblock_of(&self.pus.layout, self.pus.physical.blocks().address(block))
    }

    /// Sets the wear that blocks come with, in the order of [`PhysicalBlocks::all_cycles`](outlast_media::PhysicalBlocks::all_cycles).
    pub fn set_wear(&mut self, cycles: &[u32]) {
        self.pus.physical.set_cycles(cycles);
        for superblock in self.pus.superblocks.ids() {
            let lanes = self.pus.lanes.erasable(superblock);
            let cycles = self.pus.physical.mean_cycles(&self.pus.layout, superblock, lanes);
            self.pus.superblocks.set_cycles(superblock, cycles);
        }
    }

    /// Content of a slot of a drive that keeps an image of its flash; the tag of parity is the code's sum of owners.
    pub fn image(&self, slot: Ppn) -> Option<&UnitBytes> {
        self.contents.bytes.as_ref().and_then(|contents| contents.raw(slot.0))
    }

    /// Torn content of `slot`; `None` if a read gives the unit that was written there.
    pub fn torn(&self, slot: Ppn) -> Option<&UnitBytes> {
        self.contents.bytes.as_ref()?.torn(slot.0)
    }

    /// A unit of logical page `lpn` with these bytes, when bytes are kept.
    #[inline]
    pub fn make_unit(&mut self, lpn: Lpn, bytes: &[u8]) -> Option<UnitBytes> {
        self.contents.bytes.as_mut().map(|contents| contents.make(lpn.0, bytes))
    }

    /// Keeps the bytes in `store`, when bytes are kept.
    pub fn keep_contents_in(&mut self, store: &Arc<dyn ByteStore>) {
        if let Some(contents) = &mut self.contents.bytes {
            contents.keep_in(store.clone());
        }
    }

    /// Memory for a unit, when bytes are kept; it holds anything.
    pub fn blank(&mut self) -> Option<BlankUnit> {
        self.contents.bytes.as_mut().map(SlotBytes::blank)
    }

    /// Counts the unit just appended as handed over by another core.
    pub fn count_as_migrated(&mut self) {
        self.counts.count_as_migrated();
    }

    /// Stores the unit of a slot just taken, when bytes are kept.
    #[inline]
    pub fn store(&mut self, slot: Ppn, unit: UnitBytes) {
        if let Some(contents) = &mut self.contents.bytes {
            contents.write(slot.0, unit);
        }
    }

    /// Resident bytes of the tables.
    pub fn bytes(&self) -> usize {
        let each = CodeTable::BYTES_EACH + LaneHealth::BYTES_EACH + self.bytes_of_use();
        self.pus.superblocks.bytes() + self.pus.superblocks.ids().len() * each + self.pus.physical.bytes()
    }

    /// Value of [`FlashSpace::bytes`] when all tables are built.
    pub fn bytes_when_built(&self, geometry: &Geometry) -> u64 {
        let superblocks = u64::from(self.pus.layout.superblocks());
        let pus = superblocks * u64::from(self.pus.layout.pus_per_superblock());
        let each = SuperblockTable::BYTES_EACH + CodeTable::BYTES_EACH + LaneHealth::BYTES_EACH;
        superblocks * (each + self.bytes_of_use()) as u64
            + pus.div_ceil(64) * size_of::<u64>() as u64
            + CoreBlocks::bytes_when_built(geometry, &self.pus.layout)
    }

    /// Bytes of figures of uses for each superblock.
    fn bytes_of_use(&self) -> usize {
        if self.keeps_uses() { SuperblockUses::BYTES_EACH } else { 0 }
    }

    /// Tears the unit of `slot`: reads give a mix, by `tear`, of it and that of slot `over`, or zeroes. `draw`: random number.
    pub(crate) fn tear(&mut self, slot: Ppn, over: Option<Ppn>, tear: UnitTear, draw: u64) {
        if let Some(contents) = &mut self.contents.bytes {
            contents.tear(slot.0, over.map(|over| over.0), tear, draw);
        }
    }
}
