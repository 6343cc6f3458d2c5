//! Redundancy after failures: how many failures data survives, what is made whole again, and moves that come to an end.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_media::{DieDamage, DriveFault};
use outlast_settings::drive::{ScrubConfig, WriteCache};
use outlast_settings::ftl::{PartialConfig, PartialPlace, ProtectedStreams, ProtectionConfig};
use outlast_ssd::{Reason, Ssd};
use outlast_units::Nanos;
use outlast_units::rng::SplitMix;
use proptest::prelude::*;
use support::redundant::{DIES, LONG, Life, code, drive};

/// A loss of power takes members of stripes, without any die that has failed: they are lacking just the same, and are made good.
#[test]
fn what_a_loss_of_power_takes_from_stripes_is_made_good() {
    let mut lacked = 0;
    for cache in [WriteCache::Volatile, WriteCache::Off] {
        for (data, parity) in [(7, 1), (6, 2), (4, 2)] {
            for seed in 0..12 {
                let mut rng = SplitMix::new(seed, "life");
                let mut life = Life::new(drive(code(data, parity), cache), seed);
                life.write_some(&mut rng, 300);
                for _ in 0..4 {
                    // Writes are taken by the buffer, and their program operations cut.
                    let writes = 20 + rng.below(80);
                    life.write_some(&mut rng, writes);
                    life.rest(Nanos(rng.below(1_500_000)));
                    life.ssd.power_cut(life.now);
                    lacked += u32::from(life.ssd.redundancy().degraded_superblocks != 0);
                    life.check();
                }
                life.rest(LONG);
                let view = life.ssd.redundancy();
                assert_eq!(
                    (view.degraded_superblocks, view.rebuilds, view.data_survives),
                    (0, false, parity.into()),
                    "({data}, {parity}), {cache:?}, seed {seed}"
                );
                assert!(life.ssd.redundancy_losses().is_empty() && life.ssd.moved_for(Reason::Dies) == 0);
                let moved = life.moved_for_protection();
                life.rest(LONG);
                assert_eq!(life.moved_for_protection(), moved, "it has come to rest");
            }
        }
    }
    assert!(lacked != 0, "no loss of power took a member of a stripe");
}

fn any_protection() -> impl Strategy<Value = ProtectionConfig> {
    let code = prop::sample::select(vec![(7u16, 1u8), (3, 1), (6, 2), (5, 3), (4, 2)]);
    let places = vec![PartialPlace::None, PartialPlace::Inline, PartialPlace::Blocks, PartialPlace::Cache];
    let streams =
        prop::sample::select(vec![ProtectedStreams::All, ProtectedStreams::All, ProtectedStreams::Gathered]);
    (code, prop::option::weighted(0.3, 1u16..4), prop::sample::select(places), streams).prop_map(
        |((data, parity), block, place, streams)| {
            // A code within blocks and one over dies must divide groups of superpages evenly.
            let data = if block.is_some() { DIES - u16::from(parity) } else { data };
            let partial = PartialConfig { place, timeout: Nanos::millis(2), ..PartialConfig::default() };
            ProtectionConfig { data, parity, block, partial, streams, ..ProtectionConfig::default() }
        },
    )
}

fn any_cache() -> impl Strategy<Value = WriteCache> {
    prop::sample::select(vec![WriteCache::Protected, WriteCache::Volatile, WriteCache::Off])
}

/// A life in which one die after another fails: no choice of as many dies as the drive says loses anything; where it says none, some die does.
fn survives_as_said(protection: ProtectionConfig, cache: WriteCache, seed: u64) -> Result<(), TestCaseError> {
    let mut rng = SplitMix::new(seed, "life");
    let mut life = Life::new(drive(protection, cache), seed);
    let mut left: Vec<u16> = (0..DIES).collect();
    for _ in 0..4 {
        let writes = 1 + rng.below(900);
        life.write_some(&mut rng, writes);
        if rng.below(2) == 0 {
            life.flush();
        }
        if rng.below(2) == 0 {
            life.rest(Nanos(rng.below(400_000_000)));
        }
        let survives = life.ssd.redundancy().data_survives;
        // While data is in the controller's memory, the drive speaks of what will become of it.
        let is_on_flash = life.ssd.ftls().all(|ftl| ftl.figures().buffered_units == 0);
        let before = life.clone().unreadable();
        // One die after the other, without time to rebuild.
        let mut worst = 0;
        for &first in &left {
            let mut killed = life.clone();
            killed.kill(first);
            let of_one = killed.clone().unreadable().len();
            worst = worst.max(of_one);
            prop_assert!(survives == 0 || of_one == before.len(), "die {}: {} lost", first, of_one);
            if survives >= 2 {
                let others: Vec<u16> = left.iter().copied().filter(|&die| die != first).collect();
                let second = others[rng.below(others.len() as u64) as usize];
                killed.kill(second);
                let lost = killed.unreadable().len();
                prop_assert!(lost == before.len(), "dies {} and {}: {} lost", first, second, lost);
            }
        }
        prop_assert!(
            survives != 0 || !is_on_flash || worst > before.len(),
            "no die takes data, and none may fail"
        );
        let die = left.swap_remove(rng.below(left.len() as u64) as usize);
        life.kill(die);
        life.check();
    }
    Ok(())
}

/// Three dies have failed in quick succession, and what is to be written again is more than the superblock that is free takes.
#[test]
fn data_that_waits_for_room_depends_on_every_die() {
    let partial =
        PartialConfig { place: PartialPlace::Inline, timeout: Nanos::millis(2), ..PartialConfig::default() };
    let protection = ProtectionConfig { partial, rebuild: false, ..code(4, 2) };
    survives_as_said(protection, WriteCache::Protected, 16_126_628_145_307_115_368).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10, ..ProptestConfig::default() })]

    /// Of every drive in its life: no choice of as many dies as it says loses anything; where it says none, some die does.
    #[test]
    fn data_survives_as_many_dies_as_the_drive_says(
        protection in any_protection(), cache in any_cache(), rebuild in any::<bool>(), seed in any::<u64>(),
    ) {
        survives_as_said(ProtectionConfig { rebuild, ..protection }, cache, seed)?;
    }

    /// A loss of power while redundancy is made whole loses nothing, and it is made whole afterwards: with a protected buffer at any moment,
    /// without one from when the stripes under way have been ended.
    #[test]
    fn a_cut_while_rebuilding_loses_nothing(
        protection in any_protection(), cache in any_cache(), seed in any::<u64>(), cuts in 1u64..5,
    ) {
        let protection = ProtectionConfig { streams: ProtectedStreams::All, ..protection };
        let parity = u32::from(protection.parity);
        let mut rng = SplitMix::new(seed, "life");
        let mut life = Life::new(drive(protection, cache), seed);
        life.write_some(&mut rng, 1500);
        life.flush();
        life.rest(Nanos::millis(50));
        life.kill(rng.below(u64::from(DIES)) as u16);
        if cache != WriteCache::Protected {
            // What the die held of stripes under way is given by parity that only the controller's memory has until they have been ended.
            life.rest(Nanos::millis(10));
        }
        for _ in 0..cuts {
            life.rest(Nanos(rng.below(60_000_000)));
            life.ssd.power_cut(life.now);
            life.check();
        }
        prop_assert_eq!(life.unreadable(), [0u64; 0]);
        life.rest(LONG);
        let view = life.ssd.redundancy();
        prop_assert!(view.degraded_superblocks == 0 && !view.rebuilds, "{:?}", view);
        prop_assert_eq!(view.data_survives, parity);
        prop_assert!(life.ssd.redundancy_losses().iter().all(|loss| loss.restored_at.is_some()));
        prop_assert_eq!(life.unreadable(), [0u64; 0]);
    }

    /// Whatever fails, moves for the sake of protection end: no superblock is moved twice for one cause.
    #[test]
    fn moves_for_protection_end_whatever_fails(
        protection in any_protection(), reprotect in any::<bool>(), absent in any::<bool>(), seed in any::<u64>(),
    ) {
        let mut rng = SplitMix::new(seed, "life");
        let mut config = drive(ProtectionConfig { data: protection.data.min(5), ..protection }, WriteCache::Protected);
        config.scrub = reprotect.then(|| ScrubConfig { reprotect, ..ScrubConfig::default() });
        config.geometry.planes_per_die = 2;
        config.ftl.multi_plane = rng.below(2) == 0;
        config.defects.factory_bad = if rng.below(2) == 0 { 0.02 } else { 0.0 };
        config.ftl.tolerated_bad_blocks = 1;
        config.bytes = false;
        if absent {
            config.absent_dies = vec![7];
        }
        let Ok(ssd) = Ssd::new(config.clone(), seed) else { return Ok(()) };
        drop(ssd);
        let mut life = Life::new(config, seed);
        let superblocks = u64::from(life.ssd.ftls().next().unwrap().layout().superblocks());
        let (mut causes, mut dies) = (0, 0);
        for _ in 0..6 {
            let before = life.moved_for_protection();
            let (die, plane, block) = (rng.below(7) as u16, rng.below(2) as u16, rng.below(64) as u32);
            let damage = match rng.below(5) {
                0 if dies < 2 => { dies += 1; DieDamage::Die }
                1 if dies < 2 => { dies += 1; DieDamage::Plane { plane } }
                2 => DieDamage::Block { plane, block },
                3 => DieDamage::Program { plane, block },
                _ => DieDamage::Erase { plane, block },
            };
            causes += 1;
            life.ssd.inject(life.now, DriveFault { die, damage });
            for _ in 0..8 {
                life.write_some(&mut rng, 300);
                life.rest(Nanos::millis(100));
            }
            life.rest(LONG);
            let moved = life.moved_for_protection() - before;
            prop_assert!(moved <= superblocks, "{} superblocks of {} moved for one cause", moved, superblocks);
            if !life.ssd.ftls().any(outlast_ftl::Ftl::is_read_only) {
                let at_rest = life.moved_for_protection();
                life.write_some(&mut rng, 600);
                life.rest(LONG);
                prop_assert_eq!(life.moved_for_protection(), at_rest, "nothing has failed since");
            }
            prop_assert_eq!(life.ssd.moved_for(Reason::Dies), 0, "no die was added");
            life.check();
        }
        prop_assert!(life.moved_for_protection() <= superblocks * causes);
        prop_assert_eq!(life.ssd.scrubbed_again() <= superblocks * causes, true);
    }
}

/// The drive of a report: 16 dies, a failure, and scrubbing that moved the same superblocks for ever.
#[test]
fn reprotect_moves_nothing_again_after_a_die_has_failed() {
    for (data, parity) in [(5, 3), (7, 1), (14, 1), (15, 1)] {
        for block in [None, Some(3)] {
            if block.is_some() && data + u16::from(parity) != 16 {
                continue;
            }
            let mut config = drive(ProtectionConfig { block, ..code(data, parity) }, WriteCache::Protected);
            config.geometry.channels = 8;
            config.scrub = Some(ScrubConfig { reprotect: true, ..ScrubConfig::default() });
            let mut life = Life::new(config, 1);
            let mut rng = SplitMix::new(3, "host");
            life.write_some(&mut rng, 2000);
            life.kill(3);
            life.write_some(&mut rng, 3000);
            life.rest(LONG);
            let (again, added) = (life.ssd.scrubbed_again(), life.ssd.moved_for(Reason::Dies));
            assert_eq!((again, added), (0, 0), "({data}, {parity}), {block:?}");
            assert!((1..=64).contains(&life.ssd.moved_for(Reason::Exposed)));
        }
    }
}

/// Data of a stripe that lay only on dies that have failed is given by the others: it counts among what one more failure would lose. It did not.
#[test]
fn data_that_only_failed_dies_held_depends_on_the_others() {
    let partial =
        PartialConfig { place: PartialPlace::Inline, timeout: Nanos::millis(2), ..PartialConfig::default() };
    let config = drive(ProtectionConfig { rebuild: false, partial, ..code(6, 2) }, WriteCache::Off);
    let mut none_may_fail = 0;
    for seed in 0..12 {
        let mut rng = SplitMix::new(seed, "life");
        let mut life = Life::new(config.clone(), seed);
        let mut left: Vec<u16> = (0..DIES).collect();
        for _ in 0..4 {
            let writes = 1 + rng.below(900);
            life.write_some(&mut rng, writes);
            life.rest(Nanos::millis(200));
            let survives = life.ssd.redundancy().data_survives;
            let before = life.clone().unreadable();
            let loses = |&die: &u16| {
                let mut killed = life.clone();
                killed.kill(die);
                killed.unreadable() != before
            };
            assert_eq!(
                left.iter().any(loses),
                survives == 0,
                "seed {seed}, dies {left:?}, survives {survives}"
            );
            none_may_fail += u32::from(survives == 0);
            let die = left.swap_remove(rng.below(left.len() as u64) as usize);
            life.kill(die);
        }
    }
    assert!(none_may_fail != 0, "every stripe had parity to spare");
}
