//! Forged state with correct checksums never makes an array panic. Arrays of each kind in the middle of their lives are
//! written; a number of that is changed; what reads it refuses it, or goes on: under a host, through failures, a loss of power, and new members.
//!
//! Seeds are fixed, so that one run is like another; nightly runs draw others (`OUTLAST_FORGED_SEEDS`).

#![allow(
    clippy::unwrap_used,
    clippy::match_wild_err_arm,
    reason = "a test fails by panicking, and says of what"
)]

use crate::support;

use fuzzed::forged::{ForgeryCounts, forge, forged_by, places, state_of, take_over};
use outlast_array::{Array, PlainDevice};
use outlast_decisions::RepairWay;
use outlast_device::{Command, Device, Op, Tag};
use outlast_persist::Damage;
use outlast_settings::array::{ArrayConfig, Consistency, CopyLayout, Level, ShiftWay};
use outlast_units::rng::SplitMix;
use outlast_units::{Bytes, Lba, Nanos, SECTOR_BYTES};
use std::panic::{AssertUnwindSafe, catch_unwind};
use support::life::{Life, SECTORS, small};
use support::plain;
use support::settings::ArraySettings;

/// Forgeries of each kind of array at each moment, and moments.
const FORGERIES: u64 = 9;
const MOMENTS: u32 = 2;

fn kinds() -> Vec<(&'static str, ArrayConfig)> {
    let of = |level, members, way| small(level, members, way).with_small_log(Bytes::kib(32)).with_spares(1);
    let keeps = |consistency, way| of(Level::Raid5, 5, way).with_consistency(consistency);
    let copies = |layout| of(Level::Raid10, 5, RepairWay::Die).with_copies(layout);
    let percent = [80.0, 5.0, 5.0, 5.0, 5.0];
    let shifts = |shift| of(Level::Raid5, 5, RepairWay::Die).with_parity_percent(&percent, shift);
    vec![
        ("stripes", of(Level::Raid0, 4, RepairWay::Die)),
        ("mirrors", of(Level::Raid1, 3, RepairWay::Assist).with_consistency(Consistency::Bitmap)),
        ("near copies", copies(CopyLayout::Near)),
        ("far copies", copies(CopyLayout::Far)),
        ("offset copies", copies(CopyLayout::Offset)),
        ("one parity member", of(Level::Raid4, 4, RepairWay::Rebuild)),
        ("parity", keeps(Consistency::Resync, RepairWay::Die)),
        ("parity and a bitmap", keeps(Consistency::Bitmap, RepairWay::Assist)),
        ("parity and a partial log", keeps(Consistency::Ppl, RepairWay::Rebuild)),
        ("parity and a journal", keeps(Consistency::Journal, RepairWay::Die)),
        ("two parities", of(Level::Raid6, 5, RepairWay::Assist)),
        ("a code", of(Level::Code, 6, RepairWay::Die).with_parities(3)),
        ("moving parity", shifts(ShiftWay::Minimal)),
        ("parity that moves with writes", shifts(ShiftWay::Lazy)),
    ]
}

fn fresh(config: &ArrayConfig) -> Array<PlainDevice> {
    let devices = (0..u64::from(config.devices())).map(|seed| plain(SECTORS, seed)).collect();
    Array::new(config.clone(), devices, true).unwrap()
}

fn read(config: &ArrayConfig, state: &[u8]) -> Result<Array<PlainDevice>, Damage> {
    let mut array = fresh(config);
    take_over(&mut array, state)?;
    Ok(array)
}

/// Work and faults for the array from `now` on.
fn goes_on(mut array: Array<PlainDevice>, mut now: Nanos) {
    let (mut rng, mut done) = (SplitMix::new(now.0, "forged"), Vec::new());
    let (capacity, members) = (array.identify().capacity.0 / SECTOR_BYTES, array.config().members);
    for turn in 0..240u32 {
        now.0 += rng.below(80_000);
        array.advance(now, &mut done);
        done.drain(..).for_each(|completion| {
            drop((array.take_data(completion.tag), array.take_failed(completion.tag)));
        });
        let member = rng.below(members.into()) as usize;
        match turn {
            60 | 150 => array.start_scrub(now, true),
            90 => array.fail_member(now, member).unwrap_or_default(),
            110 | 200 => drop(array.replace(now, member, plain(SECTORS, now.0), true)),
            130 => array.read_member(now, member, Lba(8), 8, Tag(9000)),
            170 => {
                array.power_cut(now);
                array.power_on(now, true).unwrap();
            }
            _ => {}
        }
        let sectors = 1 + rng.below(24) as u32;
        let lba = rng.below(capacity - 24);
        let op = [Op::Write, Op::Read, Op::Write, Op::Trim, Op::Read, Op::Flush][turn as usize % 6];
        let data =
            vec![turn as u8; if op == Op::Write { sectors as usize * SECTOR_BYTES as usize } else { 0 }];
        let command = Command::new(op, Lba(lba), if op == Op::Flush { 0 } else { sectors });
        array.submit_data(now, command, Tag(10_000 + turn), &data);
    }
    array.advance(now + Nanos::secs(7200), &mut done);
    drop((array.status(now), array.extents(Lba(0), capacity), array.progress(now)));
    array.peek(Lba(0), capacity, &mut Vec::new());
}

#[test]
fn a_forged_array_is_refused_or_keeps_working() {
    let kinds = kinds();
    let all: Vec<usize> = (0..kinds.len()).collect();
    let fixed: Vec<(u64, usize)> = (1..).zip(all.iter().copied()).collect();
    let mut counts = ForgeryCounts::default();
    for (seed, kind) in forged_by(&fixed, &all) {
        let (name, config) = &kinds[kind];
        let mut rng = SplitMix::new(seed, "forgeries");
        let mut life = Life::new(config, seed);
        for moment in 0..MOMENTS {
            life.go_on(40 + 70 * moment);
            let (state, now) = (state_of(&life.host.device), life.host.now);
            goes_on(read(config, &state).unwrap(), now);
            let places = places(&state);
            for _ in 0..FORGERIES {
                let mut forged = state.clone();
                let what = forge(&mut forged, &places, &mut rng);
                let try_it = || read(config, &forged).map(|array| goes_on(array, now)).is_ok();
                match catch_unwind(AssertUnwindSafe(try_it)) {
                    Ok(is_taken) => counts.count(is_taken),
                    Err(_) => panic!("{name}, seed {seed}, moment {moment}, {what}"),
                }
            }
        }
    }
    counts.require_both();
}
