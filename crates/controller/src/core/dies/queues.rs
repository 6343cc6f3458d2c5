//! Operations on their way to the dies: what the core submits, and dies that take up what waits.

use crate::core::{CoreContext, FlashCore};
use crate::op::{InternalTask, Op, OpKind, Purpose, UnitWork};
use crate::places::place_of_pu;
use outlast_flash::{DieQueue, TaskReadAnswer, TaskReadQuery};
use outlast_units::{CoreId, DieId, Nanos, Pu};

impl FlashCore {
    /// Queues the read of one unit; units of one command in one program unit are read together, if there may be several: not where `BARE`.
    #[allow(clippy::inline_always, reason = "the way of every read of the host")]
    #[inline(always)]
    pub fn enqueue_read<const BARE: bool>(
        &mut self,
        now: Nanos,
        context: &mut CoreContext,
        kind: OpKind,
        (pu, unit): (Pu, u32),
        work: UnitWork,
    ) {
        let (die, place) = place_of_pu(&self.ftl, pu);
        let joins = |tag: &Purpose| {
            tag.pu == pu && tag.kind == OpKind::HostRead && !tag.has_record && tag.request() == work.request
        };
        if !BARE && kind == OpKind::HostRead && context.flash.join_read(die, unit, joins) {
            return;
        }
        let op = Op { units: 1, mask: 1 << unit, work, ..Op::new(kind, InternalTask::Gc, self.id, pu) };
        let tag = context.tag_of(&op);
        let read = outlast_flash::FlashOp::read(place, op.mask, tag);
        let next = context.flash.submit(now, die, DieQueue::Reads, read, |_| self.demand());
        self.follow::<false>(now, context, die, next);
    }

    /// Queues the read of a unit that another core is to hold, for the move `work`.
    pub fn queue_move_read(
        &mut self,
        now: Nanos,
        context: &mut CoreContext,
        (pu, unit): (Pu, u32),
        work: UnitWork,
    ) {
        // Any task but collection has its operations among those of the background.
        let op = Op::new(OpKind::MoveRead, InternalTask::Scrub, self.id, pu);
        self.queue_internal(now, context, &Op { units: 1, mask: 1 << unit, work, ..op });
    }

    /// Queues the read of program unit `pu`, which lists the owners of units that die `die` held.
    pub fn queue_list_read(&mut self, now: Nanos, context: &mut CoreContext, die: DieId, pu: Pu) {
        let units = self.ftl.layout().units_per_pu();
        let op = Op::new(OpKind::ListRead, InternalTask::Gc, self.id, pu);
        let mask = u64::MAX >> (64 - units);
        self.queue_read(now, context, Op { mask, units: units as u16, lists_of: Some(die), ..op });
    }

    /// Queues the read of the pages that hold the units `mask` of program unit `pu`, to see whether their block can be read.
    pub fn queue_probe_read(&mut self, now: Nanos, context: &mut CoreContext, pu: Pu, mask: u64) {
        let op = Op::new(OpKind::ProbeRead, InternalTask::Gc, self.id, pu);
        self.queue_read(now, context, Op { units: mask.count_ones() as u16, mask, ..op });
    }

    /// Puts a read into the queue of its die.
    pub(crate) fn queue_read(&mut self, now: Nanos, context: &mut CoreContext, op: Op) {
        self.submit(now, context, DieQueue::Reads, &op);
    }

    /// Puts an operation of an internal task into the queue of its die.
    pub(crate) fn queue_internal(&mut self, now: Nanos, context: &mut CoreContext, op: &Op) {
        self.submit(now, context, DieQueue::Internal(op.task), op);
    }

    /// Submits `op` to the die of its program unit.
    #[inline]
    pub fn submit(&mut self, now: Nanos, context: &mut CoreContext, queue: DieQueue, op: &Op) {
        let (die, submitted) = self.resolved(context, op);
        let next = context.flash.submit(now, die, queue, submitted, |_| self.demand());
        self.follow::<false>(now, context, die, next);
    }

    /// Submits the program of a program unit, `units` of whose units carry data.
    #[allow(clippy::inline_always, reason = "as Flash::submit")]
    #[inline(always)]
    pub(crate) fn submit_program(
        &mut self,
        now: Nanos,
        context: &mut CoreContext,
        queue: DieQueue,
        purpose: Purpose,
        units: u32,
    ) {
        let (die, place) = place_of_pu(&self.ftl, purpose.pu);
        let program = outlast_flash::FlashOp::program(place, units, purpose);
        let next = context.flash.submit(now, die, queue, program, |_| self.demand());
        self.follow::<false>(now, context, die, next);
    }

    /// `op` as the flash room takes it, and its die.
    #[inline]
    pub(crate) fn resolved(
        &mut self,
        context: &mut CoreContext,
        op: &Op,
    ) -> (DieId, outlast_flash::FlashOp<Purpose>) {
        let (die, place) = place_of_pu(&self.ftl, op.pu);
        let tag = context.tag_of(op);
        let submitted = match op.kind {
            OpKind::HostProgram | OpKind::RelocationProgram => {
                outlast_flash::FlashOp::program(place, u32::from(op.units), tag)
            }
            OpKind::Erase => {
                let time = if self.resets.is_empty() {
                    Nanos::ZERO
                } else {
                    self.resets.time_of(self.ftl.layout().place(op.pu).superblock)
                };
                outlast_flash::FlashOp::erase_in(place.block, time, tag)
            }
            _ => outlast_flash::FlashOp::read(place, op.wanted(), tag),
        };
        (die, submitted)
    }

    /// Die `die` looks at its queue, as all units of a command are in it.
    pub fn look_up(&mut self, now: Nanos, context: &mut CoreContext, die: DieId) {
        let next = context.flash.start_or_suspend(now, die, |_| self.demand());
        self.follow::<false>(now, context, die, next);
    }

    /// Starts work on a die if it is idle; where `PLAIN`, in a flash room that [is](outlast_flash::Flash::is_plain).
    #[allow(clippy::inline_always, reason = "as Flash::wake_of")]
    #[inline(always)]
    pub fn wake_of<const PLAIN: bool>(&mut self, now: Nanos, context: &mut CoreContext, die: DieId) {
        // Asks before it is needed: as a part of this frame it costs less than a call.
        let demand = self.demand();
        let next = context.flash.wake_of::<PLAIN>(now, die, |_| demand);
        self.follow::<PLAIN>(now, context, die, next);
    }

    /// Die `die` asked for something that turned out to be stale, and it is known now what comes of that: it looks again.
    pub fn answer_again(&mut self, now: Nanos, context: &mut CoreContext, die: DieId, ask: TaskReadQuery) {
        let next = context.flash.answer(now, die, ask, TaskReadAnswer::Again, |_| self.demand());
        self.follow::<false>(now, context, die, next);
    }
}

impl CoreContext {
    /// The tag of `op`, of which a record is kept where a tag does not say it all.
    #[allow(clippy::inline_always, reason = "most fields of the operation are known where it is called")]
    #[inline(always)]
    fn tag_of(&mut self, op: &Op) -> Purpose {
        if op.fits_a_tag() {
            return op.tag();
        }
        Purpose { cookie: self.reads.insert(*op), has_record: true, ..op.tag() }
    }

    /// An internal operation has ended or relocated data has left the buffer: dies that wait for that go on when all else is settled.
    /// As long as nothing else is due, none can come to wait before.
    #[inline]
    pub fn let_waiting_go(&mut self) {
        if (!self.is_settled() || self.flash.dies_waiting() != 0) && !self.flash.awaits_thinking_slot() {
            self.unsettled.add_leave();
        }
    }

    /// Program operations waiting or under way on the dies of `core`.
    pub fn programs_in_flight(&self, core: CoreId) -> impl Iterator<Item = &outlast_flash::FlashOp<Purpose>> {
        let programs = self.flash.programs();
        programs.filter(move |&(die, _)| self.places[die].core == core).map(|(_, op)| op)
    }
}
