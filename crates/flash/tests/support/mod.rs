//! A room of a few dies, and a caller that drives it.
#![allow(dead_code, reason = "each test binary uses its own part")]

use outlast_flash::{
    CoreDemand, DieEvent, DieQueue, DieStep, Flash, FlashOp, FlashSetup, FlashSource, InternalTask,
    TaskReadAnswer,
};
use outlast_media::{
    CellMode, ChannelOrder, Geometry, PageTimes, PlaneReads, ProgramUnit, SuspendConfig, Timing,
    TwoPassConfig,
};
use outlast_units::{ByteRate, Bytes, CoreId, DieId, IndexVec, Nanos};
use std::collections::{BTreeMap, VecDeque};

mod ops;

pub(crate) use ops::{erase, internal, place, program, program_time, read, read_of, read_time};

/// Command and address cycles.
pub(crate) const COMMAND: u64 = 200;
/// tR of rows 0, 2, …, and of rows 1, 3, ….
pub(crate) const READ: [u64; 2] = [40_000, 60_000];
/// tPROG, likewise.
pub(crate) const PROGRAM: [u64; 2] = [500_000, 900_000];
/// tBERS.
pub(crate) const ERASE: u64 = 3_500_000;
/// A unit of 4096 bytes over a channel of 1 GB/s.
pub(crate) const UNIT: u64 = 4096;
/// From the suspend command until the die can read, and from the last read until the operation goes on.
pub(crate) const OVERHEAD: u64 = 5_000;

/// Settings of a test.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) channels: u16,
    pub(crate) dies_per_channel: u16,
    pub(crate) cores: u16,
    pub(crate) program_unit: ProgramUnit,
    pub(crate) suspend: Option<SuspendConfig>,
    pub(crate) plane_reads: PlaneReads,
    pub(crate) cache_read: Option<u64>,
    pub(crate) channel: ChannelOrder,
    pub(crate) command: u64,
    pub(crate) program_every: u8,
    pub(crate) background_every: u8,
    pub(crate) internal: Option<u32>,
    pub(crate) think_time: u64,
    pub(crate) modes: &'static [CellMode],
    pub(crate) two_pass: Option<TwoPassConfig>,
}

impl Default for Shape {
    /// One die, two planes, a unit a page.
    fn default() -> Self {
        Self {
            channels: 1,
            dies_per_channel: 1,
            cores: 1,
            program_unit: ProgramUnit { planes: 2, rows: 1, pages_per_unit: 1, units_per_page: 1 },
            suspend: None,
            plane_reads: PlaneReads::Together,
            cache_read: None,
            channel: ChannelOrder::Fifo,
            command: COMMAND,
            program_every: 64,
            background_every: 32,
            internal: None,
            think_time: 0,
            modes: &[],
            two_pass: None,
        }
    }
}

impl Shape {
    pub(crate) fn suspending(limit: u8, reads: u8) -> Self {
        let suspend = SuspendConfig::both(Nanos(OVERHEAD), limit, reads);
        Self { suspend: Some(suspend), ..Self::default() }
    }

    pub(crate) fn dies(&self) -> u16 {
        self.channels * self.dies_per_channel
    }

    fn geometry(&self) -> Geometry {
        Geometry {
            channels: self.channels,
            chips_per_channel: self.dies_per_channel,
            dies_per_chip: 1,
            planes_per_die: self.program_unit.planes as u16,
            blocks_per_plane: 64,
            pages_per_block: 64,
            page_size: Bytes(4096),
            spare_per_page: Bytes(0),
        }
    }

    pub(crate) fn channel(&self, die: DieId) -> usize {
        usize::from(self.geometry().locate(die).channel.0)
    }
}

/// Tag of an operation: its number, and true if it is internal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Tag {
    pub(crate) number: u32,
    pub(crate) internal: bool,
}

/// An operation that has ended.
pub(crate) type Ended = (u64, u16, u32);

/// The room and what drives it.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    pub(crate) room: Flash<Tag>,
    pub(crate) now: Nanos,
    pub(crate) ended: Vec<Ended>,
    /// Coarse passes that have ended.
    pub(crate) passed: Vec<Ended>,
    /// Pages sensed.
    pub(crate) pages: u64,
    /// By core.
    pub(crate) demands: Vec<CoreDemand>,
    /// Reads that a task has announced, by die and task.
    pub(crate) announced: BTreeMap<(u16, u8), VecDeque<FlashOp<Tag>>>,
}

impl Caller {
    pub(crate) fn new(shape: &Shape) -> Self {
        let timing = Timing {
            read: PageTimes::ByType(READ.map(Nanos).to_vec()),
            program: PageTimes::ByType(PROGRAM.map(Nanos).to_vec()),
            erase: Nanos(ERASE),
            bus: ByteRate::new(1_000_000_000).expect("not zero"),
            command: Nanos(shape.command),
            suspend: shape.suspend,
            plane_reads: shape.plane_reads,
            cache_read: shape.cache_read.map(Nanos),
            channel: shape.channel,
        };
        let cores: IndexVec<DieId, CoreId> = (0..shape.dies()).map(|die| CoreId(die % shape.cores)).collect();
        let room = Flash::new(&FlashSetup {
            geometry: &shape.geometry(),
            timing: &timing,
            modes: shape.modes,
            unit_size: Bytes(4096),
            program_unit: shape.program_unit,
            one_shot: 1,
            two_pass: shape.two_pass,
            cores: &cores,
            program_every: shape.program_every,
            background_every: shape.background_every,
            internal_operations: shape.internal,
            think_time: Nanos(shape.think_time),
        });
        Self {
            room: room.expect("times that fit"),
            now: Nanos::ZERO,
            ended: Vec::new(),
            passed: Vec::new(),
            pages: 0,
            demands: vec![CoreDemand::default(); usize::from(shape.cores)],
            announced: BTreeMap::new(),
        }
    }

    pub(crate) fn submit(&mut self, die: u16, queue: DieQueue, op: FlashOp<Tag>) {
        let demands = self.demands.clone();
        let next = self.room.submit(self.now, DieId(die), queue, op, |core| demands[core.index()]);
        self.follow(DieId(die), next);
    }

    /// Submits at `at`, when everything due before has been done.
    pub(crate) fn submit_at(&mut self, at: u64, die: u16, queue: DieQueue, op: FlashOp<Tag>) {
        self.run_until(at);
        self.submit(die, queue, op);
    }

    /// Does everything that is due before `at`, and sets the time to it.
    pub(crate) fn run_until(&mut self, at: u64) {
        while self.room.next_event() < Nanos(at) {
            self.step();
        }
        self.now = Nanos(at);
    }

    /// Does everything that is due; returns when the last of it was.
    pub(crate) fn run(&mut self) -> u64 {
        while self.room.next_event() != Nanos::MAX {
            self.step();
        }
        assert!(self.room.all_idle(), "a die is at work and has no event");
        self.now.0
    }

    pub(crate) fn step(&mut self) {
        assert!(self.room.next_event() >= self.now, "time goes back");
        self.now = self.room.next_event();
        let die = match self.room.next_source() {
            FlashSource::Die(die) => die,
            FlashSource::Thinking => {
                self.room.end_thinking(self.now);
                return self.wake_waiting();
            }
        };
        match self.room.handle_event(self.now, die) {
            DieEvent::Continues(next) => self.follow(die, next),
            DieEvent::Passed(op) => {
                self.passed.push((self.now.0, die.0, op.tag.number));
                if op.tag.internal && !self.room.awaits_thinking_slot() {
                    self.wake_waiting();
                }
                self.wake(die);
            }
            DieEvent::Ended(op) => {
                self.ended.push((self.now.0, die.0, op.tag.number));
                if op.tag.internal {
                    self.room.end_internal(self.now);
                    if !self.room.awaits_thinking_slot() {
                        self.wake_waiting();
                    }
                }
                self.wake(die);
            }
        }
    }

    fn wake_waiting(&mut self) {
        for _ in 0..self.room.dies_waiting() {
            let waiting = self.room.take_waiting_die().expect("so many wait");
            self.wake(waiting);
        }
    }

    pub(crate) fn wake(&mut self, die: DieId) {
        let demands = self.demands.clone();
        let next = self.room.wake(self.now, die, |core| demands[core.index()]);
        self.follow(die, next);
    }

    pub(crate) fn follow(&mut self, die: DieId, mut next: DieStep) {
        loop {
            match next {
                DieStep::Nothing => return,
                DieStep::Sensing(pages) => {
                    self.pages += u64::from(pages);
                    return;
                }
                DieStep::SensingBeside(pages) => {
                    self.pages += u64::from(pages);
                    return self.wake(die);
                }
                DieStep::PlaneFree => return self.wake(die),
                DieStep::Asks(ask) => {
                    let announced = self.announced.entry((die.0, ask.task() as u8)).or_default();
                    let answer =
                        if announced.is_empty() { TaskReadAnswer::Nothing } else { TaskReadAnswer::Later };
                    let read = if ask.may_start() { announced.pop_front() } else { None };
                    let demands = &self.demands;
                    next = match read {
                        Some(read) => self.room.give_read(self.now, die, ask, read),
                        None => self.room.answer(self.now, die, ask, answer, |core| demands[core.index()]),
                    };
                }
            }
        }
    }

    /// Announces `reads` of task `task` on die `die`.
    pub(crate) fn announce_reads(
        &mut self,
        die: u16,
        task: InternalTask,
        reads: impl IntoIterator<Item = FlashOp<Tag>>,
    ) {
        self.announced.entry((die, task as u8)).or_default().extend(reads);
        self.room.add_task_reads(DieId(die), task);
        self.wake(DieId(die));
    }

    /// When operation `number` ended.
    pub(crate) fn end_of(&self, number: u32) -> u64 {
        let ended = self.ended.iter().find(|&&(_, _, other)| other == number);
        ended.unwrap_or_else(|| panic!("operation {number} has not ended")).0
    }

    /// The operations that have ended, in order.
    pub(crate) fn order(&self) -> Vec<u32> {
        self.ended.iter().map(|&(_, _, number)| number).collect()
    }
}
