//! When code of the user's says how fast members are rebuilt and repaired: is that how fast it goes?

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_array::{Array, PlainDevice};
use outlast_decisions::{RebuildRateQuestion, RepairWay};
use outlast_device::{Device, NoticeKind, Op};
use outlast_settings::array::{ArrayConfig, Level, PlainConfig};
use outlast_units::{ByteRate, Bytes, Nanos, SECTOR_BYTES};
use support::life::{Life, SECTORS, WAYS, at_rates, filled, life, pass, small, strided, tell_at, written};
use support::policies::{Log, paced};
use support::settings::ArraySettings;
use support::{Host, array, command};

const CHUNK: u64 = 4096;

/// Work of each kind is asked for no more often than the settings say.
fn asked_no_more_often_than(log: &Log<RebuildRateQuestion>, every: Nanos) {
    for kind in ["rebuild", "repair"] {
        let log = log.lock().unwrap();
        let times: Vec<Nanos> = log.iter().filter(|pace| pace.kind == kind).map(|pace| pace.now_ns).collect();
        assert!(times.windows(2).all(|two| two[1] - two[0] >= every), "{kind}: {times:?}");
    }
}

#[test]
fn a_policy_that_repeats_the_settings_changes_nothing() {
    let rate = 3_000_000;
    for way in WAYS {
        let setting = at_rates(way, rate, rate);
        let (mut own, log) = paced(&at_rates(way, 1, 1000), move |_, _| Ok(Some(rate as f64)));
        own.background.own = Some(Nanos::micros(700));
        let uneven = at_rates(way, 1_000_000, 20_000_000);
        let (silent, _) = paced(&uneven, |_, _| Ok(None));
        for seed in 0..6 {
            log.lock().unwrap().clear();
            let done = life(&own, seed);
            assert_eq!(done.deeds(), life(&setting, seed).deeds(), "{way:?} {seed}");
            assert!(done.host.device.policy_failure().is_none());
            asked_no_more_often_than(&log, Nanos::micros(700));
            assert!(log.lock().unwrap().len() > 10, "it was asked");
            assert_eq!(life(&silent, seed).deeds(), life(&uneven, seed).deeds(), "{way:?} {seed}");
        }
    }
}

/// RAID-4 whose parity is lost, wholly or with a die: what the host reads has nothing to do with it.
fn parity_lost(way: Option<RepairWay>, config: &ArrayConfig) -> Host<Array<PlainDevice>> {
    let device = |seed| {
        let config = PlainConfig {
            read_latency: Nanos::micros(20),
            bytes: true,
            ..PlainConfig::new(Bytes(SECTORS * SECTOR_BYTES))
        };
        PlainDevice::new(config, seed).unwrap()
    };
    let devices = (0..u64::from(config.devices())).map(device).collect();
    let mut host = filled(Array::new(config.clone(), devices, true).unwrap());
    let now = host.now;
    if way.is_none() {
        host.device.replace(now, 3, device(99), false).unwrap();
    } else {
        tell_at(&mut host, now, 3, NoticeKind::DieFailed { die: 1 }, &strided(0, 8, 16));
    }
    host
}

/// Twice as much at once is never begun: the rate of the last answer holds until the next one, which comes in time.
#[test]
fn the_rate_is_followed_as_it_changes() {
    let (slow, fast) = (100_000.0, 5_000_000.0);
    for way in [None, Some(RepairWay::Die), Some(RepairWay::Rebuild)] {
        let spares = u16::from(way == Some(RepairWay::Rebuild));
        let config = small(Level::Raid4, 4, way.unwrap_or_default()).with_spares(spares);
        let rate = move |pace: &RebuildRateQuestion| if pace.host_active == 1 { slow } else { fast };
        let (mut config, log) = paced(&config, move |pace, _| Ok(Some(rate(pace))));
        let every = Nanos::millis(2);
        config.background.own = Some(every);
        let mut host = parity_lost(way, &config);
        let begun = host.now;
        let read = |host: &Host<Array<PlainDevice>>| match way {
            None => host.device.counters().rebuild_sectors_read * SECTOR_BYTES / 3,
            Some(_) => host.device.repairs().iter().map(|repair| repair.bytes_read_from_peers.0 / 3).sum(),
        };
        // Bytes that had been begun when each answer was given, and at the end.
        let mut at_answer: Vec<u64> = Vec::new();
        while let Some(at) = host.device.next_deadline() {
            let before = read(&host);
            pass(&mut host, at);
            at_answer.resize(log.lock().unwrap().len(), before);
            // For 10 ms it reads one sector after another, and then it rests as long.
            let active = (host.now - begun).0 / Nanos::millis(10).0 % 2 == 1;
            if active && host.in_flight() == 0 && host.device.is_rebuilding() {
                host.submit(command(Op::Read, 0, 1));
            }
        }
        at_answer.push(read(&host));
        let log = log.lock().unwrap();
        assert!(log.len() > 10, "{way:?}: {log:?}");
        let (mut actives, mut most) = (0, 0);
        for (answer, bytes) in log.windows(2).zip(at_answer.windows(2)) {
            let span = (answer[1].now_ns - answer[0].now_ns).as_secs_f64();
            let begun = bytes[1] - bytes[0];
            let allowed = rate(&answer[0]) * span + CHUNK as f64;
            assert!(begun as f64 <= allowed, "{way:?}: {begun} bytes in {span} s after {:?}", answer[0]);
            actives += answer[0].host_active;
            most = most.max(begun);
            assert!(answer[1].now_ns - answer[0].now_ns >= every);
        }
        assert!(actives > 1 && most >= CHUNK * 2, "{way:?}: {actives} {most} {log:?}");
    }
}

/// However little may be done: the next question comes in time, no sooner, and nothing else happens until then.
#[test]
fn a_group_that_waits_is_woken_by_the_next_question() {
    for way in [None, Some(RepairWay::Die)] {
        let config = small(Level::Raid4, 4, RepairWay::Die);
        let (config, log) = paced(&config, |_, had| Ok(Some(if had <= 100 { 1.0 } else { 1e12 })));
        let mut host = parity_lost(way, &config);
        let mut events = 0;
        while let Some(at) = host.device.next_deadline() {
            pass(&mut host, at);
            events += 1;
        }
        let log = log.lock().unwrap();
        let times: Vec<Nanos> = log.iter().map(|pace| pace.now_ns).collect();
        // By itself it is asked every 10 ms.
        assert!(times[..101].windows(2).all(|two| two[1] - two[0] == Nanos::millis(10)), "{times:?}");
        assert!(times[100] + Nanos::millis(20) > host.now, "the rest is done at once: {}", host.now);
        assert!(events < 100 + 1000, "{events}");
        let first = log[0];
        let (kind, total) = if way.is_none() { ("rebuild", SECTORS / 8) } else { ("repair", 4) };
        assert_eq!((first.kind, first.total, first.missing), (kind, total, u32::from(way.is_none())));
        assert!(first.done < total && log[100].done >= first.done);
        assert_eq!((first.host_active, first.under_way), (0, 0));
        assert_eq!(host.read_all(), [0; 0]);
    }
}

/// An answer holds over a snapshot, and in a fork.
#[test]
fn a_pace_goes_on_after_reading_and_in_a_fork() {
    for way in WAYS {
        let (mut config, _) = paced(&at_rates(way, 1, 1), |pace, _| {
            Ok(Some(if pace.host_active == 1 { 1e6 } else { 2e6 + pace.done as f64 * 1e5 }))
        });
        config.background.own = Some(Nanos::micros(300));
        for seed in 0..6 {
            let mut lives = [Life::new(&config, seed), Life::new(&config, seed), Life::new(&config, seed)];
            for _ in 0..6 {
                for life in &mut lives {
                    life.go_on(80);
                }
                lives[1].is_written_and_read();
                lives[2] = lives[2].clone();
            }
            for life in &mut lives {
                life.host.drain();
            }
            assert_eq!(lives[0].deeds(), lives[1].deeds(), "{way:?} {seed}");
            assert_eq!(lives[0].deeds(), lives[2].deeds(), "{way:?} {seed}");
            assert!(written(&lives[0].host.device) == written(&lives[1].host.device));
        }
    }
}

/// A share of the link, and time of the processor for each run: the code's rate takes the place of the share.
#[test]
fn the_rate_takes_the_place_of_the_share() {
    let linked = |seed| {
        let config = PlainConfig {
            read_latency: Nanos::micros(20),
            write_rate: ByteRate::new(100_000_000),
            bytes: true,
            ..PlainConfig::new(Bytes(SECTORS * SECTOR_BYTES))
        };
        PlainDevice::new(config, seed).unwrap()
    };
    let took = |config: &ArrayConfig| {
        let devices = (0..u64::from(config.devices())).map(linked).collect();
        let mut host = filled(Array::new(config.clone(), devices, true).unwrap());
        let now = host.now;
        tell_at(&mut host, now, 1, NoticeKind::DieFailed { die: 1 }, &strided(0, 8, 16));
        host.drain();
        let repair = &host.device.repairs()[0];
        repair.finished_at.unwrap() - repair.started_at.unwrap()
    };
    for way in WAYS {
        let mut config = small(Level::Raid5, 4, way).with_spares(1);
        config.repair.run_cost = Nanos::micros(50);
        config.repair.share = Some(0.1);
        let tenth = took(&config);
        let (same, _) = paced(&config, |_, _| Ok(Some(10e6)));
        assert_eq!(took(&same), tenth, "{way:?}");
        // Four times it may hardly go on; then the share holds.
        let (slow, _) = paced(&config, |_, had| Ok((had <= 4).then_some(1.0)));
        let longer = took(&slow) - tenth;
        assert!((Nanos::millis(39)..Nanos::millis(40)).contains(&longer), "{way:?}: {longer}");
    }
}

#[test]
fn the_interval_between_questions_is_checked() {
    let mut config = small(Level::Raid5, 4, RepairWay::Die);
    for (own, fine) in [(10_000, true), (9_999, false), (3_600_000_000_000, true), (3_600_000_000_001, false)]
    {
        config.background.own = Some(Nanos(own));
        let refused = config.validate().err().map(|error| error.to_string());
        let expected = format!("array.background.own = {}: must be between 10us and 1h", Nanos(own));
        assert_eq!(refused, (!fine).then_some(expected));
    }
    config.background.own = Some(Nanos::millis(1));
    assert!(!array(config.clone(), SECTORS).has_policy_failed(), "without code it says nothing");
}
