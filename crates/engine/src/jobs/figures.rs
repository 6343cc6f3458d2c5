//! Figures of a job in the result, as serialized.

use crate::latency::LatencyFigures;
use serde::Serialize;

/// One job: a section of the job file, one of its clones, or a group of jobs that report together.
#[derive(Clone, Debug, Serialize)]
pub struct JobFigures {
    /// Name of the job; for a group that reports together, of its first.
    pub name: String,
    /// Number of its group, from 0: `stonewall` and `new_group` begin a new one.
    pub group: u32,
    /// Jobs in this entry: more than 1 with `group_reporting`.
    pub members: u32,
    /// Beginning of the job, in seconds of simulated time.
    pub begin_s: f64,
    /// Measured time in seconds: from its beginning, or the end of its ramp, to its end; the longest of a group.
    pub runtime_s: f64,
    #[allow(missing_docs, reason = "the names say it")]
    pub read: Option<JobDirection>,
    #[allow(missing_docs, reason = "the names say it")]
    pub write: Option<JobDirection>,
    #[allow(missing_docs, reason = "the names say it")]
    pub trim: Option<JobDirection>,
    /// Flushes.
    pub sync: Option<JobDirection>,
    /// Percent of requests issued while 1, 2 to 3, 4 to 7, 8 to 15, 16 to 31, 32 to 63, and 64 or more of the job were in flight.
    pub iodepth_level: [f64; 7],
    /// Description of the job.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Options as in the job file, global ones included.
    pub options: std::collections::BTreeMap<String, String>,
}

/// One direction of a job.
#[derive(Clone, Debug, Serialize)]
pub struct JobDirection {
    /// Requests served while the job was measured.
    pub ios: u64,
    /// Bytes of these requests.
    pub bytes: u64,
    /// Requests per second of the job's runtime.
    pub iops: f64,
    /// MiB per second of the job's runtime.
    pub mib_s: f64,
    /// Requests that ended in an error; `ios` does not include them.
    pub errors: u64,
    /// Latencies of served requests, in microseconds; absent where none was.
    pub latency_us: Option<JobLatency>,
    /// MiB per second over half seconds of simulated time; absent in shorter runs.
    pub mib_s_samples: Option<RateSamples>,
    /// Requests per second over half seconds of simulated time; absent in shorter runs.
    pub iops_samples: Option<RateSamples>,
}

/// A distribution of latencies with its standard deviation.
#[derive(Clone, Debug, Serialize)]
pub struct JobLatency {
    /// Count, mean, percentiles and extremes.
    #[serde(flatten)]
    pub distribution: LatencyFigures,
    /// Standard deviation in microseconds, over one less than the number of samples.
    pub stddev: f64,
}

/// Samples of a rate.
#[derive(Clone, Copy, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct RateSamples {
    pub count: u64,
    pub mean: f64,
    pub stddev: f64,
    pub min: f64,
    pub max: f64,
}
