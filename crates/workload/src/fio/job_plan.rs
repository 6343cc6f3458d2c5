//! The checked plan of a job: limits, pace and flushes, beside the plan of its accesses.

use super::data_placement::PlacementPlan;
use super::flow::FlowOptions;
use super::job_options::{AccessKind, AccessPlan, RateProcess};
use super::job_space::JobSpace;
use super::rand::JobSeeds;
use super::zbd::ZbdPlan;
use outlast_device::Command;
use outlast_units::Lba;

/// The checked plan of a job.
#[derive(Debug)]
#[allow(clippy::struct_excessive_bools, reason = "they are fio's own flags, independent of each other")]
pub(super) struct JobPlan {
    pub(super) access: AccessPlan,
    pub(super) seeds: JobSeeds,
    pub(super) rw: AccessKind,
    pub(super) depth: u32,
    pub(super) depth_low: u32,
    pub(super) complete_min: u32,
    /// True if the ioengine submits one request at a time, and sees its completion before it submits the next.
    pub(super) synchronous: bool,
    /// Bytes of one pass, and of all passes together if `io_size` limits them.
    pub(super) size: u64,
    pub(super) io_size: Option<u64>,
    pub(super) number_ios: u64,
    pub(super) loops: u64,
    /// Microseconds; 0 for no limit and no ramp.
    pub(super) runtime: u64,
    pub(super) ramp: u64,
    /// Bytes per second by direction; 0 for no limit.
    pub(super) rate: [u64; 3],
    pub(super) process: RateProcess,
    /// Microseconds to sleep (`thinktime`), after this many requests (`thinktime_blocks`), which count when issued or when completed
    /// (`thinktime_blocks_type`), or after this many microseconds of requests (`thinktime_iotime`); 0 for none.
    pub(super) think_time: u64,
    pub(super) think_blocks: Option<u64>,
    pub(super) think_issued: bool,
    pub(super) think_every: u64,
    /// True if the job does not catch up with its rate after it has thought (`rate_ignore_thinktime`).
    pub(super) rate_ignores_think: bool,
    /// True if threads of its own submit (`io_submit_mode=offload`), so that it sleeps without waiting for requests in flight.
    pub(super) offloads: bool,
    pub(super) flow: FlowOptions,
    /// Writes from one flush to the next (`fsync`, `fdatasync`); 0 for none.
    pub(super) fsync: [u64; 2],
    pub(super) end_fsync: bool,
    pub(super) fua: bool,
    /// Placement identifiers of writes; absent: none.
    pub(super) placement: Option<PlacementPlan>,
    /// The namespace that the job's file is; absent: the whole device.
    pub(super) space: Option<JobSpace>,
    /// Zones; absent without `zonemode=zbd`.
    pub(super) zbd: Option<ZbdPlan>,
    /// True if every pass begins with the same seeds.
    pub(super) reseeds: bool,
}

impl JobPlan {
    /// Command of the job as the device sees it.
    #[inline]
    pub(super) fn on_device(&self, mut command: Command) -> Command {
        if let Some(space) = &self.space {
            space.place(&mut command);
        }
        command
    }

    /// The sector of the job's file that is sector `lba` of the device.
    pub(super) fn in_file(&self, lba: Lba) -> Lba {
        self.space.as_ref().map_or(lba, |space| space.unplace(lba))
    }

    pub(super) fn writes(&self) -> bool {
        matches!(self.rw, AccessKind::Write | AccessKind::Mixed | AccessKind::TrimWrite)
    }

    /// True if each range is trimmed and then written.
    pub(super) fn trims_first(&self) -> bool {
        self.rw == AccessKind::TrimWrite
    }

    pub(super) fn mixed(&self) -> bool {
        self.rw == AccessKind::Mixed
    }

    /// Bytes of all loops, after which the job ends.
    pub(super) fn limit(&self) -> u64 {
        self.io_size.unwrap_or(self.size).saturating_mul(self.loops)
    }

    /// Bytes of one pass: as in fio `size`, but up to `io_size` for random writes without a random map, and more where each range
    /// is trimmed and then written.
    pub(super) fn pass_bytes(&self) -> u64 {
        let bytes = if self.writes() && self.access.random && !self.access.covers_once() {
            self.size.max(self.io_size.unwrap_or(0))
        } else {
            self.size
        };
        if self.trims_first() { bytes.saturating_add(self.limit()) } else { bytes }
    }

    pub(super) fn checks_rate(&self) -> bool {
        self.rate.iter().any(|&rate| rate != 0)
    }

    /// True if the amount of data never ends the job, only its runtime.
    pub(super) fn is_endless(&self) -> bool {
        self.access.time_based
    }
}
