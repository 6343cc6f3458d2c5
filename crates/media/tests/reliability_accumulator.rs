//! Does a sum of probabilities lose nothing, however many and however small?

use outlast_media::reliability::ProbabilitySum;
use proptest::prelude::*;

#[test]
fn small_terms_beside_large_ones_are_kept() {
    let mut sum = ProbabilitySum::new();
    let tiny = 2f64.powi(-60);
    for _ in 0..1_000_000 {
        sum.add(tiny);
    }
    sum.add(1.0);
    for _ in 0..1_000_000 {
        sum.add(tiny);
    }
    // Exactly 1 + 2·10^6·2^-60, of which a plain sum loses the second half.
    assert_eq!(sum.total().to_bits(), (1.0 + 2e6 * tiny).to_bits());
    assert_eq!(sum.count(), 2_000_001);
}

#[test]
fn powers_of_two_add_up_exactly() {
    // Σ 2^-k for k = 1 to 1074 is 1 − 2^-1074: as a double, 1. Without the first half: 2^-537·(1 − 2^-537).
    let (mut all, mut small) = (ProbabilitySum::new(), ProbabilitySum::new());
    for k in 1..=1074 {
        all.add(0.5f64.powi(k));
        if k > 537 {
            small.add(0.5f64.powi(k));
        }
    }
    assert_eq!(all.total().to_bits(), 1f64.to_bits());
    assert_eq!(small.total().to_bits(), 2f64.powi(-537).to_bits());
    let ln = -537.0 * std::f64::consts::LN_2;
    assert!((small.ln_total() - ln).abs() < 1e-13 * ln.abs(), "{}", small.ln_total());
}

#[test]
fn geometric_sums_far_below_the_range_of_doubles() {
    // Σ e^(−0.07·i) over i >= i0 is e^(−0.07·i0) / (1 − e^−0.07); at i0 = 20 000 that is e^−1400, at 10^7 e^−700 000.
    for first in [0u32, 100, 5000, 20_000, 100_000, 10_000_000] {
        let mut sum = ProbabilitySum::new();
        for i in (first..first + 1000).rev() {
            sum.add_ln(-0.07 * f64::from(i));
        }
        let start = -0.07 * f64::from(first);
        let expected = start + (-(-70f64).exp()).ln_1p() - (-(-0.07f64).exp_m1()).ln();
        // The argument of each exponential is rounded to 2^-53 of itself.
        let tolerance = 1e-13 + 4.0 * f64::EPSILON * start.abs();
        assert!((sum.ln_total() - expected).abs() <= tolerance, "{first}: {} not {expected}", sum.ln_total());
        assert!((sum.ln_mean() - (expected - 1000f64.ln())).abs() <= tolerance);
    }
}

/// 1/1 + 1/2 + … + 1/10^6, and the same times 1e-300:
/// `python3 -c "from mpmath import *; mp.dps=40; print(harmonic(10**6))"`.
#[test]
fn harmonic_sums_agree_with_mpmath() {
    let (mut large, mut small) = (ProbabilitySum::new(), ProbabilitySum::new());
    for k in 1..=1_000_000u32 {
        large.add(1.0 / f64::from(k));
        small.add(1e-300 / f64::from(k));
    }
    // Each term is rounded by up to 2^-53 of itself, at random: far below one unit of the last digit together.
    assert!((large.total() - 14.392_726_722_865_724).abs() <= 2.0 * f64::EPSILON * 14.4, "{}", large.total());
    let ln = 14.392_726_722_865_724f64.ln() + 1e-300f64.ln();
    assert!((small.ln_total() - ln).abs() <= 4.0 * f64::EPSILON * ln.abs(), "{}", small.ln_total());
}

#[test]
fn a_sum_of_nothing_or_of_zeros_is_zero() {
    let mut sum = ProbabilitySum::new();
    assert_eq!((sum.ln_total(), sum.ln_mean(), sum.count()), (f64::NEG_INFINITY, f64::NEG_INFINITY, 0));
    sum.add(0.0);
    sum.add_ln(f64::NEG_INFINITY);
    sum.add_ln(-1e7);
    assert_eq!((sum.ln_total(), sum.count()), (f64::NEG_INFINITY, 3));
    sum.add_ln(0.0);
    assert_eq!((sum.total().to_bits(), sum.count()), (1f64.to_bits(), 4));
}

proptest! {
    /// Order, grouping and repetition do not matter.
    #[test]
    fn merging_equals_adding(terms in prop::collection::vec((-3000.0f64..0.0, 1u64..100), 1..60), split in 0usize..60) {
        let split = split.min(terms.len());
        let (mut whole, mut left, mut right) = (ProbabilitySum::new(), ProbabilitySum::new(), ProbabilitySum::new());
        for (i, &(ln_p, times)) in terms.iter().enumerate() {
            for _ in 0..times {
                whole.add_ln(ln_p);
            }
            if i < split { &mut left } else { &mut right }.add_ln_times(ln_p, times);
        }
        right.merge(&left);
        prop_assert_eq!(whole.count(), right.count());
        prop_assert!((whole.ln_total() - right.ln_total()).abs() <= 1e-15 * (10.0 + whole.ln_total().abs()));
        let top = terms.iter().map(|&(ln_p, times)| ln_p + (times as f64).ln()).fold(f64::NEG_INFINITY, f64::max);
        prop_assert!(whole.ln_total() >= top - 1e-12 && whole.ln_total() <= top + 60f64.ln() + 1e-12);
    }
}
