//! The drive's side of the flash room: what is submitted, what dies ask, what becomes of operations that end.

use crate::core::CoreContext;
use crate::core::{Due, Effect, FlashCore, NextRead};
use crate::host::HostRequestId;
use crate::op::{Op, OpKind, Purpose, Task, UnitWork};
use crate::places::place_of_pu;
use crate::ssd::Ssd;
use outlast_flash::{Answer, Ask, Event, Next, Place, Queue};
use outlast_units::slab::NIL;
use outlast_units::{CoreId, DieId, Lpn, Nanos, Pu};

impl FlashCore {
    /// Queues the read of one unit; units of one command in one program unit are read together.
    #[inline]
    pub(crate) fn enqueue_read(
        &mut self,
        now: Nanos,
        context: &mut CoreContext,
        kind: OpKind,
        (pu, unit): (Pu, u32),
        work: UnitWork,
    ) {
        let (die, place) = place_of_pu(self.ftl.layout(), pu);
        let joins = |tag: &Purpose| {
            tag.pu == pu && tag.kind == OpKind::HostRead && !tag.has_record && tag.request() == work.request
        };
        if kind == OpKind::HostRead && context.flash.join(die, unit, joins) {
            return;
        }
        let op = Op { units: 1, mask: 1 << unit, work, ..Op::new(kind, Task::Gc, self.id, pu) };
        let tag = context.tag_of(&op);
        let read = outlast_flash::Op::read(place, op.mask, tag);
        let next = context.flash.submit(now, die, Queue::Reads, read, |_| self.demand());
        self.follow(now, context, die, next);
    }

    /// Puts a read into the queue of its die.
    pub(crate) fn queue_read(&mut self, now: Nanos, context: &mut CoreContext, op: Op) {
        self.submit(now, context, Queue::Reads, &op);
    }

    /// Puts an operation of an internal task into the queue of its die.
    pub(crate) fn queue_internal(&mut self, now: Nanos, context: &mut CoreContext, op: &Op) {
        self.submit(now, context, Queue::Internal(op.task), op);
    }

    /// Submits `op` to the die of its program unit.
    #[inline]
    pub(crate) fn submit(&mut self, now: Nanos, context: &mut CoreContext, queue: Queue, op: &Op) {
        let (die, submitted) = self.resolved(context, op);
        let next = context.flash.submit(now, die, queue, submitted, |_| self.demand());
        self.follow(now, context, die, next);
    }

    /// Submits the program of a program unit, `units` of whose units carry data.
    #[allow(clippy::inline_always, reason = "as Flash::submit")]
    #[inline(always)]
    pub(crate) fn submit_program(
        &mut self,
        now: Nanos,
        context: &mut CoreContext,
        queue: Queue,
        purpose: Purpose,
        units: u32,
    ) {
        let (die, place) = place_of_pu(self.ftl.layout(), purpose.pu);
        let program = outlast_flash::Op::program(place, units, purpose);
        let next = context.flash.submit(now, die, queue, program, |_| self.demand());
        self.follow(now, context, die, next);
    }

    /// `op` as the flash room takes it, and its die.
    #[inline]
    pub(crate) fn resolved(
        &mut self,
        context: &mut CoreContext,
        op: &Op,
    ) -> (DieId, outlast_flash::Op<Purpose>) {
        let (die, place) = place_of_pu(self.ftl.layout(), op.pu);
        let tag = context.tag_of(op);
        let submitted = match op.kind {
            OpKind::HostProgram | OpKind::RelocationProgram => {
                outlast_flash::Op::program(place, u32::from(op.units), tag)
            }
            OpKind::Erase => outlast_flash::Op::erase(place.block, tag),
            _ => outlast_flash::Op::read(place, op.wanted(), tag),
        };
        (die, submitted)
    }

    /// Die `die` looks at its queue, as all units of a command are in it.
    fn look_up(&mut self, now: Nanos, context: &mut CoreContext, die: DieId) {
        let next = context.flash.look_up(now, die, |_| self.demand());
        self.follow(now, context, die, next);
    }

    /// Starts work on a die if it is idle.
    #[inline]
    pub(crate) fn wake(&mut self, now: Nanos, context: &mut CoreContext, die: DieId) {
        self.wake_of::<false>(now, context, die);
    }

    /// As [`Ssd::wake`]; where `PLAIN`, in a flash room that [is](outlast_flash::Flash::is_plain).
    #[inline]
    pub(crate) fn wake_of<const PLAIN: bool>(&mut self, now: Nanos, context: &mut CoreContext, die: DieId) {
        let next = context.flash.wake_of::<PLAIN>(now, die, |_| self.demand());
        self.follow(now, context, die, next);
    }

    /// Die `die` asked for something that turned out to be stale, and it is known now what comes of that: it looks again.
    pub(crate) fn answer_again(&mut self, now: Nanos, context: &mut CoreContext, die: DieId, ask: Ask) {
        let next = context.flash.answer(now, die, ask, Answer::Again, |_| self.demand());
        self.follow(now, context, die, next);
    }

    /// Deals with what a die came to, and answers what it asks.
    #[inline]
    fn follow(&mut self, now: Nanos, context: &mut CoreContext, die: DieId, next: Next) {
        if !matches!(next, Next::Nothing) {
            self.follow_on(now, context, die, next);
        }
    }

    #[inline(never)]
    fn follow_on(&mut self, now: Nanos, context: &mut CoreContext, die: DieId, mut next: Next) {
        loop {
            match next {
                Next::Nothing => return,
                Next::Sensing(pages) => return self.sensing(now, context, die, pages),
                Next::SensingBeside(pages) => {
                    self.sensing_beside(now, context, die, pages);
                    next = context.flash.wake(now, die, |_| self.demand());
                }
                Next::Looks => next = context.flash.wake(now, die, |_| self.demand()),
                Next::Asks(ask) => next = self.answer(now, context, die, ask),
            }
        }
    }

    #[inline(never)]
    fn sensing_beside(&mut self, now: Nanos, context: &mut CoreContext, die: DieId, pages: u32) {
        self.sensing(now, context, die, pages);
    }

    /// Die `die` has begun to sense the units of a read, on so many pages.
    #[allow(clippy::inline_always, reason = "a few steps, once for each read")]
    #[inline(always)]
    fn sensing(&mut self, now: Nanos, context: &mut CoreContext, die: DieId, pages: u32) {
        let op = context.flash.sensed(die);
        let sensed = context.flash.op(op);
        let Purpose { kind, task, cookie, has_record, .. } = sensed.tag;
        let cause = if has_record { context.reads[cookie].cause() } else { kind.cause(task) };
        context.counters.reads[cause] += u64::from(pages);
        if context.fallible {
            self.sense(now, context, op);
        }
    }

    /// What a task wants to read next from an idle die.
    fn answer(&mut self, now: Nanos, context: &mut CoreContext, die: DieId, ask: Ask) -> Next {
        let local = context.places[die].local;
        let FlashCore { tasks, ftl, cpu, buffer, .. } = self;
        let may_start = ask.may_start()
            && !(ask.task() == Task::Gc && buffer.holds_up())
            && !(buffer.takes_tokens() && buffer.holds_back(now, ask.task()).is_some());
        let answer = match tasks.next_read(ask.task(), local, ftl, may_start) {
            NextRead::None => Answer::Nothing,
            NextRead::Later => {
                if buffer.takes_tokens()
                    && let Some(until) = buffer.holds_back(now, ask.task())
                {
                    context.call_housekeeping(until);
                }
                Answer::Later
            }
            NextRead::Stale => {
                // Answered when it is known what becomes of the victim.
                self.make_due(context, Due::victim(ask.task()));
                context.unsettled.add_ask(die, ask);
                return Next::Nothing;
            }
            NextRead::Read { pu, mask } => {
                let cost = context.config.controller.relocation_cost;
                if cost != Nanos::ZERO {
                    cpu.occupy(now, Nanos(cost.0 * u64::from(mask.count_ones())));
                }
                let (_, place) = place_of_pu(ftl.layout(), pu);
                let read = outlast_flash::Op::read(place, mask, Purpose::relocation_read(ask.task(), pu));
                return context.flash.give(now, die, ask, read);
            }
        };
        context.flash.answer(now, die, ask, answer, |_| self.demand())
    }

    /// Something that die `die` did has ended. True if the drive is to settle before the die goes on.
    #[inline]
    fn end_die_work<const PLAIN: bool>(&mut self, now: Nanos, context: &mut CoreContext, die: DieId) -> bool {
        let ended = if PLAIN {
            if !context.flash.is_about_to_end(die) {
                let next = context.flash.go_on(now, die);
                self.follow(now, context, die, next);
                return false;
            }
            context.flash.take_ended(now, die)
        } else {
            match context.flash.event(now, die) {
                Event::Goes(next) => {
                    self.follow(now, context, die, next);
                    return false;
                }
                Event::Ended(op) => op,
            }
        };
        let tag = ended.tag;
        if tag.kind == OpKind::HostRead && !tag.has_record {
            if context.notes_reads {
                self.note_read(now, context, tag, ended.mask());
            }
            context.host_read(now, tag.request(), ended.units(), context.config.controller.decode.hard);
            self.wake_of::<PLAIN>(now, context, die);
            return false;
        }
        let op = if tag.has_record {
            if context.reads[tag.cookie].failing != 0 {
                if let Some(known) = context.failure_known(now, tag.cookie) {
                    let held = outlast_flash::Op::read(ended.place(), ended.mask(), tag);
                    context.flash.hold(now, die, held, known);
                    return false;
                }
                if self.reread(now, context, tag.cookie) {
                    self.sense_again(now, context, die, ended.place(), tag);
                    return false;
                }
            }
            let op = context.reads[tag.cookie];
            context.reads.remove(tag.cookie);
            if op.failing != 0 && context.watch.is_some() {
                self.note_failed_read(now, context, &op);
            }
            if !PLAIN && context.ledger.is_some() && op.kind.is_waited_for() {
                context.noted(now, op)
            } else {
                op
            }
        } else {
            Op::of_tag(tag, self.id, ended.units(), ended.mask())
        };
        self.end_op(now, context, &op);
        true
    }

    /// The host read of `tag`, without a record, has the units `mask`: the read cache keeps these, and the account has the way that the read
    /// took.
    #[inline(never)]
    fn note_read(&mut self, now: Nanos, context: &mut CoreContext, tag: Purpose, mask: u64) {
        self.keep_read(tag.pu, mask);
        context.note_way(now, &mut UnitWork::new(tag.request(), Lpn::NONE, 0, 0), true);
    }

    /// The die of the read of `tag` at `place`, which has a record, senses again what is missing.
    #[inline(never)]
    fn sense_again(&mut self, now: Nanos, context: &mut CoreContext, die: DieId, place: Place, tag: Purpose) {
        let again = outlast_flash::Op::read(place, context.reads[tag.cookie].failing, tag);
        let next = context.flash.sense_again(now, die, again);
        self.follow(now, context, die, next);
    }

    #[allow(
        clippy::inline_always,
        reason = "called with an operation just made: what is known of it decides most of this"
    )]
    #[inline(always)]
    fn end_op(&mut self, now: Nanos, context: &mut CoreContext, op: &Op) {
        match op.kind {
            OpKind::HostRead if op.failing == 0 && op.recovery == NIL => {
                self.keep_read(op.pu, op.mask);
                context.host_read(now, op.work.request, u32::from(op.units), context.decode_time(op));
            }
            OpKind::RmwRead if op.failing == 0 && op.recovery == NIL => {
                context.unsettled.add_effect(Effect::OldDataRead(*op));
            }
            OpKind::RelocationRead if op.failing == 0 && op.recovery == NIL => {
                self.relocation_read(now, context, op, 0);
            }
            OpKind::StripeRead => self.stripe_read(now, context, op),
            OpKind::PatrolRead => self.patrol_read(now, context, op),
            OpKind::ProbeRead => self.probe_read(now, context, op),
            OpKind::ListRead => context.unsettled.add_effect(Effect::ListRead(*op)),
            OpKind::HostRead | OpKind::RmwRead | OpKind::RelocationRead | OpKind::MoveRead => {
                if op.failing == 0 {
                    self.finish_read(now, context, op, 0);
                } else {
                    self.uncorrectable(now, context, op);
                }
            }
            OpKind::HostProgram | OpKind::RelocationProgram if context.fallible && self.program_fails(op) => {
                self.program_failed(now, context, op);
            }
            OpKind::HostProgram => {
                self.flash_programmed(now, context, op);
                self.host_programmed(now, context, op);
            }
            OpKind::RelocationProgram => {
                self.flash_programmed(now, context, op);
                self.relocation_programmed(now, context, op);
            }
            OpKind::Erase => self.relocation_erased(now, context, op),
        }
    }

    /// A program unit is on flash.
    #[inline]
    pub(crate) fn flash_programmed(&mut self, now: Nanos, context: &mut CoreContext, op: &Op) {
        let sealed = self.ftl.programmed(op.pu);
        if let Some(own) = &mut self.cells {
            own.cells.programmed(self.ftl.layout().group_of_pu(op.pu), now + context.schedule.aged());
        }
        if sealed && self.scrub.is_some() {
            let superblock = self.ftl.layout().place(op.pu).superblock;
            self.sealed(now, context, superblock);
            self.look_at_redundancy(now, context);
        }
        if context.striped && op.units == 0 {
            // Parity or partial parity has come: fewer may be exposed.
            let stream = self.ftl.superblock(self.ftl.layout().place(op.pu).superblock).stream();
            self.note_covered(now, stream);
        }
    }
}

impl CoreContext {
    /// The tag of `op`, of which a record is kept where a tag does not say it all.
    #[inline]
    fn tag_of(&mut self, op: &Op) -> Purpose {
        if op.fits_a_tag() {
            return op.tag();
        }
        Purpose { cookie: self.reads.insert(*op), has_record: true, ..op.tag() }
    }

    /// An internal operation has ended or relocated data has left the buffer: dies that wait for that go on when all else is settled.
    /// Where nothing else is due none can come to wait before.
    #[inline]
    pub(crate) fn let_waiting_go(&mut self) {
        if (!self.is_settled() || self.flash.dies_waiting() != 0) && !self.flash.awaits_thought() {
            self.unsettled.add_leave();
        }
    }

    /// Read `op` of a command of the host, which has ended, with what the account says of it.
    #[inline(never)]
    fn noted(&mut self, now: Nanos, mut op: Op) -> Op {
        self.note_way(now, &mut op.work, op.failing == 0);
        op
    }

    /// A read for `work` has ended, and `is_over` says whether it has given all that was wanted.
    #[inline(never)]
    fn note_way(&mut self, now: Nanos, work: &mut UnitWork, is_over: bool) {
        if let (Some(ledger), Some(way)) = (&mut self.ledger, self.flash.way()) {
            ledger.has_read(now, work, way, is_over);
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

    /// Program operations waiting or under way on the dies of `core`.
    pub(crate) fn programs_in_flight(
        &self,
        core: CoreId,
    ) -> impl Iterator<Item = &outlast_flash::Op<Purpose>> {
        let programs = self.flash.programs();
        programs.filter(move |&(die, _)| self.places[die].core == core).map(|(_, op)| op)
    }
}

impl Ssd {
    /// All units of a command have been queued: the dies that hold them look at their queues, in the order of the units.
    #[inline(never)]
    pub(crate) fn end_gathering(&mut self, now: Nanos) {
        let dies = self.context.flash.end_gathering();
        for &die in &dies {
            self.cores[self.context.places[die].core].look_up(now, &mut self.context, die);
        }
        self.context.flash.gathered(dies);
    }

    /// The slot of an internal operation is free for the next.
    #[inline(never)]
    pub(crate) fn slot_has_thought(&mut self, now: Nanos) {
        self.context.flash.has_thought(now);
        self.context.let_waiting_go();
    }

    /// An internal operation has ended or relocated data has left the buffer: the next of the dies that waited for that goes on, unless
    /// the one before it has begun an internal operation.
    pub(crate) fn wake_waiting(&mut self, now: Nanos) {
        let (internal, waiting) =
            (self.context.flash.internal_operations(), self.context.flash.dies_waiting());
        if self.context.unsettled.take_leave(internal, waiting)
            && let Some(die) = self.context.flash.next_waiting()
        {
            let core = self.context.places[die].core;
            self.cores[core].wake(now, &mut self.context, die);
        }
    }

    /// Something that a die did has ended.
    #[inline]
    pub(crate) fn die_event(&mut self, now: Nanos, die: DieId) {
        if self.context.flash.is_plain() {
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
        let core = self.context.places[die].core;
        if self.cores[core].end_die_work::<PLAIN>(now, &mut self.context, die) {
            self.settle(now);
            self.cores[core].wake_of::<PLAIN>(now, &mut self.context, die);
        }
    }
}
