//! Where the time of requests went, over all of them and by percentile.

use crate::splits::{LatencyBand, LatencySplit, LatencySplits, named};
use outlast_device::{Latencies, Op};
use serde::Serialize;
use serde::ser::Serializer;

/// Where the time of requests went; kinds of which there was none are absent.
#[derive(Clone, Debug, Serialize)]
pub struct LatencyCauses {
    /// Of reads.
    pub read: Option<CausesOfKind>,
    /// Of writes.
    pub write: Option<CausesOfKind>,
}

/// Where the time of requests of one kind went.
#[derive(Clone, Debug, Serialize)]
pub struct CausesOfKind {
    /// How many there were.
    pub count: u64,
    /// The mean over all of them, by cause, in nanoseconds.
    #[serde(serialize_with = "by_name")]
    pub mean_ns: Latencies<f64>,
    /// Of the fastest half, and so on: exact, except that requests within 1/128 of a latency at a boundary count as alike.
    pub bands: Vec<BandOfLatencies>,
}

/// The requests between two percentiles of latency.
#[derive(Clone, Debug, Serialize)]
pub struct BandOfLatencies {
    /// The percentile at which it begins.
    pub from: f64,
    /// The percentile at which it ends.
    pub to: f64,
    /// Requests in it.
    pub requests: f64,
    /// Their mean latency, in nanoseconds.
    pub latency_ns: f64,
    /// The same by cause.
    #[serde(serialize_with = "by_name")]
    pub mean_ns: Latencies<f64>,
}

fn by_name<S: Serializer>(parts: &Latencies<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(named(parts))
}

pub(crate) fn latency_causes(splits: &LatencySplits) -> LatencyCauses {
    LatencyCauses { read: of_kind(splits.of(Op::Read)), write: of_kind(splits.of(Op::Write)) }
}

fn of_kind(split: &LatencySplit) -> Option<CausesOfKind> {
    let count = split.requests();
    let band = |LatencyBand { from, to, requests, parts }: LatencyBand| BandOfLatencies {
        from: 100.0 * from,
        to: 100.0 * to,
        requests,
        latency_ns: parts.total(),
        mean_ns: parts,
    };
    (count != 0).then(|| CausesOfKind {
        count,
        mean_ns: split.mean(),
        bands: split.bands().into_iter().map(band).collect(),
    })
}
