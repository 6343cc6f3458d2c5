//! Section `latency_causes` of the result: time of requests by cause, over all of them and by percentile.

use crate::splits::{LatencyBand, LatencySplit, LatencySplits, named};
use outlast_device::{Latencies, Op};
use serde::Serialize;
use serde::ser::Serializer;

/// Time of requests by cause; absent for kinds without requests.
#[derive(Clone, Debug, Serialize)]
pub struct LatencyCauses {
    /// Time of reads.
    pub read: Option<CausesOfKind>,
    /// Time of writes.
    pub write: Option<CausesOfKind>,
}

/// Time of requests of one kind, by cause.
#[derive(Clone, Debug, Serialize)]
pub struct CausesOfKind {
    /// Number of requests.
    pub count: u64,
    /// The mean over all of them, by cause, in nanoseconds.
    #[serde(serialize_with = "by_name")]
    pub mean_ns: Latencies<f64>,
    /// Bands from the fastest half to the slowest requests. Exact, except that requests within 1/128 of a latency at a boundary count as alike.
    pub bands: Vec<BandOfLatencies>,
}

/// The requests between two percentiles of latency.
#[derive(Clone, Debug, Serialize)]
pub struct BandOfLatencies {
    /// Percentile at its beginning.
    pub from: f64,
    /// Percentile at its end.
    pub to: f64,
    /// Requests in it.
    pub requests: f64,
    /// Mean latency of these, in nanoseconds.
    pub latency_ns: f64,
    /// Mean latency by cause, in nanoseconds.
    #[serde(serialize_with = "by_name")]
    pub mean_ns: Latencies<f64>,
}

fn by_name<S: Serializer>(parts: &Latencies<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(named(parts))
}

pub(crate) fn latency_causes(splits: &LatencySplits) -> LatencyCauses {
    LatencyCauses { read: of_kind(splits.of(Op::Read)), write: of_kind(splits.of(Op::Write)) }
}

/// Time of one kind of request; `None` without requests.
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
