//! Data that a member loses with a die is recovered, by each of the three methods, and beside everything else that may happen.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_array::{
    Array, ArrayEventKind, ArrayHealth, ColumnIndex, PassKind, PlainDevice, PlainFailure, RepairStep,
};
use outlast_decisions::RepairWay;
use outlast_device::{Device, NoticeKind, Op};
use outlast_settings::array::{
    ArrayConfig, Consistency, FakeWay, Level, LogPlace, PlainConfig, RepairConfig, RepairOrder,
};
use outlast_units::rng::SplitMix;
use outlast_units::{ByteRate, Bytes, Nanos, SECTOR_BYTES};
use support::life;
use support::settings::{ArraySettings, array_of, by};
use support::{Host, array, command, plain};

const SECTORS: u64 = 400;
const NOTHING: [u64; 0] = [];

fn small(level: Level, members: u16, repair: RepairConfig) -> ArrayConfig {
    array_of(level, members).unpaced().with_repair(repair)
}

fn filled(config: ArrayConfig) -> Host<Array<PlainDevice>> {
    life::filled(array(config, SECTORS))
}

/// Every `stride`th run of `run` sectors from `first` on: what a die holds of a member that stripes over its dies.
fn strided(first: u64, run: u64, stride: u64) -> Vec<u64> {
    (0..SECTORS).filter(|sector| (sector + stride - first % stride) % stride < run).collect()
}

fn fail_at(
    host: &mut Host<Array<PlainDevice>>,
    at: Nanos,
    member: usize,
    notice: NoticeKind,
    lost: &[u64],
    fake: &[u64],
) {
    let failure = PlainFailure { at, notice, lost: lost.to_vec(), fake: fake.to_vec() };
    host.device.with_devices(|index, device| {
        if index == member {
            device.plan_failure(failure.clone());
        }
    });
}

/// A die of a member fails now.
fn fail(host: &mut Host<Array<PlainDevice>>, member: usize, die: u16, lost: &[u64]) {
    let now = host.now;
    fail_at(host, now, member, NoticeKind::DieFailed { die }, lost, &[]);
}

fn has(host: &Host<Array<PlainDevice>>, wanted: impl Fn(&ArrayEventKind) -> bool) -> bool {
    host.device.events().iter().any(|event| wanted(&event.kind))
}

fn steps(host: &Host<Array<PlainDevice>>) -> Vec<RepairStep> {
    let step = |kind: &ArrayEventKind| {
        if let ArrayEventKind::Repair { step, .. } = kind { Some(*step) } else { None }
    };
    host.device.events().iter().filter_map(|event| step(&event.kind)).collect()
}

/// The next thing happens; its time.
fn tick(host: &mut Host<Array<PlainDevice>>) -> Nanos {
    let at = host.device.next_deadline().unwrap();
    host.now = at;
    let mut completions = Vec::new();
    host.device.advance(at, &mut completions);
    assert!(completions.is_empty());
    at
}

fn scrub_is_clean(host: &mut Host<Array<PlainDevice>>) {
    host.drain();
    let before = host.device.counters();
    host.device.start_scrub(host.now, false);
    host.drain();
    let after = host.device.counters();
    assert_eq!((after.mismatches, after.read_errors), (before.mismatches, before.read_errors));
    host.device.self_check().unwrap();
}

fn bytes(sectors: usize) -> Bytes {
    Bytes(sectors as u64 * SECTOR_BYTES)
}

/// Reparo's sequence for every level: what failed is asked for, computed and written back, no more and no less.
#[test]
fn as_many_bytes_are_written_as_have_failed() {
    for (level, members, data) in [
        (Level::Raid5, 5, 4),
        (Level::Raid6, 6, 4),
        (Level::Raid4, 4, 3),
        (Level::Raid1, 3, 1),
        (Level::Raid10, 4, 1),
    ] {
        let mut host = filled(small(level, members, by(RepairWay::Die)));
        let (lost, fake) = (strided(3, 2, 16), strided(9, 1, 16));
        let now = host.now;
        fail_at(&mut host, now, 1, NoticeKind::DieFailed { die: 7 }, &lost, &fake);
        host.drain();
        let repair = &host.device.repairs()[0];
        assert_eq!((repair.member, repair.die, repair.way), (ColumnIndex(1), 7, RepairWay::Die));
        assert_eq!((repair.failed_sectors, repair.fake_sectors), (lost.len() as u64, fake.len() as u64));
        let all = lost.len() + fake.len();
        assert_eq!(repair.bytes_written, bytes(all), "{level:?}");
        assert_eq!(repair.bytes_read_from_peers, bytes(all * data), "{level:?}");
        assert_eq!(repair.bytes_read_from_member, Bytes(0));
        assert_eq!((repair.lost_sectors, repair.resumed, repair.abandoned), (0, 0, false));
        assert_eq!(repair.queries, 400u64.div_ceil(128));
        assert!(repair.finished_at > repair.started_at && repair.noticed_at == now);
        assert_eq!(steps(&host), [RepairStep::DieFailed, RepairStep::Started, RepairStep::Done]);
        let member = host.device.member(1).unwrap();
        assert_eq!((member.listed_sectors(), member.unreadable_sectors()), (0, 0));
        assert_eq!(host.device.status(host.now).state, ArrayHealth::Clean);
        assert_eq!(host.read_all(), NOTHING);
        scrub_is_clean(&mut host);
    }
}

/// Fake failures are read from the member itself, and what cannot be read falls back on redundancy.
#[test]
fn fake_failures_are_copied_if_the_settings_say_so() {
    let repair = RepairConfig { fakes: FakeWay::Copy, ..by(RepairWay::Die) };
    let mut host = filled(small(Level::Raid5, 4, repair));
    let (lost, fake) = (strided(0, 1, 32), strided(8, 4, 32));
    host.device.member_mut(2).unwrap().make_unreadable(fake[1]);
    let now = host.now;
    fail_at(&mut host, now, 2, NoticeKind::DieFailed { die: 0 }, &lost, &fake);
    host.drain();
    let repair = &host.device.repairs()[0];
    assert_eq!(repair.bytes_written, bytes(lost.len() + fake.len()));
    assert_eq!(repair.bytes_read_from_member, bytes(fake.len()), "each read once, one run in vain");
    assert_eq!(repair.bytes_read_from_peers, bytes(3 * (lost.len() + 4)));
    assert_eq!(host.read_all(), NOTHING);
    scrub_is_clean(&mut host);
}

/// With one lane and one group at a time everything happens in turn: questions, and for each run one read and one write.
#[test]
fn recovery_takes_the_time_that_its_parts_take() {
    let measure = |queries: u16, lanes: u16| {
        let repair = RepairConfig { queries, ..by(RepairWay::Die) };
        let mut config = small(Level::Raid5, 4, repair);
        config.background.window = 1;
        let device = PlainConfig {
            read_latency: Nanos::micros(60),
            write_latency: Nanos::micros(100),
            status_latency: Nanos::millis(1),
            lanes,
            bytes: true,
            ..PlainConfig::new(Bytes(SECTORS * SECTOR_BYTES))
        };
        let devices = (0..4).map(|seed| PlainDevice::new(device.clone(), seed).unwrap()).collect();
        let mut host = life::filled(Array::new(config, devices, true).unwrap());
        fail(&mut host, 0, 0, &strided(2, 3, 16));
        host.drain();
        let repair = host.device.repairs()[0].clone();
        (repair.finished_at.unwrap() - repair.started_at.unwrap(), repair.identify, repair.recover)
    };
    // Four ranges, the last a short one, and 25 runs.
    let (ranges, runs) = (4, SECTORS / 16);
    let (identify, recover) = (Nanos::millis(ranges), Nanos::micros(160 * runs));
    assert_eq!(measure(1, 1), (identify + recover, identify, recover));
    // With two ranges under way every question but the first is asked while rows are recovered: a range of 8 runs takes 1.28 ms.
    let (all, asked, rest) = measure(2, 4);
    assert_eq!((all, asked), (Nanos::millis(1) + recover, identify));
    assert_eq!(rest, all - asked);
}

#[test]
fn reads_of_failed_sectors_are_served_and_eject_no_member() {
    let mut config = small(Level::Raid5, 4, by(RepairWay::Die));
    config.ejection.read_errors = 3;
    // Recovery hardly goes on beside the host.
    (config.background.min_rate, config.background.max_rate) = (ByteRate::new(1000), ByteRate::new(1000));
    let mut host = filled(config);
    fail(&mut host, 1, 0, &strided(0, 4, 8));
    for round in 0..3 {
        for lba in (0..host.capacity()).step_by(8) {
            host.submit(command(Op::Read, lba, 4));
            while host.in_flight() > 8 {
                assert!(host.step());
            }
        }
        if round == 0 {
            let status = host.device.status(host.now);
            assert_eq!(status.state, ArrayHealth::Degraded);
            assert!(status.members[1].repair.is_some());
            assert_eq!(status.progress.unwrap().kind, PassKind::Repair);
            assert!(status.to_string().contains(" repair = "), "{status}");
        }
    }
    let counters = host.device.counters();
    assert!(counters.read_errors > 30 && counters.degraded_reads > 30, "{counters:?}");
    assert_eq!((counters.ejected, host.errors.len()), (0, 0));
    host.drain();
    assert_eq!(host.device.status(host.now).state, ArrayHealth::Clean);
    // From then on errors are counted as ever.
    for sector in 0..30 {
        host.device.member_mut(1).unwrap().make_unreadable(sector * 8);
    }
    assert_eq!(host.read_all(), NOTHING);
    assert_eq!(host.device.counters().ejected, 1);
}

#[test]
fn a_write_clears_what_it_covers() {
    let repair = RepairConfig { share: None, ..by(RepairWay::Die) };
    let mut host = filled(small(Level::Raid5, 4, repair));
    let lost = strided(0, 8, 16);
    // The member fails, and everything is written in the same moment: what recovery asks for afterwards is gone already.
    let at = host.now + Nanos::micros(1);
    fail_at(&mut host, at, 2, NoticeKind::DieFailed { die: 3 }, &lost, &[]);
    for lba in (0..host.capacity()).step_by(24) {
        host.submit(command(Op::Write, lba, 24));
    }
    host.drain();
    let repair = &host.device.repairs()[0];
    assert!(repair.failed_sectors < lost.len() as u64 / 2, "{repair:?}");
    assert_eq!(repair.bytes_written, bytes(repair.failed_sectors as usize));
    assert_eq!(host.device.member(2).unwrap().unreadable_sectors(), 0);
    assert_eq!(host.read_all(), NOTHING);
    scrub_is_clean(&mut host);
}

fn linked(rate: u64, sectors: u64, seed: u64) -> PlainDevice {
    let config = PlainConfig {
        read_latency: Nanos::micros(20),
        write_rate: ByteRate::new(rate),
        bytes: true,
        ..PlainConfig::new(Bytes(sectors * SECTOR_BYTES))
    };
    PlainDevice::new(config, seed).unwrap()
}

/// A tenth of a link of 100 MB/s: at no time has more been moved than that allows, except the work that was just begun.
#[test]
fn recovery_keeps_to_its_share_of_the_link() {
    for way in [RepairWay::Die, RepairWay::Assist, RepairWay::Rebuild] {
        let repair = RepairConfig { share: Some(0.1), ..by(way) };
        let mut config = small(Level::Raid5, 4, repair).with_spares(1);
        // These would allow more, and less: the share takes their place.
        (config.background.min_rate, config.background.max_rate) = (ByteRate::new(1), None);
        let devices = (0..5).map(|seed| linked(100_000_000, SECTORS, seed)).collect();
        let mut host = life::filled(Array::new(config, devices, true).unwrap());
        fail(&mut host, 1, 0, &strided(0, 8, 16));
        let done = |host: &Host<Array<PlainDevice>>| {
            host.device.repairs().first().is_some_and(|repair| repair.finished_at.is_some())
        };
        while !done(&host) {
            let now = tick(&mut host);
            let Some(repair) = host.device.repairs().first() else { continue };
            let Some(started) = repair.started_at else { continue };
            let allowed = (now - started).as_secs_f64() * 10e6 + 4096.0;
            assert!(repair.bytes_written.0 as f64 <= allowed + 1.0, "{way:?} at {now}: {repair:?}");
        }
        let repair = &host.device.repairs()[0];
        let sectors = if way == RepairWay::Die { SECTORS / 2 } else { SECTORS };
        assert_eq!(repair.bytes_written, bytes(sectors as usize));
        // All but the last chunk at the rate, and that one's own time.
        let least = (sectors * SECTOR_BYTES - 4096) as f64 / 10e6;
        let took = (repair.finished_at.unwrap() - repair.started_at.unwrap()).as_secs_f64();
        assert!((least..least + 200e-6).contains(&took), "{way:?}: {took} s, at least {least}");
        assert_eq!(host.read_all(), NOTHING);
    }
}

#[test]
fn a_share_needs_a_link() {
    let repair = RepairConfig { share: Some(0.1), ..by(RepairWay::Die) };
    let devices = (0..4).map(|seed| plain(SECTORS, seed)).collect();
    let error = Array::new(small(Level::Raid5, 4, repair), devices, true).unwrap_err();
    assert!(error.to_string().starts_with("array.repair.share = 0.1: needs device.controller.link"));
    let devices = (0..4).map(|seed| linked(1_000_000, SECTORS, seed)).collect();
    let mut array = Array::new(small(Level::Raid5, 4, repair), devices, true).unwrap();
    let error = array.add_spare(Nanos::ZERO, plain(SECTORS, 9)).unwrap_err();
    assert!(error.to_string().starts_with("array.repair.share: the new device"));
}

/// Rebuild Assist: what the member still has is copied, only what it has lost is computed.
#[test]
fn assist_copies_what_can_be_read() {
    let config = small(Level::Raid5, 5, by(RepairWay::Assist)).with_spares(1);
    let mut host = filled(config);
    let lost = strided(4, 2, 16);
    fail(&mut host, 3, 1, &lost);
    host.drain();
    let repair = &host.device.repairs()[0];
    assert_eq!(repair.bytes_written, bytes(SECTORS as usize));
    assert_eq!(repair.bytes_read_from_member, bytes(SECTORS as usize - lost.len()));
    assert_eq!(repair.bytes_read_from_peers, bytes(4 * lost.len()));
    assert_eq!((repair.failed_sectors, repair.queries), (lost.len() as u64, 4));
    assert_eq!(host.device.counters().read_errors, 0, "nothing is read that the member said it has lost");
    assert!(has(&host, |kind| *kind == ArrayEventKind::Rebuilt { member: ColumnIndex(3) }));
    let status = host.device.status(host.now);
    assert_eq!((status.state, status.spares, host.device.removed().len()), (ArrayHealth::Clean, 0, 1));
    assert_eq!(host.read_all(), NOTHING);
    // The new member holds all of it.
    host.device.fail_member(host.now, 0).unwrap();
    assert_eq!(host.read_all(), NOTHING);
}

/// The member that leaves is read and written until all of it is copied; without a spare everything waits for one.
#[test]
fn assist_is_right_under_writes() {
    for level in [Level::Raid5, Level::Raid6, Level::Raid10] {
        let mut config = small(level, 4, by(RepairWay::Assist));
        config.background.min_rate = ByteRate::new(20_000_000);
        config.background.max_rate = config.background.min_rate;
        let mut host = filled(config);
        fail(&mut host, 2, 1, &strided(4, 3, 16));
        let mut rng = SplitMix::new(5, "writes");
        for round in 0..3000 {
            while host.in_flight() >= 12 {
                assert!(host.step());
            }
            let next = host.random(&mut rng, 40);
            host.submit(next);
            if round == 300 {
                assert_eq!(steps(&host)[1..], [RepairStep::Waits]);
                host.device.add_spare(host.now, plain(SECTORS, 40)).unwrap();
            }
            if round == 400 {
                assert!(host.device.repairs()[0].started_at.is_some());
                assert_eq!(host.device.progress(host.now).unwrap().kind, PassKind::Rebuild);
            }
        }
        assert_eq!(host.errors, []);
        host.drain();
        let repair = &host.device.repairs()[0];
        assert!(repair.finished_at.is_some() && repair.bytes_read_from_member.0 > 0, "{repair:?}");
        assert_eq!(host.device.status(host.now).state, ArrayHealth::Clean);
        assert_eq!(host.read_all(), NOTHING);
        scrub_is_clean(&mut host);
        host.device.fail_member(host.now, 0).unwrap();
        assert_eq!(host.read_all(), NOTHING, "the new member holds what it should");
    }
}

/// A member that takes no more writes is still copied from, and what it refused is computed.
#[test]
fn a_donor_that_refuses_writes_still_gives_what_it_has() {
    let mut config = small(Level::Raid5, 4, by(RepairWay::Die)).with_spares(1);
    config.background.min_rate = ByteRate::new(20_000_000);
    let mut host = filled(config);
    host.device.member_mut(1).unwrap().refuse_writes();
    let now = host.now;
    fail_at(&mut host, now, 1, NoticeKind::BeyondRepair { die: 2 }, &strided(0, 2, 32), &[]);
    tick(&mut host);
    let mut rng = SplitMix::new(8, "writes");
    for _ in 0..1500 {
        while host.in_flight() >= 12 {
            assert!(host.step());
        }
        let next = host.random(&mut rng, 30);
        host.submit(next);
    }
    host.drain();
    let repair = &host.device.repairs()[0];
    assert_eq!((repair.way, repair.lost_sectors), (RepairWay::Assist, 0));
    assert!(repair.bytes_read_from_member.0 > 0 && repair.bytes_read_from_peers.0 > 0, "{repair:?}");
    assert_eq!((host.refused, host.device.counters().ejected), (0, 0));
    assert_eq!(steps(&host), [RepairStep::BeyondRepair, RepairStep::Started, RepairStep::Done]);
    assert_eq!(host.read_all(), NOTHING);
    scrub_is_clean(&mut host);
}

/// Beyond repair and no spare: the member stays and serves, until there is one.
#[test]
fn beyond_repair_waits_for_a_spare() {
    use RepairStep::{BeyondRepair, DieFailed, DieFailing, Done, LastRepair, Started, Waits};
    let mut host = filled(small(Level::Raid5, 4, by(RepairWay::Die)));
    fail(&mut host, 1, 0, &strided(0, 2, 64));
    host.drain();
    let now = host.now;
    fail_at(&mut host, now, 1, NoticeKind::LastRepair { die: 1 }, &strided(8, 2, 64), &[]);
    host.drain();
    let now = host.now;
    fail_at(&mut host, now, 1, NoticeKind::BeyondRepair { die: 2 }, &strided(16, 2, 64), &[]);
    fail_at(&mut host, now, 2, NoticeKind::DieFailing { die: 9 }, &[], &[]);
    host.drain();
    assert_eq!(host.device.status(host.now).state, ArrayHealth::Degraded);
    assert_eq!(host.read_all(), NOTHING);
    host.device.add_spare(host.now, plain(SECTORS, 9)).unwrap();
    host.drain();
    let all =
        [DieFailed, Started, Done, LastRepair, Started, Done, BeyondRepair, Waits, DieFailing, Started, Done];
    assert_eq!(steps(&host), all);
    assert_eq!(host.device.status(host.now).state, ArrayHealth::Clean);
    assert_eq!(host.read_all(), NOTHING);
}

/// Two members lose a die at once: every row that redundancy allows is saved, and only the rest is lost.
#[test]
fn two_dies_at_once_cost_only_what_both_have_lost() {
    for order in [RepairOrder::Address, RepairOrder::Exposure] {
        for (level, members) in [(Level::Raid5, 5), (Level::Raid6, 5), (Level::Raid10, 4)] {
            for apart in [true, false] {
                let repair = RepairConfig { order, queries: 2, ..by(RepairWay::Die) };
                let mut host = filled(small(level, members, repair));
                let (first, second) = (strided(0, 5, 16), strided(if apart { 5 } else { 3 }, 4, 16));
                let now = host.now;
                fail_at(&mut host, now, 0, NoticeKind::DieFailed { die: 0 }, &first, &[]);
                fail_at(&mut host, now, 1, NoticeKind::DieFailed { die: 5 }, &second, &[]);
                host.drain();
                let repairs = host.device.repairs();
                assert_eq!(repairs.len(), 2);
                assert!(repairs.iter().all(|repair| repair.finished_at.is_some()));
                let both = first.iter().filter(|sector| second.contains(sector)).count() as u64;
                let lost: Vec<u64> = host.device.lost().iter().flatten().collect();
                let most = match level {
                    Level::Raid6 => 0..=0,
                    // Of a group, the two members have two chunks of data, or one and the parity.
                    Level::Raid5 => both..=2 * both,
                    _ => both..=both,
                };
                assert!(most.contains(&(lost.len() as u64)), "{level:?}, {both} rows: {} lost", lost.len());
                assert_eq!(repairs[0].lost_sectors + repairs[1].lost_sectors, lost.len() as u64);
                assert_eq!(host.read_all(), lost);
                scrub_is_clean(&mut host);
                for lba in lost {
                    host.submit(command(Op::Write, lba, 1));
                    while host.in_flight() > 8 {
                        assert!(host.step());
                    }
                }
                assert_eq!(host.read_all(), NOTHING);
                scrub_is_clean(&mut host);
            }
        }
    }
}

/// With order of exposure, rows that both members lack come before the others.
#[test]
fn exposed_rows_come_first() {
    let repair = RepairConfig { order: RepairOrder::Exposure, ..by(RepairWay::Die) };
    let mut config = small(Level::Raid6, 6, repair);
    config.background.window = 1;
    let mut host = filled(config);
    let (first, second) = (strided(0, 8, 16), (320..400).collect::<Vec<u64>>());
    let now = host.now;
    fail_at(&mut host, now, 1, NoticeKind::DieFailed { die: 0 }, &second, &[]);
    fail_at(&mut host, now, 0, NoticeKind::DieFailed { die: 0 }, &first, &[]);
    let left = |host: &Host<Array<PlainDevice>>, from: u64, to: u64| {
        let member = host.device.member(0).unwrap();
        (from..to).filter(|&sector| member.is_unreadable(sector)).count()
    };
    tick(&mut host);
    while left(&host, 320, 400) > 0 {
        tick(&mut host);
    }
    // Except for the one run that went on while the other member was being asked.
    assert!(left(&host, 0, 320) >= 160 - 8, "nothing else has been recovered yet");
    host.drain();
    assert_eq!(host.device.repairs().iter().map(|repair| repair.lost_sectors).sum::<u64>(), 0);
    assert_eq!(host.read_all(), NOTHING);
}

/// Without redundancy nothing can be recovered: what is lost is counted and located, reads of it are errors, and writes clear it.
#[test]
fn without_redundancy_losses_are_reported() {
    for way in [RepairWay::Die, RepairWay::Assist, RepairWay::Rebuild] {
        let mut host = filled(small(Level::Raid0, 3, by(way)));
        let (lost, fake) = (strided(1, 2, 40), strided(8, 1, 40));
        let now = host.now;
        fail_at(&mut host, now, 2, NoticeKind::DieFailed { die: 0 }, &lost, &fake);
        host.drain();
        let repair = &host.device.repairs()[0];
        assert_eq!((repair.failed_sectors, repair.lost_sectors), (lost.len() as u64, lost.len() as u64));
        assert_eq!((repair.bytes_written, repair.abandoned), (Bytes(0), false));
        let status = host.device.status(host.now);
        assert_eq!((status.state, status.lost_sectors), (ArrayHealth::Failed, lost.len() as u64));
        let places: Vec<u64> = host.device.lost().iter().flatten().collect();
        assert_eq!(host.read_all(), places);
        for lba in places {
            host.submit(command(Op::Write, lba, 1));
        }
        assert_eq!(host.read_all(), NOTHING);
        assert_eq!(host.device.status(host.now).state, ArrayHealth::Clean);
    }
    // A write that ends while the member is asked is not lost.
    let mut host = filled(small(Level::Raid0, 2, by(RepairWay::Die)));
    let now = host.now;
    fail_at(&mut host, now, 0, NoticeKind::DieFailed { die: 0 }, &strided(0, 4, 8), &[]);
    for lba in (0..host.capacity()).step_by(8) {
        host.submit(command(Op::Write, lba, 8));
    }
    assert_eq!(host.read_all(), NOTHING);
}

/// RAID-5 with a member missing: what the die held is lost, with what the missing member held beside it, and the rest is not.
#[test]
fn a_degraded_array_loses_only_the_rows_of_the_die() {
    let mut host = filled(small(Level::Raid5, 4, by(RepairWay::Die)));
    host.device.fail_member(host.now, 3).unwrap();
    let lost = strided(0, 2, 40);
    fail(&mut host, 0, 0, &lost);
    host.drain();
    let gone: Vec<u64> = host.device.lost().iter().flatten().collect();
    assert!((lost.len()..=2 * lost.len()).contains(&gone.len()), "{}", gone.len());
    assert_eq!(host.device.repairs()[0].lost_sectors, gone.len() as u64);
    assert_eq!(host.read_all(), gone);
    host.device.replace(host.now, 3, plain(SECTORS, 8), false).unwrap();
    assert_eq!(host.read_all(), gone);
    scrub_is_clean(&mut host);
}

/// Rebuild as baseline: the whole member goes, and a second one waits until the array can do without it.
#[test]
fn a_rebuild_waits_until_the_array_can_do_without_the_member() {
    let config = small(Level::Raid5, 4, by(RepairWay::Rebuild)).with_spares(2);
    let mut host = filled(config);
    // They fail on different rows: the rebuild of the first needs what the second has lost nowhere.
    let now = host.now;
    fail_at(&mut host, now, 1, NoticeKind::DieFailed { die: 0 }, &strided(0, 2, 64), &[]);
    host.drain();
    let now = host.now;
    fail_at(&mut host, now, 2, NoticeKind::DieFailed { die: 0 }, &strided(0, 2, 64), &[]);
    tick(&mut host);
    let now = host.now;
    fail_at(&mut host, now, 3, NoticeKind::DieFailed { die: 0 }, &[], &[]);
    host.drain();
    let repairs = host.device.repairs();
    assert_eq!(repairs.len(), 3);
    for repair in &repairs[..2] {
        assert_eq!(repair.bytes_written, bytes(SECTORS as usize));
        assert_eq!(repair.bytes_read_from_peers, bytes(3 * SECTORS as usize));
        assert_eq!(repair.bytes_read_from_member, Bytes(0));
    }
    assert!(repairs[2].started_at >= repairs[1].finished_at, "one after the other");
    assert_eq!(repairs[2].finished_at, None, "no spare is left for the third");
    assert!(steps(&host).contains(&RepairStep::Waits));
    assert_eq!(host.read_all(), NOTHING);
}

/// A second die of the same member fails during recovery: it is recovered, too.
#[test]
fn a_second_die_of_the_same_member_is_recovered_as_well() {
    let mut host = filled(small(Level::Raid5, 4, by(RepairWay::Die)));
    let (first, second) = (strided(0, 4, 32), strided(8, 4, 32));
    fail(&mut host, 2, 0, &first);
    let at = host.now + Nanos::millis(1);
    fail_at(&mut host, at, 2, NoticeKind::DieFailed { die: 1 }, &second, &[]);
    // Told twice is told once.
    fail_at(&mut host, at + Nanos(1), 2, NoticeKind::DieFailed { die: 1 }, &[], &[]);
    host.drain();
    let repairs = host.device.repairs();
    assert_eq!(repairs.len(), 2);
    let counted: u64 = repairs.iter().map(|repair| repair.failed_sectors).sum();
    assert_eq!(counted, (first.len() + second.len()) as u64);
    assert!(repairs[1].started_at >= repairs[0].finished_at);
    assert_eq!(host.device.member(2).unwrap().unreadable_sectors(), 0);
    assert_eq!(host.read_all(), NOTHING);
    scrub_is_clean(&mut host);
}

/// Power fails in the middle, again and again, and members have volatile caches: recovery is taken up again, and nothing is missing.
#[test]
fn recovery_restarts_after_a_loss_of_power() {
    for way in [RepairWay::Die, RepairWay::Assist, RepairWay::Rebuild] {
        let mut config = small(Level::Raid5, 4, by(way)).with_spares(1);
        config.consistency = Consistency::Ppl;
        config.log.place = LogPlace::Controller;
        let device = |seed| {
            let config = PlainConfig {
                read_latency: Nanos::micros(50),
                write_latency: Nanos::micros(90),
                status_latency: Nanos::micros(300),
                volatile_cache: way == RepairWay::Die,
                bytes: true,
                ..PlainConfig::new(Bytes(SECTORS * SECTOR_BYTES))
            };
            PlainDevice::new(config, seed).unwrap()
        };
        let mut host = life::filled(Array::new(config, (0..5).map(device).collect(), true).unwrap());
        host.submit(command(Op::Flush, 0, 0));
        host.drain();
        fail(&mut host, 2, 0, &strided(0, 4, 16));
        for _ in 0..3 {
            let cut = host.now + Nanos::micros(1300);
            host.device.power_cut(cut);
            host.now = cut;
            host.device.power_on(cut, false).unwrap();
        }
        host.drain();
        let repair = &host.device.repairs()[0];
        assert_eq!((repair.resumed, repair.lost_sectors), (3, 0), "{way:?}");
        assert!(repair.finished_at.is_some());
        assert_eq!(host.device.member(2).unwrap().unreadable_sectors(), 0);
        assert_eq!(host.read_all(), NOTHING);
        scrub_is_clean(&mut host);
        // Whatever was told to be done is there after one more loss of power.
        if way == RepairWay::Die {
            let cut = host.now;
            host.device.power_cut(cut);
            host.device.power_on(cut, false).unwrap();
            assert_eq!(host.device.member(2).unwrap().unreadable_sectors(), 0);
        }
    }
}

/// The member leaves during recovery: that ends, and a spare is rebuilt.
#[test]
fn a_member_may_fail_during_its_recovery() {
    for way in [RepairWay::Die, RepairWay::Assist] {
        let config = small(Level::Raid5, 4, by(way)).with_spares(2);
        let mut host = filled(config);
        fail(&mut host, 2, 0, &strided(0, 4, 16));
        for _ in 0..12 {
            tick(&mut host);
        }
        host.device.fail_member(host.now, 2).unwrap();
        host.drain();
        assert!(host.device.repairs()[0].abandoned);
        assert_eq!(*steps(&host).last().unwrap(), RepairStep::Abandoned);
        assert_eq!(host.device.status(host.now).state, ArrayHealth::Clean);
        assert_eq!(host.read_all(), NOTHING);
        scrub_is_clean(&mut host);
    }
}

/// An idle array that is advanced over years in one step hears a notice when it is told.
#[test]
fn a_notice_is_handled_on_an_idle_array() {
    let mut host = filled(small(Level::Raid5, 4, by(RepairWay::Die)));
    let at = host.now + Nanos::secs(3600);
    fail_at(&mut host, at, 3, NoticeKind::DieFailed { die: 0 }, &strided(0, 1, 50), &[]);
    let end = at + Nanos::secs(3600);
    assert_eq!(host.device.advance_to_completion(end, &mut Vec::new()), end);
    host.now = end;
    let repair = &host.device.repairs()[0];
    assert_eq!((repair.noticed_at, repair.started_at), (at, Some(at)));
    assert!(repair.finished_at.unwrap() < at + Nanos::millis(10));
    assert_eq!(host.read_all(), NOTHING);
}
