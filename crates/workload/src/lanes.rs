//! Queues of the host that run side by side, each with its own depth, rates and end.

use outlast_device::Command;
use outlast_units::Nanos;

/// What a lane does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// It issues this, and is to be asked again at once.
    Issue(Command),
    /// It waits for one of its commands to complete, or has not begun: whoever ends may let it.
    Wait,
    /// It sleeps until then.
    Until(Nanos),
    /// It has ended and has nothing in flight.
    Ended,
}

/// What a completed command is to its lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noted {
    /// It is measured.
    Counted,
    /// It belongs to the lane's ramp and is not measured.
    Passed,
    /// With it the ramp ends, and what was counted before is forgotten.
    RampEnded,
}

/// What is known of a lane before it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneInfo {
    /// The job's name; clones share it.
    pub name: String,
    /// Number of the group that the lane belongs to, from 0.
    pub group: u32,
    /// Whether the lane reports together with the others of its group.
    pub grouped: bool,
    /// Most commands in flight.
    pub depth: u32,
    /// Rate that it is held to, for reads, writes and trims, in bytes per second.
    pub rate: [Option<u64>; 3],
    /// What it does not measure at its beginning.
    pub ramp: Nanos,
    /// Description of the job.
    pub description: Option<String>,
    /// The options of the job as given, global ones included.
    pub options: Vec<(String, String)>,
}
