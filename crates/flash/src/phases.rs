//! Phases of operations under way: what follows when one ends.

use crate::die::DiePhase;
use crate::die_step::DieStep;
use crate::flash::{DieEvent, Flash};
use crate::op::FlashOp;
use crate::op_kind::FlashOpKind;
use outlast_units::{DieId, Nanos};

impl<T: Copy> Flash<T> {
    /// Handles the event that is due on `die`.
    pub fn handle_event(&mut self, now: Nanos, die: DieId) -> DieEvent<T> {
        if self.dies[die].phase == DiePhase::Reading {
            return self.handle_pipe_event(now, die);
        }
        if !self.is_about_to_end(die) {
            return DieEvent::Continues(self.advance_phase::<false>(now, die));
        }
        if self.context.passes.are_on()
            && let Some(passed) = self.end_coarse_pass(now, die)
        {
            return passed;
        }
        let current = self.dies[die].current;
        let op = *self.ending(die);
        self.free_ended(now, die, op.kind());
        self.context.update_accounts(move |accounts| accounts.end_op(now, die, current, op.kind()));
        if self.context.passes.are_on() && op.kind() == FlashOpKind::Program {
            self.leave_passes(die, current);
        }
        DieEvent::Ended(op)
    }

    /// True if the event due on `die`, which does not work on several reads at once, ends an operation.
    #[inline]
    pub fn is_about_to_end(&self, die: DieId) -> bool {
        matches!(self.dies[die].phase, DiePhase::ReadTransfer | DiePhase::Array)
    }

    /// The operation that [is about to end](Flash::is_about_to_end) on `die`, in a room that [is plain](Flash::is_plain). It is read before
    /// [`Flash::free_ended`], so that only what its handler needs of it is.
    #[inline]
    pub fn ending(&self, die: DieId) -> &FlashOp<T> {
        &self.context.ops[self.dies[die].current]
    }

    /// Ends the operation, of kind `kind`, that [is about to end](Flash::is_about_to_end) on `die`: the die is free.
    #[allow(clippy::inline_always, reason = "the kind is known where it is called")]
    #[inline(always)]
    pub fn free_ended(&mut self, now: Nanos, die: DieId, kind: FlashOpKind) {
        let state = &mut self.dies[die];
        debug_assert!(!state.stale_event, "the event of die {die} has been dealt with");
        debug_assert!(self.context.ops[state.current].kind() == kind, "die {die} does not end a {kind:?}");
        self.context.ops.remove(state.current);
        state.count_whole_work(kind);
        state.release(now);
    }

    /// Begins the next phase of the operation on `die`, where none is about to end, with `PLAIN` in a room that [is plain](Flash::is_plain). As
    /// [`Flash::handle_event`], without its checks.
    #[allow(clippy::inline_always, reason = "once for each read, in the frame of its event")]
    #[inline(always)]
    pub fn advance_phase<const PLAIN: bool>(&mut self, now: Nanos, die: DieId) -> DieStep {
        let Self { dies, context } = self;
        let state = &mut dies[die];
        debug_assert!(!state.stale_event, "the event of die {die} has been dealt with");
        if state.phase == DiePhase::Suspending {
            state.count_whole_work(context.ops[state.current].kind());
            state.phase = DiePhase::Sensing;
            return context.serve_reads_or_resume::<PLAIN>(now, die, state);
        }
        debug_assert!(
            state.phase == DiePhase::Sensing,
            "die {die} has an event while it is {:?}",
            state.phase
        );
        let transfer = self.context.timing.transfer(self.context.ops[state.current].units());
        state.phase = DiePhase::ReadTransfer;
        let (op, channel) = (state.current, state.channel);
        let end = self.book_read::<PLAIN>(now, channel, transfer);
        if !PLAIN {
            self.context.update_accounts(move |accounts| accounts.begin_transfer(now, die, op));
        }
        self.context.events.set_die(die, end);
        DieStep::Nothing
    }

    /// Senses read `op`, which has just ended with bad data, again, before the die, still free, does anything else.
    ///
    /// # Panics
    /// If the die has taken up something meanwhile.
    pub fn sense_again(&mut self, now: Nanos, die: DieId, op: FlashOp<T>) -> DieStep {
        assert!(self.is_free(die), "die {die} has taken up something else before a re-read");
        let op = self.context.ops.insert(op);
        self.context.update_accounts(move |accounts| accounts.resume_read(op));
        if !self.context.pipes.is_empty() && self.context.must_wait(die, op) {
            self.dies[die].reads.push_front(&mut self.context.ops, op);
            return DieStep::Nothing;
        }
        let Self { dies, context } = self;
        context.start_read::<false>(now, die, &mut dies[die], op)
    }

    /// Holds the die of read `op`, which has just ended, until `until`, when its data has been decoded: the die, still free, does nothing before, and
    /// then the read ends again.
    ///
    /// # Panics
    /// If the die has taken up something meanwhile.
    pub fn hold_read(&mut self, now: Nanos, die: DieId, op: FlashOp<T>, until: Nanos) {
        assert!(self.is_free(die), "die {die} has taken up something else before its read was decoded");
        let op = self.context.ops.insert(op);
        if !self.context.pipes.is_empty() {
            let Self { dies, context } = self;
            context.hold_in_pipe(now, die, &mut dies[die], op, until);
            return;
        }
        let state = &mut self.dies[die];
        state.begin(now, op);
        state.phase = DiePhase::ReadTransfer;
        self.context.update_accounts(move |accounts| accounts.hold_read(now, die, op));
        self.context.events.set_die(die, until);
    }
}
