//! Requests, where they come from, and what a workload must know of the device.

use crate::WorkloadError;
use outlast_device::Command;
use outlast_units::{Bytes, Nanos};

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
