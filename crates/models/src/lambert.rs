//! Lambert's W function.

use crate::DomainError;
use crate::error::within;
use std::f64::consts::E;

/// e minus the nearest `f64`.
const E_REST: f64 = 1.445_646_891_729_250_2e-16;

/// The principal branch W0: the w of at least -1 with w·e^w = x.
///
/// Domain: x of at least -1/e; the double next below -1/e counts as -1/e. Relative accuracy is a few units in the last
/// place; within 1e-9 of -1/e, where W changes like the root of the distance, it is that of the distance itself, which is
/// computed without cancellation.
///
/// Method: a series about the branch point (Corless, Gonnet, Hare, Jeffrey, Knuth, "On the Lambert W function", Advances in
/// Computational Mathematics 5, 1996, eq. 4.22) or an asymptotic start, then Halley's iteration (their eq. 5.9).
///
/// # Errors
/// `x` is below -1/e or not finite.
pub fn lambert_w0(x: f64) -> Result<f64, DomainError> {
    let x = within("x", x, "a number of at least -1/e", |x| x >= -(1.0 / E).next_up())?;
    if x == 0.0 {
        return Ok(0.0);
    }
    // e·x + 1 to full precision: the product's own rounding error is kept by the fused operation.
    let distance = E.mul_add(x, 1.0) + E_REST * x;
    let p = (2.0 * distance.max(0.0)).sqrt();
    if p < 1e-2 {
        // The next term is below 2e-19 here.
        let terms =
            [-1.0, 1.0, -1.0 / 3.0, 11.0 / 72.0, -43.0 / 540.0, 769.0 / 17_280.0, -221.0 / 8_505.0, 0.015_56];
        return Ok(terms.iter().rev().fold(0.0, |sum, term| sum * p + term));
    }
    let mut w = if x < 1.0 {
        // Winitzki's approximation, within a few percent from the branch point up to here.
        let start = -1.0 + p * (1.0 - p * (1.0 / 3.0 - p * 11.0 / 72.0));
        if x < 0.0 { start } else { x / (1.0 + x) }
    } else {
        let log = x.ln();
        if log < 1.0 { x.ln_1p() * 0.8 } else { log - log.ln() }
    };
    // Halley's iteration triples the correct digits in each round, so the limit only guards against endless rounding.
    for _ in 0..32 {
        // Scaled by e^-w, so that nothing overflows for large x.
        let residual = w - x * (-w).exp();
        let step = residual / (w + 1.0 - (w + 2.0) * residual / (2.0 * w + 2.0));
        w -= step;
        if step.abs() <= 4.0 * f64::EPSILON * w.abs() {
            break;
        }
    }
    Ok(w)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `python3 -c "from mpmath import *; mp.dps = 40; print(nstr(lambertw(mpf(-0.3)).real, 20))"`, and so on.
    const KNOWN: [(f64, f64); 13] = [
        (-0.367_879_441_1, -0.999_980_292_242_033),
        (-0.367_87, -0.992_852_729_821_527_7),
        (-0.36, -0.806_084_315_970_817_6),
        (-0.3, -0.489_402_227_180_214_9),
        (-0.2, -0.259_171_101_819_073_77),
        (-0.1, -0.111_832_559_158_962_97),
        (-1e-10, -1.000_000_000_1e-10),
        (1e-10, 9.999_999_999_000_001e-11),
        (0.5, 0.351_733_711_249_195_84),
        (1.0, 0.567_143_290_409_783_8),
        (10.0, 1.745_528_002_740_699_4),
        (1e5, 9.284_571_428_622_108),
        (1e300, 684.247_208_629_760_8),
    ];

    #[test]
    fn w_has_its_known_values() {
        for (x, expected) in KNOWN {
            let w = lambert_w0(x).unwrap();
            assert!((w - expected).abs() <= 1e-14 * expected.abs(), "W({x}) = {w}, expected {expected}");
        }
    }

    #[test]
    fn inverse_over_the_whole_domain() {
        for i in 0..4000 {
            let w = -1.0 + 10f64.powf(f64::from(i) / 250.0 - 10.0);
            let x = w * w.exp();
            if !x.is_finite() {
                break;
            }
            let back = lambert_w0(x).unwrap();
            // x itself is rounded: near the branch point W magnifies that by 1 / (1 + w).
            let tolerance = 4.0 * f64::EPSILON * (w.abs() + 1.0 + 1.0 / (1.0 + w));
            assert!((back - w).abs() <= tolerance, "w = {w}: {back}");
        }
    }

    #[test]
    fn the_branch_point_and_below() {
        assert!((lambert_w0(-1.0 / E).unwrap() + 1.0).abs() < 1e-7);
        assert!(lambert_w0(-0.37).is_err());
        assert!(lambert_w0(f64::NAN).is_err());
        assert!(lambert_w0(f64::INFINITY).is_err());
        assert_eq!(lambert_w0(0.0), Ok(0.0));
    }
}
