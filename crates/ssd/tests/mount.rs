//! Does flash alone say where the data is? After each of many losses of power the mapping is found anew in what had been programmed, and
//! compared with what the drive computes from its tables; so it is at every self-check.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_device::{Device, Op, Outcome, Tag};
use outlast_media::HazardConfig;
use outlast_settings::drive::{MountConfig, ScrubConfig, SsdConfig, Trims, WriteCache};
use outlast_ssd::{Mounts, Ssd};
use outlast_units::{Bytes, Nanos};
use proptest::prelude::*;
use support::torture::{configurations, frequencies, torture};
use support::{closed_loop, command, tiny, weak_flash};

/// Random mounts: with and without checkpoints, which come often enough for small drives.
fn mounts() -> impl Strategy<Value = MountConfig> {
    let every = prop::option::weighted(0.7, 1u64..40);
    (any::<bool>(), every).prop_map(|(lists, every)| MountConfig {
        lists,
        checkpoint_every: every.map(|every| Bytes::kib(256 * every)),
    })
}

/// Commands of a case.
const COMMANDS: u32 = 1000;

/// Five cases of each test by default, others by each commit; the nightly size, two hundred thousand commands of each, is
/// `PROPTEST_CASES=200 cargo nextest run --package outlast-ssd mount::`.
fn cases() -> ProptestConfig {
    let default = ProptestConfig::default();
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { default.cases } else { 5 };
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

/// A tiny drive that mounts as `mount` says.
fn drive(mount: MountConfig) -> SsdConfig {
    SsdConfig { mount: Some(mount), ..tiny() }
}

/// The one mount of a drive of `config` whose power fails when it has written all it has, twice over.
fn mount_of(config: &SsdConfig) -> Mounts {
    let mut ssd = Ssd::new(config.clone(), 1).unwrap();
    ssd.begin_timed();
    let units = ssd.units() as u32;
    let (_, now) = closed_loop(&mut ssd, Nanos::ZERO, 8, 2 * units, |number| {
        command(Op::Write, u64::from(number * 7 % units) * 8, 8)
    });
    ssd.power_cut(now);
    ssd.mounts()
}

/// An empty drive reads the journal, then asks each of its 16 superblocks whether it is erased: four reads on each of four dies, each with a
/// channel of its own.
#[test]
fn a_mount_takes_as_long_as_its_reads() {
    let mut config = drive(MountConfig::default());
    (config.geometry.channels, config.geometry.dies_per_chip) = (4, 1);
    let mut ssd = Ssd::new(config, 1).unwrap();
    ssd.power_cut(Nanos::ZERO);
    let timing = &ssd.config().timing;
    let read = Nanos::micros(60) + timing.command + timing.bus.time_for(Bytes::kib(4));
    let took = Nanos(5 * read.0);
    assert_eq!(ssd.mounts(), Mounts { mounts: 1, pages: 17, time: took, longest: took });
    assert_eq!(ssd.ready_at(), Some(took));
}

#[test]
fn commands_wait_until_the_drive_has_mounted() {
    for cache in [WriteCache::Protected, WriteCache::Volatile] {
        let mut config = drive(MountConfig::default());
        config.controller.write_cache = cache;
        config.controller.queue_depth = 2;
        let mut ssd = Ssd::new(config, 1).unwrap();
        ssd.begin_timed();
        let (_, now) =
            closed_loop(&mut ssd, Nanos::ZERO, 4, 100, |number| command(Op::Write, u64::from(number) * 8, 8));
        ssd.power_cut(now);
        let ready = ssd.ready_at().unwrap();
        assert!(ready > now + Nanos::micros(300), "ready at {ready}, power was back at {now}");
        for tag in 0..5 {
            ssd.submit(now + Nanos(u64::from(tag)), command(Op::Read, u64::from(tag) * 8, 8), Tag(tag));
        }
        assert_eq!(ssd.commands_in_flight(), 5);
        let mut completions = Vec::new();
        ssd.advance(Nanos(ready.0 - 1), &mut completions);
        assert!(completions.is_empty() && ssd.ready_at().is_some());
        while ssd.commands_in_flight() != 0 {
            ssd.advance_to_completion(Nanos::MAX, &mut completions);
        }
        assert_eq!(ssd.ready_at(), None);
        assert!(completions.iter().all(|own| own.at >= ready && own.outcome == Outcome::Ok));
        // In the order in which they came, two at a time.
        let tags: Vec<u32> = completions.iter().map(|own| own.tag.0).collect();
        assert_eq!((tags.len(), tags[0] < 2, tags[4] > 2), (5, true, true), "{tags:?}");
        ssd.self_check().unwrap();
    }
}

#[test]
fn a_loss_of_power_during_a_mount_forgets_who_waited_and_mounts_anew() {
    let mut ssd = Ssd::new(drive(MountConfig::default()), 1).unwrap();
    ssd.power_cut(Nanos::ZERO);
    let first = ssd.ready_at().unwrap();
    ssd.submit(Nanos(5), command(Op::Read, 0, 8), Tag(1));
    ssd.power_cut(Nanos(1000));
    assert_eq!((ssd.ready_at(), ssd.commands_in_flight()), (Some(first + Nanos(1000)), 0));
    ssd.submit(Nanos(2000), command(Op::Read, 0, 8), Tag(2));
    let mut completions = Vec::new();
    ssd.advance_to_completion(Nanos::MAX, &mut completions);
    assert_eq!(
        completions.iter().map(|own| (own.tag, own.at >= first)).collect::<Vec<_>>(),
        [(Tag(2), true)]
    );
    assert_eq!(ssd.mounts().mounts, 2);
}

#[test]
fn lists_and_checkpoints_save_reads_and_a_protected_buffer_costs_some() {
    let with = |write_cache, lists, every: Option<u64>| {
        let mut config = drive(MountConfig { lists, checkpoint_every: every.map(Bytes::kib) });
        config.controller.write_cache = write_cache;
        mount_of(&config)
    };
    let lists = with(WriteCache::Volatile, true, None);
    let pages = with(WriteCache::Volatile, false, None);
    let checkpoints = with(WriteCache::Volatile, true, Some(256));
    let protected = with(WriteCache::Protected, true, None);
    assert!(pages.pages > 4 * lists.pages && pages.time > lists.time, "{pages:?} {lists:?}");
    assert!(checkpoints.pages < lists.pages && checkpoints.time < lists.time, "{checkpoints:?} {lists:?}");
    // 256 KiB of buffer, each unit with its owner.
    assert!(protected.pages > lists.pages + 60 && protected.time > lists.time, "{protected:?} {lists:?}");
}

#[test]
fn a_drive_without_the_setting_mounts_at_once() {
    assert_eq!(mount_of(&tiny()), Mounts::default());
}

#[test]
fn what_a_mount_cannot_find_is_refused() {
    let every = |bytes| MountConfig { checkpoint_every: Some(Bytes(bytes)), ..MountConfig::default() };
    let mut trims = drive(MountConfig::default());
    trims.controller.write_cache = WriteCache::Volatile;
    trims.controller.trims = Trims::Volatile;
    for (config, field) in
        [(trims, "device.controller.trims"), (drive(every(4096)), "device.mount.checkpoint_every")]
    {
        let error = Ssd::new(config, 1).unwrap_err().to_string();
        assert!(error.contains(field), "{error}");
    }
    // One page of each of eight planes is enough.
    assert!(Ssd::new(drive(every(8 * 4096)), 1).is_ok());
}
