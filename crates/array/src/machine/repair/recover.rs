//! Recovery of listed rows: start, pace, counts and end.

use super::super::Array;
use crate::layout::RowRange;
use crate::op::{GroupOp, GroupOpKind, MemberCommandKind};
use crate::passes::{HeldRate, NextStart, PacedWork, PassKind};
use crate::repairs::{ActiveRepair, RepairAction, RepairLimits, RepairRows};
use crate::status::PassProgress;
use outlast_decisions::{LostRows, RepairWay};
use outlast_device::Device;
use outlast_settings::array::{FakeWay, RepairConfig};
use outlast_units::{Bytes, Nanos, SECTOR_BYTES};
use std::cmp::Ordering;

impl<D: Device> Array<D> {
    /// Advances a recovery in place: queries ranges and begins to recover rows, as many as the settings allow.
    pub(super) fn pump_repair(&mut self, now: Nanos, id: u32) {
        let settings = self.setup.config.repair;
        let limits = RepairLimits {
            ranges: self.ranges(),
            queries: usize::from(settings.queries),
            identify_first: self.identifies_before_recovery(),
            window: self.setup.config.background.window.into(),
        };
        while let Some(repair) = self.repairs.get_mut(id) {
            let column = repair.column;
            match repair.next_action(&limits) {
                RepairAction::Wait => return,
                RepairAction::Ask => {
                    let range = repair.take_range();
                    self.query_range(now, id, column, range);
                }
                RepairAction::Flush => {
                    // Rows written back must survive a loss of power, since the member no longer lists them.
                    repair.begin_flush();
                    self.send_flush(now, column, MemberCommandKind::RepairFlush, id);
                    return;
                }
                RepairAction::Recover => {
                    if !self.recover_next(now, id, &settings) {
                        return;
                    }
                }
            }
        }
    }

    /// Begins to recover the next rows if the pace allows; returns true if it did.
    fn recover_next(&mut self, now: Nanos, id: u32, settings: &RepairConfig) -> bool {
        if !self.may_recover(now, id) {
            return false;
        }
        let item = self.repairs.get_mut(id).and_then(|repair| repair.take_item(now, settings));
        let Some(item) = item else { return false };
        let copy = item.readable && settings.fakes == FakeWay::Copy;
        let kind = GroupOpKind::Repair { repair: id, range: item.range, copy };
        self.start_op(now, GroupOp::new(kind, item.group, item.rows));
        true
    }

    /// True if the next rows of a repair may be begun now; if not, requests another look in time.
    fn may_recover(&mut self, now: Nanos, id: u32) -> bool {
        let Some(repair) = self.repairs.get(id) else { return false };
        // As for passes: no question before the first rows have begun.
        let held = if repair.has_begun() { self.held_rate(now, PacedWork::Repair) } else { None };
        let Some(repair) = self.repairs.get_mut(id) else { return false };
        let fixed = held.and_then(|held| held.rate).or(repair.rate);
        let busy = repair.busy_until();
        let wake = match repair.next_start(&self.setup.config.background, now, self.members.traffic(), fixed)
        {
            NextStart::Now if busy <= now => return true,
            NextStart::Now => busy,
            NextStart::At(wake) => wake,
            NextStart::WhenDone => return false,
        };
        self.passes.wake_by(HeldRate::next_look(held, wake));
        false
    }

    /// Prepares an operation of a repair that holds its lock: sets the role that it computes. Returns false if there is nothing to do.
    pub(in crate::machine) fn prepare_repair(&mut self, index: u32, id: u32) -> bool {
        let Some(column) = self.repairs.get(id).map(|repair| repair.column) else { return false };
        let group = self.flight.ops[index].group;
        let is_filled = self.members[column].device.is_some() && group < self.members[column].valid_to;
        let Some(role) = self.layout.role_on(group, column, false).filter(|_| is_filled) else {
            return false;
        };
        // Data computed from parity that a loss of power left wrong is wrong, too.
        let torn = self.doubt.torn_rows(group, self.flight.ops[index].rows) > 0 && role < self.layout.data;
        self.history.counters.write_holes += u64::from(torn);
        let op = &mut self.flight.ops[index];
        (op.roles, op.write_set) = (1 << role, 1 << role);
        true
    }

    /// Ends an operation of a repair.
    pub(in crate::machine) fn repair_part(&mut self, id: u32, range: u32, group: u64, rows: RowRange) {
        let Some(repair) = self.repairs.get_mut(id) else { return };
        let role = self.layout.role_on(group, repair.column, false);
        let base = role.map(|role| self.layout.locate(group, role, false).1);
        repair.recovered(range, base.map(|base| base + u64::from(rows.first)..base + u64::from(rows.end)));
        self.passes.request_pump();
    }

    /// Ends a repair, whose final flush is done.
    pub(in crate::machine) fn repair_flushed(&mut self, now: Nanos, id: u32) {
        self.finish_repair(now, id);
    }

    /// Sorts the rows to be recovered of every member whose lost rows are all identified, by their scores.
    pub(super) fn sort_rows(&mut self) {
        let ranges = self.ranges();
        let is_identified = |repair: &&ActiveRepair| repair.knows_all(ranges) && repair.has_items();
        let repairs: Vec<u32> =
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
    fn lost_rows(&self, member: usize, items: &[RepairRows]) -> LostRows {
        LostRows {
            member: member as u16,
            sector: items.iter().map(|item| item.sector).collect(),
            sectors: items.iter().map(|item| item.rows.len()).collect(),
            exposure: items.iter().map(|item| self.exposure(member, item)).collect(),
            readable: items.iter().map(|item| item.readable).collect(),
        }
    }

    /// Number of other members that lack some of the rows.
    fn exposure(&self, member: usize, item: &RepairRows) -> u32 {
        let lacks = |role: usize| {
            let (column, base) = self.layout.locate(item.group, role, false);
            let rows = base + u64::from(item.rows.first)..base + u64::from(item.rows.end);
            let lacks_rows = |repair: &ActiveRepair| repair.column == column && repair.lacks(&rows);
            column != member
                && (item.group >= self.members[column].valid_to
                    || self.repairs.active().iter().any(lacks_rows))
        };
        (0..self.layout.roles).map(|role| u32::from(lacks(role))).sum()
    }

    /// Counts sectors that recovery reads or writes on device `index`.
    pub(in crate::machine) fn count_repair(
        &mut self,
        kind: GroupOpKind,
        index: usize,
        sectors: u32,
        is_read: bool,
    ) {
        let repair = match kind {
            GroupOpKind::Repair { repair: id, .. } => self.repairs.get(id),
            // Reads of a group that rebuilds several members count for the first of them.
            _ => self
                .repairs
                .active()
                .iter()
                .find(|repair| repair.way != RepairWay::Die && (is_read || repair.column == index)),
        };
        let Some(&ActiveRepair { id, column, .. }) = repair else { return };
        let is_repaired_member = self.members.column_of(index) == column;
        let record = self.repairs.record_mut(id);
        let bytes = Bytes(u64::from(sectors) * SECTOR_BYTES);
        match (is_read, is_repaired_member) {
            (true, true) => record.bytes_read_from_member.0 += bytes.0,
            (true, false) => record.bytes_read_from_peers.0 += bytes.0,
            (false, true) => record.bytes_written.0 += bytes.0,
            (false, false) => {}
        }
    }

    /// Counts lost data that recovery could not compute.
    pub(in crate::machine) fn count_lost(&mut self, kind: GroupOpKind, sectors: u64) {
        let id = match kind {
            GroupOpKind::Repair { repair, .. } => Some(repair),
            GroupOpKind::Transform => {
                let mut rebuilds = self.repairs.active().iter().filter(|repair| repair.way != RepairWay::Die);
                rebuilds.next().map(|repair| repair.id)
            }
            _ => None,
        };
        if let Some(id) = id {
            self.repairs.record_mut(id).lost_sectors += sectors;
        }
    }

    /// Progress of the recovery in place of a member, by ranges recovered; `column`: `None` for the first recovery.
    pub(in crate::machine) fn repair_progress(
        &self,
        now: Nanos,
        column: Option<usize>,
    ) -> Option<PassProgress> {
        let is_meant = |repair: &&ActiveRepair| {
            repair.way == RepairWay::Die && column.is_none_or(|column| repair.column == column)
        };
        let repair = self.repairs.active().iter().find(is_meant)?;
        let started = self.repairs.records()[repair.id as usize].started_at?;
        let total = Bytes(self.layout.member_sectors() * SECTOR_BYTES);
        let done = Bytes((u64::from(repair.ranges_done()) * self.setup.config.repair.range.0).min(total.0));
        Some(PassProgress::new(PassKind::Repair, done, total, done.0, now.saturating_sub(started)))
    }
}
