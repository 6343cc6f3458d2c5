//! Do writes without time program every row in its turn, whatever collection does beside them, and leave a drive that goes on in time?

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_device::{Command, Device, Op, Outcome, Tag};
use outlast_settings::drive::{SsdConfig, WriteCache};
use outlast_settings::ftl::{GcRelocation, MapFlushConfig, PartialConfig, PartialPlace, ProtectionConfig};
use outlast_ssd::Ssd;
use outlast_units::rng::SplitMix;
use outlast_units::{Bytes, Lba, Nanos};
use proptest::prelude::*;
use support::pacing::pacings;
use support::tiny;
use support::torture::{coalesces, map_flushes};

/// Writes `config`'s drive in without time, skewed, with trims and with parts of units, and goes on in time; all invariants hold at either end.
fn write_in_and_go_on(config: SsdConfig, seed: u64) -> Result<Ssd, String> {
    let mut ssd = Ssd::new(config, seed).map_err(|refused| refused.to_string())?;
    let (units, mut rng) = (ssd.units(), SplitMix::new(seed, "commands"));
    let mut command = move || {
        let few = 1 + units / 8;
        let unit = if rng.below(4) != 0 { rng.below(few) } else { rng.below(units) };
        let op = if rng.below(12) == 0 { Op::Trim } else { Op::Write };
        Command::new(op, Lba(8 * unit + rng.below(2)), 7)
    };
    (0..units).for_each(|unit| ssd.write_unit_untimed(unit, (unit % 3) as u16).unwrap());
    for count in 0..6 * units {
        assert_eq!(ssd.apply_untimed(&command()), Outcome::Ok);
        if count % units == 0 {
            let mut ended = ssd.clone();
            ended.end_untimed();
            ended.self_check()?;
        }
    }
    ssd.begin_timed();
    ssd.self_check()?;
    let (mut now, mut ended) = (Nanos::ZERO, Vec::new());
    for _ in 0..units {
        ssd.submit(now, command(), Tag(0));
        ended.clear();
        while ended.is_empty() {
            now = ssd.next_deadline().unwrap();
            ssd.advance(now, &mut ended);
        }
    }
    ssd.self_check()?;
    Ok(ssd)
}

/// Relocation into the host's stream fills program units of the host's superblocks: those held back there go first.
#[test]
fn moved_units_do_not_overtake_what_the_host_has_held_back() {
    for (kib, map_flush) in [(0, None), (64, None), (128, Some(Bytes::kib(64))), (200, None)] {
        let mut config = tiny();
        config.geometry.blocks_per_plane = 34;
        config.ftl.gc.relocation = GcRelocation::Host;
        config.ftl.map_flush =
            map_flush.map(|written| MapFlushConfig { written: Some(written), ..MapFlushConfig::default() });
        coalesces(&mut config, true, kib);
        let ssd = write_in_and_go_on(config, kib).unwrap();
        assert!(ssd.counters().coalesced_writes != 0, "{kib} KiB: nothing coalesced");
        assert!(ssd.victims().1 != 0, "{kib} KiB: nothing moved");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn writes_without_time_program_every_row_in_its_turn(
        paced in pacings(),
        (mixed, bytes) in (any::<bool>(), any::<bool>()),
        held in prop::option::of(0u64..200),
        map_flush in map_flushes(),
        parity in prop::option::of(prop::sample::select(vec![(3, 1), (1, 1), (2, 2)])),
        (streams, low, gap) in (1u8..3, 0u32..3, prop::option::of(2u32..5)),
        cache in prop::sample::select(vec![WriteCache::Protected, WriteCache::Protected, WriteCache::Volatile]),
        seed in any::<u64>(),
    ) {
        let mut config = tiny();
        config.geometry.blocks_per_plane = 64;
        (config.bytes, config.controller.write_cache) = (bytes, cache);
        (config.ftl.streams, config.ftl.wear_leveling.static_gap, config.ftl.map_flush) = (streams, gap, map_flush);
        coalesces(&mut config, held.is_some(), held.unwrap_or(0));
        let paced = if mixed { paced.mixed() } else { paced };
        paced.set(&mut config);
        if mixed && cache == WriteCache::Protected {
            config.ftl.gc.relocation = GcRelocation::Host;
        }
        if config.ftl.gc.stop_free.is_none() && low != 0 {
            config.ftl.gc.start_free = Some(6 + low);
        }
        config.protection = parity.map(|(data, parity)| ProtectionConfig {
            data,
            parity,
            partial: PartialConfig { place: PartialPlace::None, ..PartialConfig::default() },
            ..ProtectionConfig::default()
        });
        // Some have too little room for what is drawn.
        prop_assume!(Ssd::new(config.clone(), seed).is_ok());
        match write_in_and_go_on(config, seed) {
            Ok(_) => {}
            Err(error) => prop_assert!(false, "{error}"),
        }
    }
}
