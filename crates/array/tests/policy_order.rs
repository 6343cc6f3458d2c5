//! When code of the user's says which lost rows are recovered first: are they?

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_array::{Array, PlainDevice};
use outlast_decisions::{LostRows, RepairWay};
use outlast_device::Device;
use outlast_settings::array::{ArrayConfig, Level, RepairOrder};
use outlast_units::Nanos;
use support::life::{Life, SECTORS, failed, filled, life, pass, small, strided, tell_at, written};
use support::policies::{decided, ordered};
use support::settings::ArraySettings;
use support::{Host, array};

/// RAID-6 of which rows are recovered one run after another.
fn one_by_one() -> ArrayConfig {
    let mut config = small(Level::Raid6, 6, RepairWay::Die);
    config.background.window = 1;
    config
}

/// Runs of `of` sectors of member `member` in the order in which they can be read again.
fn recovered(host: &mut Host<Array<PlainDevice>>, member: usize, of: u64) -> Vec<u64> {
    let lost = |host: &Host<Array<PlainDevice>>| {
        let device = host.device.member(member).unwrap();
        (0..SECTORS).step_by(of as usize).filter(|&sector| device.is_unreadable(sector)).collect::<Vec<_>>()
    };
    let (mut order, mut left) = (Vec::new(), lost(host));
    while let Some(at) = host.device.next_deadline() {
        pass(host, at);
        let now = lost(host);
        order.extend(left.iter().filter(|sector| !now.contains(sector)));
        left = now;
    }
    order
}

#[test]
fn exposure_as_code_is_exposure_as_setting() {
    for level in [Level::Raid5, Level::Raid6, Level::Raid10] {
        let address = small(level, 6, RepairWay::Die).with_spares(1);
        let mut setting = address.clone();
        setting.repair.order = RepairOrder::Exposure;
        let (own, log) =
            ordered(&address, |rows, _| Ok(rows.exposure.iter().map(|&others| -f64::from(others)).collect()));
        for seed in 0..6 {
            let (done, expected) = (life(&own, seed), life(&setting, seed));
            assert_eq!(done.deeds(), expected.deeds(), "{level:?} {seed}");
            assert!(written(&done.host.device) == written(&expected.host.device));
            assert!(done.host.device.policy_failure().is_none());
        }
        let log = log.lock().unwrap();
        assert!(log.iter().any(|rows| rows.exposure.iter().any(|&others| others > 0)), "{level:?}");
    }
}

#[test]
fn rows_are_recovered_in_the_order_of_their_scores() {
    let (config, _) = ordered(&one_by_one(), |rows, _| {
        // The last first; of the first five runs all alike, and before everything else.
        let score = |&sector: &u64| if sector < 80 { f64::NEG_INFINITY } else { -(sector as f64) };
        Ok(rows.sector.iter().map(score).collect())
    });
    let mut host = filled(array(config, SECTORS));
    let now = host.now;
    tell_at(&mut host, now, 2, failed(1), &strided(0, 8, 16));
    let order = recovered(&mut host, 2, 16);
    let expected: Vec<u64> = (0..5).chain((5..25).rev()).map(|run| run * 16).collect();
    assert_eq!(order, expected);
    assert_eq!(host.read_all(), [0; 0]);
}

#[test]
fn the_policy_sees_every_property_of_the_rows() {
    let (config, log) = ordered(&one_by_one(), |rows, _| Ok(vec![0.0; rows.len()]));
    let mut host = filled(array(config, SECTORS));
    let now = host.now;
    tell_at(&mut host, now + Nanos(1), 1, failed(0), &(320..400).collect::<Vec<u64>>());
    tell_at(&mut host, now + Nanos(2), 0, failed(0), &strided(2, 4, 16));
    host.drain();
    let log = log.lock().unwrap();
    let rows = |member| log.iter().rfind(|rows: &&LostRows| rows.member == member).unwrap();
    // When the other has told, too, the first of its rows are under way.
    assert_eq!(log[0].sector, (40..50).map(|run| run * 8).collect::<Vec<u64>>());
    let other = rows(0);
    assert_eq!(other.sector, (0..25).map(|run| run * 16 + 2).collect::<Vec<u64>>());
    assert!(
        other.sectors.iter().all(|&sectors| sectors == 4) && other.readable.iter().all(|&readable| !readable)
    );
    let exposed: Vec<u64> = other
        .sector
        .iter()
        .zip(&other.exposure)
        .filter(|(_, others)| **others == 1)
        .map(|(&at, _)| at)
        .collect();
    assert!(exposed.iter().all(|&sector| sector >= 320) && exposed.len() >= 4, "{other:?}");
}

#[test]
fn rows_are_ordered_only_for_members_that_stay() {
    let (config, _) = ordered(&small(Level::Raid5, 4, RepairWay::Rebuild), |_, _| Ok(Vec::new()));
    let refused = config.validate().unwrap_err().to_string();
    assert_eq!(refused, "array.repair.way = rebuild: must be die where policies.repair_order is given");
    // Nor may other code say that one leaves.
    let config = small(Level::Raid5, 4, RepairWay::Die).with_spares(1);
    let (config, _) =
        decided(&config, |_, _| Ok(Some(outlast_decisions::RepairDecision::Now(RepairWay::Assist))));
    let (config, _) = ordered(&config, |rows, _| Ok(vec![0.0; rows.len()]));
    let mut host = filled(array(config, SECTORS));
    let at = host.now + Nanos(1);
    tell_at(&mut host, at, 1, failed(1), &strided(0, 8, 16));
    host.drain();
    let failure = host.device.policy_failure().unwrap().to_string();
    assert!(
        failure.contains("returned assist, and with array.repair.order = exposure or policies.repair_order")
    );
    assert_eq!(host.device.repairs()[0].way, RepairWay::Die);
    assert_eq!(host.read_all(), [0; 0]);
}

/// A fork copies the state of user code; a restored array starts with new state.
#[test]
fn forks_and_restored_arrays_continue_alike() {
    let config = small(Level::Raid6, 5, RepairWay::Die).with_spares(1);
    let turned =
        |rows: &LostRows, turn: u64| Ok(rows.sector.iter().map(|at| (at ^ turn << 3) as f64).collect());
    let (by_count, _) = ordered(&config, move |rows, had| turned(rows, had.into()));
    let (by_rows, _) = ordered(&config, move |rows, _| turned(rows, rows.len() as u64));
    for seed in 0..6 {
        let mut forked = Life::new(&by_count, seed);
        let mut lives = [Life::new(&by_rows, seed), Life::new(&by_rows, seed)];
        for _ in 0..5 {
            for life in &mut lives {
                life.go_on(80);
            }
            lives[1].is_written_and_read();
            forked.go_on(80);
            let mut fork = forked.clone();
            fork.go_on(80);
            forked.go_on(80);
            assert_eq!(fork.deeds(), forked.deeds());
        }
        assert_eq!(lives[0].deeds(), lives[1].deeds());
        assert!(written(&lives[0].host.device) == written(&lives[1].host.device));
    }
}
