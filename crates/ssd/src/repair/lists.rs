//! Reading what lists the units of failed dies (section 6 of Reparo), and which units the lists name (section 6.3).
//!
//! The first query after a die was found to have failed has the lists read, one page after the other from the neighbouring die; the
//! victim core marks what they name meanwhile, and after the last one the units that have been left behind in it. Queries that come
//! before it has finished wait. Lists of superblocks that are not full are in memory. Where the neighbour has failed as well, or one of
//! its lists cannot be read, all cores search the mapping table instead.

use crate::host::HostRequestId;
use outlast_ftl::ListRead;
use outlast_units::{CoreId, DieId, IndexVec, Lpn};
use std::collections::VecDeque;

/// What is to be done next for queries that wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListStep {
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
pub(crate) struct Lists {
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
    pub(crate) fn new(cores: usize, dies: usize) -> Self {
        Self {
            dies: IndexVec::filled(Progress::default(), dies),
            to_begin: VecDeque::new(),
            waiting: VecDeque::new(),
            marks: IndexVec::filled(Vec::new(), cores),
        }
    }

    /// True if a list of the die's units is gone.
    pub(crate) fn is_gone(&self, die: DieId) -> bool {
        matches!(self.dies[die], Progress::Gone)
    }

    /// Request `request` waits for the lists of the dies that have failed: those not read yet are read.
    pub(crate) fn wait(&mut self, request: HostRequestId, failed: impl Iterator<Item = DieId>) {
        debug_assert!(!self.waiting.contains(&request), "a request waits once");
        let dies = &self.dies;
        let unread = failed.filter(|&die| matches!(dies[die], Progress::Unread));
        self.to_begin = unread.collect();
        self.waiting.push_back(request);
    }

    /// What is to be done next; `None` where nothing is, or something is under way that has to end first. `is_there` tells whether what a
    /// list names is still there: superblocks erased since hold nothing of the failed die any more.
    pub(crate) fn next(&mut self, is_there: impl Fn(DieId, &ListRead) -> bool) -> Option<ListStep> {
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
    pub(crate) fn begin(&mut self, die: DieId, core: CoreId, reads: Option<Vec<ListRead>>, pages: u64) {
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
    pub(crate) fn read_ended(&mut self, die: DieId) -> Option<ListRead> {
        let Progress::Reading(left) = &mut self.dies[die] else { return None };
        let read = left.pop();
        self.dies[die] = Progress::Due(std::mem::take(left));
        read
    }

    /// A list of die `die` could not be read. Whether anybody still waits for it.
    pub(crate) fn read_failed(&mut self, die: DieId) -> bool {
        let is_wanted = matches!(self.dies[die], Progress::Reading(_));
        if is_wanted {
            self.dies[die] = Progress::Gone;
        }
        is_wanted
    }

    /// A core has marked what was left of the first of `dies`, its own, for which this was under way. Of two dies of a core, each has a
    /// piece of work of its own, in order.
    pub(crate) fn marked(&mut self, dies: impl IntoIterator<Item = DieId>) {
        let mut dies = dies.into_iter();
        if let Some(die) = dies.find(|&die| matches!(self.dies[die], Progress::Marking)) {
            self.dies[die] = Progress::Marked;
        }
    }

    /// Lists name pages `pages` of core `core`.
    pub(crate) fn mark(&mut self, core: CoreId, pages: &[Lpn]) {
        for lpn in pages {
            if let Some(word) = self.marks[core].get_mut(lpn.index() / 64) {
                *word |= 1 << (lpn.0 % 64);
            }
        }
    }

    /// True if a list has named page `lpn` of core `core`.
    pub(crate) fn is_marked(&self, core: CoreId, lpn: Lpn) -> bool {
        self.marks[core].get(lpn.index() / 64).is_some_and(|word| word >> (lpn.0 % 64) & 1 == 1)
    }

    /// Power has failed: nobody waits any more. Where the buffer is lost (`falls_back`), older copies are current again that no list was
    /// asked for.
    pub(crate) fn power_failed(&mut self, falls_back: bool) {
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
    pub(crate) fn reads_under_way(&self) -> u32 {
        self.dies.iter().filter(|progress| matches!(progress, Progress::Reading(_))).count() as u32
    }

    /// Checks that nothing is under way for nobody, and that nothing that could go on is left lying.
    pub(crate) fn self_check(&self) -> Result<(), String> {
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
mod tests {
    use super::*;
    use outlast_units::Pu;
    use proptest::prelude::*;

    const DIES: u16 = 4;

    fn read(die: u16, number: u32) -> ListRead {
        ListRead { pu: Pu(u32::from(die) * 100 + number), listed: Pu(number), count: 1 }
    }

    #[derive(Clone, Copy, Debug)]
    enum Event {
        Query,
        Fail(u16),
        EndRead { index: usize, is_good: bool },
        EndMark(usize),
        Erase(u16, u32),
        PowerCut { falls_back: bool },
    }

    fn event() -> impl Strategy<Value = Event> {
        prop_oneof![
            3 => Just(Event::Query),
            1 => (0..DIES).prop_map(Event::Fail),
            6 => (0usize..4, prop::bool::weighted(0.9)).prop_map(|(index, is_good)| Event::EndRead { index, is_good }),
            4 => (0usize..4).prop_map(Event::EndMark),
            1 => (0..DIES, 0u32..3).prop_map(|(die, number)| Event::Erase(die, number)),
            1 => any::<bool>().prop_map(|falls_back| Event::PowerCut { falls_back }),
        ]
    }

    proptest! {
        /// Whatever happens: every query is searched once and only when nothing is under way; each list that is there is read in order
        /// and once between two losses of power; what could go on does.
        #[test]
        fn every_query_is_answered_after_the_lists_that_it_needs(events in prop::collection::vec(event(), 0..80)) {
            let mut lists = Lists::new(1, usize::from(DIES));
            let (mut failed, mut erased) = (Vec::new(), Vec::new());
            let (mut reads, mut marks): (Vec<(DieId, ListRead)>, Vec<DieId>) = (Vec::new(), Vec::new());
            let (mut asked, mut answered, mut done) = (0u32, Vec::new(), Vec::new());
            for event in events {
                match event {
                    Event::Query => {
                        lists.wait(HostRequestId(asked), failed.iter().copied().map(DieId));
                        asked += 1;
                    }
                    Event::Fail(die) => if !failed.contains(&die) { failed.push(die) },
                    Event::EndRead { index, is_good } => if !reads.is_empty() {
                        let (die, read) = reads.remove(index % reads.len());
                        if is_good {
                            prop_assert_eq!(lists.read_ended(die), Some(read));
                        } else {
                            prop_assert!(lists.read_failed(die));
                            prop_assert!(lists.is_gone(die));
                        }
                    },
                    Event::EndMark(index) => if !marks.is_empty() {
                        lists.marked([marks.remove(index % marks.len())]);
                    },
                    Event::Erase(die, number) => erased.push(read(die, number)),
                    Event::PowerCut { falls_back } => {
                        lists.power_failed(falls_back);
                        reads.clear();
                        marks.clear();
                        done.clear();
                        answered = (0..asked).map(HostRequestId).collect();
                    }
                }
                while let Some(step) = lists.next(|_, read| !erased.contains(read)) {
                    match step {
                        ListStep::Begin(die) => {
                            let own = (0..3).map(|number| read(die.0, number)).collect();
                            lists.begin(die, CoreId(0), (die.0 != 3).then_some(own), 100);
                        }
                        ListStep::Read(die, read) => {
                            let before = done.iter().filter(|&&(own, _)| own == die).map(|&(_, listed)| listed);
                            prop_assert!(before.max().is_none_or(|last| last < read.listed), "read again, or out of order");
                            done.push((die, read.listed));
                            reads.push((die, read));
                        }
                        ListStep::Mark(die, request) => {
                            prop_assert!(!answered.contains(&request));
                            marks.push(die);
                        }
                        ListStep::Search(request) => {
                            prop_assert!(reads.is_empty() && marks.is_empty());
                            answered.push(request);
                        }
                    }
                }
                prop_assert_eq!(lists.reads_under_way() as usize, reads.len());
                lists.self_check().unwrap();
                prop_assert!(answered.is_sorted());
                prop_assert!(answered.len() as u32 == asked || !(reads.is_empty() && marks.is_empty()));
            }
        }
    }

    #[test]
    fn marks_are_of_the_core_and_the_page() {
        let mut lists = Lists::new(2, 2);
        lists.begin(DieId(1), CoreId(1), Some(Vec::new()), 130);
        lists.mark(CoreId(1), &[Lpn(64), Lpn(129), Lpn(1000)]);
        let marked: Vec<Lpn> = (0..2000).map(Lpn).filter(|&lpn| lists.is_marked(CoreId(1), lpn)).collect();
        assert_eq!(marked, [Lpn(64), Lpn(129)]);
        assert!(!(0..2000).map(Lpn).any(|lpn| lists.is_marked(CoreId(0), lpn)));
    }
}
