//! Health of lanes: dies that have failed or are absent, bad blocks that nothing replaces, program operations that failed.

use crate::lane_set::LaneSet;
use outlast_units::{IndexVec, LaneIndex, ListMap, Pu, SuperblockId};
use std::collections::BTreeSet;

/// Lanes of a superblock that hold no data, or take no more.
#[derive(Clone, Debug, outlast_persist::Persist)]
struct LaneGaps {
    /// Gone when the superblock was opened: its stripes are laid around them.
    opened: LaneSet,
    /// Given up since: nothing more is programmed there.
    since: LaneSet,
    /// True if the superblock takes no more data, though it is not full.
    closed: bool,
    /// True if a loss of power took members of stripes that will not be programmed again.
    cut: bool,
}

/// Damage of a flash core, lane by lane.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub(crate) struct LaneHealth {
    /// Number of lanes.
    #[persist(fixed)]
    count: u32,
    /// Lanes whose die or plane has failed, or is absent.
    dead: LaneSet,
    /// Lanes among `dead` that are absent and have not failed.
    absent: LaneSet,
    /// Lanes of each superblock that have a bad block which nothing replaces.
    missing: ListMap<SuperblockId, LaneSet>,
    /// Gaps of superblocks that have some, or in which each program unit has a bit that says if it is on flash.
    gaps: IndexVec<SuperblockId, Option<Box<LaneGaps>>>,
    /// Program units whose program operation failed after their stripe's parity was computed.
    failed: BTreeSet<Pu>,
    /// True if a program operation, or power, has ever failed.
    had_failures: bool,
}

impl LaneHealth {
    /// `count` lanes of `superblocks` superblocks, none damaged.
    pub(crate) fn new(count: u32, superblocks: usize) -> Self {
        Self {
            count,
            dead: LaneSet::new(count as usize),
            absent: LaneSet::new(count as usize),
            missing: ListMap::default(),
            gaps: IndexVec::filled(None, superblocks),
            failed: BTreeSet::new(),
            had_failures: false,
        }
    }

    /// True if a lane is gone in all superblocks.
    #[inline]
    pub(crate) fn is_dead(&self, lane: LaneIndex) -> bool {
        self.dead.contains(lane)
    }

    /// The lanes that are gone in all superblocks, if there are any.
    pub(crate) fn dead(&self) -> Option<&LaneSet> {
        Some(&self.dead).filter(|dead| !dead.is_empty())
    }

    /// Number of lanes that are gone in all superblocks.
    pub(crate) fn dead_count(&self) -> u32 {
        self.dead.len()
    }

    /// All lanes, live or gone.
    fn all(&self) -> impl Iterator<Item = LaneIndex> + use<> {
        LaneIndex::each(LaneIndex(0)..LaneIndex(self.count))
    }

    /// Lanes that are not gone.
    pub(crate) fn live(&self) -> impl Iterator<Item = LaneIndex> {
        self.all().filter(|&lane| !self.dead.contains(lane))
    }

    /// Lanes that have failed as a whole, with their die or plane.
    pub(crate) fn failed_for_good(&self) -> impl Iterator<Item = LaneIndex> {
        self.all().filter(|&lane| self.dead.contains(lane) && !self.absent.contains(lane))
    }

    /// Marks a lane as absent: it is added later.
    pub(crate) fn mark_absent(&mut self, lane: LaneIndex) {
        self.mark_dead(lane);
        self.absent.insert(lane);
    }

    /// Marks a lane as gone in all superblocks.
    pub(crate) fn mark_dead(&mut self, lane: LaneIndex) {
        debug_assert!(
            lane.0 < self.count && !self.dead.contains(lane),
            "lane {lane} fails twice, or is none"
        );
        self.dead.insert(lane);
    }

    /// Marks a lane that was absent as present.
    pub(crate) fn mark_present(&mut self, lane: LaneIndex) {
        debug_assert!(
            lane.0 < self.count && self.dead.contains(lane),
            "lane {lane} is there already, or is none"
        );
        self.dead.remove(lane);
        self.absent.remove(lane);
    }

    /// True if a lane of `superblock` has a bad block that nothing replaces.
    #[inline]
    pub(crate) fn is_missing(&self, superblock: SuperblockId, lane: LaneIndex) -> bool {
        self.missing_of(superblock).is_some_and(|missing| missing.contains(lane))
    }

    /// Lanes of `superblock` that have a bad block which nothing replaces.
    #[inline]
    pub(crate) fn missing_of(&self, superblock: SuperblockId) -> Option<&LaneSet> {
        if self.missing.is_empty() { None } else { self.missing.get(superblock) }
    }

    /// Number of missing lanes, summed over all superblocks.
    pub(crate) fn missing_count(&self) -> u32 {
        self.missing.values().map(LaneSet::len).sum()
    }

    /// Marks a lane of `superblock` as missing: it has a bad block that nothing replaces.
    pub(crate) fn mark_missing(&mut self, superblock: SuperblockId, lane: LaneIndex) {
        debug_assert!(!self.dead.contains(lane), "a block of a failed die is missed");
        let missing = self.missing.or_default(superblock);
        if missing.is_empty() {
            *missing = LaneSet::new(self.count as usize);
        }
        missing.insert(lane);
    }

    /// Forgets missing lanes that are gone in all superblocks.
    pub(crate) fn forget_missing_of_dead(&mut self) {
        for (_, missing) in self.missing.iter_mut() {
            missing.remove_all(&self.dead);
        }
        self.missing.retain(|_, missing| !missing.is_empty());
    }

    /// The lanes on which `superblock` has blocks to be erased: those that are neither gone nor left out of it.
    pub(crate) fn erasable(&self, superblock: SuperblockId) -> impl Iterator<Item = LaneIndex> {
        self.live().filter(move |&lane| !self.is_missing(superblock, lane))
    }

    /// True if `superblock` misses no more than `tolerated` lanes of its own, and has one left.
    pub(crate) fn is_usable(&self, superblock: SuperblockId, tolerated: u16) -> bool {
        self.missing_of(superblock).is_none_or(|missing| {
            missing.len() <= u32::from(tolerated) && self.erasable(superblock).next().is_some()
        })
    }

    /// Opens `superblock` without the lanes that it lacks; returns their number.
    pub(crate) fn open(&mut self, superblock: SuperblockId) -> u32 {
        let missing = self.missing.get(superblock);
        if self.dead.is_empty() && missing.is_none() {
            return 0;
        }
        let mut opened = self.dead.clone();
        let missing_lanes = self.all().filter(|&lane| missing.is_some_and(|missing| missing.contains(lane)));
        missing_lanes.for_each(|lane| opened.insert(lane));
        let gone = opened.len();
        debug_assert!(gone < self.count, "superblock {superblock} is opened without a lane");
        debug_assert!(self.gaps[superblock].is_none(), "superblock {superblock} is opened with gaps");
        let none = LaneSet::new(self.count as usize);
        self.gaps[superblock] = Some(Box::new(LaneGaps { opened, since: none, closed: false, cut: false }));
        gone
    }

    /// The lanes that `superblock` lacked when it was opened, if any.
    pub(crate) fn opened(&self, superblock: SuperblockId) -> Option<&LaneSet> {
        self.gaps[superblock].as_ref().map(|gaps| &gaps.opened).filter(|opened| !opened.is_empty())
    }

    /// True if nothing more is programmed on a lane of `superblock`, which had it when it was opened.
    pub(crate) fn is_given_up(&self, superblock: SuperblockId, lane: LaneIndex) -> bool {
        self.gaps[superblock].as_ref().is_some_and(|gaps| gaps.since.contains(lane))
    }

    /// Gives up a lane of `superblock`, on which nothing more is programmed; false if it was given up or gone before.
    pub(crate) fn give_up(&mut self, superblock: SuperblockId, lane: LaneIndex) -> bool {
        self.mark_irregular(superblock);
        let gaps = self.gaps[superblock].as_mut().expect("it has just been marked");
        if gaps.opened.contains(lane) || gaps.since.contains(lane) {
            return false;
        }
        gaps.since.insert(lane);
        true
    }

    /// Marks `superblock` as irregular: its program units are on flash only if their bits say so.
    pub(crate) fn mark_irregular(&mut self, superblock: SuperblockId) {
        let none = || LaneSet::new(self.count as usize);
        self.gaps[superblock].get_or_insert_with(|| {
            Box::new(LaneGaps { opened: none(), since: none(), closed: false, cut: false })
        });
    }

    /// Closes `superblock`, though it is not full: it takes no more data.
    pub(crate) fn close(&mut self, superblock: SuperblockId) {
        self.mark_irregular(superblock);
        if let Some(gaps) = self.gaps[superblock].as_mut() {
            gaps.closed = true;
        }
    }

    /// True if `superblock` was closed before it was full.
    #[inline]
    pub(crate) fn is_closed(&self, superblock: SuperblockId) -> bool {
        self.gaps[superblock].as_ref().is_some_and(|gaps| gaps.closed)
    }

    /// Marks `superblock` as cut: a loss of power took members of its stripes, which will not be programmed again.
    pub(crate) fn mark_cut(&mut self, superblock: SuperblockId) {
        self.mark_irregular(superblock);
        if let Some(gaps) = self.gaps[superblock].as_mut() {
            gaps.cut = true;
        }
    }

    /// True if a loss of power took members of stripes of `superblock`.
    #[inline]
    pub(crate) fn is_cut(&self, superblock: SuperblockId) -> bool {
        self.gaps[superblock].as_ref().is_some_and(|gaps| gaps.cut)
    }

    /// True if program units of `superblock` may be missing on flash even when none is to come any more.
    #[inline]
    pub(crate) fn is_irregular(&self, superblock: SuperblockId) -> bool {
        self.gaps[superblock].is_some()
    }

    /// Marks `pu` as failed after the parity of its stripe was computed.
    pub(crate) fn mark_failed(&mut self, pu: Pu) {
        self.failed.insert(pu);
    }

    /// True if the program operation of `pu` failed after the parity of its stripe was computed.
    pub(crate) fn has_failed(&self, pu: Pu) -> bool {
        !self.failed.is_empty() && self.failed.contains(&pu)
    }

    /// Forgets gaps and failed program units of `superblock`, of program units `pus`, which has been erased.
    pub(crate) fn forget(&mut self, superblock: SuperblockId, pus: std::ops::Range<Pu>) {
        self.gaps[superblock] = None;
        if !self.failed.is_empty() {
            self.failed.retain(|pu| !pus.contains(pu));
        }
    }

    /// Records that a program operation, or power, has failed: superblocks held back for relocation may be spent.
    pub(crate) fn record_failure(&mut self) {
        self.had_failures = true;
    }

    /// True if a program operation, or power, has ever failed.
    pub(crate) fn has_had_failures(&self) -> bool {
        self.had_failures
    }

    /// True if any lane is gone, in all superblocks or in one.
    pub(crate) fn lacks_any(&self) -> bool {
        !self.dead.is_empty() || !self.missing.is_empty()
    }

    /// Bytes for each superblock.
    pub(crate) const BYTES_EACH: usize = size_of::<Option<Box<LaneGaps>>>();

    /// Checks that each lane counts as gone once, and that no erased superblock has gaps.
    ///
    /// # Errors
    /// The first disagreement.
    pub(crate) fn check(&self, is_erased: impl Fn(SuperblockId) -> bool) -> Result<(), String> {
        for (superblock, missing) in self.missing.iter() {
            if missing.is_empty() || self.all().any(|lane| missing.contains(lane) && self.dead.contains(lane))
            {
                return Err(format!("superblock {superblock} misses no lane, or one that is gone anyway"));
            }
        }
        for (superblock, gaps) in self.gaps.iter_indexed() {
            let Some(gaps) = gaps else { continue };
            if is_erased(superblock) {
                return Err(format!("superblock {superblock} is erased and has gaps"));
            }
            if self.all().any(|lane| gaps.opened.contains(lane) && gaps.since.contains(lane)) {
                return Err(format!("superblock {superblock} gave up a lane that it never had"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
