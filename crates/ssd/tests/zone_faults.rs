//! Zones on flash that fails, and in a drive that was written and read: dies, blocks that do not program or erase, bad blocks from the factory.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_device::{Device, ZoneAction, ZoneId, ZoneState};
use outlast_media::{DieDamage, DriveFault};
use outlast_persist::{Reader, Restore, Writer, restore_foreign};
use outlast_settings::drive::{SsdConfig, WriteCache};
use outlast_settings::ftl::ProtectionConfig;
use outlast_ssd::Ssd;
use proptest::prelude::*;
use support::zoned::{Host, Step, steps, zoned};

/// Eight dies of one plane, so that a stripe bears the loss of one.
fn striped(parity: bool, cache: WriteCache) -> SsdConfig {
    let mut config = zoned(6, 1, 4);
    config.geometry.channels = 4;
    config.geometry.planes_per_die = 1;
    config.geometry.blocks_per_plane = 54;
    config.controller.write_cache = cache;
    config.ftl.spare_blocks = 6;
    if parity {
        config.protection = Some(ProtectionConfig { data: 7, parity: 1, ..ProtectionConfig::default() });
    }
    config
}

fn written(ssd: &Ssd) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes);
    ssd.save(&mut writer);
    writer.end().unwrap();
    bytes
}

fn read(config: &SsdConfig, mut bytes: &[u8]) -> Ssd {
    let mut ssd = Ssd::new(config.clone(), 3).unwrap();
    let mut reader = Reader::new(&mut bytes);
    restore_foreign(&mut ssd, &mut reader).unwrap();
    reader.end().unwrap();
    ssd
}

fn caches() -> impl Strategy<Value = WriteCache> {
    prop::sample::select(vec![WriteCache::Protected, WriteCache::Volatile, WriteCache::Off])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Zones are open, and resets and finishes under way, when the drive is written and read: the copy goes on as the original does, to the byte.
    #[test]
    fn a_drive_with_zones_goes_on_as_if_it_had_not_been_read(
        before in steps(), after in steps(), cache in caches(), superblocks in 1..3u32, cores in 1..3u16,
    ) {
        let mut config = zoned(6, superblocks, 4);
        config.controller.write_cache = cache;
        config.controller.flash_cores = cores;
        let mut host = Host::new(config.clone());
        host.live(&before);
        // Whatever was before: two zones are written, one of them is reset, and one finished.
        for (zone, action) in [(1, ZoneAction::Reset), (0, ZoneAction::Finish)] {
            host.write(ZoneId(zone), false, 9);
            host.act(ZoneId(zone), action);
        }
        let bytes = written(&host.ssd);
        let mut twin = host.with(read(&config, &bytes));
        twin.ssd.self_check().unwrap();
        prop_assert!(written(&twin.ssd) == bytes, "read and written again it is another");
        for step in &after {
            host.step(step);
            twin.step(step);
        }
        prop_assert_eq!(host.now, twin.now);
        prop_assert!(written(&host.ssd) == written(&twin.ssd), "they have gone on differently");
        twin.check();
    }

    /// A die dies under any life: with parity every unit of every zone can be read, then and later, and zones are written on.
    #[test]
    fn parity_keeps_zones_when_a_die_fails(
        before in steps(), after in steps(), cache in caches(), die in 0..8u16,
    ) {
        let mut host = Host::new(striped(true, cache));
        host.live(&before);
        host.rest();
        prop_assert!(host.ssd.redundancy().data_survives != 0);
        // Writes, a reset and a finish are under way.
        host.write(ZoneId(0), false, 20);
        host.act(ZoneId(1), ZoneAction::Reset);
        host.write(ZoneId(1), true, 20);
        host.act(ZoneId(2), ZoneAction::Finish);
        host.ssd.inject(host.now, DriveFault { die, damage: DieDamage::Die });
        host.check();
        host.rest();
        prop_assert!(host.ssd.redundancy().data_survives != 0);
        host.live(&after);
        host.check();
    }

    /// Without parity what lay on the die is a medium error, and nothing else is.
    #[test]
    fn without_parity_a_dead_die_takes_its_part_of_zones(before in steps(), after in steps(), die in 0..8u16) {
        let mut host = Host::new(striped(false, WriteCache::Protected));
        host.fails = true;
        let no_cut = |step: &&Step| !matches!(step, Step::Cut);
        before.iter().filter(no_cut).for_each(|step| host.step(step));
        host.ssd.inject(host.now, DriveFault { die, damage: DieDamage::Die });
        host.check();
        after.iter().filter(no_cut).for_each(|step| host.step(step));
        host.check();
        prop_assert_eq!(host.refused, 0);
    }

    /// Programs and erasures fail now and then, and blocks are bad from the factory: zones go on in other blocks, and nothing is lost.
    #[test]
    fn blocks_that_fail_are_replaced(
        steps in steps(), cache in caches(), parity in any::<bool>(), cores in 1..3u16, failures in 0..4u32, bad in any::<bool>(),
    ) {
        let mut config = striped(parity, cache);
        if cores == 2 {
            config.protection = None;
            config.controller.flash_cores = 2;
        }
        if bad {
            config.defects.factory_bad = 0.02;
        }
        config.hazards.program_failure = f64::from(failures) * 1e-3;
        config.hazards.erase_failure = f64::from(failures) * 1e-2;
        let mut host = Host::new(config);
        host.live(&steps);
        host.check();
    }

    /// Blocks fail until none is left: writes are refused, the zones that could not be written are read-only, and what is written can be read.
    #[test]
    fn a_drive_without_good_blocks_has_zones_that_can_be_read_only(
        lives in prop::collection::vec(steps(), 6), cache in caches(), cores in 1..3u16,
    ) {
        let mut config = striped(false, cache);
        config.controller.flash_cores = cores;
        config.hazards.program_failure = 2e-3;
        config.hazards.erase_failure = 0.5;
        let mut host = Host::new(config);
        host.fails = true;
        for step in lives.iter().flatten().filter(|step| !matches!(step, Step::Cut)) {
            host.step(step);
        }
        // Every zone is written anew, until the drive is worn out.
        for turn in 0..600 {
            let zone = ZoneId(turn % 6);
            host.act(zone, ZoneAction::Reset);
            host.write(zone, false, 40);
            host.advance(4);
        }
        host.check();
        let states = host.ssd.zones().unwrap().by_state();
        let given_up = states[ZoneState::ReadOnly as usize] + states[ZoneState::Offline as usize];
        prop_assert!(host.refused != 0 && given_up != 0, "{} refused, {given_up} zones are given up", host.refused);
    }
}

/// A cut takes program units before one that is on flash, so that the frontier goes back to the beginning of its stripe; the die of that one fails.
#[test]
fn a_stripe_that_a_cut_left_with_its_middle_gets_its_parity() {
    let mut host = Host::new(striped(true, WriteCache::Off));
    let write = |zone, units| Step::Write { zone, append: false, units };
    let before =
        [write(1, 31), write(5, 7), write(1, 14), write(3, 25), write(0, 28), write(5, 24), Step::Check];
    host.live(&before);
    let after = [
        write(3, 10),
        Step::Cut,
        write(1, 7),
        write(0, 1),
        Step::Act(0, ZoneAction::Reset),
        write(5, 1),
        write(5, 24),
        write(2, 13),
        write(0, 34),
        Step::Wait(1),
        Step::Cut,
    ];
    host.live(&after);
    host.rest();
    assert!(host.ssd.redundancy().data_survives != 0);
    host.ssd.inject(host.now, DriveFault { die: 4, damage: DieDamage::Die });
    host.check();
}
