//! Scrubbing by block moves what the block holds and nothing else; and which reads disturb, and which codewords they decode.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_device::{Device, Op, Outcome, Tag};
use outlast_ftl::Ftl;
use outlast_media::reliability::{Ecc, PowerLaw, RberModel};
use outlast_settings::drive::{CodewordsChecked, ReliabilityConfig, ScrubConfig, ScrubUnit, SsdConfig};
use outlast_ssd::Ssd;
use outlast_units::rng::SplitMix;
use outlast_units::{BlockIndex, Bytes, Lpn, Nanos, Ppn, SuperblockId};
use support::{command, tiny};

/// RBER `fresh`, plus `per_read` for each read of the block.
fn errs(fresh: f64, per_read: f64) -> ReliabilityConfig {
    let law = PowerLaw {
        epsilon: fresh,
        alpha: 0.0,
        beta: 0.0,
        gamma: per_read,
        k: 1.0,
        m: 0.0,
        n: 1.0,
        p: 0.0,
        q: 1.0,
    };
    ReliabilityConfig {
        model: Some(RberModel::PowerLaw(law)),
        ecc: Ecc { strength: Some(60), ..Ecc::default() },
        ..ReliabilityConfig::default()
    }
}

fn slots(ssd: &Ssd) -> Vec<Ppn> {
    let ftl = ssd.ftls().next().unwrap();
    (0..ssd.units() as u32).map(|unit| ftl.lookup(Lpn(unit))).collect()
}

fn superblock_of(ftl: &Ftl, slot: Ppn) -> SuperblockId {
    ftl.layout().place(ftl.layout().pu_of(slot).0).superblock
}

/// The block that a slot lies in, by the layout alone.
fn block_of(ftl: &Ftl, slot: Ppn) -> BlockIndex {
    let (pu, unit) = ftl.layout().pu_of(slot);
    let place = ftl.layout().place(pu);
    let (plane, _) = ftl.layout().page_place(place, ftl.layout().pages_of_unit(unit).start);
    ftl.space().block_index(place.superblock, place.lane.local_die, plane)
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
    let now = ssd.advance_to_completion(Nanos::MAX, &mut Vec::new());
    settle(ssd, now)
}

/// A unit is read until scrubbing moves something: exactly the units that shared its block, found by looking at all. Then one of
/// another block of the superblock, until nothing is left there and it has been erased.
#[test]
fn exactly_the_block_that_is_bad_is_moved() {
    let by = |set: fn(&mut ScrubConfig)| {
        let mut scrub = ScrubConfig { unit: ScrubUnit::Block, ..ScrubConfig::default() };
        set(&mut scrub);
        scrub
    };
    let triggers = [
        by(|scrub| scrub.reads = Some(30)),
        by(|scrub| scrub.expected_errors = Some(20.0)),
        by(|scrub| scrub.rereads_per_unit = Some(0.5)),
    ];
    for (page, multi_plane) in [(4, true), (4, false), (16, true)] {
        for scrub in triggers {
            let mut config = tiny();
            config.geometry.page_size = Bytes::kib(page);
            config.ftl.capacity = Some(Bytes(600 * 1024 * page));
            config.ftl.multi_plane = multi_plane;
            config.reliability = Some(errs(1e-5, 2e-4));
            config.scrub = Some(scrub);
            let mut ssd = filled(config);
            let mut now = Nanos::ZERO;
            let first = superblock_of(ssd.ftls().next().unwrap(), slots(&ssd)[0]);
            let blocks = ssd.ftls().next().unwrap().superblock(first).blocks().count();
            for moves in 1.. {
                let before = slots(&ssd);
                let ftl = ssd.ftls().next().unwrap();
                let mut left = (0..before.len()).filter(|&unit| superblock_of(ftl, before[unit]) == first);
                let Some(unit) = left.next_back() else {
                    assert_eq!(moves, blocks + 1, "{scrub:?}: a move for each block");
                    break;
                };
                let bad = block_of(ftl, before[unit]);
                let shares: Vec<bool> = before.iter().map(|&slot| block_of(ftl, slot) == bad).collect();
                for reads in 0.. {
                    assert!(reads < 5000, "{scrub:?}: nothing is moved");
                    now = read(&mut ssd, now, unit as u64);
                    if slots(&ssd) != before {
                        break;
                    }
                }
                let moved: Vec<bool> = slots(&ssd).iter().zip(&before).map(|(a, b)| a != b).collect();
                assert_eq!(moved, shares, "{scrub:?}, pages of {page} KiB, move {moves}");
                ssd.self_check().unwrap();
            }
            let counters = ssd.counters();
            assert_eq!(
                counters.erases, blocks as u64,
                "{scrub:?}: the superblock is erased at its last move"
            );
        }
    }
}

/// The exact probability that reads for the host fail is that of all codewords of the unit, or of one.
#[test]
fn a_read_decodes_all_codewords_or_one() {
    let fresh = 0.01;
    for (checked, codewords) in [(CodewordsChecked::All, 8), (CodewordsChecked::One, 1)] {
        let own = ReliabilityConfig { codewords_checked: checked, ..errs(fresh, 0.0) };
        let expected = own.ecc.log_p_page_fail(fresh, codewords);
        let mut config = tiny();
        config.reliability = Some(own);
        let mut ssd = filled(config);
        let mut now = Nanos::ZERO;
        for unit in 0..50 {
            now = read(&mut ssd, now, unit);
        }
        let found = ssd.exact_tails().unwrap().ln_after_ecc();
        assert!((found - (expected + 50f64.ln())).abs() < 1e-6, "{checked:?}: {found} for {expected}");
    }
}

/// What collection reads is as it was written where its reads do not disturb, and worse from page to page where they do.
#[test]
fn collection_disturbs_or_not() {
    let worst = |collection_disturbs: bool| {
        let mut config = tiny();
        let own = errs(1e-13, 1e-3);
        let ecc = Ecc { strength: None, ..Ecc::default() };
        config.reliability = Some(ReliabilityConfig { collection_disturbs, ecc, ..own });
        let mut ssd = filled(config);
        let mut now = Nanos::ZERO;
        let mut rng = SplitMix::new(1, "writes");
        for _ in 0..100_000 {
            ssd.submit(now, command(Op::Write, rng.below(ssd.units()) * 8, 8), Tag(0));
            now = ssd.advance_to_completion(Nanos::MAX, &mut Vec::new());
        }
        now = settle(&mut ssd, now);
        let counts = ssd.error_histogram();
        assert!(counts.iter().sum::<u64>() > 50, "collection has read");
        let worst = counts.len() - 1;
        // Reads for the host disturb all the same.
        for _ in 0..2000 {
            now = read(&mut ssd, now, 0);
        }
        assert!(ssd.error_histogram().len() > 40);
        worst
    };
    assert_eq!(worst(false), 0);
    assert!(worst(true) > 10);
}

/// By a trigger that does not tell blocks apart none can be chosen.
#[test]
fn blocks_need_a_trigger_that_tells_them_apart() {
    let mut config = tiny();
    config.reliability = Some(errs(1e-5, 1e-6));
    let scrub =
        ScrubConfig { age: Some(Nanos::secs(86_400)), unit: ScrubUnit::Block, ..ScrubConfig::default() };
    config.scrub = Some(scrub);
    let error = Ssd::new(config.clone(), 1).expect_err("refused").to_string();
    assert!(error.contains("device.scrub.unit") && error.contains("rereads_per_unit"), "{error}");
    config.scrub = Some(ScrubConfig { reads: Some(100), ..scrub });
    assert!(Ssd::new(config, 1).is_ok());
}
