//! Does the table of powers agree with powf?

use outlast_media::reliability::PowerTable;
use proptest::prelude::*;

/// The exponents of the published chips, the trivial ones, and the steepest that is tabulated.
const EXPONENTS: [f64; 11] = [0.54, 3.33, 0.80, 1.71, 0.47, 1.45, 0.0, 1.0, 2.0, 0.01, 12.0];

#[test]
fn published_exponents_are_tabulated_within_the_bound() {
    for n in EXPONENTS {
        let table = PowerTable::new(n);
        assert!(!table.is_exact() && table.error() <= PowerTable::MAX_ERROR, "{n}: {}", table.error());
    }
    // A quadratic through three points of m^3.33 on [1, 1 + 1/512] errs by at most 3.33·2.33·1.33 · √3/216 · 512^-3 = 6.2e-10.
    assert!(PowerTable::new(3.33).error() < 6.3e-10, "{}", PowerTable::new(3.33).error());
}

#[test]
fn small_counts_and_the_ends_of_pieces_are_right() {
    for n in EXPONENTS {
        let table = PowerTable::new(n);
        for x in (0..100_000u32).map(f64::from).chain((0..=512).map(|i| 1.0 + f64::from(i) / 512.0)) {
            let exact = x.powf(n);
            assert!((table.at(x) - exact).abs() <= PowerTable::MAX_ERROR * exact, "{x}^{n}");
        }
    }
    assert_eq!((PowerTable::new(0.0).at(0.0), PowerTable::new(0.5).at(0.0)), (1.0, 0.0));
}

#[test]
fn steep_powers_are_computed_and_held_below_infinity() {
    for n in [13.0, 40.0, 1e6] {
        let table = PowerTable::new(n);
        assert!(table.is_exact(), "{n}");
        assert_eq!(table.at(0.75).to_bits(), 0.75f64.powf(n).to_bits());
        assert!(table.at(1e300) <= f64::MAX && (table.at(0.0) * table.at(1e300)) == 0.0);
    }
}

proptest! {
    #[test]
    fn it_agrees_with_powf(x in prop_oneof![1e-6..10.0f64, 0.0..5e9f64, 1e-300..1e-15f64], n in 0.0..11.0f64) {
        let (table, exact) = (PowerTable::new(n), x.powf(n));
        prop_assert!((table.at(x) - exact).abs() <= PowerTable::MAX_ERROR * exact, "{} not {exact}", table.at(x));
    }

    /// Up to rounding, which the coefficients of the quadratic magnify by about n².
    #[test]
    fn it_never_falls(x in 0.0..5e9f64, step in 0.0..1.0f64, n in 0.0..5.0f64) {
        let table = PowerTable::new(n);
        prop_assert!(table.at(x + step) >= table.at(x) * (1.0 - 1e-13));
    }
}
