//! The state of every physical block: wear, whether it is bad.

use crate::{ConfigError, Geometry};
use outlast_units::rng::SplitMix;
use outlast_units::{BlockId, BlockIndex, IndexVec, JsonSchema, LocalDie};
use serde::{Deserialize, Serialize};

/// Blocks that are bad when the drive leaves the factory, and when good ones wear out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DefectConfig {
    /// Share of all blocks that are bad from the factory, drawn from the seed; 0 to 0.5.
    pub factory_bad: f64,
    /// P/E cycles after which a block is retired and replaced by a spare one; absent: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endurance: Option<u32>,
}

impl DefectConfig {
    /// Checks the settings by themselves.
    ///
    /// # Errors
    /// The first setting that is out of range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        if !(0.0..=0.5).contains(&self.factory_bad) {
            let limit = "must be between 0 and 0.5";
            return Err(ConfigError::new("device.defects.factory_bad", self.factory_bad, limit));
        }
        if self.endurance == Some(0) {
            return Err(ConfigError::new("device.defects.endurance", 0, "must be at least 1 cycle"));
        }
        Ok(())
    }
}

/// One physical block of a set of dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockAddress {
    /// Die, counted within the set.
    pub die: LocalDie,
    /// Plane within the die.
    pub plane: u16,
    /// Block within the plane.
    pub block: BlockId,
}

/// Wear and bad blocks of a set of dies. Asserts that bad blocks are not erased; how far blocks are programmed is the business of
/// [`ProgramOrder`](crate::ProgramOrder).
#[derive(Clone, Debug, outlast_persist::Restore)]
pub struct PhysicalBlocks {
    #[persist(skip)]
    planes_per_die: usize,
    #[persist(skip)]
    per_plane: usize,
    /// P/E cycles.
    #[persist(each)]
    cycles: IndexVec<BlockIndex, u32>,
    #[persist(each)]
    bad: IndexVec<BlockIndex, bool>,
    erases: u64,
    max_cycles: u32,
}

impl PhysicalBlocks {
    /// For each block of `dies` dies, true if it is bad from the factory, plane by plane, drawn from `seed`.
    pub fn bad_when_new(
        geometry: &Geometry,
        dies: u16,
        defects: &DefectConfig,
        seed: u64,
    ) -> impl Iterator<Item = bool> + use<> {
        let planes = u64::from(dies) * u64::from(geometry.planes_per_die);
        let share = defects.factory_bad;
        let mut rng = SplitMix::new(seed, "media.factory_bad");
        (0..planes * u64::from(geometry.blocks_per_plane)).map(move |_| share > 0.0 && rng.unit() < share)
    }

    /// A table without blocks, for a translation layer whose settings are checked and which is not used.
    pub fn none(geometry: &Geometry) -> Self {
        Self {
            planes_per_die: usize::from(geometry.planes_per_die),
            per_plane: geometry.blocks_per_plane as usize,
            cycles: IndexVec::default(),
            bad: IndexVec::default(),
            erases: 0,
            max_cycles: 0,
        }
    }

    /// All blocks of `dies` dies, erased and unworn, the factory's bad ones drawn from `seed`.
    pub fn new(geometry: &Geometry, dies: u16, defects: &DefectConfig, seed: u64) -> Self {
        let planes = usize::from(dies) * usize::from(geometry.planes_per_die);
        let count = planes * geometry.blocks_per_plane as usize;
        let bad = Self::bad_when_new(geometry, dies, defects, seed).collect();
        Self {
            planes_per_die: usize::from(geometry.planes_per_die),
            per_plane: geometry.blocks_per_plane as usize,
            cycles: IndexVec::filled(0, count),
            bad,
            erases: 0,
            max_cycles: 0,
        }
    }

    /// The number of a block: its place in [`PhysicalBlocks::all_cycles`].
    #[inline]
    pub fn index(&self, at: BlockAddress) -> BlockIndex {
        debug_assert!(
            at.block.index() < self.per_plane,
            "block {} of a plane of {}",
            at.block,
            self.per_plane
        );
        let plane = at.die.index() * self.planes_per_die + usize::from(at.plane);
        BlockIndex((plane * self.per_plane + at.block.index()) as u32)
    }

    /// The block of that number: the inverse of [`PhysicalBlocks::index`].
    pub fn address(&self, index: BlockIndex) -> BlockAddress {
        let (plane, block) = (index.index() / self.per_plane, index.index() % self.per_plane);
        BlockAddress {
            die: LocalDie((plane / self.planes_per_die) as u16),
            plane: (plane % self.planes_per_die) as u16,
            block: BlockId(block as u32),
        }
    }

    /// Gives every block the wear that it comes with, in order of [`PhysicalBlocks::index`].
    ///
    /// # Panics
    /// If there is not one number for each block.
    pub fn set_cycles(&mut self, cycles: &[u32]) {
        self.cycles.as_mut_slice().copy_from_slice(cycles);
        self.max_cycles = cycles.iter().copied().max().unwrap_or(0);
    }

    /// Erases a block.
    ///
    /// # Panics
    /// If the block is bad.
    #[inline]
    pub fn erase(&mut self, at: BlockAddress) {
        let index = self.index(at);
        assert!(!self.bad[index], "bad block {at:?} erased");
        self.cycles[index] += 1;
        self.max_cycles = self.max_cycles.max(self.cycles[index]);
        self.erases += 1;
    }

    /// P/E cycles of a block.
    #[inline]
    pub fn cycles(&self, at: BlockAddress) -> u32 {
        self.cycles[self.index(at)]
    }

    /// True if a block is bad.
    #[inline]
    pub fn is_bad(&self, at: BlockAddress) -> bool {
        self.bad[self.index(at)]
    }

    /// Marks a block as bad, permanently.
    pub fn retire(&mut self, at: BlockAddress) {
        let index = self.index(at);
        self.bad[index] = true;
    }

    /// Block erasures so far.
    pub fn erases(&self) -> u64 {
        self.erases
    }

    /// The most-worn block's P/E cycles.
    pub fn max_cycles(&self) -> u32 {
        self.max_cycles
    }

    /// Mean P/E cycles over good blocks.
    pub fn mean_cycles(&self) -> f64 {
        let (sum, count) = self
            .cycles
            .iter()
            .zip(&self.bad)
            .filter(|&(_, &bad)| !bad)
            .fold((0u64, 0u64), |(sum, count), (&cycles, _)| (sum + u64::from(cycles), count + 1));
        if count == 0 { 0.0 } else { sum as f64 / count as f64 }
    }

    /// P/E cycles of every block: planes in order of die, then plane; blocks in order within.
    pub fn all_cycles(&self) -> &IndexVec<BlockIndex, u32> {
        &self.cycles
    }

    /// For each block, true if it is bad, in the order of [`PhysicalBlocks::all_cycles`].
    pub fn all_bad(&self) -> impl Iterator<Item = bool> {
        self.bad.iter().copied()
    }

    /// Number of bad blocks.
    pub fn bad_blocks(&self) -> u64 {
        self.bad.iter().filter(|&&bad| bad).count() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outlast_units::Bytes;

    fn geometry() -> Geometry {
        Geometry {
            channels: 1,
            chips_per_channel: 1,
            dies_per_chip: 2,
            planes_per_die: 2,
            blocks_per_plane: 1000,
            pages_per_block: 4,
            page_size: Bytes::kib(4),
            spare_per_page: Bytes(0),
        }
    }

    const AT: BlockAddress = BlockAddress { die: LocalDie(1), plane: 1, block: BlockId(7) };

    #[test]
    fn erasing_counts_cycles() {
        let mut blocks = PhysicalBlocks::new(&geometry(), 2, &DefectConfig::default(), 1);
        blocks.erase(AT);
        assert_eq!((blocks.cycles(AT), blocks.erases(), blocks.max_cycles()), (1, 1, 1));
    }

    #[test]
    #[should_panic(expected = "erased")]
    fn a_bad_block_is_left_alone() {
        let mut blocks = PhysicalBlocks::new(&geometry(), 2, &DefectConfig::default(), 1);
        blocks.retire(AT);
        blocks.erase(AT);
    }

    #[test]
    fn factory_bad_blocks_have_the_rate_asked_for() {
        let defects = DefectConfig { factory_bad: 0.02, endurance: None };
        let bad = PhysicalBlocks::new(&geometry(), 2, &defects, 3).bad_blocks();
        // Binomial(4000, 0.02): mean 80, sigma 8.9; six sigma.
        assert!(bad.abs_diff(80) < 54, "{bad}");
    }
}
