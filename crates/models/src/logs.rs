//! Probabilities as natural logarithms: sums and complements that neither underflow nor cancel.

use outlast_media::reliability::binomial::ln_1m_exp;

/// Below this, p²/2 is less than 1e-17 of p, so ln(1 − p) = −p.
const LN_SMALL: f64 = -40.0;

/// ln(e^a + e^b).
pub(crate) fn ln_add(a: f64, b: f64) -> f64 {
    let (high, low) = if a >= b { (a, b) } else { (b, a) };
    if low == f64::NEG_INFINITY { high } else { high + (low - high).exp().ln_1p() }
}

/// ln(e^a − e^b) for a >= b.
pub(crate) fn ln_sub(a: f64, b: f64) -> f64 {
    if b == f64::NEG_INFINITY { a } else { a + ln_1m_exp((b - a).min(0.0)) }
}

/// ln(e^x − 1) for x >= 0.
pub(crate) fn ln_exp_m1(x: f64) -> f64 {
    if x > 40.0 { x } else { x.exp_m1().ln() }
}

/// ln P(at least one of independent events), each given as ln p and ln(1 − p), the latter accurate where p is not small:
/// `1 − Π(1 − p)`.
pub(crate) fn ln_any(events: impl IntoIterator<Item = (f64, f64)>) -> f64 {
    ln_any_weighted(events.into_iter().map(|(ln_p, ln_not_p)| (ln_p, ln_not_p, 1.0)))
}

/// [`ln_any`] with a weight to each event: `1 − Π(1 − p)^w`, w at least 0.
pub(crate) fn ln_any_weighted(events: impl IntoIterator<Item = (f64, f64, f64)>) -> f64 {
    let weighty = events.into_iter().filter(|&(_, _, weight)| weight > 0.0);
    let ln_hazard = weighty.fold(f64::NEG_INFINITY, |sum, (ln_p, ln_not_p, weight)| {
        let ln_each = if ln_p < LN_SMALL { ln_p } else { (-ln_not_p).ln() };
        ln_add(sum, ln_each + weight.ln())
    });
    ln_of_hazard(ln_hazard)
}

/// ln(1 − e^−H) of ln H.
pub(crate) fn ln_of_hazard(ln_hazard: f64) -> f64 {
    if ln_hazard < LN_SMALL { ln_hazard } else { ln_1m_exp(-ln_hazard.exp()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(actual: f64, expected: f64) {
        assert!(
            actual.to_bits() == expected.to_bits()
                || (actual - expected).abs() <= 1e-14 * expected.abs().max(1.0),
            "{actual} not {expected}"
        );
    }

    #[test]
    fn sums_and_differences() {
        close(ln_add(0.3f64.ln(), 0.2f64.ln()), 0.5f64.ln());
        close(ln_sub(0.5f64.ln(), 0.2f64.ln()), 0.3f64.ln());
        close(ln_add(-5000.0, -5000.0), -5000.0 + 2f64.ln());
        close(ln_add(-1.0, f64::NEG_INFINITY), -1.0);
        close(ln_sub(-3.0, -3.0), f64::NEG_INFINITY);
        close(ln_add(f64::NEG_INFINITY, f64::NEG_INFINITY), f64::NEG_INFINITY);
        close(ln_exp_m1(1e-200), 1e-200f64.ln());
        close(ln_exp_m1(800.0), 800.0);
    }

    #[test]
    fn any_of_several() {
        let of = |p: f64| (p.ln(), (-p).ln_1p());
        close(ln_any([of(0.1), of(0.2), of(0.5)]), (1.0 - 0.9 * 0.8 * 0.5f64).ln());
        close(ln_any([(-900.0, 0.0), (-900.0, 0.0)]), -900.0 + 2f64.ln());
        close(ln_any_weighted([(of(1e-3).0, of(1e-3).1, 5.0)]), (1.0 - 0.999f64.powi(5)).ln());
        close(ln_any([]), f64::NEG_INFINITY);
        close(ln_any_weighted([(0.0, f64::NEG_INFINITY, 0.0)]), f64::NEG_INFINITY);
        close(ln_any([(0.0, f64::NEG_INFINITY), of(0.5)]), 0.0);
    }
}
