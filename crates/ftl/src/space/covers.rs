//! Covers: protection of the data of a stripe that is not yet full.
//!
//! Parity of the data so far is programmed into the stripe itself, or into superblocks of its own, and protects the data until the stripe has its
//! parity: a *cover*. A cover counts once all of it is on flash.

use crate::causes::ProgramCause;
use crate::partials::{StripeCover, StripeId};
use crate::space::{FlashSpace, Translation};
use crate::streams::StreamCause;
use crate::stripes::PuRole;
use outlast_settings::ftl::PartialPlace;
use outlast_units::{Pu, PuWithin, Stream, SuperblockId, to_count};

impl FlashSpace {
    /// Data program units of the open stripe of `stream` that are full and that no parity on flash (or in a non-volatile cache)
    /// protects, though its code promises some.
    #[inline]
    pub(crate) fn exposed(&self, stream: Stream) -> u32 {
        self.pus.partials.exposed(stream)
    }

    /// True if the open stripe of `stream` gets covers. That of the mapping table, which is in memory as well, gets none.
    pub(crate) fn takes_cover(&self, stream: Stream) -> bool {
        let across = || self.open_stripe(stream).is_some();
        match self.pus.partials.place() {
            Some(PartialPlace::Inline) => self.pus.streams.cause(stream) == StreamCause::Host && across(),
            Some(PartialPlace::Blocks) => self.pus.streams.cause(stream) != StreamCause::Map && across(),
            _ => false,
        }
    }

    /// Begins a cover of the open stripe of `stream`: hands out the program units of its parity so far ([`FlashSpace::take_cover`](Self::take_cover)), or ends the stripe,
    /// whose parity then is due ([`FlashSpace::take_parity`](Self::take_parity)). The program unit begun must be full or [padded](Self::pad). False if nothing is exposed or
    /// there is no room: nothing is done then.
    pub fn cover(&mut self, stream: Stream, translation: &mut impl Translation) -> bool {
        if self.exposed(stream) == 0 || !self.takes_cover(stream) || self.begun_units(stream) != 0 {
            return false;
        }
        if self.frontiers[stream].is_full() || self.pus.partials.is_coming(stream) {
            return false;
        }
        match self.pus.partials.place() {
            Some(PartialPlace::Inline) => self.cover_inline(stream, translation),
            Some(PartialPlace::Blocks) => self.cover_in_blocks(stream, translation),
            _ => false,
        }
    }

    /// True if there is room for partial parity that has superblocks of its own.
    pub fn can_cover(&self, translation: &impl Translation) -> bool {
        self.pus.streams.partial().is_none_or(|stream| self.may_open(stream, translation))
    }

    /// The next program unit of partial parity to be programmed, as the caller programs host data.
    pub fn take_cover(&mut self) -> Option<Pu> {
        self.pus.partials.take_queued()
    }

    /// The open stripe of `stream`, and the program unit that comes next in it, counted within the superblock.
    pub(super) fn open_stripe(&self, stream: Stream) -> Option<(SuperblockId, u32, PuWithin)> {
        let frontier = &self.frontiers[stream];
        if frontier.is_full() {
            return None;
        }
        let superblock = frontier.superblock();
        let at = self.pus.layout.within_of(superblock, frontier.next());
        // A superblock opened when its class had no parity over dies has none that could cover it.
        let code = self.pus.code_of(superblock).filter(|code| code.parity() != 0)?;
        Some((superblock, code.stripe_of(at), at))
    }

    fn cover_inline(&mut self, stream: Stream, translation: &mut impl Translation) -> bool {
        let Some((superblock, stripe, at)) = self.open_stripe(stream) else { return false };
        let Some(code) = self.pus.code_of(superblock) else { return false };
        let (parity, end) = (code.parity() as usize, code.members(stripe).end);
        let free: Vec<PuWithin> = PuWithin::each(at..end)
            .filter(|&pu| {
                self.pus.role(superblock, pu) == PuRole::Data && !self.pus.is_skipped(superblock, pu)
            })
            .collect();
        let ends = free.len() <= parity;
        let spent = if ends { &free[..] } else { &free[..parity] };
        debug_assert!(spent.first() == Some(&at), "partial parity goes where data would have gone next");
        let units = self.pus.layout.units_per_pu();
        let pus: Vec<Pu> = spent.iter().map(|&pu| self.pus.layout.pu_at(superblock, pu)).collect();
        for &pu in &pus {
            self.pus.partials.spend(pu);
        }
        // The program unit under way is not counted among those that come later; `seek` takes the next one out.
        self.frontiers[stream].lose_later((to_count(spent.len()) - 1) * units);
        if ends {
            // Programmed as padding: the pages of a block are programmed in order, without leaving any out.
            for &pu in &pus {
                self.disown(pu, translation);
            }
            self.counts.count_units(ProgramCause::Padding, units * to_count(pus.len()));
            self.pus.partials.queue_pus(&pus);
        } else {
            self.send_cover(stream, (superblock, stripe), StripeCover { until: at, pus }, translation);
        }
        self.advance_frontier(stream, at, translation);
        true
    }

    pub(super) fn send_cover(
        &mut self,
        stream: Stream,
        stripe: StripeId,
        cover: StripeCover,
        translation: &mut impl Translation,
    ) {
        for &pu in &cover.pus {
            self.disown(pu, translation);
        }
        self.contents.compute_cover(&self.pus, stripe.0, stripe.1, &cover);
        self.counts.count_units(
            ProgramCause::PartialParity,
            to_count(cover.pus.len()) * self.pus.layout.units_per_pu(),
        );
        self.pus.partials.send_cover(stream, stripe, cover);
    }

    /// Clears the owners of the slots of program unit `pu`.
    pub(crate) fn disown(&mut self, pu: Pu, translation: &mut impl Translation) {
        translation.disown(self.pus.layout.first_slot_of(pu), self.pus.layout.units_per_pu());
    }

    /// Settles covers after program unit `pu` has come to flash.
    #[inline]
    pub(crate) fn settle_cover(&mut self, pu: Pu, translation: &mut impl Translation) {
        if self.pus.partials.settle_programmed(pu) {
            self.settle_log(translation);
        }
    }

    /// Drops the cover of program unit `pu`, which could not be programmed: its stripe is as exposed as before.
    pub(crate) fn cover_failed(&mut self, pu: Pu, translation: &mut impl Translation) {
        self.pus.partials.drop_failed(pu);
        self.settle_log(translation);
    }

    /// Drops the cover of the stripe of program unit `within`, whose data leaves the stripe before it is full.
    pub(crate) fn expose(
        &mut self,
        superblock: SuperblockId,
        within: PuWithin,
        translation: &mut impl Translation,
    ) {
        let Some(stripe) = self.pus.code_of(superblock).map(|code| code.stripe_of(within)) else { return };
        let open = (superblock, stripe);
        if self.pus.partials.drop_stripe(open) {
            let stream = self.pus.superblocks.opened_by(superblock);
            if self.open_stripe(stream).is_some_and(|(superblock, number, _)| (superblock, number) == open) {
                self.count_exposed(stream);
            }
            self.settle_log(translation);
        }
    }

    /// Counts the data program units of the open stripe of `stream` without a cover.
    pub(crate) fn count_exposed(&mut self, stream: Stream) {
        let exposed = self.open_stripe(stream).map_or(0, |(superblock, stripe, at)| {
            let members =
                self.pus.code_of(superblock).map_or(PuWithin(0)..PuWithin(0), |code| code.members(stripe));
            let covered =
                self.pus.partials.cover(superblock, stripe).map_or(members.start, |cover| cover.until);
            to_count(
                PuWithin::each(covered..at)
                    .filter(|&pu| self.pus.role(superblock, pu) == PuRole::Data)
                    .count(),
            )
        });
        let cached = self.pus.partials.place() == Some(PartialPlace::Cache);
        self.pus.partials.set_exposed(stream, if cached { 0 } else { exposed });
    }

    /// Drops covers on their way to flash, as power has failed, and closes the superblock in which partial parity was being written.
    pub(crate) fn forget_coming(&mut self, translation: &mut impl Translation) {
        self.pus.partials.drop_coming(self.pus.layout.pus_per_superblock());
        self.settle_log(translation);
    }

    /// True if the cover of the open stripe of program unit `pu` gives its unit `unit`, without members that are `is_broken`, which cannot be read.
    ///
    /// # Panics
    /// If bytes are kept and the cover gives others than were written.
    pub(crate) fn cover_gives(&self, pu: Pu, unit: u32, is_broken: impl Fn(Pu) -> bool) -> bool {
        let (superblock, within) = self.pus.within_superblock(pu);
        let Some(code) = self.pus.code_of(superblock) else { return false };
        let stripe = code.stripe_of(within);
        let data = |until: PuWithin| {
            PuWithin::each(code.members(stripe).start..until)
                .filter(|&other| self.pus.role(superblock, other) == PuRole::Data)
                .map(|other| self.pus.layout.pu_at(superblock, other))
        };
        if self.pus.partials.place() == Some(PartialPlace::Cache) {
            let missing = data(code.members(stripe).end).filter(|&other| is_broken(other)).count();
            return missing <= code.parity() as usize;
        }
        let Some(cover) = self.pus.partials.cover(superblock, stripe).filter(|cover| within < cover.until)
        else {
            return false;
        };
        let had: Vec<bool> = cover.pus.iter().map(|&parity| !is_broken(parity)).collect();
        let missing: Vec<Pu> = data(cover.until).filter(|&other| is_broken(other)).collect();
        let gives = missing.len() <= had.iter().filter(|&&had| had).count();
        if gives {
            self.contents.check_cover_gives(&self.pus, pu, unit, cover, &had, &missing);
        }
        gives
    }

    /// Drops the covers of all stripes of `superblock` before `stripe`, which are full.
    pub(crate) fn uncover(
        &mut self,
        superblock: SuperblockId,
        stripe: u32,
        translation: &mut impl Translation,
    ) {
        self.pus.partials.drop_covers_before(superblock, stripe);
        self.settle_log(translation);
    }
}
