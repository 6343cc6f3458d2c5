//! Has each unit of a drive with reclaim groups the bytes of a plain map, through power cuts, failing dies and snapshots?

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::groups::with_groups;
use crate::snapshot::{check_forgeries, read, written};
use crate::support;

use outlast_device::Device;
use outlast_media::HazardConfig;
use outlast_ssd::Ssd;
use proptest::prelude::*;
use support::life::{begun, drives};
use support::torture::{configurations, frequencies, torture};

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn units_in_groups_keep_their_bytes_through_power_cuts(
        config in configurations(), groups in 2u16..5, lanes in 1u16..3, cuts in frequencies(), seed: u64,
    ) {
        let config = with_groups(config, 2, groups, lanes);
        if Ssd::new(config.clone(), seed).is_ok() {
            torture(&config, seed, 1500, cuts, 0);
        }
    }

    #[test]
    fn units_in_groups_keep_their_bytes_on_a_breaking_drive(
        config in configurations(), groups in 2u16..4, cuts in frequencies(), seed: u64,
    ) {
        let mut config = with_groups(config, 2, groups, 1);
        config.geometry.blocks_per_plane += 16;
        config.ftl.spare_blocks = 8;
        config.hazards = HazardConfig { program_failure: 2e-3, erase_failure: 0.01, ..HazardConfig::default() };
        if Ssd::new(config.clone(), seed).is_ok() {
            torture(&config, seed, 1000, cuts, 6);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn a_drive_with_groups_that_was_written_and_read_goes_on_as_if_it_had_not_been(
        config in drives(), groups in 2u16..5, seed: u64, before in 0u64..1000,
        forgeries in prop::collection::vec((any::<u32>(), any::<u64>(), 1usize..9), 20),
    ) {
        let config = with_groups(config, 2, groups, 1);
        prop_assume!(Ssd::new(config.clone(), seed).is_ok());
        let mut life = begun(config, seed);
        life.go_on(before);
        let bytes = written(&life.model.ssd);
        let mut twin = life.with(read(&life.config, seed, &bytes).unwrap());
        twin.model.ssd.self_check().unwrap();
        prop_assert!(written(&twin.model.ssd) == bytes, "read and written again it is another");
        check_forgeries(&life, seed, forgeries)?;
        for one in [&mut life, &mut twin] {
            one.go_on(400);
        }
        prop_assert!(written(&life.model.ssd) == written(&twin.model.ssd), "they have gone on differently");
        twin.model.settle_down();
        twin.model.read_everything();
    }
}
