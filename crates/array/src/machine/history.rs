//! The history of an array: counters, events, lost data.

use crate::error::{ArrayEvent, ArrayEventKind};
use crate::ranges::RangeSet;
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
}
