//! Does a drive tell the truth about its sectors: what is stored, what is lost, what a loss of power would undo? Random drives in the
//! middle of their lives are asked; then copies of them are read from end to end, and cut off and read.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_device::{Device, Extent, ExtentState, Held, Op, Outcome, SectorRun, Tag};
use outlast_media::{DieDamage, DriveFault, HazardConfig};
use outlast_settings::drive::{FlushPolicy, SsdConfig, Trims, WriteCache};
use outlast_ssd::Ssd;
use outlast_units::rng::SplitMix;
use outlast_units::{Bytes, Lba, Nanos, SECTOR_BYTES};
use proptest::prelude::*;
use support::model::Model;
use support::protection::{Choices, choices, protected};
use support::{command, tiny};

fn drive(cache: WriteCache, choices: Option<Choices>, cores: u16) -> SsdConfig {
    let mut config = tiny();
    config.geometry.blocks_per_plane = 40;
    config.controller.write_cache = cache;
    config.controller.write_buffer = Bytes::kib(512);
    config.ftl.spare_blocks = 4;
    config.controller.flash_cores = if choices.is_some() { 1 } else { cores };
    if let Some(choices) = choices {
        config.geometry.blocks_per_plane = 120;
        config.ftl.capacity = Some(Bytes(config.geometry.raw_capacity().0 / 40));
        config.protection = Some(protected(choices, 3));
    }
    config
}

/// Something breaks for good.
fn fault(rng: &mut SplitMix, config: &SsdConfig) -> DriveFault {
    let geometry = &config.geometry;
    let mut below = |n: u32| rng.below(u64::from(n)) as u32;
    let die = below(u32::from(geometry.dies())) as u16;
    let plane = below(u32::from(geometry.planes_per_die)) as u16;
    let (block, page) = (below(geometry.blocks_per_plane), below(geometry.pages_per_block));
    let damage = match below(12) {
        0..5 => DieDamage::Page { plane, block, page },
        5..8 => DieDamage::Wordline { plane, block, page },
        8..10 => DieDamage::Block { plane, block },
        10 => DieDamage::Plane { plane },
        _ => DieDamage::Die,
    };
    DriveFault { die, damage }
}

/// A life of `commands` commands in which `faults` things break.
fn live(config: &SsdConfig, seed: u64, commands: u64, faults: u64) -> Model {
    let mut rng = SplitMix::new(seed, "extents");
    let mut model = Model::new(config.clone(), seed);
    model.may_fail = faults != 0;
    model.ssd.begin_timed();
    let units = model.units.len() as u64;
    for _ in 0..commands {
        while model.pending.len() >= 8 {
            assert!(model.step(Nanos::MAX), "commands are pending and nothing happens");
        }
        if faults != 0 && rng.below(commands) < faults {
            let fault = fault(&mut rng, config);
            model.ssd.inject(model.now, fault);
        }
        if faults == 0 && rng.below(200) == 0 {
            model.cut();
            model.read_everything();
        }
        let (op, longest) = match rng.below(100) {
            0..70 => (Op::Write, 3),
            70..80 => (Op::Read, 4),
            80..96 => (Op::Trim, 6),
            _ => (Op::Flush, 1),
        };
        let count = 1 + rng.below(longest);
        // Most go to a tenth of the space, so that what is in the buffer is often written again.
        let span = if rng.below(3) == 0 { units } else { units / 10 };
        let first = rng.below(span.max(count + 1) - count) as usize;
        let end = first + count as usize;
        if op == Op::Read || op == Op::Flush || model.is_free(first, end) {
            let known = model.units[first].current().len() == 1;
            let skip = if op == Op::Write && known && rng.below(4) == 0 { rng.below(8) as usize } else { 0 };
            model.submit(op, first, end, skip, rng.below(8) == 0, 0);
        }
    }
    model.settle_down();
    model
}

/// What unit `unit` of `ssd` gives at `now`: its bytes, or nothing where it cannot be read. Of a copy, since reading lets time pass.
fn content(ssd: &Ssd, now: Nanos, unit: u64) -> Option<Vec<u8>> {
    const TAG: Tag = Tag(u32::MAX);
    let (mut ssd, per_unit) = (ssd.clone(), ssd.sectors_per_unit());
    let lba = unit * u64::from(per_unit);
    ssd.submit(now, command(Op::Read, lba, per_unit), TAG);
    let mut done = Vec::new();
    while done.is_empty() {
        ssd.advance_to_completion(Nanos::MAX, &mut done);
    }
    let (failed, run) = (ssd.take_failed(TAG), SectorRun { lba: Lba(lba), sectors: per_unit.into() });
    match done[0].outcome {
        Outcome::Ok => assert_eq!(failed, None),
        outcome => assert_eq!((outcome, failed), (Outcome::MediumError, Some(vec![run]))),
    }
    ssd.take_data(TAG)
}

fn contents(ssd: &Ssd, now: Nanos) -> Vec<Option<Vec<u8>>> {
    (0..ssd.units()).map(|unit| content(ssd, now, unit)).collect()
}

/// The state of each unit, from one answer for all and from answers for parts, which must agree.
fn states(ssd: &Ssd, rng: &mut SplitMix) -> Vec<ExtentState> {
    let (per_unit, sectors) =
        (u64::from(ssd.sectors_per_unit()), ssd.units() * u64::from(ssd.sectors_per_unit()));
    let spread = |extents: &[Extent]| -> Vec<ExtentState> {
        extents.iter().flat_map(|extent| vec![extent.state; extent.sectors as usize]).collect()
    };
    let all = ssd.extents(Lba(0), u64::MAX);
    assert!(all.windows(2).all(|pair| pair[0].lba.0 + pair[0].sectors == pair[1].lba.0));
    assert!(all.windows(2).all(|pair| pair[0].state != pair[1].state), "neighbours that are alike are one");
    let all = spread(&all);
    assert_eq!(all.len() as u64, sectors);
    for _ in 0..20 {
        let first = rng.below(sectors);
        let count = rng.below(sectors - first) + 1;
        let part = ssd.extents(Lba(first), count);
        assert_eq!(part[0].lba, Lba(first));
        assert_eq!(spread(&part), all[first as usize..(first + count) as usize]);
    }
    assert!(ssd.extents(Lba(sectors), 1).is_empty() && ssd.extents(Lba(5), 0).is_empty());
    let units: Vec<_> = all.iter().step_by(per_unit as usize).copied().collect();
    assert!(all.iter().zip(0..).all(|(state, sector)| *state == units[(sector / per_unit) as usize]));
    units
}

/// How often each state was found, so that a test that finds none of it fails.
#[derive(Default, Debug)]
struct Found {
    holes: u64,
    lost: u64,
    volatile: u64,
}

/// What `ssd` says without a read that each of its units gives, from one answer for all and from answers that begin in the middle of a unit.
fn peek(ssd: &Ssd) -> Vec<Option<Vec<u8>>> {
    let per_unit = u64::from(ssd.sectors_per_unit());
    let bytes = |held: &Held, sectors: u64| {
        let bytes = (sectors * SECTOR_BYTES) as usize;
        match held {
            Held::Zeroes => Some(vec![0; bytes]),
            Held::Bytes { memory, from } => Some(memory[*from..from + bytes].to_vec()),
            Held::Lost => None,
            Held::Unknown => panic!("a drive that keeps bytes knows"),
        }
    };
    let mut peeks = Vec::new();
    ssd.peek(Lba(0), u64::MAX, &mut peeks);
    assert_eq!(peeks.len() as u64, ssd.units());
    let all: Vec<_> = peeks.iter().map(|peek| bytes(&peek.held, peek.sectors)).collect();
    for unit in (0..ssd.units()).step_by(7) {
        let skip = unit % per_unit;
        peeks.clear();
        ssd.peek(Lba(unit * per_unit + skip), per_unit - skip, &mut peeks);
        let tail = all[unit as usize].as_ref().map(|bytes| bytes[(skip * SECTOR_BYTES) as usize..].to_vec());
        assert_eq!(peeks.iter().map(|peek| bytes(&peek.held, peek.sectors)).collect::<Vec<_>>(), [tail]);
    }
    all
}

/// Compares what `model`'s drive says with what copies of it give. Only without faults a loss of power loses exactly what was volatile.
fn look(model: &Model, seed: u64, sound: bool, found: &mut Found) {
    let told = states(&model.ssd, &mut SplitMix::new(seed, "ranges"));
    let mut cut = model.ssd.clone();
    let now = contents(&model.ssd, model.now);
    assert!(peek(&model.ssd) == now, "what it says that it holds is not what it gives");
    for (unit, (state, content)) in told.iter().zip(&now).enumerate() {
        let is_zero = content.as_ref().is_some_and(|bytes| bytes.iter().all(|&byte| byte == 0));
        assert_eq!(state.lost, content.is_none(), "unit {unit} is {state:?}");
        assert_eq!(state.allocated, !is_zero, "unit {unit} is {state:?}");
        found.holes += u64::from(is_zero);
        found.lost += u64::from(state.lost);
    }
    if sound {
        cut.power_cut(model.now);
        for (unit, (state, (before, after))) in
            told.iter().zip(now.iter().zip(contents(&cut, model.now))).enumerate()
        {
            assert_eq!(state.volatile, *before != after, "unit {unit} is {state:?}");
            found.volatile += u64::from(state.volatile);
        }
    }
}

fn configurations() -> impl Strategy<Value = SsdConfig> {
    let cache = prop::sample::select(vec![WriteCache::Protected, WriteCache::Volatile, WriteCache::Off]);
    (cache, prop::option::of(choices()), prop::sample::select(vec![1u16, 2]), any::<(bool, bool)>()).prop_map(
        |(cache, choices, cores, (honours, keeps))| {
            let mut config = drive(cache, choices, cores);
            if cache == WriteCache::Volatile && !honours {
                config.controller.flush = FlushPolicy::Ignore;
            }
            if cache != WriteCache::Protected && !keeps {
                config.controller.trims = Trims::Volatile;
            }
            config
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn what_a_drive_says_is_what_it_gives_and_keeps(
        mut config in configurations(), seed: u64, commands in 50u64..600, failing_programs: bool,
    ) {
        if failing_programs {
            config.hazards = HazardConfig { program_failure: 4e-3, ..HazardConfig::default() };
            config.ftl.tolerated_bad_blocks = 1;
        }
        let model = live(&config, seed, commands, 0);
        look(&model, seed, true, &mut Found::default());
    }

    #[test]
    fn what_a_breaking_drive_says_is_what_it_gives(
        config in configurations(), seed: u64, commands in 50u64..600, faults in 1u64..12,
    ) {
        let model = live(&config, seed, commands, faults);
        look(&model, seed, false, &mut Found::default());
    }
}

/// The trim of a page is undone to a copy that was in the buffer and went back to one whose program had failed.
#[test]
fn an_undone_trim_leads_to_no_failed_program() {
    let mut config = drive(WriteCache::Volatile, None, 1);
    config.controller.flush = FlushPolicy::Ignore;
    config.controller.trims = Trims::Volatile;
    config.hazards = HazardConfig { program_failure: 4e-3, ..HazardConfig::default() };
    config.ftl.tolerated_bad_blocks = 1;
    let seed = 2_363_768_539_809_514_166;
    look(&live(&config, seed, 552, 0), seed, true, &mut Found::default());
}

#[test]
fn every_state_is_found() {
    let mut found = Found::default();
    for seed in 0..8 {
        let config = drive(WriteCache::Volatile, None, 1);
        look(&live(&config, seed, 400, 0), seed, true, &mut found);
        look(&live(&config, seed, 400, 6), seed, false, &mut found);
    }
    assert!(found.holes > 100 && found.lost > 20 && found.volatile > 20, "{found:?}");
}
