//! Failures of dies that data survives, and superblocks that a failure has left with less redundancy than new data gets.

use crate::pages::PageTable;
use crate::space::{CodeAxis, FlashSpace, LineMember};
use crate::stripes::{PuRole, StripeLayout};
use outlast_decisions::SuperblockState;
use outlast_units::{Pu, PuWithin, Stream, SuperblockId, to_count};

/// Redundancy of data: of superblocks, and of the mapping that says which of their units are current.
#[derive(Clone, Copy, Debug)]
pub struct RedundancyView<'a> {
    pub(super) space: &'a FlashSpace,
    pub(super) pages: &'a PageTable,
}

impl<'a> RedundancyView<'a> {
    /// Members that stripes of `superblock` have lost if it is sealed, else 0: those of lanes that are gone, and one for a loss of power.
    pub(crate) fn members_lost(self, superblock: SuperblockId) -> u32 {
        if self.space.superblocks().state(superblock) == SuperblockState::Sealed {
            self.members_lost_since(superblock)
        } else {
            0
        }
    }

    /// As [`RedundancyView::members_lost`](Self::members_lost), of a superblock that may not be sealed. Members that a loss of power took count as one, however many there are.
    pub(crate) fn members_lost_since(self, superblock: SuperblockId) -> u32 {
        let by_power = self.space.lanes().is_cut(superblock) && self.lacks_members(superblock);
        self.space.pus().lanes_lost_since(superblock) + u32::from(by_power)
    }

    /// Dies that may still fail, whichever they are, before data is lost that can be read now: data on flash by the parity of its stripes, data on
    /// its way there as long as there is room to write it elsewhere. `None` without data. Takes time proportional to the program units.
    pub fn failures_survived(self) -> Option<u32> {
        let held = |&superblock: &SuperblockId| {
            let state = self.space.superblocks().state(superblock);
            !matches!(state, SuperblockState::Free | SuperblockState::Retired)
                && self.space.superblocks().valid(superblock) != 0
        };
        let by_buffered = if self.has_room_to_write_again() { self.space.dies_to_spare() } else { 0 };
        self.space
            .superblocks()
            .ids()
            .filter(held)
            .filter_map(|superblock| self.survived_by(superblock, by_buffered))
            .min()
    }

    /// `by_buffered`: dies that may fail before buffered data is lost.
    fn survived_by(self, superblock: SuperblockId, by_buffered: u32) -> Option<u32> {
        let on_flash = self.survived_on_flash(superblock);
        let buffered = self.waiting_pus(superblock).next().map(|_| by_buffered);
        on_flash.into_iter().chain(buffered).min()
    }

    /// Program units of `superblock`, if it is open, whose data is still buffered.
    fn waiting_pus(self, superblock: SuperblockId) -> impl Iterator<Item = Pu> {
        let is_open = self.space.superblocks().state(superblock) == SuperblockState::Open;
        let pus = is_open.then(|| Pu::each(self.space.layout().pus_of(superblock)));
        pus.into_iter().flatten().filter(move |&pu| {
            !self.space.pus().is_on_flash(superblock, pu) && self.pages.holds_data(self.space, pu)
        })
    }

    /// True if there is room, with nothing erased in between, for what is written elsewhere at once when a die fails: buffered data of the die that has
    /// most of it, and of dies that have failed before.
    fn has_room_to_write_again(self) -> bool {
        let layout = self.space.layout();
        let mut on_dead = 0u64;
        let mut of_dies = vec![0u64; usize::from(layout.dies())];
        for superblock in self.space.superblocks().ids() {
            for pu in self.waiting_pus(superblock) {
                let units = u64::from(layout.units_per_pu());
                let die = layout.lane_of_pu(pu).local_die;
                *(if self.space.pus().is_dead_lane(pu) {
                    &mut on_dead
                } else {
                    &mut of_dies[die.index()]
                }) += units;
            }
        }
        let working =
            (layout.lanes().len() as u64).saturating_sub(u64::from(self.space.lanes().dead_count()));
        let of_a_die =
            layout.local_dies().map(|die| layout.lanes_of_die(die).len() as u64).max().unwrap_or(0);
        let again = on_dead + of_dies.into_iter().max().unwrap_or(0);
        // Collection needs the superblocks that are kept for it, and may be at it.
        let kept = self.space.reserve().min(self.space.free_superblocks());
        let kept_units = u64::from(kept) * u64::from(self.space.data_units(self.space.streams().gc(0)));
        let room = self.space.unwritten_units() - kept_units;
        again * working <= room * working.saturating_sub(of_a_die)
    }

    fn survived_on_flash(self, superblock: SuperblockId) -> Option<u32> {
        let Some(code) = self.space.pus().code_of(superblock).filter(|code| code.parity() != 0) else {
            let pus = Pu::each(self.space.layout().pus_of(superblock));
            return pus.filter(|&pu| self.needs_die(superblock, pu)).map(|_| 0).next();
        };
        (0..code.count()).filter_map(|stripe| self.survived_by_stripe(superblock, code, stripe)).min()
    }

    fn survived_by_stripe(self, superblock: SuperblockId, code: &StripeLayout, stripe: u32) -> Option<u32> {
        let pus = || {
            PuWithin::each(code.members(stripe)).map(|within| self.space.layout().pu_at(superblock, within))
        };
        let is_held =
            |pu: &Pu| self.space.pus().is_on_flash(superblock, *pu) && self.pages.holds_data(self.space, *pu);
        if !pus().any(|pu| is_held(&pu)) {
            return None;
        }
        let first = pus().find(|&pu| {
            self.space.pus().role(superblock, self.space.pus().within_superblock(pu).1) == PuRole::Data
        })?;
        let Some(line) = self.space.pus().line(first, CodeAxis::Dies) else { return Some(0) };
        // Members that would go with each die; members that no die takes along; members that it takes to rebuild one.
        let mut of_dies = vec![0u32; usize::from(self.space.layout().dies())];
        let (mut spare, mut needed) = (0, 0);
        for (pu, index) in self.space.pus().members(line) {
            let is_parity = index >= line.data;
            needed += u32::from(!is_parity);
            let lane = self.space.pus().lane_position(self.space.pus().within_superblock(pu).1);
            let on_die = match self.space.pus().member(line, pu, index) {
                LineMember::Gone => continue,
                LineMember::OnFlash(_) => true,
                // Parity that is still to come is lost if its lane fails, while data is written elsewhere.
                LineMember::Buffered(_) => is_parity,
                LineMember::Empty => false,
            };
            match on_die {
                true if self.space.lanes().is_dead(lane) => {}
                true => of_dies[self.space.layout().lanes()[lane].local_die.index()] += 1,
                false => spare += 1,
            }
        }
        // The worst case: dies with the most members fail first.
        of_dies.sort_unstable_by(|a, b| b.cmp(a));
        let had = spare + of_dies.iter().sum::<u32>();
        if had < needed && !pus().any(|pu| self.needs_die(superblock, pu)) {
            // All of its data lay on dies that have failed, and is lost already. While the stripe still gives it, it depends on the others.
            return None;
        }
        let mut left = had.saturating_sub(needed);
        let survived = of_dies.iter().take_while(|&&members| {
            let bears = members != 0 && members <= left;
            left -= if bears { members } else { 0 };
            bears
        });
        Some(to_count(survived.count()))
    }

    /// True if a stripe of `superblock` that holds current data of the host lacks a member for another reason than a dead lane.
    pub(crate) fn lacks_members(self, superblock: SuperblockId) -> bool {
        let Some(code) = self.space.pus().code_of(superblock).filter(|code| code.parity() != 0) else {
            return false;
        };
        (0..code.count()).any(|stripe| {
            let pus = || {
                PuWithin::each(code.members(stripe))
                    .map(|within| self.space.layout().pu_at(superblock, within))
            };
            let held = pus().find(|&pu| self.needs_die(superblock, pu));
            let line = held.and_then(|pu| self.space.pus().line(pu, CodeAxis::Dies));
            line.is_some_and(|line| {
                self.space
                    .pus()
                    .members(line)
                    .any(|(pu, index)| matches!(self.space.pus().member(line, pu, index), LineMember::Gone))
            })
        })
    }

    /// True if program unit `pu` is on flash, on a die that works, and holds current data of the host.
    fn needs_die(self, superblock: SuperblockId, pu: Pu) -> bool {
        !self.space.pus().is_dead_lane(pu)
            && self.space.pus().is_on_flash(superblock, pu)
            && self.pages.holds_data(self.space, pu)
    }

    /// True if a failure of a die or plane since `superblock` was opened, or a loss of power, took redundancy from data that it holds.
    pub fn is_degraded(self, superblock: SuperblockId) -> bool {
        (self.space.lanes().dead().is_some() || self.space.lanes().is_cut(superblock))
            && !matches!(
                self.space.superblocks().state(superblock),
                SuperblockState::Free | SuperblockState::Retired
            )
            && self.space.superblocks().valid(superblock) != 0
            && self.space.pus().has_parity(superblock)
            && self.members_lost_since(superblock) != 0
    }

    /// All superblocks that are [degraded](RedundancyView::is_degraded).
    pub fn degraded(self) -> impl Iterator<Item = SuperblockId> + use<'a> {
        self.space.superblocks().ids().filter(move |&superblock| self.is_degraded(superblock))
    }

    /// The streams that fill a superblock of which stripes have lost members.
    pub fn narrowed_streams(self) -> Vec<Stream> {
        let lost = |&stream: &Stream| {
            let frontier = self.space.frontiers()[stream];
            let superblock = frontier.superblock();
            !frontier.is_full()
                && self.space.filler(superblock) == Some(stream)
                && self.space.pus().has_parity(superblock)
                && self.members_lost_since(superblock) != 0
        };
        self.space.frontiers().streams().filter(lost).collect()
    }
}
