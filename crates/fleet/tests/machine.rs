//! Does a fleet do what its plan says?

use crate::support::{hourly, separate};
use outlast_fleet::crude::life;
use outlast_fleet::{
    AgeHazard, FailureBurst, FailureDomain, Fleet, FleetSettings, GroupCode, LossCause, NeighbourFailure,
    PieceOrder, RepairPolicy, RepairTimes,
};
use proptest::prelude::*;

const YEAR: f64 = 8760.0;

/// Sets that are lost, against published counts and by hand.
#[test]
fn codes_lose_what_they_should() {
    let azure = GroupCode::Lrc { data: 12, local: 2, global: 2 };
    assert_eq!((azure.pieces(), azure.survives()), (16, 3));
    // Any three; four spread over both local groups; four in one local group are lost.
    assert!(!azure.is_lost(0b111) && !azure.is_lost(0b0000_1100_0011) && azure.is_lost(0b1111));
    let lost = (0u64..1 << 16).filter(|set| set.count_ones() == 4 && azure.is_lost(*set)).count();
    // 86 % of four failures can be decoded (Huang et al., section 2.1.2).
    assert!((lost as f64 / 1820.0 - 0.14).abs() < 0.005, "{lost}");
    let product = GroupCode::Product { rows: 4, columns: 5, row_parity: 1, column_parity: 1 };
    assert_eq!((product.pieces(), product.survives()), (20, 3));
    // A rectangle is lost; as many pieces in one row and one column are not.
    assert!(
        product.is_lost(0b00011 | 0b00011 << 5) && !product.is_lost(0b01111) && !product.is_lost(0b11111)
    );
    assert!(
        GroupCode::Mds { data: 4, parity: 2 }.is_critical(0b11)
            && !GroupCode::Mds { data: 4, parity: 2 }.is_critical(0b1)
    );
    for wrong in [
        GroupCode::Mds { data: 0, parity: 2 },
        GroupCode::Mds { data: 60, parity: 5 },
        GroupCode::Lrc { data: 12, local: 5, global: 2 },
        GroupCode::Product { rows: 2, columns: 2, row_parity: 2, column_parity: 0 },
    ] {
        assert!(wrong.fault().is_some(), "{wrong:?}");
    }
}

/// Failures by age: each step of the table has its rate over the time that drives spend in it.
#[test]
fn drives_fail_by_their_age() {
    let hazard = AgeHazard { from: vec![0.0, YEAR, 4.0 * YEAR], rate: vec![4e-6, 1e-6, 1e-5] };
    let plan = FleetSettings { hazard, ..separate(20_000, 1, 1, 0.0, 1.0, true) };
    let fleet = Fleet::new(plan).unwrap();
    let tally = life(&fleet, 6.0 * YEAR, 1, 0).tally;
    // 40 000 drives, few of which are younger than the fleet.
    for (failures, rate, years, young) in [
        (tally.failures_by_age[0], 4e-6, 1.0, 0.30),
        (tally.failures_by_age[1], 1e-6, 3.0, 0.03),
        (tally.failures_by_age[2], 1e-5, 2.0, 0.25),
    ] {
        let expected = 40_000.0 * rate * years * YEAR;
        assert!((failures as f64 / expected - 1.0).abs() < young + 0.05, "{failures} {expected}");
    }
}

/// A burst in a node hits its drives with the probability given, and groups across nodes are lost by bursts in several only.
#[test]
fn bursts_fail_drives_of_one_node() {
    let burst = FailureBurst { scope: FailureDomain::Node, rate: 1e-4, probability: 0.5 };
    let mut plan = FleetSettings { bursts: vec![burst], ..separate(10, 2, 1, 0.0, 1e-3, true) };
    // Three nodes of ten drives; groups within a node.
    plan.node = (0..30).map(|drive| drive / 10).collect();
    let fleet = Fleet::new(plan.clone()).unwrap();
    let within = life(&fleet, 100.0 * YEAR, 1, 0);
    let expected = 30.0 * 1e-4 * 100.0 * YEAR * 0.5;
    assert!((within.tally.bursts[0] as f64 / expected - 1.0).abs() < 0.2, "{:?}", within.tally);
    assert!(!within.losses.is_empty() && within.losses.iter().all(|loss| loss.cause == LossCause::Burst(0)));
    // One piece in each node: a burst takes one at most.
    plan.groups = (0..10).flat_map(|i| [i, i + 10, i + 20]).collect();
    assert!(life(&Fleet::new(plan).unwrap(), 100.0 * YEAR, 1, 0).losses.is_empty());
}

/// Each failure brings another one in its node with probability 0.3: 1 / (1 − 0.3) in all, less those that are down.
#[test]
fn failures_bring_failures_of_neighbours() {
    let mut plan = separate(1000, 1, 1, hourly(0.02), 1e-3, true);
    plan.node = (0..2000).map(|drive| drive / 100).collect();
    plan.contagion = vec![NeighbourFailure { scope: FailureDomain::Node, probability: 0.3, window: 24.0 }];
    let tally = life(&Fleet::new(plan).unwrap(), 50.0 * YEAR, 1, 0).tally;
    let first: u64 = tally.failures_by_age.iter().sum();
    let share = tally.contagions as f64 / first as f64;
    assert!((share - 0.3 / 0.7).abs() < 0.05, "{share}");
}

/// Repair that waits for a second failure leaves groups degraded, and a drive that repairs dies by itself keeps its age.
#[test]
fn lazy_repair_waits_and_die_repair_hurries() {
    let plan = separate(200, 4, 2, hourly(0.05), 24.0, true);
    let hours =
        |plan: FleetSettings| life(&Fleet::new(plan).unwrap(), 10.0 * YEAR, 1, 0).tally.group_hours_degraded;
    let eager = hours(plan.clone());
    let lazy = RepairPolicy { threshold: 2, ..plan.repair };
    assert!(hours(FleetSettings { repair: lazy, ..plan.clone() }) > 50.0 * eager);
    let expected = 200.0 * 6.0 * 0.05 * 10.0 * 24.0;
    assert!((eager / expected - 1.0).abs() < 0.15, "{eager} {expected}");
    let repaired = hours(FleetSettings { die_share: 0.5, die_repair: Some(0.1), ..plan.clone() });
    assert!((repaired / eager - 0.5).abs() < 0.12, "{repaired} {eager}");
}

/// Of two drives with many pieces that share some, repair by exposure mends the shared ones first.
#[test]
fn pieces_that_miss_most_come_first() {
    // 40 drives, groups of three on drives at random: a drive has thirty pieces.
    let mut state = 1u64;
    let mut plan = separate(1, 1, 2, hourly(0.5), 0.0, true);
    plan.node = (0..40).collect();
    plan.rack = vec![0; 40];
    plan.groups = (0..400)
        .flat_map(|_| {
            let mut drives: Vec<u32> = Vec::new();
            while drives.len() < 3 {
                state = outlast_units::rng::mix(state);
                let drive = (state % 40) as u32;
                if !drives.contains(&drive) {
                    drives.push(drive);
                }
            }
            drives
        })
        .collect();
    let repair = RepairPolicy {
        detection: 1.0,
        rebuild: 100.0,
        distribution: RepairTimes::Fixed,
        order: PieceOrder::Turn,
        ..plan.repair
    };
    let lost = |order| {
        let plan = FleetSettings { repair: RepairPolicy { order, ..repair }, ..plan.clone() };
        life(&Fleet::new(plan).unwrap(), 400.0 * YEAR, 5, 0).losses.len()
    };
    let (together, turn, exposure) =
        (lost(PieceOrder::Together), lost(PieceOrder::Turn), lost(PieceOrder::Exposure));
    assert!(together > turn && turn > 2 * exposure, "{together} {turn} {exposure}");
}

/// Drives that are replaced before they wear out fail less.
#[test]
fn retirement_prevents_wear_out() {
    let hazard = AgeHazard { from: vec![0.0, 5.0 * YEAR], rate: vec![1e-7, 1e-4] };
    let plan = FleetSettings { hazard, ..separate(1000, 1, 1, 0.0, 24.0, true) };
    let run = |plan: FleetSettings| life(&Fleet::new(plan).unwrap(), 10.0 * YEAR, 1, 0).tally;
    let kept = run(plan.clone());
    let retired = run(FleetSettings { retire_at: Some(4.9 * YEAR), ..plan });
    assert!(kept.failures_by_age[1] > 1000 && retired.failures_by_age[1] == 0);
    assert!((3980..=4020).contains(&retired.retirements), "{retired:?}");
}

#[test]
fn plans_that_cannot_be_played_are_refused() {
    let plan = separate(2, 2, 1, 1e-6, 24.0, true);
    for (wrong, message) in [
        (FleetSettings { node: vec![9; 6], ..plan.clone() }, "is not listed"),
        (FleetSettings { groups: vec![0, 1], ..plan.clone() }, "lists of drives"),
        (FleetSettings { groups: vec![0, 0, 1, 2, 3, 4], ..plan.clone() }, "two pieces on drive 0"),
        (FleetSettings { age: vec![0.0; 2], ..plan.clone() }, "one for all drives"),
        (FleetSettings { die_share: 2.0, ..plan.clone() }, "from 0 to 1"),
        (FleetSettings { hazard: AgeHazard::constant(-1.0), ..plan.clone() }, "hazard"),
        (FleetSettings { repair: RepairPolicy { threshold: 2, ..plan.repair }, ..plan.clone() }, "threshold"),
    ] {
        let error = Fleet::new(wrong).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}

proptest! {
    /// Whatever happens, time adds up, and pieces that were rebuilt are no more than those that were missing.
    #[test]
    fn time_adds_up(
        groups in 1u32..20, data in 1u32..6, parity in 0u32..4, rate in 1e-7f64..1e-3, hours in 0.0f64..500.0,
        parallel in any::<bool>(), seed in any::<u64>(),
    ) {
        let plan = separate(groups, data, parity, rate, hours, parallel);
        let life = life(&Fleet::new(plan).unwrap(), YEAR, seed, 0);
        let total: f64 = life.tally.hours_at_level.iter().sum();
        prop_assert!((total / YEAR - 1.0).abs() < 1e-9);
        let failures: u64 = life.tally.failures_by_age.iter().sum();
        prop_assert!(life.tally.pieces_rebuilt <= failures);
        prop_assert!(failures - life.tally.pieces_rebuilt <= u64::from(groups * (data + parity)));
        prop_assert!(life.losses.windows(2).all(|pair| pair[0].at <= pair[1].at));
    }
}
