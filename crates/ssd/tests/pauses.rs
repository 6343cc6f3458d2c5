//! Do host writes, and nothing else, wait for the end of a pause of admission?

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_device::{Device, Op, Tag};
use outlast_settings::drive::{PausesConfig, SsdConfig};
use outlast_ssd::Ssd;
use outlast_units::Nanos;
use support::{command, tiny};

/// Each millisecond begins with a pause of so long.
const LENGTH: Nanos = Nanos(200_000);

fn pausing(pauses: bool) -> SsdConfig {
    let mut config = tiny();
    config.controller.pauses = pauses.then_some(PausesConfig { every: Nanos::millis(1), length: LENGTH });
    config
}

/// A filled drive, and how long a command takes that comes at time `at`, 40 ms from the beginning.
fn takes(pauses: bool, op: Op, at: Nanos) -> Nanos {
    let mut ssd = Ssd::new(pausing(pauses), 1).unwrap();
    for unit in 0..ssd.units() {
        ssd.write_unit_untimed(unit, 0).unwrap();
    }
    ssd.begin_timed();
    let now = Nanos::millis(40) + at;
    ssd.advance(now, &mut Vec::new());
    ssd.submit(now, command(op, 64, 8), Tag(0));
    let mut completions = Vec::new();
    let end = ssd.advance_to_completion(Nanos::MAX, &mut completions);
    ssd.self_check().unwrap();
    assert_eq!(completions.len(), 1);
    end - now
}

#[test]
fn a_write_waits_for_the_end_of_a_pause_and_a_read_does_not() {
    let (write, read) = (takes(false, Op::Write, Nanos::ZERO), takes(false, Op::Read, Nanos::ZERO));
    for at in [0, 1, 150_000, 199_999] {
        let left = LENGTH - Nanos(at);
        assert_eq!(takes(true, Op::Write, Nanos(at)), left + write, "{at} ns after the beginning");
        assert_eq!(takes(true, Op::Read, Nanos(at)), read);
    }
    for at in [200_000, 500_000, 999_000] {
        assert_eq!(takes(true, Op::Write, Nanos(at)), write, "{at} ns after the beginning");
    }
}

/// Sixteen writes that come in a pause end when it does, as they would if they had come then, and none counts as waiting for collection.
#[test]
fn all_writes_of_a_pause_enter_at_its_end() {
    let ends = |pauses: bool, from: u64| -> Vec<(u32, Nanos)> {
        let mut ssd = Ssd::new(pausing(pauses), 1).unwrap();
        let mut completions = Vec::new();
        for tag in 0..16u32 {
            let now = Nanos(from + if pauses { u64::from(tag) * 1000 } else { 0 });
            ssd.advance(now, &mut completions);
            ssd.submit(now, command(Op::Write, u64::from(tag) * 8, 8), Tag(tag));
        }
        while completions.len() < 16 {
            ssd.advance(ssd.next_deadline().unwrap(), &mut completions);
            ssd.self_check().unwrap();
        }
        assert_eq!(ssd.counters().blocked_ns, 0, "writes that wait for a pause do not wait for collection");
        completions.iter().map(|done| (done.tag.0, done.at)).collect()
    };
    let (held, free) = (ends(true, 5_000_000), ends(false, 5_000_000 + LENGTH.0));
    assert_eq!(held, free);
}
