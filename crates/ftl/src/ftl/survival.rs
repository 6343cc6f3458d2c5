//! Failures of dies that data survives, and superblocks that a failure has left with less redundancy than new data gets.

use super::{Ftl, LineMember};
use crate::stripes::{PuRole, StripeLayout};
use crate::table::PageMapping;
use outlast_decisions::SuperblockState;
use outlast_units::{LocalDie, Ppn, Pu, PuWithin, Stream, SuperblockId};

impl Ftl {
    /// Dies that may still fail, whichever they are, before data is lost that can be read now: data on flash by the parity of its stripes, data on
    /// its way there as long as there is room to write it elsewhere. `None` without data. Takes time proportional to the program units.
    pub fn failures_survived(&self) -> Option<u32> {
        let held = |&superblock: &SuperblockId| {
            let state = self.superblocks.state(superblock);
            !matches!(state, SuperblockState::Free | SuperblockState::Retired)
                && self.superblocks.valid(superblock) != 0
        };
        self.superblocks.ids().filter(held).filter_map(|superblock| self.survived_by(superblock)).min()
    }

    /// Dies that may fail before data is lost that is written to `class` from now on.
    pub fn failures_survived_by_new(&self, class: u8) -> u32 {
        let protected = self.codes.is_protected(self.streams.host(0, class));
        let lanes = self.layout.lanes_of_die(LocalDie(0)).len().max(1) as u32;
        if protected { u32::from(self.code(class).parity) / lanes } else { 0 }
    }

    fn survived_by(&self, superblock: SuperblockId) -> Option<u32> {
        let on_flash = self.survived_on_flash(superblock);
        let buffered = self.survived_by_buffered(superblock);
        on_flash.into_iter().chain(buffered).min()
    }

    /// Dies that may fail before buffered data of `superblock` is lost: as long as the core has room, data whose program operation fails with its die
    /// is written elsewhere.
    fn survived_by_buffered(&self, superblock: SuperblockId) -> Option<u32> {
        let is_open = self.superblocks.state(superblock) == SuperblockState::Open;
        let waits = |pu: Pu| !self.is_on_flash(superblock, pu) && self.holds_data(pu);
        let any = is_open && Pu::each(self.layout.pus_of(superblock)).any(waits);
        any.then(|| self.space().dies_to_spare())
    }

    fn survived_on_flash(&self, superblock: SuperblockId) -> Option<u32> {
        let Some(code) = self.code_of(superblock).filter(|code| code.parity() != 0) else {
            let pus = Pu::each(self.layout.pus_of(superblock));
            return pus.filter(|&pu| self.needs_die(superblock, pu)).map(|_| 0).next();
        };
        (0..code.count()).filter_map(|stripe| self.survived_by_stripe(superblock, code, stripe)).min()
    }

    fn survived_by_stripe(&self, superblock: SuperblockId, code: &StripeLayout, stripe: u32) -> Option<u32> {
        let pus = || PuWithin::each(code.members(stripe)).map(|within| self.layout.pu_at(superblock, within));
        let is_held = |pu: &Pu| self.is_on_flash(superblock, *pu) && self.holds_data(*pu);
        if !pus().any(|pu| is_held(&pu)) {
            return None;
        }
        let first = pus().find(|&pu| self.role(superblock, self.within_superblock(pu).1) == PuRole::Data)?;
        let Some(line) = self.line(first, super::CodeAxis::Dies) else { return Some(0) };
        // Members that would go with each die; members that no die takes along; members that it takes to rebuild one.
        let mut of_dies = vec![0u32; usize::from(self.layout.dies())];
        let (mut spare, mut needed) = (0, 0);
        for (pu, index) in self.members(line) {
            let is_parity = index >= line.data;
            needed += u32::from(!is_parity);
            let lane = self.lane_position(self.within_superblock(pu).1);
            let on_die = match self.member(line, pu, index) {
                LineMember::Gone => continue,
                LineMember::OnFlash(_) => true,
                // Parity that is still to come is lost if its lane fails, while data is written elsewhere.
                LineMember::Buffered(_) => is_parity,
                LineMember::Empty => false,
            };
            match on_die {
                true if self.lanes.is_dead(lane) => {}
                true => of_dies[self.layout.lanes()[lane].local_die.index()] += 1,
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
        Some(survived.count() as u32)
    }

    /// True if a stripe of `superblock` that holds current data of the host lacks a member for another reason than a dead lane.
    pub(super) fn lacks_members(&self, superblock: SuperblockId) -> bool {
        let Some(code) = self.code_of(superblock).filter(|code| code.parity() != 0) else { return false };
        (0..code.count()).any(|stripe| {
            let pus =
                || PuWithin::each(code.members(stripe)).map(|within| self.layout.pu_at(superblock, within));
            let held = pus().find(|&pu| self.needs_die(superblock, pu));
            let line = held.and_then(|pu| self.line(pu, super::CodeAxis::Dies));
            line.is_some_and(|line| {
                self.members(line).any(|(pu, index)| matches!(self.member(line, pu, index), LineMember::Gone))
            })
        })
    }

    /// True if program unit `pu` is on flash, on a die that works, and holds current data of the host.
    fn needs_die(&self, superblock: SuperblockId, pu: Pu) -> bool {
        !self.is_dead_lane(pu) && self.is_on_flash(superblock, pu) && self.holds_data(pu)
    }

    fn holds_data(&self, pu: Pu) -> bool {
        let first = self.layout.first_slot_of(pu);
        let valid = self.map.valid_in(first, self.layout.units_per_pu());
        if self.maps.is_none() {
            return valid != 0;
        }
        // Pages of the mapping table do not count: the controller has them in its memory, too.
        let mut slots = Ppn::each(self.layout.slots_of(pu)).enumerate();
        slots.any(|(unit, slot)| valid >> unit & 1 == 1 && !self.is_map_page(self.map.owner(slot)))
    }

    /// True if a failure of a die or plane since `superblock` was opened, or a loss of power, took redundancy from data that it holds.
    pub fn is_degraded(&self, superblock: SuperblockId) -> bool {
        (self.lanes.dead().is_some() || self.lanes.is_cut(superblock))
            && !matches!(self.superblocks.state(superblock), SuperblockState::Free | SuperblockState::Retired)
            && self.superblocks.valid(superblock) != 0
            && self.has_parity(superblock)
            && self.members_lost_since(superblock) != 0
    }

    /// All superblocks that are [degraded](Ftl::is_degraded).
    pub fn degraded(&self) -> impl Iterator<Item = SuperblockId> {
        self.superblocks.ids().filter(|&superblock| self.is_degraded(superblock))
    }

    /// The streams that fill a superblock of which stripes have lost members.
    pub fn narrowed_streams(&self) -> Vec<Stream> {
        let lost = |&stream: &Stream| {
            let frontier = &self.frontiers[stream];
            let superblock = frontier.superblock();
            !frontier.is_full()
                && self.filler(superblock) == Some(stream)
                && self.has_parity(superblock)
                && self.members_lost_since(superblock) != 0
        };
        self.frontiers.streams().filter(lost).collect()
    }

    /// The next program unit of padding, to be programmed, that the stripe under way of `stream` takes to its end; `None` where it is at its
    /// beginning.
    pub fn pad_stripe(&mut self, stream: Stream) -> Option<Pu> {
        let pu = self.pad(stream);
        if pu.is_some() || self.frontiers[stream].is_full() {
            return pu;
        }
        let superblock = self.frontiers[stream].superblock();
        let within = self.layout.within_of(superblock, self.frontiers[stream].next());
        let code = self.code_of(superblock)?;
        let mut before = PuWithin::each(code.members(code.stripe_of(within)).start..within);
        let is_begun = before.any(|pu| self.role(superblock, pu) == PuRole::Data);
        is_begun.then(|| self.fill_up(stream))
    }

    /// Closes the superblock that `stream` fills, of which a stripe has just ended and all due parity has been taken: the next unit opens another.
    /// True if that seals it: all that was on its way is on flash.
    pub fn close(&mut self, stream: Stream) -> bool {
        let frontier = &self.frontiers[stream];
        let (superblock, due) = (frontier.superblock(), frontier.due());
        if frontier.is_full() {
            return false;
        }
        debug_assert!(due.stripe >= due.end, "stream {} is closed, and parity is due", stream.0);
        let from = self.layout.within_of(superblock, frontier.next());
        let never = self.layout.pus_within().filter(|&pu| {
            let is_left = !self.is_used_up(self.layout.pu_at(superblock, pu));
            let comes = match self.role(superblock, pu) {
                PuRole::Data => pu >= from && is_left,
                PuRole::Parity | PuRole::BlockParity => {
                    self.code_of(superblock).is_some_and(|code| code.stripe_of(pu) >= due.stripe)
                }
                PuRole::List => is_left,
                _ => false,
            };
            comes && !self.is_skipped(superblock, pu)
        });
        let never = never.count() as u32;
        self.lanes.close(superblock);
        self.frontiers[stream].close();
        self.settle_pus(superblock, never)
    }
}
