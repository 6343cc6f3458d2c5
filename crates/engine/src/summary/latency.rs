//! Distributions of latencies.

use crate::batch_means::{Interval, interval};
use crate::histogram::{ByOp, OPS};
use crate::quantiles;
use crate::recorder::Recorder;
use crate::table::{Column, Table};
use crate::window::Window;
use hdrhistogram::Histogram;
use outlast_device::Op;
use serde::Serialize;

/// Latencies by kind of command; absent where there was none.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct LatencyByOp {
    pub read: Option<Latency>,
    pub write: Option<Latency>,
    pub trim: Option<Latency>,
    pub flush: Option<Latency>,
    pub by_stream: Vec<StreamLatency>,
}

/// Latencies of one stream.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct StreamLatency {
    pub stream: u8,
    pub read: Option<Latency>,
    pub write: Option<Latency>,
}

/// A distribution of latencies, in microseconds.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Latency {
    pub count: u64,
    pub mean: f64,
    pub min: f64,
    pub p50: f64,
    pub p90: f64,
    pub p95: f64,
    pub p99: f64,
    pub p99_9: f64,
    pub p99_99: f64,
    /// Absent, as the next, where fewer than ten samples lie above.
    pub p99_999: Option<f64>,
    pub p99_9999: Option<f64>,
    pub max: f64,
    /// The highest of these percentiles that has ten samples above it; those beyond are the accident of a few requests. Absent where
    /// none has.
    pub resolved_percentile: Option<f64>,
    /// 95 % confidence interval of the mean, from batch means; absent where the run is too short for what it remembers.
    pub mean_interval: Option<Interval>,
}

impl Latency {
    pub(crate) fn of(histogram: &Histogram<u64>) -> Option<Self> {
        let quantile = |q: f64| histogram.value_at_quantile(q) as f64 * 1e-3;
        (!histogram.is_empty()).then(|| Self {
            count: histogram.len(),
            mean: histogram.mean() * 1e-3,
            min: histogram.min() as f64 * 1e-3,
            p50: quantile(0.5),
            p90: quantile(0.9),
            p95: quantile(0.95),
            p99: quantile(0.99),
            p99_9: quantile(0.999),
            p99_99: quantile(0.9999),
            p99_999: quantiles::told(histogram, 0.99999),
            p99_9999: quantiles::told(histogram, 0.999_999),
            resolved_percentile: quantiles::highest(histogram),
            mean_interval: None,
            max: histogram.max() as f64 * 1e-3,
        })
    }
}

fn streams(recorder: &Recorder) -> Vec<(u8, ByOp)> {
    if recorder.by_stream.is_empty() {
        return Vec::new();
    }
    let zero = recorder.by_stream.iter().fold(recorder.latency.clone(), |rest, (_, part)| rest.without(part));
    let mut streams = vec![(0, zero)];
    streams.extend(recorder.by_stream.iter().cloned());
    streams.sort_by_key(|&(stream, _)| stream);
    streams
}

pub(crate) fn latency(recorder: &Recorder) -> LatencyByOp {
    let windows = recorder.windows.whole();
    let of = |op: Op| {
        let sums = |window: &Window| {
            (window.latency_ns[op as usize] as f64 * 1e-3, window.commands[op as usize] as f64)
        };
        let parts: Vec<_> = windows.iter().map(sums).collect();
        Latency::of(recorder.latency.of(op)).map(|own| Latency { mean_interval: interval(&parts), ..own })
    };
    LatencyByOp {
        read: of(Op::Read),
        write: of(Op::Write),
        trim: of(Op::Trim),
        flush: of(Op::Flush),
        by_stream: streams(recorder)
            .iter()
            .map(|(stream, by_op)| StreamLatency {
                stream: *stream,
                read: Latency::of(by_op.of(Op::Read)),
                write: Latency::of(by_op.of(Op::Write)),
            })
            .collect(),
    }
}

/// Cumulative distributions: one row for each latency that occurred, at the histogram's resolution.
pub(crate) fn latency_table(recorder: &Recorder) -> Table {
    let (mut ops, mut names, mut latencies, mut quantiles, mut counts) =
        (vec![], vec![], vec![], vec![], vec![]);
    let mut add = |name: &str, by_op: &ByOp| {
        for op in OPS {
            let histogram = by_op.of(op);
            let mut below = 0;
            for step in histogram.iter_recorded() {
                below += step.count_at_value();
                ops.push(format!("{op:?}").to_lowercase());
                names.push(name.to_owned());
                latencies.push(step.value_iterated_to() as f64 * 1e-3);
                quantiles.push(below as f64 / histogram.len() as f64);
                counts.push(step.count_at_value());
            }
        }
    };
    add("all", &recorder.latency);
    for (stream, by_op) in streams(recorder) {
        add(&stream.to_string(), &by_op);
    }
    let mut table = Table::default();
    table.push("op", Column::Text(ops));
    table.push("stream", Column::Text(names));
    table.push("latency_us", Column::F64(latencies));
    table.push("quantile", Column::F64(quantiles));
    table.push("count", Column::U64(counts));
    table
}

#[cfg(test)]
mod tests {
    use super::Latency;
    use crate::histogram::{empty, record};
    use outlast_units::rng::SplitMix;

    /// Latencies over five decades, so that neighbouring percentiles are far apart: each is that of the sorted samples, to the three
    /// digits that the histogram keeps.
    #[test]
    fn every_percentile_is_that_of_the_sorted_samples() {
        for (seed, count) in [(1, 1usize), (2, 7), (3, 1_000), (4, 9_999), (5, 200_000)] {
            let mut rng = SplitMix::new(seed, "test.latencies");
            let mut histogram = empty(3);
            let mut samples: Vec<u64> = (0..count)
                .map(|_| {
                    let uniform = rng.unit();
                    (1e3 / (1.0 - uniform).powf(0.7)) as u64
                })
                .collect();
            for &latency in &samples {
                record(&mut histogram, latency);
            }
            samples.sort_unstable();
            let latency = Latency::of(&histogram).expect("there are samples");
            let sorted =
                |share: f64| samples[((share * count as f64).ceil() as usize).max(1) - 1] as f64 * 1e-3;
            for (name, got, share) in [
                ("p50", latency.p50, 0.5),
                ("p90", latency.p90, 0.9),
                ("p95", latency.p95, 0.95),
                ("p99", latency.p99, 0.99),
                ("p99_9", latency.p99_9, 0.999),
                ("p99_99", latency.p99_99, 0.9999),
                ("max", latency.max, 1.0),
            ] {
                let expected = sorted(share);
                assert!((got / expected - 1.0).abs() <= 1e-3, "{name} of {count}: {got}, sorted {expected}");
            }
            assert!((latency.min / sorted(0.0) - 1.0).abs() <= 1e-3);
            let mean = samples.iter().sum::<u64>() as f64 * 1e-3 / count as f64;
            assert!((latency.mean / mean - 1.0).abs() <= 1e-3, "{} against {mean}", latency.mean);
            assert_eq!(latency.count, count as u64);
        }
    }
}
