//! Is data loss by a time, and of sets of nodes, that of published figures and of exact arithmetic?

use outlast_models::array_loss::{ln_any_failure, ln_data_loss_with_parity};
use outlast_models::chain::LossChain;
use outlast_models::mttdl::ParityArray;
use outlast_models::sets::NodesDown;
use proptest::prelude::*;

fn near(actual: f64, expected: f64, tolerance: f64) {
    assert!((actual / expected - 1.0).abs() <= tolerance, "{actual:e} not {expected:e}");
}

fn array(
    devices: u32,
    parities: u32,
    failure_rate: f64,
    repair_rate: f64,
    parallel_repair: bool,
) -> ParityArray {
    ParityArray {
        devices,
        parities,
        failure_rate,
        repair_rate,
        parallel_repair,
        latent_rate: 0.0,
        scrub_rate: 0.0,
        read_failure: 0.0,
    }
}

/// Ford et al., "Availability in Globally Distributed Storage Systems", OSDI 2010, from the rates that it prints (which are rounded: the
/// paper has 2.75e12 for four copies); one repair at a time, and all at once.
#[test]
fn copies_last_as_long_as_in_the_literature() {
    for (copies, serial, parallel) in
        [(2, 4.989_974e5, 4.989_974e5), (3, 1.349_986e9, 2.699_805e9), (4, 2.739_185e12, 1.643_376e13)]
    {
        for (is_parallel, days) in [(false, serial), (true, parallel)] {
            let chain = array(copies, copies - 1, 8.1345e-3, 66.013, is_parallel);
            near(chain.mean_time_to_data_loss().unwrap(), days, 3e-7);
        }
    }
}

/// Loss within a year of groups with 1 % failures a year, computed with 50 digits.
#[test]
fn groups_are_lost_within_a_year_as_exact_arithmetic_says() {
    let failure = -f64::ln_1p(-0.01) / 8760.0;
    for (devices, parities, hours, parallel, serial) in [
        (3, 2, 24.0, 2.276_391_845e-11, 4.546_458_572e-11),
        (9, 3, 24.0, 1.051_855_214e-13, 6.290_161_634e-13),
        (14, 4, 24.0, 5.747_545_284e-17, 1.371_840_524e-15),
        (8, 1, 24.0, 1.544_836_953e-5, 1.544_836_953e-5),
        (9, 3, 156.0, 2.803_819_658e-11, 1.644_955_223e-10),
    ] {
        for (is_parallel, expected) in [(true, parallel), (false, serial)] {
            let chain = array(devices, parities, failure, 1.0 / hours, is_parallel).chain().unwrap();
            near(chain.loss_by(8760.0, 1).unwrap()[0], expected, 4e-10);
            near(chain.loss_by(730.0, 12).unwrap()[11], expected, 4e-10);
        }
    }
}

/// Without repair a group is lost when more devices than parities have failed by then: a binomial tail.
#[test]
fn without_repair_loss_is_a_binomial_tail() {
    for (devices, parities, rate) in [(3u32, 0u32, 1e-3), (9, 3, 1e-6), (20, 3, 1e-2), (64, 20, 1e-12)] {
        let chain = array(devices, parities, rate, 0.0, false).chain().unwrap();
        let gone = -f64::exp_m1(-rate);
        let tail = ln_tail(devices, parities, gone);
        near(chain.loss_by(1.0, 1).unwrap()[0].ln(), tail, 1e-12);
    }
}

/// ln of the probability that more than `parities` of `devices` are gone.
fn ln_tail(devices: u32, parities: u32, gone: f64) -> f64 {
    let choose = |k: u32| (0..k).fold(1.0, |c, i| c * f64::from(devices - i) / f64::from(i + 1));
    (parities + 1..=devices)
        .map(|k| choose(k) * gone.powf(k.into()) * (1.0 - gone).powf((devices - k).into()))
        .sum::<f64>()
        .ln()
}

/// Stiff by ten orders of magnitude: repairs within seconds over ten years. Loss is nearly exponential then, by the mean time to it.
#[test]
fn repairs_in_seconds_keep_their_digits() {
    let chain = array(14, 2, 1e-6, 1e4, true).chain().unwrap();
    let mean = chain.mean_time_to_loss().unwrap();
    near(chain.loss_by(87_600.0, 1).unwrap()[0], 87_600.0 / mean, 1e-7);
}

/// Cidon et al., "Copysets", USENIX ATC 2013: nodes, down, size, survived, sets, percent of losses.
#[test]
fn sets_of_nodes_are_lost_as_often_as_copysets_says() {
    for (nodes, down, size, survives, sets, percent) in [
        (5000, 50, 3, 2, 1666.0, 0.156_709),
        (5000, 50, 3, 2, 1e5, 8.984_15),
        (5000, 50, 3, 2, 1e6, 60.990_5),
        (5000, 50, 3, 2, 1e7, 99.991_8),
        (1000, 10, 3, 2, 333.0, 0.024_045_2),
        (5000, 50, 14, 4, 357.0, 0.005_444_4),
        (5000, 50, 14, 4, 1e6, 14.145),
    ] {
        let nodes = NodesDown { nodes, down, size, survives };
        near(100.0 * nodes.ln_any_is_lost(sets).unwrap().exp(), percent, 1e-5);
    }
}

/// Counted: four nodes of eight down, in sets {0,1}, {2,3}, {4,5}, {6,7} that do not survive two.
#[test]
fn disjoint_sets_are_counted() {
    let pairs = NodesDown { nodes: 9, down: 4, size: 2, survives: 1 };
    let (mut lost, mut all) = (0u32, 0u32);
    for down in 0u32..1 << 9 {
        if down.count_ones() == 4 {
            all += 1;
            lost += u32::from((0..4).any(|pair| down >> (2 * pair) & 3 == 3));
        }
    }
    near(pairs.any_disjoint_is_lost(4).unwrap(), f64::from(lost) / f64::from(all), 1e-13);
    // One more down than there are sets is always fatal.
    near(NodesDown { nodes: 8, down: 5, ..pairs }.any_disjoint_is_lost(4).unwrap(), 1.0, 1e-13);
}

/// Backblaze's published calculation: 17 data and 3 parity, 0.405 % a year, 6.5 days to replace.
#[test]
fn backblaze_prints_eleven_nines() {
    let drive = (0.00405f64 * 156.0 / 8760.0).ln();
    let period = ln_data_loss_with_parity(&[drive; 20], 1.0, 1.0, 3).unwrap();
    let year = ln_any_failure(8760.0 / 156.0, period.exp()).unwrap().exp();
    near(period.exp(), 1.3098e-13, 4e-5);
    near(year, 7.3549e-12, 1e-5);
}

#[test]
fn what_has_no_answer_is_refused() {
    for (rates, loss) in
        [(vec![], vec![]), (vec![vec![0.0]], vec![-1.0]), (vec![vec![0.0, 1.0]], vec![1.0, 1.0])]
    {
        assert!(LossChain::new(rates, loss).is_err());
    }
    let chain = LossChain::new(vec![vec![0.0]], vec![1.0]).unwrap();
    assert!(chain.loss_by(-1.0, 1).is_err() && chain.loss_by(f64::INFINITY, 1).is_err());
    near(chain.loss_by(1e-3, 1).unwrap()[0], -f64::exp_m1(-1e-3), 1e-15);
    let nodes = NodesDown { nodes: 10, down: 3, size: 3, survives: 2 };
    assert!(NodesDown { down: 11, ..nodes }.set_is_lost().is_err());
    assert!(NodesDown { size: 11, ..nodes }.set_is_lost().is_err());
    assert!(NodesDown { survives: 3, ..nodes }.set_is_lost().is_err());
    assert!(nodes.any_disjoint_is_lost(4).is_err());
}

proptest! {
    /// Loss only becomes more probable: with time, and the same by many steps or few.
    #[test]
    fn loss_by_steps_is_loss_by_the_end(
        devices in 2u32..20, parities in 1u32..4, failure in 1e-9f64..1e-2, repair in 0.0f64..100.0,
        time in 0.1f64..1e4, steps in 2usize..20,
    ) {
        prop_assume!(parities < devices);
        let chain = array(devices, parities, failure, repair, true).chain().unwrap();
        let by_step = chain.loss_by(time / steps as f64, steps).unwrap();
        let at_once = chain.loss_by(time, 1).unwrap()[0];
        prop_assert!(by_step.windows(2).all(|pair| pair[0] <= pair[1]));
        prop_assert!((by_step[steps - 1] / at_once - 1.0).abs() < 1e-11, "{:e} {at_once:e}", by_step[steps - 1]);
    }
}
