//! Think time: after an internal operation its slot stays taken, and nothing else does.

use crate::support::{self, Caller, ERASE, Shape, erase, internal, program, program_time, read, read_time};
use outlast_flash::{DieQueue, InternalTask};
use outlast_units::Nanos;
use proptest::prelude::*;

const GC: DieQueue = DieQueue::Internal(InternalTask::Gc);
const SCRUB: DieQueue = DieQueue::Internal(InternalTask::Scrub);
const EACH: u64 = support::COMMAND + ERASE;
const THINK: u64 = 300_000;

fn thinking(dies: u16, slots: u32, think_time: u64) -> Caller {
    Caller::new(&Shape { channels: dies, internal: Some(slots), think_time, ..Shape::default() })
}

/// One slot: every operation begins a think time after the one before has ended, whatever its task and die.
#[test]
fn a_slot_thinks_after_each_operation() {
    let mut caller = thinking(3, 1, THINK);
    caller.submit(0, GC, erase(0, 9));
    caller.submit(1, SCRUB, erase(1, 9));
    caller.announce_reads(2, InternalTask::Gc, [internal(read(2)), internal(read(3))]);
    caller.run();
    let ends = [EACH, 2 * EACH + THINK, 2 * EACH + 2 * THINK + read_time(1)];
    assert_eq!([0, 1, 2].map(|number| caller.end_of(number)), ends);
    assert_eq!(caller.end_of(3), ends[2] + THINK + read_time(1));
    assert_eq!(caller.now.0, caller.end_of(3) + THINK, "the last slot thinks, too");
    assert_eq!((caller.room.internal_operations(), caller.room.has_thinking_slots()), (0, false));
}

/// While slots think the host has dies and channels to itself, as if there were no internal work.
#[test]
fn thought_keeps_nothing_busy() {
    let mut caller = thinking(1, 1, 10 * EACH);
    caller.submit(0, GC, erase(0, 9));
    caller.submit(0, GC, erase(1, 8));
    caller.submit_at(EACH + 1, 0, DieQueue::Reads, read(2));
    caller.submit(0, DieQueue::Programs, program(3));
    caller.run();
    assert_eq!(caller.end_of(2), EACH + 1 + read_time(1));
    assert_eq!(caller.end_of(3), caller.end_of(2) + program_time());
    assert_eq!(caller.end_of(1), EACH + 10 * EACH + EACH);
    let busy = 2 * EACH + read_time(1) + program_time();
    assert_eq!(caller.room.die_busy(caller.now), [Nanos(busy)]);
}

/// Power fails while slots think: none is taken any more, and none is freed twice.
#[test]
fn a_cut_ends_all_thought() {
    let mut caller = thinking(2, 2, THINK);
    caller.submit(0, GC, erase(0, 9));
    caller.submit(1, GC, erase(1, 9));
    caller.submit(1, GC, erase(2, 8));
    caller.run_until(EACH + THINK / 2);
    assert_eq!((caller.room.internal_operations(), caller.room.has_thinking_slots()), (2, true));
    let _ = caller.room.cut_power(caller.now);
    assert_eq!((caller.room.internal_operations(), caller.room.has_thinking_slots()), (0, false));
    assert_eq!(caller.room.next_event(), Nanos::MAX);
    let start = caller.now.0;
    caller.submit(0, GC, erase(3, 9));
    caller.run();
    assert_eq!(caller.end_of(3), start + EACH);
}

proptest! {
    /// The law of interactive systems: n slots that serve for s and think for z begin an operation every (s + z) / n, unless n dies cannot.
    #[test]
    fn slots_bound_the_rate(dies in 1u16..6, slots in 1u32..8, think_time in 1u64..10_000_000, each in 5u32..40) {
        let mut caller = thinking(dies, slots, think_time);
        for number in 0..u32::from(dies) * each {
            caller.submit((number % u32::from(dies)) as u16, GC, erase(number, number / u32::from(dies) % 64));
        }
        caller.run();
        let mut ends: Vec<u64> = caller.ended.iter().map(|&(at, ..)| at).collect();
        ends.sort_unstable();
        // Of n + 1 that end one after the other the last began when a slot had thought after the first.
        for pair in ends.windows(slots as usize + 1) {
            prop_assert!(pair[slots as usize] - pair[0] >= think_time + EACH, "{pair:?}");
        }
        let total = u64::from(dies) * u64::from(each);
        let by_slots = total.div_ceil(u64::from(slots)) * (EACH + think_time) - think_time;
        let by_dies = u64::from(each) * EACH;
        let last = *ends.last().expect("some were submitted");
        prop_assert!(last >= by_slots.max(by_dies), "{last}, {by_slots} by slots, {by_dies} by dies");
        if slots == 1 {
            prop_assert_eq!(last, by_slots);
        }
        if slots >= u32::from(dies) * each {
            prop_assert_eq!(last, by_dies);
        }
    }
}
