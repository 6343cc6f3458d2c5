//! Covers: parity of stripes that are not full, on flash or on its way, and the superblocks it goes to.
//!
//! `ssd/src/health/cover.rs` decides when a stripe gets one.

use crate::bits::BitSet;
use outlast_settings::ftl::PartialPlace;
use outlast_units::{IndexVec, LaneIndex, ListMap, Pu, PuWithin, Stream, SuperblockId, to_count};
use std::collections::VecDeque;

/// Identity of a stripe: its superblock and its number there.
pub(crate) type StripeId = (SuperblockId, u32);

/// Parity of a stripe that is not full.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub(crate) struct StripeCover {
    /// Data of the stripe before this program unit (counted within the superblock) is covered.
    pub(crate) until: PuWithin,
    /// Program units of the parity, in the order of the code.
    pub(crate) pus: Vec<Pu>,
}

/// A cover that is on its way to flash.
#[derive(Clone, Debug, outlast_persist::Persist)]
struct PendingCover {
    stripe: StripeId,
    stream: Stream,
    cover: StripeCover,
    /// Data program units that will no longer be exposed.
    exposed: u32,
    /// Program units not yet on flash.
    left: u32,
}

/// Superblocks of partial parity. Each lane is filled from its first page on, for itself: the parity of a stripe goes to the lanes
/// on which the stripe's own parity will lie, so that no die holds both data and its parity.
#[derive(Clone, Debug, Default, outlast_persist::Persist)]
struct CoverLog {
    open: Option<SuperblockId>,
    /// Next superpage of each lane.
    next: IndexVec<LaneIndex, u32>,
    /// Program units handed out.
    used: u32,
    /// Superblocks that are full on some lane, with the program units left over: sealed when nothing in them is needed any more.
    closing: Vec<(SuperblockId, u32)>,
}

/// Covers of a flash core, and the data that no cover protects.
#[derive(Clone, Debug, outlast_persist::Restore)]
pub(crate) struct CoverTable {
    #[persist(skip)]
    place: Option<PartialPlace>,
    /// One bit for each program unit that holds partial parity within a stripe, or that its stripe left out.
    spent: BitSet,
    queue: VecDeque<Pu>,
    covers: ListMap<StripeId, StripeCover>,
    coming: Vec<PendingCover>,
    log: CoverLog,
    /// Data program units of each stream's open stripe that no parity protects yet.
    exposed: IndexVec<Stream, u32>,
    /// Units of covers written again because the superblock that they were in was full.
    moved: u64,
}

impl CoverTable {
    /// A table without covers, over `pus` program units and `lanes` lanes.
    pub(crate) fn new(place: Option<PartialPlace>, pus: usize, lanes: usize, streams: usize) -> Self {
        Self {
            place,
            spent: BitSet::new(if place == Some(PartialPlace::Inline) { pus } else { 0 }),
            queue: VecDeque::new(),
            covers: ListMap::default(),
            coming: Vec::new(),
            log: CoverLog { next: IndexVec::filled(0, lanes), ..CoverLog::default() },
            exposed: IndexVec::filled(0, streams),
            moved: 0,
        }
    }

    /// Place of covers; `None` in a drive without parity.
    pub(crate) fn place(&self) -> Option<PartialPlace> {
        self.place
    }

    /// True if covers are programmed, within their stripes or into superblocks of their own.
    #[inline]
    pub(crate) fn are_on_flash(&self) -> bool {
        matches!(self.place, Some(PartialPlace::Inline | PartialPlace::Blocks))
    }

    /// True if program unit `pu` holds partial parity within a stripe, or was left out by its stripe.
    #[inline]
    pub(crate) fn is_spent(&self, pu: Pu) -> bool {
        !self.spent.is_empty() && self.spent.get(pu.0)
    }

    /// Spends program unit `pu`: it holds no data of its stripe.
    pub(crate) fn spend(&mut self, pu: Pu) {
        debug_assert!(self.place == Some(PartialPlace::Inline), "no parity goes into open stripes");
        debug_assert!(!self.spent.get(pu.0), "program unit {pu} takes partial parity twice");
        self.spent.set(pu.0);
    }

    /// Forgets which of program units `pus`, which have been erased, were spent.
    pub(crate) fn forget_spent(&mut self, pus: std::ops::Range<Pu>) {
        if !self.spent.is_empty() {
            self.spent.clear_range(pus.start.0, pus.end - pus.start);
        }
    }

    /// Data program units of the open stripe of `stream` that are full and unprotected.
    #[inline]
    pub(crate) fn exposed(&self, stream: Stream) -> u32 {
        self.exposed[stream]
    }

    #[inline]
    pub(crate) fn set_exposed(&mut self, stream: Stream, exposed: u32) {
        self.exposed[stream] = exposed;
    }

    /// The cover of an open stripe that is on flash.
    pub(crate) fn cover(&self, superblock: SuperblockId, stripe: u32) -> Option<&StripeCover> {
        self.covers.get((superblock, stripe))
    }

    /// True if a cover of the open stripe of `stream` is on its way.
    pub(crate) fn is_coming(&self, stream: Stream) -> bool {
        self.coming.iter().any(|coming| coming.stream == stream)
    }

    /// Queues program units `pus` to be programmed, in this order.
    pub(crate) fn queue_pus(&mut self, pus: &[Pu]) {
        self.queue.extend(pus);
    }

    /// The next program unit to be programmed.
    pub(crate) fn take_queued(&mut self) -> Option<Pu> {
        self.queue.pop_front()
    }

    /// Queues `cover`, of `stripe` that `stream` has open, to be programmed; it counts once all of it is on flash.
    pub(crate) fn send_cover(&mut self, stream: Stream, stripe: StripeId, cover: StripeCover) {
        debug_assert!(!cover.pus.is_empty(), "a cover of no program unit");
        self.queue.extend(&cover.pus);
        let (exposed, left) = (self.exposed[stream], to_count(cover.pus.len()));
        self.coming.push(PendingCover { stripe, stream, cover, exposed, left });
    }

    /// Reports that program unit `pu` is on flash; true if it may have been of a cover.
    #[inline]
    pub(crate) fn settle_programmed(&mut self, pu: Pu) -> bool {
        if self.coming.is_empty() {
            return false;
        }
        let is_of = |coming: &PendingCover| coming.cover.pus.contains(&pu);
        if let Some(index) = self.coming.iter().position(is_of) {
            self.coming[index].left -= 1;
            if self.coming[index].left == 0 {
                let coming = self.coming.swap_remove(index);
                let exposed = &mut self.exposed[coming.stream];
                *exposed = exposed.saturating_sub(coming.exposed);
                self.covers.insert(coming.stripe, coming.cover);
            }
        }
        true
    }

    /// Drops the cover on its way that has program unit `pu`, which could not be programmed.
    pub(crate) fn drop_failed(&mut self, pu: Pu) {
        self.coming.retain(|coming| !coming.cover.pus.contains(&pu));
    }

    /// Drops the cover of `stripe`, on flash or on its way; true if there was one.
    pub(crate) fn drop_stripe(&mut self, stripe: StripeId) -> bool {
        let coming = self.coming.len();
        self.coming.retain(|coming| coming.stripe != stripe);
        self.covers.remove(stripe).is_some() || self.coming.len() != coming
    }

    /// Drops the covers of all stripes of `superblock` before `stripe`, which are full.
    pub(crate) fn drop_covers_before(&mut self, superblock: SuperblockId, stripe: u32) {
        let done = |(open, number): StripeId| open == superblock && number < stripe;
        self.covers.retain(|open, _| !done(open));
        self.coming.retain(|coming| !done(coming.stripe));
    }

    /// Drops covers on their way, and closes the log's superblock, of `pus` program units.
    pub(crate) fn drop_coming(&mut self, pus: u32) {
        self.coming.clear();
        self.queue.clear();
        let used = std::mem::take(&mut self.log.used);
        if let Some(open) = self.log.open.take() {
            self.log.closing.push((open, pus - used));
        }
    }

    /// The log's open superblock.
    pub(crate) fn log(&self) -> Option<SuperblockId> {
        self.log.open
    }

    /// True if `superblock` takes covers, or did and may hold some in use: the program units left over in it still count as to come.
    pub(crate) fn is_of_log(&self, superblock: SuperblockId) -> bool {
        self.log.open == Some(superblock) || self.log.closing.iter().any(|&(full, _)| full == superblock)
    }

    /// Takes one program unit on each of `lanes`, of `count`, in the log's open superblock, which begins with program unit `first` and
    /// has `rows` superpages for this; `None` when one of the lanes is full.
    pub(crate) fn take_from_log(
        &mut self,
        lanes: &[LaneIndex],
        first: Pu,
        count: u32,
        rows: u32,
    ) -> Option<Vec<Pu>> {
        let log = &mut self.log;
        if lanes.iter().any(|&lane| log.next[lane] >= rows) {
            return None;
        }
        let take = |&lane: &LaneIndex| {
            let row = &mut log.next[lane];
            *row += 1;
            first + ((*row - 1) * count + lane.0)
        };
        let pus: Vec<Pu> = lanes.iter().map(take).collect();
        self.log.used += to_count(pus.len());
        Some(pus)
    }

    /// Opens `superblock`, of `pus` program units, `gone` of which are not there, for the log. Returns the superblock before.
    pub(crate) fn open_log(&mut self, superblock: SuperblockId, pus: u32, gone: u32) -> Option<SuperblockId> {
        assert!(self.log.used <= pus && gone <= pus, "more of the log is used than there is");
        let before = self.log.open.replace(superblock);
        let used = std::mem::replace(&mut self.log.used, gone);
        self.log.next.as_mut_slice().fill(0);
        if let Some(before) = before {
            self.log.closing.push((before, pus - used));
        }
        before
    }

    /// Takes a superblock of the log, of `pus` program units, that is full and has no cover in use, with the number of program units left over in it.
    pub(crate) fn take_closed(&mut self, pus: u32) -> Option<(SuperblockId, u32)> {
        let index = self.log.closing.iter().position(|&(superblock, _)| !self.is_needed(superblock, pus))?;
        Some(self.log.closing.swap_remove(index))
    }

    fn is_needed(&self, superblock: SuperblockId, pus: u32) -> bool {
        let within = |pu: &Pu| pu.0 / pus == superblock.0;
        self.covers.values().any(|cover| cover.pus.iter().any(within))
            || self.coming.iter().any(|coming| coming.cover.pus.iter().any(within))
    }

    /// Counts `units` units of covers that have been written again.
    pub(crate) fn count_moved(&mut self, units: u64) {
        self.moved += units;
    }

    /// Units of covers written again so far.
    pub(crate) fn moved(&self) -> u64 {
        self.moved
    }

    /// Checks that only superblocks that are `is_in_use` have covers, and that covers on their way have program units to come.
    ///
    /// # Errors
    /// The first that is not so.
    pub(crate) fn check(&self, is_in_use: impl Fn(SuperblockId) -> bool) -> Result<(), String> {
        let coming = self.coming.iter().map(|coming| coming.stripe);
        if let Some((superblock, stripe)) =
            self.covers.keys().chain(coming).find(|stripe| !is_in_use(stripe.0))
        {
            return Err(format!("stripe {stripe} of superblock {superblock}, which is erased, has a cover"));
        }
        if let Some(coming) = self
            .coming
            .iter()
            .find(|coming| coming.left == 0 || coming.left as usize > coming.cover.pus.len())
        {
            return Err(format!(
                "a cover of superblock {} has {} program units to come",
                coming.stripe.0, coming.left
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
