//! Queries of the host for the units that it is to write again: the drive waits for lists, searches, and answers.

use crate::ssd::Ssd;
use outlast_controller::{CoreWork, HostRequestId, ListStep, Op, Search, broken_units, rebuilds};
use outlast_decisions::SuperblockState;
use outlast_device::{Command, LbaRun, Tag};
use outlast_ftl::ListRead;
use outlast_settings::drive::{Identifier, Migration, WriteCache};
use outlast_units::{CoreId, DieId, IndexVec, Lba, Lpn, Nanos};

impl Ssd {
    /// The master core has received a query.
    pub(crate) fn begin_status(&mut self, now: Nanos, request: HostRequestId) {
        let (Some(watch), Some(repair)) = (&mut self.context.watch, &self.context.config.repair) else {
            return;
        };
        watch.queries.begin(now, request);
        if !repair.identifier.reads_lists() {
            self.search(now, request);
            return;
        }
        watch.lists.wait(request, watch.detector.failed_dies());
        self.context.commands.requests.add_part(request);
        self.go_on_with_lists(now);
    }

    /// Does what queries that wait for lists need, until something is under way or nobody waits.
    pub(crate) fn go_on_with_lists(&mut self, now: Nanos) {
        while let Some(step) = self.next_list_step() {
            match step {
                ListStep::Begin(die) => self.begin_lists(now, die),
                ListStep::Read(die, read) => self.start_list_read(now, die, read),
                ListStep::Mark(die, request) => self.mark_left_behind(now, die, request),
                ListStep::Search(request) => {
                    self.search(now, request);
                    self.context.finish_parts(now, request, 1);
                }
            }
        }
    }

    fn next_list_step(&mut self) -> Option<ListStep> {
        let (cores, places) = (&self.cores, &self.context.places);
        let is_there = |die: DieId, read: &ListRead| {
            let ftl = cores[places[die].core].ftl();
            let superblock = ftl.layout().place(read.pu).superblock;
            matches!(
                ftl.superblock(superblock).state(),
                SuperblockState::Sealed | SuperblockState::Collecting
            )
        };
        self.context.watch.as_mut()?.lists.next(is_there)
    }

    fn begin_lists(&mut self, now: Nanos, die: DieId) {
        let (core, local) = self.context.core_of_die(die);
        let (Some(watch), Some(repair)) = (&mut self.context.watch, &self.context.config.repair) else {
            return;
        };
        let ftl = self.cores[core].ftl();
        let reads = ftl.space().pus().list_reads(local, repair.identifier == Identifier::P2lPage);
        let is_gone = reads.is_none();
        watch.lists.begin(die, core, reads, ftl.mapped_pages());
        if is_gone {
            self.note_searched(die);
        } else {
            // Those of superblocks that are not full are in memory.
            let open: Vec<Lpn> = ftl.pages_on(local, true).collect();
            self.cores[core].mark(now, &mut self.context, die, &open);
        }
    }

    /// A list of die `die` is gone: the mapping table is searched for its units.
    fn note_searched(&mut self, die: DieId) {
        for record in self.context.watch.iter_mut().flat_map(|watch| watch.records_of(die)) {
            record.searched = true;
        }
    }

    fn start_list_read(&mut self, now: Nanos, die: DieId, read: ListRead) {
        let (core, _) = self.context.core_of_die(die);
        self.cores[core].queue_list_read(now, &mut self.context, die, read.pu);
    }

    /// A page with a list has been read, or could not be.
    pub(crate) fn list_read(&mut self, now: Nanos, op: &Op) {
        let core = op.core;
        let die = op.lists_of.expect("a read of lists is for a failed die");
        let Some(watch) = &mut self.context.watch else { return };
        if op.failing != 0 {
            if watch.lists.read_failed(die) {
                self.note_searched(die);
            }
        } else if let Some(read) = watch.lists.read_ended(die) {
            let ftl = self.cores[core].ftl();
            let pages_read = u64::from(ftl.layout().pages_per_pu());
            for record in watch.records_of(die) {
                record.lists_read += pages_read;
            }
            let pages: Vec<Lpn> = ftl.listed(read).collect();
            self.cores[core].mark(now, &mut self.context, die, &pages);
        }
        self.go_on_with_lists(now);
    }

    /// All lists of die `die` have been read. Its core also marks the units left behind in it, if the host is told of them.
    fn mark_left_behind(&mut self, now: Nanos, die: DieId, request: HostRequestId) {
        let (core, _) = self.context.core_of_die(die);
        let Some(repair) = &self.context.config.repair else { return };
        let left = if repair.migration == Migration::Host {
            self.directory()
                .left_behind_units()
                .filter(|&unit| self.directory().place_of(unit).0 == core)
                .count() as u64
        } else {
            0
        };
        let cost = Nanos(left * repair.mark_cost().0);
        self.context.commands.requests.add_part(request);
        if self.cores[core].take_work(now, &mut self.context, cost, || CoreWork::Mark { request }) {
            self.cores[core].marked(now, &mut self.context, request);
        }
    }

    /// The cores look for the units that a query asks for.
    fn search(&mut self, now: Nanos, request: HostRequestId) {
        let (Some(watch), Some(repair)) = (&self.context.watch, &self.context.config.repair) else { return };
        let units =
            units_asked(self.context.commands.requests.command(request), self.context.size.sectors_per_unit);
        let (cores, entries) = (self.cores.len(), units.end - units.start);
        debug_assert!(units.end <= self.context.size.units, "only units of the drive are asked for");
        let mut search = Search {
            entries,
            searched: IndexVec::filled(false, cores),
            found: IndexVec::filled(0, cores),
            by_marks: false,
        };
        let mut found = Vec::new();
        for unit in units {
            if let Some((core, _)) = self.status_of(unit) {
                found.push(unit);
                search.found[core] += 1;
            }
        }
        for die in watch.detector.failed_dies() {
            if repair.identifier.reads_lists() && !watch.lists.is_gone(die) {
                search.by_marks = true;
            } else {
                search.searched[self.context.places[die].core] = true;
            }
        }
        let costs = search.costs(repair);
        if let Some(watch) = &mut self.context.watch {
            watch.queries.found(request, found);
        }
        for (core, &cost) in costs.iter_indexed().filter(|&(_, &cost)| cost != Nanos::ZERO) {
            self.context.commands.requests.add_part(request);
            self.cores[core].take_work(now, &mut self.context, cost, || CoreWork::Search { request });
        }
    }

    /// A query is done: what it found and is still so goes to the host.
    pub(crate) fn answer_status(&mut self, now: Nanos, request: HostRequestId, command: &Command, tag: Tag) {
        let query = self.context.watch.as_mut().and_then(|watch| watch.queries.end(now, request));
        let found = match query {
            Some((found, latency)) => {
                for record in self.context.watch.iter_mut().flat_map(|watch| &mut watch.records) {
                    record.queries += 1;
                    record.identify_busy += latency;
                }
                found
            }
            // Without repair there is no search: what is lost is known.
            None => units_asked(command, self.context.size.sectors_per_unit).collect(),
        };
        let runs = runs_of(found, command, self.context.size.sectors_per_unit, |unit| self.status_of(unit));
        self.context.commands.bytes.answer(tag, runs);
    }

    /// Answer that a query would get once its search is done, without the search and its time. Data of a failed die is in it as soon as the
    /// drive has detected the failure.
    pub fn lba_status(&self, query: &Command) -> Vec<LbaRun> {
        let last = (self.context.size.sectors.saturating_sub(query.lba.0)).min(u64::from(query.sectors));
        let query = Command { sectors: u32::try_from(last).unwrap_or(u32::MAX), ..*query };
        let per_unit = self.context.size.sectors_per_unit;
        runs_of(units_asked(&query, per_unit), &query, per_unit, |unit| {
            self.to_be_written_again(unit, |_, _, _| true)
        })
    }

    /// The core that has, or had, the data of a unit that the host is to write again, and whether it can be read; `None` of any other unit.
    fn status_of(&self, unit: u64) -> Option<(CoreId, bool)> {
        self.to_be_written_again(unit, |core, lpn, die| self.is_named(core, lpn, die))
    }

    /// As [`Ssd::status_of`]; of a page on a failed die, if it `is_named`.
    pub(crate) fn to_be_written_again(
        &self,
        unit: u64,
        is_named: impl Fn(CoreId, Lpn, DieId) -> bool,
    ) -> Option<(CoreId, bool)> {
        let (core, lpn) = self.directory().place_of(unit);
        let state = &self.cores[core];
        let slot = state.ftl().lookup(lpn);
        if !slot.is_some() {
            return state.ftl().is_lost(lpn).then_some((core, false));
        }
        let (watch, repair) = (self.context.watch.as_ref()?, self.context.config.repair.as_ref()?);
        let (pu, own) = state.ftl().layout().pu_of(slot);
        let die = state.ftl().layout().lane_of_pu(pu).die;
        if watch.detector.has_failed(die)
            && state.ftl().space().pus().is_programmed(slot)
            && is_named(core, lpn, die)
        {
            // Of a die that has failed in part the rest may still answer.
            let sound = broken_units(state.ftl(), state.faults(), pu, 1 << own) == 0;
            let by_stripe = !sound && self.cores[core].stripe_gives(&self.context, pu);
            if !(by_stripe
                && rebuilds(&self.context.config, self.context.flash.timing(), self.cores[core].ftl(), pu))
            {
                return Some((core, sound || by_stripe));
            }
        }
        // Where the drive moves such data itself, the host has nothing to do with it.
        (repair.migration == Migration::Host && self.directory().left_behind(unit).is_some())
            .then_some((core, true))
    }

    /// True if the search of the mapping table, or a list, leads to a page on failed die `die`.
    fn is_named(&self, core: CoreId, lpn: Lpn, die: DieId) -> bool {
        let (Some(watch), Some(repair)) = (&self.context.watch, &self.context.config.repair) else {
            return false;
        };
        !repair.identifier.reads_lists() || watch.lists.is_gone(die) || watch.lists.is_marked(core, lpn)
    }

    /// Power has failed: reads under way are forgotten, and those who wait for them.
    pub(crate) fn forget_queries(&mut self, now: Nanos) {
        let falls_back = self.context.write_cache() != WriteCache::Protected;
        let Some(watch) = &mut self.context.watch else { return };
        watch.queries.power_failed();
        watch.lists.power_failed(falls_back);
        watch.detector.power_failed();
        self.context.call_housekeeping(now);
    }
}

/// Runs of sectors that the host is to write again, among the units `found` by a query.
fn runs_of(
    found: impl IntoIterator<Item = u64>,
    query: &Command,
    sectors_per_unit: u32,
    status: impl Fn(u64) -> Option<(CoreId, bool)>,
) -> Vec<LbaRun> {
    let per_unit = u64::from(sectors_per_unit);
    let end = query.lba.0 + u64::from(query.sectors);
    let mut runs: Vec<LbaRun> = Vec::new();
    for unit in found {
        let Some((_, readable)) = status(unit) else { continue };
        let first = (unit * per_unit).max(query.lba.0);
        let sectors = ((unit + 1) * per_unit).min(end) - first;
        match runs.last_mut() {
            Some(run)
                if run.lba.0 + u64::from(run.sectors) == first
                    && run.readable == readable
                    && u32::try_from(u64::from(run.sectors) + sectors).is_ok() =>
            {
                run.sectors += sectors as u32;
            }
            _ => runs.push(LbaRun { lba: Lba(first), sectors: sectors as u32, readable }),
        }
    }
    runs
}

/// Units that a query asks for, each at least in part.
fn units_asked(command: &Command, sectors_per_unit: u32) -> std::ops::Range<u64> {
    let per_unit = u64::from(sectors_per_unit);
    let end = command.lba.0 + u64::from(command.sectors);
    if command.sectors == 0 { 0..0 } else { command.lba.0 / per_unit..end.div_ceil(per_unit) }
}
