//! Events of flexible data placement: which are recorded, and the log of them.

use std::collections::{BTreeSet, VecDeque};

use crate::bytes::put;
use crate::device::PlacementReport;

/// Types of events, in the order of [`PlacementReport::events`]: a reclaim unit not fully written, its time limit exceeded, handles modified by a reset, an invalid
/// placement identifier, media reallocated, a handle modified implicitly.
pub(crate) const EVENT_TYPES: [u8; 6] = [0x00, 0x01, 0x02, 0x03, 0x80, 0x81];
/// Types from here on are events of the controller, the others of the host.
const CONTROLLER_EVENTS: u8 = 0x80;

/// Length of the head of the log and of each event, in bytes.
const ENTRY_BYTES: usize = 64;
/// Length of the log, whatever it has, in bytes.
const LOG_BYTES: usize = 4096;
/// Most events that the log has, of the host and of the controller each.
const LOG_ENTRIES: usize = LOG_BYTES / ENTRY_BYTES - 1;

/// An event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PlacementEvent {
    kind: u8,
    /// Time at which it was noticed, in milliseconds since the device was put in service.
    noticed_ms: u64,
}

/// Events of the endurance group, which all hosts share. An event is recorded while its type is enabled for some handle.
#[derive(Clone, Debug, Default)]
pub(crate) struct PlacementEventLog {
    /// Handles and the types that are enabled for them.
    enabled: BTreeSet<(u16, u8)>,
    /// Counts of the device up to which events are recorded, or were not to be.
    seen: [u64; EVENT_TYPES.len()],
    events: VecDeque<PlacementEvent>,
}

impl PlacementEventLog {
    /// Types as descriptors of the feature: each with the bit of its being enabled for a handle.
    pub(crate) fn supported(&self, handle: u16) -> Vec<u8> {
        EVENT_TYPES
            .iter()
            .flat_map(|&kind| [kind, u8::from(self.enabled.contains(&(handle, kind)))])
            .collect()
    }

    /// Enables or disables types for a handle; what has happened up to `report` is recorded as it was enabled before.
    pub(crate) fn enable(&mut self, report: &PlacementReport, handle: u16, kinds: &[u8], is_enabled: bool) {
        self.note(report);
        for &kind in kinds {
            if is_enabled {
                self.enabled.insert((handle, kind));
            } else {
                self.enabled.remove(&(handle, kind));
            }
        }
    }

    /// Records what has happened since the last call.
    fn note(&mut self, report: &PlacementReport) {
        for ((kind, seen), &count) in EVENT_TYPES.into_iter().zip(&mut self.seen).zip(&report.events) {
            let new = count.saturating_sub(std::mem::replace(seen, count));
            if !self.enabled.iter().any(|&(_, enabled)| enabled == kind) {
                continue;
            }
            let event = PlacementEvent { kind, noticed_ms: report.now_ms };
            self.events.extend(std::iter::repeat_n(event, new.min(LOG_ENTRIES as u64) as usize));
            let is_host = kind < CONTROLLER_EVENTS;
            let same = |event: &PlacementEvent| (event.kind < CONTROLLER_EVENTS) == is_host;
            let mut surplus =
                self.events.iter().filter(|event| same(event)).count().saturating_sub(LOG_ENTRIES);
            self.events.retain(|event| {
                let goes = surplus > 0 && same(event);
                surplus -= usize::from(goes);
                !goes
            });
        }
    }

    /// The log page, oldest event first. No field of an event but its type and time is valid, and its flags say so.
    pub(crate) fn page(&mut self, report: &PlacementReport, is_host: bool) -> Vec<u8> {
        self.note(report);
        let asked = self.events.iter().filter(|event| (event.kind < CONTROLLER_EVENTS) == is_host);
        let mut page = vec![0; ENTRY_BYTES];
        for event in asked {
            let mut entry = vec![0; ENTRY_BYTES];
            entry[0] = event.kind;
            put(&mut entry, 4, &event.noticed_ms.to_le_bytes()[..6]);
            page.extend(entry);
        }
        let count = (page.len() / ENTRY_BYTES - 1) as u32;
        put(&mut page, 0, &count.to_le_bytes());
        page.resize(LOG_BYTES, 0);
        page
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_those_since_they_were_enabled_and_the_latest_of_them() {
        let report = |events| PlacementReport { events, now_ms: 7, ..PlacementReport::default() };
        let mut log = PlacementEventLog::default();
        assert_eq!(log.page(&report([5, 0, 0, 5, 5, 0]), true)[0], 0, "not enabled");
        log.enable(&report([6, 0, 0, 6, 6, 0]), 1, &[0x00, 0x80], true);
        assert_eq!(log.supported(1), [0x00, 1, 0x01, 0, 0x02, 0, 0x03, 0, 0x80, 1, 0x81, 0]);
        assert_eq!(log.supported(0), [0x00, 0, 0x01, 0, 0x02, 0, 0x03, 0, 0x80, 0, 0x81, 0]);
        let page = log.page(&report([8, 0, 0, 9, 200, 0]), true);
        assert_eq!((page.len(), page[0], page[64], page[68]), (4096, 2, 0x00, 7));
        let page = log.page(&report([8, 0, 0, 9, 200, 0]), false);
        assert_eq!((page.len(), page[0], page[64]), (64 * 64, 63, 0x80));
        log.enable(&report([9, 0, 0, 9, 200, 0]), 1, &[0x00], false);
        assert_eq!(log.page(&report([20, 0, 0, 9, 200, 0]), true)[0], 3, "one more before it was disabled");
        log.enable(&report([20, 0, 0, 9, 200, 0]), 1, &[0x01, 0x81], true);
        let page = log.page(&report([20, 2, 1, 9, 200, 1]), true);
        assert_eq!((page[0], page[64 * 4], page[64 * 5]), (5, 0x01, 0x01));
        let page = log.page(&report([20, 2, 1, 9, 200, 1]), false);
        assert_eq!(page[64 * 63], 0x81, "the latest of the controller's");
    }
}
