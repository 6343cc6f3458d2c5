//! Sections `host`, `time` and `throughput` of the result.

use crate::facts::RunFacts;
use crate::jobs::JobFigures;
use crate::recorder::CompletedCounts;
use outlast_device::{Op, Outcome};
use outlast_units::Bytes;
use serde::Serialize;

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
pub(super) fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Commands that ended in an error, by kind of command and by error.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct FailedCommands {
    pub reads: u64,
    pub writes: u64,
    pub trims: u64,
    pub flushes: u64,
    /// Refused because the drive, or the array, had become read-only.
    pub read_only: u64,
    /// Data that could not be read, for a read or for a write that needed it.
    pub medium_error: u64,
    /// Cut off by a loss of power.
    pub aborted: u64,
    /// Beyond the capacity.
    pub out_of_range: u64,
}

/// Commands served, and commands that failed, while measured.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct HostFigures {
    pub reads: u64,
    pub writes: u64,
    pub trims: u64,
    pub flushes: u64,
    pub bytes_read: u64,
    pub bytes_written: u64,
    pub bytes_trimmed: u64,
    /// Commands that ended in an error; the counts above do not include them.
    pub errors: u64,
    /// Failed commands by kind and by error; absent where there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<FailedCommands>,
    /// Mapping units read that were never written: they cost no flash read and flatter throughput.
    pub unmapped_reads: u64,
    /// Mapping units read from the write buffer.
    pub buffer_hits: u64,
    /// Mapping units that host reads found in the read cache; absent: 0.
    #[serde(skip_serializing_if = "is_zero")]
    pub read_cache_hits: u64,
    /// Mapping units whose page of the mapping table was in memory, where not all of the table is; absent: 0.
    #[serde(skip_serializing_if = "is_zero")]
    pub map_hits: u64,
    /// Mapping units whose page was not; absent: 0.
    #[serde(skip_serializing_if = "is_zero")]
    pub map_misses: u64,
    /// Mapping units written in place of older ones in the write buffer; absent: 0.
    #[serde(skip_serializing_if = "is_zero")]
    pub coalesced_writes: u64,
    /// Mapping units written only in part.
    pub partial_writes: u64,
    /// Figures of each job, in the order of the job file; absent for a host without jobs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<JobFigures>,
}

/// Simulated time, and time that the simulation took, in seconds.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct TimeFigures {
    pub simulated_s: f64,
    pub warm_up_s: f64,
    pub wall_s: f64,
    pub cpu_s: f64,
    pub precondition_cpu_s: f64,
    pub precondition_wall_s: f64,
}

/// Rates of served commands over simulated time; absent where no time passed, as in a run without time.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct ThroughputFigures {
    pub iops: Option<f64>,
    pub read_iops: Option<f64>,
    pub write_iops: Option<f64>,
    pub read_mib_s: Option<f64>,
    pub write_mib_s: Option<f64>,
    /// Commands simulated per second of processor time: the speed of the simulator, not of the drive.
    pub requests_per_cpu_s: f64,
}

pub(crate) fn host(facts: &RunFacts<'_>) -> HostFigures {
    let completed = &facts.recorder.completed;
    let counters = &facts.measured.counts.drives;
    let count = |op: Op| completed.commands[op as usize];
    let bytes = |op: Op| completed.bytes[op as usize];
    HostFigures {
        reads: count(Op::Read),
        writes: count(Op::Write),
        trims: count(Op::Trim),
        flushes: count(Op::Flush),
        bytes_read: bytes(Op::Read),
        bytes_written: bytes(Op::Write),
        bytes_trimmed: bytes(Op::Trim),
        errors: completed.errors(),
        failed: failed(completed),
        unmapped_reads: counters.unmapped_reads,
        buffer_hits: counters.buffer_hits,
        read_cache_hits: counters.read_cache_hits,
        map_hits: counters.map_hits,
        map_misses: counters.map_misses,
        coalesced_writes: counters.coalesced_writes,
        partial_writes: counters.partial_writes,
        jobs: facts.recorder.jobs.figures(facts.workload.jobs.as_ref(), facts.recorder.end),
    }
}

/// Failed commands; `None` if there was none.
fn failed(completed: &CompletedCounts) -> Option<FailedCommands> {
    let of = |op: Op| completed.failed[op as usize];
    (completed.errors() != 0).then(|| FailedCommands {
        reads: of(Op::Read),
        writes: of(Op::Write),
        trims: of(Op::Trim),
        flushes: of(Op::Flush),
        read_only: completed.ended(Outcome::ReadOnly),
        medium_error: completed.ended(Outcome::MediumError),
        aborted: completed.ended(Outcome::Aborted),
        out_of_range: completed.ended(Outcome::OutOfRange),
    })
}

pub(crate) fn time(facts: &RunFacts<'_>) -> TimeFigures {
    TimeFigures {
        simulated_s: facts.recorder.span().as_secs_f64(),
        warm_up_s: facts.recorder.start.as_secs_f64(),
        wall_s: facts.wall_s,
        cpu_s: facts.cpu_s,
        precondition_cpu_s: facts.prepared.cpu_s,
        precondition_wall_s: facts.prepared.wall_s,
    }
}

/// `value` per `span`; 0 for an empty span.
pub(super) fn per(value: f64, span: f64) -> f64 {
    if span > 0.0 { value / span } else { 0.0 }
}

pub(crate) fn throughput(facts: &RunFacts<'_>) -> ThroughputFigures {
    let span = facts.recorder.span().as_secs_f64();
    let completed = &facts.recorder.completed;
    // Absent rather than zero without time: no rate was measured.
    let over_time = |value: f64| (span > 0.0).then(|| value / span);
    let rate = |op: Op| over_time(completed.commands[op as usize] as f64);
    let mib = |op: Op| over_time(Bytes(completed.bytes[op as usize]).as_mib());
    ThroughputFigures {
        iops: over_time(completed.served() as f64),
        read_iops: rate(Op::Read),
        write_iops: rate(Op::Write),
        read_mib_s: mib(Op::Read),
        write_mib_s: mib(Op::Write),
        requests_per_cpu_s: per(completed.total() as f64, facts.run_cpu_s),
    }
}
