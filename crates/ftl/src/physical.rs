//! Physical blocks of superblocks: wear, bad blocks, and the progress of programming on each lane.

use crate::block_table::BlockTable;
use crate::layout::SlotLayout;
use crate::mount::RetiredBlock;
use outlast_media::{
    BlockAddress, CellMode, ConfigError, DefectConfig, Geometry, PhysicalBlocks, ProgramOrder,
};
use outlast_units::{BlockIndex, IndexVec, LaneIndex, LocalDie, ModeId, PuWithin, SuperblockId};

/// The blocks of a flash core.
#[derive(Clone, Debug, outlast_persist::Restore)]
pub(crate) struct CoreBlocks {
    blocks: PhysicalBlocks,
    members: BlockTable,
    /// Progress of programming on each lane of each superblock, in program units.
    order: ProgramOrder,
    /// P/E cycles after which a block is retired, by the mode that it was used in.
    #[persist(skip)]
    endurance: IndexVec<ModeId, Option<u32>>,
}

/// Result of erasing a superblock's blocks.
pub(crate) struct ErasedBlocks {
    /// Mean P/E cycles of the blocks that it consists of now.
    pub(crate) cycles: u32,
    /// Lanes that have lost a block which nothing replaces.
    pub(crate) gone: Vec<LaneIndex>,
    /// Blocks that were retired.
    pub(crate) retired: Vec<RetiredBlock>,
}

impl CoreBlocks {
    /// The blocks under `layout`, erased, the factory's bad ones replaced.
    ///
    /// # Errors
    /// More bad blocks than spare ones in a plane.
    pub(crate) fn new(
        geometry: &Geometry,
        layout: &SlotLayout,
        defects: &DefectConfig,
        seed: u64,
    ) -> Result<Self, ConfigError> {
        let blocks = PhysicalBlocks::new(geometry, layout.dies(), defects, seed);
        let members = BlockTable::new(geometry, layout.dies(), layout.superblocks(), &blocks)?;
        let columns = layout.superblocks() as usize * layout.lanes().len();
        let order = ProgramOrder::new(columns, layout.superpages());
        Ok(Self { blocks, members, order, endurance: vec![defects.endurance].into() })
    }

    /// No blocks, for a translation layer that is checked and not used.
    pub(crate) fn none(geometry: &Geometry, layout: &SlotLayout) -> Self {
        let order = ProgramOrder::new(0, layout.superpages());
        Self {
            blocks: PhysicalBlocks::none(geometry),
            members: BlockTable::none(),
            order,
            endurance: vec![None].into(),
        }
    }

    pub(crate) fn blocks(&self) -> &PhysicalBlocks {
        &self.blocks
    }

    /// Table of the blocks that superblocks consist of.
    pub(crate) fn members(&self) -> &BlockTable {
        &self.members
    }

    /// Adds the endurance of further modes.
    pub(crate) fn add_modes(&mut self, modes: &[CellMode]) {
        for mode in modes {
            self.endurance.push(mode.endurance);
        }
    }

    /// The fewest P/E cycles after which a block is retired in any mode.
    pub(crate) fn endurance(&self) -> Option<u32> {
        self.endurance.iter().flatten().min().copied()
    }

    /// Good spare blocks left in all planes.
    pub(crate) fn spares_left(&self) -> u64 {
        self.members.spares_left()
    }

    /// The block of a superblock in one plane of a die.
    #[inline]
    pub(crate) fn block(&self, superblock: SuperblockId, local_die: LocalDie, plane: u16) -> BlockAddress {
        self.members.block(superblock, local_die, plane)
    }

    /// The blocks of lane `lane` of `superblock`.
    pub(crate) fn blocks_of(
        &self,
        layout: &SlotLayout,
        superblock: SuperblockId,
        lane: LaneIndex,
    ) -> impl Iterator<Item = BlockAddress> {
        let place = layout.lanes()[lane];
        let planes = place.first_plane..place.first_plane + place.planes;
        planes.map(move |plane| self.members.block(superblock, place.local_die, plane))
    }

    /// The superblock that a block belongs to; `None` of a spare or bad one.
    pub(crate) fn superblock_of(&self, layout: &SlotLayout, at: BlockAddress) -> Option<SuperblockId> {
        let mut all = (0..layout.superblocks()).map(SuperblockId);
        all.find(|&superblock| self.members.block(superblock, at.die, at.plane).block == at.block)
    }

    /// Sets the wear that blocks come with.
    pub(crate) fn set_cycles(&mut self, cycles: &[u32]) {
        self.blocks.set_cycles(cycles);
    }

    /// P/E cycles of the blocks of `superblock` on `lanes` that are good: their mean.
    pub(crate) fn mean_cycles(
        &self,
        layout: &SlotLayout,
        superblock: SuperblockId,
        lanes: impl Iterator<Item = LaneIndex>,
    ) -> u32 {
        let cycles = self.good(layout, superblock, lanes).map(|block| u64::from(self.blocks.cycles(block)));
        let (sum, count) = cycles.fold((0, 0), |(sum, count), cycles| (sum + cycles, count + 1));
        mean(sum, count)
    }

    /// The blocks of `superblock` on `lanes` that are good.
    pub(crate) fn good(
        &self,
        layout: &SlotLayout,
        superblock: SuperblockId,
        lanes: impl Iterator<Item = LaneIndex>,
    ) -> impl Iterator<Item = BlockAddress> {
        lanes
            .flat_map(move |lane| self.blocks_of(layout, superblock, lane))
            .filter(|&block| !self.blocks.is_bad(block))
    }

    /// Programs `count` program units of `superblock` from number `within` on.
    ///
    /// # Panics
    /// If one is not the next of its lane.
    #[inline]
    pub(crate) fn program(
        &mut self,
        layout: &SlotLayout,
        superblock: SuperblockId,
        within: PuWithin,
        count: u32,
    ) {
        debug_assert!(
            within.0 + count <= layout.pus_per_superblock(),
            "program units beyond superblock {superblock}"
        );
        let (row, lane) = layout.row_and_lane(within);
        let lanes = layout.lanes().len();
        let first = superblock.index() * lanes;
        if count == 1 {
            self.order.program(first + lane.index(), row);
            return;
        }
        // Row by row: the lanes of a row are neighbours, and are counted in one call.
        let (mut row, mut lane, mut left) = (row, lane.index(), count as usize);
        while left != 0 {
            let end = lanes.min(lane + left);
            self.order.program_all(first + lane..first + end, row);
            left -= end - lane;
            (row, lane) = (row + 1, 0);
        }
    }

    /// Program units of lane `lane` of `superblock` that have been programmed, or spoilt on the way, since it was erased.
    #[inline]
    pub(crate) fn programmed(&self, layout: &SlotLayout, superblock: SuperblockId, lane: LaneIndex) -> u32 {
        self.order.programmed(superblock.index() * layout.lanes().len() + lane.index())
    }

    /// Erases the blocks of `superblock`, used in `mode`, on `lanes`, retires those that are bad or have worn out and puts spare ones in their place.
    pub(crate) fn erase(
        &mut self,
        layout: &SlotLayout,
        superblock: SuperblockId,
        mode: ModeId,
        lanes: impl Iterator<Item = LaneIndex>,
        is_bad: impl Fn(BlockIndex) -> bool,
    ) -> ErasedBlocks {
        let (mut gone, mut retired) = (Vec::new(), Vec::new());
        let (mut wear, mut count) = (0, 0);
        for lane in lanes {
            let place = layout.lanes()[lane];
            self.order.erase(superblock.index() * layout.lanes().len() + lane.index());
            for plane in place.first_plane..place.first_plane + place.planes {
                let block = self.members.block(superblock, place.local_die, plane);
                self.blocks.erase(block);
                if is_bad(self.blocks.index(block))
                    || self.endurance[mode].is_some_and(|limit| self.blocks.cycles(block) >= limit)
                {
                    self.blocks.retire(block);
                    let by = self.members.replace(superblock, place.local_die, plane);
                    retired.push(RetiredBlock { superblock, block: self.blocks.index(block), by });
                    if by.is_none() {
                        gone.push(lane);
                        continue;
                    }
                }
                let member = self.members.block(superblock, place.local_die, plane);
                wear += u64::from(self.blocks.cycles(member));
                count += 1;
            }
        }
        debug_assert!(
            gone.is_empty() || self.endurance[mode].is_some() || self.blocks.bad_blocks() != 0,
            "no block is bad"
        );
        ErasedBlocks { cycles: mean(wear, count), gone, retired }
    }

    /// Resident bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.blocks.all_cycles().len() * (size_of::<u32>() + size_of::<bool>())
            + self.members.heap_bytes()
            + self.order.bytes()
    }

    /// Value of [`CoreBlocks::bytes`] when built.
    pub(crate) fn bytes_when_built(geometry: &Geometry, layout: &SlotLayout) -> u64 {
        let (superblocks, entry) = (u64::from(layout.superblocks()), size_of::<u32>() as u64);
        let planes = u64::from(layout.dies()) * u64::from(layout.planes_per_die());
        planes * u64::from(geometry.blocks_per_plane) * (entry + 1)
            + superblocks * (planes + layout.lanes().len() as u64) * entry
    }

    /// Checks that the blocks in use on `lanes` are good.
    ///
    /// # Errors
    /// The first one that is bad.
    pub(crate) fn check(
        &self,
        layout: &SlotLayout,
        superblock: SuperblockId,
        lanes: impl Iterator<Item = LaneIndex>,
    ) -> Result<(), String> {
        let mut blocks = lanes.flat_map(|lane| self.blocks_of(layout, superblock, lane));
        match blocks.find(|&block| self.blocks.is_bad(block)) {
            None => Ok(()),
            Some(block) => Err(format!("superblock {superblock} uses {block:?}, which is bad")),
        }
    }
}

/// The mean, rounded; 0 of nothing.
#[allow(clippy::cast_possible_truncation, reason = "a mean of numbers of 32 bits")]
fn mean(sum: u64, count: u64) -> u32 {
    (sum + count / 2).checked_div(count).unwrap_or(0) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use outlast_settings::ftl::FtlConfig;
    use outlast_units::{Bytes, DieId};

    const ONE: SuperblockId = SuperblockId(1);
    const LANES: [LaneIndex; 2] = [LaneIndex(0), LaneIndex(1)];

    fn physical(spare_blocks: u32, endurance: Option<u32>) -> (SlotLayout, CoreBlocks) {
        let geometry = Geometry {
            channels: 1,
            chips_per_channel: 2,
            dies_per_chip: 1,
            planes_per_die: 2,
            blocks_per_plane: 4,
            pages_per_block: 3,
            page_size: Bytes::kib(4),
            spare_per_page: Bytes(0),
        };
        let config = FtlConfig { spare_blocks, ..FtlConfig::default() };
        let layout = SlotLayout::new(&geometry, &config, &[DieId(0), DieId(1)], 1).unwrap();
        let defects = DefectConfig { factory_bad: 0.0, endurance };
        let physical = CoreBlocks::new(&geometry, &layout, &defects, 1).unwrap();
        assert_eq!(physical.bytes() as u64, CoreBlocks::bytes_when_built(&geometry, &layout));
        (layout, physical)
    }

    #[test]
    fn a_run_of_program_units_goes_round_the_lanes() {
        let (layout, mut physical) = physical(0, None);
        physical.program(&layout, ONE, PuWithin(0), 3);
        assert_eq!(LANES.map(|lane| physical.programmed(&layout, ONE, lane)), [2, 1]);
        physical.program(&layout, ONE, PuWithin(3), 3);
        assert_eq!(LANES.map(|lane| physical.programmed(&layout, ONE, lane)), [3, 3]);
        let erased = physical.erase(&layout, ONE, ModeId::FIRST, [LANES[0]].into_iter(), |_| false);
        assert_eq!((erased.cycles, erased.gone), (1, vec![]));
        assert_eq!(LANES.map(|lane| physical.programmed(&layout, ONE, lane)), [0, 3]);
    }

    #[test]
    fn a_block_is_retired_by_the_endurance_of_the_mode_that_it_was_used_in() {
        let (layout, mut physical) = physical(1, None);
        let slc = ModeId(1);
        physical.endurance.push(Some(2));
        let mut erase = |mode| physical.erase(&layout, ONE, mode, LANES.into_iter(), |_| false).retired.len();
        assert_eq!([ModeId::FIRST, ModeId::FIRST, ModeId::FIRST].map(&mut erase), [0, 0, 0]);
        // Four blocks, worn beyond what this mode bears; then their successors, which are new.
        assert_eq!([slc, slc].map(&mut erase), [4, 0]);
    }

    #[test]
    fn a_worn_block_is_replaced_while_there_are_spare_ones() {
        let (layout, mut physical) = physical(1, Some(1));
        let before = physical.block(ONE, LocalDie(0), 1);
        assert_eq!(physical.superblock_of(&layout, before), Some(ONE));
        let erased = physical.erase(&layout, ONE, ModeId::FIRST, LANES.into_iter(), |_| false);
        assert_eq!((erased.cycles, erased.gone, physical.spares_left()), (0, vec![], 0));
        assert_eq!(physical.superblock_of(&layout, before), None);
        assert_eq!(physical.check(&layout, ONE, LANES.into_iter()), Ok(()));
        let erased =
            physical.erase(&layout, SuperblockId(0), ModeId::FIRST, [LANES[1]].into_iter(), |_| false);
        assert_eq!(erased.gone, vec![LANES[1], LANES[1]]);
        assert!(
            physical.check(&layout, SuperblockId(0), LANES.into_iter()).unwrap_err().contains("which is bad")
        );
    }
}
