//! Superblocks that hold different amounts of data: what code of the user's is told of them, and that collection finds room for what it moves.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_decisions::{DrivePolicies, HostShareQuestion, LoadedPolicy, PolicyFactory, QuestionPolicy};
use outlast_device::{Device, Op};
use outlast_settings::drive::{ScrubConfig, SsdConfig};
use outlast_settings::ftl::{CodeConfig, ProtectedStreams, ProtectionConfig, VictimPolicy};
use outlast_ssd::Ssd;
use outlast_units::{Bytes, Nanos};
use std::sync::{Arc, Mutex};
use support::own::Within;
use support::{closed_loop, command, tiny};

const THREE_OF_FOUR: CodeConfig = CodeConfig { data: 3, parity: 1, block: None };
const TWO_OF_FOUR: CodeConfig = CodeConfig { data: 2, parity: 2, block: None };

/// A pace of one less the valid part of the victim, and what it was asked.
#[derive(Clone, Debug, Default)]
struct ByValid(Arc<Mutex<Vec<(u32, u32)>>>);

impl PolicyFactory<dyn QuestionPolicy<HostShareQuestion>> for ByValid {
    fn name(&self) -> &'static str {
        "by valid"
    }

    fn make(&self) -> Result<Box<dyn QuestionPolicy<HostShareQuestion>>, String> {
        Ok(Box::new(self.clone()))
    }
}

impl QuestionPolicy<HostShareQuestion> for ByValid {
    fn decide(&mut self, asked: &HostShareQuestion) -> Result<Option<f64>, String> {
        self.0.lock().unwrap().push((asked.valid, asked.units));
        Ok(Some(1.0 - f64::from(asked.valid) / f64::from(asked.units)))
    }

    fn fork(&self) -> Box<dyn QuestionPolicy<HostShareQuestion>> {
        Box::new(self.clone())
    }
}

/// Parity on half of the dies, of what collection moves alone.
fn gathered() -> ProtectionConfig {
    let streams = ProtectedStreams::Gathered;
    ProtectionConfig { data: 2, parity: 2, streams, ..ProtectionConfig::default() }
}

/// A drive of which a third is used, with policies of the user's that check what they see.
fn drive(protection: ProtectionConfig, paces: &ByValid) -> SsdConfig {
    let mut config = tiny();
    config.ftl.capacity = Some(Bytes(300 * 4096));
    config.geometry.blocks_per_plane = 20;
    config.ftl.gc.policy = VictimPolicy::Fifo;
    config.ftl.own.gc = Some(LoadedPolicy::new(Within::of(VictimPolicy::Fifo)));
    config.ftl.own.wear_leveling = Some(LoadedPolicy::new(Within::nothing()));
    config.ftl.own.scrub = Some(LoadedPolicy::new(Within::nothing()));
    config.ftl.own.pacing = Some(LoadedPolicy::new(paces.clone()));
    config.scrub = Some(ScrubConfig { own: Some(Nanos::millis(5)), ..ScrubConfig::default() });
    config.protection = Some(protection);
    config
}

/// Writes all there is in order, `changes` the drive, then writes a fifth of it again and again.
fn asked(mut config: SsdConfig, paces: &ByValid, change: impl Fn(&mut Ssd, Nanos)) -> Vec<(u32, u32)> {
    config.reliability = Some(support::weak_flash(None, None));
    let mut ssd = Ssd::new(config, 1).unwrap();
    ssd.begin_timed();
    let units = ssd.units() as u32;
    let write = |lpn: u32| command(Op::Write, u64::from(lpn) * 8, 8);
    let (_, now) = closed_loop(&mut ssd, Nanos::ZERO, 8, units, write);
    change(&mut ssd, now);
    closed_loop(&mut ssd, now, 8, 10 * units, |number| write(number * 7 % (units / 5)));
    assert_eq!(ssd.ftls().find_map(outlast_ftl::Ftl::policy_failure), None);
    ssd.self_check().unwrap();
    paces.0.lock().unwrap().clone()
}

/// Superblocks of 48 units are emptied into ones of 32: a victim of 48 valid units is told of as 48 of 48, not of 32.
#[test]
fn a_victim_of_less_parity_than_the_code_has_now_is_not_more_than_full() {
    let paces = ByValid::default();
    let protection = ProtectionConfig { data: 3, parity: 1, ..ProtectionConfig::default() };
    let asked =
        asked(drive(protection, &paces), &paces, |ssd, now| ssd.set_code(now, 0, TWO_OF_FOUR).unwrap());
    assert!(asked.iter().all(|&(valid, units)| valid <= units), "{asked:?}");
    assert!(asked.iter().any(|&(valid, units)| units == 48 && valid > 32), "{asked:?}");
    assert!(asked.iter().any(|&(_, units)| units == 32), "{asked:?}");
}

/// The same the other way round: what is told of a victim is its own code's.
#[test]
fn a_victim_of_more_parity_than_the_code_has_now_is_not_emptier_than_it_is() {
    let paces = ByValid::default();
    let protection = ProtectionConfig { data: 2, parity: 2, ..ProtectionConfig::default() };
    let asked =
        asked(drive(protection, &paces), &paces, |ssd, now| ssd.set_code(now, 0, THREE_OF_FOUR).unwrap());
    assert!(asked.contains(&(32, 32)), "{asked:?}");
}

/// Only what collection gathers has parity: the host's superblocks hold more than those that their data moves to.
#[test]
fn a_victim_of_the_host_is_measured_by_its_own_units_where_only_moved_data_has_parity() {
    let paces = ByValid::default();
    let asked = asked(drive(gathered(), &paces), &paces, |_, _| ());
    assert!(asked.iter().all(|&(valid, units)| valid <= units), "{asked:?}");
    assert!(asked.iter().any(|&(valid, units)| units == 64 && valid > 32), "{asked:?}");
}

/// A die fails: superblocks hold less from then on than those before.
#[test]
fn a_victim_filled_before_a_die_failed_is_not_more_than_full() {
    let paces = ByValid::default();
    let protection = ProtectionConfig { data: 3, parity: 1, ..ProtectionConfig::default() };
    let asked = asked(drive(protection, &paces), &paces, |ssd, now| {
        ssd.inject(now, outlast_media::DriveFault { die: 1, damage: outlast_media::DieDamage::Die });
    });
    assert!(asked.iter().all(|&(valid, units)| valid <= units), "{asked:?}");
    assert!(
        asked.iter().any(|&(_, units)| units == 48) && asked.iter().any(|&(_, units)| units == 32),
        "{asked:?}"
    );
}

/// What collection moves fills superblocks of 32 units, those of the host hold 64: the oldest of them does not fit into the one superblock that is held back,
/// and another is emptied first.
#[test]
fn the_oldest_waits_where_what_it_holds_needs_two_superblocks_and_one_is_free() {
    let mut config = drive(gathered(), &ByValid::default());
    config.ftl.own = DrivePolicies::default();
    config.scrub = None;
    let mut ssd = Ssd::new(config, 1).unwrap();
    let units = ssd.units() as u32;
    let write = |lpn: u32| command(Op::Write, u64::from(lpn) * 8, 8);
    closed_loop(&mut ssd, Nanos::ZERO, 8, 11 * units, |number| {
        write(if number < units { number } else { number * 7 % (units / 5) })
    });
    assert!(ssd.victims().0 > 30);
    ssd.self_check().unwrap();
}
