//! Do handles keep their promise through the life of a drive: power cuts, failing dies, failing programs, handle updates, snapshots? Every invariant is
//! checked, among them that no superblock of a handle holds a unit of another, and none of moved data units of handles that are isolated for ever.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_device::{Command, Device, Op, PlacementId};
use outlast_media::HazardConfig;
use outlast_settings::drive::{ChangeConfig, SsdConfig, WriteCache};
use outlast_settings::ftl::{GcRelocation, ProtectionConfig};
use outlast_settings::placement::HandleIsolation::{InitiallyIsolated, PersistentlyIsolated};
use outlast_settings::placement::{FdpConfiguration, HandleIsolation, PlacementConfig};
use outlast_ssd::{PlacementView, Ssd};
use outlast_units::rng::SplitMix;
use outlast_units::{Lba, Nanos};
use proptest::prelude::*;
use support::torture::{configurations, frequencies, torture};
use support::{command, tiny};

/// `config` with `handles`, without what does not go with them.
pub(crate) fn with_handles(mut config: SsdConfig, handles: &[HandleIsolation]) -> SsdConfig {
    config.ftl.streams = 1;
    config.ftl.gc.relocation = GcRelocation::Own;
    config.controller.coalesce = false;
    config.controller.hold_back.0 = 0;
    config.repair = None;
    if let Some(protection) = &mut config.protection {
        protection.classes.clear();
        protection.default_class = 0;
        if protection.parity == 0 && protection.block.is_none() {
            config.protection = None;
        }
    }
    // A superblock for each stream more.
    config.geometry.blocks_per_plane += 24;
    config.placement = Some(PlacementConfig {
        configurations: vec![FdpConfiguration { handles: handles.to_vec() }],
        ..PlacementConfig::default()
    });
    config
}

/// Has the handle of `identifier` refer to an empty reclaim unit from `now` on.
fn update(ssd: &mut Ssd, now: Nanos, identifier: u16) {
    let update_handles = vec![identifier];
    ssd.schedule_changes(&[ChangeConfig { at: Some(now), update_handles, ..ChangeConfig::default() }]);
}

pub(crate) fn isolations() -> impl Strategy<Value = Vec<HandleIsolation>> {
    let each = any::<bool>().prop_map(|own| if own { InitiallyIsolated } else { PersistentlyIsolated });
    prop::collection::vec(each, 1..4)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10, ..ProptestConfig::default() })]

    #[test]
    fn handles_stay_apart_through_power_cuts(
        config in configurations(), handles in isolations(), cuts in frequencies(), seed: u64,
    ) {
        torture(&with_handles(config, &handles), seed, 1200, cuts, 0);
    }

    #[test]
    fn handles_stay_apart_on_a_breaking_drive(
        config in configurations(), handles in isolations(), cuts in frequencies(), seed: u64,
    ) {
        let mut config = with_handles(config, &handles);
        config.geometry.blocks_per_plane += 16;
        config.ftl.spare_blocks = 8;
        config.hazards = HazardConfig { program_failure: 2e-3, erase_failure: 0.01, ..HazardConfig::default() };
        torture(&config, seed, 1000, cuts, 6);
    }

    /// Updates at any moment, of handles begun or not, with programs under way and power that fails.
    #[test]
    fn handles_that_are_updated_again_and_again_never_stop_a_drive(
        handles in isolations(), seed: u64, cache in 0usize..3, parity: bool,
    ) {
        let mut config = with_handles(tiny(), &handles);
        config.bytes = false;
        config.controller.write_cache = [WriteCache::Protected, WriteCache::Volatile, WriteCache::Off][cache];
        config.protection = parity.then(|| ProtectionConfig { data: 1, ..ProtectionConfig::default() });
        let Ok(mut ssd) = Ssd::new(config, seed) else { return Err(TestCaseError::reject("no room")) };
        let (mut rng, mut now, mut done) = (SplitMix::new(seed, "updates"), Nanos::ZERO, Vec::new());
        let units = ssd.units();
        ssd.begin_timed();
        for turn in 0..4000u32 {
            let write = Command {
                placement: PlacementId(rng.below(4) as u16),
                ..command(Op::Write, rng.below(units) * u64::from(ssd.sectors_per_unit()), ssd.sectors_per_unit())
            };
            ssd.submit(now, write, outlast_device::Tag(turn % 8));
            if rng.below(50) == 0 {
                update(&mut ssd, now, rng.below(3) as u16);
            }
            if turn % 8 == 7 {
                while ssd.commands_in_flight() != 0 {
                    let next = ssd.next_deadline().unwrap();
                    now = now.max(next);
                    ssd.advance(now, &mut done);
                }
            }
            if rng.below(1000) == 0 {
                ssd.power_cut(now);
            }
        }
        prop_assert!(done.iter().all(|done| done.outcome == outlast_device::Outcome::Ok), "a write was refused");
        ssd.self_check().map_err(TestCaseError::fail)?;
    }
}

#[test]
fn an_updated_handle_begins_another_reclaim_unit_and_the_event_is_counted() {
    let mut ssd = Ssd::new(with_handles(tiny(), &[InitiallyIsolated, PersistentlyIsolated]), 1).unwrap();
    let (sectors, mut done) = (ssd.sectors_per_unit(), Vec::new());
    let write = |unit: u64, id: u16| Command {
        placement: PlacementId(id),
        ..Command::new(Op::Write, Lba(unit * u64::from(sectors)), sectors)
    };
    ssd.submit(Nanos::ZERO, write(0, 1), outlast_device::Tag(0));
    // Beyond the namespace's list: the first handle takes it.
    ssd.submit(Nanos::ZERO, write(1, 2), outlast_device::Tag(1));
    ssd.advance(Nanos::secs(1), &mut done);
    let before = PlacementView::of(&ssd).figures();
    assert_eq!(before.iter().map(|own| own.counts.reclaim_units).collect::<Vec<_>>(), [1, 1]);
    assert_eq!(PlacementView::of(&ssd).events().invalid_placement_identifier, 1);
    update(&mut ssd, Nanos::secs(1), 1);
    update(&mut ssd, Nanos::secs(1), 1);
    ssd.advance(Nanos::secs(2), &mut done);
    let after = PlacementView::of(&ssd).figures();
    assert_eq!((after[0].remaining_units, after[1].remaining_units), (before[0].remaining_units, 0));
    assert_eq!(PlacementView::of(&ssd).events().reclaim_unit_not_fully_written, 1);
    ssd.submit(Nanos::secs(2), write(2, 1), outlast_device::Tag(2));
    ssd.advance(Nanos::secs(3), &mut done);
    assert_eq!(PlacementView::of(&ssd).figures()[1].counts.reclaim_units, 2);
    ssd.self_check().unwrap();
}
