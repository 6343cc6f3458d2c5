//! Reads that a die works on at once: on different planes, and leaving the die while the array senses others.
//!
//! Used only where planes read independently or there is a cache register: else a die works on one read, and keeps nothing here. Reads begin beside
//! others in the order in which they wait; one whose planes are not free lets others go first, but none that needs the same planes (decision 0061).

use crate::die::{DiePhase, FlashDie};
use crate::die_step::{CoreDemand, DieStep};
use crate::flash::{DieContext, DieEvent, Flash};
use crate::turn::HOST_IN_A_ROW;
use outlast_media::{PlaneReads, Timing};
use outlast_units::slab::NIL;
use outlast_units::{CoreId, DieId, Nanos};

/// Stage of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, outlast_persist::Persist)]
enum PipeStage {
    /// tR runs.
    Sensing,
    /// Waits until the cache register is free.
    Sensed,
    /// tRCBSY runs.
    Caching,
    /// Data goes out over the channel.
    Sending,
    /// Data is out and being decoded.
    Held,
}

/// A read that a die works on.
#[derive(Clone, Copy, Debug, outlast_persist::Persist)]
struct PipeSlot {
    op: u32,
    stage: PipeStage,
    /// The planes on which its pages lie, one bit each.
    planes: u64,
    /// When its next stage begins; [`Nanos::MAX`] if that depends on another read.
    until: Nanos,
}

/// The reads that one die works on.
#[derive(Clone, Debug, Default, outlast_persist::Persist)]
pub(crate) struct ReadPipe {
    slots: Vec<PipeSlot>,
}

/// Rules by which reads of a die overlap.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PipeRules {
    by_plane: bool,
    cache: Option<Nanos>,
}

impl PipeRules {
    pub(crate) fn new(timing: &Timing) -> Self {
        Self { by_plane: timing.plane_reads == PlaneReads::Independent, cache: timing.cache_read }
    }

    /// True if a die may work on several reads at once.
    pub(crate) fn is_needed(self) -> bool {
        self.by_plane || self.cache.is_some()
    }
}

impl ReadPipe {
    /// The reads under way.
    pub(crate) fn ops(&self) -> impl Iterator<Item = u32> {
        self.slots.iter().map(|slot| slot.op)
    }

    /// When the next stage of any of them begins.
    fn next(&self) -> Nanos {
        self.slots.iter().map(|slot| slot.until).min().unwrap_or(Nanos::MAX)
    }

    /// Planes of the reads in one of `stages`.
    fn planes_in(&self, stages: &[PipeStage]) -> u64 {
        let in_stages = self.slots.iter().filter(|slot| stages.contains(&slot.stage));
        in_stages.fold(0, |planes, slot| planes | slot.planes)
    }
}

impl<T: Copy> DieContext<T> {
    /// The planes on which the pages of read `op` lie.
    fn planes_of(&self, op: u32) -> u64 {
        if self.piping.by_plane { self.unit.planes_of(self.ops[op].mask) } else { 1 }
    }

    /// Planes of `die` that cannot begin to sense. With a cache register a plane can once its data has left for the cache.
    fn planes_taken(&self, die: DieId) -> u64 {
        let pipe = &self.pipes[die.index()];
        if self.piping.cache.is_some() {
            pipe.planes_in(&[PipeStage::Sensing, PipeStage::Sensed, PipeStage::Caching])
        } else {
            pipe.slots.iter().fold(0, |planes, slot| planes | slot.planes)
        }
    }

    /// True if a plane that read `op` needs is taken.
    pub(crate) fn must_wait(&self, die: DieId, op: u32) -> bool {
        self.planes_taken(die) & self.planes_of(op) != 0
    }

    /// Begins to sense the `pages` pages of read `op` on `die`, which takes `sense`.
    #[inline(never)]
    pub(crate) fn begin_in_pipe(
        &mut self,
        now: Nanos,
        die: DieId,
        state: &mut FlashDie,
        op: u32,
        sense: Nanos,
        pages: u32,
    ) -> DieStep {
        debug_assert!(!self.must_wait(die, op), "a plane of die {die} senses two pages at once");
        let start = self.channels[state.channel].interleave(now, self.timing.command());
        self.update_accounts(move |accounts| accounts.begin_sensing(now, die, op));
        self.add_to_pipe(now, die, state, op, PipeStage::Sensing, start + sense);
        DieStep::SensingBeside(pages)
    }

    /// Holds read `op` of `die`, whose data is known to be good or not at `until`.
    pub(crate) fn hold_in_pipe(
        &mut self,
        now: Nanos,
        die: DieId,
        state: &mut FlashDie,
        op: u32,
        until: Nanos,
    ) {
        self.update_accounts(move |accounts| accounts.hold_read(now, die, op));
        self.add_to_pipe(now, die, state, op, PipeStage::Held, until);
    }

    fn add_to_pipe(
        &mut self,
        now: Nanos,
        die: DieId,
        state: &mut FlashDie,
        op: u32,
        stage: PipeStage,
        until: Nanos,
    ) {
        let planes = self.planes_of(op);
        state.begin(now, op);
        state.phase = DiePhase::Reading;
        let pipe = &mut self.pipes[die.index()];
        pipe.slots.push(PipeSlot { op, stage, planes, until });
        self.events.set_die(die, pipe.next());
    }

    /// Begins one more read on `die` beside those that it works on, unless another operation has waited for its turn: then the die first ends these.
    pub(crate) fn begin_another_read(
        &mut self,
        now: Nanos,
        die: DieId,
        state: &mut FlashDie,
        demands: impl Fn(CoreId) -> CoreDemand,
    ) -> DieStep {
        let Some((before, op)) = self.first_startable(die, state) else { return DieStep::Nothing };
        if let Some(suspended) = &mut state.suspended {
            if suspended.reads_left == 0 {
                return DieStep::Nothing;
            }
            suspended.reads_left -= 1;
        } else {
            let demand = demands(state.core);
            let background = demand.background || !state.background.is_empty();
            let collects = demand.urgent && state.has_internal_work();
            if background && state.since_background >= self.background_every
                || collects && state.host_in_a_row >= HOST_IN_A_ROW
                || !state.programs.is_empty() && state.reads_in_a_row >= self.program_every
            {
                return DieStep::Nothing;
            }
            if background {
                state.since_background = state.since_background.saturating_add(1);
            }
            state.reads_in_a_row = if state.programs.is_empty() { 0 } else { state.reads_in_a_row + 1 };
            state.host_in_a_row = if demand.urgent { state.host_in_a_row.saturating_add(1) } else { 0 };
        }
        state.reads.remove(&mut self.ops, before, op);
        self.start_read::<false>(now, die, state, op)
    }

    /// The first waiting read of `die` whose planes are neither taken nor needed by a read that waits before it; preceded by the operation before it
    /// in the queue ([`NIL`]: none), from which it is unlinked.
    fn first_startable(&self, die: DieId, state: &FlashDie) -> Option<(u32, u32)> {
        let mut taken = self.planes_taken(die);
        let all = if self.piping.by_plane { u64::MAX >> (64 - self.unit.planes) } else { 1 };
        let mut before = NIL;
        for op in state.reads.iter(&self.ops) {
            if taken == all {
                break;
            }
            let planes = self.planes_of(op);
            if taken & planes == 0 {
                return Some((before, op));
            }
            taken |= planes;
            before = op;
        }
        None
    }
}

impl<T: Copy> Flash<T> {
    /// Handles what is due of the reads that `die` works on.
    pub(crate) fn handle_pipe_event(&mut self, now: Nanos, die: DieId) -> DieEvent<T> {
        let pipe = &self.context.pipes[die.index()];
        let due = pipe.slots.iter().position(|slot| slot.until <= now);
        let Some(index) = due else { unreachable!("no read of die {die} is due") };
        let PipeSlot { op, stage, planes, .. } = pipe.slots[index];
        match (stage, self.context.piping.cache) {
            (PipeStage::Sensing, Some(cache)) => {
                // The page leaves for the cache register if that of its planes is free; else it stays in the page register, and the
                // planes can sense nothing.
                let is_free = pipe.planes_in(&[PipeStage::Caching, PipeStage::Sending]) & planes == 0;
                let (stage, until) =
                    if is_free { (PipeStage::Caching, now + cache) } else { (PipeStage::Sensed, Nanos::MAX) };
                self.set_stage(die, index, stage, until);
                DieEvent::Continues(DieStep::Nothing)
            }
            (PipeStage::Sensing | PipeStage::Caching, _) => {
                let transfer = self.context.timing.transfer(self.context.ops[op].units());
                let end = self.book_read::<false>(now, self.dies[die].channel, transfer);
                self.context.update_accounts(move |accounts| {
                    accounts.begin_transfer(now, die, op);
                    accounts.continue_reads(now, die);
                });
                self.set_stage(die, index, PipeStage::Sending, end);
                DieEvent::Continues(if stage == PipeStage::Caching {
                    DieStep::PlaneFree
                } else {
                    DieStep::Nothing
                })
            }
            (PipeStage::Sending | PipeStage::Held, _) => self.finish_read(now, die, index),
            (PipeStage::Sensed, _) => unreachable!("a read that waits for the cache register is not due"),
        }
    }

    fn set_stage(&mut self, die: DieId, index: usize, stage: PipeStage, until: Nanos) {
        let pipe = &mut self.context.pipes[die.index()];
        (pipe.slots[index].stage, pipe.slots[index].until) = (stage, until);
        self.context.events.set_die(die, pipe.next());
    }

    /// Ends the read in slot `index`, whose data is out: the cache register of its planes is free for the next.
    fn finish_read(&mut self, now: Nanos, die: DieId, index: usize) -> DieEvent<T> {
        let slot = self.context.pipes[die.index()].slots.remove(index);
        if let Some(cache) = self.context.piping.cache {
            let pipe = &mut self.context.pipes[die.index()];
            // Slots are in the order in which reads began: of several that need the cache register the first has it.
            for next in 0..pipe.slots.len() {
                let taken = pipe.planes_in(&[PipeStage::Caching, PipeStage::Sending]);
                let waits = &mut pipe.slots[next];
                if waits.stage == PipeStage::Sensed && waits.planes & taken == 0 {
                    (waits.stage, waits.until) = (PipeStage::Caching, now + cache);
                }
            }
        }
        let op = self.context.ops[slot.op];
        self.context.ops.remove(slot.op);
        self.context.update_accounts(move |accounts| accounts.end_op(now, die, slot.op, op.kind()));
        let pipe = &self.context.pipes[die.index()];
        if pipe.slots.is_empty() {
            self.dies[die].release(now);
        } else {
            self.context.events.set_die(die, pipe.next());
            self.context.update_accounts(move |accounts| accounts.continue_reads(now, die));
        }
        DieEvent::Ended(op)
    }
}
