//! Queries to members about failed sectors, range by range.

use super::super::{Array, command};
use crate::layout::RowRange;
use crate::op::{MemberCommand, MemberCommandKind};
use crate::repairs::RepairRows;
use outlast_decisions::RepairWay;
use outlast_device::{Command, Device, LbaRun, Op as HostOp, Outcome, Tag};
use outlast_units::{Nanos, SECTOR_BYTES};
use std::ops::Range;

impl<D: Device> Array<D> {
    fn range_sectors(&self) -> u64 {
        self.setup.config.repair.range.0 / SECTOR_BYTES
    }

    /// The range that holds a sector of a member.
    pub(super) fn range_of(&self, sector: u64) -> u32 {
        (sector / self.range_sectors()) as u32
    }

    /// Number of ranges of a member.
    pub(in crate::machine) fn ranges(&self) -> u32 {
        self.layout.member_sectors().div_ceil(self.range_sectors()) as u32
    }

    fn sectors_of(&self, range: u32) -> Range<u64> {
        let first = u64::from(range) * self.range_sectors();
        first..(first + self.range_sectors()).min(self.layout.member_sectors())
    }

    /// Queries device `index` about a range, for repair `id`.
    pub(super) fn query_range(&mut self, now: Nanos, id: u32, index: usize, range: u32) {
        let Some(repair) = self.repairs.get_mut(id) else { return };
        repair.note_query(now, range);
        let (sectors, rows) = (self.sectors_of(range), RowRange::new(0, 1));
        let (kind, group) = (MemberCommandKind::Status, u64::from(range));
        let sub = MemberCommand { live: true, kind, column: index as u8, role: 0, owner: id, group, rows };
        let count = (sectors.end - sectors.start) as u32;
        let ask = Command { sectors: count, ..command(HostOp::LbaStatus, sectors.start, rows) };
        self.send(now, sub, ask, &[]);
    }

    /// Takes the answer of a member: lists rows to be recovered, or, of a donor, notes lost sectors.
    pub(in crate::machine) fn status_done(
        &mut self,
        now: Nanos,
        sub: MemberCommand,
        tag: Tag,
        outcome: Outcome,
    ) {
        let index = usize::from(sub.column);
        let runs =
            self.members.device_mut(index).and_then(|device| device.take_lba_status(tag)).unwrap_or_default();
        let (id, range) = (sub.owner, sub.group as u32);
        let Some(repair) = self.repairs.get_mut(id) else { return };
        // An answer without an open query is dropped.
        let Some(sent) = repair.take_answer(range) else { return };
        let (way, column) = (repair.way, repair.column);
        let record = self.repairs.record_mut(id);
        record.identify += now - sent;
        record.queries += 1;
        self.passes.request_pump();
        if outcome == Outcome::Aborted {
            self.query_range(now, id, index, range);
            return;
        }
        let limits = self.sectors_of(range);
        let clipped = runs.iter().filter_map(|run| clip(run, &limits));
        if way == RepairWay::Assist {
            for (sectors, readable) in clipped {
                self.count_listed(id, readable, sectors.end - sectors.start);
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
        let (ranges, identify_first) = (self.ranges(), self.identifies_before_recovery());
        let Some(repair) = self.repairs.get_mut(id) else { return };
        if repair.range_listed(range, left) && identify_first && repair.knows_all(ranges) {
            self.sort_rows();
        }
    }

    /// Counts sectors that a member has listed.
    fn count_listed(&mut self, id: u32, readable: bool, sectors: u64) {
        let record = self.repairs.record_mut(id);
        if readable {
            record.fake_sectors += sectors;
        } else {
            record.failed_sectors += sectors;
        }
    }

    /// Cuts a run of listed sectors into items within one chunk each, to be recovered one by one; returns their number.
    fn list_rows(&mut self, id: u32, range: u32, sectors: Range<u64>, readable: bool) -> u32 {
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
            self.count_listed(id, readable, end - from);
            if self.layout.roles == self.layout.data {
                self.lose_sectors(id, group, from..end, readable);
                continue;
            }
            let rows = RowRange::new((from % chunk) as u32, ((end - 1) % chunk) as u32 + 1);
            let Some(repair) = self.repairs.get_mut(id) else { return items };
            let item = RepairRows { group, rows, readable, range, sector: from };
            repair.list_rows(item, identify_first.then_some(from..end));
            items += 1;
        }
        items
    }

    /// Without redundancy: adds failed sectors to the lost data, except those that the host has written meanwhile.
    fn lose_sectors(&mut self, id: u32, group: u64, sectors: Range<u64>, readable: bool) {
        let Some(repair) = self.repairs.get(id).filter(|_| !readable) else { return };
        let Some(role) = self.layout.role_on(group, repair.column, false) else { return };
        let gone = repair.not_written(sectors);
        for run in gone.iter() {
            let first = self.layout.logical(group, role, (run.start % self.layout.chunk) as u32);
            let count = run.end - run.start;
            self.history.add_lost(first..first + count);
            self.repairs.record_mut(id).lost_sectors += count;
        }
    }
}

impl<D: Device> Array<D> {
    /// Notes a write of the host, without redundancy: the answer to an open query may still list these sectors as failed.
    #[inline]
    pub(in crate::machine) fn note_written(&mut self, sub: MemberCommand) {
        if self.repairs.is_none_active() {
            return;
        }
        let (_, base) = self.layout.locate(sub.group, usize::from(sub.role), false);
        let sectors = base + u64::from(sub.rows.first)..base + u64::from(sub.rows.end);
        for repair in self.repairs.active_mut().iter_mut() {
            if repair.column == usize::from(sub.column) {
                repair.note_written(sectors.clone());
            }
        }
    }
}

/// The part of a run within `limits`.
fn clip(run: &LbaRun, limits: &Range<u64>) -> Option<(Range<u64>, bool)> {
    let sectors = run.lba.0.max(limits.start)..(run.lba.0 + u64::from(run.sectors)).min(limits.end);
    (!sectors.is_empty()).then_some((sectors, run.readable))
}
