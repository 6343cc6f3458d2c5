//! Does the room do what a plain scheduler does? The plain one keeps operations in vectors, looks through all dies for what is due
//! next, and decides from top to bottom.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_flash::{CoreDemand, DieQueue, FlashOp, InternalTask};
use outlast_media::{ChannelOrder, PlaneReads, ProgramUnit, SuspendConfig};
use outlast_units::Nanos;
use proptest::prelude::*;
use std::collections::{BTreeSet, VecDeque};
use support::{COMMAND, Caller, ERASE, Ended, OVERHEAD, PROGRAM, READ, Shape, Tag, UNIT, place};

/// While collection is urgent, so many reads go before it.
const READS_BEFORE_COLLECTION: u8 = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PlainOpKind {
    Read { mask: u64 },
    Program,
    Erase,
}

#[derive(Clone, Copy, Debug)]
struct Plain {
    number: u32,
    kind: PlainOpKind,
    block: u32,
    row: u32,
    internal: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doing {
    Nothing,
    Sensing,
    Sending,
    /// The array works from … to …; a read may look again at … whether it can suspend that.
    Array(u64, u64, u64),
    Suspending,
}

#[derive(Clone, Debug)]
struct PlainDie {
    doing: Doing,
    until: u64,
    current: Option<Plain>,
    suspensions: u8,
    /// The operation interrupted, what is left of it, and reads that may still go before it.
    suspended: Option<(Plain, u64, u8)>,
    reads: VecDeque<Plain>,
    programs: VecDeque<Plain>,
    /// Of collection, and of the background.
    internal: [VecDeque<Plain>; 2],
    wanted: [VecDeque<Plain>; 3],
    reads_in_a_row: u8,
    host_in_a_row: u8,
    since_background: u8,
    busy: u64,
    busy_since: u64,
}

#[derive(Clone, Debug)]
struct PlainRoom {
    shape: Shape,
    dies: Vec<PlainDie>,
    free_at: Vec<u64>,
    demands: Vec<CoreDemand>,
    internal: u32,
    /// When the slots that think are free again.
    thinking: VecDeque<u64>,
    waiting: VecDeque<usize>,
    now: u64,
    ended: Vec<Ended>,
    suspends: u64,
    pages: u64,
}

fn index(queue: DieQueue) -> usize {
    usize::from(queue != DieQueue::Internal(InternalTask::Gc))
}

impl PlainRoom {
    fn new(shape: &Shape) -> Self {
        let die = PlainDie {
            doing: Doing::Nothing,
            until: u64::MAX,
            current: None,
            suspensions: 0,
            suspended: None,
            reads: VecDeque::new(),
            programs: VecDeque::new(),
            internal: Default::default(),
            wanted: Default::default(),
            reads_in_a_row: 0,
            host_in_a_row: 0,
            since_background: 0,
            busy: 0,
            busy_since: 0,
        };
        Self {
            shape: *shape,
            dies: vec![die; usize::from(shape.dies())],
            free_at: vec![0; usize::from(shape.channels)],
            demands: vec![CoreDemand::default(); usize::from(shape.cores)],
            internal: 0,
            thinking: VecDeque::new(),
            waiting: VecDeque::new(),
            now: 0,
            ended: Vec::new(),
            suspends: 0,
            pages: 0,
        }
    }

    fn submit(&mut self, die: usize, queue: DieQueue, op: Plain) {
        match queue {
            DieQueue::Reads => self.dies[die].reads.push_back(op),
            DieQueue::Programs => self.dies[die].programs.push_back(op),
            DieQueue::Internal(_) => self.dies[die].internal[index(queue)].push_back(op),
        }
        if queue == DieQueue::Reads {
            self.try_to_suspend(die, false);
        }
        self.wake(die);
    }

    /// A read waits: it suspends what the array does, waits until it may, or until that has ended.
    fn try_to_suspend(&mut self, die: usize, again: bool) {
        let Some(suspend) = self.shape.suspend else { return };
        let state = &mut self.dies[die];
        let (Doing::Array(start, end, look), Some(op)) = (&mut state.doing, state.current) else { return };
        let (allowed, latency) = if op.kind == PlainOpKind::Erase {
            (suspend.erase, suspend.erase_latency)
        } else {
            (suspend.program, None)
        };
        let mut least = *start + suspend.least_progress.map_or(0, |time| time.0);
        if let (Some(phase), PlainOpKind::Program) = (suspend.program_phase, op.kind) {
            let mut boundary = *start + phase.0;
            while boundary < least.max(self.now) {
                boundary += phase.0;
            }
            least = boundary;
        }
        if !allowed || state.suspensions >= suspend.limit {
            return;
        }
        let writes_wait = self.demands[die % self.demands.len()].writes_wait;
        if op.kind == PlainOpKind::Program && !suspend.while_writes_wait && writes_wait && !again {
            return;
        }
        if self.now < least {
            *look = least;
            state.until = least.min(*end);
            return;
        }
        let latency = latency.map_or(OVERHEAD, |time| time.0);
        if self.now + latency < *end {
            let left = *end - self.now;
            state.suspensions += 1;
            state.suspended = Some((op, left, suspend.reads));
            state.doing = Doing::Suspending;
            state.until = self.now + latency;
            self.suspends += 1;
        }
    }

    /// The array begins or goes on, from `start` to `end`. Reads that wait already look at it only where there is a least progress.
    fn array(&mut self, die: usize, start: u64, end: u64) {
        let state = &mut self.dies[die];
        (state.doing, state.until) = (Doing::Array(start, end, u64::MAX), end);
        let is_program = state.current.is_some_and(|op| op.kind == PlainOpKind::Program);
        let heeds = |suspend: SuspendConfig| {
            suspend.least_progress.is_some() || is_program && suspend.program_phase.is_some()
        };
        if self.shape.suspend.is_some_and(heeds) && !state.reads.is_empty() {
            self.try_to_suspend(die, false);
        }
    }

    fn run_until(&mut self, at: u64) {
        loop {
            // Of equal times the first die.
            let (die, until) =
                self.dies.iter().map(|die| die.until).enumerate().min_by_key(|&(_, until)| until).unwrap();
            let thought = self.thinking.front().copied().unwrap_or(u64::MAX);
            if until.min(thought) >= at {
                break;
            }
            if thought < until {
                self.now = thought;
                self.thinking.pop_front();
                self.slot_is_free();
                continue;
            }
            self.now = until;
            self.event(die);
        }
        self.now = at;
    }

    fn event(&mut self, die: usize) {
        let channel = self.shape.channel(outlast_units::DieId(die as u16));
        let state = &mut self.dies[die];
        match state.doing {
            Doing::Nothing => panic!("nothing is due"),
            Doing::Sensing => {
                let Some(Plain { kind: PlainOpKind::Read { mask }, .. }) = state.current else {
                    panic!("a read senses")
                };
                state.doing = Doing::Sending;
                let end = self.free_at[channel].max(self.now) + u64::from(mask.count_ones()) * UNIT;
                self.free_at[channel] = end;
                state.until = end;
            }
            Doing::Suspending => self.next(die),
            Doing::Array(start, end, look) if look == self.now && look < end => {
                (state.doing, state.until) = (Doing::Array(start, end, u64::MAX), end);
                self.try_to_suspend(die, true);
            }
            Doing::Sending | Doing::Array(..) => {
                let op = state.current.take().unwrap();
                state.doing = Doing::Nothing;
                state.until = u64::MAX;
                state.busy += self.now - state.busy_since;
                self.ended.push((self.now, die as u16, op.number));
                if op.internal {
                    if self.shape.think_time == 0 {
                        self.slot_is_free();
                    } else {
                        self.thinking.push_back(self.now + self.shape.think_time);
                    }
                }
                self.wake(die);
            }
        }
    }

    fn slot_is_free(&mut self) {
        self.internal -= 1;
        for _ in 0..self.waiting.len() {
            let waiting = self.waiting.pop_front().unwrap();
            self.wake(waiting);
        }
    }

    fn wake(&mut self, die: usize) {
        if self.dies[die].doing == Doing::Nothing {
            self.next(die);
        }
    }

    fn next(&mut self, die: usize) {
        let demand = self.demands[die % self.demands.len()];
        let state = &mut self.dies[die];
        if let Some((op, left, reads_left)) = state.suspended {
            if reads_left == 0 || state.reads.is_empty() {
                state.suspended = None;
                if state.doing == Doing::Nothing {
                    state.busy_since = self.now;
                }
                state.current = Some(op);
                let resume =
                    self.shape.suspend.and_then(|suspend| suspend.resume).map_or(OVERHEAD, |time| time.0);
                let start = self.now + resume;
                self.array(die, start, start + left);
            } else {
                state.suspended = Some((op, left, reads_left - 1));
                let read = state.reads.pop_front().unwrap();
                self.start(die, read);
            }
            return;
        }
        if demand.background || !state.internal[1].is_empty() {
            let overdue = state.since_background >= self.shape.background_every;
            if overdue && self.start_background(die) {
                self.dies[die].since_background = 0;
                return;
            }
            let state = &mut self.dies[die];
            state.since_background = state.since_background.saturating_add(1);
        }
        if !self.dies[die].reads.is_empty() {
            if demand.urgent
                && self.dies[die].host_in_a_row >= READS_BEFORE_COLLECTION
                && self.start_collection(die)
            {
                return;
            }
            let state = &mut self.dies[die];
            if state.programs.is_empty() {
                state.reads_in_a_row = 0;
            } else if state.reads_in_a_row >= self.shape.program_every {
                self.start_program(die);
                return;
            } else {
                state.reads_in_a_row += 1;
            }
            state.host_in_a_row = if demand.urgent { state.host_in_a_row.saturating_add(1) } else { 0 };
            let read = state.reads.pop_front().unwrap();
            self.start(die, read);
            return;
        }
        if demand.urgent && self.start_collection(die) {
            return;
        }
        if !self.dies[die].programs.is_empty() {
            self.start_program(die);
            return;
        }
        if !demand.urgent && self.start_collection(die) {
            return;
        }
        self.start_background(die);
    }

    fn start_program(&mut self, die: usize) {
        self.dies[die].reads_in_a_row = 0;
        let op = self.dies[die].programs.pop_front().unwrap();
        self.start(die, op);
    }

    fn start_collection(&mut self, die: usize) -> bool {
        let started = self.start_queued(die, 0) || self.start_wanted(die, 0);
        if started {
            self.dies[die].host_in_a_row = 0;
        }
        started
    }

    fn start_background(&mut self, die: usize) -> bool {
        self.start_queued(die, 1) || self.start_wanted(die, 1) || self.start_wanted(die, 2)
    }

    fn may_start(&mut self, die: usize) -> bool {
        let may = self.internal < self.shape.internal.unwrap_or(u32::from(self.shape.dies()));
        if !may && !self.waiting.contains(&die) {
            self.waiting.push_back(die);
        }
        may
    }

    fn start_queued(&mut self, die: usize, queue: usize) -> bool {
        let Some(&op) = self.dies[die].internal[queue].front() else { return false };
        let is_read = |read: &Plain| read.block == op.block;
        if op.kind == PlainOpKind::Erase && self.dies[die].reads.iter().any(is_read) {
            return false;
        }
        if !self.may_start(die) {
            return false;
        }
        self.internal += 1;
        self.dies[die].internal[queue].pop_front();
        self.start(die, op);
        true
    }

    fn start_wanted(&mut self, die: usize, task: usize) -> bool {
        let Some(&op) = self.dies[die].wanted[task].front() else { return false };
        if !self.may_start(die) {
            return false;
        }
        self.internal += 1;
        self.dies[die].wanted[task].pop_front();
        self.start(die, op);
        true
    }

    fn start(&mut self, die: usize, op: Plain) {
        let channel = self.shape.channel(outlast_units::DieId(die as u16));
        let state = &mut self.dies[die];
        if state.doing == Doing::Nothing {
            state.busy_since = self.now;
        }
        state.current = Some(op);
        let free_at = &mut self.free_at[channel];
        let command = self.now + COMMAND;
        match op.kind {
            PlainOpKind::Read { mask } => {
                *free_at = (*free_at).max(self.now) + COMMAND;
                // Several units to a page, or several pages to a unit.
                let unit = self.shape.program_unit;
                let first = |at: u32| at / unit.units_per_page * unit.pages_per_unit;
                let units = (0..64).filter(|at| mask >> at & 1 == 1);
                let sensed: BTreeSet<u32> =
                    units.flat_map(|at| first(at)..first(at) + unit.pages_per_unit).collect();
                let rows = (0..unit.rows).filter(|row| sensed.iter().any(|page| page / unit.planes == *row));
                let time: u64 = rows.map(|row| READ[(op.row + row) as usize % 2]).sum();
                self.pages += sensed.len() as u64;
                (state.doing, state.until) = (Doing::Sensing, command + time);
            }
            PlainOpKind::Program => {
                let unit = self.shape.program_unit;
                let start = (*free_at).max(self.now) + COMMAND + u64::from(unit.units()) * UNIT;
                *free_at = start;
                let time: u64 = (0..unit.rows).map(|row| PROGRAM[(op.row + row) as usize % 2]).sum();
                state.suspensions = 0;
                self.array(die, start, start + time);
            }
            PlainOpKind::Erase => {
                *free_at = (*free_at).max(self.now) + COMMAND;
                state.suspensions = 0;
                self.array(die, command, command + ERASE);
            }
        }
    }

    fn utilisation(&self) -> Vec<f64> {
        let busy = |die: &PlainDie| {
            die.busy + if die.doing == Doing::Nothing { 0 } else { self.now - die.busy_since }
        };
        self.dies.iter().map(|die| busy(die) as f64 / self.now.max(1) as f64).collect()
    }
}

#[derive(Clone, Debug)]
enum Action {
    Submit { die: u16, submission: Submission, block: u32, row: u32, mask: u64 },
    Pass(u64),
    Demand { core: u16, demand: CoreDemand },
}

#[derive(Clone, Copy, Debug)]
enum Submission {
    Read,
    HostProgram,
    Program(InternalTask),
    Erase(InternalTask),
    Patrol,
    Wanted(InternalTask),
}

fn task() -> impl Strategy<Value = InternalTask> {
    prop_oneof![Just(InternalTask::Gc), Just(InternalTask::WearLeveling), Just(InternalTask::Scrub)]
}

fn submission() -> impl Strategy<Value = Submission> {
    prop_oneof![
        8 => Just(Submission::Read),
        2 => Just(Submission::HostProgram),
        2 => task().prop_map(Submission::Program),
        1 => task().prop_map(Submission::Erase),
        1 => Just(Submission::Patrol),
        3 => task().prop_map(Submission::Wanted),
    ]
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        6 => (0u16..6, submission(), 0u32..3, 0u32..8, 1u64..256)
            .prop_map(|(die, submission, block, row, mask)| Action::Submit { die, submission, block, row, mask }),
        3 => prop_oneof![1u64..1000, 1000u64..100_000, 100_000u64..4_000_000].prop_map(Action::Pass),
        1 => (0u16..2, any::<bool>(), any::<bool>(), any::<bool>()).prop_map(
            |(core, urgent, background, writes_wait)| {
                Action::Demand { core, demand: CoreDemand { urgent, background, writes_wait } }
            }
        ),
    ]
}

/// Every setting of suspension, each of the optional ones given or not.
fn suspend() -> impl Strategy<Value = SuspendConfig> {
    let time = |most| proptest::option::of((0..most).prop_map(Nanos));
    let progress = time(400_000u64);
    let phase = proptest::option::of((1_000..200_000u64).prop_map(Nanos));
    let times = (progress, phase, time(90_000u64), time(20_000u64));
    (any::<(bool, bool, bool)>(), 1u8..4, times, 0u8..6).prop_map(
        |(
            (program, erase, while_writes_wait),
            reads,
            (least_progress, program_phase, erase_latency, resume),
            limit,
        )| {
            SuspendConfig {
                program,
                erase,
                least_progress,
                program_phase,
                erase_latency,
                resume,
                while_writes_wait,
                ..SuspendConfig::both(Nanos(OVERHEAD), limit, reads)
            }
        },
    )
}

fn shape() -> impl Strategy<Value = Shape> {
    let unit = prop_oneof![
        Just(ProgramUnit { planes: 2, rows: 1, pages_per_unit: 1, units_per_page: 1 }),
        Just(ProgramUnit { planes: 2, rows: 1, pages_per_unit: 1, units_per_page: 4 }),
        Just(ProgramUnit { planes: 1, rows: 1, pages_per_unit: 1, units_per_page: 1 }),
        Just(ProgramUnit { planes: 2, rows: 2, pages_per_unit: 2, units_per_page: 1 }),
        Just(ProgramUnit { planes: 1, rows: 3, pages_per_unit: 3, units_per_page: 1 }),
    ];
    let every = (1u8..6, 1u8..6);
    let internal =
        (proptest::option::of(1u32..4), prop_oneof![Just(0), 1u64..200_000, 200_000u64..9_000_000]);
    (1u16..3, 1u16..4, 1u16..3, unit, proptest::option::of(suspend()), every, internal).prop_map(
        |(
            channels,
            dies_per_channel,
            cores,
            program_unit,
            suspend,
            (program_every, background_every),
            (internal, think_time),
        )| {
            let cores = cores.min(channels * dies_per_channel);
            Shape {
                channels,
                dies_per_channel,
                cores,
                program_unit,
                suspend,
                plane_reads: PlaneReads::Together,
                cache_read: None,
                channel: ChannelOrder::Fifo,
                command: COMMAND,
                program_every,
                background_every,
                internal,
                think_time,
                modes: &[],
                two_pass: None,
            }
        },
    )
}

/// Submits the same to both.
fn submit(caller: &mut Caller, plain: &mut PlainRoom, number: u32, action: &Action) {
    let &Action::Submit { die, submission, block, row, mask } = action else { unreachable!("asked before") };
    let unit = plain.shape.program_unit;
    let die = die % plain.shape.dies();
    let all = u64::MAX >> (64 - unit.units());
    let mask = if mask & all == 0 { 1 } else { mask & all };
    let row = row * unit.rows;
    let internal = !matches!(submission, Submission::Read | Submission::HostProgram);
    let tag = Tag { number, internal };
    let read = (FlashOp::read(place(block, row), mask, tag), PlainOpKind::Read { mask });
    let program = (FlashOp::program(place(block, row), unit.units(), tag), PlainOpKind::Program);
    let (queue, (op, kind)) = match submission {
        Submission::Read => (DieQueue::Reads, read),
        Submission::HostProgram => (DieQueue::Programs, program),
        Submission::Program(task) => (DieQueue::Internal(task), program),
        Submission::Erase(task) => {
            (DieQueue::Internal(task), (FlashOp::erase(place(block, 0).block, tag), PlainOpKind::Erase))
        }
        Submission::Patrol => (DieQueue::Internal(InternalTask::Scrub), read),
        Submission::Wanted(task) => {
            let wanted = Plain { number, kind: PlainOpKind::Read { mask }, block, row, internal };
            plain.dies[usize::from(die)].wanted[task as usize].push_back(wanted);
            plain.wake(usize::from(die));
            caller.announce_reads(die, task, [read.0]);
            return;
        }
    };
    plain.submit(usize::from(die), queue, Plain { number, kind, block, row, internal });
    caller.submit(die, queue, op);
}

proptest! {
    #[test]
    fn the_room_does_what_a_plain_scheduler_does(
        shape in shape(),
        actions in proptest::collection::vec(action(), 1..200),
    ) {
        let (mut caller, mut plain) = (Caller::new(&shape), PlainRoom::new(&shape));
        let mut submitted = 0;
        for action in &actions {
            match *action {
                Action::Submit { .. } => {
                    submit(&mut caller, &mut plain, submitted, action);
                    submitted += 1;
                }
                Action::Pass(time) => {
                    let at = plain.now + time;
                    plain.run_until(at);
                    caller.run_until(at);
                }
                Action::Demand { core, demand } => {
                    let core = usize::from(core % shape.cores);
                    plain.demands[core] = demand;
                    caller.demands[core] = demand;
                }
            }
            prop_assert_eq!(caller.room.self_check(), Ok(()));
            prop_assert_eq!(&caller.ended, &plain.ended);
            prop_assert_eq!(caller.room.die_utilisation(caller.now, caller.now), plain.utilisation());
        }
        // Nothing that was submitted is left in the end: whatever goes first does so a bounded number of times.
        let end = plain.now + 60_000_000_000;
        plain.run_until(end);
        caller.run_until(end);
        prop_assert_eq!(&caller.ended, &plain.ended);
        prop_assert_eq!(caller.ended.len(), submitted as usize);
        prop_assert_eq!((caller.room.suspends(), caller.pages), (plain.suspends, plain.pages));
        prop_assert_eq!(caller.room.internal_operations(), 0);
        prop_assert!(caller.room.all_idle());
    }
}
