//! Percentiles that enough samples support.

use crate::histogram::LatencyHistogram;

/// Samples that must lie above a reported percentile. With fewer it depends on single slow requests.
const LEAST_ABOVE: f64 = 10.0;

/// The `q`-quantile of `latencies`, in microseconds; `None` unless at least ten samples lie above it.
pub(crate) fn resolved_quantile(latencies: &LatencyHistogram, q: f64) -> Option<f64> {
    // The tolerance covers the rounding of 1 - q, which shows in the tenth digit at the highest percentile.
    let above = latencies.len() as f64 * (1.0 - q);
    (above >= LEAST_ABOVE * (1.0 - 1e-9)).then(|| latencies.quantile(q) as f64 * 1e-3)
}

/// Highest percentile with enough samples above it, in percent; `None` where there are too few even for the median.
pub(crate) fn highest_resolved_percent(latencies: &LatencyHistogram) -> Option<f64> {
    let all = [99.9999, 99.999, 99.99, 99.9, 99.0, 95.0, 90.0, 50.0];
    all.into_iter().find(|percent| resolved_quantile(latencies, percent / 100.0).is_some())
}

#[cfg(test)]
mod tests {
    use super::resolved_quantile;
    use crate::histogram::LatencyHistogram;

    #[test]
    fn a_percentile_needs_ten_samples_above_it() {
        for (q, least) in
            [(0.999, 10_000u64), (0.9999, 100_000), (0.99999, 1_000_000), (0.999_999, 10_000_000)]
        {
            let mut latencies = LatencyHistogram::new(3);
            for i in 1..least {
                latencies.record(i);
            }
            assert_eq!(resolved_quantile(&latencies, q), None);
            latencies.record(least);
            // Values 1 to n in ns: the quantile is q · n, within the histogram's three digits.
            let quantile = resolved_quantile(&latencies, q).unwrap_or(0.0) * 1e3;
            let expected = q * least as f64;
            assert!((quantile / expected - 1.0).abs() < 2e-3, "{q}: {quantile}, {expected}");
        }
    }
}
