//! An opened workload: its source of requests and how the engine issues them.

use crate::{FioJobs, RequestSource};
use outlast_units::{Lba, Nanos};
use std::ops::Range;

/// How the engine issues the requests of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestPacing {
    /// Open loop: each request at its own [`WorkloadRequest::at`](crate::WorkloadRequest::at), however busy the device is.
    Open,
    /// Closed loop: the next request as soon as fewer than `queue_depth` are in flight.
    Closed {
        /// Requests kept in flight; at least 1.
        queue_depth: u32,
    },
    /// Jobs: each of [`Workload::jobs`] decides by itself when it issues.
    Jobs {
        /// Requests in flight at most, of all jobs of the first group together.
        queue_depth: u32,
        /// True if every job is held back by a rate or by think time, so that none issues as fast as it is served.
        held: bool,
    },
}

/// An opened workload.
pub struct Workload {
    /// The requests in order.
    pub source: Box<dyn RequestSource>,
    /// Rule by which the engine issues them.
    pub pacing: RequestPacing,
    /// Requests that the source gives at most, if known or limited. The source itself keeps to it.
    pub requests: Option<u64>,
    /// Limit of simulated time. In an open loop the source keeps to it; in a closed loop the engine must.
    pub duration: Option<Nanos>,
    /// True if the source never ends by itself: the engine must end it, by `duration` or a limit of its own.
    pub endless: bool,
    /// Short name for reports.
    pub label: String,
    /// Sectors that requests may touch, if known without reading the trace. Preconditioning writes them.
    pub footprint: Option<Range<Lba>>,
    /// Guesses, roundings and ignored settings, one sentence each.
    pub notes: Vec<String>,
    /// Longest ramp of the jobs of the first group, which is not measured; zero without jobs.
    pub ramp: Nanos,
    /// Jobs that run side by side; `source` then gives their requests to runs without simulated time.
    pub jobs: Option<FioJobs>,
}

impl std::fmt::Debug for Workload {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Workload")
            .field("label", &self.label)
            .field("pacing", &self.pacing)
            .field("requests", &self.requests)
            .field("duration", &self.duration)
            .field("endless", &self.endless)
            .field("footprint", &self.footprint)
            .field("notes", &self.notes)
            .finish_non_exhaustive()
    }
}
