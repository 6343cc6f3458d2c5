//! What does a drive still hold after its power failed? Random commands with real bytes on small drives of many kinds, cut off at
//! random moments, against a model that knows what each mapping unit may hold.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_device::{Device, Op, Outcome, Tag};
use outlast_ftl::ProgramCause;
use outlast_media::{DieDamage, DriveFault, HazardConfig};
use outlast_settings::drive::{FlushPolicy, ScrubConfig, SsdConfig, Trims, WriteCache};
use outlast_settings::ftl::ProtectionConfig;
use outlast_ssd::Ssd;
use outlast_units::{ByteRate, Nanos};
use proptest::prelude::*;
use support::torture::{Cuts, configurations, frequencies, torture};
use support::{command, tiny, weak_flash};

/// What a drive whose buffer is not protected makes of its promises.
fn promises() -> impl Strategy<Value = (FlushPolicy, Trims)> {
    let flush = prop::sample::select(vec![
        FlushPolicy::Honour,
        FlushPolicy::Ignore,
        FlushPolicy::Late(Nanos::micros(50)),
        FlushPolicy::Late(Nanos::millis(2)),
    ]);
    (flush, prop::sample::select(vec![Trims::Kept, Trims::Volatile]))
}

fn promising(mut config: SsdConfig, (flush, trims): (FlushPolicy, Trims)) -> SsdConfig {
    let cache = config.controller.write_cache;
    config.controller.flush = if cache == WriteCache::Volatile { flush } else { FlushPolicy::Honour };
    config.controller.trims = if cache == WriteCache::Protected { Trims::Kept } else { trims };
    config
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn what_a_drive_owes_survives_every_cut(
        config in configurations(), promises in promises(), cuts in frequencies(), seed: u64,
    ) {
        let config = promising(config, promises);
        let model = torture(&config, seed, 1500, cuts, 0);
        prop_assert_eq!(model.refused, 0);
    }

    #[test]
    fn a_breaking_drive_that_is_cut_off_returns_the_truth_or_an_error(
        config in configurations(), promises in promises(), cuts in frequencies(), seed: u64, hazards: bool,
        (errs, scrub) in (any::<bool>(), prop::option::of(0usize..3)),
    ) {
        let mut config = promising(config, promises);
        config.geometry.blocks_per_plane += 16;
        config.ftl.spare_blocks = 8;
        if hazards {
            config.hazards = HazardConfig {
                program_failure: 2e-3,
                erase_failure: 0.01,
                transient_read: 5e-3,
                ..HazardConfig::default()
            };
            // Spare blocks run out sooner than with the faults alone: then bad ones are left out.
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
        torture(&config, seed, 1250, cuts, 6);
    }
}

#[test]
fn ten_thousand_commands_and_hundreds_of_cuts() {
    for cache in [WriteCache::Protected, WriteCache::Volatile, WriteCache::Off] {
        for protection in [None, Some(ProtectionConfig { data: 3, parity: 1, ..ProtectionConfig::default() })]
        {
            let mut config = tiny();
            config.geometry.blocks_per_plane = 24;
            config.controller.write_cache = cache;
            config.protection = protection;
            let model = torture(&config, 7, 12_000, Cuts { every: 40, volley: 3 }, 0);
            let cuts = model.ssd.power_cuts();
            assert!(cuts.cuts > 300, "{cuts:?}");
            assert_eq!(cuts.torn > 100, cache != WriteCache::Protected, "{cuts:?}");
            assert!(model.ssd.written()[ProgramCause::Gc] > 1000, "garbage collection hardly ran");
            assert_eq!(cuts.lost_units == 0, cache == WriteCache::Protected, "{cuts:?}");
            // A cut does lose something, else nothing would have been tested.
            assert!(model.fallen_back > 100, "{} units fell back", model.fallen_back);
            assert!(model.checked > 10_000 && cuts.mount_pages > 0);
            assert_eq!(model.refused, 0);
        }
    }
}

#[test]
fn a_scheduled_loss_of_power_ends_what_is_under_way_and_the_drive_goes_on() {
    for cache in [WriteCache::Protected, WriteCache::Volatile, WriteCache::Off] {
        let mut config = tiny();
        config.controller.write_cache = cache;
        config.controller.queue_depth = 8;
        config.controller.link = ByteRate::new(500_000_000);
        let mut ssd = Ssd::new(config, 1).unwrap();
        ssd.begin_timed();
        let at = Nanos::millis(3);
        ssd.schedule_faults(&[(
            at,
            DriveFault { die: 0, damage: DieDamage::Power(outlast_media::UnitTear::Nothing) },
        )]);
        let (mut aborted, mut done, mut tag) = (0, 0, 0);
        let (mut in_flight, mut now) = (0, Nanos::ZERO);
        let mut completions = Vec::new();
        while now < Nanos::millis(20) {
            while in_flight < 16 {
                let op = if tag % 2 == 0 { Op::Write } else { Op::Read };
                ssd.submit(now, command(op, u64::from(tag * 37 % 590) * 8, 8), Tag(tag));
                (tag, in_flight) = (tag + 1, in_flight + 1);
            }
            now = ssd.advance_to_completion(Nanos::MAX, &mut completions);
            assert!(!completions.is_empty(), "commands are in flight and nothing ends");
            for completion in completions.drain(..) {
                in_flight -= 1;
                match completion.outcome {
                    Outcome::Aborted => {
                        assert_eq!(completion.at, at);
                        aborted += 1;
                    }
                    outcome => {
                        assert_eq!(outcome, Outcome::Ok);
                        done += u32::from(completion.at > at);
                    }
                }
            }
        }
        // All that were under way, those at the door included; then the drive went on.
        assert!((1..=16).contains(&aborted) && done > 30, "{cache:?}: {aborted} aborted, {done} done since");
        assert_eq!(ssd.power_cuts().cuts, 1);
        ssd.self_check().unwrap();
    }
}
