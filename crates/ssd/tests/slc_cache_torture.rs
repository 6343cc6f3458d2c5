//! Does a drive with an SLC cache keep what it owes? The random drives of the tests of power and snapshots, each with a cache: real bytes, parity, cells that
//! err, parts that break, losses of power at any moment of folding.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_media::PageTimes;
use outlast_settings::drive::{ScrubConfig, SlcCacheConfig, SsdConfig, WhenFull};
use outlast_settings::ftl::GcRelocation;
use outlast_ssd::Ssd;
use outlast_units::{Bytes, Nanos};
use proptest::prelude::*;
use support::torture::{configurations, frequencies, torture};
use support::weak_flash;

pub(crate) fn caches() -> impl Strategy<Value = SlcCacheConfig> {
    let sizes = (0u64..3, prop::sample::select(vec![0.0, 0.3, 1.0]), prop::option::of(1u64..6));
    let rules = (any::<bool>(), prop::option::of(1u64..20), prop::option::of(1u32..5));
    (2u8..5, sizes, rules).prop_map(|(native, (fixed, share, most), (waits, pause, from))| SlcCacheConfig {
        bits_per_cell: 1,
        native_bits_per_cell: Some(native),
        static_size: Bytes::kib(64 * fixed + u64::from(share == 0.0)),
        dynamic_share: Some(share),
        dynamic_size: most.map(|most| Bytes::kib(128 * most)),
        when_full: if waits { WhenFull::Fold } else { WhenFull::Direct },
        fold_after_idle: pause.map(|pause| Nanos::micros(100 * pause)),
        fold_from: from.map(|from| f64::from(from) / 4.0),
        read: PageTimes::Same(Nanos::micros(25)),
        program: PageTimes::Same(Nanos::micros(150)),
        endurance: None,
        error_rate: None,
    })
}

/// `config` with `cache`, larger blocks and more of them; `None` where they do not go together.
pub(crate) fn with_cache(mut config: SsdConfig, cache: SlcCacheConfig) -> Option<SsdConfig> {
    config.ftl.gc.relocation = GcRelocation::Own;
    config.geometry.pages_per_block *= 3;
    config.geometry.blocks_per_plane += 16;
    config.slc_cache = Some(cache);
    Ssd::new(config.clone(), 1).is_ok().then_some(config)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, ..ProptestConfig::default() })]

    #[test]
    fn what_is_owed_survives_every_cut(
        config in configurations(), cache in caches(), cuts in frequencies(), seed: u64,
    ) {
        let config = with_cache(config, cache);
        prop_assume!(config.is_some());
        let model = torture(&config.unwrap(), seed, 1500, cuts, 0);
        prop_assert_eq!(model.refused, 0);
    }

    #[test]
    fn a_breaking_drive_returns_the_truth_or_an_error(
        config in configurations(), cache in caches(), cuts in frequencies(), seed: u64, errs: bool, scrubs: bool,
    ) {
        let (mut config, mut cache) = (config, cache);
        config.ftl.spare_blocks = 8;
        if errs {
            config.reliability = Some(weak_flash(Some(1), None));
            config.scrub = scrubs.then(|| ScrubConfig { reads: Some(20), ..ScrubConfig::default() });
            cache.error_rate = Some(0.05);
        }
        let config = with_cache(config, cache);
        prop_assume!(config.is_some());
        torture(&config.unwrap(), seed, 1000, cuts, 6);
    }
}
