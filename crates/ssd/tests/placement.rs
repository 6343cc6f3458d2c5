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
        configurations: vec![FdpConfiguration { handles: handles.to_vec(), ..FdpConfiguration::default() }],
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
        handles in isolations(), seed: u64, cache in 0usize..3, parity: bool, superblocks in 1u32..5, limit in 0u64..6,
    ) {
        let mut config = with_handles(tiny(), &handles);
        let own = &mut config.placement.as_mut().unwrap().configurations[0];
        own.superblocks = superblocks;
        own.time_limit = (limit > 1).then_some(Nanos::millis(limit * limit));
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

/// What became of a configuration.
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    Refused,
    Ran,
}

/// What there is to say of a drive that comes to a stop with write `turn`.
fn stuck(ssd: &Ssd, turn: u32) -> String {
    let of = |ftl: &outlast_ftl::Ftl| {
        let free = ftl.space().free_superblocks();
        (free, ftl.figures().buffered_units, ftl.needs_gc(), ftl.streams().all().len())
    };
    let cores: Vec<_> = ssd.ftls().map(of).collect();
    format!(
        "nothing is due after {turn} writes: free superblocks, units in buffers, collection is needed, streams: {cores:?}"
    )
}

/// Judges a refusal: it has a value and a limit.
fn refused(text: String) -> Result<Outcome, String> {
    let has_limit = text.contains("must") || text.contains("needed");
    if has_limit && text.contains(char::is_numeric) { Ok(Outcome::Refused) } else { Err(text) }
}

/// A drive drawn by `seed`, with handles, reclaim units of several superblocks, time limits, parity and two flash cores, as it happens, is refused with a value and a limit, or takes
/// four times its size of writes, handle updates, pauses and losses of power.
fn life(seed: u64) -> Result<Outcome, String> {
    life_in_groups(seed, 1)
}

/// The same with `groups` reclaim groups.
fn life_in_groups(seed: u64, groups: u16) -> Result<Outcome, String> {
    let mut rng = SplitMix::new(seed, "configuration");
    // Mostly few, now and then many.
    let most = 1 + rng.below(60);
    let kinds = 1 + rng.below(most);
    let kind = |draw: u64| if draw == 0 { InitiallyIsolated } else { PersistentlyIsolated };
    let handles: Vec<HandleIsolation> = (0..kinds).map(|_| kind(rng.below(3))).collect();
    let mut config = with_handles(tiny(), &handles);
    config.bytes = false;
    config.geometry.blocks_per_plane = 6 + rng.below(90) as u32;
    config.geometry.pages_per_block = 2;
    config.ftl.capacity = None;
    config.ftl.over_provisioning = Some(0.01 + rng.below(200) as f64 / 100.0);
    config.controller.flash_cores = 1 + rng.below(2) as u16;
    config.controller.write_cache =
        [WriteCache::Protected, WriteCache::Volatile, WriteCache::Off][rng.below(3) as usize];
    if config.controller.flash_cores == 1 && rng.below(3) == 0 {
        config.protection = Some(ProtectionConfig { data: 1, ..ProtectionConfig::default() });
    }
    if groups > 1 {
        config.controller.flash_cores *= groups;
        config.geometry.channels = config.controller.flash_cores;
        config.controller.write_cache = WriteCache::Protected;
    }
    let own = &mut config.placement.as_mut().unwrap().configurations[0];
    own.reclaim_groups = groups;
    let most = 1 + rng.below(100);
    own.superblocks = 1 + rng.below(most) as u32;
    own.time_limit = (rng.below(2) == 0).then(|| Nanos::micros(500 + 200 * rng.below(200)));
    let mut ssd = match Ssd::new(config, seed) {
        Ok(ssd) => ssd,
        Err(error) => return refused(error.to_string()),
    };
    let (mut now, mut done) = (Nanos::ZERO, Vec::new());
    let units = ssd.units();
    ssd.begin_timed();
    let writes = 4 * units + 200;
    for turn in 0..writes as u32 {
        let identifier = if rng.below(4) == 0 { rng.below(70) } else { rng.below(3) };
        let write = Command {
            placement: PlacementId(identifier as u16),
            ..command(Op::Write, rng.below(units) * u64::from(ssd.sectors_per_unit()), ssd.sectors_per_unit())
        };
        ssd.submit(now, write, outlast_device::Tag(turn % 8));
        if rng.below(60) == 0 {
            update(&mut ssd, now, (rng.below(kinds) * u64::from(groups)) as u16);
        }
        if turn % 8 == 7 {
            let begun = now;
            while ssd.commands_in_flight() != 0 {
                // Time limits of reclaim units are due again and again, whatever else happens.
                let next = ssd.next_deadline().filter(|&next| next < begun + Nanos::secs(20));
                let next = next.ok_or_else(|| stuck(&ssd, turn))?;
                now = now.max(next);
                ssd.advance(now, &mut done);
            }
        }
        if rng.below(400) == 0 {
            now += Nanos::millis(rng.below(60));
            ssd.advance(now, &mut done);
        }
        if rng.below(600) == 0 {
            ssd.power_cut(now);
        }
    }
    if let Some(refused) = done.iter().find(|done| done.outcome != outlast_device::Outcome::Ok) {
        return Err(format!("a write was refused: {refused:?}"));
    }
    ssd.self_check().map(|()| Outcome::Ran)
}

#[test]
fn no_configuration_of_reclaim_units_comes_to_a_stop() {
    for seed in 0..200 {
        if let Err(error) = life(seed) {
            panic!("seed {seed}: {error}");
        }
    }
}

#[test]
fn no_configuration_of_reclaim_groups_comes_to_a_stop() {
    let mut ran = 0;
    for seed in 0..150 {
        match life_in_groups(seed, 2 + (seed % 3) as u16) {
            Ok(outcome) => ran += u32::from(outcome == Outcome::Ran),
            Err(error) => panic!("seed {seed}: {error}"),
        }
    }
    assert!(ran > 30, "{ran} ran");
}

/// Moved data of fourteen handles, nine of them isolated for ever, left no room for reads of collection beside the program units that it had begun.
#[test]
fn program_units_that_moved_data_has_begun_leave_room_for_collection() {
    for seed in [239, 300, 1368, 1712] {
        assert_eq!(life(seed), Ok(Outcome::Ran), "seed {seed}");
    }
}

/// A victim given up in a loss of power, or all of whose units were stale before its stream had to open a superblock, left the last free superblock promised to
/// that stream: collection of no other class could begin.
#[test]
fn a_superblock_promised_to_a_stream_is_free_again_once_its_victim_has_gone() {
    for seed in [727, 1934, 2285, 4365, 5816, 6756, 7057, 7234, 7898, 8249, 9656] {
        assert_eq!(life(seed), Ok(Outcome::Ran), "seed {seed}");
    }
}

/// The same, ten thousand times, two in three with several reclaim groups: those that have more handles than superblocks could serve are refused.
#[test]
#[ignore = "takes minutes"]
fn ten_thousand_configurations_of_reclaim_units_are_refused_or_run() {
    let (mut refused, mut ran, mut failed) = (0, 0, Vec::new());
    for seed in 0..10_000 {
        match life_in_groups(seed, [1, 2, 1 + (seed % 4) as u16][(seed % 3) as usize]) {
            Ok(Outcome::Refused) => refused += 1,
            Ok(Outcome::Ran) => ran += 1,
            Err(error) => failed.push(format!("seed {seed}: {error}")),
        }
    }
    assert!(failed.is_empty(), "{} failed: {failed:#?}", failed.len());
    assert!(refused > 1000 && ran > 1000, "{refused} refused, {ran} ran");
}

/// Of reclaim units of three superblocks one is counted for three, and what is left of it is what was not written. A handle leaves one for its time limit, not before and
/// not twice, and an update leaves what was left.
#[test]
fn reclaim_units_have_superblocks_and_time_limits() {
    let mut config = with_handles(tiny(), &[InitiallyIsolated, InitiallyIsolated]);
    config.bytes = false;
    config.controller.write_cache = WriteCache::Volatile;
    let own = &mut config.placement.as_mut().unwrap().configurations[0];
    (own.superblocks, own.time_limit) = (3, Some(Nanos::secs(10)));
    let mut ssd = Ssd::new(config, 1).unwrap();
    ssd.begin_timed();
    let (sectors, mut done, mut tag) = (ssd.sectors_per_unit(), Vec::new(), 0);
    let superblock = u64::from(ssd.ftls().next().unwrap().stream(outlast_units::Stream(0)).data_units());
    let all = ssd.units();
    let mut write = |ssd: &mut Ssd, now: Nanos, units: u64| {
        for unit in 0..units {
            let command = Command {
                placement: PlacementId(1),
                ..Command::new(Op::Write, Lba(unit % all * u64::from(sectors)), sectors)
            };
            tag += 1;
            ssd.submit(now, command, outlast_device::Tag(tag));
        }
    };
    let figures = |ssd: &Ssd| {
        let own = PlacementView::of(ssd).figures()[1];
        (own.counts.reclaim_units, own.remaining_units)
    };
    write(&mut ssd, Nanos::ZERO, superblock + 5);
    ssd.advance(Nanos::secs(1), &mut done);
    assert_eq!(figures(&ssd), (1, 2 * superblock - 5), "the second of three superblocks");
    assert_eq!(PlacementView::of(&ssd).unit_times(Nanos::secs(1), 0), [None, Some(Nanos::secs(9))]);
    ssd.advance(Nanos(9_999_000_000), &mut done);
    assert_eq!(PlacementView::of(&ssd).events().reclaim_unit_time_limit_exceeded, 0);
    ssd.advance(Nanos::secs(30), &mut done);
    assert_eq!(PlacementView::of(&ssd).events().reclaim_unit_time_limit_exceeded, 1);
    assert_eq!(figures(&ssd), (1, 0), "it refers to an empty one");
    write(&mut ssd, Nanos::secs(30), 3 * superblock);
    ssd.advance(Nanos::secs(60), &mut done);
    assert_eq!(figures(&ssd), (2, 0));
    assert_eq!(
        PlacementView::of(&ssd).events().reclaim_unit_time_limit_exceeded,
        1,
        "one that is full is over"
    );
    write(&mut ssd, Nanos::secs(60), superblock);
    ssd.advance(Nanos::secs(61), &mut done);
    assert_eq!(figures(&ssd), (3, 2 * superblock));
    // No superblock is open, and yet two of the reclaim unit are left.
    update(&mut ssd, Nanos::secs(61), 1);
    ssd.advance(Nanos::secs(62), &mut done);
    assert_eq!(figures(&ssd), (3, 0));
    assert_eq!(PlacementView::of(&ssd).events().reclaim_unit_not_fully_written, 1);
    assert_eq!(PlacementView::of(&ssd).events().reset_modified_handles, 0);
    ssd.self_check().unwrap();
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
