//! Which command does the drive take next when more wait than it works on? Closed forms; arbitration by itself is compared with a model in
//! `host/arbiter.rs`.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_device::{Command, Device, Op, QueueId, Tag};
use outlast_settings::drive::{Arbitration, Class, QueuesConfig, SsdConfig};
use outlast_ssd::Ssd;
use outlast_units::{Bytes, Nanos};
use support::{command, tiny};

/// One die, whose reads end in the order in which the drive takes them.
fn one_die(depth: u32, queues: Option<QueuesConfig>) -> SsdConfig {
    let mut config = tiny();
    config.geometry.channels = 1;
    config.geometry.dies_per_chip = 1;
    config.geometry.blocks_per_plane = 64;
    config.controller.queue_depth = depth;
    config.controller.queues = queues;
    config
}

fn round_robin() -> QueuesConfig {
    QueuesConfig { arbitration: Arbitration::RoundRobin, depth: None, classes: Vec::new() }
}

fn weighted(classes: &[Class]) -> QueuesConfig {
    QueuesConfig { arbitration: Arbitration::Weighted, classes: classes.to_vec(), ..round_robin() }
}

fn run_out(ssd: &mut Ssd) -> Vec<(u32, Nanos)> {
    let mut completions = Vec::new();
    while let Some(at) = ssd.next_deadline().filter(|_| !ssd.is_idle()) {
        ssd.advance(at, &mut completions);
        ssd.self_check().unwrap();
    }
    completions.iter().map(|done| (done.tag.0, done.at)).collect()
}

/// Reads through these queues at once, of units that are on flash; the queues in the order in which their reads end.
fn order(config: SsdConfig, queues: &[u8]) -> Vec<u8> {
    let mut ssd = Ssd::new(config, 1).unwrap();
    for unit in 0..64 {
        ssd.submit(Nanos::ZERO, command(Op::Write, unit * 8, 8), Tag(unit as u32));
    }
    let now = run_out(&mut ssd).iter().map(|&(_, at)| at).max().unwrap() + Nanos::millis(50);
    ssd.advance(now, &mut Vec::new());
    for (tag, &queue) in (0..).zip(queues) {
        let read = command(Op::Read, u64::from(tag) * 2 % 64 * 8, 8);
        ssd.submit(now, Command { queue: QueueId(queue), ..read }, Tag(tag));
    }
    run_out(&mut ssd).iter().map(|&(tag, _)| queues[tag as usize]).collect()
}

#[test]
fn saturated_queues_share_by_their_weights() {
    let queues: Vec<u8> = (0..300u16).map(|number| (number % 3) as u8).collect();
    let config = one_die(1, Some(weighted(&[Class::High, Class::Medium, Class::Low])));
    let ends = order(config, &queues);
    for round in ends.chunks_exact(14).take(12) {
        let of = |queue| round.iter().map(|&own| u32::from(own == queue)).sum::<u32>();
        assert_eq!([of(0), of(1), of(2)], [8, 4, 2]);
    }
}

#[test]
fn an_urgent_queue_starves_all_others() {
    let queues = [[0; 20], [1; 20], [2; 20]].concat();
    let ends = order(one_die(1, Some(weighted(&[Class::High, Class::Low, Class::Urgent]))), &queues);
    // The first found a place before the others had come.
    assert_eq!(ends[..21], [[0; 1].as_slice(), &[2; 20]].concat());
}

/// Six queues that are full and a seventh with one command: it waits for what the drive works on, and for its turn.
#[test]
fn who_asks_little_waits_for_its_turn_only() {
    let mut queues: Vec<u8> = (0..6).flat_map(|queue| [queue; 64]).collect();
    queues.push(6);
    let place = |config| order(config, &queues).iter().position(|&queue| queue == 6).unwrap();
    assert_eq!(place(one_die(16, None)), 384);
    // Queue 0 filled the drive, and the turn goes round.
    assert_eq!(place(one_die(16, Some(round_robin()))), 16 + 5);
    // Where each queue has two places at most, sixteen are enough for all: it waits for what the others have in the drive.
    let few = QueuesConfig { depth: Some(2), ..round_robin() };
    assert_eq!(place(one_die(16, Some(few))), 6 * 2);
}

#[test]
fn in_order_a_write_that_waits_for_room_holds_up_what_comes_behind() {
    let ends = |in_order| {
        let mut config = one_die(4096, None);
        config.controller.write_buffer = Bytes::kib(64);
        config.controller.in_order = in_order;
        let mut ssd = Ssd::new(config, 1).unwrap();
        for unit in 0..16 {
            ssd.submit(Nanos::ZERO, command(Op::Write, unit * 8, 8), Tag(unit as u32));
        }
        run_out(&mut ssd);
        let now = Nanos::secs(1);
        ssd.advance(now, &mut Vec::new());
        for unit in 0..100 {
            ssd.submit(now, command(Op::Write, (64 + unit) * 8, 8), Tag(unit as u32));
        }
        ssd.submit(now, command(Op::Read, 0, 8), Tag(100));
        let ends = run_out(&mut ssd);
        let of = |tag| ends.iter().find(|end| end.0 == tag).unwrap().1;
        assert_eq!(ends.len(), 101);
        (of(99), of(100))
    };
    let (write, read) = ends(false);
    assert!(read < write, "a read overtakes writes that wait: {read} against {write}");
    let (write, read) = ends(true);
    assert!(read > write, "a read waits behind the writes before it: {read} against {write}");
}
