//! Which units the host is to write again: sections 4.2.2, 5.1, 5.2.3 and 6.3 of Reparo.
//!
//! A query costs the processors time, which host commands share. The answer goes to the host in a descriptor of 16 bytes a run, whose
//! time on the link is neglected. Between the search and the answer units may be written: those are left out.

use crate::commands::HostRequestId;
use outlast_ftl::{CodeAxis, Ftl};
use outlast_media::TimingTable;
use outlast_settings::drive::{Identifier, Rebuild, RepairConfig, SsdConfig};
use outlast_units::{Bytes, CoreId, IndexVec, ListMap, Nanos, Pu, Row};

/// A query under way.
#[derive(Clone, Debug, outlast_persist::Persist)]
struct Query {
    since: Nanos,
    /// Units found, in order.
    found: Vec<u64>,
}

/// The queries under way, by request.
#[derive(Clone, Debug, Default, outlast_persist::Persist)]
pub struct Queries(ListMap<HostRequestId, Query>);

impl Queries {
    /// A query has arrived.
    ///
    /// # Panics
    /// If the request is a query already.
    pub fn begin(&mut self, now: Nanos, request: HostRequestId) {
        let before = self.0.insert(request, Query { since: now, found: Vec::new() });
        assert!(before.is_none(), "request {request} is one query");
    }

    /// The search for a query has found `units`, in order.
    pub fn found(&mut self, request: HostRequestId, units: Vec<u64>) {
        debug_assert!(units.is_sorted(), "units are searched in order");
        if let Some(query) = self.0.get_mut(request) {
            query.found = units;
        }
    }

    /// A query ends: what was found, and how long it took.
    pub fn end(&mut self, now: Nanos, request: HostRequestId) -> Option<(Vec<u64>, Nanos)> {
        self.0.remove(request).map(|query| (query.found, now.saturating_sub(query.since)))
    }

    /// Power has failed: no query under way will be answered.
    pub fn power_failed(&mut self) {
        self.0.clear();
    }

    /// Requests of the queries under way.
    pub fn requests(&self) -> impl Iterator<Item = HostRequestId> {
        self.0.keys()
    }
}

/// What the search for a query has to look at.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub struct Search {
    /// Entries of the mapping table.
    pub entries: u64,
    /// Cores with a failed die whose units no list names; and units found, by core.
    pub searched: IndexVec<CoreId, bool>,
    /// Units found, by core.
    pub found: IndexVec<CoreId, u64>,
    /// True if lists name the units of a failed die.
    pub by_marks: bool,
}

impl Search {
    /// The time that it takes of each core.
    pub fn costs(&self, repair: &RepairConfig) -> IndexVec<CoreId, Nanos> {
        let cores = self.searched.len() as u64;
        debug_assert!(self.found.len() == self.searched.len(), "one entry for each core");
        let is_alone = repair.identifier == Identifier::L2pOneCore;
        let victim = self.searched.iter().position(|&searched| searched).map_or(0, |core| core as u64);
        let together = repair.search_cores.map_or(cores, u64::from).clamp(1, cores);
        let all_search = !is_alone && self.searched.iter().any(|&searched| searched);
        // The `index`-th of so many that share the entries.
        let part = |index: u64, of: u64| {
            if index < of { self.entries / of + u64::from(index < self.entries % of) } else { 0 }
        };
        let cost = |(core, &searched): (CoreId, &bool)| {
            let number = u64::from(core.0);
            let share = part(number, cores);
            let mut cost = 0;
            if searched {
                let each = if is_alone { repair.scan_cost() } else { repair.copy_cost() };
                cost += self.entries * each.0 + self.found[core] * repair.found_cost().0;
            }
            if all_search {
                // With all cores the first one takes what is left over; else the victim is the first, and those after it help.
                let index = if together == cores { number } else { (number + cores - victim) % cores };
                cost += part(index, together) * repair.scan_cost().0;
            }
            cost += share * if self.by_marks { repair.marked_scan_cost().0 } else { 0 };
            Nanos(cost)
        };
        self.searched.iter_indexed().map(cost).collect()
    }
}

/// True if the drive itself rebuilds what was in program unit `pu`, where its stripes can: see [`Rebuild`].
pub fn rebuilds(config: &SsdConfig, timing: &TimingTable, ftl: &Ftl, pu: Pu) -> bool {
    let Some(repair) = &config.repair else { return false };
    match repair.rebuild {
        Rebuild::Host => false,
        Rebuild::Device => true,
        Rebuild::Cheapest => {
            let Some(link) = config.controller.link else { return true };
            let needs = CodeAxis::ALL.into_iter().filter_map(|axis| ftl.parity().line_needs(pu, axis)).min();
            let layout = ftl.layout();
            let mode = ftl.superblock(layout.place(pu).superblock).mode();
            let rows = layout.first_page(pu)..layout.first_page(pu) + layout.rows_per_pu();
            let sense = Row::each(rows).fold(Nanos::ZERO, |sum, row| sum + timing.read(mode, row));
            let each = sense + timing.transfer(layout.units_per_pu());
            let dies = ftl.space().pus().live_lanes().count() as u64;
            let inside = u64::from(needs.unwrap_or(1)) * each.0 / dies.max(1);
            let bytes = u64::from(layout.units_per_pu()) * config.ftl.mapping_unit.0;
            inside <= 2 * link.time_for(Bytes(bytes)).0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn costs(identifier: Identifier, searched: [bool; 4], by_marks: bool) -> Vec<u64> {
        let repair = RepairConfig { identifier, ..RepairConfig::default() };
        let found = searched.map(u64::from).to_vec();
        let search =
            Search { entries: 10, searched: searched.to_vec().into(), found: found.into(), by_marks };
        search.costs(&repair).iter().map(|cost| cost.0).collect()
    }

    #[test]
    fn the_cores_that_search_pay_for_it() {
        let one = [false, true, false, false];
        // Section 4.2.2: the core of the die looks at all entries. Section 5.1: it copies them, and all cores look at a share.
        assert_eq!(costs(Identifier::L2pOneCore, one, false), [0, 5_900, 0, 0]);
        assert_eq!(costs(Identifier::L2pAllCores, one, false), [780, 4_100, 520, 520]);
        // Section 6.3: of what lists name, all cores look at marks.
        assert_eq!(costs(Identifier::P2lBlock, [false; 4], true), [582, 582, 388, 388]);
        assert_eq!(costs(Identifier::P2lBlock, [false; 4], false), [0; 4]);
    }

    #[test]
    fn so_many_cores_as_are_set_look_at_a_share() {
        let search = |searched: [bool; 4], search_cores| {
            let repair =
                RepairConfig { identifier: Identifier::L2pAllCores, search_cores, ..RepairConfig::default() };
            let search = Search {
                entries: 10,
                searched: searched.to_vec().into(),
                found: vec![0; 4].into(),
                by_marks: false,
            };
            search.costs(&repair).iter().map(|cost| cost.0).collect::<Vec<u64>>()
        };
        // The victim is one of them, the next ones help, and together they look at all ten entries.
        let last = [false, false, false, true];
        assert_eq!(search(last, Some(1)), [0, 0, 0, 2620]);
        assert_eq!(search(last, Some(2)), [1300, 0, 0, 1320]);
        assert_eq!(search(last, Some(3)), [780, 780, 0, 1060]);
        assert_eq!(search(last, Some(4)), search(last, None));
        assert_eq!(search([false; 4], Some(2)), [0; 4]);
    }
}
