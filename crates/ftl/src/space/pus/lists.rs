//! Lists of owners, entrusted to a neighbour: section 6 of Reparo. The owners of the units on a die are also kept on the die before it
//! in allocation order, so that what was on a die that has failed can be found without a search of the mapping table: in the spare
//! area of the neighbour's pages, which costs nothing, or in the last page of its blocks, which is kept for this.
//!
//! A list has the owners at the time of its writing: [`Ftl::owner`](crate::Ftl::owner). The mapping table says if a unit listed is still current.

use crate::space::PuStates;
use crate::streams::StreamCause;
use outlast_decisions::SuperblockState;
use outlast_units::{LaneIndex, LocalDie, ModeId, Pu, PuWithin, SuperblockId};

/// Read of a program unit that lists owners of a failed die's units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, outlast_persist::Persist)]
pub struct ListRead {
    /// The program unit to be read.
    pub pu: Pu,
    /// First program unit that it lists; the others follow at distances of a superpage.
    pub listed: Pu,
    /// Number of program units that it lists.
    pub count: u32,
}

impl PuStates {
    /// Data slots of a lane of a superblock in the first mode, which has the most.
    pub(crate) fn units_per_lane(&self) -> u64 {
        u64::from(self.layout.data_superpages(ModeId::FIRST) * self.layout.units_per_pu())
    }

    /// Reads that give the owners of all units on die `local_die`, which has failed: in superblocks that are full, every page of the neighbour
    /// (`by_page`), or its pages with lists. `None` if a list that is needed is gone, too.
    pub fn list_reads(&self, local_die: LocalDie, by_page: bool) -> Option<Vec<ListRead>> {
        let mut reads = Vec::new();
        for superblock in self.superblocks.ids() {
            if !matches!(
                self.superblocks.state(superblock),
                SuperblockState::Sealed | SuperblockState::Collecting
            ) || self.streams.cause(self.superblocks.opened_by(superblock)) == StreamCause::Partial
            {
                continue;
            }
            let failed_lanes = self.layout.lanes_of_die(local_die);
            if failed_lanes
                .iter()
                .all(|&lane| self.opened_gaps(superblock).is_some_and(|gaps| gaps.contains(lane)))
            {
                continue;
            }
            let holder = self.list_holder(superblock, local_die)?;
            for (&failed, &holding) in failed_lanes.iter().zip(self.layout.lanes_of_die(holder)) {
                if self.lanes.is_dead(holding) {
                    return None;
                }
                self.add_reads(superblock, failed, holding, by_page, &mut reads)?;
            }
        }
        Some(reads)
    }

    pub(crate) fn add_reads(
        &self,
        superblock: SuperblockId,
        failed: LaneIndex,
        holding: LaneIndex,
        by_page: bool,
        reads: &mut Vec<ListRead>,
    ) -> Option<()> {
        let mode = self.superblocks.mode(superblock);
        let (lanes, rows) = (self.layout.lane_count(), self.layout.data_superpages(mode));
        let first = self.layout.pu_at(superblock, PuWithin(0));
        let parts = if by_page { rows } else { self.layout.list_rows(mode) };
        let each = rows.div_ceil(parts.max(1));
        for part in 0..parts {
            let row = if by_page { part } else { rows + part };
            let (pu, listed) = (first + (row * lanes + holding.0), first + (part * each * lanes + failed.0));
            let count = each.min(rows.saturating_sub(part * each));
            if !self.is_on_flash(superblock, pu) {
                // A list that is not on flash is missed only if a program unit that it would list is there.
                let listed = (0..count).map(|row| listed + row * lanes);
                if listed.into_iter().any(|pu| self.is_on_flash(superblock, pu)) {
                    return None;
                }
                continue;
            }
            reads.push(ListRead { pu, listed, count });
        }
        Some(())
    }

    /// The die that keeps the lists of die `local_die` in `superblock`: the one before it in allocation order, of those that were there
    /// when the superblock was opened.
    pub(crate) fn list_holder(&self, superblock: SuperblockId, local_die: LocalDie) -> Option<LocalDie> {
        let gaps = self.opened_gaps(superblock);
        let is_there = |die: LocalDie| {
            let lanes = self.layout.lanes_of_die(die);
            lanes.iter().all(|&lane| gaps.is_none_or(|gaps| !gaps.contains(lane)))
        };
        let mut order: Vec<LocalDie> = Vec::with_capacity(usize::from(self.layout.dies()));
        for lane in self.layout.lanes() {
            if !order.contains(&lane.local_die) {
                order.push(lane.local_die);
            }
        }
        let at = order.iter().position(|&die| die == local_die)?;
        let before = order[..at].iter().rev().chain(order[at + 1..].iter().rev());
        before.copied().find(|&die| is_there(die))
    }
}
