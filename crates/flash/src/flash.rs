//! The room: its construction, submission of operations, events of dies.

use crate::accounts::FlashAccounts;
use crate::channel::FlashChannel;
use crate::die::{DiePhase, FlashDie};
use crate::die_step::{CoreDemand, DieStep};
use crate::events::{FlashEvents, FlashSource};
use crate::op::{FlashOp, FlashOpId, InternalTask};
use crate::op_kind::MOST_MODES;
use crate::passes::Passes;
use crate::pipe::{PipeRules, ReadPipe};
use crate::think::ThinkingSlots;
use crate::transfer_queue::TransferQueue;
use outlast_media::{
    ArrayWork, CellMode, ChannelOrder, ConfigError, Geometry, ProgramUnit, SuspendConfig, Timing,
    TimingTable, TwoPassConfig,
};
use outlast_units::slab::Slab;
use outlast_units::{Bytes, ChannelId, CoreId, DieId, IndexVec, Nanos, to_count};
use std::collections::VecDeque;

/// Dies and channels of a drive, with the operations that wait for them or are under way.
///
/// **Priorities** on a die: reads, then host programs, then garbage collection, then background tasks. When collection is [urgent](CoreDemand), it
/// goes before host programs, and once in nine operations before reads, so that it cannot starve. Channels serve first come, first served.
#[derive(Clone, Debug, outlast_persist::Restore)]
pub struct Flash<T> {
    #[persist(each)]
    pub(crate) dies: IndexVec<DieId, FlashDie>,
    pub(crate) context: DieContext<T>,
}

/// The surroundings of a die: parts of the room of which there is one for all dies. Methods that concern one die alone take its state, which is looked up once for
/// each event, and no other die's.
#[derive(Clone, Debug, outlast_persist::Restore)]
pub(crate) struct DieContext<T> {
    #[persist(each)]
    pub(crate) channels: IndexVec<ChannelId, FlashChannel>,
    pub(crate) events: FlashEvents,
    pub(crate) ops: Slab<FlashOp<T>>,
    #[persist(skip)]
    pub(crate) timing: TimingTable,
    #[persist(skip)]
    pub(crate) unit: ProgramUnit,
    /// Time that command cycles and the data of a whole program unit take on the channel.
    #[persist(skip)]
    pub(crate) program_transfer: Nanos,
    #[persist(skip)]
    pub(crate) suspend: Option<SuspendConfig>,
    /// True if reads that were left waiting when an operation began or was resumed suspend it.
    #[persist(skip)]
    pub(crate) suspends_for_waiting: bool,
    #[persist(skip)]
    pub(crate) program_every: u8,
    #[persist(skip)]
    pub(crate) background_every: u8,
    /// Slots of internal operations that are taken, and how many there are.
    pub(crate) internal: u32,
    #[persist(skip)]
    pub(crate) internal_max: u32,
    pub(crate) thinking: ThinkingSlots,
    /// Dies that have internal work and wait until one more internal operation may start.
    pub(crate) waiting: VecDeque<DieId>,
    /// True while the reads of a command are being queued, before any die takes one up; and the dies that have some.
    pub(crate) gathering: bool,
    pub(crate) gathered: Vec<DieId>,
    pub(crate) suspends: u64,
    /// Transfers of data to be programmed that let data of reads go first, by channel; empty where the channel serves first come, first served.
    pub(crate) transfer_queues: Vec<TransferQueue>,
    /// Reads that each die works on, where they may be several; else empty.
    pub(crate) pipes: Vec<ReadPipe>,
    /// Rules by which they overlap.
    #[persist(skip)]
    pub(crate) piping: PipeRules,
    pub(crate) passes: Passes,
    /// Accounts of dies and reads; absent unless [`Flash::keep_accounts`] was called.
    #[persist(skip)]
    pub(crate) accounts: Option<Box<FlashAccounts>>,
    /// True if there are none of the extras: `transfer_queues`, `pipes`, `passes`, `accounts`, `suspends_for_waiting`. Functions with `PLAIN` true are compiled
    /// without them: one comparison at the entry stands for all (decision 0071).
    #[persist(skip)]
    pub(crate) plain: bool,
}

/// Settings that [`Flash::new`] builds the room from.
#[derive(Clone, Debug)]
pub struct FlashSetup<'a> {
    /// The drive's dies and channels.
    pub geometry: &'a Geometry,
    /// Times of operations in the first mode.
    pub timing: &'a Timing,
    /// Further modes of superblocks.
    pub modes: &'a [CellMode],
    /// User bytes of a unit.
    pub unit_size: Bytes,
    /// Shape of a program unit: its pages, and the units on them.
    pub program_unit: ProgramUnit,
    /// Page rows that are programmed together.
    pub one_shot: u32,
    /// Two passes of programs in the first mode; absent: one.
    pub two_pass: Option<TwoPassConfig>,
    /// The flash core that each die belongs to.
    pub cores: &'a IndexVec<DieId, CoreId>,
    /// Reads that may go before a host program that waits.
    pub program_every: u8,
    /// Other operations that may go before one of a background task.
    pub background_every: u8,
    /// Internal operations that may be under way at once; as many as there are dies where nothing is said.
    pub internal_operations: Option<u32>,
    /// Time after an internal operation until the next may take its place.
    pub think_time: Nanos,
}

/// Result of an event on a die.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub enum DieEvent<T> {
    /// No operation has ended: the die works on in another phase, or has begun to read while one is suspended.
    Continues(DieStep),
    /// The coarse pass of a program in two passes has ended, and its die is free: as [`DieEvent::Ended`], but the operation stays in the room. Its slot, if
    /// it is internal, has been freed.
    Passed(FlashOp<T>),
    /// An operation has ended and its die is free: see the order of calls in the crate's documentation.
    Ended(FlashOp<T>),
}

impl<T: Copy> Flash<T> {
    /// Sets that on a die that is never idle one in `every` operations is of a background task.
    pub fn set_background_every(&mut self, every: u8) {
        debug_assert!(every != 0, "a background task has its turn every so often");
        self.context.background_every = every;
    }

    /// Dies at rest.
    ///
    /// # Errors
    /// A time that no flash operation takes.
    ///
    /// # Panics
    /// If there are more modes than an operation can name.
    pub fn new(setup: &FlashSetup) -> Result<Self, ConfigError> {
        let FlashSetup { geometry, cores, program_unit, .. } = *setup;
        let units = program_unit.units();
        let die = |(die, &core): (DieId, &CoreId)| FlashDie::new(geometry.locate(die).channel, core);
        let mut timing = TimingTable::new(setup.timing, geometry, setup.unit_size, units, setup.one_shot)?;
        assert!(setup.modes.len() < MOST_MODES, "{} further modes", setup.modes.len());
        setup.modes.iter().try_for_each(|mode| timing.add_mode(mode))?;
        let lets_reads_go = setup.timing.channel == ChannelOrder::ReadsFirst;
        let piping = PipeRules::new(setup.timing);
        let heeds = |suspend: SuspendConfig| {
            let works = [ArrayWork::Program, ArrayWork::Erase].into_iter();
            works.filter(|&work| suspend.limit_of(work) != 0).any(|work| suspend.heeds_waiting_reads(work))
        };
        let suspends_for_waiting = setup.timing.suspend.is_some_and(heeds);
        let context = DieContext {
            channels: IndexVec::filled(FlashChannel::default(), usize::from(geometry.channels)),
            events: FlashEvents::new(cores.len(), setup.think_time != Nanos::ZERO),
            ops: Slab::default(),
            // The whole program unit travels, padding included.
            program_transfer: timing.command() + timing.transfer(units),
            timing,
            unit: program_unit,
            suspend: setup.timing.suspend,
            suspends_for_waiting,
            program_every: setup.program_every,
            background_every: setup.background_every,
            internal: 0,
            internal_max: setup.internal_operations.unwrap_or(to_count(cores.len())),
            thinking: ThinkingSlots::new(setup.think_time),
            waiting: VecDeque::new(),
            gathering: false,
            gathered: Vec::new(),
            suspends: 0,
            transfer_queues: if lets_reads_go {
                vec![TransferQueue::default(); usize::from(geometry.channels)]
            } else {
                Vec::new()
            },
            pipes: if piping.is_needed() { vec![ReadPipe::default(); cores.len()] } else { Vec::new() },
            piping,
            passes: Passes::new(setup.two_pass, program_unit.rows, cores.len()),
            accounts: None,
            plain: !(lets_reads_go || piping.is_needed() || suspends_for_waiting || setup.two_pass.is_some()),
        };
        Ok(Self { dies: cores.iter_indexed().map(die).collect(), context })
    }

    /// Times of operations.
    pub fn timing(&self) -> &TimingTable {
        &self.context.timing
    }

    /// The latest time that an event can have.
    pub fn horizon(&self) -> Nanos {
        self.context.events.horizon()
    }

    /// Time of the earliest event; [`Nanos::MAX`] when there is none.
    #[inline]
    pub fn next_event(&self) -> Nanos {
        self.context.events.next()
    }

    /// Source of the earliest event.
    #[inline]
    pub fn next_source(&self) -> FlashSource {
        self.context.events.next_source()
    }

    /// The flash core of die `die`.
    #[inline]
    pub fn core_of(&self, die: DieId) -> CoreId {
        self.dies[die].core
    }

    /// True if die `die` is idle.
    #[inline]
    pub fn is_idle(&self, die: DieId) -> bool {
        self.dies[die].phase == DiePhase::Idle
    }

    /// True if a read of `die` may have just ended.
    pub(crate) fn is_free(&self, die: DieId) -> bool {
        matches!(self.dies[die].phase, DiePhase::Idle | DiePhase::Reading)
    }

    /// True if all dies are idle.
    pub fn all_idle(&self) -> bool {
        self.dies.iter().all(|die| die.phase == DiePhase::Idle)
    }

    /// An operation that has been submitted and not handed back.
    #[inline]
    pub fn op(&self, op: FlashOpId) -> &FlashOp<T> {
        &self.context.ops[op.0]
    }

    /// The read whose units `die` is sensing.
    #[inline]
    pub fn sensed(&self, die: DieId) -> FlashOpId {
        let state = &self.dies[die];
        debug_assert!(
            matches!(state.phase, DiePhase::Sensing | DiePhase::Reading),
            "die {die} senses nothing"
        );
        FlashOpId(state.current)
    }

    /// Tag of an operation that has been submitted and not handed back, to be changed.
    #[inline]
    pub fn tag_mut(&mut self, op: FlashOpId) -> &mut T {
        &mut self.context.ops[op.0].tag
    }

    /// Makes `die` take up its next operation, if it is idle; or one more read, if it works on reads and may begin another beside them.
    #[inline]
    pub fn wake(&mut self, now: Nanos, die: DieId, demands: impl Fn(CoreId) -> CoreDemand) -> DieStep {
        self.wake_of::<false>(now, die, demands)
    }

    /// As [`Flash::wake`], with `PLAIN` in a room that [is plain](Flash::is_plain), where the die chooses in the frame of the caller.
    #[allow(clippy::inline_always, reason = "after nearly every event of a die")]
    #[inline(always)]
    pub fn wake_of<const PLAIN: bool>(
        &mut self,
        now: Nanos,
        die: DieId,
        demands: impl Fn(CoreId) -> CoreDemand,
    ) -> DieStep {
        let Self { dies, context } = self;
        let state = &mut dies[die];
        match state.phase {
            DiePhase::Idle if PLAIN => context.pick_next::<true>(now, die, state, demands),
            DiePhase::Idle => context.take_turn::<false>(now, die, state, demands),
            DiePhase::Reading if !PLAIN => context.begin_another_read(now, die, state, demands),
            _ => DieStep::Nothing,
        }
    }

    /// True if there are none of the extras: reads beside each other, reads first on a channel, suspension for reads that were left waiting,
    /// programs in two passes, accounts.
    #[inline]
    pub fn is_plain(&self) -> bool {
        self.context.plain
    }

    /// Announces reads of `task` on `die`: the task is asked when its turn comes, until it [answers](crate::TaskReadAnswer::Nothing) that it has no more.
    #[inline]
    pub fn add_task_reads(&mut self, die: DieId, task: InternalTask) {
        self.dies[die].tasks |= 1 << task as u8;
    }
}
