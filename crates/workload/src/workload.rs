//! What an opened workload is.

use crate::{FioLanes, Source};
use outlast_units::{Lba, Nanos};
use std::ops::Range;

/// How the engine issues the requests of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pacing {
    /// Each request at its own [`Request::at`](crate::Request::at), whatever the device does.
    Open,
    /// The next request as soon as fewer than `queue_depth` are in flight.
    Closed {
        /// Requests kept in flight; at least 1.
        queue_depth: u32,
    },
    /// Each lane of [`Workload::lanes`] as it says.
    Lanes {
        /// Most requests in flight of all lanes that begin together.
        queue_depth: u32,
        /// Whether rates or times to think hold some lane below its depth.
        held: bool,
    },
}

/// An opened workload.
pub struct Workload {
    /// Where the requests come from.
    pub source: Box<dyn Source>,
    /// How they are issued.
    pub pacing: Pacing,
    /// How many requests the source gives at most, where that is known or limited. The source itself keeps to it.
    pub requests: Option<u64>,
    /// Limit of simulated time. In an open loop the source keeps to it; in a closed loop the engine must.
    pub duration: Option<Nanos>,
    /// Whether nothing ends the source itself: the engine must, by `duration` or a limit of its own.
    pub endless: bool,
    /// A short name for reports.
    pub label: String,
    /// The sectors that may be touched, where known without reading the trace: what preconditioning should write.
    pub footprint: Option<Range<Lba>>,
    /// What was guessed, rounded or ignored, one sentence each.
    pub notes: Vec<String>,
    /// What the lanes leave unmeasured at their beginning, at most; zero where there are none.
    pub ramp: Nanos,
    /// Lanes that run side by side; `source` then gives their requests for runs without time.
    pub lanes: Option<FioLanes>,
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
