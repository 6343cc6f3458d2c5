//! Blocks of superblocks from flash alone: the marks of the factory on its bad blocks, and a list of blocks that were retired since, each with the
//! block that took its place.

use crate::block_table::BlockTable;
use crate::layout::SlotLayout;
use outlast_media::{DefectConfig, Geometry, PhysicalBlocks};
use outlast_units::{BlockId, BlockIndex, SuperblockId};

/// A block that was retired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, outlast_persist::Persist)]
pub struct RetiredBlock {
    /// The superblock that it belonged to.
    pub superblock: SuperblockId,
    /// The block.
    pub block: BlockIndex,
    /// The block of the same plane that took its place, if there was one.
    pub by: Option<BlockId>,
}

/// Marks of the factory on bad blocks, as flash has them.
#[derive(Clone, Debug)]
pub(crate) struct FactoryMarks {
    geometry: Geometry,
    dies: u16,
    superblocks: u32,
    /// Settings from which, with the seed, the marks follow.
    defects: DefectConfig,
    seed: u64,
}

impl FactoryMarks {
    /// Marks of the factory for a core with `layout`.
    pub(crate) fn new(geometry: &Geometry, layout: &SlotLayout, defects: &DefectConfig, seed: u64) -> Self {
        Self {
            geometry: geometry.clone(),
            dies: layout.dies(),
            superblocks: layout.superblocks(),
            defects: defects.clone(),
            seed,
        }
    }

    /// Bad blocks, and the blocks of each superblock, after blocks `retired` were retired.
    ///
    /// # Panics
    /// If the factory's bad blocks are more than the spare ones: such a drive is refused.
    pub(crate) fn rebuild(&self, retired: &[RetiredBlock]) -> (PhysicalBlocks, BlockTable) {
        let mut blocks = PhysicalBlocks::new(&self.geometry, self.dies, &self.defects, self.seed);
        let table = BlockTable::new(&self.geometry, self.dies, self.superblocks, &blocks);
        let mut table = table.expect("a drive that was built has spare blocks for the factory's bad ones");
        for &RetiredBlock { superblock, block, by } in retired {
            let at = blocks.address(block);
            blocks.retire(at);
            if let Some(by) = by {
                table.put(superblock, at.die, at.plane, by);
            }
        }
        (blocks, table)
    }
}
