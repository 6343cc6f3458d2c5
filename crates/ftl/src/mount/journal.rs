//! The journal: what happened to logical pages that no program unit tells.

use outlast_units::Lpn;

/// What happened to a logical page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, outlast_persist::Persist)]
pub(crate) enum PageEvent {
    /// Its data was given up by the host.
    Trimmed,
    /// Its data could not be read, and there is no other copy.
    Lost,
}

/// An entry: the same happened to `count` logical pages from `first` on, one after the other, the first as number `at` of all events.
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
    /// How many there were when it was last cleared of those that were needed no more.
    kept: usize,
}

/// So many entries are not looked through for those that are needed no more.
const FEW: usize = 1024;

impl MapJournal {
    /// `event` happened to `lpn`, as number `at`.
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

    /// Keeps those events of which `is_needed` says so.
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
