//! Does a drive that programs in two passes keep what it owes? The random drives of the tests of power and snapshots, with real bytes, parity, caches, parts
//! that break, and losses of power at any moment of either pass and between them.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::slc_cache_torture::{caches, with_cache};
use crate::snapshot_parts::check_snapshot;
use crate::support;
use crate::support::life::{begun, drives};

use outlast_media::TwoPassConfig;
use outlast_settings::drive::{ScrubConfig, SlcCacheConfig, SsdConfig};
use outlast_ssd::Ssd;
use outlast_units::Bytes;
use proptest::prelude::*;
use support::torture::{configurations, frequencies, torture};
use support::weak_flash;

fn passes() -> impl Strategy<Value = TwoPassConfig> {
    (1u32..4, 1u32..10)
        .prop_map(|(distance, tenths)| TwoPassConfig { coarse: f64::from(tenths) / 10.0, distance })
}

/// `config` in two passes, with larger blocks, more of them and a larger buffer; `None` where they do not go together.
fn with_passes(
    mut config: SsdConfig,
    passes: TwoPassConfig,
    cache: Option<SlcCacheConfig>,
) -> Option<SsdConfig> {
    config.ftl.multi_plane = true;
    config.geometry.pages_per_block *= 4;
    config.controller.write_buffer = Bytes(config.controller.write_buffer.0 * 8);
    config.ftl.two_pass = Some(passes);
    match cache {
        Some(cache) => with_cache(config, cache),
        None => Ssd::new(config.clone(), 1).is_ok().then_some(config),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn what_is_owed_survives_every_cut(
        config in configurations(), passes in passes(), cache in prop::option::of(caches()), cuts in frequencies(), seed: u64,
    ) {
        let config = with_passes(config, passes, cache);
        prop_assume!(config.is_some());
        let model = torture(&config.unwrap(), seed, 1500, cuts, 0);
        prop_assert_eq!(model.refused, 0);
    }

    #[test]
    fn a_breaking_drive_returns_the_truth_or_an_error(
        config in configurations(), passes in passes(), cache in prop::option::of(caches()), cuts in frequencies(), seed: u64,
        errs: bool, scrubs: bool,
    ) {
        let mut config = config;
        config.ftl.spare_blocks = 8;
        if errs {
            config.reliability = Some(weak_flash(Some(1), None));
            config.scrub = scrubs.then(|| ScrubConfig { reads: Some(20), ..ScrubConfig::default() });
        }
        let config = with_passes(config, passes, cache);
        prop_assume!(config.is_some());
        torture(&config.unwrap(), seed, 1000, cuts, 6);
    }

    /// With `PROPTEST_CASES`, thousands of drives.
    #[test]
    fn short_lives_of_many_drives_never_stop(
        config in configurations(), passes in passes(), cache in prop::option::of(caches()), cuts in frequencies(), seed: u64,
    ) {
        let config = with_passes(config, passes, cache);
        prop_assume!(config.is_some());
        let model = torture(&config.unwrap(), seed, 150, cuts, 0);
        prop_assert_eq!(model.refused, 0);
    }

    #[test]
    fn a_snapshot_between_the_passes_goes_on_as_the_original(
        config in drives(), passes in passes(), commands in 0u64..600, seed: u64,
    ) {
        let config = with_passes(config, passes, None);
        prop_assume!(config.is_some());
        let mut life = begun(config.unwrap(), seed);
        life.go_on(commands);
        check_snapshot(&mut life, seed, 100)?;
    }
}
