//! Reading what lists the units of failed dies (section 6 of Reparo), and which units the lists name (section 6.3).
//!
//! The first query after a die was found to have failed has the lists read, one page after the other from the neighbouring die; the
//! victim core marks what they name meanwhile, and after the last one the units that have been left behind in it. Queries that come
//! before it has finished wait. Lists of superblocks that are not full are in memory. Where the neighbour has failed as well, or one of
//! its lists cannot be read, all cores search the mapping table instead.

use crate::commands::HostRequestId;
use outlast_ftl::ListRead;
use outlast_units::{CoreId, DieId, IndexVec, Lpn};
use std::collections::VecDeque;

/// What is to be done next for queries that wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListStep {
    /// Find out which lists name the units of the die, and tell [`Lists::begin`].
    Begin(DieId),
    /// Read a list of the units of the die, and tell [`Lists::read_ended`].
    Read(DieId, ListRead),
    /// All lists of the die have been read. Its core marks what is left, for the sake of that request, and tells [`Lists::marked`].
    Mark(DieId, HostRequestId),
    /// The request waits no more: search for what it asks.
    Search(HostRequestId),
}

/// How far the lists of a failed die's units have been read.
#[derive(Clone, Debug, Default, outlast_persist::Persist)]
enum Progress {
    /// Not yet.
    #[default]
    Unread,
    /// These are left, the next one last; none is being read.
    Due(Vec<ListRead>),
    /// These are left, and the last of them is being read.
    Reading(Vec<ListRead>),
    /// All have been read; what is left is being marked.
    Marking,
    /// The units are marked.
    Marked,
    /// A list is gone: the mapping table is to be searched.
    Gone,
}

/// The lists of all failed dies.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub struct Lists {
    dies: IndexVec<DieId, Progress>,
    /// Failed dies whose lists a query has asked for and that have not begun.
    to_begin: VecDeque<DieId>,
    /// Requests that wait, in order.
    waiting: VecDeque<HostRequestId>,
    /// Pages of each core that lists have named: one bit each.
    marks: IndexVec<CoreId, Vec<u64>>,
}

impl Lists {
    /// Of a drive with so many cores and dies, none of which has failed.
    pub fn new(cores: usize, dies: usize) -> Self {
        Self {
            dies: IndexVec::filled(Progress::default(), dies),
            to_begin: VecDeque::new(),
            waiting: VecDeque::new(),
            marks: IndexVec::filled(Vec::new(), cores),
        }
    }

    /// True if a list of the die's units is gone.
    pub fn is_gone(&self, die: DieId) -> bool {
        matches!(self.dies[die], Progress::Gone)
    }

    /// Request `request` waits for the lists of the dies that have failed: those not read yet are read.
    pub fn wait(&mut self, request: HostRequestId, failed: impl Iterator<Item = DieId>) {
        debug_assert!(!self.waiting.contains(&request), "a request waits once");
        let dies = &self.dies;
        let unread = failed.filter(|&die| matches!(dies[die], Progress::Unread));
        self.to_begin = unread.collect();
        self.waiting.push_back(request);
    }

    /// What is to be done next; `None` where nothing is, or something is under way that has to end first. `is_there` tells whether what a
    /// list names is still there: superblocks erased since hold nothing of the failed die any more.
    ///
    /// # Panics
    /// If no query waits for lists that are being read.
    pub fn next(&mut self, is_there: impl Fn(DieId, &ListRead) -> bool) -> Option<ListStep> {
        if let Some(die) = self.to_begin.pop_front() {
            return Some(ListStep::Begin(die));
        }
        let mut is_under_way = false;
        for (die, progress) in self.dies.indices().zip(self.dies.iter_mut()) {
            is_under_way |= matches!(progress, Progress::Due(_) | Progress::Reading(_) | Progress::Marking);
            let Progress::Due(left) = progress else { continue };
            while left.pop_if(|read| !is_there(die, read)).is_some() {}
            let Some(&read) = left.last() else {
                *progress = Progress::Marking;
                let request = self.waiting.front().expect("lists are read for a query, which waits for them");
                return Some(ListStep::Mark(die, *request));
            };
            *progress = Progress::Reading(std::mem::take(left));
            return Some(ListStep::Read(die, read));
        }
        if is_under_way { None } else { self.waiting.pop_front().map(ListStep::Search) }
    }

    /// The lists that name the units of die `die` are `reads`; `None` where one of them is gone. `pages` are the pages of the core.
    ///
    /// # Panics
    /// If the lists of the die have begun before.
    pub fn begin(&mut self, die: DieId, core: CoreId, reads: Option<Vec<ListRead>>, pages: u64) {
        assert!(matches!(self.dies[die], Progress::Unread), "the lists of die {die} are read once");
        let words = pages.div_ceil(64) as usize;
        if self.marks[core].len() < words {
            self.marks[core].resize(words, 0);
        }
        self.dies[die] = reads.map_or(Progress::Gone, |mut reads| {
            reads.reverse();
            Progress::Due(reads)
        });
    }

    /// The list of die `die` that was being read has been read; returns which it was. `None`: nobody waits for it any more.
    pub fn read_ended(&mut self, die: DieId) -> Option<ListRead> {
        let Progress::Reading(left) = &mut self.dies[die] else { return None };
        let read = left.pop();
        self.dies[die] = Progress::Due(std::mem::take(left));
        read
    }

    /// A list of die `die` could not be read. Whether anybody still waits for it.
    pub fn read_failed(&mut self, die: DieId) -> bool {
        let is_wanted = matches!(self.dies[die], Progress::Reading(_));
        if is_wanted {
            self.dies[die] = Progress::Gone;
        }
        is_wanted
    }

    /// A core has marked what was left of the first of `dies`, its own, for which this was under way. Of two dies of a core, each has a
    /// piece of work of its own, in order.
    pub fn marked(&mut self, dies: impl IntoIterator<Item = DieId>) {
        let mut dies = dies.into_iter();
        if let Some(die) = dies.find(|&die| matches!(self.dies[die], Progress::Marking)) {
            self.dies[die] = Progress::Marked;
        }
    }

    /// Lists name pages `pages` of core `core`.
    pub fn mark(&mut self, core: CoreId, pages: &[Lpn]) {
        for lpn in pages {
            if let Some(word) = self.marks[core].get_mut(lpn.index() / 64) {
                *word |= 1 << (lpn.0 % 64);
            }
        }
    }

    /// True if a list has named page `lpn` of core `core`.
    pub fn is_marked(&self, core: CoreId, lpn: Lpn) -> bool {
        self.marks[core].get(lpn.index() / 64).is_some_and(|word| word >> (lpn.0 % 64) & 1 == 1)
    }

    /// Power has failed: nobody waits any more. Where the buffer is lost (`falls_back`), older copies are current again that no list was
    /// asked for.
    pub fn power_failed(&mut self, falls_back: bool) {
        self.waiting.clear();
        self.to_begin.clear();
        for progress in &mut self.dies {
            let is_cut = matches!(progress, Progress::Due(_) | Progress::Reading(_) | Progress::Marking);
            if is_cut || (falls_back && matches!(progress, Progress::Marked)) {
                *progress = Progress::Unread;
            }
        }
    }

    /// Reads of lists that have been asked for and have not ended.
    pub fn reads_under_way(&self) -> u32 {
        self.dies.iter().filter(|progress| matches!(progress, Progress::Reading(_))).count() as u32
    }

    /// Requests that wait for lists.
    pub(crate) fn requests(&self) -> impl Iterator<Item = HostRequestId> {
        self.waiting.iter().copied()
    }

    /// Checks that nothing is under way for nobody, and that nothing that could go on is left lying.
    ///
    /// # Errors
    /// A list or a query that nothing would go on with.
    pub fn self_check(&self) -> Result<(), String> {
        let is_due = |progress: &Progress| matches!(progress, Progress::Due(_));
        let runs = |progress: &Progress| matches!(progress, Progress::Reading(_) | Progress::Marking);
        if !self.to_begin.is_empty() || self.dies.iter().any(is_due) {
            return Err("lists of a failed die's units are to be read, and nobody reads them".to_owned());
        }
        if self.dies.iter().any(runs) == self.waiting.is_empty() {
            return Err(format!("{} queries wait for lists of failed dies' units", self.waiting.len()));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
