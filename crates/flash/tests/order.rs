//! Who goes first on a die, and how often at most?

use crate::support;

use outlast_flash::{CoreDemand, DieEvent, DieQueue, DieStep, FlashOp, InternalTask};
use outlast_media::ProgramUnit;
use outlast_units::{CoreId, DieId, Nanos};
use support::{
    Caller, ERASE, Shape, Tag, UNIT, erase, internal, program, program_time, read, read_of, read_time,
};

const GC: DieQueue = DieQueue::Internal(InternalTask::Gc);
const SCRUB: DieQueue = DieQueue::Internal(InternalTask::Scrub);
const URGENT: CoreDemand = CoreDemand { urgent: true, background: false, writes_wait: false };

/// Keeps two reads waiting, numbered from 1000, until operation `number` has ended; returns how many ended before it.
fn reads_before(caller: &mut Caller, number: u32) -> usize {
    let mut next = 1000;
    while !caller.order().contains(&number) {
        while next < 1002 + caller.ended.len() as u32 {
            caller.submit(0, DieQueue::Reads, read(next));
            next += 1;
        }
        caller.step();
        assert!(next < 3000, "operation {number} starves");
    }
    caller.order().iter().position(|&other| other == number).expect("it has ended")
}

#[test]
fn a_host_program_waits_for_so_many_reads() {
    for every in [1, 7, 255] {
        let mut caller = Caller::new(&Shape { program_every: every, ..Shape::default() });
        caller.submit(0, DieQueue::Reads, read(1));
        caller.submit(0, DieQueue::Programs, program(2));
        // The first was under way when the program came.
        assert_eq!(reads_before(&mut caller, 2), 1 + usize::from(every));
    }
}

#[test]
fn urgent_collection_waits_for_eight_reads() {
    let mut caller = Caller::new(&Shape::default());
    caller.demands[0] = URGENT;
    caller.submit(0, DieQueue::Programs, program(1));
    caller.submit(0, GC, internal(program(2)));
    assert_eq!(reads_before(&mut caller, 2), 1 + 8);
    // Where it is not urgent, it waits as long as there are reads.
    let mut caller = Caller::new(&Shape::default());
    caller.submit(0, DieQueue::Reads, read(1));
    caller.submit(0, GC, internal(program(2)));
    for number in 10..100 {
        caller.submit(0, DieQueue::Reads, read(number));
    }
    caller.run();
    assert_eq!(caller.order().last(), Some(&2));
}

#[test]
fn a_background_task_waits_for_so_many_operations() {
    for every in [1, 32, 255] {
        let mut caller = Caller::new(&Shape { background_every: every, ..Shape::default() });
        caller.submit(0, DieQueue::Reads, read(1));
        caller.submit(0, SCRUB, internal(program(2)));
        assert_eq!(reads_before(&mut caller, 2), 1 + usize::from(every));
    }
}

#[test]
fn host_programs_then_collection_then_the_background() {
    let submit = |caller: &mut Caller| {
        caller.submit(0, DieQueue::Reads, read(0));
        caller.submit(0, SCRUB, internal(program(4)));
        caller.submit(0, GC, internal(program(3)));
        caller.submit(0, DieQueue::Programs, program(2));
        caller.submit(0, DieQueue::Reads, read(1));
    };
    let mut caller = Caller::new(&Shape::default());
    submit(&mut caller);
    caller.run();
    assert_eq!(caller.order(), [0, 1, 2, 3, 4]);
    let mut caller = Caller::new(&Shape::default());
    caller.demands[0] = URGENT;
    submit(&mut caller);
    caller.run();
    assert_eq!(caller.order(), [0, 1, 3, 2, 4], "urgent collection goes before host programs");
}

/// Queued operations of a task go before reads that the task has announced; a die asks every task, collection first.
#[test]
fn tasks_are_asked_in_order() {
    let mut caller = Caller::new(&Shape::default());
    caller.demands[0].background = true;
    caller.submit(0, DieQueue::Reads, read(0));
    let of = |number| internal(read_of(number, 3, 0, 1));
    caller.announce_reads(0, InternalTask::Scrub, [of(6)]);
    caller.announce_reads(0, InternalTask::WearLeveling, [of(5)]);
    caller.announce_reads(0, InternalTask::Gc, [of(3), of(4)]);
    caller.submit(0, GC, internal(program(2)));
    caller.submit(0, DieQueue::Programs, program(1));
    caller.run();
    assert_eq!(caller.order(), [0, 1, 2, 3, 4, 5, 6]);
    assert!(caller.room.all_idle());
}

/// Reads that were translated before their data moved must still find it: an erasure whose turn has come lets one of its block go first.
#[test]
fn an_erasure_waits_for_the_reads_of_its_block() {
    for (block, order) in [(9, [0, 2, 3, 1, 4]), (8, [0, 2, 1, 3, 4])] {
        let mut caller = Caller::new(&Shape { background_every: 1, ..Shape::default() });
        caller.submit(0, DieQueue::Reads, read(0));
        caller.submit(0, SCRUB, erase(1, 9));
        // One operation goes before the background.
        caller.submit(0, DieQueue::Reads, read(2));
        caller.submit(0, DieQueue::Reads, read_of(3, block, 0, 1));
        caller.submit(0, DieQueue::Reads, read(4));
        caller.run();
        assert_eq!(caller.order(), order, "a read of block {block}");
    }
}

#[test]
fn so_many_internal_operations_at_once() {
    let shape = Shape { channels: 3, internal: Some(1), ..Shape::default() };
    let mut caller = Caller::new(&shape);
    for die in 0..3 {
        caller.submit(die, GC, erase(u32::from(die), 9));
    }
    assert_eq!((caller.room.internal_operations(), caller.room.dies_waiting()), (1, 2));
    let each = support::COMMAND + ERASE;
    assert_eq!(caller.run(), 3 * each);
    assert_eq!(caller.order(), [0, 1, 2], "the die that waits longest goes first");
    assert_eq!(caller.room.internal_operations(), 0);
    // A die that waits for that does everything else meanwhile.
    let mut caller = Caller::new(&shape);
    caller.submit(0, GC, erase(0, 9));
    caller.submit(1, GC, erase(1, 9));
    caller.submit(1, DieQueue::Programs, program(2));
    caller.run();
    assert_eq!(caller.end_of(2), program_time());
    assert_eq!(caller.end_of(1), 2 * each);
}

/// An internal operation counts until its caller is done with it, not until the die is.
#[test]
fn an_internal_operation_counts_until_its_caller_is_done() {
    let mut caller = Caller::new(&Shape { channels: 2, internal: Some(1), ..Shape::default() });
    let (first, second) = (internal(read(0)), internal(read(1)));
    caller.announce_reads(0, InternalTask::Gc, [first]);
    caller.announce_reads(1, InternalTask::Gc, [second]);
    caller.run_until(read_time(1));
    let DieEvent::Ended(op) = caller.room.handle_event(Nanos(read_time(1)), DieId(0)) else {
        panic!("it ends now")
    };
    assert_eq!(op.tag, Tag { number: 0, internal: true });
    assert_eq!((caller.room.internal_operations(), caller.room.dies_waiting()), (1, 1));
    assert!(caller.room.is_idle(DieId(1)));
    caller.room.end_internal(caller.now);
    assert_eq!(caller.room.take_waiting_die(), Some(DieId(1)));
    caller.wake(DieId(1));
    assert_eq!(caller.room.internal_operations(), 1);
}

/// Two units on one page of an idle die: one sensing if they are gathered, two if the die looks at the first at once.
#[test]
fn the_units_of_a_command_are_sensed_once() {
    let program_unit = ProgramUnit { planes: 1, rows: 1, pages_per_unit: 1, units_per_page: 4 };
    let shape = Shape { program_unit, ..Shape::default() };
    let submit = |caller: &mut Caller, number, unit: u32| {
        let same = |tag: &Tag| tag.number == number;
        if !caller.room.join_read(DieId(0), unit, same) {
            caller.submit(0, DieQueue::Reads, read_of(number, 0, 0, 1 << unit));
        }
    };
    let mut caller = Caller::new(&shape);
    caller.room.begin_gathering();
    for unit in [0, 2, 3] {
        submit(&mut caller, 7, unit);
    }
    assert!(caller.room.is_idle(DieId(0)));
    let dies = caller.room.end_gathering();
    assert_eq!(dies, [DieId(0)]);
    for &die in &dies {
        assert!(matches!(
            caller.room.start_or_suspend(Nanos::ZERO, die, |_| CoreDemand::default()),
            DieStep::Sensing(_)
        ));
    }
    caller.room.return_gathered(dies);
    assert_eq!(caller.run(), read_time(3));
    assert_eq!(caller.order(), [7]);

    let mut caller = Caller::new(&shape);
    for unit in [0, 2, 3] {
        submit(&mut caller, 7, unit);
    }
    assert_eq!(caller.run(), read_time(1) + read_time(2), "the second waits, and takes the third along");
    assert_eq!(caller.pages, 2);
    // Another command's unit, or a unit read already, is read by itself.
    assert!(!caller.room.join_read(DieId(0), 0, |_| true), "nothing waits");
    caller.submit(0, DieQueue::Reads, read(1));
    caller.submit(0, DieQueue::Reads, read_of(2, 0, 0, 0b10));
    assert!(!caller.room.join_read(DieId(0), 1, |tag| tag.number == 2), "that unit is read already");
    assert!(!caller.room.join_read(DieId(0), 2, |tag| tag.number == 3), "another command");
    let start = caller.now.0;
    assert_eq!(caller.run() - start, 2 * read_time(1));
}

/// Power fails: the programs that a die had begun, suspended ones included, and those that waited, in order; then nothing is left.
#[test]
fn a_cut_leaves_nothing() {
    let mut caller = Caller::new(&Shape { channels: 2, internal: Some(1), ..Shape::suspending(4, 16) });
    caller.submit(0, DieQueue::Programs, program(1));
    caller.submit(0, DieQueue::Programs, program(2));
    caller.submit(0, GC, internal(program(3)));
    caller.submit(0, SCRUB, internal(program(4)));
    caller.submit(0, SCRUB, erase(5, 9));
    caller.submit(1, GC, erase(6, 9));
    caller.submit(1, GC, internal(program(7)));
    caller.submit_at(200_000, 0, DieQueue::Reads, read(8));
    for at in [200_001, 210_000] {
        // Waiting until it is suspended, and reading meanwhile.
        caller.run_until(at);
        let mut cut = caller.clone();
        let outstanding = cut.room.cut_power(cut.now);
        let programs: Vec<(u16, u32, bool)> =
            outstanding.iter().map(|one| (one.die.0, one.op.tag.number, one.started)).collect();
        assert_eq!(
            programs,
            [(0, 1, true), (0, 2, false), (0, 3, false), (0, 4, false), (1, 7, false)],
            "{at}"
        );
        assert!(cut.room.all_idle());
        assert_eq!((cut.room.next_event(), cut.room.internal_operations()), (Nanos::MAX, 0));
        assert_eq!(cut.room.dies_waiting(), 0);
        assert_eq!(cut.room.programs().count() + cut.room.reads_under_way().count(), 0);
        assert_eq!(cut.room.die_utilisation(cut.now, cut.now), [1.0, 1.0], "what was done counts");
        // They can be begun again.
        for one in outstanding {
            let queue = if one.op.tag.internal { GC } else { DieQueue::Programs };
            cut.room.enqueue(cut.now, one.die, queue, one.op.with_tag(one.op.tag));
        }
        cut.ended.clear();
        for die in 0..2 {
            cut.wake(DieId(die));
        }
        cut.run();
        let mut order = cut.order();
        order.sort_unstable();
        assert_eq!(order, [1, 2, 3, 4, 7]);
    }
}

/// A booked transfer does not take place if power fails before.
#[test]
fn a_cut_frees_the_channel() {
    let mut caller = Caller::new(&Shape::default());
    caller.submit(0, DieQueue::Programs, program(1));
    caller.run_until(UNIT);
    let _ = caller.room.cut_power(caller.now);
    assert_eq!(caller.room.channel_utilisation(caller.now, caller.now), [1.0]);
    caller.submit(0, DieQueue::Reads, read(2));
    let start = caller.now.0;
    assert_eq!(caller.run(), start + read_time(1));
}

/// The hot part of an operation is half a cache line, with a tag of twelve bytes as the drive has it.
#[test]
fn an_operation_takes_32_bytes() {
    assert_eq!(size_of::<FlashOp<[u32; 3]>>(), 32);
}

/// The die asks again only after it has been told that there is more.
#[test]
fn a_task_that_wants_nothing_is_not_asked() {
    let mut caller = Caller::new(&Shape::default());
    caller.announce_reads(0, InternalTask::Gc, [internal(read(1))]);
    caller.run();
    assert!(matches!(
        caller.room.wake(caller.now, DieId(0), |_: CoreId| CoreDemand::default()),
        DieStep::Nothing
    ));
    caller.announce_reads(0, InternalTask::Gc, [internal(read(2))]);
    caller.run();
    assert_eq!(caller.order(), [1, 2]);
}
