//! Filling of superblocks: the next slot of a stream, padding, and program units that hold no data.

use crate::causes::ProgramCause;
use crate::codes::data_units;
use crate::frontiers::WriteFrontier;
use crate::ftl::WrittenSlot;
use crate::space::{FlashSpace, Translation};
use crate::stripes::PuRole;
use outlast_decisions::SuperblockState;
use outlast_settings::ftl::PartialPlace;
use outlast_units::{Ppn, Pu, PuWithin, Stream, to_count};

impl FlashSpace {
    /// True if `stream` can take another unit now.
    #[allow(clippy::inline_always, reason = "a comparison, mostly, for every unit that is written")]
    #[inline(always)]
    pub fn can_take(&self, stream: Stream, translation: &impl Translation) -> bool {
        !self.frontiers[stream].is_full() || self.may_open(stream, translation)
    }

    /// Takes the next `count` slots of `stream`, which follow one another, no more than a program unit has. Returns whether that fills the program
    /// unit under way.
    #[inline]
    pub(crate) fn take_slots(
        &mut self,
        stream: Stream,
        count: u32,
        translation: &mut impl Translation,
    ) -> bool {
        let frontier = &mut self.frontiers[stream];
        let filled = frontier.take(count, self.pus.layout.units_per_pu());
        if filled && frontier.is_broken() {
            self.skip_to_data(stream, translation);
        }
        filled
    }

    /// Takes the next `count` slots of `stream`, which fill the program unit under way and lead to one that ends at slot `pu_end`. Program units without
    /// data are not passed over yet ([`FlashSpace::skip_to_data`]).
    #[inline]
    pub(crate) fn take_run(&mut self, stream: Stream, count: u32, pu_end: Ppn) {
        self.frontiers[stream].take_over(count, pu_end);
    }

    /// Takes back all promises of superblocks to streams.
    pub(crate) fn forget_promises(&mut self) {
        self.frontiers.forget_promises();
    }

    /// Takes the next slot of `stream`.
    #[allow(clippy::inline_always, reason = "once for every unit that is written")]
    #[inline(always)]
    pub fn take_slot(&mut self, stream: Stream, translation: &mut impl Translation) -> WrittenSlot {
        if self.frontiers[stream].is_full() {
            self.open_superblock(stream, translation);
        }
        let frontier = &mut self.frontiers[stream];
        let ppn = frontier.next();
        let completes_pu = frontier.take(1, self.pus.layout.units_per_pu());
        if completes_pu && frontier.is_broken() {
            self.skip_to_data(stream, translation);
        }
        WrittenSlot { ppn, completes_pu }
    }

    /// Fills the program unit that `stream` has begun with empty slots; returns it, or `None` when none is begun.
    pub fn pad(&mut self, stream: Stream, translation: &mut impl Translation) -> Option<Pu> {
        let units = self.pus.layout.units_per_pu();
        if self.frontiers[stream].begun(units) == 0 { None } else { Some(self.fill_up(stream, translation)) }
    }

    /// Fills the program unit at the frontier of `stream`, begun or not, with padding; returns it, or `None` where its superblock is full.
    pub(crate) fn pad_next(&mut self, stream: Stream, translation: &mut impl Translation) -> Option<Pu> {
        (!self.frontiers[stream].is_full()).then(|| self.fill_up(stream, translation))
    }

    /// Fills the slots left in the program unit at the frontier of `stream` with padding; returns it.
    fn fill_up(&mut self, stream: Stream, translation: &mut impl Translation) -> Pu {
        let units = self.pus.layout.units_per_pu();
        let frontier = &mut self.frontiers[stream];
        let (first, missing) = (frontier.next(), frontier.left_in_pu());
        frontier.take(missing, units);
        translation.disown(first, missing);
        self.counts.count_units(ProgramCause::Padding, missing);
        if self.frontiers[stream].is_broken() {
            self.skip_to_data(stream, translation);
        }
        self.pus.layout.pu_of(first).0
    }

    /// Units that `stream` has put into a program unit that is not full yet.
    pub(crate) fn begun_units(&self, stream: Stream) -> u32 {
        self.frontiers[stream].begun(self.pus.layout.units_per_pu())
    }

    /// The program unit that `stream` has begun and not filled.
    pub(crate) fn begun_pu(&self, stream: Stream) -> Option<Pu> {
        (self.begun_units(stream) != 0).then(|| self.pus.layout.pu_of(self.frontiers[stream].next()).0)
    }

    /// Data slots left in the open superblock of `stream`.
    #[inline]
    pub(crate) fn room(&self, stream: Stream) -> u32 {
        self.frontiers[stream].room()
    }

    /// Opens the next superblock of `stream`, for data of the host or its own writes.
    #[cold]
    pub(crate) fn open_superblock(&mut self, stream: Stream, translation: &mut impl Translation) {
        assert!(self.may_open(stream, translation), "stream {} has no free superblock", stream.0);
        self.open_next(stream, translation);
    }

    /// Opens the next superblock of `stream`, for units that relocation moves.
    #[cold]
    pub(crate) fn open_for_moved(&mut self, stream: Stream, translation: &mut impl Translation) {
        assert!(self.may_open_for_moved(stream), "stream {} has no superblock to move data to", stream.0);
        self.open_next(stream, translation);
    }

    fn open_next(&mut self, stream: Stream, translation: &mut impl Translation) {
        if self.slc_cache.is_some() {
            self.choose_mode(stream);
        }
        let superblock = self.take_free(self.pus.streams.cause(stream));
        self.begin_superblock(superblock, stream, translation);
        if self.code_policies.choose_codes() {
            self.choose_code(superblock, stream);
        }
        let units = self.pus.layout.units_per_pu();
        debug_assert!(self.frontiers[stream].is_full(), "stream {} leaves slots empty", stream.0);
        let (first, data) = (
            self.pus.layout.first_slot(superblock),
            self.pus.layout.data_pus(self.pus.superblocks.mode(superblock)) * units,
        );
        self.pus.partials.set_exposed(stream, 0);
        self.frontiers[stream] = WriteFrontier::at_start(superblock, first, data, units);
        let lacks_lanes = self.pus.lanes.dead().is_some() || self.pus.lanes.missing_of(superblock).is_some();
        if self.pus.codes.has_parity(superblock) || lacks_lanes {
            self.open_irregular(stream, translation);
        }
    }

    /// Prepares the frontier of `stream`, which has opened a superblock in which some program units hold no data.
    #[cold]
    pub(crate) fn open_irregular(&mut self, stream: Stream, translation: &mut impl Translation) {
        let superblock = self.frontiers[stream].superblock();
        self.pus.lanes.open(superblock);
        let mode = self.pus.superblocks.mode(superblock);
        let gone = to_count(
            self.pus
                .layout
                .pus_within(mode)
                .filter(|&pu| self.pus.role(superblock, pu) == PuRole::Gap)
                .count(),
        );
        self.settle_pus(superblock, gone, translation);
        let data = match self.pus.lanes.missing_of(superblock) {
            None if !self.code_policies.choose_codes() => self.pus.codes.data_units(stream),
            _ => data_units(
                &self.pus.layout,
                mode,
                self.pus.codes.of(superblock),
                self.pus.lanes.opened(superblock),
            ),
        };
        // No program unit is under way yet: the first one with data is sought as every other.
        debug_assert!(
            data.is_multiple_of(self.pus.layout.units_per_pu()),
            "program units hold data wholly or not"
        );
        self.frontiers[stream].break_off(data);
        self.seek_data(stream, PuWithin(0));
    }

    /// Moves the frontier of `stream`, whose program unit is full, to the next one that holds data; parity of the stripes left behind is due.
    #[cold]
    pub(crate) fn skip_to_data(&mut self, stream: Stream, translation: &mut impl Translation) {
        let frontier = &self.frontiers[stream];
        let from = self.pus.layout.within_of(frontier.superblock(), frontier.next());
        self.pus.partials.set_exposed(stream, self.pus.partials.exposed(stream) + 1);
        self.advance_frontier(stream, from, translation);
    }

    /// Moves the frontier to the first program unit from `from` on that holds data. If that is in another stripe, the stripes before are not exposed
    /// any more.
    pub(crate) fn advance_frontier(
        &mut self,
        stream: Stream,
        from: PuWithin,
        translation: &mut impl Translation,
    ) {
        let before = self.frontiers[stream].due().end;
        self.seek_data(stream, from);
        let frontier = &self.frontiers[stream];
        let (superblock, reached) = (frontier.superblock(), frontier.due().end);
        if reached != before {
            self.pus.partials.set_exposed(stream, 0);
            if self.pus.partials.are_on_flash() {
                self.uncover(superblock, reached, translation);
            }
        } else if !self.pus.codes.has_parity(superblock)
            || self.pus.partials.place() == Some(PartialPlace::Cache)
        {
            self.pus.partials.set_exposed(stream, 0);
        }
    }

    /// Sets the frontier to the first program unit from `from` on that holds data, and the end of due parity to its stripe.
    pub(crate) fn seek_data(&mut self, stream: Stream, from: PuWithin) {
        let superblock = self.frontiers[stream].superblock();
        let (pus, units) = (
            PuWithin(self.pus.layout.data_pus(self.pus.superblocks.mode(superblock))),
            self.pus.layout.units_per_pu(),
        );
        debug_assert!(from <= pus, "program unit {from} lies beyond the data");
        let pu = PuWithin::each(from..pus).find(|&pu| self.pus.takes_data(superblock, pu)).unwrap_or(pus);
        if let Some(code) = self.pus.codes.of(superblock) {
            let reached = if pu == pus { code.count() } else { code.stripe_of(pu) };
            self.frontiers[stream].due_mut().end = reached;
        }
        let first = self.pus.layout.first_slot_of(self.pus.layout.pu_at(superblock, pu));
        self.frontiers[stream].move_to(first, units);
    }

    /// Moves the frontier of `stream` back to the first program unit that can still be programmed. Data on flash of the stripe under way must be read
    /// to know its parity.
    pub(super) fn rewind_frontier(&mut self, stream: Stream) {
        let superblock = self.frontiers[stream].superblock();
        if self.pus.superblocks.state(superblock) != SuperblockState::Open
            || self.pus.lanes.is_closed(superblock)
        {
            // All of its pages are programmed, or it is closed and no parity is due.
            self.frontiers[stream].close();
            return;
        }
        self.pus.lanes.mark_irregular(superblock);
        let pus = PuWithin(self.pus.layout.data_pus(self.pus.superblocks.mode(superblock)));
        let due = self.frontiers[stream].due().stripe;
        let from = match self.pus.code_of(superblock) {
            Some(code) if due >= code.count() => pus,
            Some(code) => code.members(due).start,
            None => PuWithin(0),
        };
        let left =
            to_count(PuWithin::each(from..pus).filter(|&pu| self.pus.takes_data(superblock, pu)).count());
        let frontier = &mut self.frontiers[stream];
        // Lists that are on flash, or never will be, are passed over.
        frontier.restart_lists();
        frontier.break_off(left * self.pus.layout.units_per_pu());
        self.seek_data(stream, from);
    }

    /// Closes the superblock that `stream` fills, of which a stripe has just ended and all due parity has been taken: the next unit opens another.
    /// True if that seals it: all that was on its way is on flash.
    pub fn close(&mut self, stream: Stream, translation: &mut impl Translation) -> bool {
        let frontier = &self.frontiers[stream];
        let (superblock, due) = (frontier.superblock(), frontier.due());
        if frontier.is_full() {
            return false;
        }
        debug_assert!(due.stripe >= due.end, "stream {} is closed, and parity is due", stream.0);
        let from = self.pus.layout.within_of(superblock, frontier.next());
        let never = self.pus.layout.pus_within(self.pus.superblocks.mode(superblock)).filter(|&pu| {
            let is_left = !self.pus.is_used_up(self.pus.layout.pu_at(superblock, pu));
            let comes = match self.pus.role(superblock, pu) {
                PuRole::Data => pu >= from && is_left,
                PuRole::Parity | PuRole::BlockParity => {
                    self.pus.code_of(superblock).is_some_and(|code| code.stripe_of(pu) >= due.stripe)
                }
                PuRole::List => is_left,
                _ => false,
            };
            comes && !self.pus.is_skipped(superblock, pu)
        });
        let never = to_count(never.count());
        self.pus.lanes.close(superblock);
        self.frontiers[stream].close();
        self.settle_pus(superblock, never, translation)
    }

    /// The next program unit of padding, to be programmed, that the stripe under way of `stream` takes to its end; `None` where it is at its
    /// beginning.
    pub fn pad_stripe(&mut self, stream: Stream, translation: &mut impl Translation) -> Option<Pu> {
        let pu = self.pad(stream, translation);
        if pu.is_some() || self.frontiers[stream].is_full() {
            return pu;
        }
        let superblock = self.frontiers[stream].superblock();
        let within = self.pus.layout.within_of(superblock, self.frontiers[stream].next());
        let code = self.pus.code_of(superblock)?;
        // After a loss of power the stripe may have members on flash behind the one that is filled next.
        let is_written =
            |pu| pu < within || self.pus.is_on_flash(superblock, self.pus.layout.pu_at(superblock, pu));
        let mut members = PuWithin::each(code.members(code.stripe_of(within)));
        let is_begun = members.any(|pu| self.pus.role(superblock, pu) == PuRole::Data && is_written(pu));
        is_begun.then(|| self.fill_up(stream, translation))
    }
}
