//! The room: what it is built from, submission, events.

use crate::channel::Channel;
use crate::clock::Clocks;
use crate::die::{Die, Phase};
use crate::events::{FlashEvents, FlashSource};
use crate::line::Line;
use crate::next::{Demand, Next};
use crate::op::{Kind, List, Op, OpId, Queue, Task};
use crate::pipe::{Pipe, Piping};
use crate::think::Thinking;
use outlast_media::{ChannelOrder, ConfigError, Geometry, ProgramUnit, SuspendConfig, Timing, TimingTable};
use outlast_units::slab::{NIL, Slab};
use outlast_units::{Bytes, ChannelId, CoreId, DieId, IndexVec, Nanos};
use std::collections::VecDeque;

/// Dies, channels, and the events of a drive.
///
/// **Priorities** on a die: reads, then host programs, then garbage collection, then background tasks. When collection is
/// [urgent](Demand), it goes before host programs, and every so often before reads, so that it cannot starve. Channels serve
/// first come, first served.
#[derive(Clone, Debug, outlast_persist::Restore)]
pub struct Flash<T> {
    #[persist(each)]
    pub(crate) dies: IndexVec<DieId, Die>,
    #[persist(each)]
    pub(crate) channels: IndexVec<ChannelId, Channel>,
    pub(crate) events: FlashEvents,
    pub(crate) ops: Slab<Op<T>>,
    #[persist(skip)]
    pub(crate) timing: TimingTable,
    #[persist(skip)]
    pub(crate) unit: ProgramUnit,
    /// How long command cycles and the data of a whole program unit hold the channel.
    #[persist(skip)]
    pub(crate) program_transfer: Nanos,
    #[persist(skip)]
    pub(crate) suspend: Option<SuspendConfig>,
    /// Whether reads that were left waiting when an operation began or went on suspend it.
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
    pub(crate) thinking: Thinking,
    /// Dies that have internal work and wait until one more internal operation may start.
    pub(crate) waiting: VecDeque<DieId>,
    /// Whether the reads of a command are being queued, before any die looks at them; and the dies that have some.
    pub(crate) gathering: bool,
    pub(crate) gathered: Vec<DieId>,
    pub(crate) suspends: u64,
    /// Data to be programmed that lets what has been read go first, by channel; empty where none does.
    pub(crate) lines: Vec<Line>,
    /// The reads that each die works on, where that may be several; else empty.
    pub(crate) pipes: Vec<Pipe>,
    /// How they go beside each other.
    #[persist(skip)]
    pub(crate) piping: Piping,
    /// What dies spend their time on; absent where nobody asks.
    #[persist(skip)]
    pub(crate) clocks: Option<Box<Clocks>>,
    /// Whether there are none of the extras: `lines`, `pipes`, `clocks`, `suspends_for_waiting`. Functions whose parameter `PLAIN` is true do
    /// without: on the way of every operation one comparison stands for all of them.
    #[persist(skip)]
    pub(crate) plain: bool,
}

/// What the room is built from.
#[derive(Clone, Debug)]
pub struct Setup<'a> {
    /// The drive's dies and channels.
    pub geometry: &'a Geometry,
    /// How long operations take.
    pub timing: &'a Timing,
    /// User bytes of a unit.
    pub unit_size: Bytes,
    /// How the units of a program unit lie on its pages.
    pub program_unit: ProgramUnit,
    /// Page rows that are programmed together.
    pub one_shot: u32,
    /// The flash core that each die belongs to.
    pub cores: &'a IndexVec<DieId, CoreId>,
    /// Reads that may go before a host program that waits.
    pub program_every: u8,
    /// Other operations that may go before one of a background task.
    pub background_every: u8,
    /// Internal operations that may be under way at once; as many as there are dies where nothing is said.
    pub internal_operations: Option<u32>,
    /// How long after an internal operation the next may take its place.
    pub think_time: Nanos,
}

/// What an event on a die came to.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub enum Event<T> {
    /// The die is still at work on the same operation, or reads while another is suspended.
    Goes(Next),
    /// An operation has ended and its die is free: see the order of calls in the crate's documentation.
    Ended(Op<T>),
}

impl<T: Copy> Flash<T> {
    /// From now on, on a die that is never idle, one in `every` operations is one of a background task.
    pub fn set_background_every(&mut self, every: u8) {
        debug_assert!(every != 0, "a background task has its turn every so often");
        self.background_every = every;
    }

    /// Dies at rest.
    ///
    /// # Errors
    /// A time that no flash operation takes.
    pub fn new(setup: &Setup) -> Result<Self, ConfigError> {
        let Setup { geometry, cores, program_unit, .. } = *setup;
        let units = program_unit.units();
        let die = |(die, &core): (DieId, &CoreId)| Die::new(geometry.locate(die).channel, core);
        let timing = TimingTable::new(setup.timing, geometry, setup.unit_size, units, setup.one_shot)?;
        let lets_reads_go = setup.timing.channel == ChannelOrder::ReadsFirst;
        let piping = Piping::new(setup.timing);
        let suspends_for_waiting = setup.timing.suspend.is_some_and(|own| own.least_progress.is_some());
        Ok(Self {
            dies: cores.iter_indexed().map(die).collect(),
            channels: IndexVec::filled(Channel::default(), usize::from(geometry.channels)),
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
            internal_max: setup.internal_operations.unwrap_or(cores.len() as u32),
            thinking: Thinking::new(setup.think_time),
            waiting: VecDeque::new(),
            gathering: false,
            gathered: Vec::new(),
            suspends: 0,
            lines: if lets_reads_go {
                vec![Line::default(); usize::from(geometry.channels)]
            } else {
                Vec::new()
            },
            pipes: if piping.is_needed() { vec![Pipe::default(); cores.len()] } else { Vec::new() },
            piping,
            clocks: None,
            plain: !(lets_reads_go || piping.is_needed() || suspends_for_waiting),
        })
    }

    /// How long operations take.
    pub fn timing(&self) -> &TimingTable {
        &self.timing
    }

    /// The latest time that an event can have.
    pub fn horizon(&self) -> Nanos {
        self.events.horizon()
    }

    /// When the earliest event is due; [`Nanos::MAX`] when there is none.
    #[inline]
    pub fn next_event(&self) -> Nanos {
        self.events.next()
    }

    /// Whose the earliest event is.
    #[inline]
    pub fn next_source(&self) -> FlashSource {
        self.events.next_source()
    }

    /// Whether die `die` does nothing.
    #[inline]
    pub fn is_idle(&self, die: DieId) -> bool {
        self.dies[die].phase == Phase::Idle
    }

    /// Whether a read of `die` may have just ended.
    fn is_free(&self, die: DieId) -> bool {
        matches!(self.dies[die].phase, Phase::Idle | Phase::Reading)
    }

    /// Whether no die does anything.
    pub fn all_idle(&self) -> bool {
        self.dies.iter().all(|die| die.phase == Phase::Idle)
    }

    /// An operation that has been submitted and not handed back.
    #[inline]
    pub fn op(&self, op: OpId) -> &Op<T> {
        &self.ops[op.0]
    }

    /// The read whose units `die` is sensing.
    #[inline]
    pub fn sensed(&self, die: DieId) -> OpId {
        let state = &self.dies[die];
        debug_assert!(matches!(state.phase, Phase::Sensing | Phase::Reading), "die {die} senses nothing");
        OpId(state.current)
    }

    /// As [`Flash::op`], to change its tag.
    #[inline]
    pub fn tag_mut(&mut self, op: OpId) -> &mut T {
        &mut self.ops[op.0].tag
    }

    /// Queues `op` on `die`, of whose core `demands` tells what it demands, and which takes it up at once if it is idle; a read may
    /// interrupt what the die does. Reads of a command that is being gathered are queued only.
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
        queue: Queue,
        op: Op<T>,
        demands: impl Fn(CoreId) -> Demand,
    ) -> Next {
        let kind = op.kind;
        let op = self.ops.insert(op);
        self.dies[die].list(queue).push(&mut self.ops, op);
        if !self.plain {
            return self.submitted_with_extras(now, die, (op, kind), queue, demands);
        }
        self.submitted::<true>(now, die, op, queue, demands)
    }

    #[inline(never)]
    fn submitted_with_extras(
        &mut self,
        now: Nanos,
        die: DieId,
        (op, kind): (u32, Kind),
        queue: Queue,
        demands: impl Fn(CoreId) -> Demand,
    ) -> Next {
        self.note(move |clocks| clocks.enters(now, die, op, kind, queue));
        self.submitted::<false>(now, die, op, queue, demands)
    }

    /// Operation `op` is in `queue`.
    #[allow(clippy::inline_always, reason = "as Flash::submit")]
    #[inline(always)]
    fn submitted<const PLAIN: bool>(
        &mut self,
        now: Nanos,
        die: DieId,
        op: u32,
        queue: Queue,
        demands: impl Fn(CoreId) -> Demand,
    ) -> Next {
        if queue != Queue::Reads {
            return self.wake_of::<PLAIN>(now, die, demands);
        }
        if !self.gathering {
            return self.look_up_of::<PLAIN>(now, die, demands);
        }
        let state = &mut self.dies[die];
        if state.gathered == NIL {
            state.gathered = op;
            self.gathered.push(die);
        }
        Next::Nothing
    }

    /// Queues `op`; the die does not look at it before it is next woken.
    pub fn enqueue(&mut self, now: Nanos, die: DieId, queue: Queue, op: Op<T>) -> u32 {
        let kind = op.kind;
        let op = self.ops.insert(op);
        self.note(move |clocks| clocks.enters(now, die, op, kind, queue));
        self.dies[die].list(queue).push(&mut self.ops, op);
        op
    }

    /// Has a read that waits on `die`, and of which `is_same` says that it is of the same program unit and for the same command, sense
    /// `unit`, too; false where there is none. While a command is being gathered all of its reads are looked at, else the last of the
    /// queue.
    #[inline]
    pub fn join(&mut self, die: DieId, unit: u32, is_same: impl Fn(&T) -> bool) -> bool {
        let state = &self.dies[die];
        // What a command being gathered has queued on a die stands at the end of the queue.
        let first = if self.gathering { state.gathered } else { state.reads.last() };
        let fits = |op: &Op<T>| op.mask >> unit & 1 == 0 && is_same(&op.tag);
        List::find_from(&mut self.ops, first, fits).map(|op| op.add_unit(unit)).is_some()
    }

    /// From now on reads are queued only, so that an idle die, too, senses a page once for all units that one command wants of it.
    #[inline]
    pub fn begin_gathering(&mut self) {
        debug_assert!(!self.gathering && self.gathered.is_empty(), "two commands gathered at once");
        self.gathering = true;
    }

    /// All reads of a command have been queued. Returns the dies that have some, each of which is to [look](Flash::look_up) at its
    /// queue, in this order; the list is to be given back with [`Flash::gathered`].
    pub fn end_gathering(&mut self) -> Vec<DieId> {
        debug_assert!(self.gathering, "no command is being gathered");
        self.gathering = false;
        let dies = std::mem::take(&mut self.gathered);
        for &die in &dies {
            self.dies[die].gathered = NIL;
        }
        dies
    }

    /// Gives back what [`Flash::end_gathering`] returned, to be used again.
    pub fn gathered(&mut self, mut dies: Vec<DieId>) {
        dies.clear();
        self.gathered = dies;
    }

    /// A read waits: an idle die takes it up, a busy one may interrupt what it does.
    #[inline]
    pub fn look_up(&mut self, now: Nanos, die: DieId, demands: impl Fn(CoreId) -> Demand) -> Next {
        self.look_up_of::<false>(now, die, demands)
    }

    #[inline]
    fn look_up_of<const PLAIN: bool>(
        &mut self,
        now: Nanos,
        die: DieId,
        demands: impl Fn(CoreId) -> Demand,
    ) -> Next {
        match self.dies[die].phase {
            Phase::Idle => return self.turn::<PLAIN>(now, die, demands),
            Phase::Array => self.maybe_suspend(now, die, demands),
            Phase::Reading if !PLAIN => return self.another(now, die, demands),
            _ => {}
        }
        Next::Nothing
    }

    /// Has `die` take up what comes next, if it is idle; or one more read, if it works on reads and may begin another beside them.
    #[inline]
    pub fn wake(&mut self, now: Nanos, die: DieId, demands: impl Fn(CoreId) -> Demand) -> Next {
        self.wake_of::<false>(now, die, demands)
    }

    /// As [`Flash::wake`]; where `PLAIN`, in a room that [is](Flash::is_plain).
    #[inline]
    pub fn wake_of<const PLAIN: bool>(
        &mut self,
        now: Nanos,
        die: DieId,
        demands: impl Fn(CoreId) -> Demand,
    ) -> Next {
        match self.dies[die].phase {
            Phase::Idle => self.turn::<PLAIN>(now, die, demands),
            Phase::Reading if !PLAIN => self.another(now, die, demands),
            _ => Next::Nothing,
        }
    }

    /// Whether there are none of the extras that let reads go beside each other or first, that suspend for reads that were left waiting, or that
    /// keep account.
    #[inline]
    pub fn is_plain(&self) -> bool {
        self.plain
    }

    /// Does what is due on `die`.
    pub fn event(&mut self, now: Nanos, die: DieId) -> Event<T> {
        if self.dies[die].phase == Phase::Reading {
            return self.pipe_event(now, die);
        }
        if !self.is_about_to_end(die) {
            return Event::Goes(self.go_on_in_phase::<false>(now, die));
        }
        let current = self.dies[die].current;
        let op = self.take_ended(now, die);
        self.note(move |clocks| clocks.ends(now, die, current, op.kind));
        Event::Ended(op)
    }

    /// Whether what is due on `die`, which does not work on several reads at once, is the end of an operation.
    #[inline]
    pub fn is_about_to_end(&self, die: DieId) -> bool {
        matches!(self.dies[die].phase, Phase::ReadTransfer | Phase::Array)
    }

    /// As [`Flash::event`] in a room that [is plain](Flash::is_plain), where no operation is about to end.
    #[inline]
    pub fn go_on(&mut self, now: Nanos, die: DieId) -> Next {
        self.go_on_in_phase::<true>(now, die)
    }

    /// The operation that [is about to end](Flash::is_about_to_end) on `die`, of a room that [is plain](Flash::is_plain): the die is free.
    #[inline]
    pub fn take_ended(&mut self, now: Nanos, die: DieId) -> Op<T> {
        let state = &mut self.dies[die];
        debug_assert!(!state.stale_event, "the event of die {die} has been dealt with");
        let op = self.ops[state.current];
        self.ops.remove(state.current);
        state.credit(op.kind);
        state.release(now);
        op
    }

    #[inline]
    fn go_on_in_phase<const PLAIN: bool>(&mut self, now: Nanos, die: DieId) -> Next {
        let state = &mut self.dies[die];
        debug_assert!(!state.stale_event, "the event of die {die} has been dealt with");
        if state.phase == Phase::Suspending {
            state.credit(self.ops[state.current].kind);
            state.phase = Phase::Sensing;
            return self.turn_while_suspended::<PLAIN>(now, die);
        }
        debug_assert!(state.phase == Phase::Sensing, "die {die} has an event while it is {:?}", state.phase);
        let transfer = self.timing.transfer(self.ops[state.current].units());
        state.phase = Phase::ReadTransfer;
        let (op, channel) = (state.current, state.channel);
        let end = self.book_read::<PLAIN>(now, channel, transfer);
        if !PLAIN {
            self.note(move |clocks| clocks.sends(now, die, op));
        }
        self.events.set_die(die, end);
        Next::Nothing
    }

    /// The data of read `op`, which has just ended, is not what was wanted: the die, still free, senses it again before anything else.
    ///
    /// # Panics
    /// If the die has taken up something meanwhile.
    pub fn sense_again(&mut self, now: Nanos, die: DieId, op: Op<T>) -> Next {
        assert!(self.is_free(die), "die {die} has taken up something else before a re-read");
        let op = self.ops.insert(op);
        self.note(move |clocks| clocks.goes_on(op));
        if !self.pipes.is_empty() && self.is_in_the_way(die, op) {
            self.dies[die].reads.push_front(&mut self.ops, op);
            return Next::Nothing;
        }
        self.start_read::<false>(now, die, op)
    }

    /// The data of read `op`, which has just ended, is there, and its die, still free, does nothing before it is known at `until` what it is
    /// worth; then the read ends again.
    ///
    /// # Panics
    /// If the die has taken up something meanwhile.
    pub fn hold(&mut self, now: Nanos, die: DieId, op: Op<T>, until: Nanos) {
        assert!(self.is_free(die), "die {die} has taken up something else before its read was decoded");
        let op = self.ops.insert(op);
        if !self.pipes.is_empty() {
            self.hold_in_pipe(now, die, op, until);
            return;
        }
        let state = &mut self.dies[die];
        state.begin(now, op);
        state.phase = Phase::ReadTransfer;
        self.note(move |clocks| clocks.holds(now, die, op));
        self.events.set_die(die, until);
    }

    /// Internal operations that are under way, or handed back and not done with, and those whose slot thinks.
    #[inline]
    pub fn internal_operations(&self) -> u32 {
        self.internal
    }

    /// Dies that wait until one more internal operation may start.
    #[inline]
    pub fn dies_waiting(&self) -> usize {
        self.waiting.len()
    }

    /// The die that has waited longest to start an internal operation; it waits no more, and is to be [woken](Flash::wake).
    #[inline]
    pub fn next_waiting(&mut self) -> Option<DieId> {
        let die = self.waiting.pop_front()?;
        debug_assert!(self.dies[die].waiting, "die {die} is listed and does not wait");
        self.dies[die].waiting = false;
        Some(die)
    }

    /// Task `task` wants to read from `die`: it is asked when its turn comes, until it answers that it wants nothing more.
    #[inline]
    pub fn want_reads(&mut self, die: DieId, task: Task) {
        self.dies[die].wanted |= 1 << task as u8;
    }
}
