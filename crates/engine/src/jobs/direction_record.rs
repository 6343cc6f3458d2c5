//! Counts of one direction of a job, and the figures that they give.

use super::{JobDirection, JobLatency, SampleSums};
use crate::histogram::LatencyHistogram;
use crate::latency::LatencyFigures;
use outlast_units::{Bytes, Nanos};

/// Counts of one direction of an entry.
#[derive(Clone, Debug)]
pub(super) struct DirectionRecord {
    pub(super) ios: u64,
    pub(super) bytes: u64,
    pub(super) errors: u64,
    pub(super) latency: LatencyHistogram,
    /// Latencies in nanoseconds, for the standard deviation.
    pub(super) nanos: SampleSums,
    /// Requests and bytes at the last sample of rates.
    pub(super) sampled: (u64, u64),
    pub(super) byte_rate: SampleSums,
    pub(super) io_rate: SampleSums,
}

impl DirectionRecord {
    pub(super) fn new(digits: u8) -> Self {
        Self {
            ios: 0,
            bytes: 0,
            errors: 0,
            latency: LatencyHistogram::new(digits),
            nanos: SampleSums::default(),
            sampled: (0, 0),
            byte_rate: SampleSums::default(),
            io_rate: SampleSums::default(),
        }
    }

    pub(super) fn figures(&self, runtime: Nanos) -> JobDirection {
        let seconds = runtime.as_secs_f64();
        let per = |value: f64| if seconds > 0.0 { value / seconds } else { 0.0 };
        let latency_us = LatencyFigures::of(&self.latency)
            .map(|distribution| JobLatency { distribution, stddev: self.nanos.deviation() * 1e-3 });
        JobDirection {
            ios: self.ios,
            bytes: self.bytes,
            iops: per(self.ios as f64),
            mib_s: per(Bytes(self.bytes).as_mib()),
            errors: self.errors,
            latency_us,
            mib_s_samples: self.byte_rate.figures(f64::from(1 << 20)),
            iops_samples: self.io_rate.figures(1.0),
        }
    }
}
