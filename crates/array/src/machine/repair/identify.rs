//! Queries to members about failed sectors, range by range.

use super::super::Array;
use crate::ids::{ColumnDevice, ColumnIndex, GroupIndex, RangeIndex, RepairId};
use crate::layout::{RowRange, to_row};
use crate::repairs::{ActiveRepair, RepairRows};
use outlast_decisions::{LostRows, RepairWay};
use outlast_device::{Device, LbaRun, Outcome, Tag};
use outlast_units::Nanos;
use std::cmp::Ordering;
use std::ops::Range;

impl<D: Device> Array<D> {
    /// Takes the answer of a member: lists rows to be recovered, or, of a donor, notes lost sectors.
    pub(in crate::machine) fn status_done(
        &mut self,
        now: Nanos,
        (id, range): (RepairId, RangeIndex),
        device: ColumnDevice,
        tag: Tag,
        outcome: Outcome,
    ) {
        let runs = self
            .members
            .device_mut(device)
            .and_then(|device| device.take_lba_status(tag))
            .unwrap_or_default();
        let Some(repair) = self.repairs.get_mut(id) else { return };
        // An answer without an open query is dropped.
        let Some(sent) = repair.take_answer(range) else { return };
        let (way, column) = (repair.way, repair.column);
        let record = self.repairs.record_mut(id);
        record.identify += now - sent;
        record.queries += 1;
        self.passes.request_pump();
        if outcome == Outcome::Aborted {
            self.query_range(now, id, device, range);
            return;
        }
        let limits = self.repair_ranges().sectors_of(range);
        let clipped = runs.iter().filter_map(|run| clip(run, &limits));
        if way == RepairWay::Assist {
            for (sectors, readable) in clipped {
                self.repairs.count_listed(id, readable, sectors.end - sectors.start);
                if let Some(donor) = self.members.donor_mut(column).filter(|_| !readable) {
                    donor.lost.insert(sectors);
                }
            }
            if let Some(donor) = self.members.donor_mut(column) {
                donor.answered.insert(range);
            }
            return;
        }
        let mut left = 0;
        for (sectors, readable) in clipped {
            left += self.list_rows(id, range, sectors, readable);
        }
        let (ranges, identify_first) = (self.repair_ranges().count(), self.identifies_before_recovery());
        let Some(repair) = self.repairs.get_mut(id) else { return };
        if repair.range_listed(range, left) && identify_first && repair.knows_all(ranges) {
            self.sort_rows();
        }
    }

    /// Cuts a run of listed sectors into items within one chunk each, to be recovered one by one; returns their number.
    fn list_rows(&mut self, id: RepairId, range: RangeIndex, sectors: Range<u64>, readable: bool) -> u32 {
        let Some(column) = self.repairs.get(id).map(|repair| repair.column) else { return 0 };
        let chunk = self.layout.chunk;
        let identify_first = self.identifies_before_recovery();
        let (mut first, mut items) = (sectors.start, 0);
        while first < sectors.end {
            // An item ends with its chunk.
            let end = sectors.end.min((first / chunk + 1) * chunk);
            let from = first;
            first = end;
            // Sectors outside groups hold records, which are overwritten in turn, or nothing.
            let Some(group) = self.layout.group_at(column, from) else { continue };
            self.repairs.count_listed(id, readable, end - from);
            if self.layout.roles == self.layout.data {
                self.lose_sectors(id, group, from..end, readable);
                continue;
            }
            let rows = RowRange::new(to_row(from % chunk), to_row((end - 1) % chunk) + 1);
            let Some(repair) = self.repairs.get_mut(id) else { return items };
            let item = RepairRows { group, rows, readable, range, sector: from };
            repair.list_rows(item, identify_first.then_some(from..end));
            items += 1;
        }
        items
    }

    /// Without redundancy: adds failed sectors to the lost data, except those that the host has written meanwhile.
    fn lose_sectors(&mut self, id: RepairId, group: GroupIndex, sectors: Range<u64>, readable: bool) {
        let Some(repair) = self.repairs.get(id).filter(|_| !readable) else { return };
        let Some(role) = self.layout.role_on(group, repair.column, false) else { return };
        let gone = repair.not_written(sectors);
        for run in gone.iter() {
            let first = self.layout.logical(group, role, to_row(run.start % self.layout.chunk));
            let count = run.end - run.start;
            self.history.add_lost(first..first + count);
            self.repairs.record_mut(id).lost_sectors += count;
        }
    }

    /// Sorts the rows to be recovered of every member whose lost rows are all identified, by their scores.
    pub(in crate::machine) fn sort_rows(&mut self) {
        let ranges = self.repair_ranges().count();
        let is_identified = |repair: &&ActiveRepair| repair.knows_all(ranges) && repair.has_items();
        let repairs: Vec<RepairId> =
            self.repairs.active().iter().filter(is_identified).map(|repair| repair.id).collect();
        for id in repairs {
            let Some(repair) = self.repairs.get_mut(id) else { continue };
            let (member, items) = (repair.column, Vec::from(repair.take_items()));
            let rows = self.lost_rows(member, &items);
            let mut scored: Vec<(f64, RepairRows)> = self.score_rows(&rows).into_iter().zip(items).collect();
            // Equal scores, and those that cannot be compared, go by address.
            scored.sort_by(|(a, one), (b, other)| {
                a.partial_cmp(b).unwrap_or(Ordering::Equal).then(one.sector.cmp(&other.sector))
            });
            if let Some(repair) = self.repairs.get_mut(id) {
                repair.put_items(scored.into_iter().map(|(_, item)| item).collect());
            }
        }
    }

    /// The table of lost rows that scores are computed from.
    pub(in crate::machine) fn lost_rows(&self, member: ColumnIndex, items: &[RepairRows]) -> LostRows {
        LostRows {
            member: member.0.into(),
            sector: items.iter().map(|item| item.sector).collect(),
            sectors: items.iter().map(|item| item.rows.len()).collect(),
            exposure: items.iter().map(|item| self.exposure(member, item)).collect(),
            readable: items.iter().map(|item| item.readable).collect(),
        }
    }

    /// Number of other members that lack some of the rows.
    pub(in crate::machine) fn exposure(&self, member: ColumnIndex, item: &RepairRows) -> u32 {
        let lacks = |role: usize| {
            let (column, base) = self.layout.locate(item.group, role, false);
            let rows = base + u64::from(item.rows.first)..base + u64::from(item.rows.end);
            let lacks_rows = |repair: &ActiveRepair| repair.column == column && repair.lacks(&rows);
            column != member
                && (!self.members[column].has(item.group) || self.repairs.active().iter().any(lacks_rows))
        };
        (0..self.layout.roles).map(|role| u32::from(lacks(role))).sum()
    }
}

/// The part of a run within `limits`.
fn clip(run: &LbaRun, limits: &Range<u64>) -> Option<(Range<u64>, bool)> {
    let sectors = run.lba.0.max(limits.start)..(run.lba.0 + u64::from(run.sectors)).min(limits.end);
    (!sectors.is_empty()).then_some((sectors, run.readable))
}
