//! Superblocks of partial parity: room for covers in them, and covers that move to the next.

use crate::partials::{StripeCover, StripeId};
use crate::space::{FlashSpace, Translation};
use crate::streams::StreamCause;
use outlast_units::{Pu, PuWithin, Stream, SuperblockId};

impl FlashSpace {
    pub(super) fn cover_in_blocks(&mut self, stream: Stream, translation: &mut impl Translation) -> bool {
        let Some((superblock, stripe, at)) = self.open_stripe(stream) else { return false };
        let Some(pus) = self.room_in_log(superblock, stripe, translation) else { return false };
        self.send_cover(stream, (superblock, stripe), StripeCover { until: at, pus }, translation);
        true
    }

    /// Program units of the log for the parity of a stripe.
    fn room_in_log(
        &mut self,
        superblock: SuperblockId,
        stripe: u32,
        translation: &mut impl Translation,
    ) -> Option<Vec<Pu>> {
        // The last superpage stays empty, so that the superblock is not sealed before it is wholly stale.
        let rows = self.pus.layout.superpages() - 1;
        // Two attempts: in the open superblock of the log, and in a new one.
        for _ in 0..2 {
            if let Some(open) = self.pus.partials.log() {
                let lanes = self.pus.cover_lanes(superblock, stripe, open);
                if lanes.is_empty() {
                    return None;
                }
                let first = self.pus.layout.pu_at(open, PuWithin(0));
                let count = self.pus.layout.lane_count();
                if let Some(pus) = self.pus.partials.take_from_log(&lanes, first, count, rows) {
                    return Some(pus);
                }
            }
            self.open_log((superblock, stripe), rows, translation)?;
        }
        None
    }

    /// True if a superblock of `rows` superpages has room for the cover of `wanted` beside those that move there: else one after another fills up.
    fn fits_new_log(&self, wanted: StripeId, rows: u32) -> bool {
        let mut taken = vec![0; self.pus.layout.lanes().len()];
        for (superblock, stripe) in self.covers_but(wanted).map(|(_, stripe)| stripe).chain([wanted]) {
            self.pus.parity_lanes(superblock, stripe).for_each(|lane| taken[lane.0 as usize] += 1);
        }
        taken.iter().all(|&count| count <= rows)
    }

    /// The open stripes with a cover except `wanted`, each with its stream. Where a newer cover is on its way, the older one is needed only until then.
    fn covers_but(&self, wanted: StripeId) -> impl Iterator<Item = (Stream, StripeId)> {
        let streams = self.frontiers.streams().filter(|&stream| !self.pus.partials.is_coming(stream));
        streams.filter_map(move |stream| {
            let (superblock, stripe, _) = self.open_stripe(stream)?;
            self.pus.partials.cover(superblock, stripe)?;
            Some((stream, (superblock, stripe))).filter(|&(_, stripe)| stripe != wanted)
        })
    }

    /// Opens a superblock of partial parity, `rows` superpages of which take covers, for the cover of `wanted`. Covers in use move there.
    fn open_log(&mut self, wanted: StripeId, rows: u32, translation: &mut impl Translation) -> Option<()> {
        let stream = self.pus.streams.partial()?;
        if !self.may_open(stream, translation) || !self.fits_new_log(wanted, rows) {
            return None;
        }
        let superblock = self.take_free(StreamCause::Host);
        self.begin_superblock(superblock, stream, translation);
        let gone = self.pus.lanes.open(superblock) * self.pus.layout.superpages();
        self.settle_pus(superblock, gone, translation);
        self.pus.partials.open_log(superblock, self.pus.layout.pus_per_superblock(), gone);
        self.move_covers(wanted, translation);
        self.settle_log(translation);
        Some(())
    }

    /// Writes all covers again, into the superblock now open, so that none before is needed for as long as a stripe stays open.
    fn move_covers(&mut self, wanted: StripeId, translation: &mut impl Translation) {
        let covers: Vec<(Stream, StripeId)> = self.covers_but(wanted).collect();
        for (stream, stripe) in covers {
            let Some((superblock, number, at)) = self.open_stripe(stream) else { continue };
            let Some(pus) = self.room_in_log(superblock, number, translation) else { continue };
            self.pus.partials.count_moved(pus.len() as u64 * u64::from(self.pus.layout.units_per_pu()));
            self.send_cover(stream, stripe, StripeCover { until: at, pus }, translation);
        }
    }

    /// Settles superblocks of partial parity without a cover in use: all in them is stale.
    pub(super) fn settle_log(&mut self, translation: &mut impl Translation) {
        while let Some((superblock, left)) =
            self.pus.partials.take_closed(self.pus.layout.pus_per_superblock())
        {
            self.settle_pus(superblock, left, translation);
        }
    }
}
