//! Latencies by the state of the array: a run with a failure mixes healthy time with degraded time, and its percentiles describe neither.

use crate::histogram::ByOp;
use crate::latency::LatencyFigures;
use outlast_array::ArrayCondition;
use outlast_device::Op;
use outlast_units::Nanos;
use serde::Serialize;

const STATES: usize = ArrayCondition::ALL.len();

/// Histograms by the state in which commands completed, each allocated at the first such command. A drive by itself has none.
#[derive(Clone, Debug, Default)]
pub(crate) struct ByState([Option<Box<ByOp>>; STATES]);

impl ByState {
    /// Counts a command that completed in `state` after `latency`.
    #[inline]
    pub(crate) fn record(&mut self, state: Option<ArrayCondition>, digits: u8, op: Op, latency: Nanos) {
        if let Some(state) = state {
            let histograms = self.0[state as usize].get_or_insert_with(|| Box::new(ByOp::new(digits)));
            histograms.of_mut(op).record(latency.0);
        }
    }

    pub(crate) fn summary(&self) -> LatencyByState {
        let of = |state: ArrayCondition| {
            let histograms = self.0[state as usize].as_deref();
            let latency = |op: Op| histograms.and_then(|by_op| LatencyFigures::of(by_op.of(op)));
            LatencyInState { read: latency(Op::Read), write: latency(Op::Write) }
        };
        LatencyByState {
            healthy: of(ArrayCondition::Healthy),
            degraded: of(ArrayCondition::Degraded),
            rebuilding: of(ArrayCondition::Rebuilding),
            resyncing: of(ArrayCondition::Resyncing),
            failed: of(ArrayCondition::Failed),
        }
    }
}

/// Latencies of the host's reads and writes by the state of the array in which they completed.
#[derive(Clone, Debug, Serialize)]
pub struct LatencyByState {
    /// Every member is present and complete, and redundancy is consistent.
    pub healthy: LatencyInState,
    /// Members are missing or lack something, and nothing is done about it.
    pub degraded: LatencyInState,
    /// Members are being rebuilt or recover what they have lost with a die, or parity moves.
    pub rebuilding: LatencyInState,
    /// Redundancy is being made consistent after a loss of power.
    pub resyncing: LatencyInState,
    /// More is missing than redundancy can restore.
    pub failed: LatencyInState,
}

/// Latencies in one state; absent where nothing completed in it.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct LatencyInState {
    pub read: Option<LatencyFigures>,
    pub write: Option<LatencyFigures>,
}
