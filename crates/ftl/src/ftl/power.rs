//! Loss of power: what the buffer's loss undoes, and what becomes of program units that were on their way to flash.
//!
//! Where nothing protects the buffer, every unit in it knows its *origin*, the copy that it superseded, and *pins* the superblock of
//! that copy: a superblock is erased only when nothing pins it. Going back from a unit in the buffer from origin to origin one
//! therefore always comes to a copy on flash, if there ever was one, and never to an erased slot.

use super::parity::Axis;
use super::protection::Gaps;
use super::{Ftl, State, Stream};
use crate::causes::ProgramCause;
use crate::layout::Layout;
use crate::policy::NO_CANDIDATE;
use crate::stripes::{LaneSet, Role};
use crate::table::Mapping;
use outlast_units::{Lpn, Ppn, SuperblockId};

/// In place of an origin: the data had been lost when it was written again.
const LOST: Ppn = Ppn(u32::MAX - 1);
/// In place of a table: the superblock is not open.
const NO_TABLE: u32 = u32::MAX;

/// What each unit in the buffer superseded.
#[derive(Clone, Debug)]
pub(super) struct Origins {
    /// The table of each superblock that is open.
    table_of: Vec<u32>,
    /// The origin of each slot of an open superblock; [`Ppn::NONE`]: there was no data.
    tables: Vec<Vec<Ppn>>,
    spare: Vec<u32>,
    /// Units in the buffer whose origin lies in each superblock.
    pins: Vec<u32>,
    /// Origins of units whose program operation failed, while they are written again.
    in_hand: Vec<(Ppn, Ppn)>,
}

impl Origins {
    pub(super) fn new(layout: &Layout) -> Self {
        let superblocks = layout.superblocks() as usize;
        Self {
            table_of: vec![NO_TABLE; superblocks],
            tables: Vec::new(),
            spare: Vec::new(),
            pins: vec![0; superblocks],
            in_hand: Vec::new(),
        }
    }

    /// `superblock` of `units` slots has been opened.
    pub(super) fn opened(&mut self, superblock: SuperblockId, units: u32) {
        let table = self.spare.pop().unwrap_or_else(|| {
            self.tables.push(Vec::new());
            self.tables.len() as u32 - 1
        });
        self.tables[table as usize].clear();
        self.tables[table as usize].resize(units as usize, Ppn::NONE);
        self.table_of[superblock.index()] = table;
    }

    /// All of `superblock` is on flash.
    pub(super) fn sealed(&mut self, superblock: SuperblockId) {
        let table = std::mem::replace(&mut self.table_of[superblock.index()], NO_TABLE);
        if table != NO_TABLE {
            self.spare.push(table);
        }
    }

    fn of(&mut self, layout: &Layout, slot: Ppn) -> Option<&mut Ppn> {
        let superblock = layout.superblock_of(slot);
        let table = self.table_of[superblock.index()];
        let within = (slot.0 - layout.first_slot(superblock)) as usize;
        self.tables.get_mut(table as usize).map(|table| &mut table[within])
    }

    fn pin(&mut self, layout: &Layout, origin: Ppn) {
        if is_copy(origin) {
            self.pins[layout.superblock_of(origin).index()] += 1;
        }
    }

    fn unpin(&mut self, layout: &Layout, origin: Ppn) {
        if is_copy(origin) {
            self.pins[layout.superblock_of(origin).index()] -= 1;
        }
    }
}

fn is_copy(origin: Ppn) -> bool {
    origin.is_some() && origin != LOST
}

/// What a loss of power leaves to be done.
#[derive(Clone, Debug, Default)]
pub struct Aftermath {
    /// Units that were only in the buffer.
    pub lost: u64,
    /// Superblocks that have been filled: nothing more will be programmed there.
    pub sealed: Vec<SuperblockId>,
    /// Program units that no data came to: they are to be filled, in this order, before anything else is programmed. What holds
    /// parity gets it anew from [`Ftl::recompute_parity`].
    pub fill: Vec<u32>,
    /// Program units that must be read to compute parity anew.
    pub read: Vec<u32>,
    /// Program units in which the newest copies had to be looked for: those of superblocks that were not filled.
    pub scanned: u64,
}

impl Ftl {
    /// From now on each unit in the buffer knows what it superseded; what untimed writes have left in the buffer goes to flash. Does
    /// nothing where the buffer is protected.
    pub fn begin_origins(&mut self) {
        if self.held_back == 1 || self.origins.is_some() {
            return;
        }
        for stream in (0..self.streams()).map(Stream) {
            if let Some(pu) = self.pad(stream) {
                self.programmed(pu);
                self.program_parity(stream);
            }
        }
        let mut origins = Box::new(Origins::new(&self.layout));
        for superblock in (0..self.layout.superblocks()).map(SuperblockId) {
            if self.state[superblock.index()] == State::Open {
                origins.opened(superblock, self.layout.units_per_superblock());
            }
        }
        self.origins = Some(origins);
    }

    /// Whether all that superseded units of `superblock` is on flash, or safe in the buffer: it may be erased.
    #[inline]
    pub fn may_erase(&self, superblock: SuperblockId) -> bool {
        self.origins.as_ref().is_none_or(|origins| origins.pins[superblock.index()] == 0)
    }

    /// Whether a unit that `stream` has put into the program unit it has begun supersedes one of `superblock`.
    pub fn begun_pins(&self, stream: Stream, superblock: SuperblockId) -> bool {
        let (Some(origins), Some(pu)) = (&self.origins, self.begun_pu(stream)) else { return false };
        let own = self.layout.place(pu).superblock;
        let first = (pu * self.layout.units_per_pu() - self.layout.first_slot(own)) as usize;
        let table = origins.tables.get(origins.table_of[own.index()] as usize);
        table.is_some_and(|table| {
            let begun = &table[first..first + self.begun_units(stream) as usize];
            begun.iter().any(|&at| is_copy(at) && self.layout.superblock_of(at) == superblock)
        })
    }

    /// The unit in `slot` supersedes the one in `origin`.
    #[inline]
    pub(super) fn note_origin(&mut self, slot: Ppn, origin: Ppn, was_lost: bool) {
        if let Some(origins) = &mut self.origins {
            let origin = if was_lost { LOST } else { origin };
            origins.pin(&self.layout, origin);
            if let Some(entry) = origins.of(&self.layout, slot) {
                *entry = origin;
            }
        }
    }

    /// Program unit `pu` is on flash: what its units superseded is needed no more.
    #[inline(never)]
    pub(super) fn release_origins(&mut self, pu: u32) {
        let Some(origins) = &mut self.origins else { return };
        let (superblock, units) = (self.layout.place(pu).superblock, self.layout.units_per_pu());
        let first = (pu * units - self.layout.first_slot(superblock)) as usize;
        let Some(table) = origins.tables.get(origins.table_of[superblock.index()] as usize) else { return };
        for &origin in &table[first..first + units as usize] {
            if is_copy(origin) {
                origins.pins[self.layout.superblock_of(origin).index()] -= 1;
            }
        }
    }

    /// Program unit `pu` will never be on flash: what came after its stale units now follows what was before them; the origins of
    /// the others are in hand until they have been written again.
    #[cold]
    pub(super) fn hand_on_origins(&mut self, pu: u32) {
        let Some(mut origins) = self.origins.take() else { return };
        let units = self.layout.units_per_pu();
        for slot in (pu * units..(pu + 1) * units).map(Ppn) {
            let lpn = self.map.owner(slot);
            let Some(origin) =
                origins.of(&self.layout, slot).map(|entry| std::mem::replace(entry, Ppn::NONE))
            else {
                continue;
            };
            let mut next = if lpn.is_some() { self.lookup(lpn) } else { Ppn::NONE };
            if next == slot {
                origins.in_hand.push((slot, origin));
                continue;
            }
            loop {
                let at = (is_copy(next) && !self.is_programmed(next))
                    .then(|| origins.of(&self.layout, next))
                    .flatten();
                let Some(entry) = at else {
                    // What superseded it is on flash, or it was trimmed.
                    origins.unpin(&self.layout, origin);
                    break;
                };
                if *entry == slot {
                    *entry = origin;
                    origins.unpin(&self.layout, slot);
                    break;
                }
                next = *entry;
            }
        }
        self.origins = Some(origins);
    }

    /// The unit of `from`, whose program operation failed, has been put into `to`.
    #[cold]
    pub(super) fn move_origin(&mut self, from: Ppn, to: Ppn) {
        let Some(origins) = &mut self.origins else { return };
        if let Some(index) = origins.in_hand.iter().position(|&(slot, _)| slot == from) {
            let (_, origin) = origins.in_hand.swap_remove(index);
            if let Some(entry) = origins.of(&self.layout, to) {
                *entry = origin;
            }
        }
    }

    /// Units of failed program units that are still in hand had no place to go.
    #[cold]
    pub(super) fn drop_origins(&mut self) {
        let Some(origins) = &mut self.origins else { return };
        for (_, origin) in std::mem::take(&mut origins.in_hand) {
            origins.unpin(&self.layout, origin);
        }
    }

    /// Power has failed: space that is held back may have been lost, but what could not be moved may be moved now.
    pub fn power_failed(&mut self) {
        self.cuts += 1;
        self.damaged = true;
        self.read_only.stuck = false;
    }

    /// Whether program unit `pu` has been programmed, or has failed on the way, since its blocks were erased.
    pub(super) fn is_used_up(&self, pu: u32) -> bool {
        let (column, row) = self.column_and_row(pu);
        row < self.order.programmed(column)
    }

    /// The pages of `pu` hold garbage until they are erased, and are passed over.
    fn use_up(&mut self, pu: u32) {
        let (superblock, within) = self.within_superblock(pu);
        if self.is_skipped(superblock, within) || self.dead_lanes.contains(self.lane_position(within)) {
            return;
        }
        let (column, row) = self.column_and_row(pu);
        self.order.program(column, row);
    }

    /// Where the order of programming counts program unit `pu`: its lane of its superblock, and its row there.
    fn column_and_row(&self, pu: u32) -> (usize, u32) {
        let (superblock, within) = self.within_superblock(pu);
        let (row, lane) = self.layout.row_and_lane(within);
        (superblock.index() * self.layout.lanes().len() + lane as usize, row)
    }

    /// Nothing is regular any more in `superblock`: what is on flash is said by each program unit's own bit.
    fn mark_irregular(&mut self, superblock: SuperblockId) {
        let lanes = self.layout.lanes().len();
        self.gaps[superblock.index()].get_or_insert_with(|| {
            Box::new(Gaps { opened: LaneSet::new(lanes), since: LaneSet::new(lanes) })
        });
    }

    /// The stream that still fills `superblock`, or was the last to have filled it.
    fn filler(&self, superblock: SuperblockId) -> Option<Stream> {
        let stream = self.opened_by[superblock.index()];
        if self.cause_of(stream) == super::Cause::Partial {
            // Superblocks of partial parity have no frontier.
            return None;
        }
        let frontier = &self.frontiers[usize::from(stream.0)];
        (self.state[superblock.index()] == State::Open && frontier.superblock == superblock).then_some(stream)
    }

    /// Whether the parity of the stripe of program unit `pu` has been handed out.
    pub(super) fn is_stripe_complete(&self, pu: u32) -> bool {
        let (superblock, within) = self.within_superblock(pu);
        self.code_of(superblock).is_some_and(|code| {
            let due = self.filler(superblock).map(|stream| self.frontiers[usize::from(stream.0)].due.0);
            due.is_none_or(|due| code.stripe_of(within) < due)
        })
    }

    /// Power failed and the buffer is empty. `started` are the program units whose programming was under way, `queued` those that
    /// were full and waited for it. Every logical page goes back to its newest copy on flash; program units that nothing was
    /// programmed to are filled anew by their stream, as far as it still stands in their superblock.
    pub fn lose_buffer(&mut self, started: &[u32], queued: &[u32]) -> Aftermath {
        self.begin_origins();
        let mut after = Aftermath::default();
        let mut gone: Vec<(u32, bool)> = Vec::with_capacity(started.len() + queued.len());
        gone.extend(started.iter().map(|&pu| (pu, true)));
        gone.extend(queued.iter().map(|&pu| (pu, false)));
        for stream in (0..self.streams()).map(Stream) {
            if let Some(pu) = self.begun_pu(stream) {
                self.written[ProgramCause::Padding] +=
                    u64::from(self.layout.units_per_pu() - self.begun_units(stream));
                gone.push((pu, false));
            }
        }
        gone.sort_unstable();
        for &(pu, _) in &gone {
            after.lost += self.fall_back(pu);
        }
        if let Some(origins) = &mut self.origins {
            origins.pins.fill(0);
            origins.tables.iter_mut().for_each(|table| table.fill(Ppn::NONE));
        }
        let open: Vec<SuperblockId> = (0..self.layout.superblocks())
            .map(SuperblockId)
            .filter(|superblock| self.state[superblock.index()] == State::Open)
            .collect();
        for superblock in open {
            self.empty_open(superblock, &gone, &mut after);
        }
        for frontier in &mut self.frontiers {
            frontier.promised = false;
        }
        self.forget_coming();
        for stream in (0..self.streams()).map(Stream) {
            self.count_exposed(stream);
        }
        after
    }

    /// The units of `pu`, which are lost, are superseded by the copies before them. Returns how many were current.
    fn fall_back(&mut self, pu: u32) -> u64 {
        let Some(mut origins) = self.origins.take() else { return 0 };
        let units = self.layout.units_per_pu();
        let mut lost = 0;
        for slot in (pu * units..(pu + 1) * units).map(Ppn) {
            let lpn = self.map.owner(slot);
            if !lpn.is_some() || self.lookup(lpn) != slot {
                continue;
            }
            lost += 1;
            let mut at = slot;
            while is_copy(at) && !self.is_programmed(at) {
                at = origins.of(&self.layout, at).map_or(Ppn::NONE, |entry| *entry);
            }
            self.valid[self.layout.superblock_of(slot).index()] -= 1;
            self.map.unmap(lpn);
            if at == LOST {
                self.lost.insert(lpn.0);
            } else if at.is_some() {
                let superblock = self.layout.superblock_of(at);
                assert!(
                    self.owner(at) == lpn && self.state[superblock.index()] != State::Free,
                    "the last copy of page {lpn} on flash has been destroyed"
                );
                self.map.put(lpn, at);
                self.valid[superblock.index()] += 1;
            }
        }
        self.origins = Some(origins);
        lost
    }

    /// What was on its way to the open superblock `superblock` is gone.
    fn empty_open(&mut self, superblock: SuperblockId, gone: &[(u32, bool)], after: &mut Aftermath) {
        let pus = self.layout.pus_per_superblock();
        let first = superblock.0 * pus;
        after.scanned += u64::from(pus - self.unprogrammed[superblock.index()]);
        let from = gone.partition_point(|&(pu, _)| pu < first);
        let to = gone.partition_point(|&(pu, _)| pu < first + pus);
        let filler = self.filler(superblock);
        if from != to {
            self.mark_irregular(superblock);
        }
        let mut settled = 0;
        let mut gone = &gone[from..to];
        while let Some(&(pu, started)) = gone.first() {
            let is_list = self.role(superblock, self.within_superblock(pu).1) == Role::List;
            if !is_list && self.is_stripe_complete(pu) {
                let stripe = self.stripe_number(pu);
                let end = first + self.layout.data_pus();
                let same = |&&(pu, _): &&(u32, bool)| pu < end && self.stripe_number(pu) == stripe;
                let count = gone.iter().take_while(same).count();
                settled += self.empty_stripe(superblock, stripe, &gone[..count], after);
                gone = &gone[count..];
                continue;
            }
            gone = &gone[1..];
            let (_, within) = self.within_superblock(pu);
            if self.covers && self.role(superblock, within) == Role::Data {
                self.expose(superblock, within);
            }
            self.drop_content(pu);
            if started {
                self.use_up(pu);
            }
            if filler.is_some()
                && self.role(superblock, within) == Role::Partial
                && !started
                && !self.is_skipped(superblock, within)
            {
                // No data will come there, but the pages after it are programmed only after it.
                after.fill.push(pu);
                continue;
            }
            self.pus_failed += 1;
            if started || filler.is_none() || self.is_skipped(superblock, within) {
                settled += 1;
            }
        }
        if self.settle_pus(superblock, settled) {
            after.sealed.push(superblock);
        }
        if let Some(stream) = filler.filter(|_| from != to) {
            self.go_back(stream);
        }
    }

    fn stripe_number(&self, pu: u32) -> u32 {
        let (superblock, within) = self.within_superblock(pu);
        self.code_of(superblock).map_or(0, |code| code.stripe_of(within))
    }

    /// Members `gone` of a stripe whose data had all been handed out are lost. Where parity is on flash and data is not, the rest of
    /// the stripe is filled with garbage that no longer counts. Else parity is computed anew over what is there.
    fn empty_stripe(
        &mut self,
        superblock: SuperblockId,
        stripe: u32,
        gone: &[(u32, bool)],
        after: &mut Aftermath,
    ) -> u32 {
        let members = self.stripe_members(superblock, stripe);
        let is_parity = |ftl: &Self, pu: u32| {
            matches!(ftl.role(superblock, ftl.within_superblock(pu).1), Role::Parity | Role::BlockParity)
        };
        let on_flash = members.iter().any(|&pu| is_parity(self, pu) && self.is_on_flash(superblock, pu));
        let data_lost = gone.iter().any(|&(pu, _)| !is_parity(self, pu));
        // Parity within blocks has been handed out for all of its group at once, and covers what is lost.
        let keep = (on_flash && data_lost) || self.is_group_complete(superblock, stripe);
        let mut settled = 0;
        for &(pu, started) in gone {
            let (_, within) = self.within_superblock(pu);
            let parity = is_parity(self, pu);
            if keep || (parity && (started || self.is_skipped(superblock, within))) {
                self.failed_pus.insert(pu);
            }
            if keep {
                self.disown(pu);
            } else {
                self.drop_content(pu);
            }
            if started {
                self.use_up(pu);
            }
            if started || self.is_skipped(superblock, within) {
                self.pus_failed += 1;
                settled += 1;
            } else {
                after.fill.push(pu);
            }
        }
        if !keep {
            let anew = gone.iter().any(|&(pu, _)| is_parity(self, pu)) && !on_flash;
            for &pu in &members {
                let programmed = self.is_on_flash(superblock, pu);
                if is_parity(self, pu) && !programmed {
                    self.drop_content(pu);
                } else if programmed && anew {
                    after.read.push(pu);
                }
            }
        }
        settled
    }

    /// Whether the parity within blocks of the group of `stripe` has been handed out.
    fn is_group_complete(&self, superblock: SuperblockId, stripe: u32) -> bool {
        let Some(code) = self.code_of(superblock).filter(|code| code.block_code().is_some()) else {
            return false;
        };
        let due = self
            .filler(superblock)
            .map_or(code.count(), |stream| self.frontiers[usize::from(stream.0)].due.0);
        (stripe..due).any(|stripe| !code.block_parity_after(stripe).is_empty())
    }

    /// The program units of a stripe.
    fn stripe_members(&self, superblock: SuperblockId, stripe: u32) -> Vec<u32> {
        let first = superblock.0 * self.layout.pus_per_superblock();
        self.code_of(superblock)
            .map(|code| code.members(stripe).map(|pu| first + pu).collect())
            .unwrap_or_default()
    }

    fn drop_content(&mut self, pu: u32) {
        self.disown(pu);
        let units = self.layout.units_per_pu();
        if let Some(contents) = &mut self.contents {
            contents.erase(pu * units, units);
        }
    }

    /// Puts the frontier of `stream` back to the first program unit that still can be programmed. The data that is on flash of the
    /// stripe under way must be read to know its parity.
    fn go_back(&mut self, stream: Stream) {
        let index = usize::from(stream.0);
        let superblock = self.frontiers[index].superblock;
        if self.state[superblock.index()] != State::Open {
            // All of it has been used up.
            let frontier = &mut self.frontiers[index];
            frontier.next = frontier.end;
            return;
        }
        self.mark_irregular(superblock);
        let (pus, units) = (self.layout.data_pus(), self.layout.units_per_pu());
        let due = self.frontiers[index].due.0;
        // Those that are on flash, or never will be, are passed over.
        self.frontiers[index].lists = 0;
        let from = match self.code_of(superblock) {
            Some(code) if due >= code.count() => pus,
            Some(code) => code.members(due).start,
            None => 0,
        };
        let left = (from..pus).filter(|&pu| self.takes_data(superblock, pu)).count() as u32;
        let frontier = &mut self.frontiers[index];
        frontier.irregular = true;
        frontier.later = left * units;
        self.seek(stream, from);
    }

    /// Whether program unit `pu_within` of an open superblock can still be programmed with data.
    pub(super) fn takes_data(&self, superblock: SuperblockId, pu_within: u32) -> bool {
        let pu = superblock.0 * self.layout.pus_per_superblock() + pu_within;
        self.role(superblock, pu_within) == Role::Data
            && !self.is_skipped(superblock, pu_within)
            && !(self.gaps[superblock.index()].is_some() && self.is_used_up(pu))
    }

    /// The program units on flash of the stripes that are under way: after a loss of power they are read, so that the parity that is
    /// still to come is known again.
    pub fn stripes_under_way(&self) -> Vec<u32> {
        let mut members = Vec::new();
        for stream in (0..self.streams()).map(Stream) {
            let frontier = &self.frontiers[usize::from(stream.0)];
            let (superblock, due) = (frontier.superblock, frontier.due.0);
            if self.filler(superblock) != Some(stream) {
                continue;
            }
            if self.code_of(superblock).is_some_and(|code| due < code.count()) {
                let all = self.stripe_members(superblock, due);
                members.extend(all.into_iter().filter(|&pu| self.is_on_flash(superblock, pu)));
            }
        }
        members
    }

    /// The unit in `slot` cannot be read while its stripe's parity is computed anew: it is lost, and the stripe covers it no more.
    /// Returns its page, if it was current.
    pub fn lose_uncovered(&mut self, slot: Ppn) -> Option<Lpn> {
        if self.covers {
            let (superblock, within) = self.within_superblock(self.layout.pu_of(slot).0);
            self.expose(superblock, within);
        }
        let lost = self.lose(slot);
        self.map.disown(slot, 1);
        if let Some(contents) = &mut self.contents {
            contents.erase(slot.0, 1);
        }
        lost
    }

    /// Computes the parity of those program units in `fill` that hold it anew.
    pub fn recompute_parity(&mut self, fill: &[u32]) {
        for &pu in fill {
            let (superblock, within) = self.within_superblock(pu);
            if self.role(superblock, within) == Role::Parity && !self.failed_pus.contains(&pu) {
                self.compute_parity(superblock, Axis::Dies, pu);
            }
        }
    }

    /// The sealed superblock with the fewest valid units, if there is a place to move them to.
    pub(super) fn choose_least(&self) -> Option<SuperblockId> {
        let sealed = (0..self.valid.len()).filter(|&index| self.valid[index] & NO_CANDIDATE == 0);
        let least = SuperblockId(sealed.min_by_key(|&index| self.valid[index])? as u32);
        let stream = self.gc_stream(self.class_of_superblock(least));
        (self.valid_count(least) < self.data_units(stream) && self.can_relocate(least, stream))
            .then_some(least)
    }

    /// Whether a superblock is being emptied or erased.
    pub(super) fn is_collecting(&self) -> bool {
        self.state.contains(&State::Collecting)
    }

    /// Checks that the pins are those of the units in the buffer.
    pub(super) fn check_origins(&self) -> Result<(), String> {
        let Some(origins) = &self.origins else { return Ok(()) };
        let mut pins = vec![0u32; origins.pins.len()];
        for superblock in (0..self.layout.superblocks()).map(SuperblockId) {
            let Some(table) = origins.tables.get(origins.table_of[superblock.index()] as usize) else {
                continue;
            };
            if self.state[superblock.index()] != State::Open {
                return Err(format!("superblock {superblock} is not open and has a table of origins"));
            }
            for (&origin, slot) in table.iter().zip(self.layout.first_slot(superblock)..) {
                if is_copy(origin) && !self.is_programmed(Ppn(slot)) {
                    let pinned = self.layout.superblock_of(origin);
                    if self.state[pinned.index()] == State::Free {
                        return Err(format!(
                            "superblock {pinned} is erased, and slot {slot} goes back to it"
                        ));
                    }
                    pins[pinned.index()] += 1;
                }
            }
        }
        match pins.iter().zip(&origins.pins).position(|(counted, kept)| counted != kept) {
            None => Ok(()),
            Some(index) => Err(format!(
                "superblock {index} is pinned {} times, its count says {}",
                pins[index], origins.pins[index]
            )),
        }
    }
}
