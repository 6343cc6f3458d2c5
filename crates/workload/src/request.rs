//! Requests, their sources, and the facts of the device that a workload depends on.

use crate::WorkloadError;
use outlast_device::{Command, RandomWriteAreas, ZoneLayout, share_of};
use outlast_units::{Bytes, Nanos, SECTOR_BYTES};

/// One request of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkloadRequest {
    /// Arrival, counted from the start of the workload. Zero throughout in a closed loop, where the engine decides.
    pub at: Nanos,
    /// The command to submit.
    pub command: Command,
}

/// A stream of requests in order of arrival.
///
/// **Call order.** `fill` any number of times until it gives 0; `rewind` at any time. After an error the source has ended:
/// `fill` gives 0 until `rewind`.
pub trait RequestSource: Send {
    /// Appends up to `max` requests to `out` in order of arrival and returns their number; 0 means the end (or `max` = 0).
    ///
    /// # Errors
    /// The trace file cannot be read or decoded; the message names file, line and field. Synthetic sources never fail here.
    fn fill(&mut self, out: &mut Vec<WorkloadRequest>, max: usize) -> Result<usize, WorkloadError>;

    /// Starts again from the beginning: the same seed and file give the same requests.
    ///
    /// # Errors
    /// The trace file cannot be opened any more.
    fn rewind(&mut self) -> Result<(), WorkloadError>;

    /// Fraction of the work done, in 0..=1, if it can be known: bytes of the trace file consumed, or requests, bytes or
    /// time of the limit. Never NaN.
    fn progress(&self) -> Option<f64>;

    /// True unless a part of the stream that ends by itself is under way, and another follows.
    fn is_in_last_phase(&self) -> bool {
        true
    }

    /// Remarks on the requests given so far for the reader of the results, one sentence each.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Facts of the device and the run that a workload depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkloadTarget {
    /// Capacity that the host sees; a workload never addresses beyond it.
    pub capacity: Bytes,
    /// Seed of the run; every random stream is a named sub-stream of it.
    pub seed: u64,
    /// Mapping unit of the device; at least one sector.
    pub unit: Bytes,
    /// Placement identifiers that the host may use, from 0 on; 0: the device has no flexible data placement.
    pub handles: u16,
    /// Zones of the device; `None` where it has none.
    pub zones: Option<ZonedTarget>,
    /// Namespaces that a job may name, from number 1 on; a job that names none has the whole device.
    pub namespaces: Vec<NamespaceTarget>,
}

/// Facts of a namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamespaceTarget {
    /// First byte on the device.
    pub start: u64,
    /// Capacity.
    pub capacity: Bytes,
    /// Bytes of a logical block.
    pub block: Bytes,
    /// True if it takes no writes.
    pub read_only: bool,
    /// Placement identifiers of the device behind its own, from 0 on; empty without flexible data placement.
    pub identifiers: Vec<u16>,
}

/// Facts of a device with zones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZonedTarget {
    /// How addresses are divided.
    pub layout: ZoneLayout,
    /// Most zones that may be partly written.
    pub active: u32,
    /// Most zones that may be open.
    pub open: u32,
    /// Zones that are full at the beginning, the first ones.
    pub filled: u32,
    /// Random write areas, if zones can have them.
    pub random_write: Option<RandomWriteAreas>,
}

impl ZonedTarget {
    /// The zones of a namespace, of which the device has `namespaces`: the zones that may be open or active at once are shared equally, as `NVMe` hosts are told.
    pub(crate) fn part(&self, own: &NamespaceTarget, namespaces: usize) -> Self {
        let bytes = self.layout.size * SECTOR_BYTES;
        let (first, zones) = ((own.start / bytes) as u32, (own.capacity.0 / bytes) as u32);
        let share = |limit: u32| share_of(limit, namespaces as u32).max(1);
        Self {
            layout: ZoneLayout { zones, ..self.layout },
            active: share(self.active),
            open: share(self.open),
            filled: self.filled.saturating_sub(first).min(zones),
            random_write: self.random_write,
        }
    }
}
