//! The way between host and drive takes its time and changes nothing else.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_device::{Command, Completion, Device, Op, Outcome, PowerCycle, QueueId, Tag};
use outlast_settings::drive::{
    Arbitration, Class, CommandCosts, HostLatency, QueuesConfig, SsdConfig, WriteCache,
};
use outlast_ssd::Ssd;
use outlast_units::rng::SplitMix;
use outlast_units::{ByteRate, Nanos};
use proptest::prelude::*;
use support::{command, tiny};

const SUBMIT: u64 = 1_500;
const COMPLETE: u64 = 7_000;
/// Command cycles, tR, and 4096 B at 667 MB/s, rounded up.
const READ: u64 = 200 + 60_000 + 6_141;

fn far(mut config: SsdConfig) -> SsdConfig {
    config.controller.host_latency = HostLatency { submit: Nanos(SUBMIT), complete: Nanos(COMPLETE) };
    config
}

/// A drive with its first 64 units on flash, at rest.
fn filled(config: SsdConfig) -> (Ssd, Nanos) {
    let mut ssd = Ssd::new(config, 1).unwrap();
    for unit in 0..64 {
        ssd.submit(Nanos::ZERO, command(Op::Write, unit * 8, 8), Tag(unit as u32));
    }
    let mut now = Nanos::ZERO;
    while !ssd.is_idle() {
        now = ssd.next_deadline().unwrap();
        ssd.advance(now, &mut Vec::new());
    }
    (ssd, now)
}

/// All completions of what is in flight.
fn run_out(ssd: &mut Ssd) -> Vec<Completion> {
    let mut completions = Vec::new();
    while let Some(at) = ssd.next_deadline().filter(|_| !ssd.is_idle()) {
        ssd.advance(at, &mut completions);
        ssd.self_check().unwrap();
    }
    completions
}

/// What one command takes on a drive at rest.
fn alone(config: SsdConfig, command: Command) -> u64 {
    let (mut ssd, now) = filled(config);
    ssd.submit(now, command, Tag(0));
    let mut completions = Vec::new();
    let heard = ssd.advance_to_completion(Nanos::MAX, &mut completions);
    assert_eq!(completions, [Completion::new(heard, Tag(0), Outcome::Ok)]);
    assert!(ssd.commands_in_flight() == 0);
    heard.0 - now.0
}

#[test]
fn at_rest_a_command_takes_the_sum_of_its_parts() {
    let (read, write) = (command(Op::Read, 0, 8), command(Op::Write, 0, 8));
    assert_eq!(alone(far(tiny()), read), SUBMIT + READ + COMPLETE);
    assert_eq!(alone(far(tiny()), write), SUBMIT + COMPLETE);
    assert_eq!(alone(far(tiny()), command(Op::Trim, 0, 8)), SUBMIT + COMPLETE);
    assert_eq!(alone(far(tiny()), Command::FLUSH), SUBMIT + COMPLETE);

    let mut linked = far(tiny());
    // A byte a nanosecond.
    linked.controller.link = ByteRate::new(1_000_000_000);
    assert_eq!(alone(linked.clone(), read), SUBMIT + READ + 4096 + COMPLETE);
    assert_eq!(alone(linked, write), SUBMIT + 4096 + COMPLETE);
}

#[test]
fn a_command_costs_the_master_core_what_its_kind_does() {
    let mut config = far(tiny());
    config.controller.master_cost = Nanos(900);
    config.controller.command_costs =
        CommandCosts { read: Some(Nanos(2_000)), write: Some(Nanos(3_000)), append: None };
    let at_rest = |command| alone(config.clone(), command) - SUBMIT - COMPLETE;
    assert_eq!(at_rest(command(Op::Read, 0, 8)), 2_000 + READ);
    assert_eq!(at_rest(command(Op::Write, 0, 8)), 3_000);
    assert_eq!(at_rest(command(Op::Trim, 0, 8)), 900);
    assert_eq!(at_rest(Command::FLUSH), 900);
    // The core does one after the other, in the order in which they came.
    let (mut ssd, now) = filled(config);
    for (tag, op) in (0..).zip([Op::Write, Op::Trim, Op::Write]) {
        ssd.submit(now, command(op, u64::from(tag) * 8, 8), Tag(tag));
    }
    let ends: Vec<_> = run_out(&mut ssd).iter().map(|done| (done.tag.0, done.at.0 - now.0)).collect();
    let there = SUBMIT + COMPLETE;
    assert_eq!(ends, [(0, there + 3_000), (1, there + 3_900), (2, there + 6_900)]);
}

/// The drive's queue knows nothing of the way to it: a place is taken when a command arrives and free when it is done.
#[test]
fn the_way_holds_no_place_in_the_queue() {
    let mut config = far(tiny());
    config.controller.queue_depth = 1;
    let (mut ssd, now) = filled(config);
    for tag in 0..3 {
        ssd.submit(now, command(Op::Read, u64::from(tag) * 64, 8), Tag(tag));
        assert_eq!(ssd.commands_in_flight(), tag + 1);
    }
    let ends: Vec<_> = run_out(&mut ssd).iter().map(|done| done.at.0 - now.0).collect();
    assert_eq!(ends, [1, 2, 3].map(|turn| SUBMIT + turn * READ + COMPLETE));
}

/// A random open loop; what completed, and when.
fn open_loop(config: SsdConfig, seed: u64, gap: u64) -> Vec<Completion> {
    let mut ssd = Ssd::new(config, 1).unwrap();
    let mut rng = SplitMix::new(seed, "test");
    let mut completions = Vec::new();
    let mut now = Nanos::ZERO;
    for tag in 0..1500 {
        now.0 += rng.below(gap);
        let op = [Op::Write, Op::Write, Op::Read, Op::Trim, Op::Flush][rng.below(5) as usize];
        let sectors = if op == Op::Flush { 0 } else { 1 + rng.below(40) as u32 };
        let lba = rng.below(600 * 8 - 40);
        ssd.advance(now, &mut completions);
        let queue = QueueId(rng.below(5) as u8);
        ssd.submit(now, Command { queue, ..command(op, lba, sectors) }, Tag(tag));
    }
    completions.extend(run_out(&mut ssd));
    completions
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Whatever else the drive has to do: all that comes so much later is done so much later, and known so much later.
    #[test]
    fn an_open_loop_is_shifted_by_both_ways(
        seed: u64,
        gap in 1_000u64..400_000,
        (submit, complete) in (0u64..30_000, 0u64..30_000),
        (depth, linked, busy, in_order) in (1u32..80, any::<bool>(), any::<bool>(), any::<bool>()),
        cache in prop::sample::select(vec![WriteCache::Protected, WriteCache::Volatile, WriteCache::Off]),
    ) {
        let mut config = tiny();
        config.controller.queue_depth = depth;
        config.controller.write_cache = cache;
        config.controller.in_order = in_order;
        config.controller.queues = (seed % 3 != 0).then(|| QueuesConfig {
            arbitration: Arbitration::Weighted,
            depth: (seed % 5 == 1).then_some((1 + (seed >> 12) as u32 % 3).min(depth)),
            classes: vec![Class::High, Class::Urgent, Class::Low, Class::Medium],
        });
        config.controller.link = linked.then(|| ByteRate::new(500_000_000).unwrap());
        if busy {
            config.controller.command_costs = CommandCosts { write: Some(Nanos(2_500)), ..CommandCosts::default() };
        }
        let near = open_loop(config.clone(), seed, gap);
        prop_assert_eq!(near.len(), 1500);
        config.controller.host_latency = HostLatency { submit: Nanos(submit), complete: Nanos(complete) };
        let shifted: Vec<_> = near.iter().map(|done| Completion { at: done.at + Nanos(submit + complete), ..*done }).collect();
        prop_assert_eq!(open_loop(config, seed, gap), shifted);
    }
}

/// Reads a unit of a drive that keeps bytes.
fn content(ssd: &mut Ssd, now: Nanos, unit: u64) -> Vec<u8> {
    ssd.submit(now, command(Op::Read, unit * 8, 8), Tag(77));
    ssd.advance_to_completion(Nanos::MAX, &mut Vec::new());
    ssd.take_data(Tag(77)).unwrap()
}

#[test]
fn a_loss_of_power_meets_commands_on_their_way() {
    let mut config = far(tiny());
    config.bytes = true;
    let mut ssd = Ssd::new(config, 1).unwrap();
    // On its way out at the loss, and on its way in.
    ssd.submit_data(Nanos::ZERO, command(Op::Write, 0, 8), Tag(0), &[1; 4096]);
    ssd.submit_data(Nanos(SUBMIT), command(Op::Write, 8, 8), Tag(1), &[2; 4096]);
    let mut heard = Vec::new();
    let cut = Nanos(2 * SUBMIT - 1);
    ssd.advance(cut, &mut heard);
    assert_eq!((heard.len(), ssd.commands_in_flight()), (0, 2));
    ssd.self_check().unwrap();
    let mut told = ssd.clone();

    // The host's side goes with the power: nothing is heard, and what the drive had done is done.
    ssd.power_cycle(cut, cut);
    assert!(ssd.is_idle());
    ssd.self_check().unwrap();
    ssd.advance(Nanos::secs(1), &mut heard);
    assert_eq!(heard.len(), 0);
    assert_eq!(content(&mut ssd, Nanos::secs(1), 0), [1; 4096]);
    assert_eq!(content(&mut ssd, Nanos::secs(1), 1), [0; 4096]);

    // The host stays: it sees at once that nobody answers.
    let fault = outlast_media::DriveFault {
        die: 0,
        damage: outlast_media::DieDamage::Power(outlast_media::UnitTear::Nothing),
    };
    told.inject(cut, fault);
    told.self_check().unwrap();
    told.advance(Nanos::secs(1), &mut heard);
    let mut ends: Vec<_> = heard.iter().map(|done| (done.tag.0, done.at, done.outcome)).collect();
    ends.sort_by_key(|end| end.0);
    assert_eq!(ends, [(0, cut, Outcome::Aborted), (1, cut, Outcome::Aborted)]);
    assert!(told.is_idle() && told.take_data(Tag(0)).is_none());
    assert_eq!(content(&mut told, Nanos::secs(1), 0), [1; 4096]);
    assert_eq!(content(&mut told, Nanos::secs(1), 1), [0; 4096]);
}
