//! Do splitting, biased failures and counting find what exact chains say, from 1e-3 to 1e-17?

use crate::support::{hourly, separate};
use outlast_fleet::biasing::biasing;
use outlast_fleet::crude::life;
use outlast_fleet::splitting::{PathEffort, splitting};
use outlast_fleet::{FailureBurst, FailureDomain, Fleet, FleetSettings, LossCause};
use outlast_models::mttdl::ParityArray;

const YEAR: f64 = 8760.0;

fn exact_chain(plan: &FleetSettings, devices: u32, parities: u32) -> ParityArray {
    ParityArray {
        devices,
        parities,
        failure_rate: plan.hazard.rate[0],
        repair_rate: 1.0 / plan.repair.rebuild,
        parallel_repair: plan.repair.parallel,
        latent_rate: 0.0,
        scrub_rate: 0.0,
        read_failure: plan.read_failure,
    }
}

fn exact(plan: &FleetSettings, devices: u32, parities: u32) -> f64 {
    let array = exact_chain(plan, devices, parities);
    array.chain().and_then(|chain| chain.loss_by(YEAR, 1)).expect("a chain")[0]
}

fn effort(paths: u32) -> PathEffort {
    PathEffort { paths, years: 1, year_hours: YEAR, seed: 7 }
}

/// Data, parity, failures a year, hours, all at once, rounded expectation.
const CASES: [(u32, u32, f64, f64, bool, f64); 6] = [
    (6, 2, 0.1, 700.0, true, 1e-3),
    (4, 1, 0.01, 4.0, true, 1e-6),
    (6, 3, 0.01, 60.0, true, 1.6e-12),
    (6, 3, 0.01, 24.0, false, 6.29e-13),
    (1, 2, 0.01, 24.0, true, 2.28e-11),
    (10, 4, 0.01, 24.0, true, 5.75e-17),
];

/// Both methods within 10 %, and within their own intervals widened by half (ten intervals of 95 % are asked at once).
fn is_found_by_two_methods(case: usize) {
    let (data, parity, afr, hours, parallel, about) = CASES[case];
    let plan = separate(1, data, parity, hourly(afr), hours, parallel);
    let expected = exact(&plan, data + parity, parity);
    assert!((expected / about).ln().abs() < 0.3, "{expected:e} is not about {about:e}");
    let fleet = Fleet::new(plan).expect("a fleet");
    let methods =
        [("splitting", splitting(&fleet, &effort(6000))), ("biasing", biasing(&fleet, &effort(4000)))];
    for (method, rare) in methods {
        let found = rare.by_year[0];
        let off = found.mean / expected - 1.0;
        let half = 1.5 * (found.high - found.mean) / expected;
        assert!(off.abs() < 0.1 && off.abs() < half.max(0.01), "{method} {about:e}: {off:+.4} ±{half:.4}");
    }
}

#[test]
fn once_in_a_thousand_years_is_found() {
    is_found_by_two_methods(0);
}

#[test]
fn once_in_a_million_years_is_found() {
    is_found_by_two_methods(1);
}

#[test]
fn once_in_a_trillion_years_is_found() {
    is_found_by_two_methods(2);
}

#[test]
fn serial_repair_is_found() {
    is_found_by_two_methods(3);
}

#[test]
fn copies_are_found() {
    is_found_by_two_methods(4);
}

#[test]
fn seventeen_digits_are_found() {
    is_found_by_two_methods(5);
}

/// A loss of one group in ten years with 7 in 10: both methods say how likely the first one is, not how many there are.
#[test]
fn a_likely_loss_counts_once() {
    let plan = separate(1, 4, 2, hourly(0.4), 1500.0, true);
    let array = exact_chain(&plan, 6, 2);
    let expected = array.chain().and_then(|chain| chain.loss_by(YEAR, 10)).expect("a chain");
    assert!((0.65..0.75).contains(&expected[9]), "{expected:?}");
    let fleet = Fleet::new(plan).unwrap();
    let effort = PathEffort { years: 10, ..effort(1000) };
    for (method, rare) in [("splitting", splitting(&fleet, &effort)), ("biasing", biasing(&fleet, &effort))] {
        for (year, (found, expected)) in rare.by_year.iter().zip(&expected).enumerate() {
            // Twenty intervals of 95 % are asked at once.
            let half = 2.0 * (found.high - found.mean);
            let off = found.mean - expected;
            assert!(off.abs() < half && half < 0.1 * expected, "{method}, year {year}: {off:+} ±{half}");
        }
    }
}

/// Counting: what happens once in a thousand years of a group, and once in a million.
#[test]
fn counted_losses_are_as_many_as_chains_say() {
    for (plan, lives, devices) in [
        (separate(2000, 6, 2, hourly(0.1), 700.0, true), 10, 8),
        (separate(50_000, 1, 1, hourly(0.01), 48.0, true), 1000, 2),
    ] {
        let parities = plan.code.survives();
        let expected = exact(&plan, devices, parities);
        let fleet = Fleet::new(plan).unwrap();
        let mut count = 0.0;
        for number in 0..lives {
            // Of a group that loses data twice the first loss counts.
            let mut groups: Vec<u32> =
                life(&fleet, YEAR, 3, number).losses.iter().map(|loss| loss.group).collect();
            groups.sort_unstable();
            groups.dedup();
            count += groups.len() as f64;
        }
        let mean = expected * fleet.groups() as f64 * lives as f64;
        assert!(mean > 20.0 && (count - mean).abs() < 4.0 * mean.sqrt(), "{count} losses, {mean} expected");
    }
}

/// Unreadable data at the last repair: the chain has the same branch, and methods say what share of losses it causes.
#[test]
fn unreadable_data_cause_their_share_of_losses() {
    let plan = FleetSettings { read_failure: 1e-3, ..separate(1, 6, 2, hourly(0.01), 24.0, false) };
    let expected = exact(&plan, 8, 2);
    let without = exact(&FleetSettings { read_failure: 0.0, ..plan.clone() }, 8, 2);
    let fleet = Fleet::new(plan).unwrap();
    for rare in [splitting(&fleet, &effort(2000)), biasing(&fleet, &effort(500))] {
        let off = rare.by_year[0].mean / expected - 1.0;
        let unreadable: f64 = rare
            .causes
            .iter()
            .filter(|(cause, _)| *cause == LossCause::Unreadable)
            .map(|(_, share)| share)
            .sum();
        assert!(off.abs() < 0.1, "{off:+}");
        assert!(
            (unreadable - (1.0 - without / expected)).abs() < 0.05,
            "{unreadable} {}",
            1.0 - without / expected
        );
    }
}

/// Bursts that come once in a billion years, and hit each of eight drives with 0.4: three of them at once, by the binomial distribution.
#[test]
fn bursts_too_rare_to_be_met_are_weighed() {
    let mut plan = separate(1, 6, 2, 0.0, 24.0, true);
    plan.node = vec![0; 8];
    plan.rack = vec![0];
    plan.bursts = vec![FailureBurst { scope: FailureDomain::Node, rate: 1e-9 / YEAR, probability: 0.4 }];
    let choose = [1.0, 8.0, 28.0, 56.0, 70.0, 56.0, 28.0, 8.0, 1.0];
    let hits = (3..=8).map(|hits: u8| {
        choose[usize::from(hits)] * 0.4f64.powi(hits.into()) * 0.6f64.powi((8 - hits).into())
    });
    let expected = 1e-9 * hits.sum::<f64>();
    let fleet = Fleet::new(plan).unwrap();
    for rare in [splitting(&fleet, &effort(500)), biasing(&fleet, &effort(500))] {
        let off = rare.by_year[0].mean / expected - 1.0;
        assert!(off.abs() < 0.05, "{off:+}");
        assert_eq!(rare.causes.len(), 1);
    }
}

/// Losses by the end of each year grow as the chain's do.
#[test]
fn years_are_told_apart() {
    let plan = separate(1, 6, 3, hourly(0.01), 60.0, true);
    let fleet = Fleet::new(plan.clone()).unwrap();
    let rare = splitting(&fleet, &PathEffort { years: 4, ..effort(3000) });
    let array = exact(&plan, 9, 3);
    for (year, found) in rare.by_year.iter().enumerate() {
        // Nearly in proportion: loss is rare.
        let off = found.mean / (array * (year as f64 + 1.0)) - 1.0;
        assert!(off.abs() < 0.15, "year {year}: {off:+}");
    }
}

/// The same seed gives the same numbers, and another one others.
#[test]
fn numbers_repeat_by_seed() {
    let fleet = Fleet::new(separate(1, 4, 2, hourly(0.02), 48.0, true)).unwrap();
    let once = splitting(&fleet, &effort(100));
    assert_eq!(once, splitting(&fleet, &effort(100)));
    assert_ne!(once, splitting(&fleet, &PathEffort { seed: 8, ..effort(100) }));
    assert_eq!(life(&fleet, 1e6, 1, 2), life(&fleet, 1e6, 1, 2));
}
