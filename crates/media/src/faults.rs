//! Damaged hardware: an overlay over the truth that decides what a sensing, a program or an erasure of it does.
//!
//! A fault does not change the true state of cells. A die that fails closes its lanes; a block that fails is replaced by a spare one at its next erasure; data
//! that relocation cannot read is lost, and recorded as lost.

mod hazard;
mod hazard_clock;
mod spec;
mod tear;

pub use hazard::{AgeFactor, HazardConfig};
pub use hazard_clock::HazardClock;
pub use spec::{FaultKind, FaultSpec};
pub use tear::{ShornShare, UnitTear};

use crate::Geometry;
use outlast_units::rng::{mix, sub_seed};
use outlast_units::{BlockIndex, DieId, ListMap, LocalDie, Row};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// A fault of a drive, with its die.
#[derive(Clone, Copy, Debug, PartialEq, Eq, outlast_persist::Persist)]
pub struct DriveFault {
    /// The die, counted over the drive; of a chip, its first.
    pub die: u16,
    /// Kind of damage.
    pub damage: DieDamage,
}

/// Damage of a die. Planes count within the die, blocks within the plane, pages within the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, outlast_persist::Persist)]
pub enum DieDamage {
    /// One page can be neither read nor programmed any more.
    #[allow(missing_docs, reason = "said above")]
    Page { plane: u16, block: u32, page: u32 },
    /// No page of the wordline that holds this one can be read or programmed any more.
    #[allow(missing_docs, reason = "said above")]
    Wordline { plane: u16, block: u32, page: u32 },
    /// No page of a block can be read or programmed any more.
    #[allow(missing_docs, reason = "said above")]
    Block { plane: u16, block: u32 },
    /// Every operation of a plane fails, for ever.
    #[allow(missing_docs, reason = "said above")]
    Plane { plane: u16 },
    /// Every operation of a die fails, for ever.
    Die,
    /// Every operation of all dies of a chip fails, for ever: see [`DriveFault::dies`].
    Chip,
    /// The next `reads` sensings of the die, or of one block (plane, block) in it, fail; the data are intact.
    #[allow(missing_docs, reason = "said above")]
    TransientRead { block: Option<(u16, u32)>, reads: u32 },
    /// The next program of a block fails, and the block must be retired.
    #[allow(missing_docs, reason = "said above")]
    Program { plane: u16, block: u32 },
    /// The next erasure of a block fails, and the block must be retired.
    #[allow(missing_docs, reason = "said above")]
    Erase { plane: u16, block: u32 },
    /// The whole drive loses its power for a moment; the flash is intact, except for torn units.
    Power(UnitTear),
    /// The non-volatile cache loses the parity of stripes that are not full; the flash is intact.
    ParityCache,
}

impl DriveFault {
    /// The dies that the fault concerns, counted over the drive: one, or those of a chip. [`DieFaults::inject`] each.
    pub fn dies(&self, geometry: &Geometry) -> Range<u16> {
        let count = if self.damage == DieDamage::Chip { geometry.dies_per_chip } else { 1 };
        self.die..self.die + count
    }
}

/// The faults of a set of dies. Dies count within the set; blocks are numbered as by [`crate::PhysicalBlocks::index`].
///
/// Damage of pages, wordlines and blocks is permanent, and the block must be retired when it is next erased. A dead plane, die
/// or chip fails every sensing, program and erasure for ever. With nothing broken, a question costs one comparison.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub struct DieFaults {
    #[persist(fixed)]
    planes_per_die: u16,
    #[persist(fixed)]
    blocks_per_plane: u32,
    #[persist(fixed)]
    pages_per_block: u32,
    #[persist(fixed)]
    pages_per_wordline: u32,
    /// True if any row or plane is broken.
    broken: bool,
    /// By die, then plane.
    dead_planes: Vec<bool>,
    /// Ranges of broken rows by block.
    broken_rows: BTreeMap<BlockIndex, Vec<Range<Row>>>,
    /// Blocks to be retired though no row is broken: a program or erasure failed.
    worn_out: BTreeSet<BlockIndex>,
    /// Blocks whose next program, or erasure, fails.
    program_next: BTreeSet<BlockIndex>,
    erase_next: BTreeSet<BlockIndex>,
    /// Sensings that are still to fail, by die and by block.
    transient_dies: ListMap<LocalDie, u32>,
    transient_blocks: ListMap<BlockIndex, u32>,
    /// True if any sensing can fail transiently.
    transient: bool,
    transient_read: FailureDraw,
    program_failure: FailureDraw,
    erase_failure: FailureDraw,
}

impl DieFaults {
    /// Faultless `dies` dies, which in the drive begin at die `first_die`: each set has its own random numbers. `pages_per_wordline`
    /// consecutive rows share a wordline (the number of page types). `hazards` gives the probabilities of single operations;
    /// its rates are for a [`HazardClock`].
    ///
    /// # Panics
    /// If `pages_per_wordline` is 0.
    pub fn new(
        geometry: &Geometry,
        dies: u16,
        first_die: DieId,
        pages_per_wordline: u32,
        hazards: &HazardConfig,
        seed: u64,
    ) -> Self {
        assert!(pages_per_wordline > 0, "a wordline has at least one page");
        let chance = |name, probability| {
            FailureDraw::new(mix(sub_seed(seed, name) ^ mix(u64::from(first_die.0))), probability)
        };
        Self {
            planes_per_die: geometry.planes_per_die,
            blocks_per_plane: geometry.blocks_per_plane,
            pages_per_block: geometry.pages_per_block,
            pages_per_wordline,
            broken: false,
            dead_planes: vec![false; usize::from(dies) * usize::from(geometry.planes_per_die)],
            broken_rows: BTreeMap::new(),
            worn_out: BTreeSet::new(),
            program_next: BTreeSet::new(),
            erase_next: BTreeSet::new(),
            transient_dies: ListMap::default(),
            transient_blocks: ListMap::default(),
            transient: hazards.transient_read > 0.0,
            transient_read: chance("media.transient_read", hazards.transient_read),
            program_failure: chance("media.program_failure", hazards.program_failure),
            erase_failure: chance("media.erase_failure", hazards.erase_failure),
        }
    }

    /// Damages die `die` of the set.
    ///
    /// # Panics
    /// If the place is not in the set: validation refuses such specifications.
    pub fn inject(&mut self, die: LocalDie, damage: DieDamage) {
        let rows = self.pages_per_block;
        match damage {
            DieDamage::Page { plane, block, page } => self.break_rows(die, plane, block, page..page + 1),
            DieDamage::Wordline { plane, block, page } => {
                let first = page - page % self.pages_per_wordline;
                self.break_rows(die, plane, block, first..rows.min(first + self.pages_per_wordline));
            }
            DieDamage::Block { plane, block } => self.break_rows(die, plane, block, 0..rows),
            DieDamage::Plane { plane } => {
                let plane = self.plane_index(die, plane);
                self.dead_planes[plane] = true;
                self.broken = true;
            }
            DieDamage::Die | DieDamage::Chip => {
                (0..self.planes_per_die).for_each(|plane| self.inject(die, DieDamage::Plane { plane }));
            }
            DieDamage::TransientRead { block, reads } => {
                self.plane_index(die, 0);
                let left = match block {
                    Some((plane, block)) => {
                        self.transient_blocks.or_default(self.block_index(die, plane, block))
                    }
                    None => self.transient_dies.or_default(die),
                };
                *left = left.saturating_add(reads);
                self.transient = true;
            }
            DieDamage::Program { plane, block } => {
                self.program_next.insert(self.block_index(die, plane, block));
            }
            DieDamage::Erase { plane, block } => {
                self.erase_next.insert(self.block_index(die, plane, block));
            }
            DieDamage::Power(_) | DieDamage::ParityCache => {}
        }
    }

    /// True if a row of a block can be sensed at all.
    #[inline]
    pub fn is_readable(&self, block: BlockIndex, row: Row) -> bool {
        !self.broken || !self.is_broken(block, row)
    }

    /// True if this sensing of a block fails although its data are intact. To be called once for each sensing, re-reads included: the result
    /// is a pure function of the seed and the number of calls, except for injected failures, which are used up.
    #[inline]
    pub fn sense_fails_transiently(&mut self, block: BlockIndex) -> bool {
        self.transient && self.draw_transient(block)
    }

    /// True if this program of a row fails: its row is broken or its plane dead, or it was to fail once, or by chance. After
    /// the latter two the block must be retired.
    #[inline]
    pub fn program_fails(&mut self, block: BlockIndex, row: Row) -> bool {
        if !self.is_readable(block, row) {
            return true;
        }
        let by_chance = self.program_failure.draw();
        let fails = by_chance || (!self.program_next.is_empty() && self.program_next.remove(&block));
        if fails {
            self.worn_out.insert(block);
        }
        fails
    }

    /// True if this erasure of a block fails: its plane is dead, or it was to fail once, or by chance. It must then be retired.
    #[inline]
    pub fn erase_fails(&mut self, block: BlockIndex) -> bool {
        if self.broken && self.dead_planes[(block.0 / self.blocks_per_plane) as usize] {
            return true;
        }
        let by_chance = self.erase_failure.draw();
        let fails = by_chance || (!self.erase_next.is_empty() && self.erase_next.remove(&block));
        if fails {
            self.worn_out.insert(block);
        }
        fails
    }

    /// True if a block must be retired instead of being used after its next erasure: a row of it is broken, a program or erasure
    /// of it has failed, or its plane is dead.
    #[inline]
    pub fn block_must_retire(&self, block: BlockIndex) -> bool {
        (self.broken && self.has_broken_rows(block))
            || (!self.worn_out.is_empty() && self.worn_out.contains(&block))
    }

    /// True if every operation of a plane fails.
    pub fn plane_is_dead(&self, die: LocalDie, plane: u16) -> bool {
        self.dead_planes[self.plane_index(die, plane)]
    }

    /// True if every operation of a die fails: all its planes are dead.
    pub fn die_is_dead(&self, die: LocalDie) -> bool {
        (0..self.planes_per_die).all(|plane| self.plane_is_dead(die, plane))
    }

    /// True if any page, plane or die is broken.
    pub fn any_broken(&self) -> bool {
        self.broken
    }

    fn plane_index(&self, die: LocalDie, plane: u16) -> usize {
        assert!(plane < self.planes_per_die, "no plane {plane}");
        let index = die.index() * usize::from(self.planes_per_die) + usize::from(plane);
        assert!(index < self.dead_planes.len(), "no die {die} in the set");
        index
    }

    fn block_index(&self, die: LocalDie, plane: u16, block: u32) -> BlockIndex {
        assert!(block < self.blocks_per_plane, "no block {block}");
        BlockIndex(self.plane_index(die, plane) as u32 * self.blocks_per_plane + block)
    }

    fn break_rows(&mut self, die: LocalDie, plane: u16, block: u32, rows: Range<u32>) {
        assert!(rows.end <= self.pages_per_block && !rows.is_empty(), "no pages {rows:?}");
        let (block, rows) = (self.block_index(die, plane, block), Row(rows.start)..Row(rows.end));
        let broken = self.broken_rows.entry(block).or_default();
        // Hazards may damage a block again and again: ranges that are broken already take no more room.
        if !broken.iter().any(|other| other.start <= rows.start && rows.end <= other.end) {
            broken.retain(|other| !(rows.start <= other.start && other.end <= rows.end));
            broken.push(rows);
        }
        self.broken = true;
    }

    #[cold]
    fn is_broken(&self, block: BlockIndex, row: Row) -> bool {
        self.dead_planes[(block.0 / self.blocks_per_plane) as usize]
            || self.broken_rows.get(&block).is_some_and(|rows| rows.iter().any(|rows| rows.contains(&row)))
    }

    #[cold]
    fn has_broken_rows(&self, block: BlockIndex) -> bool {
        self.dead_planes[(block.0 / self.blocks_per_plane) as usize] || self.broken_rows.contains_key(&block)
    }

    fn draw_transient(&mut self, block: BlockIndex) -> bool {
        let by_chance = self.transient_read.draw();
        let die = LocalDie((block.0 / self.blocks_per_plane / u32::from(self.planes_per_die)) as u16);
        let injected = use_up(&mut self.transient_blocks, block) || use_up(&mut self.transient_dies, die);
        self.transient = self.transient_read.threshold > 0
            || !self.transient_blocks.is_empty()
            || !self.transient_dies.is_empty();
        by_chance || injected
    }
}

/// Decrements the count of `key`; true if it was above 0.
fn use_up<K: Copy + Ord>(counts: &mut ListMap<K, u32>, key: K) -> bool {
    let Some(left) = counts.get_mut(key) else { return false };
    let any = *left > 0;
    *left = left.saturating_sub(1);
    if *left == 0 {
        counts.remove(key);
    }
    any
}

/// Independent draws with one probability: the n-th is a pure function of the seed and n.
#[derive(Clone, Debug, outlast_persist::Persist)]
struct FailureDraw {
    #[persist(fixed)]
    seed: u64,
    /// A random word below it is a hit.
    #[persist(fixed)]
    threshold: u64,
    drawn: u64,
}

impl FailureDraw {
    fn new(seed: u64, probability: f64) -> Self {
        // 2^64; the conversion saturates, so that a probability of 1 always hits.
        Self { seed, threshold: (probability * 18_446_744_073_709_551_616.0) as u64, drawn: 0 }
    }

    #[inline]
    fn draw(&mut self) -> bool {
        if self.threshold == 0 {
            return false;
        }
        self.drawn += 1;
        mix(self.seed ^ self.drawn) < self.threshold
    }
}
