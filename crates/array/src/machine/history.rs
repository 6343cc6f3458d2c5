//! The history of an array: counters, events, lost data.

use crate::error::{ArrayEvent, ArrayEventKind};
use crate::ids::GroupIndex;
use crate::layout::{GroupLayout, RowRange};
use crate::ranges::RangeSet;
use crate::roles::roles;
use crate::status::ArrayCounters;
use outlast_units::Nanos;
use std::ops::Range;

/// Events that are kept; later ones are dropped, since the first ones show how trouble began. Chosen freely.
const EVENTS_MAX: usize = 1 << 16;

/// Counters, events, and data that is lost.
#[derive(Clone, Debug, Default, outlast_persist::Persist)]
pub(super) struct ArrayHistory {
    pub(super) counters: ArrayCounters,
    events: Vec<ArrayEvent>,
    /// Remarks on how the devices fit together, for the user.
    pub(super) notices: Vec<String>,
    /// Array sectors whose content nothing can bring back; they read as errors until written.
    lost: RangeSet,
}

impl ArrayHistory {
    /// Keeps an event, unless there are too many already.
    pub(super) fn record_event(&mut self, at: Nanos, kind: ArrayEventKind) {
        if self.events.len() < EVENTS_MAX {
            self.events.push(ArrayEvent { at, kind });
        }
    }

    pub(super) fn events(&self) -> &[ArrayEvent] {
        &self.events
    }

    /// Adds and counts lost sectors of the array.
    pub(super) fn add_lost(&mut self, sectors: Range<u64>) {
        self.counters.sectors_lost += sectors.end - sectors.start;
        self.lost.insert(sectors);
    }

    /// Removes sectors that have been written anew.
    pub(super) fn remove_lost(&mut self, sectors: Range<u64>) {
        self.lost.remove(sectors);
    }

    pub(super) fn lost(&self) -> &RangeSet {
        &self.lost
    }

    /// True if any of `rows` of `group` is lost in one of the roles in `set`.
    #[inline]
    pub(super) fn is_lost(&self, layout: &GroupLayout, group: GroupIndex, set: u64, rows: RowRange) -> bool {
        !self.lost().is_empty()
            && roles(set).any(|role| {
                let first = layout.logical(group, role, rows.first);
                self.lost().overlaps(&(first..first + u64::from(rows.len())))
            })
    }

    /// Removes rows that have been written anew from the lost data.
    pub(super) fn clear_lost(&mut self, layout: &GroupLayout, group: GroupIndex, set: u64, rows: RowRange) {
        if self.lost().is_empty() {
            return;
        }
        for role in roles(set) {
            let first = layout.logical(group, role, rows.first);
            self.remove_lost(first..first + u64::from(rows.len()));
        }
    }
}
