//! Does flash alone say where the data is? After each of many losses of power the mapping is found anew in what had been programmed, and
//! compared with what the drive computes from its tables; so it is at every self-check.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use outlast_ftl::ProtectionConfig;
use outlast_media::HazardConfig;
use outlast_ssd::{MountConfig, ScrubConfig, WriteCache};
use outlast_units::Bytes;
use proptest::prelude::*;
use support::torture::{Cuts, configurations, frequencies, torture};
use support::{tiny, weak_flash};

/// Random mounts: with and without checkpoints, which come often enough for small drives.
fn mounts() -> impl Strategy<Value = MountConfig> {
    let every = prop::option::weighted(0.7, 1u64..40);
    (any::<bool>(), every).prop_map(|(lists, every)| MountConfig {
        lists,
        checkpoint_every: every.map(|every| Bytes::kib(256 * every)),
    })
}

/// Commands of a case.
const COMMANDS: u32 = 2500;

/// 24 cases of each test by default; the nightly size, half a million commands of each, is
/// `PROPTEST_CASES=200 cargo nextest run --package outlast-ssd --test mount`.
fn cases() -> ProptestConfig {
    let default = ProptestConfig::default();
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { default.cases } else { 24 };
    ProptestConfig { cases, ..default }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn flash_alone_says_what_the_tables_say(
        mut config in configurations(), mount in mounts(), cuts in frequencies(), seed: u64,
    ) {
        config.mount = Some(mount);
        let model = torture(&config, seed, COMMANDS, cuts, 0);
        prop_assert_eq!(model.refused, 0);
    }

    #[test]
    fn flash_alone_says_what_the_tables_say_of_a_breaking_drive(
        mut config in configurations(), mount in mounts(), cuts in frequencies(), seed: u64, hazards: bool,
        (errs, scrub) in (any::<bool>(), prop::option::of(0usize..3)),
    ) {
        config.mount = Some(mount);
        config.geometry.blocks_per_plane += 16;
        config.ftl.spare_blocks = 8;
        if hazards {
            config.hazards = HazardConfig {
                program_failure: 2e-3,
                erase_failure: 0.01,
                transient_read: 5e-3,
                ..HazardConfig::default()
            };
            config.ftl.tolerated_bad_blocks = 1;
            config.ftl.spare_blocks = 3;
        }
        if errs {
            config.reliability = Some(weak_flash(Some(1), None));
            config.scrub = scrub.map(|which| ScrubConfig {
                reprotect: which == 0,
                reads: (which == 1).then_some(20),
                rereads_per_unit: (which == 2).then_some(0.05),
                ..ScrubConfig::default()
            });
        }
        torture(&config, seed, COMMANDS, cuts, 6);
    }
}
