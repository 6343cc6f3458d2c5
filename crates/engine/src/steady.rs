//! Is it steady? For preconditioning (write amplification by round) and for the measurement itself.

/// Whether `values` stay within `range` of their mean and their least-squares line moves by no more than `excursion` of it
/// over all of them.
///
/// The criterion of SNIA's Solid State Storage Performance Test Specification (PTS 2.0.2, section 2.1.24): there with a range of
/// 20 % and a slope excursion of 10 % over five rounds.
pub(crate) fn is_steady(values: &[f64], range: f64, excursion: f64) -> bool {
    let n = values.len() as f64;
    if values.len() < 2 {
        return false;
    }
    let mean = values.iter().sum::<f64>() / n;
    let (low, high) =
        values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &v| (low.min(v), high.max(v)));
    let middle = (n - 1.0) / 2.0;
    let (covariance, variance) =
        values.iter().zip(0u32..).fold((0.0, 0.0), |(covariance, variance), (&v, i)| {
            let x = f64::from(i) - middle;
            (covariance + x * (v - mean), variance + x * x)
        });
    let moved = (covariance / variance * (n - 1.0)).abs();
    high - low <= range * mean.abs() && moved <= excursion * mean.abs()
}

#[cfg(test)]
mod tests {
    use super::is_steady;

    #[test]
    fn range_and_slope_both_count() {
        assert!(is_steady(&[1.0, 1.01, 0.99, 1.0, 1.0], 0.2, 0.1));
        // Within range, but climbing: 0.16 over the five.
        assert!(!is_steady(&[0.92, 0.96, 1.0, 1.04, 1.08], 0.2, 0.1));
        // No slope, but too wide.
        assert!(!is_steady(&[1.0, 1.2, 0.9, 1.2, 1.0], 0.2, 0.1));
        assert!(!is_steady(&[1.0], 0.2, 0.1));
        assert!(!is_steady(&[f64::NAN, 1.0], 0.2, 0.1));
    }
}
