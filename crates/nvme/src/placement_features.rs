//! Features of flexible data placement: its configuration, and events that are recorded.

use crate::admin::AdminStep;
use crate::entry::SubmissionEntry;
use crate::facts::SubsystemFacts;
use crate::placement::ENDURANCE_GROUP;
use crate::placement_events::EVENT_TYPES;
use crate::placement_identifiers::of_handle;
use crate::plan::{CommandPlan, PlanEnd, PlannedOp, PlannedRequest};
use crate::status::NvmeStatus;

/// Flexible Data Placement.
pub(crate) const PLACEMENT: u8 = 0x1D;
/// Flexible Data Placement Events.
pub(crate) const EVENTS: u8 = 0x1E;
/// Both.
pub(crate) const NUMBERS: [u8; 2] = [PLACEMENT, EVENTS];

/// Longest data of the feature of events, in bytes: hosts bring or take as much as they like.
const LONGEST_DATA: u32 = 4096;

/// Bytes that a command on the feature of events moves: what its host has described.
pub(crate) fn types_room(entry: &SubmissionEntry) -> u32 {
    entry.sgl_length().clamp(1, LONGEST_DATA)
}

/// Gets or sets one of the features.
pub(crate) fn work(
    entry: &SubmissionEntry,
    data: &[u8],
    facts: &SubsystemFacts,
    is_set: bool,
) -> Result<AdminStep, NvmeStatus> {
    let placement = facts.placement.as_ref().ok_or(NvmeStatus::INVALID_FIELD)?;
    let asked = entry.dword(11);
    if entry.dword(10) as u8 == PLACEMENT {
        return if asked as u16 != ENDURANCE_GROUP {
            Err(NvmeStatus::INVALID_FIELD)
        } else if is_set {
            // It is changed only while the endurance group has no namespace.
            Err(NvmeStatus::SEQUENCE_ERROR)
        } else {
            Ok(AdminStep::Done(placement.feature().into(), Vec::new()))
        };
    }
    let namespace = facts.namespace(entry.namespace())?;
    let identifier = of_handle(namespace, asked as u16);
    let handle = identifier.and_then(|identifier| placement.handles.get(usize::from(identifier)).copied());
    let handle = handle.ok_or(NvmeStatus::INVALID_FIELD)?;
    let types = (asked >> 16 & 0xFF) as usize;
    let (end, cost) = if is_set {
        let kinds = data.get(..types).ok_or(NvmeStatus::INVALID_FIELD)?.to_vec();
        if kinds.iter().any(|kind| !EVENT_TYPES.contains(kind)) {
            return Err(NvmeStatus::INVALID_FIELD);
        }
        (PlanEnd::EnableEvents { handle, kinds, is_enabled: entry.dword(12) & 1 != 0 }, 0)
    } else {
        let room = types_room(entry);
        (PlanEnd::EventTypes { handle, most: types, room: room as usize }, room.into())
    };
    Ok(AdminStep::Device(CommandPlan::new([PlannedRequest::whole(PlannedOp::Placement)], end, cost)))
}
