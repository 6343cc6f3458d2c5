//! Does a drive that breaks ever return wrong bytes? Random failures under random commands, with real bytes and real parity:
//! every read returns the truth or an error.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_device::{Command, Device, Op, PlacementId, Tag};
use outlast_media::{DieDamage, DriveFault, HazardConfig};
use outlast_settings::drive::{ReliabilityConfig, ScrubConfig, ScrubUnit, SsdConfig, WriteCache};
use outlast_settings::ftl::{CodeConfig, WearLeveling};
use outlast_ssd::Ssd;
use outlast_units::rng::SplitMix;
use outlast_units::{Bytes, Lba, Nanos};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use support::host::Host;
use support::own::decide_some;
use support::protection::{choices, protected};
use support::{tiny, weak_flash};

fn random_fault(rng: &mut SplitMix, config: &SsdConfig) -> DriveFault {
    let geometry = &config.geometry;
    let mut below = |n: u32| rng.below(u64::from(n)) as u32;
    let die = below(u32::from(geometry.dies())) as u16;
    let plane = below(u32::from(geometry.planes_per_die)) as u16;
    let (block, page) = (below(geometry.blocks_per_plane), below(geometry.pages_per_block));
    let damage = match below(20) {
        0..5 => DieDamage::Page { plane, block, page },
        5..8 => DieDamage::Wordline { plane, block, page },
        8..11 => DieDamage::Block { plane, block },
        11 => DieDamage::Plane { plane },
        12 => DieDamage::Die,
        13..15 => DieDamage::TransientRead { block: None, reads: 1 + below(9) },
        15..17 => DieDamage::TransientRead { block: Some((plane, block)), reads: 1 + below(9) },
        17..19 => DieDamage::Program { plane, block },
        _ => DieDamage::Erase { plane, block },
    };
    DriveFault { die, damage }
}

/// Runs `commands` random commands on a drive to which `faults` random failures happen, and reads everything back.
fn torture(mut config: SsdConfig, seed: u64, commands: u32, faults: u32) -> Host {
    config.bytes = true;
    decide_some(&mut config, seed);
    let mut rng = SplitMix::new(seed, "torture");
    let mut ssd = Ssd::new(config.clone(), seed).expect("a drive that works");
    ssd.begin_timed();
    let mut host = Host::new(ssd);
    host.may_fail = true;
    let sectors = host.sectors.len() as u64;
    let every = u64::from(commands / (faults + 1)).max(1);
    for number in 0..commands {
        while host.pending.len() >= 8 {
            assert!(host.step(), "commands are pending and nothing happens");
        }
        if faults != 0 && rng.below(every) == 0 {
            let fault = random_fault(&mut rng, &config);
            host.ssd.inject(host.now, fault);
        }
        if config.protection.is_some() && rng.below(u64::from(commands / 4).max(1)) == 0 {
            let parity = rng.below(3) as u8;
            let code = CodeConfig { data: 4 - u16::from(parity), parity, block: None };
            // Refused where it leaves too little room.
            let _ = host.ssd.set_code(host.now, rng.below(3) as u8, code);
        }
        let op = match rng.below(100) {
            0..55 => Op::Write,
            55..92 => Op::Read,
            92..97 => Op::Trim,
            _ => Op::Flush,
        };
        let longest = if rng.below(4) == 0 { 100 } else { 9 };
        let length = if op == Op::Flush { 0 } else { 1 + rng.below(longest) };
        let command = Command {
            placement: PlacementId(rng.below(3) as u16),
            fua: op == Op::Write && rng.below(10) == 0,
            ..Command::new(op, Lba(rng.below(sectors - length)), length as u32)
        };
        host.submit(Tag(number), command);
        if number % 512 == 0 {
            host.ssd.self_check().unwrap();
        }
    }
    host.settle_down();
    if let Err(error) = host.ssd.self_check() {
        panic!("seed {seed}: {error}; {config:?}");
    }
    host.read_everything(commands);
    host.ssd.self_check().unwrap();
    assert_eq!(host.ssd.ftls().find_map(outlast_ftl::Ftl::policy_failure), None);
    host
}

fn configurations() -> impl Strategy<Value = SsdConfig> {
    let cache = prop::sample::select(vec![WriteCache::Protected, WriteCache::Volatile, WriteCache::Off]);
    let protection = prop::option::weighted(0.85, choices());
    let sizes = prop::sample::select(vec![(4, 4), (2, 4), (4, 16), (8, 4), (16, 4)]);
    let errs = prop::option::of((prop::option::of(0u32..4), prop::option::of(0u32..3), any::<bool>()));
    // The last three: by block.
    let scrub = prop::option::of(0usize..8);
    (cache, protection, sizes, errs, scrub, any::<bool>(), any::<bool>(), any::<bool>()).prop_map(
        |(cache, protection, (unit, page), errs, scrub, leveling, multi_plane, hazards)| {
            let mut config = tiny();
            config.geometry.page_size = Bytes::kib(page);
            let classes = protection.is_some_and(|choices| choices.5);
            config.geometry.blocks_per_plane = if classes { 72 } else { 52 };
            config.geometry.pages_per_block = if page == 16 { 4 } else { 8 };
            config.ftl.mapping_unit = Bytes::kib(unit);
            let share = if classes { 20 } else { 14 };
            config.ftl.capacity = Some(Bytes(config.geometry.raw_capacity().0 / share));
            config.ftl.spare_blocks = 8;
            // With hazards, spare blocks run out sooner than with the faults alone: then bad ones are left out.
            config.ftl.tolerated_bad_blocks = u16::from(hazards);
            config.ftl.multi_plane = multi_plane;
            config.ftl.wear_leveling = WearLeveling { dynamic: true, static_gap: leveling.then_some(3) };
            config.controller.write_cache = cache;
            config.controller.write_buffer = Bytes::mib(1);
            let rows = if unit > 4 || page == 16 { 1 } else { 3 };
            config.protection = protection.map(|choices| protected(choices, rows));
            config.reliability = errs.map(|(retries, if_protected, history)| ReliabilityConfig {
                reread_history: history,
                ..weak_flash(retries, if_protected)
            });
            if config.reliability.is_some() || scrub == Some(4) {
                config.scrub = scrub.map(|which| ScrubConfig {
                    reprotect: which == 4,
                    reads: (which % 5 == 0).then_some(20),
                    expected_errors: (which % 5 == 1).then_some(80.0),
                    rereads_per_unit: (which % 5 == 2).then_some(0.05),
                    unit: if which >= 5 { ScrubUnit::Block } else { ScrubUnit::Superblock },
                    patrol: (which == 3).then_some(Nanos::secs(1)),
                    patrol_errors: (which == 3).then_some(90),
                    ..ScrubConfig::default()
                });
            }
            if hazards {
                config.hazards = HazardConfig {
                    program_failure: 2e-3,
                    erase_failure: 0.01,
                    transient_read: 5e-3,
                    ..HazardConfig::default()
                };
            }
            config
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20, ..ProptestConfig::default() })]

    #[test]
    fn a_breaking_drive_returns_the_truth_or_an_error(config in configurations(), seed: u64, faults in 0u32..8) {
        torture(config, seed, 4000, faults);
    }
}

#[test]
fn thousands_of_short_lives() {
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::default());
    let lives = (configurations(), any::<u64>());
    let (mut errors, mut rebuilt) = (0, 0);
    for _ in 0..700 {
        let (mut config, seed) = lives.new_tree(&mut runner).unwrap().current();
        // Small enough that hundreds of them take a second.
        let classes = config.protection.as_ref().is_some_and(|own| !own.classes.is_empty());
        config.geometry.blocks_per_plane = if classes { 52 } else { 32 };
        config.ftl.spare_blocks = 3;
        config.ftl.capacity = Some(Bytes((config.ftl.mapping_unit.0 * 24).max(56 << 10)));
        let host = torture(config, seed, 60, 6);
        errors += host.medium_errors;
        rebuilt += host.ssd.corrections().stripe;
    }
    // Both ends of the ladder were reached, often.
    assert!(errors > 60 && rebuilt > 60, "{errors} medium errors, {rebuilt} units rebuilt");
}

/// A drive of one flash core with a code for each class and one within blocks, of which a superblock may miss a bad block, and whose
/// operations fail now and then.
fn patched() -> SsdConfig {
    let mut config = tiny();
    config.geometry.blocks_per_plane = 72;
    config.ftl.mapping_unit = Bytes::kib(4);
    config.ftl.capacity = Some(Bytes(config.geometry.raw_capacity().0 / 20));
    config.ftl.spare_blocks = 8;
    config.ftl.tolerated_bad_blocks = 1;
    config.ftl.multi_plane = true;
    config.controller.write_cache = WriteCache::Off;
    config.controller.write_buffer = Bytes::mib(1);
    let streams = outlast_settings::ftl::ProtectedStreams::All;
    config.protection =
        Some(protected((1, 0, streams, outlast_settings::ftl::PartialPlace::Cache, Some(1), true), 3));
    config.hazards = HazardConfig {
        program_failure: 2e-3,
        erase_failure: 0.01,
        transient_read: 5e-3,
        ..HazardConfig::default()
    };
    config
}

/// Three of four dies fail, and free superblocks miss a bad block of the fourth: none of them may be opened.
#[test]
fn a_superblock_without_a_lane_is_not_opened() {
    torture(patched(), 77, 4000, 7);
}

/// As before, but the superblock was full when its last lane failed: its erasure has no operation to wait for.
#[test]
fn a_victim_without_a_lane_does_not_hold_up_collection() {
    for seed in [272, 276, 498] {
        torture(patched(), seed, 4000, 7);
    }
}

/// A program operation wakes a die, which finds that collection has ended, so that waiting writes are let in: their data comes after
/// the parity that is still due.
#[test]
fn writes_let_in_by_a_program_come_after_its_parity() {
    let mut config = patched();
    config.reliability = Some(ReliabilityConfig { reread_history: true, ..weak_flash(Some(1), None) });
    config.ftl.wear_leveling.static_gap = Some(3);
    torture(config, 11_417_519_396_159_431_698, 4000, 4);
}

/// A superblock is full and its programs are on their way; the frontier of another stream was left in it when it had fewer stripes. The
/// data of one that fails stays in its stripe, whose parity was computed.
#[test]
fn a_stream_that_once_filled_a_superblock_has_no_say_in_it() {
    let mut config = patched();
    config.ftl.mapping_unit = Bytes::kib(16);
    config.ftl.multi_plane = false;
    config.controller.write_cache = WriteCache::Off;
    let streams = outlast_settings::ftl::ProtectedStreams::All;
    config.protection =
        Some(protected((1, 0, streams, outlast_settings::ftl::PartialPlace::Cache, Some(1), true), 1));
    config.reliability = Some(ReliabilityConfig { reread_history: false, ..weak_flash(Some(1), None) });
    config.scrub = Some(ScrubConfig { rereads_per_unit: Some(0.05), ..ScrubConfig::default() });
    torture(config, 17_981_709_397_409_804_650, 4000, 0);
}
