//! The drive's side of the flash room: what is submitted, what dies ask, what becomes of operations that end.

use crate::core::{Core, Cores, Due, NextRead, WaitingWrite};
use crate::host::HostRequestId;
use crate::op::{InternalTask, Op, OpKind, Purpose, UnitWork};
use crate::places::{DiePlace, place_of_pu};
use crate::ssd::Ssd;
use outlast_flash::{BlockRow, CoreDemand, DieEvent, DieQueue, DieStep, TaskReadAnswer, TaskReadQuery};
use outlast_units::slab::NIL;
use outlast_units::{CoreId, DieId, Lpn, Nanos, Pu};

/// What the cores demand of their dies.
#[inline]
fn demands(cores: &Cores) -> impl Fn(CoreId) -> CoreDemand {
    |core| cores[core].demand()
}

impl Ssd {
    /// Queues the read of one unit; units of one command in one program unit are read together.
    #[inline]
    pub(crate) fn enqueue_read(
        &mut self,
        now: Nanos,
        core: CoreId,
        kind: OpKind,
        (pu, unit): (Pu, u32),
        work: UnitWork,
    ) {
        let (die, place) = place_of_pu(self.cores[core].ftl.layout(), pu);
        let joins = |tag: &Purpose| {
            tag.pu == pu && tag.kind == OpKind::HostRead && !tag.has_record && tag.request() == work.request
        };
        if kind == OpKind::HostRead && self.flash.join_read(die, unit, joins) {
            return;
        }
        let op = Op { units: 1, mask: 1 << unit, work, ..Op::new(kind, InternalTask::Gc, core, pu) };
        let tag = self.tag_of(&op);
        let next = {
            let read = outlast_flash::FlashOp::read(place, op.mask, tag);
            self.flash.submit(now, die, DieQueue::Reads, read, demands(&self.cores))
        };
        self.follow(now, die, next);
    }

    /// Puts a read into the queue of its die.
    pub(crate) fn queue_read(&mut self, now: Nanos, op: Op) {
        self.submit(now, DieQueue::Reads, &op);
    }

    /// Puts an operation of an internal task into the queue of its die.
    pub(crate) fn queue_internal(&mut self, now: Nanos, op: &Op) {
        self.submit(now, DieQueue::Internal(op.task), op);
    }

    /// Submits `op` to the die of its program unit.
    #[inline]
    pub(crate) fn submit(&mut self, now: Nanos, queue: DieQueue, op: &Op) {
        let (die, submitted) = self.resolved(op);
        let next = self.flash.submit(now, die, queue, submitted, demands(&self.cores));
        self.follow(now, die, next);
    }

    /// Submits the program of a program unit, `units` of whose units carry data.
    #[allow(clippy::inline_always, reason = "as Flash::submit")]
    #[inline(always)]
    pub(crate) fn submit_program(
        &mut self,
        now: Nanos,
        core: CoreId,
        queue: DieQueue,
        purpose: Purpose,
        units: u32,
    ) {
        let (die, place) = place_of_pu(self.cores[core].ftl.layout(), purpose.pu);
        let program = outlast_flash::FlashOp::program(place, units, purpose);
        let next = self.flash.submit(now, die, queue, program, demands(&self.cores));
        self.follow(now, die, next);
    }

    /// `op` as the flash room takes it, and its die.
    #[inline]
    pub(crate) fn resolved(&mut self, op: &Op) -> (DieId, outlast_flash::FlashOp<Purpose>) {
        let (die, place) = place_of_pu(self.cores[op.core].ftl.layout(), op.pu);
        let tag = self.tag_of(op);
        let submitted = match op.kind {
            OpKind::HostProgram | OpKind::RelocationProgram => {
                outlast_flash::FlashOp::program(place, u32::from(op.units), tag)
            }
            OpKind::Erase => outlast_flash::FlashOp::erase(place.block, tag),
            _ => outlast_flash::FlashOp::read(place, op.wanted(), tag),
        };
        (die, submitted)
    }

    /// The tag of `op`, of which a record is kept where a tag does not say it all.
    #[inline]
    fn tag_of(&mut self, op: &Op) -> Purpose {
        if op.fits_a_tag() {
            return op.tag();
        }
        Purpose { cookie: self.reads.insert(*op), has_record: true, ..op.tag() }
    }

    /// All units of a command have been queued: the dies that hold them look at their queues, in the order of the units.
    #[inline(never)]
    pub(crate) fn end_gathering(&mut self, now: Nanos) {
        let dies = self.flash.end_gathering();
        for &die in &dies {
            let next = self.flash.start_or_suspend(now, die, demands(&self.cores));
            self.follow(now, die, next);
        }
        self.flash.return_gathered(dies);
    }

    /// Starts work on a die if it is idle.
    #[inline]
    pub(crate) fn wake(&mut self, now: Nanos, die: DieId) {
        self.wake_of::<false>(now, die);
    }

    /// As [`Ssd::wake`]; where `PLAIN`, in a flash room that [is](outlast_flash::Flash::is_plain).
    #[inline]
    fn wake_of<const PLAIN: bool>(&mut self, now: Nanos, die: DieId) {
        let next = self.flash.wake_of::<PLAIN>(now, die, demands(&self.cores));
        self.follow(now, die, next);
    }

    /// An internal operation has ended or relocated data has left the buffer: dies that wait for that go on when all else is settled.
    /// Where nothing else is due none can come to wait before.
    #[inline]
    pub(crate) fn let_waiting_go(&mut self) {
        if (!self.is_settled() || self.flash.dies_waiting() != 0) && !self.flash.awaits_thinking_slot() {
            self.unsettled.add_leave();
        }
    }

    /// The slot of an internal operation is free for the next.
    #[inline(never)]
    pub(crate) fn slot_has_thought(&mut self, now: Nanos) {
        self.flash.end_thinking(now);
        self.let_waiting_go();
    }

    /// An internal operation has ended or relocated data has left the buffer: the next of the dies that waited for that goes on, unless
    /// the one before it has begun an internal operation.
    pub(crate) fn wake_waiting(&mut self, now: Nanos) {
        let (internal, waiting) = (self.flash.internal_operations(), self.flash.dies_waiting());
        if self.unsettled.take_leave(internal, waiting)
            && let Some(die) = self.flash.take_waiting_die()
        {
            self.wake(now, die);
        }
    }

    /// Die `die` asked for something that turned out to be stale, and it is known now what comes of that: it looks again.
    pub(crate) fn answer_again(&mut self, now: Nanos, die: DieId, ask: TaskReadQuery) {
        let next = self.flash.answer(now, die, ask, TaskReadAnswer::Again, demands(&self.cores));
        self.follow(now, die, next);
    }

    /// Deals with what a die came to, and answers what it asks.
    #[inline]
    fn follow(&mut self, now: Nanos, die: DieId, next: DieStep) {
        if !matches!(next, DieStep::Nothing) {
            self.follow_on(now, die, next);
        }
    }

    #[inline(never)]
    fn follow_on(&mut self, now: Nanos, die: DieId, mut next: DieStep) {
        loop {
            match next {
                DieStep::Nothing => return,
                DieStep::Sensing(pages) => return self.sensing(now, die, pages),
                DieStep::SensingBeside(pages) => {
                    self.sensing_beside(now, die, pages);
                    next = self.flash.wake(now, die, demands(&self.cores));
                }
                DieStep::PlaneFree => next = self.flash.wake(now, die, demands(&self.cores)),
                DieStep::Asks(ask) => next = self.answer(now, die, ask),
            }
        }
    }

    #[inline(never)]
    fn sensing_beside(&mut self, now: Nanos, die: DieId, pages: u32) {
        self.sensing(now, die, pages);
    }

    /// Die `die` has begun to sense the units of a read, on so many pages.
    #[allow(clippy::inline_always, reason = "a few steps, once for each read")]
    #[inline(always)]
    fn sensing(&mut self, now: Nanos, die: DieId, pages: u32) {
        let op = self.flash.sensed(die);
        let sensed = self.flash.op(op);
        let Purpose { kind, task, cookie, has_record, .. } = sensed.tag;
        let cause = if has_record { self.reads[cookie].cause() } else { kind.cause(task) };
        self.counters.reads[cause] += u64::from(pages);
        if self.fallible {
            self.sense(now, die, op);
        }
    }

    /// What a task wants to read next from an idle die.
    fn answer(&mut self, now: Nanos, die: DieId, ask: TaskReadQuery) -> DieStep {
        let DiePlace { core, local } = self.places[die];
        let Core { tasks, ftl, cpu, buffer, .. } = &mut self.cores[core];
        let may_start = ask.may_start()
            && !(ask.task() == InternalTask::Gc && buffer.holds_up())
            && !(buffer.takes_tokens() && buffer.holds_back(now, ask.task()).is_some());
        let answer = match tasks.next_read(ask.task(), local, ftl, may_start) {
            NextRead::None => TaskReadAnswer::Nothing,
            NextRead::Later => {
                if buffer.takes_tokens()
                    && let Some(until) = buffer.holds_back(now, ask.task())
                {
                    self.call_housekeeping(until);
                }
                TaskReadAnswer::Later
            }
            NextRead::Stale => {
                // Answered when it is known what becomes of the victim.
                self.make_due(core, Due::victim(ask.task()));
                self.unsettled.add_ask(die, ask);
                return DieStep::Nothing;
            }
            NextRead::Read { pu, mask } => {
                let cost = self.config.controller.relocation_cost;
                if cost != Nanos::ZERO {
                    cpu.occupy(now, Nanos(cost.0 * u64::from(mask.count_ones())));
                }
                let (_, place) = place_of_pu(ftl.layout(), pu);
                let read =
                    outlast_flash::FlashOp::read(place, mask, Purpose::relocation_read(ask.task(), pu));
                return self.flash.give_read(now, die, ask, read);
            }
        };
        self.flash.answer(now, die, ask, answer, demands(&self.cores))
    }

    /// Something that a die did has ended.
    #[inline]
    pub(crate) fn die_event(&mut self, now: Nanos, die: DieId) {
        if self.flash.is_plain() {
            self.die_event_of::<true>(now, die);
        } else {
            self.die_event_with_extras(now, die);
        }
    }

    #[inline(never)]
    fn die_event_with_extras(&mut self, now: Nanos, die: DieId) {
        self.die_event_of::<false>(now, die);
    }

    #[inline]
    fn die_event_of<const PLAIN: bool>(&mut self, now: Nanos, die: DieId) {
        let ended = if PLAIN {
            if !self.flash.is_about_to_end(die) {
                let next = self.flash.advance_phase(now, die);
                return self.follow(now, die, next);
            }
            self.flash.take_ended(now, die)
        } else {
            match self.flash.handle_event(now, die) {
                DieEvent::Continues(next) => return self.follow(now, die, next),
                DieEvent::Ended(op) => op,
            }
        };
        let tag = ended.tag;
        if tag.kind == OpKind::HostRead && !tag.has_record {
            if self.notes_reads {
                self.note_read(now, die, tag, ended.mask());
            }
            self.host_read(now, tag.request(), ended.units(), self.config.controller.decode.hard);
            return self.wake_of::<PLAIN>(now, die);
        }
        let op = if tag.has_record {
            if self.reads[tag.cookie].failing != 0 {
                if let Some(known) = self.failure_known(now, tag.cookie) {
                    let held = outlast_flash::FlashOp::read(ended.place(), ended.mask(), tag);
                    return self.flash.hold_read(now, die, held, known);
                }
                if self.reread(now, tag.cookie) {
                    return self.sense_again(now, die, ended.place(), tag);
                }
            }
            let op = self.reads[tag.cookie];
            self.reads.remove(tag.cookie);
            if op.failing != 0 && self.watch.is_some() {
                self.note_failed_read(now, &op);
            }
            if !PLAIN && self.ledger.is_some() && op.kind.is_waited_for() { self.noted(now, op) } else { op }
        } else {
            Op::of_tag(tag, self.places[die].core, ended.units(), ended.mask())
        };
        self.end_op(now, &op);
        self.settle(now);
        self.wake_of::<PLAIN>(now, die);
    }

    /// The host read of `tag`, without a record, has the units `mask`: the read cache keeps these, and the account has the way that the read
    /// took.
    #[inline(never)]
    fn note_read(&mut self, now: Nanos, die: DieId, tag: Purpose, mask: u64) {
        self.cores[self.places[die].core].keep_read(tag.pu, mask);
        self.note_way(now, &mut UnitWork::new(tag.request(), Lpn::NONE, 0, 0), true);
    }

    /// Read `op` of a command of the host, which has ended, with what the account says of it.
    #[inline(never)]
    fn noted(&mut self, now: Nanos, mut op: Op) -> Op {
        self.note_way(now, &mut op.work, op.failing == 0);
        op
    }

    /// The die of the read of `tag` at `place`, which has a record, senses again what is missing.
    #[inline(never)]
    fn sense_again(&mut self, now: Nanos, die: DieId, place: BlockRow, tag: Purpose) {
        let again = outlast_flash::FlashOp::read(place, self.reads[tag.cookie].failing, tag);
        let next = self.flash.sense_again(now, die, again);
        self.follow(now, die, next);
    }

    /// A read for `work` has ended, and `is_over` says whether it has given all that was wanted.
    #[inline(never)]
    fn note_way(&mut self, now: Nanos, work: &mut UnitWork, is_over: bool) {
        if let (Some(ledger), Some(way)) = (&mut self.ledger, self.flash.read_account()) {
            ledger.has_read(now, work, way, is_over);
        }
    }

    #[allow(
        clippy::inline_always,
        reason = "called with an operation just made: what is known of it decides most of this"
    )]
    #[inline(always)]
    fn end_op(&mut self, now: Nanos, op: &Op) {
        match op.kind {
            OpKind::HostRead if op.failing == 0 && op.recovery == NIL => {
                self.cores[op.core].keep_read(op.pu, op.mask);
                self.host_read(now, op.work.request, u32::from(op.units), self.decode_time(op));
            }
            OpKind::RmwRead if op.failing == 0 && op.recovery == NIL => self.old_data_read(now, op),
            OpKind::RelocationRead if op.failing == 0 && op.recovery == NIL => {
                self.relocation_read(now, op, 0);
            }
            OpKind::StripeRead => self.stripe_read(now, op),
            OpKind::PatrolRead => self.patrol_read(now, op),
            OpKind::ProbeRead => self.probe_read(now, op),
            OpKind::ListRead => self.list_read(now, op),
            OpKind::HostRead | OpKind::RmwRead | OpKind::RelocationRead | OpKind::MoveRead => {
                if op.failing == 0 {
                    self.finish_read(now, op, 0);
                } else {
                    self.uncorrectable(now, op);
                }
            }
            OpKind::HostProgram | OpKind::RelocationProgram if self.fallible && self.program_fails(op) => {
                self.program_failed(now, op);
            }
            OpKind::HostProgram => {
                self.flash_programmed(now, op);
                self.host_programmed(now, op);
            }
            OpKind::RelocationProgram => {
                self.flash_programmed(now, op);
                self.relocation_programmed(now, op);
            }
            OpKind::Erase => self.relocation_erased(now, op),
        }
    }

    /// The units of a host read are in the controller, where decoding them takes `decode`.
    #[inline]
    pub(crate) fn host_read(&mut self, now: Nanos, request: HostRequestId, units: u32, decode: Nanos) {
        if decode != Nanos::ZERO {
            self.decode_then_send(now, request, units, decode);
        } else if self.host.link.is_there() {
            self.data_moved(now, request, self.sectors_sent(request, units));
        }
        self.finish_parts(now, request, units);
    }

    /// What crosses the link for `units` units of a read.
    #[inline]
    pub(super) fn sectors_sent(&self, request: HostRequestId, units: u32) -> u64 {
        // Only the last unit of a command can be partial at its end; the link carries what was asked for.
        let asked = u64::from(self.host.requests.command(request).sectors);
        asked.min(u64::from(units) * u64::from(self.size.sectors_per_unit))
    }

    /// The old data of a partly written unit is in the controller.
    pub(crate) fn old_data_read(&mut self, now: Nanos, op: &Op) {
        let (mut core, mut work) = (op.core, UnitWork { story: NIL, ..op.work });
        if self.redirection.is_some()
            && let Some(home) = self.rerouted(core, work)
        {
            (core, work) = home;
        }
        let stream = self.stream_of_write(core, work);
        self.queue_write(now, core, WaitingWrite { work, stream });
    }

    /// A program unit is on flash.
    #[inline]
    pub(crate) fn flash_programmed(&mut self, now: Nanos, op: &Op) {
        let core = op.core;
        let state = &mut self.cores[core];
        let sealed = state.ftl.programmed(op.pu);
        if let Some(own) = &mut state.cells {
            own.cells.programmed(state.ftl.layout().group_of_pu(op.pu), now + self.schedule.aged());
        }
        if sealed && state.scrub.is_some() {
            let superblock = state.ftl.layout().place(op.pu).superblock;
            self.sealed(now, core, superblock);
            self.look_at_redundancy(now, core);
        }
        if self.striped && op.units == 0 {
            // Parity or partial parity has come: fewer may be exposed.
            let stream = self.cores[core]
                .ftl
                .superblock(self.cores[core].ftl.layout().place(op.pu).superblock)
                .stream();
            self.note_covered(now, core, stream);
        }
    }

    /// Program operations waiting or under way on the dies of `core`.
    pub(crate) fn programs_in_flight(
        &self,
        core: CoreId,
    ) -> impl Iterator<Item = &outlast_flash::FlashOp<Purpose>> {
        let programs = self.flash.programs();
        programs.filter(move |&(die, _)| self.places[die].core == core).map(|(_, op)| op)
    }
}
