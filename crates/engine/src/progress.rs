//! What a run tells while it goes on, and what it can be told.

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

/// Where a run stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunProgress {
    /// The part under way.
    pub phase: RunPhase,
    /// How much of it is done, 0 to 1, where that can be told.
    pub fraction: Option<f64>,
    /// Requests completed (mapping units written, while preconditioning).
    pub requests: u64,
    /// Simulated time.
    pub simulated: Nanos,
}

/// What the run should do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunControl {
    /// Go on.
    Continue,
    /// Stop now; what was measured so far is the result, marked partial.
    Stop,
}

/// Called about every 50 ms of wall time.
pub type OnProgress<'a> = &'a mut dyn FnMut(&RunProgress) -> RunControl;
