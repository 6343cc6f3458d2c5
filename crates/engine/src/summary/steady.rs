//! Section `steady_state` of the result: preconditioning and measurement.

use crate::facts::RunFacts;
use crate::precondition::PreconditionRecord;
use crate::steady::{OverwriteRound, is_steady};
use crate::summary::is_without_collection;
use crate::table::ResultTable;
use outlast_workload::RequestPacing;
use serde::Serialize;

/// Largest range over the rounds, as a share of the mean (SNIA PTS 2.0.2, section 2.1.24).
const STEADY_RANGE: f64 = 0.2;

/// Largest slope excursion over the rounds, as a share of the mean (same source).
const STEADY_EXCURSION: f64 = 0.1;

/// Rounds that are compared (same source).
const STEADY_ROUNDS: usize = 5;

/// Fewest completions for a verdict. Assumed: 200 in each round.
const STEADY_COMMANDS: u64 = 1_000;

/// Steady state of preconditioning and of the measurement.
#[derive(Clone, Debug, Serialize)]
pub struct SteadyState {
    /// Outcome of preconditioning.
    pub precondition: PreconditionState,
    /// Verdict on the measurement.
    pub measured: MeasuredState,
}

/// Outcome of preconditioning.
#[derive(Clone, Debug, Serialize)]
pub struct PreconditionState {
    /// True if the write amplification became steady; absent where nothing was overwritten.
    pub reached: Option<bool>,
    /// Drive writes of overwriting.
    pub drive_writes: f64,
    /// Mean write amplification of the compared rounds: the last third of all overwriting, or the last `precondition.rounds`.
    pub write_amplification: Option<f64>,
    /// Number of rounds.
    pub rounds: u64,
}

/// Verdict on the measurement.
#[derive(Clone, Debug, Serialize)]
pub struct MeasuredState {
    /// True if it was steady; absent where there is no verdict.
    pub reached: Option<bool>,
    /// Criterion, or the reason for which there is no verdict.
    pub why: String,
}

pub(crate) fn precondition_state(prepared: &PreconditionRecord) -> PreconditionState {
    PreconditionState {
        reached: prepared.steady,
        drive_writes: prepared.rounds.last().map_or(0.0, |round| round.drive_writes),
        write_amplification: prepared.amplification,
        rounds: prepared.rounds.len() as u64,
    }
}

/// Verdict on the measured time, divided into five equal rounds: by completions per second in a closed loop, by mean latency in an open one,
/// where the rate is the workload's and not the drive's.
pub(crate) fn measured_state(facts: &RunFacts<'_>) -> MeasuredState {
    let windows = facts.recorder.windows.closed();
    let span = facts.recorder.span();
    let unknown = |why: &str| MeasuredState { reached: None, why: why.to_owned() };
    if facts.warming {
        return unknown("the run ended within its warm-up");
    }
    if facts.recorder.completed.served() < STEADY_COMMANDS || span.0 == 0 {
        return unknown("too few commands to tell");
    }
    if is_without_collection(facts) {
        return unknown("no superblock was collected, so that writes may still become slower");
    }
    let mut rounds = [(0.0, 0.0, 0.0); STEADY_ROUNDS];
    for window in windows {
        // A window belongs to the round of its middle; windows are short beside rounds.
        let middle = window.middle() - facts.recorder.start;
        let round = (middle.0 as f64 / span.0 as f64 * STEADY_ROUNDS as f64) as usize;
        let round = &mut rounds[round.min(STEADY_ROUNDS - 1)];
        round.0 += window.served() as f64;
        round.1 += window.span().as_secs_f64();
        round.2 += window.latency_sum();
    }
    // With fewer windows, assigning each by its middle makes rounds too unequal.
    if windows.len() < 4 * STEADY_ROUNDS || rounds.iter().any(|round| round.0 == 0.0) {
        return unknown("too few windows to tell");
    }
    let closed = matches!(
        facts.workload.pacing,
        RequestPacing::Closed { .. } | RequestPacing::Jobs { held: false, .. }
    );
    let values =
        rounds.map(|(count, seconds, latency)| if closed { count / seconds } else { latency / count });
    let quantity = if closed { "completions per second" } else { "mean latency" };
    MeasuredState {
        reached: Some(is_steady(&values, STEADY_RANGE, STEADY_EXCURSION)),
        why: format!(
            "criterion of SNIA PTS: {quantity} over five equal rounds, range at most 20 % and linear trend at most 10 % of the mean"
        ),
    }
}

pub(crate) fn precondition_table(prepared: &PreconditionRecord) -> ResultTable {
    let mut table = ResultTable::default();
    table.counts("round", 1..=prepared.rounds.len() as u64);
    let mut measures = |name, value: fn(&OverwriteRound) -> f64| {
        table.measures(name, prepared.rounds.iter().map(value));
    };
    measures("drive_writes", |round| round.drive_writes);
    measures("write_amplification", |round| round.amplification);
    measures("spare_drift", |round| round.drift);
    measures("first_written", |round| round.first_written);
    measures("expected_drive_writes", |round| round.expected_drive_writes);
    table
}
