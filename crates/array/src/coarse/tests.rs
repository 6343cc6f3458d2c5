//! The paper's figures, and closed forms.

use super::*;

fn paper(percent: &[f64]) -> CoarseConfig {
    CoarseConfig {
        percent: percent.to_vec(),
        parities: 1,
        capacity: Bytes(80_000_000_000),
        limit: 10_000.0,
        amplification: 1.0,
        writes: WriteMap::uniform(0.0),
        shift: ShiftWay::Minimal,
        count_moves: false,
    }
}

/// UBER of D-MLC32-1 as a straight line of logarithms through Table 1's 4.40e-19 at 5K and 5.31e-13 at 10K: enough for orders of
/// magnitude.
fn d_mlc32_1(cycles: f64) -> f64 {
    let (low, high) = (4.40e-19f64.ln(), 5.31e-13f64.ln());
    low + (high - low) * (cycles - 5_000.0) / 5_000.0
}

fn sorted(ages: &[f64]) -> Vec<f64> {
    let mut ages = ages.to_vec();
    ages.sort_by(|a, b| b.total_cmp(a));
    ages
}

/// Figure 4: (80, 5, 5, 5, 5) converges to 5 750, 4 312.5, 2 875, 1 437.5 and a new one.
#[test]
fn ages_converge_to_the_papers() {
    let expected = [5_750.0, 4_312.5, 2_875.0, 1_437.5, 0.0];
    for (a, b) in convergent_ages(&[80.0, 5.0, 5.0, 5.0, 5.0], 1, 10_000.0).iter().zip(expected) {
        assert!((a - b).abs() < 1e-9, "{a} {b}");
    }
    let mut array = CoarseArray::new(paper(&[80.0, 5.0, 5.0, 5.0, 5.0])).unwrap();
    for _ in 0..200 {
        array.replace_next(0.0);
    }
    for (age, expected) in sorted(array.ages()).iter().zip(expected) {
        assert!((age - expected).abs() < 1e-6, "{:?}", array.ages());
    }
}

/// Figure 5: every assignment converges, and for RAID-4 the first rates are those of section 3.2.
#[test]
fn every_assignment_converges_to_the_closed_form() {
    for first in [30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 100.0] {
        let rest = (100.0 - first) / 4.0;
        let percent = [first, rest, rest, rest, rest];
        let mut array = CoarseArray::new(paper(&percent)).unwrap();
        for _ in 0..2_000 {
            array.replace_next(0.0);
        }
        for (age, expected) in sorted(array.ages()).iter().zip(convergent_ages(&percent, 1, 10_000.0)) {
            assert!((age - expected).abs() < 1e-3, "{first}: {:?}, expected {expected}", array.ages());
        }
    }
    let mut raid4 = CoarseArray::new(paper(&[100.0, 0.0, 0.0, 0.0, 0.0])).unwrap();
    let ages = raid4.replace_next(0.0).ages;
    assert!((ages[0] - 10_000.0).abs() < 1e-6 && ages[1..].iter().all(|age| (age - 2_500.0).abs() < 1e-6));
}

/// The future work of the paper: with two parities the same law holds.
#[test]
fn two_parities_converge_too() {
    let percent = [50.0, 20.0, 10.0, 10.0, 5.0, 5.0];
    let config = CoarseConfig { parities: 2, ..paper(&percent) };
    let mut array = CoarseArray::new(config).unwrap();
    for _ in 0..3_000 {
        array.replace_next(0.0);
    }
    for (age, expected) in sorted(array.ages()).iter().zip(convergent_ages(&percent, 2, 10_000.0)) {
        assert!((age - expected).abs() < 1e-3, "{:?}, expected {expected}", array.ages());
    }
}

/// Section 3.3: "the number of replacements over time does not depend on the parity assignment". Over long times, that is: every
/// write costs two cycles' worth of chunks, whoever pays.
#[test]
fn every_assignment_uses_as_many_devices() {
    for percent in [[100.0, 0.0, 0.0, 0.0, 0.0], [80.0, 5.0, 5.0, 5.0, 5.0], [20.0; 5]] {
        let mut array = CoarseArray::new(paper(&percent)).unwrap();
        for _ in 0..10_000 {
            array.replace_next(0.0);
        }
        // Each replacement is 10 000 cycles, and each capacity of host data costs two; at most four members' lives are under way.
        let replacements = array.host_capacities() * 2.0 / 10_000.0;
        assert!((replacements - 10_000.0).abs() <= 5.0, "{percent:?}: {replacements}");
    }
}

/// Minimal shifts move 75 % of the parity for (80, 5, 5, 5, 5), naive ones all of it.
#[test]
fn shifts_move_what_the_paper_says() {
    let mut array = CoarseArray::new(paper(&[80.0, 5.0, 5.0, 5.0, 5.0])).unwrap();
    array.replace_next(0.0);
    assert!((array.replace_next(0.0).parity_moved_percent - 75.0).abs() < 1e-9);
    let mut naive =
        CoarseArray::new(CoarseConfig { shift: ShiftWay::Naive, ..paper(&[70.0, 10.0, 10.0, 10.0]) })
            .unwrap();
    assert!((naive.replace_next(0.0).parity_moved_percent - 100.0).abs() < 1e-9);
    let mut minimal = CoarseArray::new(paper(&[70.0, 10.0, 10.0, 10.0])).unwrap();
    assert!(
        (minimal.replace_next(0.0).parity_moved_percent - 60.0).abs() < 1e-9,
        "the example of section 3.4"
    );
}

/// Figure 6: with (90, 2.5, …) the loss probability settles within two orders of magnitude, far below RAID-5's peaks; Figure 2:
/// RAID-5 climbs until all members reach their limit at once.
#[test]
fn loss_probability_settles_with_diff_raid_and_peaks_with_raid5() {
    let peaks = |percent: &[f64]| {
        let mut array = CoarseArray::new(paper(percent)).unwrap();
        let mut samples = Vec::new();
        array.run(40, 50, &d_mlc32_1, |sample| samples.push(sample.loss_oldest));
        let late = &samples[samples.len() / 2..];
        (late.iter().copied().fold(0.0, f64::max), late.iter().copied().fold(1.0, f64::min))
    };
    let (raid5, _) = peaks(&[20.0; 5]);
    let (diff, diff_low) = peaks(&[90.0, 2.5, 2.5, 2.5, 2.5]);
    assert!(raid5 > 0.5, "80 GB × 4 at 5.3e-13 per bit: loss is likely, {raid5}");
    assert!(diff < 1e-4 && diff_low > 1e-9 && diff < raid5 / 1000.0, "{diff_low} … {diff}");
    // More parity on one member, less loss (Figure 7).
    let by_first: Vec<f64> = [20.0, 40.0, 60.0, 80.0, 100.0]
        .map(|first: f64| {
            peaks(&[
                first,
                (100.0 - first) / 4.0,
                (100.0 - first) / 4.0,
                (100.0 - first) / 4.0,
                (100.0 - first) / 4.0,
            ])
            .0
        })
        .to_vec();
    assert!(by_first.windows(2).all(|pair| pair[1] < pair[0]), "{by_first:?}");
}

/// A bootstrapped array is in its steady state from the first replacement on; the flash wasted on it is a little over 14K cycles
/// (section 3.4).
#[test]
fn pre_worn_members_start_in_the_steady_state() {
    let percent = [80.0, 5.0, 5.0, 5.0, 5.0];
    let steady = convergent_ages(&percent, 1, 10_000.0);
    let wasted: f64 = steady.iter().sum();
    assert!((wasted - 14_375.0).abs() < 1e-6);
    let mut array = CoarseArray::new(paper(&percent)).unwrap().pre_worn(&steady);
    for _ in 0..20 {
        let replacement = array.replace_next(0.0);
        for (age, expected) in sorted(&replacement.ages)[1..].iter().zip(&steady) {
            assert!((age - expected).abs() < 1e-6, "{:?}", replacement.ages);
        }
    }
}

/// Section 6: a mirror of which one half is worn to 50 % stays so: each replacement finds the other at 50 %.
#[test]
fn a_pre_worn_mirror_keeps_its_distance() {
    let config = CoarseConfig { percent: vec![50.0, 50.0], ..paper(&[]) };
    let mut array = CoarseArray::new(config).unwrap().pre_worn(&[5_000.0, 0.0]);
    for step in 0..10 {
        let replacement = array.replace_next(0.0);
        assert_eq!(replacement.member, step % 2);
        assert!((sorted(&replacement.ages)[1] - 5_000.0).abs() < 1e-6);
    }
}

/// Whole stripes write every member alike: the more of them, the less differential.
#[test]
fn full_stripes_reduce_the_differential() {
    let spread = |full: f64| {
        let config = CoarseConfig { writes: WriteMap::uniform(full), ..paper(&[80.0, 5.0, 5.0, 5.0, 5.0]) };
        let rates = CoarseArray::new(config).unwrap().rates().to_vec();
        rates[0] / rates[1]
    };
    let ratio = (80.0 * 4.0 + 20.0) / (5.0 * 4.0 + 95.0);
    assert!((spread(0.0) - ratio).abs() < 1e-12, "Equation 1");
    assert!((spread(1.0) - 1.0).abs() < 1e-12);
    assert!(spread(0.3) < spread(0.1) && spread(0.1) < spread(0.0));
    let counted = WriteMap::counted(&[3; 80], &[0; 20], 4, 20);
    let config = CoarseConfig { writes: counted, ..paper(&[80.0, 5.0, 5.0, 5.0, 5.0]) };
    let rates = CoarseArray::new(config).unwrap().rates().to_vec();
    assert!((rates[0] / rates[1] - ratio).abs() < 1e-12);
}

#[test]
fn sets_are_enumerated_once_each() {
    let mut sets = Vec::new();
    for_each_set(6, 3, &mut |set| sets.push(set));
    assert_eq!(sets.len(), 20);
    assert!(sets.windows(2).all(|pair| pair[0] < pair[1]) && sets.iter().all(|set| set.count_ones() == 3));
}

#[test]
fn bad_settings_are_refused() {
    let refuse = |config: CoarseConfig| CoarseArray::new(config).unwrap_err().to_string();
    assert!(refuse(paper(&[50.0, 20.0, 20.0])).contains("must sum to 100, not 90"));
    assert!(refuse(CoarseConfig { parities: 2, ..paper(&[50.0, 50.0]) }).starts_with("array.members = 2"));
    assert!(refuse(CoarseConfig { limit: f64::NAN, ..paper(&[50.0, 50.0]) }).contains("must be above 0"));
}

#[test]
fn of_mirrored_pairs_only_the_partner_of_the_failed_member_counts() {
    let (ubers, ages) = ([-30.0, -25.0, -28.0, -20.0], [4.0, 1.0, 2.0, 3.0]);
    let member_bits = 1e9;
    let loss = loss_of_copies(&ubers, &ages, 2.0 * member_bits, &[0b0011, 0b1100], 1);
    let alone = |ln: f64| -(member_bits * (-ln.exp()).ln_1p()).exp_m1();
    // The other pair still has both copies: e^-48 a bit.
    assert!((loss.oldest / alone(-25.0) - 1.0).abs() < 1e-8, "{loss:?}");
    let any = ubers.iter().map(|&ln| alone(ln)).sum::<f64>() / 4.0;
    assert!((loss.any / any - 1.0).abs() < 1e-8, "{loss:?} {any}");
    // Copies on all neighbours, as `far` lays them out for three members: each survivor holds half of what the failed one held.
    let (ubers, ages) = ([-26.0, -25.0, -24.0], [3.0, 2.0, 1.0]);
    let loss = loss_of_copies(&ubers, &ages, 1.5 * member_bits, &[0b011, 0b110, 0b101], 1);
    let half = |ln: f64| 0.5 * member_bits * (-ln.exp()).ln_1p();
    let expected = -(half(-25.0) + half(-24.0)).exp_m1();
    assert!((loss.oldest / expected - 1.0).abs() < 1e-8);
}
