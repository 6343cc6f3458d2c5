//! Writes without time, for preconditioning and endurance studies.

use crate::ftl::{Ftl, WrittenSlot};
use crate::streams::StreamCause;
use crate::table::FlatMap;
use outlast_media::UnitBytes;
use outlast_units::{Lpn, Ppn, Pu, Stream, SuperblockId};

/// Error of a core that can take no more data: collection found no superblock with stale units. A configuration that [`Ftl::new`] accepts comes to
/// this only by wearing out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FtlFull;

impl Ftl {
    /// Writes host data of `lpn`, with programming, collection and erasure at once.
    ///
    /// # Errors
    /// [`FtlFull`] when no space can be made.
    #[inline]
    pub fn write_untimed(&mut self, stream: Stream, lpn: Lpn) -> Result<Ppn, FtlFull> {
        if self.checks_before_write {
            self.write_checked(stream, lpn)
        } else {
            self.write_in_turn(stream, lpn)
        }
    }

    /// Writes host data of `lpn` in the slot of older data that is not programmed, if there is such, else to a new slot; then flushes the mapping
    /// table if that is due.
    #[cold]
    #[inline(never)]
    fn write_checked(&mut self, stream: Stream, lpn: Lpn) -> Result<Ppn, FtlFull> {
        // Units written without time are on flash before their origins could be erased, or in the buffer with no loss of power to come.
        if self.pages.keeps_origins() {
            self.drop_origins_of_all();
        }
        if let Some(slot) = self.replaceable(lpn) {
            self.replace(slot, Some(UnitBytes::zero(lpn.0)));
            return Ok(slot);
        }
        let mut written = self.write_in_turn(stream, lpn);
        if self.pages.needs_map_flush(&self.space) {
            self.flush_map_untimed();
            if written.is_err() {
                // The superblock that is left was kept for the mapping table, of which a page has left its cache since the last write.
                written = self.write_in_turn(stream, lpn);
            }
        }
        written
    }

    /// Writes host data of `lpn` to a new slot, once it is the host's turn.
    #[allow(clippy::inline_always, reason = "the way of every write without time: the other caller is cold")]
    #[inline(always)]
    fn write_in_turn(&mut self, stream: Stream, lpn: Lpn) -> Result<Ppn, FtlFull> {
        if self.enters_at_once(stream) {
            return Ok(self.put(stream, lpn).ppn);
        }
        self.wait_and_write(stream, lpn)
    }

    #[inline(never)]
    fn wait_and_write(&mut self, stream: Stream, lpn: Lpn) -> Result<Ppn, FtlFull> {
        self.collect_until_admitted(stream)?;
        let slot = self.put(stream, lpn);
        self.end_host_turn(slot.completes_pu);
        Ok(slot.ppn)
    }

    #[allow(clippy::inline_always, reason = "the same")]
    #[inline(always)]
    fn put(&mut self, stream: Stream, lpn: Lpn) -> WrittenSlot {
        let slot = self.append_inline(stream, lpn);
        // Data written without time is zero: it has no content.
        if self.space.contents().is_some() {
            self.store(slot.ppn, UnitBytes::zero(lpn.0));
        }
        self.complete(stream, slot);
        slot
    }

    #[allow(clippy::inline_always, reason = "the same")]
    #[inline(always)]
    fn complete(&mut self, stream: Stream, slot: WrittenSlot) {
        if slot.completes_pu {
            let (pu, _) = self.layout().pu_of(slot.ppn);
            self.program_full(stream, pu, 1);
            if self.space.codes().count() != 0 || self.space.layout().has_lists() {
                self.program_parity(stream);
            }
        }
    }

    /// Programs the `count` full program units of `stream` from `first` on, or holds them back if they have the host's data and writes coalesce.
    /// Relocation into the host's stream comes through here, too: programs of a superblock keep their order only if all are held back alike.
    #[allow(clippy::inline_always, reason = "the same")]
    #[inline(always)]
    pub(super) fn program_full(&mut self, stream: Stream, first: Pu, count: u32) {
        if self.held.is_some() && self.space.streams().cause(stream) == StreamCause::Host {
            for pu in Pu::each(first..first + count) {
                if let Some(due) = self.hold_back(pu) {
                    self.programmed(due);
                }
            }
        } else if self.space.partials().are_on_flash() || self.pages.tracks_writes() {
            for pu in Pu::each(first..first + count) {
                self.programmed(pu);
            }
        } else {
            self.space.programmed_run(first, count, &mut self.pages);
        }
    }

    /// Collects until `stream` can take a page of the mapping table.
    pub(super) fn make_space_for_map(&mut self, stream: Stream) -> Result<(), FtlFull> {
        self.turns.recall_writes();
        while !self.can_append(stream) {
            self.advance_collection()?;
        }
        Ok(())
    }

    /// Flushes the mapping table and collects until enough superblocks are free, as an idle drive does.
    pub fn settle_untimed(&mut self) {
        self.drop_origins_of_all();
        self.request_map_flush();
        self.flush_map_untimed();
        self.turns.recall_writes();
        self.space.set_idle(true);
        while (self.turns.victim.is_some() || self.space.needs_gc()) && self.advance_collection().is_ok() {}
        self.space.set_idle(false);
        self.finish_cold();
    }

    /// Moves the valid units of `victim` in the next `slots` slots from `next` on, rounded up to whole strides, and in further ones until a valid
    /// unit is found; sets `next` to the first slot after those. Returns the number of units.
    pub(super) fn move_valid(
        &mut self,
        victim: SuperblockId,
        next: &mut Ppn,
        slots: u32,
        to: Stream,
        cause: StreamCause,
    ) -> u32 {
        let end = self.space.layout().first_slot(victim).0 + self.space.layout().units_per_superblock();
        let stride = self.space.layout().mask_stride().min(slots);
        let valid_at = |map: &FlatMap, at: u32| map.valid_in(Ppn(at), stride.min(end - at));
        let until = next.0.saturating_add(slots).min(end);
        let (mut at, mut units, mut reads) = (next.0, 0, 0);
        let mut valid = if at < end { valid_at(self.pages.map(), at) } else { 0 };
        while at < end && (at < until || units == 0) {
            reads += u64::from(self.space.layout().pages_under(valid));
            units += valid.count_ones();
            let (from, now) = (at, valid);
            at += stride;
            if at < end {
                valid = valid_at(self.pages.map(), at);
                if at < until {
                    // Prefetches the entries of the next stride while this one moves.
                    self.pages.map().touch_moving(Ppn(at), valid);
                }
            }
            self.relocate_at_once(to, Ppn(from), now);
        }
        *next = Ppn(at.min(end));
        self.space.counts_mut().count_read(cause.read(), reads);
        units
    }
}
