//! The natural logarithm of an error rate, faster than the library's.

use crate::reliability::quadratic;

/// `ln x` from the bits of x: the binary exponent times ln 2, and a quadratic for each of [`PIECES`] stretches of the mantissa.
/// Continuous, and never falls (up to rounding). Absolute error: ln''' is at most 2, so a quadratic through both ends and the
/// middle of a piece errs by at most `2·√3/216·256^-3` = 1e-9.
#[derive(Clone, Debug)]
pub(super) struct LnTable {
    pieces: Box<[[f64; 3]; PIECES]>,
}

const PIECES: usize = 256;
const PIECE_SHIFT: u32 = 52 - PIECES.trailing_zeros();
const MANTISSA: u64 = (1 << 52) - 1;
const ONE: u64 = 1023 << 52;
/// The biased exponent of infinity and NaN; that of 0 and of subnormal numbers is 0.
const NOT_A_NUMBER: u64 = 2047;

impl LnTable {
    pub(super) fn new() -> Self {
        let mut pieces = Box::new([[0.0; 3]; PIECES]);
        for (index, piece) in pieces.iter_mut().enumerate() {
            let points = [0.0, 0.5, 1.0].map(|part| 1.0 + (index as f64 + part) / PIECES as f64);
            *piece = quadratic(points, points.map(f64::ln));
        }
        Self { pieces }
    }

    /// ln x for x >= 0; `-inf` for 0.
    #[inline]
    pub(super) fn at(&self, x: f64) -> f64 {
        debug_assert!(x >= 0.0, "ln {x}");
        let bits = x.to_bits();
        let exponent = bits >> 52;
        if exponent.wrapping_sub(1) >= NOT_A_NUMBER - 1 {
            return of_special(x);
        }
        let [c0, c1, c2] = self.pieces[((bits & MANTISSA) >> PIECE_SHIFT) as usize];
        let m = f64::from_bits((bits & MANTISSA) | ONE);
        f64::from(exponent as i32 - 1023) * std::f64::consts::LN_2 + (c0 + m * (c1 + m * c2))
    }
}

/// ln x of 0, subnormal and infinite numbers, and NaN.
#[cold]
#[inline(never)]
fn of_special(x: f64) -> f64 {
    x.ln()
}

#[cfg(test)]
mod tests {
    use super::LnTable;
    use proptest::prelude::*;

    #[test]
    fn special_and_extreme_numbers_agree_with_the_library() {
        let table = LnTable::new();
        for x in [0.0, 1e-320, f64::MIN_POSITIVE, 1e-300, 0.5, 1.0, 2.0, f64::MAX, f64::INFINITY] {
            let (actual, exact) = (table.at(x), x.ln());
            assert!(actual.to_bits() == exact.to_bits() || (actual - exact).abs() < 1.1e-9, "{x}: {actual}");
        }
    }

    proptest! {
        #[test]
        fn the_table_agrees_with_the_library(ln in -700.0..700.0f64, step in 0.0..1e-3f64) {
            let table = LnTable::new();
            let x = ln.exp();
            prop_assert!((table.at(x) - x.ln()).abs() < 1.1e-9);
            prop_assert!(table.at(x * (1.0 + step)) >= table.at(x) - 1e-12);
        }
    }
}
