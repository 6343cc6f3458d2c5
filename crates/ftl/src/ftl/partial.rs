//! Covers: protection of the data of a stripe that is not yet full.
//!
//! Parity of the data so far is programmed into the stripe itself, or into superblocks of its own, and protects the data until the stripe has its
//! parity: a *cover*. A cover counts once all of it is on flash.

use super::Ftl;
use crate::causes::ProgramCause;
use crate::partials::{StripeCover, StripeId};
use crate::streams::StreamCause;
use crate::stripes::PuRole;
use crate::table::PageMapping;
use outlast_settings::ftl::PartialPlace;
use outlast_units::{LaneIndex, Pu, PuWithin, Stream, SuperblockId};

impl Ftl {
    /// Data program units of the open stripe of `stream` that are full and that no parity on flash (or in a non-volatile cache)
    /// protects, though its code promises some.
    #[inline]
    pub(super) fn exposed(&self, stream: Stream) -> u32 {
        self.partials.exposed(stream)
    }

    /// True if the open stripe of `stream` gets covers. That of the mapping table, which is in memory as well, gets none.
    pub(super) fn takes_cover(&self, stream: Stream) -> bool {
        let across = || self.open_stripe(stream).is_some();
        match self.partials.place() {
            Some(PartialPlace::Inline) => self.streams.cause(stream) == StreamCause::Host && across(),
            Some(PartialPlace::Blocks) => self.streams.cause(stream) != StreamCause::Map && across(),
            _ => false,
        }
    }

    /// Begins a cover of the open stripe of `stream`: hands out the program units of its parity so far ([`Ftl::take_cover`]), or ends the stripe,
    /// whose parity then is due ([`Ftl::take_parity`]). The program unit begun must be full or [padded](Ftl::pad). False if nothing is exposed or
    /// there is no room: nothing is done then.
    pub fn cover(&mut self, stream: Stream) -> bool {
        if self.exposed(stream) == 0 || !self.takes_cover(stream) || self.begun_units(stream) != 0 {
            return false;
        }
        if self.frontiers[stream].is_full() || self.partials.is_coming(stream) {
            return false;
        }
        match self.partials.place() {
            Some(PartialPlace::Inline) => self.cover_inline(stream),
            Some(PartialPlace::Blocks) => self.cover_in_blocks(stream),
            _ => false,
        }
    }

    /// True if there is room for partial parity that has superblocks of its own.
    pub fn can_cover(&self) -> bool {
        self.streams.partial().is_none_or(|stream| self.may_open(stream))
    }

    /// The next program unit of partial parity to be programmed, as the caller programs host data.
    pub fn take_cover(&mut self) -> Option<Pu> {
        self.partials.take_queued()
    }

    /// The open stripe of `stream`, and the program unit that comes next in it, counted within the superblock.
    fn open_stripe(&self, stream: Stream) -> Option<(SuperblockId, u32, PuWithin)> {
        let frontier = &self.frontiers[stream];
        if frontier.is_full() {
            return None;
        }
        let superblock = frontier.superblock();
        let at = self.layout.within_of(superblock, frontier.next());
        // A superblock opened when its class had no parity over dies has none that could cover it.
        let code = self.code_of(superblock).filter(|code| code.parity() != 0)?;
        Some((superblock, code.stripe_of(at), at))
    }

    fn cover_inline(&mut self, stream: Stream) -> bool {
        let Some((superblock, stripe, at)) = self.open_stripe(stream) else { return false };
        let Some(code) = self.code_of(superblock) else { return false };
        let (parity, end) = (code.parity() as usize, code.members(stripe).end);
        let free: Vec<PuWithin> = PuWithin::each(at..end)
            .filter(|&pu| self.role(superblock, pu) == PuRole::Data && !self.is_skipped(superblock, pu))
            .collect();
        let ends = free.len() <= parity;
        let spent = if ends { &free[..] } else { &free[..parity] };
        debug_assert!(spent.first() == Some(&at), "partial parity goes where data would have gone next");
        let units = self.layout.units_per_pu();
        let pus: Vec<Pu> = spent.iter().map(|&pu| self.layout.pu_at(superblock, pu)).collect();
        for &pu in &pus {
            self.partials.spend(pu);
        }
        // The program unit under way is not counted among those that come later; `seek` takes the next one out.
        self.frontiers[stream].lose_later((spent.len() as u32 - 1) * units);
        if ends {
            // Programmed as padding: the pages of a block are programmed in order, without leaving any out.
            for &pu in &pus {
                self.disown(pu);
            }
            self.counts.count_units(ProgramCause::Padding, units * pus.len() as u32);
            self.partials.queue_pus(&pus);
        } else {
            self.send_cover(stream, (superblock, stripe), StripeCover { until: at, pus });
        }
        self.advance_frontier(stream, at);
        true
    }

    fn cover_in_blocks(&mut self, stream: Stream) -> bool {
        let Some((superblock, stripe, at)) = self.open_stripe(stream) else { return false };
        let Some(pus) = self.room_in_log(superblock, stripe) else { return false };
        self.send_cover(stream, (superblock, stripe), StripeCover { until: at, pus });
        true
    }

    /// Program units of the log for the parity of a stripe.
    fn room_in_log(&mut self, superblock: SuperblockId, stripe: u32) -> Option<Vec<Pu>> {
        // The last superpage stays empty, so that the superblock is not sealed before it is wholly stale.
        let rows = self.layout.superpages() - 1;
        // Two attempts: in the open superblock of the log, and in a new one.
        for _ in 0..2 {
            if let Some(open) = self.partials.log() {
                let lanes = self.cover_lanes(superblock, stripe, open);
                if lanes.is_empty() {
                    return None;
                }
                let first = self.layout.pu_at(open, PuWithin(0));
                let count = self.layout.lanes().len() as u32;
                if let Some(pus) = self.partials.take_from_log(&lanes, first, count, rows) {
                    return Some(pus);
                }
            }
            self.open_log((superblock, stripe), rows)?;
        }
        None
    }

    /// The lanes of superblock `log` on which the parity of a stripe will lie, as far as they are there.
    fn cover_lanes(&self, superblock: SuperblockId, stripe: u32, log: SuperblockId) -> Vec<LaneIndex> {
        let gaps = self.opened_gaps(log);
        let usable = |&lane: &LaneIndex| {
            !self.lanes.is_dead(lane)
                && !self.is_skipped(log, PuWithin(lane.0))
                && !gaps.is_some_and(|gaps| gaps.contains(lane))
        };
        self.parity_lanes(superblock, stripe).filter(usable).collect()
    }

    /// The lanes of the parity of a stripe.
    fn parity_lanes(&self, superblock: SuperblockId, stripe: u32) -> impl Iterator<Item = LaneIndex> {
        let parity = self.code_of(superblock).into_iter();
        parity
            .flat_map(move |code| code.parity_of(stripe, self.opened_gaps(superblock)))
            .map(|pu| self.lane_position(pu))
    }

    /// True if a superblock of `rows` superpages has room for the cover of `wanted` beside those that move there: else one after another fills up.
    fn fits_new_log(&self, wanted: StripeId, rows: u32) -> bool {
        let mut taken = vec![0; self.layout.lanes().len()];
        for (superblock, stripe) in self.covers_but(wanted).map(|(_, stripe)| stripe).chain([wanted]) {
            self.parity_lanes(superblock, stripe).for_each(|lane| taken[lane.0 as usize] += 1);
        }
        taken.iter().all(|&count| count <= rows)
    }

    /// The open stripes with a cover except `wanted`, each with its stream. Where a newer cover is on its way, the older one is needed only until then.
    fn covers_but(&self, wanted: StripeId) -> impl Iterator<Item = (Stream, StripeId)> {
        let streams = self.frontiers.streams().filter(|&stream| !self.partials.is_coming(stream));
        streams.filter_map(move |stream| {
            let (superblock, stripe, _) = self.open_stripe(stream)?;
            self.partials.cover(superblock, stripe)?;
            Some((stream, (superblock, stripe))).filter(|&(_, stripe)| stripe != wanted)
        })
    }

    /// Opens a superblock of partial parity, `rows` superpages of which take covers, for the cover of `wanted`. Covers in use move there.
    fn open_log(&mut self, wanted: StripeId, rows: u32) -> Option<()> {
        let stream = self.streams.partial()?;
        if !self.may_open(stream) || !self.fits_new_log(wanted, rows) {
            return None;
        }
        let superblock = self.take_free(StreamCause::Host);
        self.begin_superblock(superblock, stream);
        let gone = self.lanes.open(superblock) * self.layout.superpages();
        self.settle_pus(superblock, gone);
        self.partials.open_log(superblock, self.layout.pus_per_superblock(), gone);
        self.move_covers(wanted);
        self.settle_log();
        Some(())
    }

    /// Writes all covers again, into the superblock now open, so that none before is needed for as long as a stripe stays open.
    fn move_covers(&mut self, wanted: StripeId) {
        let covers: Vec<(Stream, StripeId)> = self.covers_but(wanted).collect();
        for (stream, stripe) in covers {
            let Some((superblock, number, at)) = self.open_stripe(stream) else { continue };
            let Some(pus) = self.room_in_log(superblock, number) else { continue };
            self.partials.count_moved(pus.len() as u64 * u64::from(self.layout.units_per_pu()));
            self.send_cover(stream, stripe, StripeCover { until: at, pus });
        }
    }

    fn send_cover(&mut self, stream: Stream, stripe: StripeId, cover: StripeCover) {
        for &pu in &cover.pus {
            self.disown(pu);
        }
        self.compute_cover(stripe.0, stripe.1, &cover);
        self.counts
            .count_units(ProgramCause::PartialParity, cover.pus.len() as u32 * self.layout.units_per_pu());
        self.partials.send_cover(stream, stripe, cover);
    }

    /// Clears the owners of the slots of program unit `pu`.
    pub(super) fn disown(&mut self, pu: Pu) {
        self.map.disown(self.layout.first_slot_of(pu), self.layout.units_per_pu());
    }

    /// Settles covers after program unit `pu` has come to flash.
    #[inline]
    pub(super) fn settle_cover(&mut self, pu: Pu) {
        if self.partials.settle_programmed(pu) {
            self.settle_log();
        }
    }

    /// Drops the cover of program unit `pu`, which could not be programmed: its stripe is as exposed as before.
    pub(super) fn cover_failed(&mut self, pu: Pu) {
        self.partials.drop_failed(pu);
        self.settle_log();
    }

    /// Drops the cover of the stripe of program unit `within`, whose data leaves the stripe before it is full.
    pub(super) fn expose(&mut self, superblock: SuperblockId, within: PuWithin) {
        let Some(stripe) = self.code_of(superblock).map(|code| code.stripe_of(within)) else { return };
        let open = (superblock, stripe);
        if self.partials.drop_stripe(open) {
            let stream = self.superblocks.opened_by(superblock);
            if self.open_stripe(stream).is_some_and(|(superblock, number, _)| (superblock, number) == open) {
                self.count_exposed(stream);
            }
            self.settle_log();
        }
    }

    /// Counts the data program units of the open stripe of `stream` without a cover.
    pub(super) fn count_exposed(&mut self, stream: Stream) {
        let exposed = self.open_stripe(stream).map_or(0, |(superblock, stripe, at)| {
            let members =
                self.code_of(superblock).map_or(PuWithin(0)..PuWithin(0), |code| code.members(stripe));
            let covered = self.partials.cover(superblock, stripe).map_or(members.start, |cover| cover.until);
            PuWithin::each(covered..at).filter(|&pu| self.role(superblock, pu) == PuRole::Data).count() as u32
        });
        let cached = self.partials.place() == Some(PartialPlace::Cache);
        self.partials.set_exposed(stream, if cached { 0 } else { exposed });
    }

    /// Drops covers on their way to flash, as power has failed, and closes the superblock in which partial parity was being written.
    pub(super) fn forget_coming(&mut self) {
        self.partials.drop_coming(self.layout.pus_per_superblock());
        self.settle_log();
    }

    /// True if the cover of the open stripe of program unit `pu` gives its unit `unit`, without members that are `is_broken`, which cannot be read.
    ///
    /// # Panics
    /// If bytes are kept and the cover gives others than were written.
    pub(super) fn cover_gives(&self, pu: Pu, unit: u32, is_broken: impl Fn(Pu) -> bool) -> bool {
        let (superblock, within) = self.within_superblock(pu);
        let Some(code) = self.code_of(superblock) else { return false };
        let stripe = code.stripe_of(within);
        let data = |until: PuWithin| {
            PuWithin::each(code.members(stripe).start..until)
                .filter(|&other| self.role(superblock, other) == PuRole::Data)
                .map(|other| self.layout.pu_at(superblock, other))
        };
        if self.partials.place() == Some(PartialPlace::Cache) {
            let missing = data(code.members(stripe).end).filter(|&other| is_broken(other)).count();
            return missing <= code.parity() as usize;
        }
        let Some(cover) = self.partials.cover(superblock, stripe).filter(|cover| within < cover.until) else {
            return false;
        };
        let had: Vec<bool> = cover.pus.iter().map(|&parity| !is_broken(parity)).collect();
        let missing: Vec<Pu> = data(cover.until).filter(|&other| is_broken(other)).collect();
        let gives = missing.len() <= had.iter().filter(|&&had| had).count();
        if gives {
            self.check_cover_gives(pu, unit, cover, &had, &missing);
        }
        gives
    }

    /// Drops the covers of all stripes of `superblock` before `stripe`, which are full.
    pub(super) fn uncover(&mut self, superblock: SuperblockId, stripe: u32) {
        self.partials.drop_covers_before(superblock, stripe);
        self.settle_log();
    }

    /// Settles superblocks of partial parity without a cover in use: all in them is stale.
    fn settle_log(&mut self) {
        while let Some((superblock, left)) = self.partials.take_closed(self.layout.pus_per_superblock()) {
            self.settle_pus(superblock, left);
        }
    }
}
