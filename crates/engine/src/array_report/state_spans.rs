//! States of an array over time, derived from its events.

use crate::volume::ArrayVolume;
use outlast_array::{ArrayEventKind, ArrayHealth, RepairStep};
use outlast_units::Nanos;
use std::collections::BTreeSet;

/// Time during which an array stayed in one state.
pub(super) struct StateSpan {
    pub(super) from: Nanos,
    pub(super) until: Nanos,
    pub(super) state: ArrayHealth,
}

/// States of the array in order of time, derived from its events. The first span begins clean at zero.
pub(super) fn spans(volume: &ArrayVolume, end: Nanos) -> Vec<StateSpan> {
    let (mut missing, mut lost) = (BTreeSet::new(), false);
    // Members with a failed die whose data is not restored yet.
    let mut repairing = BTreeSet::new();
    let mut spans = vec![StateSpan { from: Nanos::ZERO, until: end, state: ArrayHealth::Clean }];
    for event in volume.array.events() {
        match event.kind {
            ArrayEventKind::MemberFailed { member, failed } => {
                missing.insert(member);
                // `failed`: more is missing than redundancy can restore.
                lost = failed;
            }
            ArrayEventKind::Replaced { member, .. } | ArrayEventKind::RebuildStarted { member } => {
                missing.insert(member);
            }
            ArrayEventKind::Rebuilt { member } => {
                missing.remove(&member);
                // An array that lost data counts as failed until its last member is back.
                lost &= !missing.is_empty();
            }
            // An array that is off serves no data, like one that has failed.
            ArrayEventKind::NotStarted { .. } => lost = true,
            ArrayEventKind::Repair { member, step, .. } => match step {
                RepairStep::DieFailed | RepairStep::LastRepair | RepairStep::BeyondRepair => {
                    repairing.insert(member);
                }
                RepairStep::Done | RepairStep::Abandoned => {
                    repairing.remove(&member);
                }
                // Nothing is missing yet, or nothing more than before.
                RepairStep::DieFailing | RepairStep::Waits | RepairStep::Started => continue,
            },
            _ => continue,
        }
        let state = match (lost, missing.is_empty() && repairing.is_empty()) {
            (true, _) => ArrayHealth::Failed,
            (_, true) => ArrayHealth::Clean,
            _ => ArrayHealth::Degraded,
        };
        // Events that leave the state as it was extend the span.
        if let Some(last) = spans.last_mut().filter(|last| last.state != state) {
            last.until = event.at;
            spans.push(StateSpan { from: event.at, until: end.max(event.at), state });
        }
    }
    spans
}
