//! Do an SLC cache, a map cache, energy and heat, and placement handles work together? Random drives with any of them, beside parity, errors, repair and
//! faults: each is refused with value and limit, or keeps its bytes through cuts of power, goes on from a snapshot as the original, and repeats itself.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::placement::{isolations, with_handles};
use crate::slc_cache_torture::caches;
use crate::snapshot::written;
use crate::snapshot_parts::{check_snapshot, with_heat, with_map_cache};
use crate::support::life::{begun, drives};
use crate::support::torture::{configurations, frequencies, torture};
use crate::support::zoned::{Host, steps, zoned};

use outlast_settings::drive::{SlcCacheConfig, SsdConfig, WriteCache};
use outlast_settings::ftl::{GcRelocation, ProtectionConfig};
use outlast_settings::placement::HandleIsolation;
use outlast_ssd::Ssd;
use outlast_units::Nanos;
use proptest::prelude::*;

/// Parts that a drive has beside those of `drives` and `configurations`.
#[derive(Clone, Debug)]
struct Parts {
    slc_cache: Option<SlcCacheConfig>,
    /// Pages, and how many are read ahead.
    map_cache: Option<(u64, u32)>,
    /// Temperature of shut-down, pause before a state of rest in microseconds, and whether there is heat at all.
    heat: Option<(Option<u8>, Option<u64>, bool)>,
    handles: Option<Vec<HandleIsolation>>,
    /// On-chip copies in a row, in the place of parity.
    copies: Option<u8>,
}

fn parts() -> impl Strategy<Value = Parts> {
    let slc_cache = prop::option::weighted(0.7, caches());
    let map_cache = prop::option::weighted(0.6, (0u64..6, 0u32..4));
    let heat = (prop::option::of(65u8..75), prop::option::of(50u64..2000), any::<bool>());
    let handles = prop::option::weighted(0.3, isolations());
    let copies = prop::option::weighted(0.4, 1u8..4);
    (slc_cache, map_cache, prop::option::of(heat), handles, copies).prop_map(
        |(slc_cache, map_cache, heat, handles, copies)| Parts { slc_cache, map_cache, heat, handles, copies },
    )
}

impl Parts {
    /// `config` with these parts; `None` where the drive is refused, in one line that has the setting, its value and the limit.
    fn of(&self, mut config: SsdConfig) -> Option<SsdConfig> {
        if let Some(cache) = &self.slc_cache {
            config.ftl.gc.relocation = GcRelocation::Own;
            config.geometry.pages_per_block *= 3;
            config.geometry.blocks_per_plane += 16;
            config.slc_cache = Some(cache.clone());
        }
        if let Some(handles) = &self.handles {
            config = with_handles(config, handles);
        }
        if let Some((pages, prefetch)) = self.map_cache {
            config = with_map_cache(config, pages, prefetch);
        }
        if let Some((shutdown, rest, has_heat)) = self.heat {
            config = with_heat(config, shutdown, rest.map(Nanos::micros), has_heat);
        }
        if let Some(copies) = self.copies {
            config.protection = None;
            config.ftl.gc.relocation = GcRelocation::Own;
            config.ftl.gc.on_chip_copies = copies;
        }
        match Ssd::new(config.clone(), 1) {
            Ok(_) => Some(config),
            Err(error) => {
                let text = error.to_string();
                assert!(text.contains(" = ") && !text.contains('\n'), "{text}");
                None
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn parts_together_keep_what_they_owe_through_cuts(
        config in configurations(), parts in parts(), cuts in frequencies(), seed: u64, faults in prop::sample::select(vec![0u64, 0, 5]),
    ) {
        let config = parts.of(config);
        prop_assume!(config.is_some());
        torture(&config.unwrap(), seed, 1000, cuts, faults);
    }

    #[test]
    fn parts_together_go_on_from_a_snapshot_and_repeat_themselves(
        config in drives(), parts in parts(), seed: u64, commands in 0u64..1000, after in 0u64..400, cut: bool,
    ) {
        let config = parts.of(config);
        prop_assume!(config.is_some());
        let config = config.unwrap();
        let lived = || {
            let mut life = begun(config.clone(), seed);
            life.go_on(commands);
            if cut {
                life.model.cut();
            }
            life
        };
        let (mut life, again) = (lived(), lived());
        prop_assert!(written(&life.model.ssd) == written(&again.model.ssd), "the same seed is another drive");
        check_snapshot(&mut life, seed, after)?;
        life.model.settle_down();
        life.model.read_everything();
    }

    #[test]
    fn zones_are_lists_on_a_drive_that_gets_hot(
        steps in steps(), cache in prop::sample::select(vec![WriteCache::Protected, WriteCache::Volatile, WriteCache::Off]),
        heat in (prop::option::of(65u8..75), prop::option::of(50u64..2000), any::<bool>()), parity: bool, map: bool,
    ) {
        let mut config = zoned(6, 1, 4);
        config.controller.write_cache = cache;
        config.protection = parity.then(|| ProtectionConfig { data: 3, parity: 1, ..ProtectionConfig::default() });
        let (shutdown, rest, has_heat) = heat;
        config = with_heat(config, shutdown, rest.map(Nanos::micros), has_heat);
        if map {
            let refused = Ssd::new(with_map_cache(config.clone(), 2, 0), 1).unwrap_err().to_string();
            prop_assert!(refused.contains("device.zones"), "{}", refused);
        }
        let mut host = Host::new(config);
        host.live(&steps);
        host.check();
    }
}
