//! Lists of owners, entrusted to a neighbour: section 6 of Reparo. The owners of the units on a die are also kept on the die before it
//! in allocation order, so that what was on a die that has failed can be found without a search of the mapping table: in the spare
//! area of the neighbour's pages, which costs nothing, or in the last page of its blocks, which is kept for this.
//!
//! A list has the owners at the time of its writing: [`Ftl::owner`]. The mapping table says if a unit listed is still current.

use super::Ftl;
use crate::causes::ProgramCause;
use crate::streams::StreamCause;
use crate::stripes::PuRole;
use crate::table::PageMapping;
use outlast_decisions::SuperblockState;
use outlast_units::{LaneIndex, LocalDie, Lpn, Ppn, Pu, PuWithin, Stream, SuperblockId};

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

impl Ftl {
    /// The next program unit of lists of a superblock that `stream` has filled; they go round all lanes that are there.
    pub(super) fn take_list(&mut self, stream: Stream) -> Option<Pu> {
        let rows = self.layout.list_rows();
        if rows == 0 || !self.frontiers[stream].has_filled() {
            return None;
        }
        let superblock = self.frontiers[stream].superblock();
        if self.filler(superblock) != Some(stream) || self.lanes.is_closed(superblock) {
            return None;
        }
        let count = rows * self.layout.lanes().len() as u32;
        while self.frontiers[stream].lists() < count {
            let within = PuWithin(self.layout.data_pus() + self.frontiers[stream].take_list());
            let pu = self.layout.pu_at(superblock, within);
            let is_taken = self.lanes.is_irregular(superblock)
                && (self.is_skipped(superblock, within) || self.is_used_up(pu));
            if self.role(superblock, within) == PuRole::List && !is_taken {
                self.disown(pu);
                self.counts.count_units(ProgramCause::Lists, self.layout.units_per_pu());
                return Some(pu);
            }
        }
        None
    }

    /// Data slots of a lane of a superblock.
    pub(super) fn units_per_lane(&self) -> u64 {
        u64::from(self.layout.data_superpages() * self.layout.units_per_pu())
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

    fn add_reads(
        &self,
        superblock: SuperblockId,
        failed: LaneIndex,
        holding: LaneIndex,
        by_page: bool,
        reads: &mut Vec<ListRead>,
    ) -> Option<()> {
        let (lanes, rows) = (self.layout.lanes().len() as u32, self.layout.data_superpages());
        let first = self.layout.pu_at(superblock, PuWithin(0));
        let parts = if by_page { rows } else { self.layout.list_rows() };
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
    fn list_holder(&self, superblock: SuperblockId, local_die: LocalDie) -> Option<LocalDie> {
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

    /// The current pages on flash that a list names, without those of the mapping table.
    pub fn listed(&self, read: ListRead) -> impl Iterator<Item = Lpn> {
        let lanes = self.layout.lanes().len() as u32;
        let all = (0..read.count).flat_map(move |row| self.current_in(read.listed + row * lanes));
        all.filter(|&lpn| !self.is_map_page(lpn))
    }

    /// The program units of a superblock that lie on lane `lane`.
    pub(super) fn pus_on(
        &self,
        superblock: SuperblockId,
        lane: LaneIndex,
    ) -> impl Iterator<Item = Pu> + use<> {
        let all = self.layout.pus_of(superblock);
        Pu::each(all.start + lane.0..all.end).step_by(self.layout.lanes().len())
    }

    /// Pages whose current copy lies on flash in program unit `pu`.
    pub(super) fn current_in(&self, pu: Pu) -> impl Iterator<Item = Lpn> {
        let slots = Ppn::each(self.layout.slots_of(pu));
        slots.filter(|&slot| self.map.is_valid(slot) && self.is_programmed(slot)).map(|slot| self.owner(slot))
    }

    /// Pages, except for those of the mapping table, whose current copy lies on flash of die `local_die`; `open`: only those of superblocks that are not full, whose owners the
    /// controller has in its memory.
    pub fn pages_on(&self, local_die: LocalDie, open: bool) -> impl Iterator<Item = Lpn> {
        let superblocks = self.superblocks.ids();
        let holds = move |superblock: &SuperblockId| match self.superblocks.state(*superblock) {
            SuperblockState::Open => true,
            SuperblockState::Sealed | SuperblockState::Collecting => !open,
            SuperblockState::Free | SuperblockState::Retired => false,
        };
        let all = superblocks.filter(holds).flat_map(move |superblock| {
            let lanes = self.layout.lanes_of_die(local_die).iter();
            lanes.flat_map(move |&lane| self.pus_on(superblock, lane)).flat_map(move |pu| self.current_in(pu))
        });
        all.filter(|&lpn| !self.is_map_page(lpn))
    }
}
