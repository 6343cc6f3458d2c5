//! Random commands with real bytes on small drives of many kinds, cut off at random moments.

use super::model::Model;
use super::own::decide_some;
use super::pacing::pacings;
use super::protection::{choices, chooses_by_figures, protected};
use super::tiny;
use outlast_device::{Device, Op};
use outlast_media::{DieDamage, DriveFault, PageTimes, SuspendConfig};
use outlast_settings::drive::{HostLatency, SsdConfig, WriteCache};
use outlast_settings::ftl::{
    CodeConfig, GcConfig, MapCacheConfig, MapFlushConfig, VictimPolicy, WearLeveling,
};
use outlast_units::rng::SplitMix;
use outlast_units::{ByteRate, Bytes, Nanos};
use proptest::prelude::*;

/// How often power fails, and how often twice in a row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cuts {
    /// One in so many commands.
    pub(crate) every: u64,
    /// At most so many at once.
    pub(crate) volley: u64,
}

fn random_fault(rng: &mut SplitMix, config: &SsdConfig) -> DriveFault {
    let geometry = &config.geometry;
    let mut below = |n: u32| rng.below(u64::from(n)) as u32;
    let die = below(u32::from(geometry.dies())) as u16;
    let plane = below(u32::from(geometry.planes_per_die)) as u16;
    let (block, page) = (below(geometry.blocks_per_plane), below(geometry.pages_per_block));
    let damage = match below(21) {
        0..6 => DieDamage::Page { plane, block, page },
        6..8 => DieDamage::Block { plane, block },
        8 => DieDamage::Die,
        15 => DieDamage::Plane { plane },
        16..19 => DieDamage::Wordline { plane, block, page },
        19 => DieDamage::ParityCache,
        9..12 => DieDamage::TransientRead { block: None, reads: 1 + below(9) },
        12..15 => DieDamage::Program { plane, block },
        _ => DieDamage::Erase { plane, block },
    };
    DriveFault { die, damage }
}

pub(crate) fn torture(config: &SsdConfig, seed: u64, commands: u32, cuts: Cuts, faults: u64) -> Model {
    let mut config = config.clone();
    decide_some(&mut config, seed);
    chooses_by_figures(&mut config, seed);
    torture_of(Model::new(config, seed), seed, commands, cuts, faults)
}

/// The same with a model, and a drive, that is there already.
pub(crate) fn torture_of(mut model: Model, seed: u64, commands: u32, cuts: Cuts, faults: u64) -> Model {
    let mut rng = SplitMix::new(seed, "power");
    let config = model.ssd.config().clone();
    model.may_fail = faults != 0;
    if seed.is_multiple_of(2) {
        model.ssd.begin_timed();
    }
    let depth = 1 + rng.below(16) as usize;
    let units = model.units.len() as u64;
    for number in 0..commands {
        while model.pending.len() >= depth {
            assert!(model.step(Nanos::MAX), "commands are pending and nothing happens");
        }
        if faults != 0 && rng.below(u64::from(commands) / faults) == 0 {
            model.ssd.inject(model.now, random_fault(&mut rng, &config));
        }
        if config.protection.is_some() && rng.below(u64::from(commands) / 4) == 0 {
            let parity = rng.below(3) as u8;
            let code = CodeConfig { data: 4 - u16::from(parity), parity, block: None };
            // Refused where it leaves too little room.
            let _ = model.ssd.set_code(model.now, rng.below(3) as u8, code);
        }
        let (op, longest) = match rng.below(100) {
            0..70 => (Op::Write, if rng.below(8) == 0 { 20 } else { 3 }),
            70..90 => (Op::Read, 4),
            90..96 => (Op::Trim, 6),
            _ => (Op::Flush, 1),
        };
        let count = 1 + rng.below(longest);
        // Two in three go to a tenth of the space, so that what is in the buffer is often written again.
        let span = if rng.below(3) == 0 { units } else { units / 10 };
        let first = rng.below(span.max(count + 1) - count) as usize;
        let end = (first + count as usize).min(units as usize);
        if op == Op::Read || op == Op::Flush || model.is_free(first, end) {
            let known = model.units[first].current().len() == 1;
            let partial = op == Op::Write && known && rng.below(3) == 0;
            let skip = if partial { rng.below(model.sectors as u64) as usize } else { 0 };
            let fua = op == Op::Write && rng.below(12) == 0;
            model.submit(op, first, end, skip, fua, rng.below(3) as u16);
        }
        if rng.below(cuts.every) == 0 {
            for _ in 0..=rng.below(cuts.volley) {
                // From right now to when the drive has come to rest.
                let within = [1_000, 100_000, 1_000_000, 10_000_000][rng.below(4) as usize];
                let at = model.now + Nanos(rng.below(within));
                while model.now < at && model.step(at) {}
                model.now = at;
                model.cut();
            }
            if rng.below(3) == 0 {
                model.read_everything();
            }
        }
        if number % 512 == 0 {
            model.ssd.self_check().unwrap();
        }
    }
    model.cut();
    model.read_everything();
    assert_eq!(model.ssd.ftls().find_map(outlast_ftl::Ftl::policy_failure), None);
    model
}

pub(crate) fn configurations() -> impl Strategy<Value = SsdConfig> {
    let cache = prop::sample::select(vec![WriteCache::Protected, WriteCache::Volatile, WriteCache::Off]);
    let policy = prop::sample::select(VictimPolicy::ALL);
    let sizes = prop::sample::select(vec![(4, 4), (2, 4), (4, 16), (8, 4), (16, 4)]);
    let protection = prop::option::weighted(0.7, choices());
    let shape = (any::<bool>(), 1u8..4, prop::sample::select(vec![1u16, 2]), (pacings(), 0u32..4));
    let rest = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    (cache, policy, sizes, protection, shape, rest, map_flushes()).prop_map(
        |(cache, policy, (unit, page), protection, shape, rest, map_flush)| {
            let (link, suspend, leveling, bound, one_shot) = rest;
            let (multi_plane, streams, cores, (pacing, stride)) = shape;
            let mut config = tiny();
            config.geometry.page_size = Bytes::kib(page);
            config.geometry.blocks_per_plane = 24 * u32::from(streams);
            config.geometry.pages_per_block = if page == 16 { 4 } else { 8 };
            config.ftl.mapping_unit = Bytes::kib(unit);
            config.ftl.multi_plane = multi_plane;
            config.ftl.one_shot = if one_shot { 2 } else { 1 };
            config.ftl.streams = streams;
            config.ftl.gc = GcConfig { policy, choices: 3, ..GcConfig::default() };
            config.ftl.wear_leveling = WearLeveling { dynamic: true, static_gap: leveling.then_some(3) };
            // A stripe lies on the dies of one flash core.
            let cores = if protection.is_some() { 1 } else { cores };
            config.ftl.capacity = Some(Bytes(config.geometry.raw_capacity().0 / 2));
            config.controller.flash_cores = cores;
            // At another stride, planes of a die that program by themselves would lie within one stripe.
            config.ftl.stride = if multi_plane { 1 + stride % (4 / u32::from(cores)) } else { 1 };
            config.controller.write_cache = cache;
            config.controller.write_buffer = Bytes::kib(512 * u64::from(config.ftl.one_shot));
            config.controller.read_cache = link.then(|| Bytes::kib(256));
            coalesces(&mut config, leveling, if suspend { 128 } else { 0 });
            config.controller.link = link.then(|| ByteRate::new(500_000_000).unwrap());
            config.controller.internal_operations = bound.then_some(1);
            config.controller.think_time = if bound == leveling { Nanos::ZERO } else { Nanos::micros(250) };
            config.controller.queue_depth = if bound { 3 } else { 64 };
            if bound {
                config.controller.master_cost = Nanos(700);
                config.controller.write_cost = Nanos(1100);
            }
            if suspend != link {
                let (submit, complete) = (Nanos(1500), Nanos::micros(7));
                config.controller.host_latency = HostLatency { submit, complete };
            }
            if suspend {
                config.timing.suspend = Some(SuspendConfig::both(Nanos::micros(5), 3, 2));
                config.timing.read = PageTimes::ByType(vec![Nanos::micros(40), Nanos::micros(70)]);
            }
            let classes = protection.is_some_and(|choices| choices.5);
            let rows = if unit > 4 || page == 16 { 1 } else { 3 };
            if protection.is_some() {
                config.geometry.blocks_per_plane = if classes { 120 } else { 36 } * u32::from(streams);
                let share = if classes { 40 } else { 12 };
                config.ftl.capacity = Some(Bytes(config.geometry.raw_capacity().0 / share));
            }
            config.protection = protection.map(|choices| protected(choices, rows));
            config.ftl.map_flush = map_flush;
            config.ftl.map_cache = (map_flush.is_some() && !link).then(|| MapCacheConfig {
                size: Bytes(u64::from(cores) * config.ftl.mapping_unit.0 * if bound { 4 } else { 2 }),
                host_lookup: Nanos(if leveling { 300 } else { 0 }),
                prefetch: if bound { 2 } else { 0 },
            });
            pacing.set(&mut config);
            config
        },
    )
}

/// Where `yes`, and there is a cache, writes coalesce; `kib` KiB of full program units are held back beside what the buffer held before.
pub(crate) fn coalesces(config: &mut SsdConfig, yes: bool, kib: u64) {
    if yes && config.controller.write_cache != WriteCache::Off {
        config.controller.coalesce = true;
        config.controller.hold_back = Bytes::kib(kib);
        config.controller.write_buffer = Bytes(config.controller.write_buffer.0 + 1024 * kib);
    }
}

/// Flushes of the mapping table, every few writes or milliseconds, or none.
pub(crate) fn map_flushes() -> impl Strategy<Value = Option<MapFlushConfig>> {
    let when = prop::sample::select(vec![(None, Some(64)), (Some(3), None), (Some(40), Some(400))]);
    let one = (when, prop::sample::select(vec![4, 64]), any::<bool>()).prop_map(
        |((ms, kib), entry, dirty_only)| {
            let (interval, written) = (ms.map(Nanos::millis), kib.map(Bytes::kib));
            MapFlushConfig { interval, written, entry: Bytes(entry), dirty_only }
        },
    );
    prop::option::of(one)
}

pub(crate) fn frequencies() -> impl Strategy<Value = Cuts> {
    (prop::sample::select(vec![5u64, 40, 300]), 1u64..5).prop_map(|(every, volley)| Cuts { every, volley })
}
