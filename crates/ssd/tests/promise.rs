//! Is every class of data as safe as its code promises? Random commands of all classes with real bytes, while dies fail, pages and
//! blocks on them break, power is cut, codes change and dies are added: as long as no more dies have failed than a class bears,
//! everything that was acknowledged comes back; beyond that, the truth or an honest error.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_device::{Device, Op};
use outlast_ftl::ProgramCause;
use outlast_media::{DieDamage, DriveFault};
use outlast_settings::drive::{ScrubConfig, SsdConfig, WriteCache};
use outlast_settings::ftl::{
    ClassConfig, CodeConfig, PartialConfig, PartialPlace, ProtectedStreams, ProtectionConfig, RangeConfig,
};
use outlast_units::rng::SplitMix;
use outlast_units::{Bytes, DieId, Nanos};
use proptest::prelude::*;
use support::model::Model;
use support::tiny;

/// Units of each class: 0, 1 and 2 parities.
const UNITS: u64 = 60;
const CLASSES: u64 = 3;
/// Dies at first; two more come.
const DIES: u16 = 6;

/// Six dies, two that come later, three classes by address.
fn drive(cache: WriteCache, place: PartialPlace, block: Option<u16>, reprotect: bool) -> SsdConfig {
    let mut config = tiny();
    config.geometry.channels = 4;
    config.geometry.planes_per_die = 1;
    config.geometry.blocks_per_plane = 64;
    config.geometry.pages_per_block = 8;
    config.ftl.mapping_unit = Bytes::kib(4);
    config.ftl.capacity = Some(Bytes(UNITS * CLASSES * 4096));
    config.controller.write_cache = cache;
    config.controller.write_buffer = Bytes::kib(256);
    config.absent_dies = vec![6, 7];
    let class = |number: u64| ClassConfig {
        data: Some(6 - number as u16),
        parity: Some(number as u8),
        ranges: vec![RangeConfig {
            from: Bytes(number * UNITS * 4096),
            to: Bytes((number + 1) * UNITS * 4096),
        }],
        ..ClassConfig::default()
    };
    config.protection = Some(ProtectionConfig {
        block,
        streams: ProtectedStreams::All,
        partial: PartialConfig { place, timeout: Nanos::millis(5), ..PartialConfig::default() },
        classes: (0..CLASSES).map(class).collect(),
        ..ProtectionConfig::default()
    });
    config.scrub = reprotect.then(|| ScrubConfig { reprotect, ..ScrubConfig::default() });
    config
}

/// Something breaks on a die that fails.
fn failure(rng: &mut SplitMix, config: &SsdConfig, die: u16) -> DriveFault {
    let block = rng.below(u64::from(config.geometry.blocks_per_plane)) as u32;
    let page = rng.below(u64::from(config.geometry.pages_per_block)) as u32;
    let damage = match rng.below(12) {
        0..5 => DieDamage::Page { plane: 0, block, page },
        5..7 => DieDamage::Block { plane: 0, block },
        7..9 => DieDamage::TransientRead { block: None, reads: 1 + rng.below(4) as u32 },
        9..11 => DieDamage::Program { plane: 0, block },
        _ => DieDamage::Die,
    };
    DriveFault { die, damage }
}

/// Runs a life of `commands` commands in which `failed` dies fail; returns the model for its counts.
fn live(config: &SsdConfig, seed: u64, commands: u64, failed: u8) -> Model {
    let mut rng = SplitMix::new(seed, "promise");
    let mut model = Model::new(config.clone(), seed);
    model.may_fail = true;
    model.promised = (0..CLASSES * UNITS).map(|unit| (unit / UNITS) as u8).collect();
    model.failed_dies = failed;
    model.ssd.begin_timed();
    let mut dies: Vec<u16> = (0..DIES).collect();
    let fail: Vec<u16> =
        (0..failed).map(|_| dies.swap_remove(rng.below(dies.len() as u64) as usize)).collect();
    let units = CLASSES * UNITS;
    for number in 0..commands {
        while model.pending.len() >= 8 {
            assert!(model.step(Nanos::MAX), "commands are pending and nothing happens");
        }
        match rng.below(commands) {
            0..12 if failed != 0 => {
                let die = fail[rng.below(fail.len() as u64) as usize];
                let fault = failure(&mut rng, config, die);
                model.ssd.inject(model.now, fault);
            }
            12..20 => {
                // Never below what the class was promised.
                let class = rng.below(CLASSES) as u8;
                let parity = class + rng.below(2) as u8;
                let code = CodeConfig {
                    data: 6 - u16::from(parity),
                    parity,
                    block: config.protection.as_ref().unwrap().block,
                };
                let _ = model.ssd.set_code(model.now, class, code);
            }
            20..24 => {
                let die = DieId(DIES + rng.below(2) as u16);
                let _ = model.ssd.add_die(model.now, die);
            }
            // Without capacitors a loss of power may itself cost a stripe a member.
            24..36 if failed == 0 || config.controller.write_cache == WriteCache::Protected => {
                let at = model.now + Nanos(rng.below(3_000_000));
                while model.now < at && model.step(at) {}
                model.now = at;
                model.cut();
            }
            _ => {}
        }
        let (op, longest) = match rng.below(100) {
            0..65 => (Op::Write, if rng.below(8) == 0 { 20 } else { 3 }),
            65..90 => (Op::Read, 4),
            90..94 => (Op::Trim, 3),
            _ => (Op::Flush, 1),
        };
        let count = 1 + rng.below(longest);
        let first = rng.below(units - count) as usize;
        let end = first + count as usize;
        if op == Op::Read || op == Op::Flush || model.is_free(first, end) {
            let known = model.units[first].current().len() == 1;
            let skip = if op == Op::Write && known && rng.below(4) == 0 { rng.below(8) as usize } else { 0 };
            let fua = op == Op::Write && rng.below(12) == 0;
            model.submit(op, first, end, skip, fua, 0);
        }
        if number % 1024 == 0 {
            model.ssd.self_check().unwrap();
        }
    }
    model.settle_down();
    model.read_everything();
    model
}

fn configurations() -> impl Strategy<Value = SsdConfig> {
    // An unprotected buffer loses the parity under way with it; only the cache of parity keeps a whole stripe's promise then, as
    // partial parity elsewhere covers what was flushed, not what collection has moved since.
    let kinds = prop::sample::select(vec![
        (WriteCache::Protected, PartialPlace::None),
        (WriteCache::Protected, PartialPlace::Inline),
        (WriteCache::Protected, PartialPlace::Blocks),
        (WriteCache::Protected, PartialPlace::Cache),
        (WriteCache::Volatile, PartialPlace::Cache),
        (WriteCache::Off, PartialPlace::Cache),
    ]);
    let block = prop::option::weighted(0.3, Just(3u16));
    (kinds, block, any::<bool>(), 1u32..=8).prop_map(|((cache, place), block, reprotect, stride)| {
        let mut config = drive(cache, place, block, reprotect);
        config.ftl.stride = stride;
        config
    })
}

/// 64 lives, others by each commit; the nightly size, two million commands, is
/// `PROPTEST_CASES=2000 cargo nextest run --package outlast-ssd promise::`.
fn cases() -> ProptestConfig {
    let default = ProptestConfig::default();
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { default.cases } else { 64 };
    ProptestConfig { cases, ..default }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn every_class_bears_as_many_failed_dies_as_promised(
        config in configurations(), failed in 0u8..4, seed: u64,
    ) {
        live(&config, seed, 1000, failed);
    }
}

#[test]
fn what_is_beyond_the_promise_was_reached_and_reported() {
    let (mut errors, mut rebuilt, mut moved) = (0, 0, 0);
    for seed in 0..6 {
        let config = drive(WriteCache::Protected, PartialPlace::Blocks, None, true);
        let model = live(&config, seed, 3000, 2);
        errors += model.medium_errors;
        rebuilt += model.ssd.corrections().stripe;
        moved += model.ssd.written()[ProgramCause::Reencode];
    }
    assert!(errors > 0 && rebuilt > 10 && moved > 50, "{errors} errors, {rebuilt} rebuilt, {moved} moved");
}
