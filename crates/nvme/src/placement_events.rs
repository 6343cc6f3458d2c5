//! Events of flexible data placement: which are recorded, and the log of them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::bytes::put;
use crate::device::PlacementReport;
use crate::facts::SubsystemFacts;
use crate::placement_event::{ENTRY_BYTES, PlacementEvent};
use crate::placement_identifiers::only_namespace;

/// Types of events: a reclaim unit not fully written, its time limit exceeded, handles modified by a reset, an invalid placement identifier, media reallocated, a handle
/// modified implicitly.
pub(crate) const EVENT_TYPES: [u8; 6] = [NOT_FULLY_WRITTEN, 0x01, 0x02, INVALID_IDENTIFIER, 0x80, 0x81];
/// Those that the device counts, in the order of [`PlacementReport::events`].
const COUNTED: [u8; 5] = [NOT_FULLY_WRITTEN, 0x01, 0x02, 0x80, 0x81];
/// Of a handle that its host has updated.
const NOT_FULLY_WRITTEN: u8 = 0x00;
const INVALID_IDENTIFIER: u8 = 0x03;
/// Length of the log, whatever it has, in bytes.
const LOG_BYTES: usize = 4096;
/// Most events that the log has, of the host and of the controller each.
const LOG_ENTRIES: usize = LOG_BYTES / ENTRY_BYTES - 1;

/// Events of the endurance group, which all hosts share. An event is recorded while its type is enabled for its handle.
#[derive(Clone, Debug, Default)]
pub(crate) struct PlacementEventLog {
    /// Handles and the types that are enabled for them.
    enabled: BTreeSet<(u16, u8)>,
    /// Counts of the device up to which events are recorded, or were not to be, by reclaim unit.
    seen: Vec<[u64; COUNTED.len()]>,
    /// Writes with an identifier that their namespace does not have: its number, and the identifier.
    invalid: VecDeque<(u32, u16)>,
    /// By which namespace and identifier handles were updated since the last look, by handle and reclaim group; absent of one that was by several.
    updates: BTreeMap<(u16, u16), Option<(u32, u16)>>,
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
    pub(crate) fn enable(
        &mut self,
        facts: &SubsystemFacts,
        report: &PlacementReport,
        handle: u16,
        (kinds, is_enabled): (&[u8], bool),
    ) {
        self.note(facts, report);
        for &kind in kinds {
            if is_enabled {
                self.enabled.insert((handle, kind));
            } else {
                self.enabled.remove(&(handle, kind));
            }
        }
    }

    /// Notes a write through handle `handle` as its namespace does not have the identifier: `invalid` has the number of the namespace and the identifier.
    pub(crate) fn note_invalid(&mut self, handle: u16, invalid: (u32, u16)) {
        if self.enabled.contains(&(handle, INVALID_IDENTIFIER)) {
            let surplus = (self.invalid.len() + 1).saturating_sub(LOG_ENTRIES);
            self.invalid.drain(..surplus);
            self.invalid.push_back(invalid);
        }
    }

    /// Notes that a host updates the handle of reclaim unit `unit`, a handle in a reclaim group: `by` has the number of the namespace and the identifier.
    pub(crate) fn note_update(&mut self, unit: (u16, u16), by: (u32, u16)) {
        let noted = self.updates.entry(unit).or_insert(Some(by));
        if *noted != Some(by) {
            *noted = None;
        }
    }

    /// Records what has happened since the last call. Which of several reclaim units had more events than the log has entries is not known: they share these.
    fn note(&mut self, facts: &SubsystemFacts, report: &PlacementReport) {
        let groups = facts.namespaces.first().map_or(1, |own| usize::from(own.reclaim_groups.max(1)));
        self.seen.resize(report.events.len(), [0; COUNTED.len()]);
        let mut new = Vec::new();
        for (unit, (seen, counts)) in self.seen.iter_mut().zip(&report.events).enumerate() {
            let (handle, group) = ((unit / groups) as u16, (unit % groups) as u16);
            for ((kind, seen), &count) in COUNTED.into_iter().zip(seen).zip(counts) {
                let times = count.saturating_sub(std::mem::replace(seen, count)).min(LOG_ENTRIES as u64);
                if times != 0 && self.enabled.contains(&(handle, kind)) {
                    let updated = self.updates.get(&(handle, group)).filter(|_| kind == NOT_FULLY_WRITTEN);
                    let identifier = updated.copied().unwrap_or_else(|| only_namespace(facts, handle, group));
                    let location = Some((group, handle));
                    new.push((
                        times,
                        PlacementEvent { kind, noticed_ms: report.now_ms, identifier, location },
                    ));
                }
            }
        }
        self.updates.clear();
        // Types in their order, and the latest of each at the end.
        new.sort_by_key(|(_, event)| event.kind);
        let most = new.iter().map(|&(times, _)| times).max().unwrap_or(0);
        for left in (1..=most).rev() {
            self.events.extend(new.iter().filter(|&&(times, _)| times >= left).map(|&(_, event)| event));
        }
        self.events.extend(self.invalid.drain(..).map(|invalid| PlacementEvent {
            kind: INVALID_IDENTIFIER,
            noticed_ms: report.now_ms,
            identifier: Some(invalid),
            location: None,
        }));
        for is_host in [true, false] {
            let same = self.events.iter().filter(|event| event.is_host() == is_host).count();
            let mut surplus = same.saturating_sub(LOG_ENTRIES);
            self.events.retain(|event| {
                let goes = surplus > 0 && event.is_host() == is_host;
                surplus -= usize::from(goes);
                !goes
            });
        }
    }

    /// The log page, oldest event first.
    pub(crate) fn page(
        &mut self,
        facts: &SubsystemFacts,
        report: &PlacementReport,
        is_host: bool,
    ) -> Vec<u8> {
        self.note(facts, report);
        let asked = self.events.iter().filter(|event| event.is_host() == is_host);
        let mut page = vec![0; ENTRY_BYTES];
        page.extend(asked.flat_map(PlacementEvent::entry));
        let count = (page.len() / ENTRY_BYTES - 1) as u32;
        put(&mut page, 0, &count.to_le_bytes());
        page.resize(LOG_BYTES, 0);
        page
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::NamespaceFacts;
    use crate::placement::{ConfigurationFacts, HandleKind, PlacementFacts};

    /// Two handles in `groups` reclaim groups, each of which the namespaces of `lists` may use.
    fn facts(groups: u16, lists: &[&[u16]]) -> SubsystemFacts {
        let namespace = |list: &&[u16]| NamespaceFacts {
            offset: 0,
            blocks: 1,
            block_bytes: 512,
            preferred_blocks: 1,
            is_writable: true,
            guid: [0; 16],
            identifiers: list
                .iter()
                .flat_map(|handle| (0..groups).map(move |group| handle * groups + group))
                .collect(),
            reclaim_groups: groups,
            zones: None,
        };
        let configuration = ConfigurationFacts {
            handles: vec![HandleKind::InitiallyIsolated; 2],
            reclaim_groups: groups,
            reclaim_unit_bytes: 1,
            time_limit_s: 0,
        };
        SubsystemFacts {
            nqn: String::new(),
            serial: String::new(),
            model: String::new(),
            firmware: String::new(),
            capacity: 1,
            namespaces: lists.iter().map(namespace).collect(),
            placement: Some(PlacementFacts {
                configurations: vec![configuration],
                enabled: 0,
                handles: (0..2).flat_map(|handle| std::iter::repeat_n(handle, usize::from(groups))).collect(),
            }),
        }
    }

    fn report(events: &[[u64; 5]]) -> PlacementReport {
        PlacementReport { events: events.to_vec(), now_ms: 7, ..PlacementReport::default() }
    }

    /// Type, flags, placement identifier, namespace, group and handle of each event of a page.
    fn events(page: &[u8]) -> Vec<(u8, u8, u8, u8, u8, u8)> {
        let all = page[64..].chunks_exact(64).take(page[0].into());
        all.map(|own| (own[0], own[1], own[2], own[12], own[32], own[34])).collect()
    }

    #[test]
    fn events_are_those_since_they_were_enabled_and_the_latest_of_them() {
        let facts = facts(1, &[&[0, 1]]);
        let mut log = PlacementEventLog::default();
        let page = |log: &mut PlacementEventLog, counts, is_host| {
            log.page(&facts, &report(&[[0; 5], counts]), is_host)
        };
        log.note_invalid(1, (1, 9));
        assert_eq!(page(&mut log, [5, 0, 0, 5, 0], true)[0], 0, "not enabled");
        log.enable(&facts, &report(&[[0; 5], [6, 0, 0, 6, 0]]), 1, (&[0x00, 0x80], true));
        assert_eq!(log.supported(1), [0x00, 1, 0x01, 0, 0x02, 0, 0x03, 0, 0x80, 1, 0x81, 0]);
        assert_eq!(log.supported(0), [0x00, 0, 0x01, 0, 0x02, 0, 0x03, 0, 0x80, 0, 0x81, 0]);
        let own = page(&mut log, [8, 0, 0, 200, 0], true);
        assert_eq!((own.len(), own[0], own[64], own[68]), (4096, 2, 0x00, 7));
        let own = page(&mut log, [8, 0, 0, 200, 0], false);
        assert_eq!((own.len(), own[0], own[64]), (64 * 64, 63, 0x80));
        log.enable(&facts, &report(&[[0; 5], [9, 0, 0, 200, 0]]), 1, (&[0x00], false));
        assert_eq!(page(&mut log, [20, 0, 0, 200, 0], true)[0], 3, "one more before it was disabled");
        log.enable(&facts, &report(&[[0; 5], [20, 0, 0, 200, 0]]), 1, (&[0x01, 0x03, 0x81], true));
        log.note_invalid(1, (1, 9));
        log.note_invalid(0, (1, 8));
        let own = page(&mut log, [20, 2, 1, 200, 1], true);
        assert_eq!(events(&own)[3..], [(1, 7, 1, 1, 0, 1), (1, 7, 1, 1, 0, 1), (3, 3, 9, 1, 0, 0)]);
        let own = page(&mut log, [20, 2, 1, 200, 1], false);
        assert_eq!(own[64 * 63], 0x81, "the latest of the controller's");
    }

    #[test]
    fn an_event_names_its_group_and_handle_and_the_namespace_that_alone_has_it() {
        let mut log = PlacementEventLog::default();
        let facts = facts(2, &[&[1], &[0], &[0]]);
        for handle in [0, 1] {
            log.enable(&facts, &report(&[]), handle, (&[0x00, 0x80], true));
        }
        // Reclaim units of handle 0 in groups 0 and 1, then of handle 1.
        let counts = report(&[[1, 0, 0, 0, 0], [0; 5], [0, 0, 0, 1, 0], [2, 0, 0, 0, 0]]);
        let own = log.page(&facts, &counts, true);
        assert_eq!(events(&own), [(0, 7, 0, 1, 1, 1), (0, 4, 0, 0, 0, 0), (0, 7, 0, 1, 1, 1)]);
        assert_eq!(own[64 + 3], 1 << 7, "the group is the upper bit of the identifier");
        assert_eq!(events(&log.page(&facts, &counts, false)), [(0x80, 7, 0, 1, 0, 1)]);
    }

    #[test]
    fn an_update_is_of_the_namespace_that_asked_for_it_if_only_one_did() {
        let mut log = PlacementEventLog::default();
        let facts = facts(1, &[&[0, 1], &[1, 0]]);
        for handle in [0, 1] {
            log.enable(&facts, &report(&[]), handle, (&[0x00, 0x80], true));
        }
        log.note_update((0, 0), (2, 1));
        log.note_update((1, 0), (1, 1));
        log.note_update((1, 0), (2, 0));
        let counts = report(&[[1, 0, 0, 1, 0], [2, 0, 0, 0, 0]]);
        let own = log.page(&facts, &counts, true);
        assert_eq!(events(&own), [(0, 4, 0, 0, 0, 1), (0, 7, 1, 2, 0, 0), (0, 4, 0, 0, 0, 1)]);
        assert_eq!(events(&log.page(&facts, &counts, false)), [(0x80, 4, 0, 0, 0, 0)]);
        let later = report(&[[2, 0, 0, 1, 0], [2, 0, 0, 0, 0]]);
        assert_eq!(events(&log.page(&facts, &later, true))[3..], [(0, 4, 0, 0, 0, 0)], "asked for before");
    }

    #[test]
    fn an_event_that_is_not_enabled_for_its_handle_is_none_whatever_is_for_others() {
        let mut log = PlacementEventLog::default();
        let facts = facts(1, &[&[0, 1]]);
        log.enable(&facts, &report(&[]), 1, (&[0x00], true));
        assert_eq!(events(&log.page(&facts, &report(&[[9; 5], [0; 5]]), true)), []);
        assert_eq!(events(&log.page(&facts, &report(&[[9; 5], [1; 5]]), true)).len(), 1);
        // A flood of one reclaim unit leaves room for the other's.
        log.enable(&facts, &report(&[[9; 5], [1; 5]]), 0, (&[0x00], true));
        let own = log.page(&facts, &report(&[[900; 5], [3; 5]]), true);
        assert_eq!(own[0], 63);
        assert_eq!(events(&own).iter().filter(|event| event.5 == 1).count(), 2);
    }
}
