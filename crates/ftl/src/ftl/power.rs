//! Loss of power: logical pages go back to their copies on flash, and program units that were on their way are filled anew or given up.

use super::Ftl;
use super::parity::CodeAxis;
use crate::causes::ProgramCause;
use crate::origins::{LOST, UnitOrigins, is_copy};
use crate::streams::StreamCause;
use crate::stripes::PuRole;
use crate::table::PageMapping;
use outlast_decisions::SuperblockState;
use outlast_units::{Lpn, Ppn, Pu, PuWithin, Stream, SuperblockId};

/// Consequences of a loss of power that the caller has to deal with.
#[derive(Clone, Debug, Default)]
pub struct PowerAftermath {
    /// Units that were only in the buffer.
    pub lost: u64,
    /// Superblocks that have been filled: nothing more will be programmed there.
    pub sealed: Vec<SuperblockId>,
    /// Program units without data: they are to be filled, in this order, before anything else is programmed. Those that hold parity get it anew from
    /// [`Ftl::recompute_parity`].
    pub fill: Vec<Pu>,
    /// Program units that must be read to compute parity anew.
    pub read: Vec<Pu>,
    /// Program units that were searched for the newest copies: those of superblocks that were not filled.
    pub scanned: u64,
}

impl Ftl {
    /// Begins to keep the origin of each unit in the buffer; units that untimed writes have left in the buffer go to flash. Does nothing if the
    /// buffer is protected.
    pub fn begin_origins(&mut self) {
        if !self.room.erases_late() || self.origins.is_some() {
            return;
        }
        self.program_held();
        for stream in self.frontiers.streams() {
            if let Some(pu) = self.pad(stream) {
                self.programmed(pu);
                self.program_parity(stream);
            }
        }
        let mut origins = Box::new(UnitOrigins::new(&self.layout));
        for superblock in self.superblocks.in_state(SuperblockState::Open) {
            origins.open_table(superblock, self.layout.units_per_superblock());
        }
        self.origins = Some(origins);
        self.tracks_writes = true;
        self.checks_before_write = true;
    }

    /// Stops keeping origins: writes without time need none.
    #[cold]
    pub(super) fn drop_origins_of_all(&mut self) {
        self.origins = None;
        self.tracks_writes = self.records.is_some() || self.maps.is_some();
        self.checks_before_write = self.held.is_some() || self.maps.is_some();
    }

    /// True if `superblock` may be erased: all units that superseded units of it are on flash, or safe in the buffer.
    #[inline]
    pub(super) fn may_erase(&self, superblock: SuperblockId) -> bool {
        self.origins.as_ref().is_none_or(|origins| !origins.is_pinned(superblock))
    }

    /// Sets the origin of the unit in `slot` to `origin`, or to [`LOST`] if `was_lost`.
    pub(super) fn set_origin(&mut self, slot: Ppn, origin: Ppn, was_lost: bool) {
        if let Some(origins) = &mut self.origins {
            let origin = if was_lost { LOST } else { origin };
            origins.pin(&self.layout, origin);
            origins.set(&self.layout, slot, origin);
        }
    }

    /// Releases the origins of program unit `pu`, which is on flash.
    pub(super) fn release_origins(&mut self, pu: Pu) {
        if let Some(origins) = &mut self.origins {
            origins.release(&self.layout, pu);
        }
    }

    /// Takes program unit `pu`, which will never be on flash, out of all chains of origins. A unit that superseded one of its stale units gets the
    /// origin of the stale one; origins of its valid units are kept until these have been written again.
    #[cold]
    pub(super) fn pass_on_origins(&mut self, pu: Pu) {
        let Some(mut origins) = self.origins.take() else { return };
        for slot in Ppn::each(self.layout.slots_of(pu)) {
            let Some(origin) = origins.of(&self.layout, slot) else { continue };
            origins.set(&self.layout, slot, Ppn::NONE);
            let lpn = self.map.owner(slot);
            let mut next = if lpn.is_some() { self.lookup(lpn) } else { Ppn::NONE };
            if !next.is_some() {
                match origins.trimmed.get(&lpn) {
                    // The page was trimmed, and an undone trim would lead here: from now on to the origin, which nothing erases before the trim is
                    // safe.
                    Some(&former) if former == slot => drop(origins.trimmed.insert(lpn, origin)),
                    // An undone trim would lead to a newer copy, whose chain of origins may lead here.
                    Some(&former) => next = former,
                    None => {}
                }
            }
            if next == slot {
                // The unit is valid: it will be written again, and its origin goes with it.
                origins.keep(slot, origin);
                continue;
            }
            // Back along the chain, from the newest copy in the buffer to the one whose origin is this slot.
            loop {
                let in_buffer = is_copy(next) && !self.is_programmed(next);
                let at = if in_buffer { origins.of(&self.layout, next) } else { None };
                let Some(at) = at else {
                    // The chain ended before this slot: a newer copy is on flash, or the page was trimmed. Nothing leads to the origin any more.
                    origins.unpin(&self.layout, origin);
                    break;
                };
                if at == slot {
                    origins.set(&self.layout, next, origin);
                    origins.unpin(&self.layout, slot);
                    break;
                }
                next = at;
            }
        }
        self.origins = Some(origins);
    }

    /// Moves the origin of the unit of `from`, whose program operation failed, to `to`.
    #[cold]
    pub(super) fn move_origin(&mut self, from: Ppn, to: Ppn) {
        let is_new = self.is_new(from);
        if let Some(origins) = &mut self.origins {
            origins.move_kept(&self.layout, from, to, is_new);
        }
    }

    /// Drops kept origins of failed program units: their units had no place to go.
    #[cold]
    pub(super) fn drop_origins(&mut self) {
        if let Some(origins) = &mut self.origins {
            origins.drop_kept(&self.layout);
        }
    }

    /// Records that power has failed: superblocks held back may have been spent, and a victim that had no place to go may have one now.
    pub fn power_failed(&mut self) {
        self.room.set_power_failed();
        if let Some(maps) = &mut self.maps {
            maps.stop();
        }
        self.lanes.record_failure();
        if self.config.gc.overlap {
            self.frontiers.forget_promises();
        }
    }

    /// True if program unit `pu` has been programmed, or has failed on the way, since its blocks were erased.
    pub(super) fn is_used_up(&self, pu: Pu) -> bool {
        let (superblock, within) = self.within_superblock(pu);
        let (row, lane) = self.layout.row_and_lane(within);
        row < self.physical.programmed(&self.layout, superblock, lane)
    }

    /// Counts the pages of `pu`, which hold garbage until they are erased, as programmed.
    fn use_up(&mut self, pu: Pu) {
        let (superblock, within) = self.within_superblock(pu);
        if self.is_skipped(superblock, within) || self.lanes.is_dead(self.lane_position(within)) {
            return;
        }
        self.physical.program(&self.layout, superblock, within, 1);
    }

    /// The stream that fills `superblock`, which is open, or has filled it and no other since. A frontier of another stream may point into it from an
    /// earlier use of the superblock.
    pub(super) fn filler(&self, superblock: SuperblockId) -> Option<Stream> {
        let stream = self.superblocks.opened_by(superblock);
        if self.streams.cause(stream) == StreamCause::Partial {
            // Superblocks of partial parity have no frontier.
            return None;
        }
        let is_own = self.frontiers[stream].superblock() == superblock;
        (self.superblocks.state(superblock) == SuperblockState::Open && is_own).then_some(stream)
    }

    /// True if the parity of the stripe of program unit `pu` has been handed out.
    pub(super) fn is_stripe_complete(&self, pu: Pu) -> bool {
        let (superblock, within) = self.within_superblock(pu);
        self.code_of(superblock).is_some_and(|code| {
            let due = self.filler(superblock).map(|stream| self.frontiers[stream].due().stripe);
            due.is_none_or(|due| code.stripe_of(within) < due)
        })
    }

    /// Empties the buffer, as power failed. `started`: program units whose programming was under way; `queued`: those that were full and waited for
    /// it, without those held back. Every logical page goes back to its newest copy on flash; program units that were not begun are filled anew by
    /// their stream, if its frontier is still in their superblock.
    pub fn lose_buffer(&mut self, started: &[Pu], queued: &[Pu]) -> PowerAftermath {
        self.begin_origins();
        if let Some(records) = &mut self.records {
            records.drop_buffered(&self.layout);
        }
        let mut after = PowerAftermath::default();
        let mut gone: Vec<(Pu, bool)> = Vec::with_capacity(started.len() + queued.len());
        gone.extend(started.iter().map(|&pu| (pu, true)));
        gone.extend(queued.iter().map(|&pu| (pu, false)));
        while let Some(pu) = self.take_held() {
            gone.push((pu, false));
        }
        for stream in self.frontiers.streams() {
            if let Some(pu) = self.begun_pu(stream) {
                // The rest counts as padding, so that counts stay in whole program units.
                let empty = self.layout.units_per_pu() - self.begun_units(stream);
                self.counts.count_units(ProgramCause::Padding, empty);
                gone.push((pu, false));
            }
        }
        // In order of slots: what a superblock, or a stripe, has lost is a range of it.
        gone.sort_unstable();
        debug_assert!(gone.windows(2).all(|pair| pair[0].0 < pair[1].0), "a program unit is lost twice");
        for &(pu, _) in &gone {
            after.lost += self.fall_back_to_origins(pu);
        }
        self.undo_trims();
        if let Some(origins) = &mut self.origins {
            origins.clear();
        }
        let open: Vec<SuperblockId> = self.superblocks.in_state(SuperblockState::Open).collect();
        for superblock in open {
            self.drop_unprogrammed(superblock, &gone, &mut after);
        }
        self.frontiers.forget_promises();
        self.forget_coming();
        for stream in self.frontiers.streams() {
            self.count_exposed(stream);
        }
        after
    }

    /// Maps the pages of the units of `pu`, which are lost, back to their origins on flash. Returns the number of units that were current.
    fn fall_back_to_origins(&mut self, pu: Pu) -> u64 {
        let Some(origins) = self.origins.take() else { return 0 };
        let mut lost = 0;
        for slot in Ppn::each(self.layout.slots_of(pu)) {
            let lpn = self.map.owner(slot);
            if !lpn.is_some() || self.lookup(lpn) != slot {
                continue;
            }
            lost += 1;
            let at = origins.on_flash(&self.layout, slot, |at| self.is_programmed(at));
            self.superblocks.remove_valid(self.layout.superblock_of(slot));
            self.map.unmap(lpn);
            self.restore_copy(lpn, at);
        }
        self.origins = Some(origins);
        lost
    }

    /// Gives page `lpn`, which has no copy, its former state `at`: a slot on flash, lost, or nothing.
    pub(super) fn restore_copy(&mut self, lpn: Lpn, at: Ppn) {
        self.mark_entry_dirty(lpn);
        if self.losses.is_lost_stale(at) {
            self.record_loss(lpn);
        } else if at == LOST {
            self.losses.lose(lpn);
        } else if at.is_some() {
            let superblock = self.layout.superblock_of(at);
            assert!(
                self.owner(at) == lpn && self.superblocks.state(superblock) != SuperblockState::Free,
                "the last copy of page {lpn} on flash has been destroyed"
            );
            let before = self.map.put(lpn, at);
            debug_assert!(!before.is_some(), "page {lpn} has data in slot {before}");
            self.superblocks.add_valid(superblock);
        }
    }

    /// Drops program units `gone` of the open superblock `superblock`, which were on their way to flash.
    fn drop_unprogrammed(
        &mut self,
        superblock: SuperblockId,
        gone: &[(Pu, bool)],
        after: &mut PowerAftermath,
    ) {
        let pus = self.layout.pus_per_superblock();
        let first = self.layout.pu_at(superblock, PuWithin(0));
        after.scanned += u64::from(pus - self.superblocks.to_come(superblock));
        let from = gone.partition_point(|&(pu, _)| pu < first);
        let to = gone.partition_point(|&(pu, _)| pu < first + pus);
        let filler = self.filler(superblock);
        if from != to {
            self.lanes.mark_irregular(superblock);
        }
        let mut settled = 0;
        let mut gone = &gone[from..to];
        while let Some(&(pu, started)) = gone.first() {
            let is_list = self.role(superblock, self.within_superblock(pu).1) == PuRole::List;
            // Members of a stripe whose data has all been handed out go together, as its parity depends on all of them.
            if !is_list && self.is_stripe_complete(pu) {
                let stripe = self.stripe_number(pu);
                let end = first + self.layout.data_pus();
                let same = |&&(pu, _): &&(Pu, bool)| pu < end && self.stripe_number(pu) == stripe;
                let count = gone.iter().take_while(same).count();
                settled += self.drop_stripe_members(superblock, stripe, &gone[..count], after);
                gone = &gone[count..];
                continue;
            }
            gone = &gone[1..];
            let (_, within) = self.within_superblock(pu);
            if self.partials.are_on_flash() && self.role(superblock, within) == PuRole::Data {
                self.expose(superblock, within);
            }
            self.drop_content(pu);
            if started {
                self.use_up(pu);
            }
            if filler.is_some()
                && self.role(superblock, within) == PuRole::Partial
                && !started
                && !self.is_skipped(superblock, within)
            {
                // No data goes there, but the pages after it can be programmed only after it.
                after.fill.push(pu);
                continue;
            }
            // Its units were counted as written; those that the stream writes here anew count again.
            self.counts.count_failed();
            if started || filler.is_none() || self.is_skipped(superblock, within) {
                settled += 1;
            }
        }
        if self.settle_pus(superblock, settled) {
            after.sealed.push(superblock);
        }
        if let Some(stream) = filler.filter(|_| from != to) {
            self.rewind_frontier(stream);
        }
    }

    fn stripe_number(&self, pu: Pu) -> u32 {
        let (superblock, within) = self.within_superblock(pu);
        self.code_of(superblock).map_or(0, |code| code.stripe_of(within))
    }

    /// Drops members `gone` of a stripe whose data had all been handed out. If parity is on flash and some data is not, the lost members count as
    /// failed and are filled with padding. Else parity is computed anew over the data on flash. Returns the number of program units that are not to
    /// come any more.
    fn drop_stripe_members(
        &mut self,
        superblock: SuperblockId,
        stripe: u32,
        gone: &[(Pu, bool)],
        after: &mut PowerAftermath,
    ) -> u32 {
        let members = self.stripe_members(superblock, stripe);
        let is_parity = |ftl: &Self, pu: Pu| {
            matches!(ftl.role(superblock, ftl.within_superblock(pu).1), PuRole::Parity | PuRole::BlockParity)
        };
        let on_flash = members.iter().any(|&pu| is_parity(self, pu) && self.is_on_flash(superblock, pu));
        let data_lost = gone.iter().any(|&(pu, _)| !is_parity(self, pu));
        // Parity within blocks was handed out for all of its group at once, and still covers the lost members.
        let keep = (on_flash && data_lost) || self.is_group_complete(superblock, stripe);
        let mut settled = 0;
        for &(pu, started) in gone {
            let (_, within) = self.within_superblock(pu);
            let parity = is_parity(self, pu);
            if keep || (parity && (started || self.is_skipped(superblock, within))) {
                self.lanes.mark_failed(pu);
                self.lanes.mark_cut(superblock);
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
                self.counts.count_failed();
                settled += 1;
            } else {
                after.fill.push(pu);
            }
        }
        if !keep {
            // Parity none of which is on flash is computed anew, from members that are read; else the parity on flash holds.
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

    /// True if the parity within blocks of the group of `stripe` has been handed out.
    fn is_group_complete(&self, superblock: SuperblockId, stripe: u32) -> bool {
        let Some(code) = self.code_of(superblock).filter(|code| code.block_code().is_some()) else {
            return false;
        };
        let due = self.filler(superblock).map_or(code.count(), |stream| self.frontiers[stream].due().stripe);
        (stripe..due).any(|stripe| !code.block_parity_after(stripe).is_empty())
    }

    /// The program units of a stripe.
    fn stripe_members(&self, superblock: SuperblockId, stripe: u32) -> Vec<Pu> {
        let at = |within| self.layout.pu_at(superblock, within);
        self.code_of(superblock)
            .map(|code| PuWithin::each(code.members(stripe)).map(at).collect())
            .unwrap_or_default()
    }

    fn drop_content(&mut self, pu: Pu) {
        self.disown(pu);
        let units = self.layout.units_per_pu();
        if let Some(contents) = &mut self.contents {
            contents.erase(self.layout.first_slot_of(pu).0, units);
        }
    }

    /// Moves the frontier of `stream` back to the first program unit that can still be programmed. Data on flash of the stripe under way must be read
    /// to know its parity.
    fn rewind_frontier(&mut self, stream: Stream) {
        let superblock = self.frontiers[stream].superblock();
        if self.superblocks.state(superblock) != SuperblockState::Open || self.lanes.is_closed(superblock) {
            // All of its pages are programmed, or it is closed and no parity is due.
            self.frontiers[stream].close();
            return;
        }
        self.lanes.mark_irregular(superblock);
        let pus = PuWithin(self.layout.data_pus());
        let due = self.frontiers[stream].due().stripe;
        let from = match self.code_of(superblock) {
            Some(code) if due >= code.count() => pus,
            Some(code) => code.members(due).start,
            None => PuWithin(0),
        };
        let left = PuWithin::each(from..pus).filter(|&pu| self.takes_data(superblock, pu)).count() as u32;
        let frontier = &mut self.frontiers[stream];
        // Lists that are on flash, or never will be, are passed over.
        frontier.restart_lists();
        frontier.break_off(left * self.layout.units_per_pu());
        self.seek_data(stream, from);
    }

    /// True if program unit `pu_within` of an open superblock can still be programmed with data.
    pub(super) fn takes_data(&self, superblock: SuperblockId, pu_within: PuWithin) -> bool {
        let pu = self.layout.pu_at(superblock, pu_within);
        self.role(superblock, pu_within) == PuRole::Data
            && !self.is_skipped(superblock, pu_within)
            && !self.lanes.is_closed(superblock)
            && (!self.lanes.is_irregular(superblock) || !self.is_used_up(pu))
    }

    /// The program units on flash of stripes under way: after a loss of power they are read, so that parity that is still to come is known again.
    pub fn stripes_under_way(&self) -> Vec<Pu> {
        let mut members = Vec::new();
        for stream in self.frontiers.streams() {
            let frontier = &self.frontiers[stream];
            let (superblock, due) = (frontier.superblock(), frontier.due().stripe);
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

    /// Loses the unit in `slot`, which cannot be read while its stripe's parity is computed anew: the stripe covers it no more. Returns its page, if
    /// it was current.
    pub fn lose_uncovered(&mut self, slot: Ppn) -> Option<Lpn> {
        if self.partials.are_on_flash() {
            let (superblock, within) = self.within_superblock(self.layout.pu_of(slot).0);
            self.expose(superblock, within);
        }
        let lost = self.lose(slot);
        if lost.is_none() && self.origins.is_some() && self.owner(slot).is_some() {
            // Another loss of power may come before the unit that superseded it is on flash.
            self.losses.lose_stale(slot);
        }
        self.map.disown(slot, 1);
        if let Some(contents) = &mut self.contents {
            contents.erase(slot.0, 1);
        }
        lost
    }

    /// Computes the parity of those program units in `fill` that hold it anew.
    pub fn recompute_parity(&mut self, fill: &[Pu]) {
        for &pu in fill {
            let (superblock, within) = self.within_superblock(pu);
            if self.role(superblock, within) == PuRole::Parity && !self.lanes.has_failed(pu) {
                self.compute_parity(superblock, CodeAxis::Dies, pu);
            }
        }
    }

    /// The sealed superblock with the fewest valid units, if there is a place to move them to.
    pub(super) fn choose_least(&self) -> Option<SuperblockId> {
        // A superblock whose valid units fill the next one gains nothing.
        let (least, valid) = self.superblocks.candidates().min_by_key(|&(_, valid)| valid)?;
        let stream = self.streams.gc(self.class_of_superblock(least));
        (valid < self.data_units(stream) && self.can_relocate(least, stream)).then_some(least)
    }

    /// True if a superblock is being emptied or erased.
    pub(super) fn is_collecting(&self) -> bool {
        self.superblocks.in_state(SuperblockState::Collecting).next().is_some()
    }
}
