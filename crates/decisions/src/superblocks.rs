//! Choice of superblocks: the table that a policy sees, its random numbers, and its interface.

use crate::{ForkPolicy, LoadedPolicy};
use outlast_units::rng::SplitMix;
use outlast_units::{Stream, SuperblockId};
use std::fmt;

/// Flag in a count of valid units: the superblock is no candidate (free, open, being collected, retired).
pub const NO_CANDIDATE: u32 = 1 << 31;

/// State of a superblock. User policies see it as a number, so that the order of the variants is fixed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, outlast_persist::Persist)]
#[repr(u8)]
pub enum SuperblockState {
    /// Erased.
    Free,
    /// A stream's frontier, or filled and not wholly programmed yet.
    Open,
    /// Programmed; a candidate for collection.
    Sealed,
    /// Being relocated, then erased.
    Collecting,
    /// Given up: a block went bad and no spare was left.
    Retired,
}

/// The superblocks of a flash core, as a table: in each column one entry for each superblock, in order of their numbers.
#[derive(Clone, Copy, Debug)]
pub struct SuperblockColumns<'a> {
    /// Valid units, plus [`NO_CANDIDATE`] for a superblock that must not be taken. If superblocks hold different amounts of data, this is
    /// scaled to the part of `units` that the valid units would fill, at most `units`.
    pub valid: &'a [u32],
    /// Value of `clock` when each superblock was last sealed.
    pub sealed_at: &'a [u64],
    /// Number of superblocks sealed before each one. Unlike the clock, it also advances while the host waits.
    pub sealed_order: &'a [u64],
    /// P/E cycles, the mean of the superblock's blocks.
    pub cycles: &'a [u32],
    /// Stream that opened each superblock last; streams of the host's classes and hints come first, then those of moved data.
    pub streams: &'a [Stream],
    /// State of each superblock.
    pub states: &'a [SuperblockState],
    /// Units written by the host so far.
    pub clock: u64,
    /// Units that a superblock would have if all were valid.
    pub units: u32,
    /// Wear and disturbance of the cells, if the policy asks for it; absent in writes without time.
    pub cells: Option<&'a CellColumns>,
}

/// Wear and disturbance of the cells of each superblock; 0 if it is not sealed, or if flash never errs.
#[derive(Clone, Debug, Default)]
pub struct CellColumns {
    /// Reads since the erasure, of its most-read block.
    pub reads: Vec<u32>,
    /// Pages that were read again since the erasure.
    pub rereads: Vec<u32>,
    /// Greatest expected number of wrong bits in a codeword. A real drive cannot know it.
    pub errors: Vec<f64>,
    /// Days since the oldest data was written.
    pub days: Vec<f64>,
}

impl SuperblockColumns<'_> {
    /// Number of superblocks, candidates or not.
    #[inline]
    pub fn superblocks(&self) -> u32 {
        self.valid.len() as u32
    }

    /// The candidates, in order, with their valid units.
    #[inline]
    pub fn candidates(&self) -> impl Iterator<Item = (SuperblockId, u32)> {
        let all = (0u32..).map(SuperblockId).zip(self.valid.iter().copied());
        all.filter(|&(_, valid)| valid & NO_CANDIDATE == 0)
    }

    /// Valid units of a superblock.
    #[inline]
    pub fn valid(&self, superblock: SuperblockId) -> u32 {
        self.valid[superblock.0 as usize] & !NO_CANDIDATE
    }

    /// True if `superblock` may be taken.
    #[inline]
    pub fn is_candidate(&self, superblock: SuperblockId) -> bool {
        self.valid.get(superblock.0 as usize).is_some_and(|valid| valid & NO_CANDIDATE == 0)
    }

    /// True if the collection of some candidate would gain space.
    #[inline]
    pub fn gains(&self) -> bool {
        self.candidates().any(|(_, valid)| valid < self.units)
    }

    /// Units written by the host since a superblock was sealed.
    #[inline]
    pub fn age(&self, superblock: SuperblockId) -> u64 {
        self.clock - self.sealed_at[superblock.0 as usize]
    }

    /// Rank of a superblock in the order of sealing.
    #[inline]
    pub fn order(&self, superblock: SuperblockId) -> u64 {
        self.sealed_order[superblock.0 as usize]
    }

    /// P/E cycles of a superblock, the mean of its blocks.
    #[inline]
    pub fn cycles(&self, superblock: SuperblockId) -> u32 {
        self.cycles[superblock.0 as usize]
    }
}

/// Random numbers for a policy, and the number of its draws.
#[derive(Debug)]
pub struct RandomDraws<'a> {
    /// Number of candidates to draw.
    pub choices: u32,
    /// Generator of the flash core. Policies use no other, so that runs are reproducible.
    pub rng: &'a mut SplitMix,
}

/// Choice of the superblock to empty next, from a table of all superblocks; changes nothing but its own state. Garbage collection asks for the
/// one that gains space, static wear levelling for one whose data has lain too long, scrubbing for those whose data goes bad.
///
/// The built-in policies of collection are those that `device.ftl.gc.policy` names.
pub trait SuperblockChoice: fmt::Debug + Send + Sync {
    /// Chooses a candidate of `view`, or `None` if none is worth it now. Random numbers come from `draws` alone, so that runs are
    /// reproducible.
    ///
    /// # Errors
    /// The error of the user's code, in one line: the run ends.
    fn choose(
        &mut self,
        view: &SuperblockColumns<'_>,
        draws: &mut RandomDraws<'_>,
    ) -> Result<Option<SuperblockId>, String>;

    /// True if the policy needs [`SuperblockColumns::cells`], which costs a look at every block.
    fn sees_cells(&self) -> bool {
        false
    }

    /// A copy in the same state, for a drive that is forked.
    fn fork(&self) -> Box<dyn SuperblockChoice>;
}

/// A user policy that chooses superblocks, in place of a built-in one.
pub type SuperblockPolicy = LoadedPolicy<dyn SuperblockChoice>;

impl ForkPolicy for dyn SuperblockChoice {
    fn fork(&self) -> Box<Self> {
        SuperblockChoice::fork(self)
    }
}
