//! Figures of a distribution of latencies.

use crate::batch_means::ConfidenceInterval;
use crate::histogram::LatencyHistogram;
use crate::quantiles;
use serde::Serialize;

/// A distribution of latencies, in microseconds. Mean, minimum and maximum are exact; percentiles have the digits of the histogram.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct LatencyFigures {
    pub count: u64,
    pub mean: f64,
    pub min: f64,
    pub p50: f64,
    pub p90: f64,
    pub p95: f64,
    pub p99: f64,
    pub p99_9: f64,
    pub p99_99: f64,
    /// Absent, like the next one, where fewer than ten samples lie above it.
    pub p99_999: Option<f64>,
    pub p99_9999: Option<f64>,
    pub max: f64,
    /// Highest of these percentiles with at least ten samples above it; higher ones depend on a few requests. Absent where none has ten.
    pub resolved_percentile: Option<f64>,
    /// 95 % confidence interval of the mean, from batch means; absent where the run is too short for uncorrelated batches.
    pub mean_interval: Option<ConfidenceInterval>,
}

impl LatencyFigures {
    /// Figures in microseconds; `None` without latencies. The interval of the mean needs windows and is added by the caller.
    pub(crate) fn of(latencies: &LatencyHistogram) -> Option<Self> {
        let quantile = |q: f64| latencies.quantile(q) as f64 * 1e-3;
        (!latencies.is_empty()).then(|| Self {
            count: latencies.len(),
            mean: latencies.mean() * 1e-3,
            min: latencies.min() as f64 * 1e-3,
            p50: quantile(0.5),
            p90: quantile(0.9),
            p95: quantile(0.95),
            p99: quantile(0.99),
            p99_9: quantile(0.999),
            p99_99: quantile(0.9999),
            p99_999: quantiles::resolved_quantile(latencies, 0.99999),
            p99_9999: quantiles::resolved_quantile(latencies, 0.999_999),
            resolved_percentile: quantiles::highest_resolved_percent(latencies),
            mean_interval: None,
            max: latencies.max() as f64 * 1e-3,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::LatencyFigures;
    use crate::histogram::LatencyHistogram;
    use outlast_units::rng::SplitMix;

    /// Latencies over five decades, so that neighbouring percentiles are far apart: each is that of the sorted samples, to the three
    /// digits that the histogram keeps.
    #[test]
    fn every_percentile_is_that_of_the_sorted_samples() {
        for (seed, count) in [(1, 1usize), (2, 7), (3, 1_000), (4, 9_999), (5, 200_000)] {
            let mut rng = SplitMix::new(seed, "test.latencies");
            let mut latencies = LatencyHistogram::new(3);
            let mut samples: Vec<u64> = (0..count)
                .map(|_| {
                    let uniform = rng.unit();
                    (1e3 / (1.0 - uniform).powf(0.7)) as u64
                })
                .collect();
            for &latency in &samples {
                latencies.record(latency);
            }
            samples.sort_unstable();
            let latency = LatencyFigures::of(&latencies).expect("there are samples");
            let sorted =
                |share: f64| samples[((share * count as f64).ceil() as usize).max(1) - 1] as f64 * 1e-3;
            for (name, got, share) in [
                ("p50", latency.p50, 0.5),
                ("p90", latency.p90, 0.9),
                ("p95", latency.p95, 0.95),
                ("p99", latency.p99, 0.99),
                ("p99_9", latency.p99_9, 0.999),
                ("p99_99", latency.p99_99, 0.9999),
            ] {
                let expected = sorted(share);
                assert!((got / expected - 1.0).abs() <= 1e-3, "{name} of {count}: {got}, sorted {expected}");
            }
            let mean = samples.iter().sum::<u64>() as f64 / count as f64 * 1e-3;
            let exact = (sorted(0.0), mean, sorted(1.0));
            assert_eq!((latency.min, latency.mean, latency.max), exact, "least, mean and most of {count}");
            assert_eq!(latency.count, count as u64);
        }
    }

    /// Requests that all take the same time have that time as mean, extremes and every percentile, to the nanosecond.
    #[test]
    fn equal_latencies_are_reported_to_the_nanosecond() {
        for nanos in [1, 999, 65_120, 1_234_567, 98_765_432_109] {
            let mut latencies = LatencyHistogram::new(3);
            (0..400).for_each(|_| latencies.record(nanos));
            let latency = LatencyFigures::of(&latencies).expect("there are samples");
            let figures = [latency.mean, latency.min, latency.p50, latency.p99, latency.max];
            assert_eq!(figures.map(|us| (us * 1e3).round() as u64), [nanos; 5]);
        }
    }
}
