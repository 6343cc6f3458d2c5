//! Program units that a loss of power took: they are filled anew or given up.

use crate::causes::ProgramCause;
use crate::space::{FlashSpace, Translation};
use crate::stripes::PuRole;
use outlast_decisions::SuperblockState;
use outlast_units::{Pu, PuWithin, SuperblockId};

/// Consequences of a loss of power that the caller has to deal with.
#[derive(Clone, Debug, Default)]
pub struct PowerAftermath {
    /// Units that were only in the buffer.
    pub lost: u64,
    /// Superblocks that have been filled: nothing more will be programmed there.
    pub sealed: Vec<SuperblockId>,
    /// Program units without data: they are to be filled, in this order, before anything else is programmed. Those that hold parity get it anew from
    /// [`FlashSpace::recompute_parity`].
    pub fill: Vec<Pu>,
    /// Program units that must be read to compute parity anew.
    pub read: Vec<Pu>,
    /// Program units that were searched for the newest copies: those of superblocks that were not filled.
    pub scanned: u64,
}

impl FlashSpace {
    /// The program units that streams have begun and not filled, as power failed. Their empty slots count as padding, so that counts stay in whole
    /// program units.
    pub(crate) fn take_begun(&mut self) -> Vec<Pu> {
        let mut begun = Vec::new();
        for stream in self.frontiers.streams() {
            if let Some(pu) = self.begun_pu(stream) {
                let empty = self.pus.layout.units_per_pu() - self.begun_units(stream);
                self.counts.count_units(ProgramCause::Padding, empty);
                begun.push(pu);
            }
        }
        begun
    }

    /// Drops program units `gone`, in order, which were on their way to flash as power failed: with each, true if its programming was under way.
    pub(crate) fn lose_buffer(
        &mut self,
        gone: &[(Pu, bool)],
        translation: &mut impl Translation,
    ) -> PowerAftermath {
        let mut after = PowerAftermath::default();
        let open: Vec<SuperblockId> = self.pus.superblocks.in_state(SuperblockState::Open).collect();
        for superblock in open {
            self.drop_unprogrammed(superblock, gone, &mut after, translation);
        }
        self.forget_promises();
        self.forget_coming(translation);
        for stream in self.frontiers.streams() {
            self.count_exposed(stream);
        }
        after
    }

    /// Counts the pages of `pu`, which hold garbage until they are erased, as programmed.
    fn use_up(&mut self, pu: Pu) {
        let (superblock, within) = self.pus.within_superblock(pu);
        if self.pus.is_skipped(superblock, within) || self.pus.lanes.is_dead(self.pus.lane_position(within)) {
            return;
        }
        self.pus.physical.program(&self.pus.layout, superblock, within, 1);
    }

    /// Drops program units `gone` of the open superblock `superblock`, which were on their way to flash.
    pub(super) fn drop_unprogrammed(
        &mut self,
        superblock: SuperblockId,
        gone: &[(Pu, bool)],
        after: &mut PowerAftermath,
        translation: &mut impl Translation,
    ) {
        let mode = self.pus.superblocks.mode(superblock);
        let (pus, data) = (self.pus.layout.used_pus(mode), self.pus.layout.data_pus(mode));
        let first = self.pus.layout.pu_at(superblock, PuWithin(0));
        after.scanned += u64::from(pus - self.pus.superblocks.to_come(superblock));
        let from = gone.partition_point(|&(pu, _)| pu < first);
        let to = gone.partition_point(|&(pu, _)| pu < first + pus);
        // What is lost of a superblock that was closed is not written again.
        let filler = self.filler(superblock).filter(|_| !self.pus.lanes.is_closed(superblock));
        if from != to {
            self.pus.lanes.mark_irregular(superblock);
        }
        let mut settled = 0;
        let mut gone = &gone[from..to];
        while let Some(&(pu, started)) = gone.first() {
            let is_list = self.pus.role(superblock, self.pus.within_superblock(pu).1) == PuRole::List;
            // Members of a stripe whose data has all been handed out go together, as its parity depends on all of them.
            if !is_list && self.is_stripe_complete(pu) {
                let stripe = self.pus.stripe_number(pu);
                let end = first + data;
                let same = |&&(pu, _): &&(Pu, bool)| pu < end && self.pus.stripe_number(pu) == stripe;
                let count = gone.iter().take_while(same).count();
                settled += self.drop_stripe_members(superblock, stripe, &gone[..count], after, translation);
                gone = &gone[count..];
                continue;
            }
            gone = &gone[1..];
            let (_, within) = self.pus.within_superblock(pu);
            if self.pus.partials.are_on_flash() && self.pus.role(superblock, within) == PuRole::Data {
                self.expose(superblock, within, translation);
            }
            self.drop_content(pu, translation);
            if started {
                self.use_up(pu);
            }
            if filler.is_some()
                && self.pus.role(superblock, within) == PuRole::Partial
                && !started
                && !self.pus.is_skipped(superblock, within)
            {
                // No data goes there, but the pages after it can be programmed only after it.
                after.fill.push(pu);
                continue;
            }
            // Its units were counted as written; those that the stream writes here anew count again.
            self.counts.count_failed();
            if started || filler.is_none() || self.pus.is_skipped(superblock, within) {
                settled += 1;
            }
        }
        if self.settle_pus(superblock, settled, translation) {
            after.sealed.push(superblock);
        }
        if let Some(stream) = filler.filter(|_| from != to) {
            self.rewind_frontier(stream);
        }
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
        translation: &mut impl Translation,
    ) -> u32 {
        let members = self.pus.stripe_members(superblock, stripe);
        let is_parity = |space: &Self, pu: Pu| {
            matches!(
                space.pus.role(superblock, space.pus.within_superblock(pu).1),
                PuRole::Parity | PuRole::BlockParity
            )
        };
        let on_flash = members.iter().any(|&pu| is_parity(self, pu) && self.pus.is_on_flash(superblock, pu));
        let data_lost = gone.iter().any(|&(pu, _)| !is_parity(self, pu));
        // Parity within blocks was handed out for all of its group at once, and still covers the lost members.
        let keep = (on_flash && data_lost) || self.is_group_complete(superblock, stripe);
        let mut settled = 0;
        for &(pu, started) in gone {
            let (_, within) = self.pus.within_superblock(pu);
            let parity = is_parity(self, pu);
            if keep || (parity && (started || self.pus.is_skipped(superblock, within))) {
                self.pus.lanes.mark_failed(pu);
                self.pus.lanes.mark_cut(superblock);
            }
            if keep {
                self.disown(pu, translation);
            } else {
                self.drop_content(pu, translation);
            }
            if started {
                self.use_up(pu);
            }
            if started || self.pus.is_skipped(superblock, within) {
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
                let programmed = self.pus.is_on_flash(superblock, pu);
                if is_parity(self, pu) && !programmed {
                    self.drop_content(pu, translation);
                } else if programmed && anew {
                    after.read.push(pu);
                }
            }
        }
        settled
    }

    fn drop_content(&mut self, pu: Pu, translation: &mut impl Translation) {
        self.disown(pu, translation);
        let units = self.pus.layout.units_per_pu();
        if let Some(contents) = &mut self.contents.bytes {
            contents.erase(self.pus.layout.first_slot_of(pu).0, units);
        }
    }
}
