//! Which physical blocks superblocks consist of, from flash alone: the marks of the factory on its bad blocks, and a list of those that were
//! given up since, each with the block that took its place.

use crate::block_table::BlockTable;
use crate::layout::Layout;
use outlast_media::{DefectConfig, Geometry, PhysicalBlocks};
use outlast_units::{BlockId, BlockIndex, SuperblockId};

/// A block that was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, outlast_persist::Persist)]
pub(crate) struct GivenUp {
    pub(crate) superblock: SuperblockId,
    pub(crate) block: BlockIndex,
    /// The block of the same plane that took its place, if there was one.
    pub(crate) by: Option<BlockId>,
}

/// What is on flash about blocks.
#[derive(Clone, Debug)]
pub(crate) struct Marks {
    geometry: Geometry,
    dies: u16,
    superblocks: u32,
    /// From these and the seed the marks of the factory follow.
    defects: DefectConfig,
    seed: u64,
}

impl Marks {
    /// Those of the factory.
    pub(crate) fn new(geometry: &Geometry, layout: &Layout, defects: &DefectConfig, seed: u64) -> Self {
        Self {
            geometry: geometry.clone(),
            dies: layout.dies(),
            superblocks: layout.superblocks(),
            defects: defects.clone(),
            seed,
        }
    }

    /// Which blocks are bad and which make up each superblock, after `given_up`.
    ///
    /// # Panics
    /// If the factory's bad blocks are more than the spare ones: such a drive is refused.
    pub(crate) fn rebuild(&self, given_up: &[GivenUp]) -> (PhysicalBlocks, BlockTable) {
        let mut blocks = PhysicalBlocks::new(&self.geometry, self.dies, &self.defects, self.seed);
        let table = BlockTable::new(&self.geometry, self.dies, self.superblocks, &blocks);
        let mut table = table.expect("a drive that was built has spare blocks for the factory's bad ones");
        for &GivenUp { superblock, block, by } in given_up {
            let at = blocks.address(block);
            blocks.retire(at);
            if let Some(by) = by {
                table.put(superblock, at.die, at.plane, by);
            }
        }
        (blocks, table)
    }
}
