//! When code of the user's does what it must not: is that told in one line, and does the array go on as the settings say?

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_decisions::{DieRepairQuestion, LostRows, RebuildRateQuestion, RepairDecision, RepairWay};
use outlast_settings::array::{Level, RepairOrder};
use outlast_units::Nanos;
use support::array;
use support::life::{Life, SECTORS, WAYS, at_rates, failed, filled, life, small, strided, tell_at, written};
use support::policies::{PolicyReply, Scores, decided, made, ordered, paced};
use support::settings::ArraySettings;

#[test]
fn an_invalid_repair_decision_leaves_it_to_the_settings() {
    type Nonsense = fn() -> PolicyReply<DieRepairQuestion>;
    let cases: [(Nonsense, &str); 4] = [
        (|| Err("ZeroDivisionError".to_owned()), "ZeroDivisionError; it saw now_ns = "),
        (
            || Ok(Some(RepairDecision::Later(Nanos::ZERO))),
            "put the repair off for 0ns, which must be above 0",
        ),
        (
            || Ok(Some(RepairDecision::Later(Nanos::secs(3_600_001)))),
            "put the repair off for 3600001s, which must be above 0 and at most 1000h; it saw now_ns = ",
        ),
        (|| Ok(Some(RepairDecision::Now(RepairWay::Assist))), "returned assist, and with array.repair.order"),
    ];
    for (nonsense, told) in cases {
        let mut setting = small(Level::Raid5, 4, RepairWay::Die).with_spares(1);
        setting.repair.order = RepairOrder::Exposure;
        let (config, log) = decided(&setting, move |_, _| nonsense());
        for seed in 0..3 {
            log.lock().unwrap().clear();
            let own = life(&config, seed);
            assert_eq!(own.deeds(), life(&setting, seed).deeds(), "{told}");
            let failure = own.host.device.policy_failure().unwrap().to_string();
            assert!(failure.starts_with(&format!("policies.repair = mine: {told}")), "{failure}");
            assert_eq!(failure.lines().count(), 1);
            assert!(own.host.device.has_policy_failed());
            assert_eq!(log.lock().unwrap().len(), 1, "it is not asked again");
        }
    }
    let mut broken = small(Level::Raid5, 4, RepairWay::Die);
    broken.own.repair = Some(made(|| Err("no module".to_owned())));
    let array = array(broken, SECTORS);
    assert_eq!(array.policy_failure().unwrap().to_string(), "policies.repair = mine: no module");
}

/// A repair that was deferred when user code failed is done at once, as the settings say.
#[test]
fn a_waiting_repair_follows_the_settings_once_user_code_has_failed() {
    let config = small(Level::Raid5, 4, RepairWay::Die);
    let (config, _) = decided(&config, |failure, _| match failure.die {
        1 => Ok(Some(RepairDecision::Later(Nanos::secs(3600)))),
        _ => Err("of no use".to_owned()),
    });
    let mut host = filled(array(config, SECTORS));
    let at = host.now + Nanos::millis(1);
    tell_at(&mut host, at, 1, failed(1), &strided(0, 4, 16));
    tell_at(&mut host, at + Nanos::millis(1), 3, failed(2), &strided(8, 4, 16));
    host.drain();
    let started: Vec<_> = host.device.repairs().iter().map(|repair| repair.started_at.unwrap()).collect();
    assert_eq!(started, [at + Nanos::millis(1); 2]);
    assert_eq!(host.read_all(), [0; 0]);
}

#[test]
fn an_invalid_rate_leaves_it_to_the_settings() {
    type Nonsense = fn() -> PolicyReply<RebuildRateQuestion>;
    let cases: [(Nonsense, &str); 6] = [
        (|| Err("KeyError: 'x'".to_owned()), "KeyError: 'x'; it saw now_ns = "),
        (|| Ok(Some(f64::NAN)), "returned NaN bytes a second, which must be at least 1 and finite; it saw"),
        (|| Ok(Some(f64::INFINITY)), "returned inf bytes"),
        (|| Ok(Some(0.0)), "returned 0 bytes"),
        (|| Ok(Some(-1e9)), "returned -1000000000 bytes"),
        (|| Ok(Some(0.999)), "returned 0.999 bytes"),
    ];
    for (index, (nonsense, told)) in cases.into_iter().enumerate() {
        let setting = at_rates(WAYS[index % 3], 2_000_000, 10_000_000);
        let (own, log) = paced(&setting, move |_, _| nonsense());
        let done = life(&own, 5);
        assert_eq!(done.deeds(), life(&setting, 5).deeds());
        let failure = done.host.device.policy_failure().unwrap().to_string();
        assert!(failure.starts_with(&format!("policies.rebuild = mine: {told}")), "{failure}");
        assert_eq!((failure.lines().count(), log.lock().unwrap().len()), (1, 1));
    }
}

#[test]
fn an_invalid_order_leaves_it_to_the_settings() {
    type Nonsense = fn(&LostRows) -> Scores;
    let cases: [(Nonsense, &str); 4] = [
        (|_| Err("IndexError".to_owned()), "IndexError; it saw "),
        (|_| Ok(Vec::new()), "returned 0 scores for "),
        (|rows| Ok(vec![0.0; rows.len() + 1]), "returned "),
        (
            |rows| Ok((0..rows.len()).map(|row| if row == 2 { f64::NAN } else { 0.0 }).collect()),
            "returned NaN as the score of row 2",
        ),
    ];
    for (nonsense, told) in cases {
        for order in [RepairOrder::Exposure, RepairOrder::Address] {
            let mut setting = small(Level::Raid6, 5, RepairWay::Die).with_spares(1);
            setting.repair.order = order;
            let (own, log) = ordered(&setting, move |rows, _| nonsense(rows));
            for seed in 0..4 {
                log.lock().unwrap().clear();
                let done = life(&own, seed);
                let failure = done.host.device.policy_failure().unwrap().to_string();
                assert!(failure.starts_with(&format!("policies.repair_order = mine: {told}")), "{failure}");
                assert_eq!(failure.lines().count(), 1);
                let fails = |rows: &&LostRows| !told.ends_with("row 2") || rows.len() > 2;
                let times = log.lock().unwrap().iter().filter(fails).count();
                assert_eq!(times, 1, "it is not asked again");
                let expected = life(&setting, seed);
                assert_eq!(unfinished(&done), unfinished(&expected));
                // By address, all that is lost was asked for first up to the failure.
                if order == RepairOrder::Exposure {
                    assert_eq!(done.deeds(), expected.deeds(), "{told} {seed}");
                    assert!(written(&done.host.device) == written(&expected.host.device));
                }
            }
        }
    }
}

/// Repairs that have not come to an end: they wait for a spare, or their member has gone with too many others.
fn unfinished(life: &Life) -> usize {
    life.host.device.repairs().iter().filter(|repair| repair.finished_at.is_none()).count()
}
