//! Reading what lists the units of failed dies (section 6 of Reparo), and marking them in the mapping table (section 6.3).
//!
//! The first query after a die was found to have failed has the lists read, one page after the other from the neighbouring die; the
//! victim core marks what they name meanwhile, and those that have been left behind in it. Queries that come before it has
//! finished wait. Lists of superblocks that are not full are in memory. Where the neighbour has failed as well, or one of its lists cannot
//! be read, all cores search the mapping table instead.

use super::identifier::{MARKED, work_of};
use crate::config::{Identifier, Migration};
use crate::op::{Op, OpKind, Task, UnitWork};
use crate::ssd::Ssd;
use outlast_ftl::{ListRead, State};
use outlast_units::slab::NIL;
use outlast_units::{Lpn, Nanos};

/// How far the lists of a failed die's units have been read.
#[derive(Clone, Debug, Default)]
pub(super) enum Lists {
    /// Not yet.
    #[default]
    Unread,
    /// These are left, the next one last; and the last one of them is being read.
    Reading(Vec<ListRead>),
    /// All of them; their units are being marked.
    Marking,
    /// The units are marked.
    Marked,
    /// A list is gone: the mapping table is to be searched.
    Gone,
}

impl Lists {
    pub(super) fn is_gone(&self) -> bool {
        matches!(self, Self::Gone)
    }

    fn is_under_way(&self) -> bool {
        matches!(self, Self::Reading(_) | Self::Marking)
    }

    /// Power has failed. Where the buffer is lost (`falls_back`), older copies are current again that no list was asked for.
    pub(super) fn forget_reads(&mut self, falls_back: bool) {
        if self.is_under_way() || (falls_back && matches!(self, Self::Marked)) {
            *self = Self::Unread;
        }
    }
}

impl Ssd {
    /// Sees that lists are read which a query needs; whether it has to wait for them.
    pub(super) fn await_lists(&mut self, now: Nanos, request: u32) -> bool {
        let Some(identifier) = self.config.repair.as_ref().map(|repair| repair.identifier) else {
            return false;
        };
        if !identifier.reads_lists() {
            return false;
        }
        let Some(watch) = &mut self.watch else { return false };
        let unread = |&die: &u16| {
            let health = &watch.dies[usize::from(die)];
            health.failed && matches!(health.lists, Lists::Unread)
        };
        let unread: Vec<u16> = (0..watch.dies.len() as u16).filter(unread).collect();
        // It waits from now on: lists may have ended before the loop does.
        self.host.requests.add_part(request);
        watch.waiting.push(request);
        for &die in &unread {
            self.begin_lists(now, die, identifier == Identifier::P2lPage);
        }
        // Only now that all of them are known to be under way.
        for die in unread {
            self.read_list(now, die);
        }
        self.end_waiting(now);
        true
    }

    fn begin_lists(&mut self, now: Nanos, die: u16, by_page: bool) {
        let (core, local) = self.core_of_die(die);
        let ftl = &self.cores[core].ftl;
        let reads = ftl.list_reads(local, by_page);
        let words = ftl.mapped_pages().div_ceil(64) as usize;
        let Some(watch) = &mut self.watch else { return };
        if watch.marks[core].len() < words {
            watch.marks[core].resize(words, 0);
        }
        if let Some(mut reads) = reads {
            reads.reverse();
            watch.dies[usize::from(die)].lists = Lists::Reading(reads);
            // Of superblocks that are not full now.
            let open: Vec<Lpn> = self.cores[core].ftl.pages_on(local, true).collect();
            let cost = self.mark(die, core, &open);
            self.cores[core].cpu.occupy(now, cost);
        } else {
            self.lists_gone(die);
        }
    }

    fn lists_gone(&mut self, die: u16) {
        let Some(watch) = &mut self.watch else { return };
        watch.dies[usize::from(die)].lists = Lists::Gone;
        for record in watch.records.iter_mut().filter(|record| record.die == die) {
            record.searched = true;
        }
    }

    /// Reads the next list of die `die`, or marks what redirection says of it.
    fn read_list(&mut self, now: Nanos, die: u16) {
        let (core, _) = self.core_of_die(die);
        let Some(watch) = &mut self.watch else { return };
        let ftl = &self.cores[core].ftl;
        let Lists::Reading(reads) = &mut watch.dies[usize::from(die)].lists else { return };
        let pus = ftl.layout().pus_per_superblock();
        let is_there = |read: &ListRead| {
            let state = ftl.state(outlast_units::SuperblockId(read.pu / pus));
            matches!(state, State::Sealed | State::Collecting)
        };
        // Superblocks erased since hold nothing of the failed die any more.
        while reads.last().is_some_and(|read| !is_there(read)) {
            reads.pop();
        }
        if let Some(read) = reads.last() {
            let units = ftl.layout().units_per_pu();
            let mask = u64::MAX >> (64 - units);
            let work = UnitWork { request: NIL, lpn: u32::from(die), first: 0, sectors: 0 };
            let op = Op::new(OpKind::ListRead, Task::Gc, core, read.pu);
            self.queue_read(now, Op { mask, units: units as u16, work, ..op });
            return;
        }
        watch.dies[usize::from(die)].lists = Lists::Marking;
        let repair = self.config.repair.as_ref();
        let told = repair.is_some_and(|own| own.migration == Migration::Host);
        let left = if told {
            self.left_behind_units().filter(|&unit| self.place_of(unit).0 == core).count() as u64
        } else {
            0
        };
        let cost = left * repair_cost(self).0;
        let waiting = self.watch.as_ref().and_then(|watch| watch.waiting.first().copied());
        let request = waiting.expect("lists are read for a query, which waits for them");
        self.host.requests.add_part(request);
        self.hand_over(now, core, Nanos(cost), work_of(request, MARKED));
    }

    /// Marks pages of core `core`; returns the time that this takes.
    fn mark(&mut self, die: u16, core: usize, pages: &[Lpn]) -> Nanos {
        let cost = repair_cost(self);
        let Some(watch) = &mut self.watch else { return Nanos::ZERO };
        for lpn in pages {
            if let Some(word) = watch.marks[core].get_mut(lpn.index() / 64) {
                *word |= 1 << (lpn.0 % 64);
            }
        }
        for record in watch.records.iter_mut().filter(|record| record.die == die) {
            record.marked += pages.len() as u64;
        }
        Nanos(cost.0 * pages.len() as u64)
    }

    /// A page with a list has been read, or could not be.
    pub(crate) fn list_read(&mut self, now: Nanos, op: &Op) {
        let (die, core) = (op.work.lpn as u16, usize::from(op.core));
        let Some(watch) = &mut self.watch else { return };
        let Lists::Reading(reads) = &mut watch.dies[usize::from(die)].lists else { return };
        let Some(read) = reads.pop() else { return };
        if op.failing != 0 {
            self.lists_gone(die);
            self.end_waiting(now);
            return;
        }
        let pages: Vec<Lpn> = self.cores[core].ftl.listed(read).collect();
        let pages_read = u64::from(self.cores[core].ftl.layout().pages_per_pu());
        for record in watch.records.iter_mut().filter(|record| record.die == die) {
            record.lists_read += pages_read;
        }
        let cost = self.mark(die, core, &pages);
        self.cores[core].cpu.occupy(now, cost);
        self.read_list(now, die);
    }

    /// Core `core` has marked all units of its failed dies for which this was under way.
    pub(super) fn marked(&mut self, now: Nanos, core: usize) {
        let Some(watch) = &mut self.watch else { return };
        for (health, die) in watch.dies.iter_mut().zip(&self.places) {
            if die.core.index() == core && matches!(health.lists, Lists::Marking) {
                health.lists = Lists::Marked;
                // Of two dies of a core, each has a piece of work of its own, in order.
                break;
            }
        }
        self.end_waiting(now);
    }

    /// Queries go on once no list is being read.
    fn end_waiting(&mut self, now: Nanos) {
        let Some(watch) = &mut self.watch else { return };
        if watch.dies.iter().any(|health| health.lists.is_under_way()) {
            return;
        }
        for request in std::mem::take(&mut watch.waiting) {
            self.search(now, request);
            self.finish_parts(now, request, 1);
        }
    }
}

fn repair_cost(ssd: &Ssd) -> Nanos {
    ssd.config.repair.as_ref().map_or(Nanos::ZERO, |repair| repair.mark_cost)
}
