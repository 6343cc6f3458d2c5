//! What a die does for an operation, and when it is interrupted.

use crate::die::{Phase, Suspended};
use crate::events::Source;
use crate::flash::Flash;
use crate::next::Next;
use crate::op::{Kind, Op};
use outlast_units::{DieId, Nanos};

impl<T: Copy> Flash<T> {
    /// A read waits for a die whose array works: that is interrupted, if it may be.
    pub(crate) fn maybe_suspend(&mut self, now: Nanos, die: DieId) {
        let Some(suspend) = self.suspend else { return };
        let state = &mut self.dies[die];
        let allowed = match self.ops[state.current].kind {
            Kind::Erase => suspend.erase,
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
        self.suspends += 1;
        self.events.set(Source::Die(die), from + suspend.overhead);
    }

    /// A suspended operation goes on.
    pub(crate) fn resume(&mut self, now: Nanos, die: DieId) {
        let overhead = self.suspend.map_or(Nanos::ZERO, |suspend| suspend.overhead);
        let state = &mut self.dies[die];
        let Some(suspended) = state.suspended.take() else { return };
        // Where a read before it has ended, so has a span of work, and another begins.
        state.begin(now, suspended.op);
        state.suspensions = suspended.times;
        let start = now + overhead;
        let end = start + suspended.remaining;
        state.run_array(start, end);
        self.events.set(Source::Die(die), end);
    }

    #[inline]
    pub(crate) fn start(&mut self, now: Nanos, die: DieId, op: u32) -> Next {
        match self.ops[op].kind {
            Kind::Read => return self.start_read(now, die, op),
            Kind::Program => self.start_program(now, die, op),
            Kind::Erase => self.start_erase(now, die, op),
        }
        Next::Nothing
    }

    pub(crate) fn start_read(&mut self, now: Nanos, die: DieId, op: u32) -> Next {
        let Op { mask, .. } = self.ops[op];
        let first_row = self.ops[op].row().0;
        let (pages, mut rows) = self.unit.sensed(mask);
        let mut sense = self.timing.read(first_row + rows.trailing_zeros());
        rows &= rows - 1;
        while rows != 0 {
            sense += self.timing.read(first_row + rows.trailing_zeros());
            rows &= rows - 1;
        }
        let state = &mut self.dies[die];
        state.begin(now, op);
        state.phase = Phase::Sensing;
        let start = self.channels[state.channel].interleave(now, self.timing.command());
        self.events.set(Source::Die(die), start + sense);
        Next::Sensing(pages as u32)
    }

    pub(crate) fn start_program(&mut self, now: Nanos, die: DieId, op: u32) {
        let first_row = self.ops[op].row().0;
        let mut program = self.timing.program(first_row);
        for row in first_row + 1..first_row + self.unit.rows {
            program += self.timing.program(row);
        }
        let state = &mut self.dies[die];
        let data_in = self.channels[state.channel].book(now, self.program_transfer);
        state.begin_array(now, op, data_in, data_in + program);
        self.events.set(Source::Die(die), data_in + program);
    }

    fn start_erase(&mut self, now: Nanos, die: DieId, op: u32) {
        let state = &mut self.dies[die];
        let start = self.channels[state.channel].interleave(now, self.timing.command());
        let end = start + self.timing.erase();
        state.begin_array(now, op, start, end);
        self.events.set(Source::Die(die), end);
    }
}
