//! The short way by which a die that has nothing to do begins a read.

use crate::support;

use outlast_flash::{CoreDemand, DieQueue, FlashOp, InternalTask};
use outlast_units::{CoreId, DieId, Nanos};
use proptest::prelude::*;
use support::{Caller, Shape, Tag, erase, internal, program, read, read_of};

/// One operation of a die, a while after the one before.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    gap: u64,
    die: u16,
    kind: u8,
    demand: CoreDemand,
}

fn arrival() -> impl Strategy<Value = Arrival> {
    let gap = prop_oneof![Just(0u64), 1u64..60_000, 60_000u64..4_000_000];
    (gap, 0u16..2, 0u8..8, any::<(bool, bool)>()).prop_map(|(gap, die, kind, (urgent, background))| {
        let demand = CoreDemand { urgent, background, ..CoreDemand::default() };
        Arrival { gap, die, kind, demand }
    })
}

fn op_of(kind: u8, number: u32) -> (DieQueue, FlashOp<Tag>) {
    match kind {
        0..=3 => (DieQueue::Reads, read(number)),
        4 => (DieQueue::Reads, read_of(number, 3, 1, 3)),
        5 => (DieQueue::Programs, program(number)),
        6 => (DieQueue::Internal(InternalTask::Gc), internal(program(number))),
        _ => (DieQueue::Internal(InternalTask::Scrub), erase(number, 9)),
    }
}

/// All of a room, without the last operation of queues that are empty, which says nothing.
fn all_of(caller: &Caller) -> String {
    const EMPTY: &str = "head: 4294967295, tail: ";
    let text = format!("{:?}", caller.room);
    let mut parts = text.split(EMPTY);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |all, part| all + EMPTY + part.trim_start_matches(|sign: char| sign.is_ascii_digit()))
}

proptest! {
    /// A room into which operations are submitted, and one in which each waits in its queue before the die is told to take up what waits, are the
    /// same all the time.
    #[test]
    fn a_read_begun_at_once_is_one_that_was_queued_and_taken_up(
        arrivals in proptest::collection::vec(arrival(), 1..60),
    ) {
        let shape = Shape { channels: 1, dies_per_channel: 2, background_every: 3, program_every: 2, ..Shape::default() };
        let (mut at_once, mut queued) = (Caller::new(&shape), Caller::new(&shape));
        prop_assert!(at_once.room.is_plain());
        let mut now = 0;
        for (number, arrival) in (0..).zip(&arrivals) {
            now += arrival.gap;
            let (queue, op) = op_of(arrival.kind, number);
            at_once.demands[0] = arrival.demand;
            queued.demands[0] = arrival.demand;
            at_once.submit_at(now, arrival.die, queue, op);
            queued.run_until(now);
            queued.room.enqueue(Nanos(now), DieId(arrival.die), queue, op);
            let demands = queued.demands.clone();
            let next = queued.room.start_or_suspend(Nanos(now), DieId(arrival.die), |core: CoreId| demands[core.index()]);
            queued.follow(DieId(arrival.die), next);
            prop_assert_eq!(all_of(&at_once), all_of(&queued), "after operation {}", number);
        }
        prop_assert_eq!(at_once.run(), queued.run());
        prop_assert_eq!((at_once.ended, at_once.pages), (queued.ended, queued.pages));
    }
}
