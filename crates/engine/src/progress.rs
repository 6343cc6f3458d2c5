//! Progress reports of a run, and the caller's answer to them.

use outlast_units::Nanos;
use std::fmt;

/// Part of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunPhase {
    /// The drive is filled and overwritten, without time.
    Precondition,
    /// The workload runs and is not measured.
    WarmUp,
    /// The workload runs and is measured.
    Run,
    /// The workload has ended; members of the array are still being rebuilt.
    Rebuild,
}

impl fmt::Display for RunPhase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Precondition => "precondition",
            Self::WarmUp => "warm-up",
            Self::Run => "run",
            Self::Rebuild => "rebuild",
        })
    }
}

/// Progress of a run at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunProgress {
    /// Current part of the run.
    pub phase: RunPhase,
    /// Share of that part which is done, 0 to 1; `None` where its length is unknown.
    pub fraction: Option<f64>,
    /// Requests completed; while preconditioning, mapping units written; while rebuilding, events handled.
    pub requests: u64,
    /// Simulated time.
    pub simulated: Nanos,
}

/// Answer to a progress report: go on or stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunControl {
    /// Go on.
    Continue,
    /// Stop now. The result covers the run so far and is marked partial.
    Stop,
}

/// Receives progress about every 50 ms of wall time.
pub type OnProgress<'a> = &'a mut dyn FnMut(&RunProgress) -> RunControl;
