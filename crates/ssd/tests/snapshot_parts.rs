//! Does a drive with an SLC cache, a map cache, or energy and heat go on from a snapshot as the original? Random drives at random moments: between two
//! completions, in the middle of folding or of look-ups, while throttled or shut down, right after a loss of power.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::slc_cache_torture::{caches, with_cache};
use crate::snapshot::{check_forgeries, read, written};
use crate::support::life::{Life, begun, drives};

use outlast_decisions::SuperblockState;
use outlast_device::Device;
use outlast_settings::drive::{
    EnergyConfig, HeatConfig, IdleState, SsdConfig, ThermalShutdown, ThrottleStep,
};
use outlast_settings::ftl::{MapCacheConfig, MapFlushConfig};
use outlast_ssd::Ssd;
use outlast_units::{ByteRate, Bytes, ModeId, Nanos, SuperblockId};
use proptest::prelude::*;

/// The moment of a snapshot: after so many commands, and so much time; and whether power fails then.
#[derive(Clone, Copy, Debug)]
struct Moment {
    commands: u64,
    time: Nanos,
    cut: bool,
}

fn moments() -> impl Strategy<Value = Moment> {
    (0u64..1000, 0u64..2_000_000, any::<bool>()).prop_map(|(commands, time, cut)| Moment {
        commands,
        time: Nanos(time),
        cut,
    })
}

/// Lets `life` go on to `moment`.
fn reach(life: &mut Life, moment: Moment) {
    life.go_on(moment.commands);
    let until = life.model.now + moment.time;
    while life.model.now < until && life.model.step(until) {}
    if moment.cut {
        life.model.now = life.model.now.max(until);
        life.model.cut();
    }
}

/// Takes a snapshot of the drive of `life`, and compares both drives at once and after `after` commands more.
pub(crate) fn check_snapshot(life: &mut Life, seed: u64, after: u64) -> Result<(), TestCaseError> {
    let bytes = written(&life.model.ssd);
    let copy = read(&life.config, seed, &bytes);
    prop_assert!(copy.is_ok(), "a drive refuses its own state: {:?}", copy.err());
    let mut twin = life.with(copy.unwrap());
    twin.model.ssd.self_check().unwrap();
    prop_assert!(written(&twin.model.ssd) == bytes, "read and written again it is another");
    life.go_on(after);
    twin.go_on(after);
    prop_assert_eq!(life.figures(), twin.figures());
    let now = life.model.now;
    let power = |life: &Life| life.model.ssd.power_figures(now);
    prop_assert_eq!(power(life), power(&twin));
    prop_assert!(written(&life.model.ssd) == written(&twin.model.ssd), "they have gone on differently");
    twin.model.settle_down();
    twin.model.read_everything();
    Ok(())
}

/// `config` with a cache of `pages` pages of the mapping table for each core beside the least, and how many are read ahead.
pub(crate) fn with_map_cache(mut config: SsdConfig, pages: u64, prefetch: u32) -> SsdConfig {
    // 64 entries in a page: the table has more pages than the cache.
    let flush =
        MapFlushConfig { entry: Bytes(64), written: Some(Bytes::kib(64)), ..MapFlushConfig::default() };
    let flush = config.ftl.map_flush.map_or(flush, |drawn| MapFlushConfig { entry: Bytes(64), ..drawn });
    config.ftl.map_flush = Some(flush);
    let size = Bytes((2 + u64::from(prefetch) + pages) * 4096 * u64::from(config.controller.flash_cores));
    let host_lookup = Nanos(pages % 2 * 400);
    config.ftl.map_cache = Some(MapCacheConfig { size, host_lookup, prefetch });
    config
}

/// `config` with a controller that warms up within milliseconds, throttles, shuts down from `shutdown` °C on, and rests after `rest`.
pub(crate) fn with_heat(
    mut config: SsdConfig,
    shutdown: Option<u8>,
    rest: Option<Nanos>,
    has_heat: bool,
) -> SsdConfig {
    let state = |after: Nanos, watts, exit| IdleState { after, watts, exit };
    config.energy = Some(EnergyConfig {
        active_watts: 3.0,
        idle_watts: 1.0,
        die_watts: 0.08,
        channel_watts: 0.2,
        link_watts: 0.0,
        read_joules: 1e-6,
        program_joules: 1e-5,
        erase_joules: 1e-4,
        states: rest.map_or_else(Vec::new, |after| {
            vec![state(after, 0.1, Nanos::micros(300)), state(after + after, 0.01, Nanos::micros(900))]
        }),
    });
    let rate = ByteRate::new(20_000_000).unwrap();
    config.heat = has_heat.then(|| HeatConfig {
        ambient: 25.0,
        controller_to_case: 10.0,
        case_to_air: 10.0,
        controller_capacity: 1e-4,
        case_capacity: 1e-4,
        every: Nanos::micros(100),
        start: None,
        throttle: vec![ThrottleStep { from: 60.0, until: 55.0, rate }],
        shutdown: shutdown.map(|from| ThermalShutdown { from: f64::from(from), until: 50.0 }),
    });
    config
}

/// True if a superblock of the SLC cache is being emptied.
fn is_folding(ssd: &Ssd) -> bool {
    ssd.ftls().any(|ftl| {
        let mut all = (0..ftl.layout().superblocks()).map(|id| ftl.superblock(SuperblockId(id)));
        all.any(|one| one.mode() != ModeId::FIRST && one.state() == SuperblockState::Collecting)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn a_drive_with_an_slc_cache_goes_on_from_a_snapshot(
        config in drives(), cache in caches(), seed: u64, moment in moments(), folds: bool, after in 0u64..400,
    ) {
        let config = with_cache(config, cache);
        prop_assume!(config.is_some());
        let mut life = begun(config.unwrap(), seed);
        reach(&mut life, Moment { cut: moment.cut && !folds, ..moment });
        for _ in 0..if folds { 400 } else { 0 } {
            if is_folding(&life.model.ssd) {
                break;
            }
            life.go_on(1);
        }
        if folds && moment.cut {
            life.model.cut();
        }
        check_snapshot(&mut life, seed, after)?;
    }

    #[test]
    fn a_drive_with_a_map_cache_goes_on_from_a_snapshot(
        config in drives(), pages in 0u64..6, prefetch in 0u32..4, seed: u64, moment in moments(), after in 0u64..400,
    ) {
        let config = with_map_cache(config, pages, prefetch);
        prop_assume!(Ssd::new(config.clone(), seed).is_ok());
        let mut life = begun(config, seed);
        reach(&mut life, moment);
        check_snapshot(&mut life, seed, after)?;
    }

    #[test]
    fn a_drive_with_energy_and_heat_goes_on_from_a_snapshot(
        config in drives(), seed: u64, moment in moments(), after in 0u64..400, has_heat: bool,
        shutdown in prop::option::of(65u8..75), rest in prop::option::of(50u64..2000), waits: bool,
    ) {
        let config = with_heat(config, shutdown, rest.map(Nanos::micros), has_heat);
        prop_assume!(Ssd::new(config.clone(), seed).is_ok());
        let mut life = begun(config, seed);
        reach(&mut life, moment);
        if waits {
            // Into a state of rest.
            life.model.settle_down();
            let until = life.model.now + Nanos::micros(3000);
            while life.model.now < until && life.model.step(until) {}
        }
        check_snapshot(&mut life, seed, after)?;
    }

    #[test]
    fn forged_state_of_these_parts_is_read_or_refused(
        config in drives(), cache in prop::option::of(caches()), seed: u64, pages in 0u64..6,
        forgeries in prop::collection::vec((any::<u32>(), any::<u64>(), 1usize..9), 20),
    ) {
        let config = with_heat(with_map_cache(config, pages, 1), Some(70), Some(Nanos::micros(500)), true);
        let config = cache.map_or(Some(config.clone()), |cache| with_cache(config, cache));
        prop_assume!(config.as_ref().is_some_and(|config| Ssd::new(config.clone(), seed).is_ok()));
        let mut life = begun(config.unwrap(), seed);
        life.go_on(200);
        check_forgeries(&life, seed, forgeries)?;
    }
}
