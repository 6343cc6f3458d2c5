//! The flash side: dies take up operations by priority, channels carry data, operations end.

use crate::core::WaitingWrite;
use crate::die::{Phase, Suspended};
use crate::op::{Op, OpKind, Task, UnitWork};
use crate::ssd::Ssd;
use outlast_ftl::ReadCause;
use outlast_units::Group;
use outlast_units::Nanos;
use outlast_units::slab::NIL;

/// While collection is urgent, so many host operations may go before one internal operation on a die.
const HOST_IN_A_ROW: u8 = 8;

impl Ssd {
    /// Queues the read of one unit; units of one command in one program unit are read together.
    ///
    /// While a command is being gathered, its reads are queued only: [`Ssd::end_gathering`] has the dies look at them, so that an
    /// idle die, too, senses a page once.
    #[allow(
        clippy::too_many_arguments,
        reason = "the seven facts of a read; a struct would be built only to be taken apart"
    )]
    #[inline]
    pub(crate) fn enqueue_read(
        &mut self,
        now: Nanos,
        die: u16,
        core: u16,
        kind: OpKind,
        pu: u32,
        unit: u32,
        work: UnitWork,
    ) {
        if kind == OpKind::HostRead && self.joins(die, pu, unit, work.request) {
            return;
        }
        let op = Op { units: 1, mask: 1 << unit, work, ..Op::new(kind, Task::Gc, usize::from(core), pu) };
        let op = self.ops.insert(op);
        let state = &mut self.dies[usize::from(die)];
        state.reads.push(&mut self.ops, op);
        if !self.gathering {
            self.look_up(now, die);
        } else if state.gathered == NIL {
            state.gathered = op;
            self.gathered.push(die);
        }
    }

    /// Whether a unit of host command `request` is read with other units of its program unit, for which the command waits already.
    #[inline]
    fn joins(&mut self, die: u16, pu: u32, unit: u32, request: u32) -> bool {
        let state = &self.dies[usize::from(die)];
        // What a command being gathered has queued on a die stands at the end of the queue.
        let mut waiting = if self.gathering {
            state.gathered
        } else if state.reads.is_empty() {
            NIL
        } else {
            state.reads.tail
        };
        while waiting != NIL {
            let op = &mut self.ops[waiting];
            if op.pu == pu
                && op.work.request == request
                && op.kind == OpKind::HostRead
                && op.mask >> unit & 1 == 0
            {
                op.mask |= 1 << unit;
                op.units += 1;
                return true;
            }
            waiting = op.next;
        }
        false
    }

    /// All units of a command have been queued: the dies that hold them look at their queues, in the order of the units.
    #[inline(never)]
    pub(crate) fn end_gathering(&mut self, now: Nanos) {
        self.gathering = false;
        let dies = std::mem::take(&mut self.gathered);
        for &die in &dies {
            self.dies[usize::from(die)].gathered = NIL;
        }
        for &die in &dies {
            self.look_up(now, die);
        }
        self.gathered = dies;
        self.gathered.clear();
    }

    /// A read waits: an idle die takes it up, a busy one may interrupt what it does.
    #[inline]
    pub(crate) fn look_up(&mut self, now: Nanos, die: u16) {
        match self.dies[usize::from(die)].phase {
            Phase::Idle => self.start_next(now, die),
            Phase::Array => self.maybe_suspend(now, die),
            _ => {}
        }
    }

    /// Starts work on a die if it is idle.
    #[inline]
    pub(crate) fn wake(&mut self, now: Nanos, die: u16) {
        if self.dies[usize::from(die)].phase == Phase::Idle {
            self.start_next(now, die);
        }
    }

    fn maybe_suspend(&mut self, now: Nanos, die: u16) {
        let Some(suspend) = self.config.timing.suspend else { return };
        let state = &mut self.dies[usize::from(die)];
        let allowed = match self.ops[state.current].kind {
            OpKind::Erase => suspend.erase,
            _ => suspend.program,
        };
        let from = now.max(state.array_start);
        // Not worth it when the operation ends before the die could read.
        if !allowed || state.suspensions >= suspend.limit || from + suspend.overhead >= state.array_end {
            return;
        }
        let remaining = state.array_end - from;
        let times = state.suspensions + 1;
        state.suspended = Some(Suspended { op: state.current, remaining, times, reads_left: suspend.reads });
        state.phase = Phase::Suspending;
        self.counters.suspends += 1;
        self.events.set(u32::from(die), from + suspend.overhead);
    }

    /// Picks what the idle die does next: by priority, see [`Ssd`].
    pub(crate) fn start_next(&mut self, now: Nanos, die: u16) {
        let index = usize::from(die);
        let state = &mut self.dies[index];
        let core = usize::from(state.core);
        if let Some(suspended) = &mut state.suspended {
            if state.reads.is_empty() || suspended.reads_left == 0 {
                self.resume(now, die);
            } else {
                suspended.reads_left -= 1;
                let op = state.reads.pop(&self.ops);
                self.start_read(now, die, op);
            }
            return;
        }
        let state = &self.dies[index];
        if self.cores[core].tasks.background_runs() || !state.background.is_empty() {
            if state.since_background >= self.config.controller.background_every
                && self.start_background(now, die)
            {
                self.dies[index].since_background = 0;
                return;
            }
            let state = &mut self.dies[index];
            state.since_background = state.since_background.saturating_add(1);
        }
        let state = &self.dies[index];
        let urgent = self.cores[core].buffer.is_blocked();
        if !state.reads.is_empty() {
            let yielding = urgent && state.host_in_a_row >= HOST_IN_A_ROW;
            if yielding && self.start_collection(now, die) {
                return;
            }
            let state = &mut self.dies[index];
            if state.programs.is_empty() {
                state.reads_in_a_row = 0;
            } else if state.reads_in_a_row >= self.config.controller.program_every {
                self.start_host_program(now, die);
                return;
            } else {
                state.reads_in_a_row += 1;
            }
            state.host_in_a_row = if urgent { state.host_in_a_row.saturating_add(1) } else { 0 };
            let op = state.reads.pop(&self.ops);
            self.start_read(now, die, op);
            return;
        }
        if urgent && self.start_collection(now, die) {
            return;
        }
        if !self.dies[index].programs.is_empty() {
            self.start_host_program(now, die);
            return;
        }
        if !urgent && self.start_collection(now, die) {
            return;
        }
        if !self.start_background(now, die) {
            self.dies[index].phase = Phase::Idle;
        }
    }

    fn start_host_program(&mut self, now: Nanos, die: u16) {
        let state = &mut self.dies[usize::from(die)];
        state.reads_in_a_row = 0;
        let op = state.programs.pop(&self.ops);
        self.start_program(now, die, op);
    }

    #[inline]
    fn begin(&mut self, now: Nanos, die: u16, op: u32) {
        let state = &mut self.dies[usize::from(die)];
        if state.phase == Phase::Idle {
            state.busy_since = now;
        }
        state.current = op;
    }

    #[inline]
    pub(crate) fn start_read(&mut self, now: Nanos, die: u16, op: u32) {
        self.begin(now, die, op);
        let Op { pu, mut mask, core, rereads, .. } = self.ops[op];
        if self.fallible {
            if self.ops[op].failing == 0 {
                self.ops[op].failing = mask;
            }
            mask = self.ops[op].failing;
            self.sense(now, op);
        }
        let layout = self.cores[usize::from(core)].ftl.layout();
        let first_page = layout.first_page(pu);
        let (pages, mut rows) = layout.sensed(mask);
        let mut sense = Nanos::ZERO;
        while rows != 0 {
            sense += self.timing.read(first_page + rows.trailing_zeros());
            rows &= rows - 1;
        }
        let cause = match (self.ops[op].kind, self.ops[op].task) {
            _ if rereads != 0 => ReadCause::Reread,
            (OpKind::HostRead, _) => ReadCause::Host,
            (OpKind::RmwRead, _) => ReadCause::Rmw,
            (OpKind::StripeRead, _) => ReadCause::Stripe,
            (OpKind::PatrolRead, _) => ReadCause::Patrol,
            (OpKind::MoveRead, _) => ReadCause::Migration,
            (OpKind::ProbeRead, _) => ReadCause::Probe,
            (OpKind::ListRead, _) => ReadCause::Lists,
            (_, Task::Gc) => ReadCause::Gc,
            (_, Task::WearLeveling) => ReadCause::WearLeveling,
            (_, Task::Scrub) => ReadCause::Scrub,
        };
        self.counters.reads[cause] += pages;
        let start = self.command_cycles(now, die);
        self.dies[usize::from(die)].phase = Phase::Sensing;
        self.events.set(u32::from(die), start + sense);
    }

    /// Command and address cycles on the channel; returns their end.
    #[inline]
    fn command_cycles(&mut self, now: Nanos, die: u16) -> Nanos {
        let cycles = self.timing.command();
        if cycles == Nanos::ZERO {
            return now;
        }
        let channel = usize::from(self.dies[usize::from(die)].channel);
        self.channels[channel].interleave(now, cycles)
    }

    #[inline]
    pub(crate) fn start_program(&mut self, now: Nanos, die: u16, op: u32) {
        self.begin(now, die, op);
        let Op { pu, core, .. } = self.ops[op];
        let layout = self.cores[usize::from(core)].ftl.layout();
        let first_page = layout.first_page(pu);
        // The whole program unit travels, padding included.
        let transfer = self.timing.command() + self.timing.transfer(layout.units_per_pu());
        let rows = first_page..first_page + layout.rows_per_pu();
        let program = rows.fold(Nanos::ZERO, |sum, row| sum + self.timing.program(row));
        let state = &mut self.dies[usize::from(die)];
        let data_in = self.channels[usize::from(state.channel)].book(now, transfer);
        state.phase = Phase::Array;
        state.suspensions = 0;
        state.array_start = data_in;
        state.array_end = data_in + program;
        self.events.set(u32::from(die), state.array_end);
    }

    pub(crate) fn start_erase(&mut self, now: Nanos, die: u16, op: u32) {
        self.begin(now, die, op);
        let start = self.command_cycles(now, die);
        let state = &mut self.dies[usize::from(die)];
        state.phase = Phase::Array;
        state.suspensions = 0;
        state.array_start = start;
        state.array_end = start + self.timing.erase();
        self.events.set(u32::from(die), state.array_end);
    }

    fn resume(&mut self, now: Nanos, die: u16) {
        let overhead = self.config.timing.suspend.map_or(Nanos::ZERO, |suspend| suspend.overhead);
        let state = &mut self.dies[usize::from(die)];
        let Some(suspended) = state.suspended.take() else { return };
        if state.phase == Phase::Idle {
            // The read before it has ended, and with it a span of work; another begins.
            state.busy_since = now;
        }
        state.phase = Phase::Array;
        state.current = suspended.op;
        state.suspensions = suspended.times;
        state.array_start = now + overhead;
        state.array_end = now + overhead + suspended.remaining;
        self.events.set(u32::from(die), state.array_end);
    }

    /// Something that a die did has ended.
    #[inline]
    pub(crate) fn die_event(&mut self, now: Nanos, die: u16) {
        let state = &mut self.dies[usize::from(die)];
        let current = state.current;
        match state.phase {
            Phase::Sensing => {
                let op = &self.ops[current];
                let units = if self.fallible { op.sent } else { op.units };
                let transfer = self.timing.transfer(u32::from(units));
                state.phase = Phase::ReadTransfer;
                let end = self.channels[usize::from(state.channel)].book(now, transfer);
                self.events.set(u32::from(die), end);
            }
            Phase::ReadTransfer | Phase::Array => {
                if state.phase == Phase::ReadTransfer
                    && self.ops[current].failing != 0
                    && self.reread(now, die, current)
                {
                    return;
                }
                let op = self.ops[current];
                self.ops.remove(current);
                self.release(now, die);
                self.end_op(now, &op);
                self.wake(now, die);
                if self.dies[usize::from(die)].phase == Phase::Idle {
                    self.events.set(u32::from(die), Nanos::MAX);
                }
            }
            Phase::Suspending => {
                state.phase = Phase::Sensing;
                self.start_next(now, die);
            }
            Phase::Idle => unreachable!("an idle die has no event"),
        }
    }

    /// The die is free for now; whatever follows finds it idle. Its event stays in the queue until it is clear that nothing
    /// follows: one update instead of two.
    #[inline]
    fn release(&mut self, now: Nanos, die: u16) {
        let state = &mut self.dies[usize::from(die)];
        state.phase = Phase::Idle;
        state.busy += now - state.busy_since;
    }

    #[inline]
    fn end_op(&mut self, now: Nanos, op: &Op) {
        if op.failing != 0 && self.watch.is_some() {
            self.note_failed_read(now, op);
        }
        match op.kind {
            OpKind::HostRead if op.failing == 0 && op.recovery == NIL => self.host_read(now, op),
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

    /// The units of a host read are in the controller.
    pub(crate) fn host_read(&mut self, now: Nanos, op: &Op) {
        if self.host.link.is_there() {
            // Only the last unit of a command can be partial at its end; the link carries what was asked for.
            let asked = u64::from(self.host.requests.command(op.work.request).sectors);
            let units = u64::from(op.units) * u64::from(self.sectors_per_unit);
            self.data_moved(now, op.work.request, asked.min(units));
        }
        self.finish_parts(now, op.work.request, u32::from(op.units));
    }

    /// The old data of a partly written unit is in the controller.
    pub(crate) fn old_data_read(&mut self, now: Nanos, op: &Op) {
        let (mut core, mut work) = (usize::from(op.core), op.work);
        if self.redirection.is_some()
            && let Some(home) = self.elsewhere(core, work)
        {
            (core, work) = home;
        }
        let stream = self.stream_of_write(core, work);
        self.queue_write(now, core, WaitingWrite { work, stream });
    }

    /// A program unit is on flash.
    #[inline]
    fn flash_programmed(&mut self, now: Nanos, op: &Op) {
        let core = usize::from(op.core);
        let state = &mut self.cores[core];
        let sealed = state.ftl.programmed(op.pu);
        if let Some(own) = &mut state.cells {
            own.cells.programmed(Group(state.ftl.layout().group_of_pu(op.pu)), now + self.schedule.aged());
        }
        if sealed && state.scrub.is_some() {
            let superblock = state.ftl.layout().place(op.pu).superblock;
            self.sealed(now, core, superblock);
        }
        if self.striped && op.units == 0 {
            // Parity or partial parity has come: fewer may be exposed.
            let stream =
                self.cores[core].ftl.stream_of(self.cores[core].ftl.layout().place(op.pu).superblock);
            self.note_covered(now, core, stream);
        }
    }

    /// Program operations waiting or under way on the dies of `core`.
    pub(crate) fn programs_in_flight(&self, core: usize) -> impl Iterator<Item = &Op> {
        let queued =
            self.dies.iter().flat_map(|die| [die.programs, die.collection, die.background]).flat_map(
                |queue| {
                    std::iter::successors((!queue.is_empty()).then_some(queue.head), |&op| {
                        Some(self.ops[op].next).filter(|&next| next != NIL)
                    })
                },
            );
        let current = self.dies.iter().filter(|die| die.phase == Phase::Array).map(|die| die.current);
        let suspended = self.dies.iter().filter_map(|die| die.suspended.map(|suspended| suspended.op));
        // While an operation waits to be suspended it is both current and suspended; count it once, as suspended.
        queued.chain(current).chain(suspended).map(|op| &self.ops[op]).filter(move |op| {
            usize::from(op.core) == core && matches!(op.kind, OpKind::HostProgram | OpKind::RelocationProgram)
        })
    }
}
