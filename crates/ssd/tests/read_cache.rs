//! Does the read cache hold what a list of the units read last holds?

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_device::{Device, Op, Tag};
use outlast_ftl::ReadCause;
use outlast_media::{DieDamage, DriveFault, UnitTear};
use outlast_ssd::Ssd;
use outlast_units::rng::SplitMix;
use outlast_units::{Bytes, Nanos};
use std::collections::VecDeque;
use support::{command, tiny};

const KEPT: usize = 48;

fn drive() -> Ssd {
    let mut config = tiny();
    config.controller.read_cache = Some(Bytes(KEPT as u64 * 4096));
    Ssd::new(config, 5).unwrap()
}

/// One command at a time, to its end; returns how long it took.
fn alone(ssd: &mut Ssd, now: &mut Nanos, op: Op, unit: u64) -> Nanos {
    let mut ended = Vec::new();
    ssd.submit(*now, command(op, 8 * unit, 8), Tag(0));
    while ended.is_empty() {
        let at = ssd.next_deadline().unwrap();
        ssd.advance(at, &mut ended);
    }
    let took = ended[0].at - *now;
    *now = ended[0].at;
    took
}

/// One command at a time: each read is answered from the write buffer, from the cache exactly if the list has its unit, or from flash.
#[test]
fn it_holds_the_units_read_last() {
    let (mut ssd, mut now, mut rng) = (drive(), Nanos::ZERO, SplitMix::new(11, "commands"));
    let (mut list, mut hits, mut misses) = (VecDeque::<u64>::new(), 0, 0);
    for unit in 0..600 {
        alone(&mut ssd, &mut now, Op::Write, unit);
    }
    for step in 0..20_000 {
        // Eight in ten go to 80 of the 600 units.
        let unit = if rng.below(10) < 8 { rng.below(80) } else { rng.below(600) };
        let op = [Op::Write, Op::Trim, Op::Read][(rng.below(40) as usize).min(2)];
        let before = ssd.counters();
        let took = alone(&mut ssd, &mut now, op, unit);
        let after = ssd.counters();
        let place = list.iter().position(|&kept| kept == unit);
        let hit = after.read_cache_hits - before.read_cache_hits;
        if op != Op::Read
            || after.buffer_hits + after.unmapped_reads > before.buffer_hits + before.unmapped_reads
        {
            assert_eq!(hit, 0);
            if op != Op::Read {
                place.map(|place| list.remove(place));
            }
            continue;
        }
        assert_eq!(hit, u64::from(place.is_some()), "unit {unit} in step {step}");
        assert_eq!(
            after.reads[ReadCause::Host] - before.reads[ReadCause::Host],
            1 - hit,
            "a hit takes no flash"
        );
        assert_eq!(took == Nanos::ZERO, hit == 1);
        (hits, misses) = (hits + hit, misses + 1 - hit);
        place.map(|place| list.remove(place));
        list.push_front(unit);
        list.truncate(KEPT);
    }
    assert!(hits > 2000 && misses > 2000, "{hits} hits, {misses} misses");
    assert_eq!(ssd.counters().read_cache_hits, hits);
    ssd.self_check().unwrap();
}

#[test]
fn a_loss_of_power_empties_it() {
    let (mut ssd, mut now) = (drive(), Nanos::ZERO);
    for unit in 0..600 {
        alone(&mut ssd, &mut now, Op::Write, unit);
    }
    for _ in 0..2 {
        alone(&mut ssd, &mut now, Op::Read, 0);
    }
    assert_eq!(ssd.counters().read_cache_hits, 1);
    ssd.inject(now, DriveFault { die: 0, damage: DieDamage::Power(UnitTear::Nothing) });
    alone(&mut ssd, &mut now, Op::Read, 0);
    assert_eq!(ssd.counters().read_cache_hits, 1);
}
