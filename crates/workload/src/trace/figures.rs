//! Figures of a trace.

use super::spec::{AddressUnit, TimeUnit};
use super::trace_format::TraceFormat;
use serde::Serialize;

/// Figures of one kind of request.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct OpStats {
    /// Number of requests.
    pub count: u64,
    /// Share of all requests, in percent.
    pub percent: f64,
    /// Total size in bytes.
    pub bytes: u64,
    /// Mean size in bytes; 0 if there are none.
    pub mean_bytes: f64,
    /// Median size in bytes (the lower one of two).
    pub median_bytes: u64,
    /// Largest size in bytes.
    pub max_bytes: u64,
    /// Distinct 4-KiB blocks touched, in MiB. 0 for flushes.
    pub footprint_mib: f64,
}

/// Properties and figures of a trace.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TraceInfo {
    /// Path of the file.
    pub file: String,
    /// Format, from the settings or recognised.
    pub format: TraceFormat,
    /// "none", "gzip", "zstd", "bzip2", "xz" or "zip".
    pub compression: &'static str,
    /// Unit of the times, from the settings, the format, or guessed.
    pub time_unit: TimeUnit,
    /// Unit of the addresses, from the settings, the format, or guessed.
    pub address_unit: AddressUnit,
    /// Requests, after selection of device, skip and head.
    pub records: u64,
    /// Lines or records of the file that are no requests (other events, other commands).
    pub skipped: u64,
    /// Time from the first to the last request, in seconds.
    pub span_s: f64,
    /// Mean arrival rate, in requests per second; absent if all arrive at once.
    pub rate_iops: Option<f64>,
    /// Mean time between two requests, in microseconds; 0 with fewer than two.
    pub mean_gap_us: f64,
    /// Reads.
    pub reads: OpStats,
    /// Writes.
    pub writes: OpStats,
    /// Trims.
    pub trims: OpStats,
    /// Flushes.
    pub flushes: OpStats,
    /// Distinct 4-KiB blocks touched by reads, writes or trims, in MiB.
    pub footprint_mib: f64,
    /// First sector touched; 0 without any.
    pub start_lba: u64,
    /// First sector after the last one touched.
    pub end_lba: u64,
    /// Share of the requests (other than flushes) that start and end on 4-KiB boundaries, in percent.
    pub aligned_percent: f64,
    /// Share of the requests (other than flushes) that start where the one before of the same kind ended, in percent.
    pub sequential_percent: f64,
    /// Share of the block accesses that go to the most-accessed 20 % of the touched blocks, in percent; absent if the trace
    /// touches too much to count.
    pub hot20_percent: Option<f64>,
    /// Names of the devices, in order of appearance.
    pub devices: Vec<String>,
    /// Guesses, roundings and records left out, one sentence each.
    pub notes: Vec<String>,
}
