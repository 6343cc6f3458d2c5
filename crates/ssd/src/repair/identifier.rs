//! Which units the host is to write again: sections 4.2.2, 5.1, 5.2.3 and 6.3 of Reparo.
//!
//! A query costs the processors time, which host commands share. The answer goes to the host in a descriptor of 16 bytes a run, whose
//! time on the link is neglected. Between the search and the answer units may be written: those are left out.

use crate::config::{Identifier, Migration, Rebuild};
use crate::op::UnitWork;
use crate::read::broken_units;
use crate::ssd::Ssd;
use outlast_device::{Command, LbaRun, Tag};
use outlast_ftl::{Axis, Member};
use outlast_units::slab::NIL;
use outlast_units::{Bytes, Lba, Lpn, Nanos};

impl Identifier {
    /// Whether it reads lists of the neighbouring die.
    pub(crate) fn reads_lists(self) -> bool {
        matches!(self, Self::P2lPage | Self::P2lBlock)
    }
}

/// A query under way.
#[derive(Clone, Debug)]
pub(crate) struct Query {
    since: Nanos,
    /// Units found, in order.
    found: Vec<u64>,
}

/// What a piece of a query's work is: in place of the first sector of a unit.
pub(super) const SEARCHED: u16 = 0;
pub(super) const MARKED: u16 = 1;

impl Ssd {
    /// The master core has received a query.
    pub(crate) fn begin_status(&mut self, now: Nanos, request: u32) {
        if let Some(watch) = &mut self.watch {
            watch.queries.insert(request, Query { since: now, found: Vec::new() });
        }
        if self.await_lists(now, request) {
            return;
        }
        self.search(now, request);
    }

    /// The cores look for the units that a query asks for.
    pub(super) fn search(&mut self, now: Nanos, request: u32) {
        let (Some(watch), Some(repair)) = (&self.watch, &self.config.repair) else { return };
        let units = self.units_asked(self.host.requests.command(request));
        let entries = units.end - units.start;
        let cores = self.cores.len();
        let (mut found, mut found_by) = (Vec::new(), vec![0u64; cores]);
        for unit in units {
            if let Some((core, _)) = self.status_of(unit) {
                found.push(unit);
                found_by[core] += 1;
            }
        }
        let (mut searched, mut by_marks) = (vec![false; cores], false);
        for (die, health) in self.places.iter().zip(&watch.dies).filter(|(_, health)| health.failed) {
            if repair.identifier.reads_lists() && !health.lists.is_gone() {
                by_marks = true;
            } else {
                searched[die.core.index()] = true;
            }
        }
        let is_alone = repair.identifier == Identifier::L2pOneCore;
        let all_search = !is_alone && searched.contains(&true);
        let mut costs = vec![0u64; cores];
        for (core, cost) in costs.iter_mut().enumerate() {
            let share = entries / cores as u64 + u64::from((core as u64) < entries % cores as u64);
            if searched[core] {
                let each = if is_alone { repair.scan_cost } else { repair.copy_cost };
                *cost += entries * each.0 + found_by[core] * repair.found_cost.0;
            }
            *cost += share * if all_search { repair.scan_cost.0 } else { 0 };
            *cost += share * if by_marks { repair.marked_scan_cost.0 } else { 0 };
        }
        if let Some(query) = self.watch.as_mut().and_then(|watch| watch.queries.get_mut(&request)) {
            query.found = found;
        }
        for (core, cost) in costs.into_iter().enumerate().filter(|&(_, cost)| cost != 0) {
            self.host.requests.add_part(request);
            self.hand_over(now, core, Nanos(cost), work_of(request, SEARCHED));
        }
    }

    /// A core has done its part of a query.
    pub(crate) fn status_step(&mut self, now: Nanos, core: usize, work: UnitWork) {
        if work.first == MARKED {
            self.marked(now, core);
        }
        self.finish_parts(now, work.request, 1);
    }

    /// A query is done: what it found and is still so goes to the host.
    pub(crate) fn answer_status(&mut self, now: Nanos, request: u32, command: &Command, tag: Tag) {
        let query = self.watch.as_mut().and_then(|watch| watch.queries.remove(&request));
        let found = match query {
            Some(query) => {
                let latency = now.saturating_sub(query.since);
                for record in self.watch.iter_mut().flat_map(|watch| &mut watch.records) {
                    record.queries += 1;
                    record.identify_busy += latency;
                }
                query.found
            }
            // Without repair there is no search: what is lost is known.
            None => self.units_asked(command).collect(),
        };
        let per_unit = u64::from(self.sectors_per_unit);
        let end = command.lba.0 + u64::from(command.sectors);
        let mut runs: Vec<LbaRun> = Vec::new();
        for unit in found {
            let Some((_, readable)) = self.status_of(unit) else { continue };
            let first = (unit * per_unit).max(command.lba.0);
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
        self.host.bytes.answer(tag, runs);
    }

    fn units_asked(&self, command: &Command) -> std::ops::Range<u64> {
        let per_unit = u64::from(self.sectors_per_unit);
        let end = command.lba.0 + u64::from(command.sectors);
        if command.sectors == 0 { 0..0 } else { command.lba.0 / per_unit..end.div_ceil(per_unit) }
    }

    /// Whether the host is to write a unit again: then the core that has, or had, its data, and whether it can be read.
    fn status_of(&self, unit: u64) -> Option<(usize, bool)> {
        let (core, lpn) = self.place_of(unit);
        let state = &self.cores[core];
        let slot = state.ftl.lookup(Lpn(lpn));
        if !slot.is_some() {
            return state.ftl.is_lost(Lpn(lpn)).then_some((core, false));
        }
        let (watch, repair) = (self.watch.as_ref()?, self.config.repair.as_ref()?);
        let (pu, own) = state.ftl.layout().pu_of(slot);
        let die = state.ftl.layout().lane_of_pu(pu).die.0;
        if watch.is_failed(die) && state.ftl.is_programmed(slot) && self.is_named(core, lpn, die) {
            // Of a die that has failed in part the rest may still answer.
            let sound = broken_units(&state.ftl, state.faults.as_ref(), pu, 1 << own) == 0;
            let by_stripe = !sound && self.stripe_gives(core, pu);
            if !(by_stripe && self.rebuilds(core, pu)) {
                return Some((core, sound || by_stripe));
            }
        }
        // Where the drive moves such data itself, the host has nothing to do with it.
        (repair.migration == Migration::Host && self.left_behind(unit).is_some()).then_some((core, true))
    }

    /// Whether the search of the mapping table, or a list, leads to a page on a failed die.
    fn is_named(&self, core: usize, lpn: u32, die: u16) -> bool {
        let (Some(watch), Some(repair)) = (&self.watch, &self.config.repair) else { return false };
        !repair.identifier.reads_lists()
            || watch.dies[usize::from(die)].lists.is_gone()
            || watch.marks[core].get(lpn as usize / 64).is_some_and(|word| word >> (lpn % 64) & 1 == 1)
    }

    /// Whether the stripes of the drive can give what was in program unit `pu`, as far as firmware knows.
    fn stripe_gives(&self, core: usize, pu: u32) -> bool {
        let ftl = &self.cores[core].ftl;
        let is_there = |member: &Member| match member {
            Member::Empty | Member::Buffered(_) => true,
            Member::OnFlash(pu) => !self.is_out_of_reach(core, *pu),
            Member::Gone => false,
        };
        let gives = |axis: Axis| {
            let needed = ftl.line_needs(pu, axis);
            needed.is_some_and(|needed| ftl.line_of(pu, axis).filter(is_there).count() as u32 >= needed)
        };
        Axis::ALL.into_iter().any(gives)
    }

    /// Whether the drive itself rebuilds what was in program unit `pu`, if its stripes can: see [`Rebuild`].
    pub(crate) fn rebuilds(&self, core: usize, pu: u32) -> bool {
        let Some(repair) = &self.config.repair else { return false };
        let ftl = &self.cores[core].ftl;
        match repair.rebuild {
            Rebuild::Host => false,
            Rebuild::Device => true,
            Rebuild::Cheapest => {
                let Some(link) = self.config.controller.link else { return true };
                let needs = Axis::ALL.into_iter().filter_map(|axis| ftl.line_needs(pu, axis)).min();
                let layout = ftl.layout();
                let rows = layout.first_page(pu)..layout.first_page(pu) + layout.rows_per_pu();
                let sense = rows.fold(Nanos::ZERO, |sum, row| sum + self.flash.timing().read(row));
                let each = sense + self.flash.timing().transfer(layout.units_per_pu());
                let dies = ftl.live_lanes().count() as u64;
                let inside = u64::from(needs.unwrap_or(1)) * each.0 / dies.max(1);
                let bytes = u64::from(layout.units_per_pu()) * self.config.ftl.mapping_unit.0;
                inside <= 2 * link.time_for(Bytes(bytes)).0
            }
        }
    }
}

/// Work of a flash core for a query that is of none of its units.
pub(super) fn work_of(request: u32, what: u16) -> UnitWork {
    UnitWork { request, lpn: NIL, first: what, sectors: 0 }
}
