//! Operations that come in: queued, joined, begun or set before one that is suspended.

use crate::die::{DiePhase, FlashDie};
use crate::die_step::{CoreDemand, DieStep};
use crate::flash::{DieContext, Flash};
use crate::op::{DieQueue, FlashOp, OpList};
use outlast_units::slab::NIL;
use outlast_units::{CoreId, DieId, Nanos};

impl<T: Copy> Flash<T> {
    /// Queues `op` on `die`, which takes it up at once if it is idle; a read may suspend what the die does. `demands` gives the demands of a core.
    /// Reads of a command that is being gathered are queued only.
    #[allow(
        clippy::inline_always,
        reason = "called with an operation in memory, its fields just written one by one, copying it waits until all stores before are in \
                  the cache: a miss for each unit that collection has moved"
    )]
    #[inline(always)]
    pub fn submit(
        &mut self,
        now: Nanos,
        die: DieId,
        queue: DieQueue,
        op: FlashOp<T>,
        demands: impl Fn(CoreId) -> CoreDemand,
    ) -> DieStep {
        let kind = op.kind();
        let Self { dies, context } = self;
        let state = &mut dies[die];
        let op = context.ops.insert(op);
        if queue == DieQueue::Reads && context.plain && !context.gathering && state.has_nothing_to_do() {
            // Does what `take_turn` would, which has no choice here.
            state.count_only_read(demands(state.core));
            return context.start_read_here::<true>(now, die, state, op);
        }
        state.list(queue).push(&mut context.ops, op);
        if !context.plain {
            context.update_accounts(move |accounts| accounts.add_op(now, die, op, kind, queue));
            if context.passes.are_on() {
                context.passes.note(&context.ops, die, queue, op);
            }
            return context.begin_submitted_with_extras(now, die, state, op, queue, demands);
        }
        context.begin_submitted::<true>(now, die, state, op, queue, demands)
    }

    /// Queues `op`; the die does not take it up before it is next woken.
    pub fn enqueue(&mut self, now: Nanos, die: DieId, queue: DieQueue, op: FlashOp<T>) -> u32 {
        let kind = op.kind();
        let op = self.context.ops.insert(op);
        self.context.update_accounts(move |accounts| accounts.add_op(now, die, op, kind, queue));
        self.dies[die].list(queue).push(&mut self.context.ops, op);
        if self.context.passes.are_on() {
            self.context.passes.note(&self.context.ops, die, queue, op);
        }
        op
    }

    /// Adds `unit` to a read that waits on `die` and that `is_same` accepts as of the same program unit and command; false if there is none. While a
    /// command is being gathered all of its reads are compared, else the last in the queue.
    #[inline]
    pub fn join_read(&mut self, die: DieId, unit: u32, is_same: impl Fn(&T) -> bool) -> bool {
        let state = &self.dies[die];
        // Reads of the command being gathered are at the end of the queue, so the first of them is where the search begins.
        let first = if self.context.gathering { state.gathered } else { state.reads.last() };
        let fits = |op: &FlashOp<T>| op.mask >> unit & 1 == 0 && is_same(&op.tag);
        OpList::find_from(&mut self.context.ops, first, fits).map(|op| op.add_unit(unit)).is_some()
    }

    /// Begins to gather the reads of a command: they are queued only, so that an idle die, too, senses a page once for all units that the command
    /// needs of it.
    #[inline]
    pub fn begin_gathering(&mut self) {
        debug_assert!(
            !self.context.gathering && self.context.gathered.is_empty(),
            "two commands gathered at once"
        );
        self.context.gathering = true;
    }

    /// Ends the gathering of a command. Returns the dies that have reads of it, each of which is to [start or suspend](Flash::start_or_suspend), in
    /// this order; the list is to be given back with [`Flash::return_gathered`].
    pub fn end_gathering(&mut self) -> Vec<DieId> {
        debug_assert!(self.context.gathering, "no command is being gathered");
        self.context.gathering = false;
        let dies = std::mem::take(&mut self.context.gathered);
        for &die in &dies {
            self.dies[die].gathered = NIL;
        }
        dies
    }

    /// Takes back the list that [`Flash::end_gathering`] returned, for its memory.
    pub fn return_gathered(&mut self, mut dies: Vec<DieId>) {
        dies.clear();
        self.context.gathered = dies;
    }

    /// Makes `die`, for which a read waits, take it up if it is idle, or suspend a program or erase for it.
    pub fn start_or_suspend(
        &mut self,
        now: Nanos,
        die: DieId,
        demands: impl Fn(CoreId) -> CoreDemand,
    ) -> DieStep {
        let Self { dies, context } = self;
        context.start_or_suspend::<false>(now, die, &mut dies[die], demands)
    }
}

impl<T: Copy> DieContext<T> {
    #[inline(never)]
    fn begin_submitted_with_extras(
        &mut self,
        now: Nanos,
        die: DieId,
        state: &mut FlashDie,
        op: u32,
        queue: DieQueue,
        demands: impl Fn(CoreId) -> CoreDemand,
    ) -> DieStep {
        self.begin_submitted::<false>(now, die, state, op, queue, demands)
    }

    /// Makes `die` respond to operation `op`, which is in `queue`.
    #[allow(clippy::inline_always, reason = "as Flash::submit")]
    #[inline(always)]
    fn begin_submitted<const PLAIN: bool>(
        &mut self,
        now: Nanos,
        die: DieId,
        state: &mut FlashDie,
        op: u32,
        queue: DieQueue,
        demands: impl Fn(CoreId) -> CoreDemand,
    ) -> DieStep {
        // An operation that is no read does not suspend another: it begins now or waits.
        if queue != DieQueue::Reads
            && (PLAIN || state.phase == DiePhase::Array)
            && state.phase != DiePhase::Idle
        {
            return DieStep::Nothing;
        }
        if queue != DieQueue::Reads || !self.gathering {
            return self.start_or_suspend::<PLAIN>(now, die, state, demands);
        }
        if state.gathered == NIL {
            state.gathered = op;
            self.gathered.push(die);
        }
        DieStep::Nothing
    }

    /// Makes `die`, for which an operation waits, take it up if it is idle, or suspend a program or erase for it; with `PLAIN` in a room that
    /// [is plain](Flash::is_plain).
    #[allow(clippy::inline_always, reason = "as Flash::submit")]
    #[inline(always)]
    fn start_or_suspend<const PLAIN: bool>(
        &mut self,
        now: Nanos,
        die: DieId,
        state: &mut FlashDie,
        demands: impl Fn(CoreId) -> CoreDemand,
    ) -> DieStep {
        match state.phase {
            DiePhase::Idle => return self.take_turn::<PLAIN>(now, die, state, demands),
            DiePhase::Array if self.suspend.is_some() => self.suspend_if_worthwhile(now, die, state, demands),
            DiePhase::Reading if !PLAIN => return self.begin_another_read(now, die, state, demands),
            _ => {}
        }
        DieStep::Nothing
    }
}
