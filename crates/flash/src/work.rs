//! Starting operations, and suspending and resuming them.

use crate::accounts::DieActivity;
use crate::die::{DiePhase, FlashDie, SuspendedOp};
use crate::die_step::{CoreDemand, DieStep};
use crate::flash::{DieContext, Flash};
use crate::op::{BlockRow, FlashOp};
use crate::op_kind::FlashOpKind;
use outlast_media::{ArrayWork, ProgramUnit, SuspendConfig, TimingTable};
use outlast_units::{CoreId, DieId, Nanos};

impl<T: Copy> DieContext<T> {
    /// Plans the suspension of the program or erase on `die`, for which a read waits, at the earliest moment allowed, if it is allowed and gains
    /// time. The plan is made once: until that moment nothing else happens on the die, and a read that waits is never withdrawn (decision 0060).
    pub(crate) fn suspend_if_worthwhile(
        &mut self,
        now: Nanos,
        die: DieId,
        state: &mut FlashDie,
        demands: impl Fn(CoreId) -> CoreDemand,
    ) {
        let Some(suspend) = self.suspend else { return };
        let work = array_work(self.ops[state.current].kind());
        let from = suspend.earliest(work, state.array_start, now);
        let can_read = from + suspend.latency_of(work);
        if work == ArrayWork::Program && !suspend.while_writes_wait && demands(state.core).writes_wait {
            return;
        }
        // No gain if the operation ends before the die could read.
        if state.suspensions >= suspend.limit_of(work) || can_read >= state.array_end {
            return;
        }
        let remaining = state.array_end - from;
        let times = state.suspensions + 1;
        state.suspended =
            Some(SuspendedOp { op: state.current, remaining, times, reads_left: suspend.reads });
        state.phase = DiePhase::Suspending;
        // The array works until then; its event below is when the die can read.
        state.array_end = from;
        self.suspends += 1;
        self.update_accounts(move |accounts| accounts.begin_suspend(die, from));
        self.events.set_die(die, can_read);
    }

    /// Suspends the operation that `die` has just begun or resumed for reads that were left waiting. Only where it must make progress before it may
    /// be suspended ([`SuspendConfig::heeds_waiting_reads`]): without such a rule such reads would have gone first, and only a read that arrives later
    /// suspends.
    #[inline(never)]
    pub(crate) fn suspend_for_waiting_reads(
        &mut self,
        now: Nanos,
        die: DieId,
        state: &mut FlashDie,
        demands: impl Fn(CoreId) -> CoreDemand,
    ) {
        let heeds =
            |suspend: SuspendConfig| suspend.heeds_waiting_reads(array_work(self.ops[state.current].kind()));
        if state.phase == DiePhase::Array && !state.reads.is_empty() && self.suspend.is_some_and(heeds) {
            self.suspend_if_worthwhile(now, die, state, demands);
        }
    }

    /// Resumes the suspended operation of `die`.
    pub(crate) fn resume<const PLAIN: bool>(&mut self, now: Nanos, die: DieId, state: &mut FlashDie) {
        let resume = self.suspend.map_or(Nanos::ZERO, |suspend| suspend.resume_time());
        let Some(suspended) = state.suspended.take() else { return };
        // The reads before it ended the span in which the die was busy; this begins another.
        state.begin(now, suspended.op);
        state.suspensions = suspended.times;
        let start = now + resume;
        let end = start + suspended.remaining;
        state.run_array(start, end);
        if !PLAIN {
            self.update_accounts(move |accounts| {
                accounts.begin_array_work(now, die, suspended.op, DieActivity::Suspend, start);
            });
        }
        self.events.set_die(die, end);
    }

    #[allow(clippy::inline_always, reason = "as Flash::serve_host")]
    #[inline(always)]
    pub(crate) fn start<const PLAIN: bool>(
        &mut self,
        now: Nanos,
        die: DieId,
        state: &mut FlashDie,
        op: u32,
    ) -> DieStep {
        match self.ops[op].kind() {
            FlashOpKind::Read => return self.start_read::<PLAIN>(now, die, state, op),
            FlashOpKind::Program => self.start_program::<PLAIN>(now, die, state, op),
            FlashOpKind::Erase => self.start_erase::<PLAIN>(now, die, state, op),
        }
        DieStep::Nothing
    }

    pub(crate) fn start_read<const PLAIN: bool>(
        &mut self,
        now: Nanos,
        die: DieId,
        state: &mut FlashDie,
        op: u32,
    ) -> DieStep {
        self.start_read_here::<PLAIN>(now, die, state, op)
    }

    /// [`Flash::start_read`] in the frame of its caller.
    #[allow(clippy::inline_always, reason = "once for each read of collection, which is in registers there")]
    #[inline(always)]
    pub(crate) fn start_read_here<const PLAIN: bool>(
        &mut self,
        now: Nanos,
        die: DieId,
        state: &mut FlashDie,
        op: u32,
    ) -> DieStep {
        let (pages, sense) = sensing_of(&self.unit, &self.timing, &self.ops[op]);
        if !PLAIN && !self.pipes.is_empty() {
            return self.begin_in_pipe(now, die, state, op, sense, pages);
        }
        state.begin(now, op);
        state.phase = DiePhase::Sensing;
        let channel = state.channel;
        if !PLAIN {
            self.update_accounts(move |accounts| accounts.begin_sensing(now, die, op));
        }
        let start = self.channels[channel].interleave(now, self.timing.command());
        self.events.set_die(die, start + sense);
        DieStep::Sensing(pages)
    }

    /// Starts the first program of host data that waits.
    #[inline]
    pub(crate) fn start_host_program<const PLAIN: bool>(
        &mut self,
        now: Nanos,
        die: DieId,
        state: &mut FlashDie,
    ) {
        state.reads_in_a_row = 0;
        let op = state.programs.pop(&mut self.ops);
        self.start_program::<PLAIN>(now, die, state, op);
    }

    pub(crate) fn start_program<const PLAIN: bool>(
        &mut self,
        now: Nanos,
        die: DieId,
        state: &mut FlashDie,
        op: u32,
    ) {
        let begun = &self.ops[op];
        let (first_row, mode, sensed) = (begun.row(), begun.mode(), begun.mask);
        let mut program = self.timing.program(mode, first_row);
        for row in 1..self.unit.rows {
            program += self.timing.program(mode, first_row + row);
        }
        if sensed != 0 {
            return self.start_copy(now, die, state, op, Nanos(sensed), program);
        }
        if !PLAIN && self.passes.are_on() {
            program = self.passes.time(die, op, program);
        }
        let data_in = self.book_program::<PLAIN>(now, die, state);
        state.begin_array(now, op, data_in, data_in + program);
        if !PLAIN {
            self.update_accounts(move |accounts| {
                accounts.begin_array_work(now, die, op, DieActivity::Channel, data_in);
            });
        }
        self.events.set_die(die, data_in + program);
    }

    /// Starts on-chip copy `op`: the die senses for `sense` and programs for `program`. Only commands go over the channel.
    #[cold]
    #[inline(never)]
    fn start_copy(
        &mut self,
        now: Nanos,
        die: DieId,
        state: &mut FlashDie,
        op: u32,
        sense: Nanos,
        program: Nanos,
    ) {
        let channel = state.channel;
        let start = self.channels[channel].interleave(now, self.timing.command());
        let (sensed, end) = (start + sense, start + sense + program);
        state.begin_array(now, op, sensed, end);
        self.update_accounts(move |accounts| {
            accounts.begin_array_work(now, die, op, DieActivity::Internal, sensed);
        });
        self.events.set_die(die, end);
    }

    fn start_erase<const PLAIN: bool>(&mut self, now: Nanos, die: DieId, state: &mut FlashDie, op: u32) {
        let start = self.channels[state.channel].interleave(now, self.timing.command());
        let own = self.ops[op].mask;
        let end = start + if own == 0 { self.timing.erase() } else { Nanos(own) };
        state.begin_array(now, op, start, end);
        if !PLAIN {
            self.update_accounts(move |accounts| {
                accounts.begin_array_work(now, die, op, DieActivity::Channel, start);
            });
        }
        self.events.set_die(die, end);
    }
}

impl<T: Copy> Flash<T> {
    /// Time for which a die senses the units in `mask` of the program unit at `place`.
    pub fn sense_time(&self, place: BlockRow, mask: u64) -> Nanos {
        sensing_of(&self.context.unit, &self.context.timing, &FlashOp::read(place, mask, ())).1
    }
}

/// Work of a die's array for an operation of `kind`, which is no read.
fn array_work(kind: FlashOpKind) -> ArrayWork {
    match kind {
        FlashOpKind::Erase => ArrayWork::Erase,
        _ => ArrayWork::Program,
    }
}

/// Pages that read `op` senses, and how long that takes.
#[allow(clippy::inline_always, reason = "a few steps, mostly, once for each read")]
#[inline(always)]
fn sensing_of<T: Copy>(unit: &ProgramUnit, timing: &TimingTable, op: &FlashOp<T>) -> (u32, Nanos) {
    if unit.rows == 1 && unit.units_per_page == 1 {
        // One row, and each unit has pages of its own: as many as it has units.
        return (op.units() * unit.pages_per_unit, timing.read(op.mode(), op.row()));
    }
    sensing_of_rows(unit, timing, op)
}

#[inline(never)]
#[allow(
    clippy::cast_possible_truncation,
    reason = "pages of a program unit: at most one for each bit of a mask, and a unit has fewer than 2^32"
)]
fn sensing_of_rows<T: Copy>(unit: &ProgramUnit, timing: &TimingTable, op: &FlashOp<T>) -> (u32, Nanos) {
    let (first_row, mode) = (op.row(), op.mode());
    let (pages, mut rows) = unit.sensed(op.mask);
    // One bit in `rows` for each page row of the program unit that holds a unit of the mask: rows are sensed one after another.
    let mut sense = timing.read(mode, first_row + rows.trailing_zeros());
    rows &= rows - 1;
    while rows != 0 {
        sense += timing.read(mode, first_row + rows.trailing_zeros());
        rows &= rows - 1;
    }
    (pages as u32, sense)
}
