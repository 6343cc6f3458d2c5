//! Everything that a finished run leaves for its summary.

use crate::drives::DriveSet;
use crate::measured::MeasuredCounts;
use crate::precondition::PreconditionRecord;
use crate::recorder::RunRecorder;
use crate::requests::RequestRecords;
use crate::summary::RunSummary;
use outlast_scenario::Scenario;
use outlast_workload::Workload;

/// Input of the summary and the tables of a run.
pub(crate) struct RunFacts<'a> {
    pub(crate) scenario: &'a Scenario,
    /// Drives at the end of the simulated time, work after the host's end included.
    pub(crate) ssd: &'a DriveSet<'a>,
    /// Counts at the moment when the host ended.
    pub(crate) measured: &'a MeasuredCounts,
    pub(crate) workload: &'a Workload,
    pub(crate) recorder: &'a RunRecorder,
    /// Records of single requests.
    pub(crate) kept: &'a RequestRecords,
    pub(crate) prepared: &'a PreconditionRecord,
    /// Summary of the twin without errors.
    pub(crate) twin: Option<&'a RunSummary>,
    /// Notes of interventions between steps, as sentences.
    pub(crate) by_hand: &'a [String],
    /// True if the run ended within its warm-up.
    pub(crate) warming: bool,
    /// True if the run was stopped before its end.
    pub(crate) partial: bool,
    /// Processor time of the run without preparation, in seconds.
    pub(crate) run_cpu_s: f64,
    pub(crate) cpu_s: f64,
    pub(crate) wall_s: f64,
}
