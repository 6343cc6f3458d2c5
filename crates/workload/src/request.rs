//! Requests, where they come from, and what an opened workload is.

use crate::{FioLanes, WorkloadError};
use outlast_device::Command;
use outlast_units::{Bytes, Lba, Nanos};
use std::ops::Range;

/// One request of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Arrival, counted from the start of the workload. Zero throughout in a closed loop, where the engine decides.
    pub at: Nanos,
    /// What is asked.
    pub command: Command,
}

/// A stream of requests in order of arrival.
///
/// **Call order.** `fill` any number of times until it gives 0; `rewind` at any time. After an error the source has ended:
/// `fill` gives 0 until `rewind`.
pub trait Source: Send {
    /// Appends up to `max` requests to `out` in order of arrival; returns how many. 0 means the end (or `max` = 0).
    ///
    /// # Errors
    /// What the trace file holds cannot be read or makes no sense; the message names file, line and field. Synthetic
    /// sources never fail here.
    fn fill(&mut self, out: &mut Vec<Request>, max: usize) -> Result<usize, WorkloadError>;

    /// Starts again from the beginning: the same seed and file give the same requests.
    ///
    /// # Errors
    /// The trace file cannot be opened any more.
    fn rewind(&mut self) -> Result<(), WorkloadError>;

    /// Fraction of the work done, in 0..=1, where it can be told: bytes of the trace file consumed, or requests, bytes or
    /// time of the limit. Never NaN.
    fn progress(&self) -> Option<f64>;

    /// What a reader of the results must know about the requests given so far, one sentence each.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
}

/// The facts of the device that a workload needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// Capacity that the host sees; a workload never addresses beyond it.
    pub capacity: Bytes,
    /// The run's one seed; every random stream is a named sub-stream of it.
    pub seed: u64,
    /// The unit in which the device maps (a fit of trace addresses is aligned to it); at least one sector.
    pub unit: Bytes,
}

/// How the engine issues the requests of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pacing {
    /// Each request at its own [`Request::at`], whatever the device does.
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
