//! Do internal tasks that think take as long as they should, and does nobody else notice?

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_device::{Command, Device, Op, Outcome, PowerCycle, Tag};
use outlast_ftl::{ProgramCause, ReadCause};
use outlast_media::reliability::{Ecc, PowerLaw, RberModel};
use outlast_settings::drive::{ReliabilityConfig, ScrubConfig, SsdConfig};
use outlast_settings::ftl::WearLeveling;
use outlast_ssd::Ssd;
use outlast_units::Nanos;
use proptest::prelude::*;
use support::{command, tiny};

/// Command cycles, tR, and one or two units of 4096 B at 667 MB/s, rounded up.
const READ: u64 = 200 + 60_000 + 6_141;
const READ_OF_TWO: u64 = 200 + 60_000 + 12_282;
const PROGRAM: u64 = 200 + 12_282 + 700_000;
const ERASE: u64 = 200 + 3_500_000;
/// Of a superblock of one die: eight pages on each of two planes, which are read, programmed and erased together.
const ROWS: u64 = 8;
/// Reads, programs and one erasure.
const OPERATIONS: u64 = 2 * ROWS + 1;

fn one_die(slots: u32, think_time: Nanos) -> SsdConfig {
    let mut config = tiny();
    config.geometry.channels = 1;
    config.geometry.dies_per_chip = 1;
    config.geometry.blocks_per_plane = 64;
    config.controller.internal_operations = Some(slots);
    config.controller.think_time = think_time;
    config
}

/// Never in error; a superblock of which a block has been read so often is moved.
fn scrubs(reads: u32, mut config: SsdConfig) -> SsdConfig {
    let law =
        PowerLaw { epsilon: 1e-6, alpha: 0.0, beta: 0.0, gamma: 0.0, k: 1.0, m: 0.0, n: 1.0, p: 0.0, q: 1.0 };
    config.reliability = Some(ReliabilityConfig {
        model: Some(RberModel::PowerLaw(law)),
        ecc: Ecc { strength: None, ..Ecc::default() },
        ..ReliabilityConfig::default()
    });
    config.scrub = Some(ScrubConfig { reads: Some(reads), ..ScrubConfig::default() });
    config
}

fn filled(config: SsdConfig) -> Ssd {
    let mut ssd = Ssd::new(config, 1).unwrap();
    for unit in 0..ssd.units() {
        ssd.write_unit_untimed(unit, 0).unwrap();
    }
    ssd.begin_timed();
    ssd
}

fn read(ssd: &mut Ssd, now: Nanos, unit: u64) -> Nanos {
    ssd.submit(now, command(Op::Read, unit * 8, 8), Tag(0));
    let mut completions = Vec::new();
    let at = ssd.advance_to_completion(Nanos::MAX, &mut completions);
    assert_eq!((completions.len(), completions[0].outcome), (1, Outcome::Ok));
    at
}

fn settle(ssd: &mut Ssd, mut now: Nanos) -> Nanos {
    while !ssd.is_idle() {
        now = ssd.next_deadline().unwrap();
        ssd.advance(now, &mut Vec::new());
    }
    now
}

/// A drive that begins to move a superblock for having been read too often, and when.
fn moving(slots: u32, think_time: Nanos) -> (Ssd, Nanos) {
    let mut ssd = filled(scrubs(20, one_die(slots, think_time)));
    let mut now = Nanos::ZERO;
    while ssd.decisions().is_empty() {
        now = read(&mut ssd, now, 0);
    }
    (ssd, now)
}

/// One slot: what moving a superblock takes is the sum of its operations, and a think time after each.
#[test]
fn a_superblock_moves_in_the_time_of_its_operations_and_thoughts() {
    for think_time in [0, 1, 250_000, 20_000_000] {
        let (mut ssd, start) = moving(1, Nanos(think_time));
        ssd.reset_counters(start);
        let end = settle(&mut ssd, start);
        let counters = ssd.counters();
        assert_eq!((counters.programs, counters.erases), (2 * ROWS, 2), "a page on each plane");
        let service = ROWS * (READ_OF_TWO + PROGRAM) + ERASE;
        assert_eq!(end.0 - start.0, service + OPERATIONS * think_time, "{think_time}");
        ssd.self_check().unwrap();
    }
}

/// Whether no die does anything from `now` on.
fn is_at_rest(ssd: &Ssd, now: Nanos) -> bool {
    ssd.busy(now).dies == ssd.busy(now + Nanos(1)).dies
}

/// A read of the host that comes while the only slot thinks finds an idle drive, after each operation.
#[test]
fn the_host_meets_no_thought() {
    let (mut ssd, mut now) = moving(1, Nanos::millis(1));
    let mut met = 0;
    while !ssd.is_idle() {
        now = ssd.next_deadline().unwrap().max(now);
        ssd.advance(now, &mut Vec::new());
        if !ssd.is_idle() && is_at_rest(&ssd, now) {
            met += 1;
            let asked = now;
            // Each time of another superblock, so that none is read too often.
            now = read(&mut ssd, asked, 32 * met);
            assert_eq!(now.0 - asked.0, READ, "thought {met}");
        }
    }
    assert_eq!(met, OPERATIONS, "once after each operation");
    ssd.self_check().unwrap();
}

/// Power fails at each of the moments at which something happens: no slot stays taken, and what was moved is moved again.
#[test]
fn a_cut_in_thought_loses_no_slot() {
    let (mut ssd, start) = moving(1, Nanos::micros(300));
    let mut cuts = 0;
    while !ssd.is_idle() {
        let now = ssd.next_deadline().unwrap();
        ssd.advance(now, &mut Vec::new());
        for off in [now, now + Nanos(100_000)] {
            let mut cut = ssd.clone();
            cut.power_cycle(off, off + Nanos::secs(1));
            cut.self_check().unwrap();
            let mut now = settle(&mut cut, off + Nanos::secs(1));
            // However far it had come, it has all slots for the next.
            let before = cut.decisions().len();
            while cut.decisions().len() == before {
                now = read(&mut cut, now, 100);
            }
            let begun = cut.counters();
            settle(&mut cut, now);
            cut.self_check().unwrap();
            assert_eq!(cut.counters().programs - begun.programs, 2 * ROWS, "cut {:?} after", off.0 - start.0);
            cuts += 1;
        }
    }
    assert!(cuts > 4 * OPERATIONS as usize, "{cuts} cuts");
}

/// Patrol reads, which move nothing, think as well: one slot reads no page before it has thought.
#[test]
fn patrol_reads_think() {
    let reads = |think_time| {
        let mut config = scrubs(1_000_000, one_die(1, think_time));
        let scrub = config.scrub.as_mut().unwrap();
        (scrub.patrol, scrub.patrol_errors) = (Some(Nanos::secs(1)), Some(60));
        let mut ssd = filled(config);
        ssd.advance(Nanos::secs(1), &mut Vec::new());
        ssd.self_check().unwrap();
        ssd.counters().reads[ReadCause::Patrol] / 2
    };
    let all = reads(Nanos::ZERO);
    assert!(all > 100, "{all} reads");
    for think_time in [Nanos::millis(10), Nanos::millis(100)] {
        let (found, most) = (reads(think_time), 1_000_000_000 / (think_time.0 + READ_OF_TWO) + 1);
        // The next page is due at times of its own.
        assert!((most * 2 / 3..=most).contains(&found), "{found} of {most} after {think_time} each");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// The law of interactive systems: n slots have n seconds a second for operations and thoughts. A host that waits for collection gets as far
    /// as these let it.
    #[test]
    fn slots_bound_what_collection_does(slots in 1u32..5, micros in 500u64..8000, leveling: bool, seed in 0u64..1000) {
        let mut config = one_die(slots, Nanos::micros(micros));
        config.ftl.wear_leveling = WearLeveling { dynamic: true, static_gap: leveling.then_some(2) };
        let mut ssd = filled(config);
        let units = ssd.units();
        let mut next = seed;
        let mut write = move || -> Command {
            next = next.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            command(Op::Write, (next >> 33) % units * 8, 8)
        };
        for tag in 0..16 {
            ssd.submit(Nanos::ZERO, write(), Tag(tag));
        }
        let (mut now, mut done) = (Nanos::ZERO, 0);
        let mut completions = Vec::new();
        while done < 3000 {
            now = ssd.advance_to_completion(Nanos::MAX, &mut completions);
            for one in completions.drain(..) {
                prop_assert_eq!(one.outcome, Outcome::Ok);
                done += 1;
                ssd.submit(now, write(), one.tag);
            }
        }
        ssd.self_check().unwrap();
        let (counters, written) = (ssd.counters(), ssd.written());
        let moved = written[ProgramCause::Gc] + written[ProgramCause::WearLeveling];
        let reads = counters.reads[ReadCause::Gc] + counters.reads[ReadCause::WearLeveling];
        // Pages and blocks of two planes, each of which may be read, programmed or erased together or apart.
        let time = |reads, programs| {
            let each = |operations, service| operations * (service + micros * 1000);
            each(reads, READ) + each(programs, PROGRAM) + each(counters.erases / 2, ERASE)
        };
        let (least, last) = (time(reads / 2, moved / 2), ERASE + micros * 1000);
        prop_assert!(least <= u64::from(slots) * (now.0 + last), "{least} ns of {slots} slots in {now}");
        // All the time the host waits for collection, or for its own programs.
        let most = time(reads, moved / 2) + (counters.programs - moved) / 2 * PROGRAM;
        prop_assert!(10 * most >= 9 * now.0, "the host waits for nothing in {} of {now}", now.0 - most);
    }
}
