//! Reads that a die works on side by side: closed forms of rates, and a plain model of dies that only read.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_flash::{CoreDemand, DieQueue, InternalTask};
use outlast_media::{ChannelOrder, PlaneReads, ProgramUnit, SuspendConfig};
use outlast_units::Nanos;
use proptest::prelude::*;
use support::{
    COMMAND, Caller, ERASE, Ended, OVERHEAD, READ, Shape, UNIT, erase, internal, program, program_time,
    read_of, read_time,
};

const CACHE: u64 = 3_000;

/// `planes` planes, `units` units a page.
fn unit(planes: u32, units: u32) -> ProgramUnit {
    ProgramUnit { planes, rows: 1, pages_per_unit: 1, units_per_page: units }
}

fn independent(planes: u32, units: u32) -> Shape {
    Shape { program_unit: unit(planes, units), plane_reads: PlaneReads::Independent, ..Shape::default() }
}

/// When reads of `masks`, all submitted at once, end.
fn ends(shape: &Shape, masks: &[u64]) -> Vec<u64> {
    let mut caller = Caller::new(shape);
    for (number, &mask) in (0..).zip(masks) {
        caller.submit(0, DieQueue::Reads, read_of(number, 0, 0, mask));
        assert_eq!(caller.room.self_check(), Ok(()));
    }
    caller.run();
    (0..masks.len() as u32).map(|number| caller.end_of(number)).collect()
}

/// The array senses the next page while the data of the one before leaves: a read each tRCBSY + max(tR, transfer), in place of tR + transfer.
#[test]
fn a_cache_register_hides_the_shorter_of_sensing_and_transfer() {
    for units in [1, 4, 16, 32] {
        let shape = Shape { program_unit: unit(1, units), cache_read: Some(CACHE), ..Shape::default() };
        let all = u64::MAX >> (64 - units);
        let (sense, transfer) = (COMMAND + READ[0], u64::from(units) * UNIT);
        let first = sense + CACHE + transfer;
        let expected: Vec<u64> = (0..9).map(|at| first + at * (CACHE + sense.max(transfer))).collect();
        assert_eq!(ends(&shape, &[all; 9]), expected, "{units} units");
        let without = Shape { cache_read: None, ..shape };
        let expected: Vec<u64> = (1..10).map(|at| at * (sense + transfer)).collect();
        assert_eq!(ends(&without, &[all; 9]), expected, "{units} units without");
    }
}

/// Reads of different planes: as many times as fast as there are planes, until the channel is full.
#[test]
fn reads_of_planes_scale_with_them_up_to_the_channel() {
    for planes in [1, 2, 4] {
        let (masks, round): (Vec<u64>, _) = ((0..40).map(|at| 1 << (at % planes)).collect(), read_time(1));
        // The data of a round leaves one after the other, with at most a command in between.
        for (at, end) in (0..).zip(ends(&independent(planes as u32, 1), &masks)) {
            let (first, behind) = ((at / planes + 1) * round, at % planes);
            let expected = first + behind * UNIT..=first + behind * (UNIT + COMMAND);
            assert!(expected.contains(&end), "{planes} planes, read {at}: {end}, not {expected:?}");
        }
        let together = Shape { plane_reads: PlaneReads::Together, ..independent(planes as u32, 1) };
        assert_eq!(*ends(&together, &masks).last().unwrap(), 40 * round, "{planes} planes together");
    }
    // Whole pages of 64 KiB take longer over the channel than to be sensed.
    let masks: Vec<u64> = (0..40).map(|at| 0xFFFF << (at % 4 * 16)).collect();
    let end = *ends(&independent(4, 16), &masks).last().unwrap();
    let (fastest, slowest) = (COMMAND + READ[0] + 40 * 16 * UNIT, 40 * COMMAND);
    assert!((fastest..=fastest + slowest).contains(&end), "{end}, {fastest} at least");
}

/// A read whose plane works lets others go first, but none that wants its planes; a program takes the whole die and waits for all.
#[test]
fn who_goes_beside_whom() {
    let masks = [0b0001, 0b0011, 0b0010, 0b0100];
    let mut caller = Caller::new(&independent(4, 1));
    for (number, mask) in (0..).zip(masks) {
        caller.submit(0, DieQueue::Reads, read_of(number, 0, 0, mask));
    }
    caller.submit(0, DieQueue::Programs, program(4));
    caller.run();
    // 1 waits for 0, 2 for 1; 3 goes at once.
    assert_eq!(caller.order(), [0, 3, 1, 2, 4]);
    assert_eq!(caller.end_of(3), read_time(1) + UNIT);
    assert_eq!(caller.end_of(1), read_time(1) + read_time(2));
    let reads = 2 * read_time(1) + read_time(2);
    assert_eq!(caller.end_of(2), reads);
    assert_eq!(caller.end_of(4), reads + program_time() + 2 * UNIT, "four planes of data");
    assert_eq!(caller.room.die_utilisation(caller.now, caller.now), [1.0]);
}

/// Reads that come all the time, on planes by turns, do not keep a program waiting for longer than so many reads.
#[test]
fn reads_beside_each_other_starve_nobody() {
    let mut caller = Caller::new(&Shape { program_every: 6, ..independent(2, 1) });
    caller.submit(0, DieQueue::Reads, read_of(0, 0, 0, 0b01));
    caller.submit(0, DieQueue::Programs, program(1));
    for number in 2..60 {
        caller.submit(0, DieQueue::Reads, read_of(number, 0, 0, 1 << (number % 2)));
    }
    caller.run();
    assert_eq!(caller.order().iter().position(|&number| number == 1), Some(7));
}

/// While an operation is suspended, as many reads as may go beside each other, and then it goes on.
#[test]
fn a_suspension_serves_reads_beside_each_other() {
    let shape = Shape { suspend: Some(SuspendConfig::both(Nanos(OVERHEAD), 1, 4)), ..independent(4, 1) };
    let mut caller = Caller::new(&shape);
    caller.submit(0, DieQueue::Internal(InternalTask::Gc), erase(0, 9));
    for number in 1..9 {
        caller.submit_at(100_000, 0, DieQueue::Reads, read_of(number, 0, 0, 1 << (number % 4)));
    }
    caller.run();
    let reads = 100_000 + OVERHEAD + read_time(1);
    assert_eq!(caller.end_of(4).max(caller.end_of(1)), reads + 3 * UNIT);
    assert_eq!(caller.end_of(0), COMMAND + ERASE + 2 * OVERHEAD + read_time(1) + 3 * UNIT);
    assert!((5..9).all(|number| caller.end_of(number) > caller.end_of(0)));
}

#[derive(Clone, Copy, Debug)]
struct PlainRead {
    number: u32,
    row: u32,
    mask: u64,
    /// 0: sensing, 1: sensed, 2: into the cache register, 3: leaving.
    stage: u8,
    until: u64,
}

/// Dies of one channel that only read: lists, looked through from the beginning each time.
struct PlainDies {
    shape: Shape,
    waiting: Vec<Vec<PlainRead>>,
    at_work: Vec<Vec<PlainRead>>,
    free_at: u64,
    ended: Vec<Ended>,
}

impl PlainDies {
    fn planes(&self, mask: u64) -> Vec<u32> {
        if self.shape.plane_reads == PlaneReads::Together {
            return vec![0];
        }
        let per_page = self.shape.program_unit.units_per_page;
        (0..64).filter(|unit| mask >> unit & 1 == 1).map(|unit| unit / per_page).collect()
    }

    fn overlap(&self, one: &PlainRead, other: &PlainRead) -> bool {
        let others = self.planes(other.mask);
        self.planes(one.mask).iter().any(|plane| others.contains(plane))
    }

    fn begin(&mut self, now: u64, die: usize) {
        let mut at = 0;
        while at < self.waiting[die].len() {
            let read = self.waiting[die][at];
            let holds = |other: &PlainRead| self.shape.cache_read.is_none() || other.stage < 3;
            let before = self.waiting[die][..at].iter();
            let blocked = self.at_work[die].iter().filter(|other| holds(other)).chain(before);
            if blocked.into_iter().any(|other| self.overlap(&read, other)) {
                at += 1;
                continue;
            }
            self.waiting[die].remove(at);
            self.free_at = self.free_at.max(now) + COMMAND;
            let until = now + COMMAND + READ[read.row as usize % 2];
            self.at_work[die].push(PlainRead { stage: 0, until, ..read });
            at = 0;
        }
    }

    /// When the next thing happens, on which die, to which of its reads.
    fn next(&self) -> Option<(u64, usize, usize)> {
        let all = self.at_work.iter().enumerate();
        let due = all.flat_map(|(die, reads)| {
            reads.iter().enumerate().map(move |(index, read)| (read.until, die, index))
        });
        due.filter(|&(until, ..)| until != u64::MAX).min()
    }

    fn step(&mut self) {
        let (now, die, index) = self.next().unwrap();
        let read = self.at_work[die][index];
        let send = |dies: &mut Self| {
            let end = dies.free_at.max(now) + u64::from(read.mask.count_ones()) * UNIT;
            dies.free_at = end;
            (dies.at_work[die][index].stage, dies.at_work[die][index].until) = (3, end);
        };
        match (read.stage, self.shape.cache_read) {
            (0, Some(_)) => (self.at_work[die][index].stage, self.at_work[die][index].until) = (1, u64::MAX),
            (0, None) | (2, _) => send(self),
            _ => {
                self.at_work[die].remove(index);
                self.ended.push((now, die as u16, read.number));
            }
        }
        // The cache register takes over what waits for it, once it is free.
        if let Some(cache) = self.shape.cache_read {
            for next in 0..self.at_work[die].len() {
                let waits = self.at_work[die][next];
                let is_taken =
                    self.at_work[die].iter().any(|other| other.stage > 1 && self.overlap(&waits, other));
                if waits.stage == 1 && !is_taken {
                    (self.at_work[die][next].stage, self.at_work[die][next].until) = (2, now + cache);
                }
            }
        }
        self.begin(now, die);
    }
}

fn shapes() -> impl Strategy<Value = Shape> {
    let unit = prop_oneof![Just(unit(4, 1)), Just(unit(2, 4)), Just(unit(1, 2)), Just(unit(3, 1))];
    (unit, any::<[bool; 2]>(), proptest::option::of(500..9000u64), 1u16..4).prop_map(
        |(program_unit, [together, is_fifo], cache_read, dies_per_channel)| {
            let plane_reads = if together { PlaneReads::Together } else { PlaneReads::Independent };
            let channel = if is_fifo { ChannelOrder::Fifo } else { ChannelOrder::ReadsFirst };
            Shape { dies_per_channel, program_unit, plane_reads, cache_read, channel, ..Shape::default() }
        },
    )
}

proptest! {
    #[test]
    fn dies_that_read_do_what_a_plain_model_does(
        shape in shapes(),
        reads in proptest::collection::vec((0u16..4, 0u32..4, 1u64..256, 0u64..30_000), 1..80),
    ) {
        let dies = usize::from(shape.dies());
        let mut plain = PlainDies {
            shape,
            waiting: vec![Vec::new(); dies],
            at_work: vec![Vec::new(); dies],
            free_at: 0,
            ended: Vec::new(),
        };
        let mut caller = Caller::new(&shape);
        let mut now = 0;
        for (number, &(die, row, mask, pause)) in (0..).zip(&reads) {
            let die = die % shape.dies();
            let mask = mask & (u64::MAX >> (64 - shape.program_unit.units()));
            let mask = if mask == 0 { 1 } else { mask };
            now += pause;
            while plain.next().is_some_and(|(at, ..)| at < now) {
                plain.step();
            }
            plain.waiting[usize::from(die)].push(PlainRead { number, row, mask, stage: 0, until: 0 });
            plain.begin(now, usize::from(die));
            caller.submit_at(now, die, DieQueue::Reads, read_of(number, 0, row, mask));
            prop_assert_eq!(caller.room.self_check(), Ok(()));
            prop_assert_eq!(&caller.ended, &plain.ended);
        }
        while plain.next().is_some() {
            plain.step();
        }
        caller.run();
        prop_assert_eq!((&caller.ended, caller.ended.len()), (&plain.ended, reads.len()));
    }

    /// Beside programs, erases, tasks and suspensions: nothing is lost, nothing starves, and every operation is in one place.
    #[test]
    fn everything_ends(
        shape in shapes(),
        progress in proptest::option::of(0u64..200_000),
        actions in proptest::collection::vec((0u16..4, 0u8..6, 1u64..256, 0u64..400_000, any::<[bool; 3]>()), 1..80),
    ) {
        let suspend = SuspendConfig {
            least_progress: progress.map(Nanos),
            while_writes_wait: false,
            ..SuspendConfig::both(Nanos(OVERHEAD), 2, 3)
        };
        let shape =
            Shape { suspend: Some(suspend), program_every: 3, background_every: 5, internal: Some(2), ..shape };
        let mut caller = Caller::new(&shape);
        let units = shape.program_unit.units();
        for (number, &(die, what, mask, pause, demand)) in (0..).zip(&actions) {
            let [urgent, background, writes_wait] = demand;
            caller.demands[0] = CoreDemand { urgent, background, writes_wait };
            let now = caller.now.0 + pause;
            caller.run_until(now);
            let die = die % shape.dies();
            let mask = mask & (u64::MAX >> (64 - units));
            let read = read_of(number, number, 0, if mask == 0 { 1 } else { mask });
            match what {
                0 => caller.submit(die, DieQueue::Programs, program(number)),
                1 => caller.submit(die, DieQueue::Internal(InternalTask::Gc), erase(number, number)),
                2 => caller.announce_reads(die, InternalTask::Gc, [internal(read)]),
                _ => caller.submit(die, DieQueue::Reads, read),
            }
            prop_assert_eq!(caller.room.self_check(), Ok(()));
        }
        caller.run();
        prop_assert_eq!((caller.ended.len(), caller.room.internal_operations()), (actions.len(), 0));
        prop_assert_eq!(caller.room.self_check(), Ok(()));
    }
}
