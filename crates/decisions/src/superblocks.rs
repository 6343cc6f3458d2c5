//! Decisions about superblocks: what a policy sees, what it draws lots with, and its interface.

use crate::{Forks, Loaded};
use outlast_units::rng::SplitMix;
use outlast_units::{Stream, SuperblockId};
use std::fmt;

/// In a count of valid units: the superblock is no candidate (free, open, being collected, retired).
pub const NO_CANDIDATE: u32 = 1 << 31;

/// State of a superblock. Policies of the user's see them as these numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, outlast_persist::Persist)]
#[repr(u8)]
pub enum State {
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

/// The superblocks of a flash core: of each column, one entry for each superblock, in order.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// Valid units. `1 << 31` is added to those of a superblock that must not be taken: it is free, open, being collected or retired.
    /// Where superblocks hold different amounts of data, it is the part of `units` that the valid ones would fill; at most `units` are told of, as more gain
    /// no more than that.
    pub valid: &'a [u32],
    /// The clock when a superblock was last sealed.
    pub sealed_at: &'a [u64],
    /// How many superblocks had been sealed before it. Not the clock, which stands still while the host waits.
    pub sealed_order: &'a [u64],
    /// P/E cycles, the mean of the superblock's blocks.
    pub cycles: &'a [u32],
    /// The stream that opened it last: those of the host's classes and hints first, then those that data moves to.
    pub streams: &'a [Stream],
    /// The state of each: whether it is free, say.
    pub states: &'a [State],
    /// Units that the host has written so far.
    pub clock: u64,
    /// Units that a superblock would have if all were valid.
    pub units: u32,
    /// What the cells have gone through, where the policy asks to see it; absent in writes without time.
    pub cells: Option<&'a CellColumns>,
}

/// What the cells of each superblock have gone through; 0 where it is not sealed, or where flash never errs.
#[derive(Clone, Debug, Default)]
pub struct CellColumns {
    /// Reads since the erasure, of the block that was read most.
    pub reads: Vec<u32>,
    /// Pages that were read again since the erasure.
    pub rereads: Vec<u32>,
    /// The greatest expected number of wrong bits of a codeword. No real drive can know.
    pub errors: Vec<f64>,
    /// Days since the oldest data was written.
    pub days: Vec<f64>,
}

impl View<'_> {
    /// Superblocks, be they candidates or not.
    #[inline]
    pub fn superblocks(&self) -> u32 {
        self.valid.len() as u32
    }

    /// Those that may be taken, in order, with their valid units.
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

    /// Whether `superblock` may be taken.
    #[inline]
    pub fn is_candidate(&self, superblock: SuperblockId) -> bool {
        self.valid.get(superblock.0 as usize).is_some_and(|valid| valid & NO_CANDIDATE == 0)
    }

    /// Whether the collection of some candidate would gain space.
    #[inline]
    pub fn gains(&self) -> bool {
        self.candidates().any(|(_, valid)| valid < self.units)
    }

    /// Units that the host has written since a superblock was sealed.
    #[inline]
    pub fn age(&self, superblock: SuperblockId) -> u64 {
        self.clock - self.sealed_at[superblock.0 as usize]
    }

    /// The order in which superblocks were sealed.
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

/// What a policy that draws lots has at hand.
#[derive(Debug)]
pub struct Draws<'a> {
    /// How many candidates to draw.
    pub choices: u32,
    /// The generator of the core; anything random comes from here, so that runs repeat.
    pub rng: &'a mut SplitMix,
}

/// Which superblock is emptied next: a decision that sees a view of the superblocks and changes nothing. Garbage collection asks for the
/// one that gains space, static wear levelling for one whose data has lain too long, scrubbing for those whose data goes bad.
///
/// The built-in policies of collection are those that `device.ftl.gc.policy` names.
pub trait SuperblockChoice: fmt::Debug + Send + Sync {
    /// A candidate of `view`; `None` where none is worth it now. Anything random is drawn from `draws`, so that runs repeat.
    ///
    /// # Errors
    /// What went wrong, in one line: the run ends.
    fn choose(&mut self, view: &View<'_>, draws: &mut Draws<'_>) -> Result<Option<SuperblockId>, String>;

    /// Whether it is to see [`View::cells`], which takes a look at every block.
    fn sees_cells(&self) -> bool {
        false
    }

    /// Another one in the same state, for a drive that is forked.
    fn fork(&self) -> Box<dyn SuperblockChoice>;
}

/// A policy of superblocks of the user's, in the place of a built-in one.
pub type OwnChoice = Loaded<dyn SuperblockChoice>;

impl Forks for dyn SuperblockChoice {
    fn fork(&self) -> Box<Self> {
        SuperblockChoice::fork(self)
    }
}
