//! Means over the first requests of a workload, taken for those of the whole.

use crate::error::EngineError;
use outlast_device::Op;
use outlast_units::SECTOR_BYTES;
use outlast_workload::{Workload, WorkloadTarget};

/// Requests drawn; takes a few milliseconds, even from a trace.
const REQUESTS: usize = 1 << 14;

/// Means over the first requests.
#[derive(Clone, Copy, Debug)]
pub(super) struct WorkloadSample {
    /// Requests in the sample.
    pub(super) requests: f64,
    /// Requests of the whole workload, extrapolated from its progress after the sample; infinite where only the engine ends it.
    pub(super) whole: f64,
    /// Mapping units written, per request.
    pub(super) written_units: f64,
    /// Pages read, per request.
    pub(super) read_pages: f64,
    /// Bytes read or written, per request.
    pub(super) bytes: f64,
    /// Bytes of a write.
    pub(super) write_bytes: f64,
    /// Share of requests that are reads.
    pub(super) reads: f64,
    /// Share of requests that are writes.
    pub(super) writes: f64,
    /// Share of the capacity that the workload addresses.
    pub(super) share: f64,
    /// Share of the bytes written that continue the previous write.
    pub(super) sequential: f64,
}

impl WorkloadSample {
    /// Draws the sample from `workload`, which must not be run afterwards.
    pub(super) fn of(
        workload: &mut Workload,
        target: &WorkloadTarget,
        page: u64,
    ) -> Result<Self, EngineError> {
        let mut requests = Vec::with_capacity(REQUESTS);
        while requests.len() < REQUESTS {
            let missing = REQUESTS - requests.len();
            if workload.source.fill(&mut requests, missing)? == 0 {
                break;
            }
        }
        let ended = requests.len() < REQUESTS;
        let count = requests.len() as f64;
        let (mut written, mut read_pages, mut bytes, mut write_bytes, mut continued) =
            (0u64, 0u64, 0u64, 0u64, 0u64);
        let (mut reads, mut writes) = (0u64, 0u64);
        let mut end = None;
        for request in &requests {
            let command = &request.command;
            let length = u64::from(command.sectors) * SECTOR_BYTES;
            match command.op {
                Op::Read => {
                    reads += 1;
                    bytes += length;
                    read_pages += length.div_ceil(page);
                }
                Op::Write => {
                    writes += 1;
                    bytes += length;
                    write_bytes += length;
                    written += length.div_ceil(target.unit.0);
                    continued += if end == Some(command.lba.0) { length } else { 0 };
                    end = Some(command.lba.0 + u64::from(command.sectors));
                }
                Op::Trim | Op::Flush | Op::LbaStatus | Op::Append | Op::ManageZone => {}
            }
        }
        // A source that only the engine ends has no progress to extrapolate from.
        let done = workload.source.progress().filter(|&done| done > 0.0 && !workload.endless);
        let sectors = (target.capacity.0 / SECTOR_BYTES).max(1) as f64;
        let addressed =
            workload.footprint.as_ref().map_or(sectors, |range| (range.end.0 - range.start.0) as f64);
        let mean = |sum: u64| sum as f64 / count.max(1.0);
        Ok(Self {
            requests: count,
            whole: if ended { count } else { done.map_or(f64::INFINITY, |done| count / done) },
            written_units: mean(written),
            read_pages: mean(read_pages),
            bytes: mean(bytes),
            write_bytes: write_bytes as f64 / (writes as f64).max(1.0),
            reads: mean(reads),
            writes: mean(writes),
            share: (addressed / sectors).clamp(1e-3, 1.0),
            sequential: continued as f64 / (write_bytes as f64).max(1.0),
        })
    }
}
