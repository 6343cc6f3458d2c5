//! A drive with zones against plain lists: order, states, bytes, finishes, resets, and what losses of power leave.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_device::{ZoneAction, ZoneError, ZoneId};
use outlast_settings::drive::{SsdConfig, WriteCache};
use outlast_settings::ftl::ProtectionConfig;
use outlast_settings::zones::FinishCost;
use outlast_units::Nanos;
use proptest::prelude::*;
use support::zoned::{Host, SECTORS, Step, UNIT, steps, zoned};

fn live(config: SsdConfig, steps: Vec<Step>) {
    let mut host = Host::new(config);
    for step in steps {
        host.step(&step);
    }
    host.check();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Every random life gives what a list gives, whatever the buffer is, with and without parity, with zones of one and of several superblocks.
    #[test]
    fn zones_are_lists(
        steps in steps(),
        cache in prop::sample::select(vec![WriteCache::Protected, WriteCache::Volatile, WriteCache::Off]),
        superblocks in 1..3u32,
        parity in any::<bool>(),
        cores in 1..3u16,
        free in any::<bool>(),
    ) {
        let mut config = zoned(6, superblocks, 4);
        config.controller.write_cache = cache;
        config.controller.flash_cores = cores;
        if parity && cores == 1 {
            config.protection = Some(ProtectionConfig { data: 3, parity: 1, ..ProtectionConfig::default() });
        }
        if free {
            config.zones.as_mut().unwrap().finish = FinishCost::Free;
        }
        live(config, steps);
    }
}

fn host(count: u32) -> Host {
    Host::new(zoned(count, 1, 4))
}

/// The rest of a zone costs as many programs as its writing would, and the time of the drive's sequential writes.
#[test]
fn a_finish_writes_the_rest_of_the_zone() {
    let mut host = host(6);
    host.write(ZoneId(0), false, 16);
    host.advance(0);
    let begun = host.now;
    host.act(ZoneId(0), ZoneAction::Finish);
    host.advance(0);
    let counts = *host.ssd.zones_view().unwrap().counts();
    assert_eq!((counts.actions, counts.finish_bytes), ([0, 0, 1, 0, 0, 0, 0], 48 * UNIT));
    assert!(host.now - begun >= Nanos::micros(50), "a finish takes its time");
    host.check();
}

#[test]
fn what_a_zone_does_not_allow_is_refused_by_the_name_of_the_specification() {
    let mut host = host(6);
    let capacity = u32::try_from(host.table.layout().capacity).unwrap() / SECTORS;
    host.write(ZoneId(0), false, capacity);
    host.write(ZoneId(0), false, 1);
    host.act(ZoneId(0), ZoneAction::Close);
    host.advance(0);
    let refused = host.ssd.zones_view().unwrap().counts().errors;
    let named: Vec<ZoneError> =
        ZoneError::ALL.into_iter().filter(|&error| refused[error as usize] != 0).collect();
    assert_eq!(named, [ZoneError::IsFull, ZoneError::InvalidTransition]);
}
