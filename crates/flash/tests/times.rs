//! Times of operations, alone and beside others: every expectation is a sum of the times that were set.

use crate::support;

use outlast_flash::{BlockRow, DieQueue, FlashOp, FlashOpKind, InternalTask};
use outlast_media::{CellMode, PageTimes, ProgramUnit};
use outlast_units::{DieId, ModeId, Nanos};
use support::{
    COMMAND, Caller, ERASE, OVERHEAD, PROGRAM, READ, Shape, Tag, UNIT, erase, internal, place, program,
    program_time, read, read_of, read_time,
};

const GC: DieQueue = DieQueue::Internal(InternalTask::Gc);

/// Runs to one nanosecond before `at`, when operation `number` must not have ended, and then to its end.
fn ends_at(caller: &mut Caller, number: u32, at: u64) {
    caller.run_until(at);
    assert!(!caller.order().contains(&number), "operation {number} has ended before {at}");
    assert_eq!(caller.room.next_event(), Nanos(at), "operation {number}");
    caller.step();
    assert_eq!(caller.end_of(number), at);
}

#[test]
fn a_read_takes_its_command_its_sensing_and_its_units() {
    for (row, mask, units, sense) in
        [(0, 0b01, 1, READ[0]), (0, 0b11, 2, READ[0]), (1, 0b10, 1, READ[1]), (6, 0b11, 2, READ[0])]
    {
        let mut caller = Caller::new(&Shape::default());
        caller.submit(0, DieQueue::Reads, read_of(1, 0, row, mask));
        ends_at(&mut caller, 1, COMMAND + sense + units * UNIT);
        assert_eq!(caller.pages, units, "pages of mask {mask:b}");
    }
}

/// A unit over two rows of one plane senses both, one after the other; a program of three rows takes the sum of their times.
#[test]
fn rows_of_one_operation_follow_each_other() {
    let program_unit = ProgramUnit { planes: 1, rows: 4, pages_per_unit: 2, units_per_page: 1 };
    let mut caller = Caller::new(&Shape { program_unit, ..Shape::default() });
    // Rows 4, 5, 6, 7: units 0 and 1 have two of them each.
    caller.submit(0, DieQueue::Reads, read_of(1, 0, 4, 0b01));
    ends_at(&mut caller, 1, COMMAND + READ[0] + READ[1] + UNIT);
    let mut caller = Caller::new(&Shape { program_unit, ..Shape::default() });
    let rows = FlashOp::program(place(0, 4), 2, Tag { number: 1, internal: false });
    caller.submit(0, DieQueue::Programs, rows);
    ends_at(&mut caller, 1, COMMAND + 2 * UNIT + 2 * (PROGRAM[0] + PROGRAM[1]));
}

/// In its second mode a block has times of its own, row by row, and an erasure takes as long as ever.
#[test]
fn times_are_those_of_the_mode_in_which_a_block_is_used() {
    let mode = CellMode {
        rows: 4,
        one_shot: 1,
        read: PageTimes::ByType(vec![Nanos(11_000), Nanos(13_000), Nanos(17_000)]),
        program: PageTimes::Same(Nanos(100_000)),
        rber: None,
        page_types: None,
        endurance: None,
    };
    let shape = Shape { modes: Box::leak(Box::new([mode])), ..Shape::default() };
    let in_mode = |mode, row| BlockRow { mode: ModeId(mode), ..place(1, row) };
    let tag = |number| Tag { number, internal: false };
    for (row, sense) in [(0, [READ[0], 11_000]), (1, [READ[1], 13_000]), (2, [READ[0], 17_000])] {
        for (mode, sense) in (0..).zip(sense) {
            let mut caller = Caller::new(&shape);
            caller.submit(0, DieQueue::Reads, FlashOp::read(in_mode(mode, row), 1, tag(1)));
            ends_at(&mut caller, 1, COMMAND + sense + UNIT);
        }
    }
    for (row, times) in [(0, [PROGRAM[0], 100_000]), (3, [PROGRAM[1], 100_000])] {
        for (mode, time) in (0..).zip(times) {
            let mut caller = Caller::new(&shape);
            caller.submit(0, DieQueue::Programs, FlashOp::program(in_mode(mode, row), 2, tag(1)));
            ends_at(&mut caller, 1, COMMAND + 2 * UNIT + time);
            caller.submit(0, GC, erase(2, 1));
            ends_at(&mut caller, 2, COMMAND + 2 * UNIT + time + COMMAND + ERASE);
        }
    }
}

/// An operation keeps its kind, place and mode, whichever of them they are.
#[test]
fn kind_and_mode_share_a_byte() {
    for mode in [0, 1, 2, 31, 62, 63].map(ModeId) {
        let place = BlockRow { mode, ..place(7, 65_535) };
        let tag = Tag { number: 0, internal: false };
        let (read, program) = (FlashOp::read(place, 6, tag), FlashOp::program(place, 2, tag));
        assert_eq!((read.kind(), read.place()), (FlashOpKind::Read, place));
        assert_eq!((program.kind(), program.place()), (FlashOpKind::Program, place));
    }
    assert_eq!(erase(1, 7).kind(), FlashOpKind::Erase);
}

#[test]
fn a_program_takes_its_data_in_and_an_erasure_none() {
    let mut caller = Caller::new(&Shape::default());
    caller.submit(0, DieQueue::Programs, program(1));
    ends_at(&mut caller, 1, program_time());
    let mut caller = Caller::new(&Shape::default());
    caller.submit(0, GC, erase(1, 0));
    ends_at(&mut caller, 1, COMMAND + ERASE);
}

/// Dies of a channel work beside each other, their data one after the other: the second waits for the first, and for the command cycles
/// that the first transfer was delayed by none.
#[test]
fn transfers_of_a_channel_follow_each_other() {
    let mut caller = Caller::new(&Shape { dies_per_channel: 2, ..Shape::default() });
    caller.submit(0, DieQueue::Reads, read_of(1, 0, 0, 0b11));
    caller.submit(1, DieQueue::Reads, read_of(2, 0, 0, 0b11));
    caller.run();
    assert_eq!(caller.end_of(1), read_time(2));
    assert_eq!(caller.end_of(2), read_time(2) + 2 * UNIT);
    // Two channels: nobody waits.
    let mut caller = Caller::new(&Shape { channels: 2, ..Shape::default() });
    caller.submit(0, DieQueue::Reads, read_of(1, 0, 0, 0b11));
    caller.submit(1, DieQueue::Reads, read_of(2, 0, 0, 0b11));
    caller.run();
    assert_eq!((caller.end_of(1), caller.end_of(2)), (read_time(2), read_time(2)));
}

/// A read at any time during tPROG: the program gives way after the overhead, and goes on where it stood another overhead after the read.
#[test]
fn a_suspended_program_loses_what_the_read_took() {
    let data_in = COMMAND + 2 * UNIT;
    for at in [data_in, data_in + 1, data_in + 123_456, program_time() - OVERHEAD - 1] {
        let mut caller = Caller::new(&Shape::suspending(1, 1));
        caller.submit(0, DieQueue::Programs, program(1));
        caller.submit_at(at, 0, DieQueue::Reads, read(2));
        caller.run();
        assert_eq!(caller.end_of(2), at + OVERHEAD + read_time(1), "the read at {at}");
        assert_eq!(
            caller.end_of(1),
            program_time() + 2 * OVERHEAD + read_time(1),
            "the program, read at {at}"
        );
        assert_eq!(caller.room.suspends(), 1);
    }
    // While its data comes in, it is suspended as soon as that is there.
    let mut caller = Caller::new(&Shape::suspending(1, 1));
    caller.submit(0, DieQueue::Programs, program(1));
    caller.submit_at(1, 0, DieQueue::Reads, read(2));
    caller.run();
    assert_eq!(caller.end_of(2), data_in + OVERHEAD + read_time(1));
}

/// The gate: one nanosecond later, the operation would end before the die could read, and is not suspended.
#[test]
fn an_operation_about_to_end_is_not_suspended() {
    for (early, suspends) in [(1, 1), (0, 0)] {
        let at = program_time() - OVERHEAD - early;
        let mut caller = Caller::new(&Shape::suspending(4, 16));
        caller.submit(0, DieQueue::Programs, program(1));
        caller.submit_at(at, 0, DieQueue::Reads, read(2));
        caller.run();
        assert_eq!(caller.room.suspends(), suspends, "{early} ns early");
        let waits_until = if suspends == 1 { at + OVERHEAD } else { program_time() };
        assert_eq!(caller.end_of(2), waits_until + read_time(1), "{early} ns early");
    }
}

#[test]
fn only_what_may_be_suspended_is() {
    for (programs, erases) in [(true, false), (false, true)] {
        let mut shape = Shape::suspending(4, 16);
        if let Some(suspend) = &mut shape.suspend {
            (suspend.program, suspend.erase) = (programs, erases);
        }
        let mut caller = Caller::new(&shape);
        caller.submit(0, DieQueue::Programs, program(1));
        caller.submit_at(100_000, 0, DieQueue::Reads, read(2));
        caller.run();
        assert_eq!(caller.room.suspends(), u64::from(programs));
        let mut caller = Caller::new(&shape);
        caller.submit(0, GC, erase(1, 9));
        caller.submit_at(100_000, 0, DieQueue::Reads, read(2));
        caller.run();
        assert_eq!(caller.room.suspends(), u64::from(erases));
    }
}

/// With reads without end, a program is delayed by `limit` times two overheads and `reads` reads, exactly, and then runs to its end.
#[test]
fn suspensions_cost_what_their_bound_says() {
    for (limit, reads) in [(1, 1), (1, 16), (3, 2), (2, 255)] {
        let mut caller = Caller::new(&Shape::suspending(limit, reads));
        caller.submit(0, DieQueue::Programs, program(0));
        let data_in = COMMAND + 2 * UNIT;
        caller.run_until(data_in);
        let mut number = 1;
        while !caller.order().contains(&0) {
            // Two wait at any time, so that no suspension ends for want of reads.
            for _ in 0..2 {
                caller.submit(0, DieQueue::Reads, read(number));
                number += 1;
            }
            let ended = caller.ended.len();
            while caller.ended.len() == ended {
                caller.step();
            }
        }
        let delay = u64::from(limit) * (2 * OVERHEAD + u64::from(reads) * read_time(1));
        assert_eq!(caller.end_of(0), program_time() + delay, "{limit} x {reads}");
        assert_eq!(caller.room.suspends(), u64::from(limit), "{limit} x {reads}");
    }
}

/// A warm-up that ends in the middle of a transfer: its rest belongs to what is counted from then on, and its beginning does not.
#[test]
fn a_transfer_that_is_under_way_when_counts_begin_anew_counts_for_its_rest() {
    for remaining in [1, UNIT / 4, UNIT / 2, UNIT] {
        let mut caller = Caller::new(&Shape::suspending(2, 4));
        caller.submit(0, DieQueue::Reads, read(1));
        let end = read_time(1);
        caller.run_until(end - remaining);
        caller.room.reset_figures(caller.now);
        assert_eq!(caller.room.channel_busy(caller.now), [Nanos(0)], "{remaining} ns before its end");
        assert_eq!(caller.run(), end);
        assert_eq!(caller.room.channel_busy(caller.now), [Nanos(remaining)], "{remaining} ns before its end");
    }
}

/// A die is busy once, whether it programs, waits for a suspension, or reads meanwhile; and not at all when it rests.
#[test]
fn a_die_is_busy_once() {
    let mut caller = Caller::new(&Shape::suspending(2, 4));
    caller.submit(0, DieQueue::Programs, program(1));
    for (number, at) in [(2, 50_000), (3, 60_000), (4, 300_000)] {
        caller.submit_at(at, 0, DieQueue::Reads, read(number));
    }
    // In the middle of it, too.
    caller.run_until(310_000);
    assert_eq!(caller.room.die_utilisation(caller.now, caller.now), [1.0]);
    let end = caller.run();
    assert_eq!(end, caller.end_of(1));
    assert_eq!(caller.room.die_utilisation(Nanos(2 * end), Nanos(2 * end)), [0.5]);
    // Of the channel: four commands, the program's two units, and a unit of each read.
    let bus = caller.room.channel_utilisation(Nanos(end), Nanos(end));
    assert_eq!(bus, [(4 * COMMAND + 5 * UNIT) as f64 / end as f64]);
    // Counted anew in the middle of a read, only the rest of it counts.
    let start = caller.now.0;
    caller.submit(0, DieQueue::Reads, read(5));
    caller.run_until(start + read_time(1) / 2);
    caller.room.reset_figures(caller.now);
    caller.run();
    let remaining = read_time(1) - read_time(1) / 2;
    assert_eq!(caller.room.die_utilisation(caller.now, Nanos(2 * remaining)), [0.5]);
}

/// A read with bad data is sensed again at once, whatever waits, and only the units that are still missing travel.
#[test]
fn a_read_again_goes_before_everything_else() {
    let mut caller = Caller::new(&Shape::default());
    caller.submit(0, DieQueue::Reads, read_of(1, 0, 0, 0b11));
    caller.submit(0, DieQueue::Reads, read(2));
    caller.run_until(read_time(2));
    let outlast_flash::DieEvent::Ended(op) = caller.room.handle_event(Nanos(read_time(2)), DieId(0)) else {
        panic!("the read ends at {}", read_time(2));
    };
    caller.now = Nanos(read_time(2));
    let again = FlashOp::read(op.place(), 0b10, op.tag);
    let _ = caller.room.sense_again(caller.now, DieId(0), again);
    caller.run();
    assert_eq!(caller.order(), [1, 2]);
    assert_eq!(caller.end_of(1), read_time(2) + read_time(1));
    assert_eq!(caller.room.die_utilisation(caller.now, caller.now), [1.0]);
}

/// Without time between them, a program of collection follows one of the host.
#[test]
fn a_die_takes_up_what_waits_without_a_pause() {
    let mut caller = Caller::new(&Shape::default());
    caller.submit(0, GC, internal(program(2)));
    caller.submit(0, GC, internal(program(3)));
    caller.submit(0, DieQueue::Programs, program(1));
    caller.submit(0, DieQueue::Reads, read(4));
    assert_eq!(caller.run(), 3 * program_time() + read_time(1));
    // The first was under way when the others came; then reads, then the host's programs.
    assert_eq!(caller.order(), [2, 4, 1, 3]);
}
