//! Are reclaim groups drives of their own? Traffic of each group is compared with that of a drive with the group's dies, to the nanosecond; and groups are
//! full, lose their dies, and have handles updated.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::placement::with_handles;
use crate::support;

use outlast_device::{Command, Completion, Device, Op, Outcome, PlacementId, Tag};
use outlast_media::{DieDamage, DriveFault};
use outlast_settings::drive::{SsdConfig, WriteCache};
use outlast_settings::placement::HandleIsolation::{InitiallyIsolated, PersistentlyIsolated};
use outlast_ssd::{GroupFigures, PlacementView, Ssd};
use outlast_units::rng::SplitMix;
use outlast_units::{Bytes, Lba, Nanos};
use support::{command, tiny};

/// `config` with `groups` reclaim groups of `lanes` flash cores each, and without what does not go with them.
pub(crate) fn with_groups(config: SsdConfig, handles: u16, groups: u16, lanes: u16) -> SsdConfig {
    let isolation =
        |handle: u16| if handle.is_multiple_of(2) { InitiallyIsolated } else { PersistentlyIsolated };
    let handles: Vec<_> = (0..handles).map(isolation).collect();
    let mut config = with_handles(config, &handles);
    config.placement.as_mut().unwrap().configurations[0].reclaim_groups = groups;
    config.geometry.channels = groups * lanes;
    config.controller.flash_cores = groups * lanes;
    config.controller.write_cache = WriteCache::Protected;
    config.controller.trims = outlast_settings::drive::Trims::Kept;
    config.ftl.map_flush = None;
    config.ftl.map_cache = None;
    config
}

/// Units of the host for each flash core.
const UNITS: u64 = 900;

/// A drive of `groups` groups, and a drive like one of them.
fn pair(groups: u16, lanes: u16) -> (SsdConfig, SsdConfig) {
    let mut whole = with_groups(tiny(), 2, groups, lanes);
    let mut part = with_groups(tiny(), 2, 1, lanes);
    let units = UNITS * u64::from(lanes);
    part.ftl.capacity = Some(Bytes(units * 4096));
    whole.ftl.capacity = Some(Bytes(units * 4096 * u64::from(groups)));
    part.controller.write_buffer = Bytes::kib(64 * u64::from(lanes));
    whole.controller.write_buffer = Bytes::kib(64 * u64::from(lanes * groups));
    (whole, part)
}

/// Writes and reads of one host in turn, each at its time, to units `0..units`: times and commands as the drive of the part sees them.
fn traffic(seed: u64, units: u64, sectors: u32, gap: u64) -> Vec<(Nanos, Command)> {
    let mut rng = SplitMix::new(seed, "traffic");
    let mut at = Nanos::ZERO;
    let mut next = || {
        at += Nanos(rng.below(2 * gap));
        let (first, count) = (rng.below(units), 1 + rng.below(3));
        let count = count.min(units - first);
        let (op, handle) = match rng.below(20) {
            0..13 => (Op::Write, rng.below(2) as u16),
            13 => (Op::Trim, 0),
            _ => (Op::Read, 0),
        };
        let (lba, length) = (Lba(first * u64::from(sectors)), count as u32 * sectors);
        (at, Command { placement: PlacementId(handle), ..Command::new(op, lba, length) })
    };
    (0..4000).map(|_| next()).collect()
}

/// Ends of commands, by tag.
fn ends(ssd: &mut Ssd, all: &[(Nanos, Command, u32)]) -> Vec<Completion> {
    let mut done = Vec::new();
    for &(at, command, tag) in all {
        ssd.advance(at, &mut done);
        ssd.submit(at, command, Tag(tag));
    }
    while let Some(next) = ssd.next_deadline().filter(|_| ssd.commands_in_flight() != 0) {
        ssd.advance(next, &mut done);
    }
    // Collection comes to rest.
    ssd.advance(Nanos::secs(1000), &mut done);
    done.sort_by_key(|done| done.tag.0);
    done
}

#[test]
fn groups_are_drives_of_their_own_to_the_nanosecond() {
    for (groups, lanes) in [(2, 1), (3, 1), (2, 2)] {
        let (whole, part) = pair(groups, lanes);
        let mut ssd = Ssd::new(whole, 7).unwrap();
        let (sectors, units) = (ssd.sectors_per_unit(), UNITS * u64::from(lanes));
        // The first group's host is in no hurry, those of the others write nearly as much as their groups can take.
        let gap = |group: u64| if group == 0 { 900_000 } else { 350_000 };
        let hosts: Vec<_> =
            (0..u64::from(groups)).map(|group| traffic(group, units, sectors, gap(group))).collect();
        let mut all: Vec<(Nanos, Command, u32)> = Vec::new();
        for (group, host) in (0u64..).zip(&hosts) {
            for (number, &(at, command)) in (0u32..).zip(host) {
                let lba = Lba(command.lba.0 + group * units * u64::from(sectors));
                let placement = PlacementId(command.placement.0 * groups + group as u16);
                all.push((at, Command { lba, placement, ..command }, group as u32 * 10_000 + number));
            }
        }
        all.sort_by_key(|&(at, _, tag)| (at, tag));
        ssd.begin_timed();
        let together = ends(&mut ssd, &all);
        ssd.self_check().unwrap();
        let figures = PlacementView::of(&ssd).groups();
        for (group, host) in (0u32..).zip(&hosts) {
            let mut alone = Ssd::new(part.clone(), 7).unwrap();
            alone.begin_timed();
            let own: Vec<_> = (0u32..).zip(host).map(|(tag, &(at, command))| (at, command, tag)).collect();
            let apart = ends(&mut alone, &own);
            let own = together.iter().filter(|done| done.tag.0 / 10_000 == group);
            let times = |done: &Completion| (done.tag.0 % 10_000, done.at, done.outcome);
            assert_eq!(together.len(), apart.len() * usize::from(groups));
            for (own, apart) in own.zip(&apart) {
                let command = host[times(own).0 as usize];
                assert_eq!(times(own), times(apart), "group {group} of {groups}, {lanes} cores: {command:?}");
            }
            let GroupFigures { host_units, written_units, elsewhere_units, .. } = figures[group as usize];
            assert_eq!(elsewhere_units, 0);
            let by_core = &ssd.write_amplification_by_core()[group as usize * usize::from(lanes)..];
            let amplification = alone.write_amplification_by_core();
            assert_eq!(amplification[..], by_core[..usize::from(lanes)], "group {group}");
            assert!(group == 0 || written_units as f64 > 1.1 * host_units as f64, "group {group} collects");
        }
    }
}

/// Writes unit `unit` with `placement` and waits for it.
fn write(ssd: &mut Ssd, now: &mut Nanos, unit: u64, placement: u16) -> Outcome {
    let sectors = ssd.sectors_per_unit();
    let lba = unit * u64::from(sectors);
    let write = Command { placement: PlacementId(placement), ..command(Op::Write, lba, sectors) };
    let mut done = Vec::new();
    ssd.submit(*now, write, Tag(0));
    while done.is_empty() {
        *now = (*now).max(ssd.next_deadline().unwrap());
        ssd.advance(*now, &mut done);
    }
    done[0].outcome
}

#[test]
fn a_group_that_is_full_leaves_units_where_they_are_and_gives_new_ones_to_the_emptiest() {
    let mut config = with_groups(tiny(), 1, 2, 1);
    config.bytes = false;
    config.ftl.capacity = Some(Bytes(1200 * 4096));
    let mut ssd = Ssd::new(config, 1).unwrap();
    let (units, mut now) = (ssd.units(), Nanos::ZERO);
    ssd.begin_timed();
    let groups = |ssd: &Ssd| PlacementView::of(ssd).groups();
    let most = groups(&ssd)[0].most_units;
    assert!(most > units / 2 && most < units, "{most} of {units} units");
    // All of them to the first group: as many as it can hold go there.
    for unit in 0..units {
        assert_eq!(write(&mut ssd, &mut now, unit, 0), Outcome::Ok);
    }
    let full = groups(&ssd);
    assert_eq!([full[0].held_units, full[1].held_units], [most, units - most]);
    assert_eq!([full[0].elsewhere_units, full[1].elsewhere_units], [units - most, 0]);
    // It collects for ever at that, and what is in the other group stays there.
    let mut rng = SplitMix::new(1, "full");
    for _ in 0..4 * units {
        assert_eq!(write(&mut ssd, &mut now, rng.below(units), 0), Outcome::Ok);
    }
    assert_eq!(groups(&ssd).iter().map(|own| own.held_units).collect::<Vec<_>>(), [most, units - most]);
    ssd.self_check().unwrap();
    // A unit that leaves makes room for another.
    assert_eq!(write(&mut ssd, &mut now, 0, 1), Outcome::Ok);
    assert_eq!(write(&mut ssd, &mut now, units - 1, 0), Outcome::Ok);
    assert_eq!(groups(&ssd).iter().map(|own| own.held_units).collect::<Vec<_>>(), [most, units - most]);
    assert_eq!(
        groups(&ssd)[0].elsewhere_units,
        full[0].elsewhere_units + {
            let after = groups(&ssd)[0].elsewhere_units - full[0].elsewhere_units;
            assert!(after > 0, "writes to units that the first group does not have");
            after
        }
    );
    ssd.self_check().unwrap();
}

/// All dies of a group die: its data is lost, and that of the others is whole, be it read or written.
#[test]
fn data_of_other_groups_is_whole_when_the_dies_of_one_die() {
    let mut config = with_groups(tiny(), 1, 2, 1);
    config.bytes = false;
    let mut ssd = Ssd::new(config, 1).unwrap();
    let (units, mut now, sectors) = (ssd.units(), Nanos::ZERO, ssd.sectors_per_unit());
    ssd.begin_timed();
    for unit in 0..units {
        assert_eq!(write(&mut ssd, &mut now, unit, (unit % 2) as u16), Outcome::Ok);
    }
    now += Nanos::secs(1);
    ssd.advance(now, &mut Vec::new());
    // The dies of the second channel are the second group's.
    for die in 2..4 {
        ssd.inject(now, DriveFault { die, damage: DieDamage::Die });
    }
    let mut lost = 0;
    for unit in 0..units {
        let mut done = Vec::new();
        ssd.submit(now, command(Op::Read, unit * u64::from(sectors), sectors), Tag(0));
        while done.is_empty() {
            now = now.max(ssd.next_deadline().unwrap());
            ssd.advance(now, &mut done);
        }
        let expected = if unit % 2 == 0 { Outcome::Ok } else { Outcome::MediumError };
        assert!(done[0].outcome == expected || unit % 2 == 1, "unit {unit}: {:?}", done[0].outcome);
        lost += u64::from(done[0].outcome == Outcome::MediumError);
    }
    assert!(lost > units / 4, "{lost} of {units} units");
    let mut rng = SplitMix::new(1, "after");
    for _ in 0..2 * units {
        assert_eq!(write(&mut ssd, &mut now, rng.below(units / 2) * 2, 0), Outcome::Ok);
    }
    ssd.self_check().unwrap();
}

#[test]
fn what_does_not_go_with_groups_is_refused_with_value_and_limit() {
    let refused = |change: &dyn Fn(&mut SsdConfig), field: &str, value: &str| {
        let mut config = with_groups(tiny(), 2, 2, 1);
        change(&mut config);
        let error = Ssd::new(config, 1).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error.contains(field) && error.contains(value), "{error}");
    };
    let groups = "configurations[0].reclaim_groups";
    let set = |groups: u16| {
        move |config: &mut SsdConfig| {
            config.placement.as_mut().unwrap().configurations[0].reclaim_groups = groups;
        }
    };
    refused(&set(0), groups, "0");
    refused(&set(65), groups, "between 1 and 64");
    refused(&set(4), groups, "flash_cores, 2");
    refused(&|own| own.controller.write_cache = WriteCache::Volatile, "write_cache", "volatile");
    refused(&|own| own.controller.write_cache = WriteCache::Off, "write_cache", "off");
    refused(&|own| own.controller.trims = outlast_settings::drive::Trims::Volatile, "trims", "volatile");
}

/// A handle is updated in the group of its identifier, and in no other.
#[test]
fn an_update_is_of_one_handle_in_one_group() {
    let mut config = with_groups(tiny(), 2, 2, 1);
    config.bytes = false;
    let mut ssd = Ssd::new(config, 1).unwrap();
    let mut now = Nanos::ZERO;
    ssd.begin_timed();
    for identifier in 0..4 {
        assert_eq!(write(&mut ssd, &mut now, identifier.into(), identifier), Outcome::Ok);
    }
    let remaining = |ssd: &Ssd| {
        let of = |group| PlacementView::of(ssd).remaining_units(group);
        [of(0)[0], of(1)[0], of(0)[1], of(1)[1]]
    };
    let before = remaining(&ssd);
    assert!(before.iter().all(|&left| left > 0));
    // Identifier 3 is the second handle in the second group.
    ssd.update_handle(now, PlacementId(3));
    now += Nanos::secs(1);
    ssd.advance(now, &mut Vec::new());
    assert_eq!(remaining(&ssd), [before[0], before[1], before[2], 0]);
    assert_eq!(PlacementView::of(&ssd).events().reclaim_unit_not_fully_written, 1);
    ssd.self_check().unwrap();
}
