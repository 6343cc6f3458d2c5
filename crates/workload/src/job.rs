//! The contract between a fio job and the engine: the next step of a job, and the use of its completions.

use outlast_device::Command;
use outlast_units::Nanos;

/// The next step of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobStep {
    /// Issues this command; the caller asks for the next step at once.
    Issue(Command),
    /// Waits for a completion of its own, or, before it has begun, for the end of another job.
    Wait,
    /// Sleeps until this moment.
    SleepUntil(Nanos),
    /// Has ended and has nothing in flight.
    Ended,
}

/// How a completion enters the figures of its job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobCompletion {
    /// Counted.
    Measured,
    /// Left out: it belongs to the ramp, or the job does not run.
    Unmeasured,
    /// Left out, and the last of the ramp: the figures counted so far are discarded.
    RampEnded,
}

/// Facts of a job that are known before it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobInfo {
    /// Name of the section; clones share it.
    pub name: String,
    /// Number of its group of jobs, from 0: `stonewall` and `new_group` begin the next one.
    pub group: u32,
    /// True if the job reports together with the others of its group (`group_reporting`).
    pub grouped: bool,
    /// Most commands in flight; 1 for a synchronous ioengine.
    pub depth: u32,
    /// Limits of the rates of reads, writes and trims, in bytes per second.
    pub rate: [Option<u64>; 3],
    /// Time at the beginning that is not measured.
    pub ramp: Nanos,
    /// Text of the key `description`.
    pub description: Option<String>,
    /// Keys and values as written, those of global sections included.
    pub options: Vec<(String, String)>,
}
