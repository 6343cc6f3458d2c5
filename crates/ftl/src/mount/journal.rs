//! The journal: trims and losses of logical pages, which no program unit records.

use outlast_units::Lpn;

/// Event of a logical page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, outlast_persist::Persist)]
pub(crate) enum PageEvent {
    /// The host trimmed it.
    Trimmed,
    /// Its data could not be read, and there is no other copy.
    Lost,
}

/// An entry: `event` for `count` logical pages from `first` on, one after the other, the first as number `at` of all events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, outlast_persist::Persist)]
pub(crate) struct MapJournalEntry {
    pub(crate) event: PageEvent,
    pub(crate) first: Lpn,
    pub(crate) count: u32,
    pub(crate) at: u64,
}

impl MapJournalEntry {
    /// The pages, each with the number of its event.
    pub(crate) fn pages(self) -> impl Iterator<Item = (Lpn, u64)> {
        (0..self.count).map(move |index| (self.first + index, self.at + u64::from(index)))
    }
}

/// Entries in the order of their events.
#[derive(Clone, Debug, Default, outlast_persist::Persist)]
pub(crate) struct MapJournal {
    entries: Vec<MapJournalEntry>,
    /// Number of entries after the last clearing.
    kept: usize,
}

/// Entries below which the journal is not cleared: a rule of thumb, as clearing reads all records.
const FEW: usize = 1024;

impl MapJournal {
    /// Appends `event` of `lpn`, as number `at`, to the last entry if it follows there, else as a new one.
    pub(crate) fn append(&mut self, event: PageEvent, lpn: Lpn, at: u64) {
        if let Some(last) = self.entries.last_mut()
            && last.event == event
            && last.first + last.count == lpn
            && last.at + u64::from(last.count) == at
        {
            last.count += 1;
            return;
        }
        self.entries.push(MapJournalEntry { event, first: lpn, count: 1, at });
    }

    /// The entries.
    pub(crate) fn entries(&self) -> &[MapJournalEntry] {
        &self.entries
    }

    /// True if it has doubled since it was last cleared.
    pub(crate) fn has_grown(&self) -> bool {
        self.entries.len() >= FEW.max(2 * self.kept)
    }

    /// Keeps the events that are `is_needed`.
    pub(crate) fn clear_but(&mut self, mut is_needed: impl FnMut(Lpn, u64) -> bool) {
        let all = std::mem::take(&mut self.entries);
        for entry in all {
            for (lpn, at) in entry.pages().filter(|&(lpn, at)| is_needed(lpn, at)) {
                self.append(entry.event, lpn, at);
            }
        }
        self.kept = self.entries.len();
    }
}
