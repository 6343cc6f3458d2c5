//! Admission: which host writes may enter the buffer, and what makes room for those that wait.

mod buffer;
mod coalescing;
mod credit;
mod pacing;
mod pauses;
mod tokens;

pub use buffer::Buffer;
pub use buffer::WaitingWrite;

use crate::core::commands::finish_parts_here;
use crate::core::{CoreContext, Due, FlashCore};
use crate::op::{InternalTask, UnitWork};
use outlast_ftl::StreamCause;
use outlast_media::UnitBytes;
use outlast_units::{Nanos, SECTOR_BYTES, Stream};
use std::collections::VecDeque;

impl FlashCore {
    /// True if `write` may enter the buffer before all that wait.
    #[inline]
    pub fn may_admit(&self, now: Nanos, write: WaitingWrite) -> bool {
        self.buffer.admits(now, write, &self.ftl, &self.tasks)
    }

    /// `write` waits behind those that do.
    #[inline]
    pub fn wait_for_room(&mut self, now: Nanos, context: &mut CoreContext, mut write: WaitingWrite) {
        if context.ledger.is_some() {
            // What it has gone through is set apart.
            let short = self.buffer.blocked_until(now);
            context.note(|ledger| ledger.set_apart(&mut write.work, short));
        }
        let buffer = &mut self.buffer;
        let first = buffer.first_waiting().unwrap_or(write).stream;
        buffer.wait(write);
        self.note_blocked(now, context, first);
    }

    /// The writes that wait, which do so no more.
    pub fn take_waiting(&mut self) -> VecDeque<WaitingWrite> {
        self.buffer.take_waiting()
    }

    /// `write` waits again, behind those that do.
    pub fn wait_again(&mut self, write: WaitingWrite) {
        self.buffer.wait(write);
    }

    /// `write` waits before those that do.
    pub fn wait_first(&mut self, now: Nanos, context: &mut CoreContext, write: WaitingWrite) {
        self.buffer.wait_first(write);
        self.note_blocked(now, context, write.stream);
    }

    /// The write that has waited longest, `work`, waits no more.
    pub fn end_waiting(&mut self, now: Nanos, context: &mut CoreContext, work: &UnitWork) {
        self.buffer.stop_waiting(&self.ftl);
        self.note_waited(now, context, work);
    }

    /// Host writes go on, if they were held up.
    #[inline]
    pub fn unblock(&mut self, now: Nanos, context: &mut CoreContext) {
        context.counters.blocked_ns += self.buffer.unblock(now).0;
    }

    /// The account of `work`, a write of the core, has it that it waits no more.
    #[inline]
    pub fn note_waited(&mut self, now: Nanos, context: &mut CoreContext, work: &UnitWork) {
        if context.ledger.is_some() {
            let short = self.buffer.blocked_until(now);
            context.note(move |ledger| ledger.has_waited(now, work, short));
        }
    }

    /// Keeps account of when host writes wait for collection, and sees that collection then runs. The write that waits longest goes to stream
    /// `first`.
    #[allow(clippy::inline_always, reason = "a few comparisons, for every write that waits")]
    #[inline(always)]
    pub fn note_blocked(&mut self, now: Nanos, context: &mut CoreContext, first: Stream) {
        let FlashCore { buffer, tasks, ftl, .. } = self;
        debug_assert!(
            buffer.first_waiting().is_some_and(|write| write.stream == first),
            "another write waits longest"
        );
        if let Some(end) = buffer.pause_ends(now) {
            // Nobody is to hurry for it.
            return context.call_housekeeping(end);
        }
        buffer.note_blocked(now);
        if buffer.takes_tokens() {
            self.note_token(now, context);
        } else if tasks.is_pinned() || !ftl.can_append(first) {
            // Else it waits for a program or for collection's work, and their ends come back here.
            self.see_to_room(now, context);
        }
    }

    /// Sees that the write that waits longest enters when its token comes, if it waits for that alone. If not, it needs collection, which is not to
    /// hold back.
    #[cold]
    #[inline(never)]
    fn note_token(&mut self, now: Nanos, context: &mut CoreContext) {
        let FlashCore { buffer, tasks, ftl, .. } = self;
        if let Some(next) = buffer.note_token(now, ftl, tasks) {
            context.call_housekeeping(next);
        } else if buffer.pacer_mut().lets_collection_go() {
            context.let_waiting_go();
        }
        let FlashCore { buffer, tasks, ftl, .. } = self;
        let finds_none = |first: WaitingWrite| !ftl.can_append(first.stream);
        if tasks.is_pinned() || buffer.first_waiting().is_some_and(finds_none) {
            self.see_to_room(now, context);
        }
    }

    /// A write that takes a token has entered.
    #[inline(never)]
    fn take_token(&mut self, now: Nanos, context: &mut CoreContext) {
        let FlashCore { buffer, tasks, .. } = self;
        buffer.pacer_mut().take_token(now, tasks.runs(InternalTask::Gc));
        if buffer.pacer_mut().has_caught_up(now) {
            context.let_waiting_go();
        }
    }

    /// A write that waits needs what is pinned programmed, or collection.
    #[inline(never)]
    fn see_to_room(&mut self, now: Nanos, context: &mut CoreContext) {
        if self.tasks.is_pinned() {
            self.hurry_pinned(now, context);
        }
        let Some(first) = self.buffer.first_waiting() else { return };
        if !self.ftl.can_append(first.stream) {
            if self.ftl.map_awaits_room() {
                // It may have become due by the last write that entered, and goes first.
                self.make_due(context, Due::MapFlush);
            }
            self.collect(now, context);
            if self.is_hopeless(now, context, first) {
                // Nothing will ever make room: the writes that wait end.
                self.make_due(context, Due::Admit);
            }
        }
    }

    /// True if a write that finds no room never will, not even from collection, which is started for it.
    #[inline]
    pub fn is_hopeless(&mut self, now: Nanos, context: &mut CoreContext, write: WaitingWrite) -> bool {
        !self.ftl.can_append(write.stream) && self.has_no_room_ever(now, context, write)
    }

    #[inline(never)]
    fn has_no_room_ever(&mut self, now: Nanos, context: &mut CoreContext, write: WaitingWrite) -> bool {
        if self.ftl.held_units() != 0 {
            self.give_up_held(now, context);
            return false;
        }
        let ftl = &self.ftl;
        let (awaits, is_read_only) = (self.awaits_room(context), ftl.is_read_only());
        let may_end = awaits || context.redirection().is_some();
        if may_end && self.tasks.is_idle() && context.flash.passes().are_on() {
            self.end_all_passes(now, context);
        }
        (is_read_only && !awaits)
            || (may_end && self.has_no_hope_of_room(context, write) && {
                self.collect(now, context);
                self.has_no_hope_of_room(context, write)
            })
    }

    /// A write finds no room. A superblock can be collected when all of it is on flash: where no other can, nothing is held back.
    fn give_up_held(&mut self, now: Nanos, context: &mut CoreContext) {
        self.collect(now, context);
        if !self.tasks.runs(InternalTask::Gc) {
            self.program_held(now, context);
        }
    }

    /// True if `write` may enter the buffer now: there is room, or it takes the place of older data there.
    #[allow(clippy::inline_always, reason = "a few comparisons, for every write, once or twice")]
    #[inline(always)]
    pub fn may_enter(&self, now: Nanos, write: &WaitingWrite) -> bool {
        self.may_admit(now, *write) || self.may_coalesce(write)
    }

    /// `write` enters the buffer, with the whole unit's content where bytes are kept; where `UNHEEDED`, in a drive in which [nothing heeds
    /// writes](CoreContext::heeds_writes).
    #[allow(clippy::inline_always, reason = "as FlashCore::may_enter")]
    #[inline(always)]
    pub fn enter<const UNHEEDED: bool>(
        &mut self,
        now: Nanos,
        context: &mut CoreContext,
        write: WaitingWrite,
        unit: Option<UnitBytes>,
    ) {
        let WaitingWrite { work, stream } = write;
        context.counters.host_bytes_written += u64::from(work.sectors) * SECTOR_BYTES;
        if !UNHEEDED
            && context.heeds_writes
            && let Some(older) = self.ftl.replaceable(work.lpn)
        {
            debug_assert!(work.sectors != 0, "a unit moves to where the host has written it anew");
            self.ftl.replace(older, unit);
        } else {
            self.append::<UNHEEDED>(now, context, work, stream, unit);
        }
        finish_parts_here(context, now, work.request, 1);
    }

    /// The unit of `work` gets a slot at the frontier of `stream`; a program unit that is full is programmed.
    #[allow(clippy::inline_always, reason = "as FlashCore::may_enter")]
    #[inline(always)]
    fn append<const UNHEEDED: bool>(
        &mut self,
        now: Nanos,
        context: &mut CoreContext,
        work: UnitWork,
        stream: Stream,
        unit: Option<UnitBytes>,
    ) {
        self.forget_read(work.lpn);
        let slot = self.ftl.append(stream, work.lpn);
        self.buffer.enter(self.tasks.runs(InternalTask::Gc));
        if let Some(unit) = unit {
            self.ftl.store(slot.ppn, unit);
        }
        if self.buffer.takes_tokens() {
            self.take_token(now, context);
        }
        if slot.completes_pu {
            let (pu, _) = self.ftl.layout().pu_of(slot.ppn);
            let units = self.ftl.layout().units_per_pu();
            self.program_host(now, context, pu, units);
            self.program_parity(now, context, stream);
            // A unit that is all of its command, and that nothing held up, is followed by none before the drive settles: no space is taken meanwhile.
            let is_alone =
                UNHEEDED && context.is_settled() && context.commands.requests.has_one_part(work.request);
            if !(is_alone && self.collects_nothing()) {
                context.unsettled.add(self.id, &mut self.dirty, Due::Collect);
            }
        }
    }

    /// Programs what is begun, padded, so that all that has entered the buffer is on its way to flash.
    pub fn flush_buffer(&mut self, now: Nanos, context: &mut CoreContext) {
        self.ftl.persist_trims();
        for stream in self.ftl.streams().hosts() {
            let units = self.ftl.stream(stream).begun_units();
            if let Some(pu) = self.ftl.pad(stream) {
                self.program_host(now, context, pu, units);
                self.program_parity(now, context, stream);
            }
            self.cover(now, context, stream);
        }
        self.program_held(now, context);
        self.end_passes_of_host(now, context);
    }

    /// Takes account of what writes without time have left in the buffer: units of program units begun and not full, or held back.
    pub fn end_untimed(&mut self) {
        let begun = |cause: StreamCause| -> u32 {
            let streams = self.ftl.streams();
            streams
                .all()
                .filter(|&stream| {
                    (streams.cause(stream) == StreamCause::Host) == (cause == StreamCause::Host)
                })
                .map(|stream| self.ftl.stream(stream).begun_units())
                .sum()
        };
        let (host, relocated) = (begun(StreamCause::Host), begun(StreamCause::Gc));
        debug_assert!(
            u64::from(host + relocated + self.ftl.held_units()) == self.ftl.figures().buffered_units,
            "without time all full program units are on flash, or held back"
        );
        self.buffer.hold(host + self.ftl.held_units());
        self.tasks.hold(relocated);
    }
}
