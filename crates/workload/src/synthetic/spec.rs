//! The settings of a synthetic stream.

use crate::SizeOrPercent;
use outlast_device::PlacementId;
use outlast_units::{Bytes, JsonSchema, Nanos};
use serde::{Deserialize, Serialize};

/// The order of addresses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AddressPattern {
    /// One after another, starting again at the end of the region.
    Sequential,
    /// Each place equally likely.
    #[default]
    Uniform,
    /// The place of rank r with a probability proportional to r^-`zipf_theta`.
    Zipf,
    /// `hot_access` of the requests go to the first `hot_fraction` of the region.
    Hotcold,
    /// The enterprise endurance workload of JEDEC JESD219A: 50 % of accesses to the first 5 % of the region, 30 % to the
    /// next 15 %, 20 % to the remaining 80 %. Only the skew; the sizes of that standard are `sizes = "jesd219"`.
    Jesd219,
}

/// How requests arrive in an open loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ArrivalProcess {
    /// Exponential gaps with a mean of 1 / `rate_iops`.
    #[default]
    Poisson,
    /// Equal gaps of 1 / `rate_iops`.
    Fixed,
}

/// A mix of sizes known by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum NamedMix {
    /// JEDEC JESD219A, enterprise: 512 B 4 %; 1, 1.5, 2, 2.5, 3, 3.5 KiB 1 % each; 4 KiB 67 %; 8 KiB 10 %; 16 KiB 7 %;
    /// 32 KiB 3 %; 64 KiB 3 %.
    Jesd219,
}

/// One size of a mix.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SizeWeight {
    /// Size of a request; a whole number of 512-byte sectors.
    pub size: Bytes,
    /// Relative frequency; more than 0. Weights need not add up to anything.
    pub weight: f64,
}

/// Sizes of requests with their frequencies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "\"jesd219\" or a list such as [{ size = \"4KiB\", weight = 70 }]")]
pub enum SizeMix {
    /// A mix known by name.
    Named(NamedMix),
    /// Sizes and their weights.
    List(Vec<SizeWeight>),
}

/// A synthetic stream. Every setting may be left out; a phase takes what it leaves out from the stream.
///
/// With neither `rate_iops` nor `queue_depth` the loop is closed with a queue depth of 1.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SyntheticSpec {
    /// A name for reports. Default: the pattern and size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The order of addresses. Default: uniform.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<AddressPattern>,
    /// Share of the requests of a `sequential` stream that go to a random place, from which the stream then goes on, in percent: the mix
    /// of random and sequential access of Iometer's access specifications. Default: 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub random_percent: Option<f64>,
    /// Skew of `zipf`; more than 0, at most 10. Default: 0.99, as in YCSB (Cooper et al., `SoCC` 2010).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zipf_theta: Option<f64>,
    /// Share of the region that is hot under `hotcold`; between 0 and 1. Default: 0.2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hot_fraction: Option<f64>,
    /// Share of the requests that go there; 0 to 1. Default: 0.8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hot_access: Option<f64>,
    /// Reads among the requests, in percent. Default: 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_percent: Option<f64>,
    /// Trims among the requests, in percent; with `read_percent` at most 100. The rest are writes. Default: 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trim_percent: Option<f64>,
    /// Size of every request; a whole number of sectors. Excludes `sizes`. Default: 4 KiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<Bytes>,
    /// A mix of sizes. Excludes `size`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sizes: Option<SizeMix>,
    /// Requests start at multiples of this from the start of the region. Default: `size`; for a list, its smallest size;
    /// for `sizes = "jesd219"`, 4 KiB (as the job file for that standard which comes with fio does).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub align: Option<Bytes>,
    /// Start of the region: a size or a percentage of the capacity. Default: 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<SizeOrPercent>,
    /// Length of the region: a size or a percentage of the capacity. Default: up to the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span: Option<SizeOrPercent>,
    /// Scatters the addresses over the region by a bijection, so that hot places are not neighbours. It follows from the seed of the run
    /// and is the same in all phases. Not with `sequential`. Default: false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scramble: Option<bool>,
    /// Mean arrivals per second: an open loop. More than 0, at most 1e9.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_iops: Option<f64>,
    /// How they arrive; needs `rate_iops`. Default: poisson.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arrival: Option<ArrivalProcess>,
    /// Requests kept in flight: a closed loop. At least 1. Excludes `rate_iops`; not in a phase.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_depth: Option<u32>,
    /// Ends after so many requests, flushes included. Beside phases: of all phases together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<u64>,
    /// Ends after so much simulated time. In a closed loop not in a phase, since only the engine sees the time there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<Nanos>,
    /// Ends with the request that reaches so many bytes read, written and trimmed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Bytes>,
    /// A flush after every so many writes. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flush_every: Option<u64>,
    /// Writes with forced unit access, in percent of the writes. Default: 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fua_percent: Option<f64>,
    /// Stream hint of the writes. Default: 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream: Option<PlacementId>,
    /// Stream hint of writes to the hottest part under `hotcold` and `jesd219`. Default: `stream`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hot_stream: Option<PlacementId>,
    /// Stream hint of the other writes under `hotcold` and `jesd219`. Default: `stream`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cold_stream: Option<PlacementId>,
    /// Phases that run one after another; each has limits of its own and may set any other setting anew.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<SyntheticSpec>,
}

impl SyntheticSpec {
    /// This phase, with settings that it leaves out taken from `base`; limits, name and phases are not inherited.
    pub(crate) fn with_defaults(&self, base: &Self) -> Self {
        // `size` and `sizes` exclude each other, so that a phase which sets one must not inherit the other.
        let sets_size = self.size.is_some() || self.sizes.is_some();
        Self {
            name: self.name.clone(),
            pattern: self.pattern.or(base.pattern),
            random_percent: self.random_percent.or(base.random_percent),
            zipf_theta: self.zipf_theta.or(base.zipf_theta),
            hot_fraction: self.hot_fraction.or(base.hot_fraction),
            hot_access: self.hot_access.or(base.hot_access),
            read_percent: self.read_percent.or(base.read_percent),
            trim_percent: self.trim_percent.or(base.trim_percent),
            size: if sets_size { self.size } else { base.size },
            sizes: if sets_size { self.sizes.clone() } else { base.sizes.clone() },
            align: self.align.or(base.align),
            offset: self.offset.or(base.offset),
            span: self.span.or(base.span),
            scramble: self.scramble.or(base.scramble),
            rate_iops: self.rate_iops.or(base.rate_iops),
            arrival: self.arrival.or(base.arrival),
            queue_depth: self.queue_depth.or(base.queue_depth),
            requests: self.requests,
            duration: self.duration,
            bytes: self.bytes,
            flush_every: self.flush_every.or(base.flush_every),
            fua_percent: self.fua_percent.or(base.fua_percent),
            stream: self.stream.or(base.stream),
            hot_stream: self.hot_stream.or(base.hot_stream),
            cold_stream: self.cold_stream.or(base.cold_stream),
            phases: self.phases.clone(),
        }
    }
}
