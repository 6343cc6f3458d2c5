//! What an array remembers of its life.

use crate::error::{Event, EventKind};
use crate::ranges::RangeSet;
use crate::status::Counters;
use outlast_units::Nanos;
use std::ops::Range;

/// An array remembers this many events; the first ones, since they tell how it began.
const EVENTS_MAX: usize = 1 << 16;

/// Counters, events, and data that is lost.
#[derive(Clone, Debug, Default, outlast_persist::Persist)]
pub(super) struct Ledger {
    pub(super) counters: Counters,
    events: Vec<Event>,
    /// How the devices fit, in words.
    pub(super) notices: Vec<String>,
    /// Array sectors whose content nothing can bring back; they read as errors until written.
    lost: RangeSet,
}

impl Ledger {
    /// Something has happened to the array.
    pub(super) fn event(&mut self, at: Nanos, kind: EventKind) {
        if self.events.len() < EVENTS_MAX {
            self.events.push(Event { at, kind });
        }
    }

    pub(super) fn events(&self) -> &[Event] {
        &self.events
    }

    /// Sectors of the array are lost.
    pub(super) fn lose(&mut self, sectors: Range<u64>) {
        self.counters.sectors_lost += sectors.end - sectors.start;
        self.lost.insert(sectors);
    }

    /// Lost sectors have been written anew.
    pub(super) fn find(&mut self, sectors: Range<u64>) {
        self.lost.remove(sectors);
    }

    pub(super) fn lost(&self) -> &RangeSet {
        &self.lost
    }
}
