//! The same translation layer without time: preconditioning and endurance studies.

use super::{Ftl, Slot};
use crate::ftl::Map;
use crate::streams::Cause;
use crate::table::Mapping;
use outlast_media::UnitBytes;
use outlast_units::{Lpn, Ppn, Pu, Stream, SuperblockId};

/// A core that can take no more data: collection found no superblock with stale units. A configuration that [`Ftl::new`]
/// accepts comes here only by wearing out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

impl Ftl {
    /// Writes host data of `lpn` and at once does all that follows from it: programming, collection, erasure.
    ///
    /// # Errors
    /// [`Full`] when no space can be made.
    #[inline]
    pub fn write_untimed(&mut self, stream: Stream, lpn: Lpn) -> Result<Ppn, Full> {
        if self.looks_first { self.look_and_write(stream, lpn) } else { self.write_in_turn(stream, lpn) }
    }

    /// Writes host data of `lpn` in place of older data that is not programmed, if there is such; else to a slot of its own.
    #[cold]
    #[inline(never)]
    fn look_and_write(&mut self, stream: Stream, lpn: Lpn) -> Result<Ppn, Full> {
        // What is written without time is on flash before its origin could be erased, or in the buffer for good.
        if self.origins.is_some() {
            self.drop_origins_of_all();
        }
        if let Some(slot) = self.replaceable(lpn) {
            self.replace(slot, Some(UnitBytes::zero(lpn.0)));
            return Ok(slot);
        }
        let slot = self.write_in_turn(stream, lpn)?;
        if self.wants_map_flush() {
            self.flush_map_untimed();
        }
        Ok(slot)
    }

    /// Writes host data of `lpn` to a slot of its own, when it is the host's turn.
    #[allow(clippy::inline_always, reason = "the way of every write without time: the other caller is cold")]
    #[inline(always)]
    fn write_in_turn(&mut self, stream: Stream, lpn: Lpn) -> Result<Ppn, Full> {
        if self.enters_unasked(stream) {
            return Ok(self.put(stream, lpn).ppn);
        }
        self.wait_and_write(stream, lpn)
    }

    #[inline(never)]
    fn wait_and_write(&mut self, stream: Stream, lpn: Lpn) -> Result<Ppn, Full> {
        self.take_turns(stream)?;
        let slot = self.put(stream, lpn);
        self.note_turn(slot.completes_pu);
        Ok(slot.ppn)
    }

    #[allow(clippy::inline_always, reason = "the same")]
    #[inline(always)]
    fn put(&mut self, stream: Stream, lpn: Lpn) -> Slot {
        let slot = self.append_inline(stream, lpn);
        // What is written without time has no content of its own.
        if self.contents.is_some() {
            self.store(slot.ppn, UnitBytes::zero(lpn.0));
        }
        self.complete(stream, slot);
        slot
    }

    /// Whether [`Full`] may come of writing `units` more units without time; a cautious answer, which errs on the side of yes.
    pub fn may_wear_out_within(&self, units: u64) -> bool {
        if self.is_read_only() || self.lanes.lacks_any() {
            return true;
        }
        // Without a limit of cycles no block is retired. With one, none is before the most worn has reached it: not while every unit costs
        // less than 64.
        let superblocks = units.div_ceil(u64::from(self.layout().units_per_superblock()));
        let cycles = u64::from(self.blocks().max_cycles()) + 64 * (superblocks + 1);
        self.physical.endurance().is_some_and(|limit| cycles >= u64::from(limit))
    }

    #[allow(clippy::inline_always, reason = "the same")]
    #[inline(always)]
    fn complete(&mut self, stream: Stream, slot: Slot) {
        if slot.completes_pu {
            let (pu, _) = self.layout().pu_of(slot.ppn);
            self.program_full(stream, pu, 1);
            if self.codes.count() != 0 || self.layout.list_rows() != 0 {
                self.program_parity(stream);
            }
        }
    }

    /// Program units of `stream` are full, `count` from `first` on: they are programmed, or held back where they hold the host's data and writes coalesce. Relocation
    /// into the host's stream comes by here, too, as programs keep their order only if all of a superblock's do.
    #[allow(clippy::inline_always, reason = "the same")]
    #[inline(always)]
    pub(super) fn program_full(&mut self, stream: Stream, first: Pu, count: u32) {
        if self.held.is_some() && self.streams.cause(stream) == Cause::Host {
            for pu in Pu::each(first..first + count) {
                if let Some(due) = self.hold_back(pu) {
                    self.programmed(due);
                }
            }
        } else if self.partials.are_on_flash() || self.follows {
            for pu in Pu::each(first..first + count) {
                self.programmed(pu);
            }
        } else {
            self.programmed_run(first, count);
        }
    }

    /// Has collection make room for a page of the mapping table in `stream`.
    pub(super) fn make_space_for_map(&mut self, stream: Stream) -> Result<(), Full> {
        self.turns.recall();
        while !self.can_append(stream) {
            self.advance_collection()?;
        }
        Ok(())
    }

    /// Flushes the mapping table, and collects until enough superblocks are free, as an idle drive does.
    pub fn settle_untimed(&mut self) {
        self.drop_origins_of_all();
        self.call_map_flush();
        self.flush_map_untimed();
        self.turns.recall();
        while (self.turns.victim.is_some() || self.needs_gc()) && self.advance_collection().is_ok() {}
        self.finish_cold();
    }

    /// Moves the valid units of `victim` in `slots` slots from `next` on, or a few more, and in as many as it takes to find any; `next` is the first slot after those.
    /// Returns how many there were.
    pub(super) fn move_valid(
        &mut self,
        victim: SuperblockId,
        next: &mut Ppn,
        slots: u32,
        to: Stream,
        cause: Cause,
    ) -> u32 {
        let end = self.layout.first_slot(victim).0 + self.layout.units_per_superblock();
        let stride = self.layout.mask_stride().min(slots);
        let valid_at = |map: &Map, at: u32| map.valid_in(Ppn(at), stride.min(end - at));
        let until = next.0.saturating_add(slots).min(end);
        let (mut at, mut units, mut reads) = (next.0, 0, 0);
        let mut valid = if at < end { valid_at(&self.map, at) } else { 0 };
        while at < end && (at < until || units == 0) {
            reads += u64::from(self.layout.pages_under(valid));
            units += valid.count_ones();
            let (from, now) = (at, valid);
            at += stride;
            if at < end {
                valid = valid_at(&self.map, at);
                if at < until {
                    // While this stride moves, the entries of the next come into the cache.
                    self.map.touch_moving(Ppn(at), valid);
                }
            }
            self.relocate_at_once(to, Ppn(from), now);
        }
        *next = Ppn(at.min(end));
        self.counts.read(cause.read(), reads);
        units
    }
}
