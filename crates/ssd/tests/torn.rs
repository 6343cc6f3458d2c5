//! What does a drive hold whose losses of power leave units shorn or torn? Nothing that a flush has covered is ever among them, and each of
//! the others is made of what it may hold: sector by sector, or a first part and a rest.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_device::{Device, Op, Outcome, Tag};
use outlast_media::{DieDamage, DriveFault, UnitTear};
use outlast_settings::drive::{MountConfig, SsdConfig, WriteCache};
use outlast_ssd::Ssd;
use outlast_units::{Bytes, Nanos, SECTOR_BYTES};
use proptest::prelude::*;
use support::model::Model;
use support::torture::{Cuts, configurations, frequencies, torture_of};
use support::{command, tiny};

fn tear(shorn: bool, config: &SsdConfig) -> UnitTear {
    let (share, run) =
        if shorn { (Some("3/8".parse().unwrap()), None) } else { (None, Some(Bytes(SECTOR_BYTES))) };
    UnitTear::of("power", share, run, config.ftl.mapping_unit).unwrap()
}

fn tortured(config: &SsdConfig, tear: UnitTear, seed: u64, cuts: Cuts, faults: u64) -> Model {
    let mut model = Model::new(config.clone(), seed);
    model.tear = tear;
    torture_of(model, seed, 2000, cuts, faults)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 5, ..ProptestConfig::default() })]

    /// The model knows of each unit which contents it may fall back to since the last flush that covered it.
    #[test]
    fn what_no_flush_has_covered_may_be_torn_and_nothing_else(
        config in configurations(), shorn: bool, mounts: bool, cuts in frequencies(), seed: u64, breaks: bool,
    ) {
        let mut config = config;
        if breaks {
            config.geometry.blocks_per_plane += 16;
            config.ftl.spare_blocks = 8;
        }
        config.mount = mounts.then(MountConfig::default);
        prop_assume!(Ssd::new(config.clone(), seed).is_ok());
        let protected = config.controller.write_cache == WriteCache::Protected;
        let model = tortured(&config, tear(shorn, &config), seed, cuts, if breaks { 6 } else { 0 });
        prop_assert!(!protected || model.torn == 0, "what capacitors carry to its end is not torn");
    }
}

/// Without it the test above could not fail.
#[test]
fn units_are_torn_and_the_drive_says_they_are_good() {
    let cuts = Cuts { every: 40, volley: 1 };
    for cache in [WriteCache::Volatile, WriteCache::Off] {
        let mut config = tiny();
        config.controller.write_cache = cache;
        for shorn in [true, false] {
            let model = tortured(&config, tear(shorn, &config), 3, cuts, 0);
            assert!(model.torn > 20, "{cache:?}, shorn: {shorn}: {} units", model.torn);
            assert_eq!(model.medium_errors, 0);
        }
        let model = tortured(&config, UnitTear::Nothing, 3, cuts, 0);
        assert_eq!((model.torn, model.ssd.torn_units()), (0, 0));
    }
}

/// A drive with one unit on flash that is being written again, cut off in the middle of that.
fn caught(tear: Option<UnitTear>) -> (Ssd, Nanos) {
    let mut config = tiny();
    config.bytes = true;
    config.controller.write_cache = WriteCache::Volatile;
    let mut ssd = Ssd::new(config, 1).unwrap();
    ssd.begin_timed();
    let mut done = Vec::new();
    let mut now = Nanos::ZERO;
    for (value, tag) in [(1, 0), (2, 2)] {
        ssd.submit_data(now, command(Op::Write, 0, 8), Tag(tag), &[value; 4096]);
        now = ssd.advance_to_completion(Nanos::MAX, &mut done);
        ssd.submit(now, command(Op::Flush, 0, 0), Tag(tag + 1));
        if value == 1 {
            now = ssd.advance_to_completion(Nanos::MAX, &mut done);
        }
    }
    now = Nanos(now.0 + 300_000);
    ssd.advance(now, &mut done);
    assert!(done.len() == 3 && done.iter().all(|done| done.outcome == Outcome::Ok), "{done:?}");
    match tear {
        // As a scenario has it.
        Some(tear) => ssd.inject(now, DriveFault { die: 0, damage: DieDamage::Power(tear) }),
        None => ssd.power_cut(now),
    }
    ssd.self_check().unwrap();
    (ssd, now)
}

fn read(ssd: &mut Ssd, now: Nanos) -> Vec<u8> {
    let mut done = Vec::new();
    ssd.advance(now, &mut done);
    done.clear();
    ssd.submit(now, command(Op::Read, 0, 8), Tag(9));
    ssd.advance_to_completion(Nanos::MAX, &mut done);
    assert_eq!(done.iter().map(|done| (done.tag, done.outcome)).collect::<Vec<_>>(), [(Tag(9), Outcome::Ok)]);
    ssd.take_data(Tag(9)).unwrap()
}

#[test]
fn three_eighths_of_a_unit_are_new() {
    let shorn = tear(true, &tiny());
    let (mut ssd, now) = caught(Some(shorn));
    assert_eq!(ssd.torn_units(), 1);
    let found = read(&mut ssd, now);
    assert_eq!((&found[..1536], &found[1536..]), (&[2; 1536][..], &[1; 2560][..]));
    // A copy that was written and read finds the same, and so does a fork.
    let mut bytes = Vec::new();
    let mut writer = outlast_persist::Writer::new(&mut bytes);
    outlast_persist::Restore::save(&ssd, &mut writer);
    writer.end().unwrap();
    let mut twin = Ssd::new(ssd.config().clone(), 1).unwrap();
    let mut bytes = bytes.as_slice();
    outlast_persist::Restore::restore(&mut twin, &mut outlast_persist::Reader::new(&mut bytes)).unwrap();
    let later = Nanos(now.0 + 1_000_000);
    for mut other in [ssd.clone(), twin] {
        assert!(read(&mut other, later) == found);
    }
    // The next loss of power is an ordinary one, and what the host writes again is whole.
    ssd.submit_data(later, command(Op::Write, 0, 8), Tag(0), &[3; 4096]);
    ssd.advance(Nanos(later.0 + 100_000), &mut Vec::new());
    ssd.power_cut(Nanos(later.0 + 200_000));
    assert!(read(&mut ssd.clone(), Nanos(later.0 + 300_000)) == found, "it falls back to what was there");
    let end = Nanos(later.0 + 400_000);
    ssd.submit_data(end, command(Op::Write, 0, 8), Tag(0), &[4; 4096]);
    assert!(read(&mut ssd, Nanos(end.0 + 100_000_000)) == [4; 4096]);
    assert_eq!(ssd.torn_units(), 0);
}

#[test]
fn sectors_survive_one_by_one() {
    let (mut ssd, now) = caught(Some(tear(false, &tiny())));
    let found = read(&mut ssd, now);
    let sectors: Vec<u8> = found.chunks(512).map(|sector| sector[0]).collect();
    assert!(found.chunks(512).all(|sector| sector.iter().all(|&byte| byte == sector[0])));
    assert!(sectors.contains(&1) && sectors.contains(&2), "{sectors:?}");
    let (mut plain, now) = caught(None);
    assert!(read(&mut plain, now) == [1; 4096], "without it the old unit is whole");
}
