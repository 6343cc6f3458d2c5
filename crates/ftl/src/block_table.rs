//! Table of the physical blocks that make up each superblock, one of each plane, and the spare blocks that replace bad ones.

use outlast_media::{BlockAddress, ConfigError, Geometry, PhysicalBlocks};
use outlast_units::{BlockId, LocalDie, SuperblockId};

/// Superblock `s` consists of block `s` of every plane, except where a spare block replaces a bad one.
#[derive(Clone, Debug, outlast_persist::Restore)]
pub(crate) struct BlockTable {
    #[persist(skip)]
    planes_per_die: u16,
    #[persist(skip)]
    planes: usize,
    /// `[superblock][plane]`, row by row.
    #[persist(each)]
    blocks: Vec<BlockId>,
    /// Good spare blocks left, for each plane.
    #[persist(each)]
    spares: Vec<Vec<BlockId>>,
}

impl BlockTable {
    /// Checks that all `superblocks` superblocks can be formed; `bad`: true for each bad block, plane by plane. Needs no memory.
    ///
    /// # Errors
    /// A plane with more bad blocks than spare ones.
    pub(crate) fn check(
        geometry: &Geometry,
        superblocks: u32,
        bad: impl Iterator<Item = bool>,
    ) -> Result<(), ConfigError> {
        let (mut block, mut in_use, mut spares, mut all) = (0, 0, 0, 0);
        for is_bad in bad {
            all += usize::from(is_bad);
            in_use += u32::from(is_bad && block < superblocks);
            spares += u32::from(!is_bad && block >= superblocks);
            block += 1;
            if block == geometry.blocks_per_plane {
                if in_use > spares {
                    return Err(too_few_spares(geometry, all, superblocks));
                }
                (block, in_use, spares, all) = (0, 0, 0, 0);
            }
        }
        Ok(())
    }

    /// A table without superblocks, for a translation layer that is checked and not used.
    pub(crate) fn none() -> Self {
        Self { planes_per_die: 1, planes: 1, blocks: Vec::new(), spares: Vec::new() }
    }

    /// Forms all superblocks, replacing the blocks that are bad from the start.
    ///
    /// # Errors
    /// A plane with more bad blocks than spare ones.
    #[allow(clippy::cast_possible_truncation, reason = "dies and planes come from numbers of 16 bits")]
    pub(crate) fn new(
        geometry: &Geometry,
        dies: u16,
        superblocks: u32,
        blocks: &PhysicalBlocks,
    ) -> Result<Self, ConfigError> {
        let planes_per_die = geometry.planes_per_die;
        let planes = usize::from(dies) * usize::from(planes_per_die);
        let at = |plane: usize, block: u32| BlockAddress {
            die: LocalDie((plane / usize::from(planes_per_die)) as u16),
            plane: (plane % usize::from(planes_per_die)) as u16,
            block: BlockId(block),
        };
        let mut spares: Vec<Vec<BlockId>> = (0..planes)
            .map(|plane| {
                // Reversed, so that `pop` gives the first spare block first.
                let all = (superblocks..geometry.blocks_per_plane).rev();
                all.filter(|&block| !blocks.is_bad(at(plane, block))).map(BlockId).collect()
            })
            .collect();
        let mut members = Vec::with_capacity(planes * superblocks as usize);
        for superblock in 0..superblocks {
            for (plane, spares) in spares.iter_mut().enumerate() {
                let first_choice = at(plane, superblock);
                let member =
                    if blocks.is_bad(first_choice) { spares.pop() } else { Some(first_choice.block) };
                members.push(member.ok_or_else(|| {
                    let bad = (0..geometry.blocks_per_plane).filter(|&block| blocks.is_bad(at(plane, block)));
                    too_few_spares(geometry, bad.count(), superblocks)
                })?);
            }
        }
        assert!(
            members.len() == planes * superblocks as usize,
            "each superblock has one block of each plane"
        );
        assert!(
            spares.iter().flatten().all(|spare| spare.0 >= superblocks),
            "a spare block is a member of a superblock"
        );
        Ok(Self { planes_per_die, planes, blocks: members, spares })
    }

    /// The block of `superblock` in plane `plane` of die `local_die`.
    #[inline]
    pub(crate) fn block(&self, superblock: SuperblockId, local_die: LocalDie, plane: u16) -> BlockAddress {
        let column = local_die.index() * usize::from(self.planes_per_die) + usize::from(plane);
        BlockAddress { die: local_die, plane, block: self.blocks[superblock.index() * self.planes + column] }
    }

    /// Replaces the block of `superblock` in that plane by a spare one, which is returned; `None` when the plane has none left.
    pub(crate) fn replace(
        &mut self,
        superblock: SuperblockId,
        local_die: LocalDie,
        plane: u16,
    ) -> Option<BlockId> {
        let column = local_die.index() * usize::from(self.planes_per_die) + usize::from(plane);
        let spare = self.spares[column].pop()?;
        debug_assert!(
            self.blocks[superblock.index() * self.planes + column] != spare,
            "a block is replaced by itself"
        );
        self.blocks[superblock.index() * self.planes + column] = spare;
        Some(spare)
    }

    /// Puts spare block `block` of that plane in the place of the block that `superblock` has there.
    ///
    /// # Panics
    /// If it is not a spare one.
    pub(crate) fn put(&mut self, superblock: SuperblockId, local_die: LocalDie, plane: u16, block: BlockId) {
        let column = local_die.index() * usize::from(self.planes_per_die) + usize::from(plane);
        let spare = self.spares[column].iter().position(|&spare| spare == block);
        let spare = spare.unwrap_or_else(|| {
            panic!("block {block} is not a spare one of plane {plane} of die {local_die}")
        });
        self.spares[column].remove(spare);
        self.blocks[superblock.index() * self.planes + column] = block;
    }

    /// The first difference from `other`, in words.
    pub(crate) fn difference(&self, other: &Self) -> Option<String> {
        let place = self.blocks.iter().zip(&other.blocks).position(|(here, there)| here != there);
        let spares = || self.spares.iter().zip(&other.spares).position(|(here, there)| here != there);
        if let Some(place) = place {
            let (superblock, plane) = (place / self.planes, place % self.planes);
            let (here, there) = (self.blocks[place], other.blocks[place]);
            return Some(format!(
                "superblock {superblock} has block {here} in plane {plane}, or block {there}"
            ));
        }
        spares().map(|plane| {
            format!(
                "{:?} are the spare blocks of plane {plane}, or {:?}",
                self.spares[plane], other.spares[plane]
            )
        })
    }

    /// Spare blocks left in all planes.
    pub(crate) fn spares_left(&self) -> u64 {
        self.spares.iter().map(|spares| spares.len() as u64).sum()
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        size_of_val(self.blocks.as_slice())
    }
}

fn too_few_spares(geometry: &Geometry, bad: usize, superblocks: u32) -> ConfigError {
    let spare = geometry.blocks_per_plane - superblocks;
    let limit = format!(
        "a plane has {bad} factory bad blocks, more than its spare blocks can replace; raise it above {spare}"
    );
    ConfigError::new("device.ftl.spare_blocks", spare, limit)
}
