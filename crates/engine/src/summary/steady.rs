//! Whether the drive, and the measurement, were steady.

use crate::facts::RunFacts;
use crate::precondition::PreconditionRecord;
use crate::steady::{OverwriteRound, is_steady};
use crate::summary::is_without_collection;
use crate::table::ResultTable;
use outlast_workload::Pacing;
use serde::Serialize;

/// SNIA PTS: range and slope excursion over five rounds.
const STEADY_RANGE: f64 = 0.2;

const STEADY_EXCURSION: f64 = 0.1;

const STEADY_ROUNDS: usize = 5;

/// Completions below which five rounds say nothing.
const STEADY_COMMANDS: u64 = 1_000;

/// Whether it was steady.
#[derive(Clone, Debug, Serialize)]
pub struct SteadyState {
    /// While preconditioning.
    pub precondition: PreconditionState,
    /// While measuring.
    pub measured: MeasuredState,
}

/// How preconditioning ended.
#[derive(Clone, Debug, Serialize)]
pub struct PreconditionState {
    /// Whether the write amplification became steady; absent where nothing was overwritten.
    pub reached: Option<bool>,
    /// Overwritten, in capacities.
    pub drive_writes: f64,
    /// Of the rounds that were compared: the last third of what was overwritten, or the last `precondition.rounds`.
    pub write_amplification: Option<f64>,
    /// Rounds.
    pub rounds: u64,
}

/// Whether the measurement was steady.
#[derive(Clone, Debug, Serialize)]
pub struct MeasuredState {
    /// Absent where it cannot be told.
    pub reached: Option<bool>,
    /// By which criterion, or why it cannot be told.
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

/// The measured time cut into five rounds of equal length: completions per second in a closed loop, mean latency in an open
/// one (where the rate is the workload's, not the drive's).
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
        let middle = window.middle() - facts.recorder.start;
        let round = (middle.0 as f64 / span.0 as f64 * STEADY_ROUNDS as f64) as usize;
        let round = &mut rounds[round.min(STEADY_ROUNDS - 1)];
        round.0 += window.served() as f64;
        round.1 += window.span().as_secs_f64();
        round.2 += window.latency_sum();
    }
    if windows.len() < 4 * STEADY_ROUNDS || rounds.iter().any(|round| round.0 == 0.0) {
        return unknown("too few windows to tell");
    }
    let closed = matches!(facts.workload.pacing, Pacing::Closed { .. } | Pacing::Lanes { held: false, .. });
    let values =
        rounds.map(|(count, seconds, latency)| if closed { count / seconds } else { latency / count });
    let what = if closed { "completions per second" } else { "mean latency" };
    MeasuredState {
        reached: Some(is_steady(&values, STEADY_RANGE, STEADY_EXCURSION)),
        why: format!(
            "criterion of SNIA PTS: {what} over five equal rounds, range at most 20 % and linear trend at most 10 % of the mean"
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
