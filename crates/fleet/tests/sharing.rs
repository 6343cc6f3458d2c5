//! Do rebuilds that share bandwidth or wait for one crew take as long as queues say, in whole fleets and in one group of them?

use crate::support::separate;
use outlast_fleet::crude::{counted_life, life};
use outlast_fleet::splitting::{PathEffort, splitting_while};
use outlast_fleet::{Fleet, FleetSettings, PieceOrder, RebuildOverlap, RepairTimes, SharedBandwidth};

const YEAR: f64 = 8760.0;
const HOURS: f64 = 100.0;
const DRIVES: u32 = 1000;

/// A ring of drives, each with a copy of what is on the one before it and on the one after it; rebuilds keep the fleet busy for the share `load`.
fn ring(load: f64, parallel: bool, sharing: Option<SharedBandwidth>) -> FleetSettings {
    let mut plan = separate(1, 1, 1, load / HOURS / f64::from(DRIVES), HOURS, parallel);
    plan.node = (0..DRIVES).collect();
    plan.rack = vec![0; DRIVES as usize];
    plan.groups = (0..DRIVES).flat_map(|drive| [drive, (drive + 1) % DRIVES]).collect();
    plan.repair.distribution = RepairTimes::Fixed;
    plan.repair.sharing = sharing;
    plan.overlap = Some(RebuildOverlap { own: [1.0; 3], other: [1.0; 3] });
    plan
}

/// Mean hours from a failure to the end of its rebuild: of two groups for each drive.
fn hours_of_rebuild(fleet: &Fleet, hours: f64, pieces: f64) -> f64 {
    let tally = life(fleet, hours, 1, 0).tally;
    tally.group_hours_degraded / pieces / tally.failures_by_age[0] as f64
}

fn is_as_long_as(plan: &FleetSettings, expected: f64) {
    let whole = Fleet::new(plan.clone()).unwrap();
    let found = hours_of_rebuild(&whole, 4000.0 * YEAR, 2.0);
    assert!((found / expected - 1.0).abs() < 0.05, "fleet: {found} {expected}");
    // One of its groups meets the rebuilds of the others.
    let found = hours_of_rebuild(&whole.one_group(17).unwrap(), 2e6 * YEAR, 1.0);
    assert!((found / expected - 1.0).abs() < 0.05, "group: {found} {expected}");
}

/// One crew and rebuilds of one length: half a load of waiting (Pollaczek and Khinchine).
#[test]
fn a_crew_of_the_fleet_is_waited_for() {
    for load in [0.2f64, 0.6] {
        is_as_long_as(&ring(load, false, None), HOURS * (1.0 + load / (2.0 * (1.0 - load))));
    }
    let mut plan = ring(0.5, false, None);
    plan.repair.distribution = RepairTimes::Exponential;
    is_as_long_as(&plan, HOURS * 2.0);
}

/// Bandwidth that all share: `T / (1 − load)`, whatever the lengths are (processor sharing).
#[test]
fn bandwidth_is_shared() {
    let sharing = SharedBandwidth { parts: [1.0, 0.0, 0.0], is_spread: true };
    for load in [0.2f64, 0.6] {
        is_as_long_as(&ring(load, true, Some(sharing)), HOURS / (1.0 - load));
    }
    // A resource that limits no rebuild by itself, and two at once: one and a half times as long beside each other.
    let half = SharedBandwidth { parts: [0.75, 0.0, 1e-3], ..sharing };
    let alone = hours_of_rebuild(&Fleet::new(ring(1e-3, true, Some(half))).unwrap(), 4000.0 * YEAR, 2.0);
    assert!((alone / HOURS - 1.0).abs() < 0.01, "{alone}");
}

/// A drive of its own shares the network of its node and rack only.
#[test]
fn nodes_and_racks_are_shared_by_their_own_drives() {
    let sharing = SharedBandwidth { parts: [0.0, 1.0, 0.0], is_spread: false };
    let mut plan = ring(0.5, true, Some(sharing));
    plan.overlap = None;
    // Each in a node of its own: nothing is shared. All in one: all is.
    is_as_long_as(&plan, HOURS);
    plan.node = vec![0; DRIVES as usize];
    plan.rack = vec![0];
    is_as_long_as(&plan, HOURS / 0.5);
    // Ten nodes, each with a tenth of the load.
    plan.node = (0..DRIVES).map(|drive| drive % 10).collect();
    plan.rack = (0..10).map(|node| node / 5).collect();
    plan.site = vec![0; 2];
    is_as_long_as(&plan, HOURS / 0.95);
    // Two racks with a half of it each.
    plan.repair.sharing = Some(SharedBandwidth { parts: [0.0, 0.0, 1.0], is_spread: false });
    is_as_long_as(&plan, HOURS / 0.75);
}

/// Groups lost in whole fleets, and found in single groups that meet the rebuilds of others.
#[test]
fn one_group_is_lost_as_often_as_each_of_a_fleet() {
    let sharing = SharedBandwidth { parts: [1.0, 0.0, 0.0], is_spread: true };
    for (parallel, sharing) in [(false, None), (true, Some(sharing))] {
        let mut plan = ring(0.5, parallel, sharing);
        plan.repair.order = PieceOrder::Together;
        let fleet = Fleet::new(plan).unwrap();
        let (mut lost, lives) = (0, 1200);
        for number in 0..lives {
            let count = counted_life(&fleet, 5, YEAR, 9, number, |_| true).unwrap();
            lost += count.groups_lost.iter().sum::<u64>();
        }
        let counted = lost as f64 / lives as f64 / fleet.groups() as f64;
        let alone: Vec<Fleet> = (0..10).map(|group| fleet.one_group(100 * group).unwrap()).collect();
        let effort = PathEffort { paths: 2000, years: 5, year_hours: YEAR, seed: 3 };
        let found = splitting_while(&alone, &effort, |_| true).unwrap().by_year[4];
        let (chance, half) = (1.0 / (lost as f64).sqrt(), (found.high - found.mean) / found.mean);
        assert!(lost > 200 && half < 0.1, "{lost} {half}");
        assert!((found.mean / counted - 1.0).abs() < 3.0 * chance + half, "{} {counted}", found.mean);
    }
}
