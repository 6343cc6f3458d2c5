//! Figures of a translation layer: counts of writes and reads, wear, bad blocks.

use super::Ftl;
use crate::causes::{PagesRead, UnitsWritten};
use outlast_decisions::SuperblockState;
use outlast_media::PhysicalBlocks;
use outlast_settings::ftl::VictimPolicy;
use outlast_units::BlockIndex;
use std::iter::Sum;

/// Counts of a translation layer since the beginning, and of its present state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FtlFigures {
    /// Units written, by cause.
    pub written: UnitsWritten,
    /// Units that the host has written in place of older ones that were not programmed yet: they are not in `written`.
    pub coalesced: u64,
    /// Pages programmed.
    pub pages_programmed: u64,
    /// Program operations that used several planes at once. A program unit takes all planes of its lane, one operation for each of
    /// its rows, or of its word lines where these are programmed in one shot.
    pub multi_plane_programs: u64,
    /// Pages read by relocation in [untimed](Ftl::write_untimed) writes.
    pub untimed_reads: PagesRead,
    /// Superblocks relocated, and the valid units they held.
    pub victims: u64,
    /// See `victims`.
    pub victim_units: u64,
    /// Units of partial parity written again, in superblocks of their own, because the one that they were in was full.
    pub covers_moved: u64,
    /// Units written but still in the buffer: in program units begun, or full and not yet reported as programmed.
    pub buffered_units: u64,
    /// Flushes of the mapping table begun.
    pub map_flushes: u64,
    /// Logical pages whose data has been lost and that have been neither written nor trimmed since.
    pub lost_units: u64,
}

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

impl Ftl {
    /// Figures of this translation layer.
    pub fn figures(&self) -> FtlFigures {
        let (programmed, each) = (self.counts.pus_programmed(), u64::from(self.layout.programs_per_pu()));
        let (victims, victim_units) = self.superblocks.victims();
        FtlFigures {
            written: self.counts.written(),
            coalesced: self.counts.coalesced(),
            pages_programmed: programmed * u64::from(self.layout.pages_per_pu()),
            multi_plane_programs: if self.layout.planes_per_lane() > 1 { programmed * each } else { 0 },
            untimed_reads: self.counts.untimed_reads(),
            victims,
            victim_units,
            covers_moved: self.partials.moved(),
            buffered_units: self.counts.buffered(self.layout.units_per_pu()),
            map_flushes: self.maps.as_ref().map_or(0, |maps| maps.flushes()),
            lost_units: self.losses.count(),
        }
    }

    /// The physical blocks.
    pub fn blocks(&self) -> &PhysicalBlocks {
        self.physical.blocks()
    }

    /// Page rows of a block that have been programmed since it was erased: the first ones.
    pub fn programmed_rows(&self, block: BlockIndex) -> u32 {
        let at = self.physical.blocks().address(block);
        // A spare block has not been programmed, and one that is bad was erased last.
        let Some(superblock) = self.superblock_of_block(block) else { return 0 };
        let lane = self.layout.lanes_of_die(at.die).iter().find(|&&lane| {
            let lane = self.layout.lanes()[lane];
            (lane.first_plane..lane.first_plane + lane.planes).contains(&at.plane)
        });
        let pus = lane.map_or(0, |&lane| self.physical.programmed(&self.layout, superblock, lane));
        pus * self.layout.rows_per_pu()
    }

    /// Spare blocks left.
    pub fn spare_blocks_left(&self) -> u64 {
        self.physical.spares_left()
    }

    /// Wear of the blocks in use: the good ones of superblocks that are not retired, on lanes that are there. Spare blocks, which nothing
    /// has used, and blocks that take no more data do not count.
    pub fn worn(&self) -> BlockWear {
        let in_use = self
            .superblocks
            .ids()
            .filter(|&superblock| self.superblocks.state(superblock) != SuperblockState::Retired);
        let good = |superblock| self.physical.good(&self.layout, superblock, self.lanes.erasable(superblock));
        let blocks = self.physical.blocks();
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
        let blocks = self.physical.blocks();
        let mut failed =
            vec![false; usize::from(self.layout.dies()) * usize::from(self.layout.planes_per_die())];
        for lane in self.lanes.failed_for_good() {
            let planes = self.layout.lanes()[lane];
            let first = planes.local_die.index() * usize::from(self.layout.planes_per_die())
                + usize::from(planes.first_plane);
            failed[first..first + usize::from(planes.planes)].fill(true);
        }
        let plane_of = |block: BlockIndex| {
            let at = blocks.address(block);
            at.die.index() * usize::from(self.layout.planes_per_die()) + usize::from(at.plane)
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
                .superblocks
                .ids()
                .filter(|&superblock| self.superblocks.state(superblock) != SuperblockState::Retired);
            in_use.map(|superblock| self.superblocks.cycles(superblock))
        };
        (live().min().unwrap_or(0), live().max().unwrap_or(0))
    }

    /// The victim policy in force; `None` where it is code of the user's.
    pub fn victim_policy(&self) -> Option<VictimPolicy> {
        self.policies.gc.is_none().then_some(self.config.gc.policy)
    }
}
