//! Admission: which host writes enter the buffer, and when those go on that wait.

use super::{Core, Due, WaitingWrite};
use crate::host::HostRequestId;
use crate::op::{InternalTask, UnitWork};
use crate::ssd::Ssd;
use outlast_device::{LatencyCause, Outcome};
use outlast_settings::drive::WriteCache;
use outlast_units::{CoreId, Nanos, SECTOR_BYTES, Stream};

impl Core {
    #[inline]
    fn may_admit(&self, now: Nanos, write: WaitingWrite) -> bool {
        self.buffer.admits(now, write, &self.ftl, &self.tasks)
    }

    /// Whether [`Ssd::admit_waiting`] would change nothing, as things are, and something waits.
    #[inline]
    pub(crate) fn admits_nothing(&self) -> bool {
        self.buffer.would_wait_on(self.tasks.runs(InternalTask::Gc))
            && !self.tasks.is_pinned()
            && self.buffer.first_waiting().is_some_and(|first| self.ftl.can_append(first.stream))
    }

    /// Whether [`Ssd::collect`] would change nothing, as things are.
    #[inline]
    pub(crate) fn collects_nothing(&self) -> bool {
        self.tasks.runs(InternalTask::Gc) || !self.ftl.needs_gc()
    }
}

impl Ssd {
    /// A write that needs no (more) old data enters the buffer, or waits its turn.
    #[inline]
    pub(crate) fn queue_write(&mut self, now: Nanos, core: CoreId, write: WaitingWrite) {
        let is_first = !self.cores[core].buffer.any_waits();
        if is_first && (self.cores[core].may_admit(now, write) || self.may_coalesce(core, &write)) {
            self.admit(now, core, write);
        } else {
            if self.ledger.is_some() {
                return self.wait_noted(now, core, write);
            }
            let buffer = &mut self.cores[core].buffer;
            let first = buffer.first_waiting().unwrap_or(write).stream;
            buffer.wait(write);
            self.note_blocked(now, core, first);
        }
    }

    /// `write` waits, and what it has gone through is set apart.
    #[inline(never)]
    fn wait_noted(&mut self, now: Nanos, core: CoreId, mut write: WaitingWrite) {
        let short = self.cores[core].buffer.blocked_until(now);
        self.note(|ledger| ledger.set_apart(&mut write.work, short));
        let buffer = &mut self.cores[core].buffer;
        let first = buffer.first_waiting().unwrap_or(write).stream;
        buffer.wait(write);
        self.note_blocked(now, core, first);
    }

    /// `work`, a write of core `core`, waits no more.
    #[inline]
    pub(crate) fn note_waited(&mut self, now: Nanos, core: CoreId, work: &UnitWork) {
        if self.ledger.is_some() {
            let short = self.cores[core].buffer.blocked_until(now);
            self.note(move |ledger| ledger.has_waited(now, work, short));
        }
    }

    /// A write enters the buffer before all that wait.
    pub(crate) fn queue_first(&mut self, now: Nanos, core: CoreId, write: WaitingWrite) {
        if self.cores[core].may_admit(now, write) {
            self.admit(now, core, write);
        } else {
            self.cores[core].buffer.wait_first(write);
            self.note_blocked(now, core, write.stream);
        }
    }

    /// Keeps account of when host writes wait for collection, and sees that collection then runs. The write that waits longest goes to stream
    /// `first`.
    #[allow(clippy::inline_always, reason = "a few comparisons, for every write that waits")]
    #[inline(always)]
    fn note_blocked(&mut self, now: Nanos, core: CoreId, first: Stream) {
        let Core { buffer, tasks, ftl, .. } = &mut self.cores[core];
        debug_assert!(
            buffer.first_waiting().is_some_and(|write| write.stream == first),
            "another write waits longest"
        );
        buffer.note_blocked(now);
        if buffer.takes_tokens() {
            self.note_token(now, core);
        } else if tasks.is_pinned() || !ftl.can_append(first) {
            // Else it waits for a program or for collection's work, and their ends come back here.
            self.see_to_room(now, core);
        }
    }

    /// Sees that the write that waits longest enters when its token comes, if it waits for that alone. If not, it needs collection, which is not to
    /// hold back.
    #[cold]
    #[inline(never)]
    fn note_token(&mut self, now: Nanos, core: CoreId) {
        let Core { buffer, tasks, ftl, .. } = &mut self.cores[core];
        if let Some(next) = buffer.note_token(now, ftl, tasks) {
            self.call_housekeeping(next);
        } else if buffer.pacer_mut().lets_collection_go() {
            self.let_waiting_go();
        }
        let Core { buffer, tasks, ftl, .. } = &self.cores[core];
        let finds_none = |first: WaitingWrite| !ftl.can_append(first.stream);
        if tasks.is_pinned() || buffer.first_waiting().is_some_and(finds_none) {
            self.see_to_room(now, core);
        }
    }

    /// A write that takes a token has entered.
    #[inline(never)]
    fn take_token(&mut self, now: Nanos, core: CoreId) {
        let Core { buffer, tasks, .. } = &mut self.cores[core];
        buffer.pacer_mut().take_token(now, tasks.runs(InternalTask::Gc));
        if buffer.pacer_mut().has_caught_up(now) {
            self.let_waiting_go();
        }
    }

    /// Lets in the write whose token has come, and collection go on that held back for a host that writes no more; returns when to look again.
    pub(crate) fn pace_what_is_due(&mut self, now: Nanos, core: CoreId) -> Nanos {
        let buffer = &mut self.cores[core].buffer;
        let Some(&tokens) = buffer.pacer().tokens() else { return Nanos::MAX };
        let mut next = Nanos::MAX;
        let (awaits_token, until) = (tokens.is_awaited(), buffer.pacer().holds_until());
        if tokens.holds() && until > now {
            next = until;
        } else if buffer.pacer_mut().lets_collection_go() {
            self.let_waiting_go();
        }
        if awaits_token && tokens.has_one(now) {
            self.make_due(core, Due::Admit);
        } else if awaits_token {
            next = next.min(tokens.next(now));
        }
        next
    }

    /// A write that waits needs what is pinned programmed, or collection.
    #[inline(never)]
    fn see_to_room(&mut self, now: Nanos, core: CoreId) {
        if self.cores[core].tasks.is_pinned() {
            self.hurry_pinned(now, core);
        }
        let Some(first) = self.cores[core].buffer.first_waiting() else { return };
        if !self.cores[core].ftl.can_append(first.stream) {
            if self.cores[core].ftl.map_awaits_room() {
                // It may have become due by the last write that entered, and goes first.
                self.make_due(core, Due::MapFlush);
            }
            self.collect(now, core);
            if self.is_hopeless(now, core, first) {
                // Nothing will ever make room: the writes that wait end.
                self.make_due(core, Due::Admit);
            }
        }
    }

    /// Whether a write that finds no room never will, not even from collection, which is started for it.
    #[inline]
    fn is_hopeless(&mut self, now: Nanos, core: CoreId, write: WaitingWrite) -> bool {
        !self.cores[core].ftl.can_append(write.stream) && self.has_no_room_ever(now, core, write)
    }

    #[inline(never)]
    fn has_no_room_ever(&mut self, now: Nanos, core: CoreId, write: WaitingWrite) -> bool {
        if self.cores[core].ftl.held_units() != 0 {
            self.give_up_held(now, core);
            return false;
        }
        let ftl = &self.cores[core].ftl;
        let (awaits, is_read_only) = (self.awaits_room(core), ftl.is_read_only());
        let may_end = awaits || self.redirection.is_some();
        (is_read_only && !awaits)
            || (may_end && self.has_no_hope_of_room(core, write) && {
                self.collect(now, core);
                self.has_no_hope_of_room(core, write)
            })
    }

    /// Lets waiting writes in as far as there is room, or until one of them has made something due that comes first.
    pub(crate) fn admit_waiting(&mut self, now: Nanos, core: CoreId) {
        while let Some(write) = self.cores[core].buffer.first_waiting() {
            if self.cores[core].may_admit(now, write) || self.may_coalesce(core, &write) {
                self.cores[core].buffer.stop_waiting();
                self.note_waited(now, core, &write.work);
                self.admit(now, core, write);
            } else if self.is_hopeless(now, core, write) {
                self.cores[core].buffer.stop_waiting();
                self.note_waited(now, core, &write.work);
                self.host.requests.fail(write.work.request, Outcome::ReadOnly);
                self.finish_parts(now, write.work.request, 1);
            } else {
                self.note_blocked(now, core, write.stream);
                return;
            }
            if self.is_due_before_admission(core) {
                self.make_due(core, Due::Admit);
                return;
            }
        }
        self.counters.blocked_ns += self.cores[core].buffer.unblock(now).0;
    }

    #[inline]
    fn admit(&mut self, now: Nanos, core: CoreId, write: WaitingWrite) {
        debug_assert!(
            self.cores[core].may_admit(now, write) || self.may_coalesce(core, &write),
            "a write enters for which there is no room"
        );
        self.counters.blocked_ns += self.cores[core].buffer.unblock(now).0;
        let WaitingWrite { work, stream } = write;
        if self.redirection.is_some() && self.is_out_of_date(core, work) {
            self.finish_parts(now, work.request, 1);
            return;
        }
        if self.is_rest_lost(core, work) {
            // Lost while the write waited.
            self.end_in_error(now, core, work);
            return;
        }
        let mut unit = None;
        if self.heeds_writes {
            self.look_at_maps(core);
            if self.cores[core].ftl.coalesces() && self.coalesce(now, core, work) {
                return;
            }
            unit = if self.config.bytes { self.merged(core, work) } else { None };
        }
        let state = &mut self.cores[core];
        state.forget_read(work.lpn);
        let slot = state.ftl.append(stream, work.lpn);
        state.buffer.enter(state.tasks.runs(InternalTask::Gc));
        if let Some(unit) = unit {
            state.ftl.store(slot.ppn, unit);
        }
        if state.buffer.takes_tokens() {
            self.take_token(now, core);
        }
        self.note_entered(core, work);
        if slot.completes_pu {
            let (pu, _) = self.cores[core].ftl.layout().pu_of(slot.ppn);
            let units = self.cores[core].ftl.layout().units_per_pu();
            self.program_host(now, core, pu, units);
            self.program_parity(now, core, stream);
            self.make_due(core, Due::Collect);
        }
        self.finish_parts(now, work.request, 1);
    }

    /// The data of `work` is in the buffer.
    #[inline]
    pub(super) fn note_entered(&mut self, core: CoreId, work: UnitWork) {
        self.counters.host_bytes_written += u64::from(work.sectors) * SECTOR_BYTES;
        if self.redirection.is_some() {
            if work.sectors == 0 {
                self.count_move(core);
            }
            self.drop_superseded(core, work.lpn);
        }
    }

    /// All of a command's data is in the buffer, but it must reach flash: programs what is begun, padded, and waits for
    /// every program issued so far.
    pub(crate) fn begin_barrier(&mut self, now: Nanos, request: HostRequestId) {
        assert!(self.write_cache() != WriteCache::Protected, "a protected buffer needs no barrier");
        for core in self.cores.indices() {
            self.cores[core].ftl.persist_trims();
            for stream in self.cores[core].ftl.streams().hosts() {
                let units = self.cores[core].ftl.stream(stream).begun_units();
                if let Some(pu) = self.cores[core].ftl.pad(stream) {
                    self.program_host(now, core, pu, units);
                    self.program_parity(now, core, stream);
                }
                self.cover(now, core, stream);
            }
            self.program_held(now, core);
        }
        self.host.flushes.bar(request);
        self.end_barriers(now);
    }

    /// Flushes whose programs have all ended go on.
    #[inline]
    pub(crate) fn end_barriers(&mut self, now: Nanos) {
        while let Some(request) = self.host.flushes.next_reached() {
            self.note_spent(now, request, LatencyCause::Program);
            self.finish_parts(now, request, 1);
        }
    }
}
