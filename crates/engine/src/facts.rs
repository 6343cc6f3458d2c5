//! What a run leaves to be summed up.

use crate::drives::Drives;
use crate::measured::Measured;
use crate::precondition::Prepared;
use crate::recorder::Recorder;
use crate::requests::Kept;
use crate::summary::Summary;
use outlast_scenario::Scenario;
use outlast_workload::Workload;

/// Everything that a summary is made of.
pub(crate) struct Facts<'a> {
    pub(crate) scenario: &'a Scenario,
    /// The drives as they are at the end of all that was simulated.
    pub(crate) ssd: &'a Drives<'a>,
    /// What they had counted when the host ended.
    pub(crate) measured: &'a Measured,
    pub(crate) workload: &'a Workload,
    pub(crate) recorder: &'a Recorder,
    /// What was kept of single requests.
    pub(crate) kept: &'a Kept,
    pub(crate) prepared: &'a Prepared,
    /// What the twin without errors found.
    pub(crate) twin: Option<&'a Summary>,
    /// What was done to the run by hand, in words.
    pub(crate) by_hand: &'a [String],
    /// Whether the run ended within its warm-up.
    pub(crate) warming: bool,
    pub(crate) partial: bool,
    pub(crate) run_cpu_s: f64,
    pub(crate) cpu_s: f64,
    pub(crate) wall_s: f64,
}
