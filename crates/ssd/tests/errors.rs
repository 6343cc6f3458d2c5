//! Do the drive's triggers, ages and wear follow from what its flash has been through?

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_device::{Completion, Device, NoticeKind, Op, Outcome, Tag};
use outlast_media::reliability::{Ecc, PageTypes, PowerLaw, RberModel};
use outlast_media::{DefectConfig, DieDamage, DriveFault, InitialState, ReadScope};
use outlast_settings::drive::{ReliabilityConfig, RepairConfig, ScrubConfig, SsdConfig};
use outlast_settings::ftl::WearLeveling;
use outlast_ssd::{Reason, Ssd};
use outlast_units::{Bytes, Nanos};
use support::{command, tiny};

const BITS: f64 = 4096.0;

/// RBER 1e-7, plus 1e-6 for each day, plus `per_read` for each read.
fn errs(per_read: f64) -> ReliabilityConfig {
    let law = PowerLaw {
        epsilon: 1e-7,
        alpha: 0.0,
        beta: 1e-6,
        gamma: per_read,
        k: 1.0,
        m: 0.0,
        n: 1.0,
        p: 0.0,
        q: 1.0,
    };
    ReliabilityConfig {
        model: Some(RberModel::PowerLaw(law)),
        ecc: Ecc { data_bits: 4096, parity_bits: 0, strength: Some(60) },
        ..ReliabilityConfig::default()
    }
}

fn one_die() -> SsdConfig {
    let mut config = tiny();
    config.geometry.channels = 1;
    config.geometry.dies_per_chip = 1;
    config.geometry.blocks_per_plane = 64;
    config
}

fn settle(ssd: &mut Ssd, mut now: Nanos) -> Nanos {
    let mut completions = Vec::new();
    while !ssd.is_idle() {
        now = ssd.next_deadline().unwrap();
        ssd.advance(now, &mut completions);
    }
    assert!(completions.iter().all(|done| done.outcome == Outcome::Ok));
    now
}

fn read(ssd: &mut Ssd, mut now: Nanos, unit: u64, times: u32) -> Nanos {
    for _ in 0..times {
        ssd.submit(now, command(Op::Read, unit * 8, 8), Tag(0));
        now = ssd.advance_to_completion(Nanos::MAX, &mut Vec::new());
    }
    now
}

/// A page is read until more wrong bits are expected in it than the trigger allows. In whichever row it lies, of whichever type, its
/// superblock is moved after the very read that the closed form gives, and nothing recurses.
#[test]
fn a_page_that_is_read_too_often_is_found_in_any_row() {
    let factors = [0.5, 1.5];
    for row in 0..8u64 {
        let mut config = one_die();
        config.reliability = Some(ReliabilityConfig {
            read_scope: ReadScope::Page,
            page_types: Some(PageTypes { factors: factors.to_vec() }),
            ..errs(1e-6)
        });
        config.scrub = Some(ScrubConfig { expected_errors: Some(1.0), ..ScrubConfig::default() });
        let mut ssd = Ssd::new(config, 1).unwrap();
        ssd.begin_timed();
        for unit in 0..64 {
            ssd.submit(Nanos::ZERO, command(Op::Write, unit * 8, 8), Tag(unit as u32));
        }
        let now = settle(&mut ssd, Nanos::ZERO);
        // Two planes: rows of two units.
        let needed = ((1.0 / BITS / factors[row as usize % 2] - 1e-7) / 1e-6).ceil() as u32;
        let now = read(&mut ssd, now, row * 2, needed - 1);
        assert_eq!(ssd.moved_for(Reason::ExpectedErrors), 0, "row {row}, {needed} reads");
        let now = read(&mut ssd, now, row * 2, 1);
        settle(&mut ssd, now);
        // Housekeeping is called at once; the superblock is one of those written.
        assert_eq!(ssd.moved_for(Reason::ExpectedErrors), 1, "row {row}, {needed} reads");
    }
}

/// The expected wrong bits of a codeword never exceed half of it; a threshold there is refused, and one just below it works.
#[test]
fn thresholds_beyond_half_a_codeword_or_below_new_flash_are_refused() {
    let build = |errors: f64| {
        let mut config = one_die();
        config.reliability = Some(errs(1e-3));
        config.scrub = Some(ScrubConfig { expected_errors: Some(errors), ..ScrubConfig::default() });
        Ssd::new(config, 1)
    };
    for (errors, why) in [(2048.5, "half of a codeword"), (1e-7 * BITS / 2.0, "just written to new flash")] {
        let error = build(errors).expect_err("refused").to_string();
        assert!(error.contains("device.scrub.expected_errors") && error.contains(why), "{error}");
    }
    let mut ssd = build(2047.0).unwrap();
    for unit in 0..ssd.units() {
        ssd.write_unit_untimed(unit, 0).unwrap();
    }
    ssd.begin_timed();
    let now = read(&mut ssd, Nanos(1), 0, 600);
    settle(&mut ssd, now);
    assert!(ssd.moved_for(Reason::ExpectedErrors) >= 1);
}

/// A unit written a year ago is a year old also when its neighbours in the superpage are written now: the exact probability of its read
/// is the same as without them.
#[test]
fn data_does_not_become_young_when_its_neighbour_is_written() {
    let tail = |neighbour: bool| {
        let mut config = tiny();
        config.reliability = Some(errs(0.0));
        let mut ssd = Ssd::new(config, 1).unwrap();
        ssd.begin_timed();
        // One program unit: two units on the first lane.
        ssd.submit(Nanos::ZERO, command(Op::Write, 0, 16), Tag(0));
        let now = settle(&mut ssd, Nanos::ZERO);
        ssd.schedule_ageing(now + Nanos(1), Nanos::secs(365 * 86_400));
        let mut now = now + Nanos::secs(1);
        ssd.advance(now, &mut Vec::new());
        if neighbour {
            ssd.submit(now, command(Op::Write, 16, 16), Tag(0));
        }
        now = settle(&mut ssd, now).max(now) + Nanos::secs(1);
        ssd.reset_counters(now);
        read(&mut ssd, now, 0, 1);
        ssd.exact_tails().unwrap().ln_after_ecc()
    };
    let (alone, beside) = (tail(false), tail(true));
    assert!(alone.is_finite());
    assert!((alone - beside).abs() < 1e-3 * alone.abs(), "ln P {alone} alone, {beside} beside new data");
}

/// Blocks come with 1000 to 5000 cycles. The superblock that is opened first is the least worn, static levelling sees the gap, and the
/// least-worn block of the report is the least of all that are in use.
#[test]
fn wear_levelling_knows_the_wear_that_blocks_came_with() {
    let mut config = one_die();
    config.reliability = Some(ReliabilityConfig {
        initial: InitialState { pe_cycles: 3000, pe_spread: 500.0, ..InitialState::default() },
        ..errs(0.0)
    });
    config.ftl.wear_leveling = WearLeveling { dynamic: true, static_gap: None };
    config.ftl.spare_blocks = 4;
    let mut ssd = Ssd::new(config, 1).unwrap();
    let mean_of = |ssd: &Ssd, superblock: u32| {
        let ftl = ssd.ftls().next().unwrap();
        let cycles: Vec<u32> = ftl
            .superblock(outlast_units::SuperblockId(superblock))
            .blocks()
            .map(|block| ftl.space().blocks().all_cycles()[block])
            .collect();
        f64::from(cycles.iter().sum::<u32>()) / cycles.len() as f64
    };
    let means: Vec<f64> = (0..60).map(|superblock| mean_of(&ssd, superblock)).collect();
    let (least, most) =
        means.iter().fold((f64::MAX, 0.0f64), |(least, most), &mean| (least.min(mean), most.max(mean)));
    let (low, high) = ssd.ftls().next().unwrap().space().cycle_range();
    assert!((f64::from(low) - least).abs() <= 0.5 && (f64::from(high) - most).abs() <= 0.5);
    assert!(high - low > 500, "{low} to {high}");
    let in_use = (0..60).flat_map(|superblock| {
        let ftl = ssd.ftls().next().unwrap();
        ftl.superblock(outlast_units::SuperblockId(superblock)).blocks().collect::<Vec<_>>()
    });
    let ftl = ssd.ftls().next().unwrap();
    let truth = in_use.map(|block| ftl.space().blocks().all_cycles()[block]).min().unwrap();
    assert_eq!(ftl.space().worn().least, truth);
    // What is written first goes to the least worn.
    ssd.write_unit_untimed(0, 0).unwrap();
    let ftl = ssd.ftls().next().unwrap();
    let first = ftl.layout().superblock_of(ftl.lookup(outlast_units::Lpn(0)));
    assert!((means[first.index()] - least).abs() < 1e-9, "superblock {first} of {}", means[first.index()]);
}

/// A spare block that replaces a worn-out one is new: its superblock is weighed anew.
#[test]
fn a_replaced_block_makes_its_superblock_younger() {
    let mut config = one_die();
    config.defects = DefectConfig { factory_bad: 0.0, endurance: Some(40) };
    config.ftl.spare_blocks = 24;
    config.ftl.capacity = Some(Bytes(400 * 4096));
    let mut ssd = Ssd::new(config, 1).unwrap();
    let mut unit = 0u64;
    while ssd.ftls().next().unwrap().space().blocks().bad_blocks() < 4 {
        unit = (unit * 7 + 3) % 400;
        ssd.write_unit_untimed(unit, 0).unwrap();
    }
    let ftl = ssd.ftls().next().unwrap();
    let least = (0..40)
        .flat_map(|superblock| {
            ftl.superblock(outlast_units::SuperblockId(superblock)).blocks().collect::<Vec<_>>()
        })
        .map(|block| ftl.space().blocks().all_cycles()[block])
        .min()
        .unwrap();
    assert!(least < 5, "no block is new: {least}");
    assert_eq!((ftl.space().worn().least, ftl.space().cycle_range().0), (least, least));
}

/// A die fails under reads; the drive finds out. The call that advances to the next completion comes back when it does.
#[test]
fn a_notice_is_heard_when_it_is_told() {
    let mut config = tiny();
    config.geometry.channels = 4;
    config.controller.flash_cores = 2;
    config.geometry.blocks_per_plane = 64;
    config.ftl.capacity = Some(Bytes(900 * 4096));
    config.repair = Some(RepairConfig { bad_blocks: 4, ..RepairConfig::default() });
    let mut ssd = Ssd::new(config, 1).unwrap();
    for unit in 0..ssd.units() {
        ssd.write_unit_untimed(unit, 0).unwrap();
    }
    ssd.begin_timed();
    ssd.inject(Nanos(1), DriveFault { die: 0, damage: DieDamage::Die });
    for unit in 0..64u64 {
        ssd.submit(Nanos(2), command(Op::Read, unit * 8, 8), Tag(unit as u32));
    }
    let mut completions: Vec<Completion> = Vec::new();
    let notice = loop {
        let reached = ssd.advance_to_completion(Nanos::secs(100), &mut completions);
        if ssd.has_notice() {
            let notice = ssd.take_notice().unwrap();
            assert_eq!(notice.at, reached, "told at one time, heard at another");
            break notice;
        }
        assert!(reached < Nanos::secs(100), "nothing was told");
    };
    assert_eq!(notice.kind, NoticeKind::DieFailed { die: 0 });
    assert!(notice.at < Nanos::secs(1), "{}", notice.at);
}

/// Reads that fail for a passing reason 70 000 times in a row end all the same, with the data.
#[test]
fn any_number_of_rereads_can_be_counted() {
    let mut config = tiny();
    config.reliability = Some(errs(0.0));
    let mut ssd = Ssd::new(config, 1).unwrap();
    ssd.begin_timed();
    ssd.submit(Nanos::ZERO, command(Op::Write, 0, 64), Tag(0));
    let now = settle(&mut ssd, Nanos::ZERO);
    for die in 0..4 {
        ssd.inject(now, DriveFault { die, damage: DieDamage::TransientRead { block: None, reads: 70_000 } });
    }
    let mut completions = Vec::new();
    ssd.submit(now, command(Op::Read, 0, 8), Tag(9));
    ssd.advance_to_completion(Nanos::MAX, &mut completions);
    assert_eq!((completions.len(), completions[0].outcome), (1, Outcome::Ok));
    assert_eq!(ssd.counters().reads[outlast_ftl::ReadCause::Reread], 70_000);
}

/// Units that could not be read count towards a change's trigger also when they were lost before the counters were reset.
#[test]
fn a_change_counts_errors_from_before_the_reset() {
    let mut config = tiny();
    config.reliability = Some(errs(0.0));
    config.protection =
        Some(outlast_settings::ftl::ProtectionConfig { data: 3, parity: 1, ..Default::default() });
    config.geometry.blocks_per_plane = 32;
    let mut ssd = Ssd::new(config, 1).unwrap();
    for unit in 0..256 {
        ssd.write_unit_untimed(unit, 0).unwrap();
    }
    ssd.begin_timed();
    let change = outlast_settings::drive::ChangeConfig {
        medium_errors: Some(2),
        parity: Some(2),
        data: Some(2),
        ..Default::default()
    };
    ssd.schedule_changes(&[change]);
    // Two dies die: what they held is lost beyond one parity.
    for die in [0, 1] {
        ssd.inject(Nanos(1), DriveFault { die, damage: DieDamage::Die });
    }
    let mut now = read(&mut ssd, Nanos(2), 0, 1);
    let mut unit = 0;
    while ssd.counters().medium_errors == 0 {
        unit += 1;
        now = read(&mut ssd, now, unit, 1);
    }
    ssd.reset_counters(now);
    assert!(ssd.changes().is_empty(), "one error is not two");
    let before = ssd.counters().medium_errors;
    while ssd.counters().medium_errors == before {
        unit += 1;
        now = read(&mut ssd, now, unit, 1);
    }
    assert_eq!(ssd.changes().len(), 1);
}
