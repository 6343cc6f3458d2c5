//! Recovering listed rows: when each is begun, what it counts, and when all is done.

use super::Repair;
use crate::array::Array;
use crate::config::{FakeWay, RepairOrder, RepairWay};
use crate::layout::Rows;
use crate::op::{Op, OpKind, SubKind};
use crate::pass::PassKind;
use crate::status::Progress;
use outlast_device::Device;
use outlast_units::{Bytes, Nanos, SECTOR_BYTES};
use std::cmp::Reverse;

/// Rows of one chunk to be recovered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item {
    pub(super) group: u64,
    pub(super) rows: Rows,
    pub(super) readable: bool,
    pub(super) range: u32,
    /// The first of them on the member.
    pub(super) sector: u64,
}

/// A range in hand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) range: u32,
    /// Rows of it that are not yet recovered.
    pub(super) left: u32,
    pub(super) answered: bool,
}

impl Repair {
    pub(super) fn drop_done_spans(&mut self) {
        let before = self.spans.len();
        self.spans.retain(|span| !span.answered || span.left > 0);
        self.ranges_done += (before - self.spans.len()) as u32;
    }
}

impl<D: Device> Array<D> {
    /// Goes on with a recovery in place: asks for ranges, and begins to recover rows, as many as settings allow.
    pub(super) fn pump_repair(&mut self, now: Nanos, id: u32) {
        let (ranges, settings) = (self.ranges(), self.config.repair);
        let (queries, by_exposure) = (usize::from(settings.queries), settings.order == RepairOrder::Exposure);
        while let Some(at) = self.repairs.position(id) {
            let repair = &mut self.repairs.active[at];
            if repair.way != RepairWay::Die || repair.flushing {
                return;
            }
            let in_hand = if by_exposure { repair.asked.len() } else { repair.spans.len() };
            if repair.next < ranges && in_hand < queries {
                let (range, column) = (repair.next, repair.column);
                repair.next += 1;
                repair.spans.push_back(Span { range, left: 0, answered: false });
                self.ask(now, id, column, range);
                continue;
            }
            let all_known = repair.next == ranges && repair.asked.is_empty();
            if all_known && repair.items.is_empty() && repair.ops == 0 {
                // What was written back must be there after a loss of power, since nobody will ask again.
                repair.flushing = true;
                let column = repair.column;
                self.send_flush(now, column, SubKind::RepairFlush, id);
                return;
            }
            let full = repair.ops >= u32::from(self.config.background.window);
            if full || by_exposure && !all_known || repair.items.is_empty() {
                return;
            }
            let (last, rate) = (repair.last, repair.rate);
            if let Some(wake) = last.and_then(|(last, bytes)| self.pace(now, last, bytes, rate)) {
                self.background.wake = self.background.wake.min(wake);
                return;
            }
            let repair = &mut self.repairs.active[at];
            if repair.busy_until > now {
                self.background.wake = self.background.wake.min(repair.busy_until);
                return;
            }
            let Some(item) = repair.items.pop_front() else { return };
            let bytes = Bytes(u64::from(item.rows.len()) * SECTOR_BYTES);
            repair.busy_until = now + settings.run_time(repair.rate, bytes);
            repair.ops += 1;
            repair.last = Some((now, bytes));
            let copy = item.readable && settings.fakes == FakeWay::Copy;
            let kind = OpKind::Repair { repair: id, range: item.range, copy };
            self.start(now, Op::new(kind, item.group, item.rows));
        }
    }

    /// The lock of a repair's operation is held: finds out which role it computes. Returns whether there is anything to do.
    pub(crate) fn prepare_repair(&mut self, index: u32, id: u32) -> bool {
        let Some(at) = self.repairs.position(id) else { return false };
        let (column, group) = (self.repairs.active[at].column, self.ops[index].group);
        let there = self.columns[column].device.is_some() && group < self.columns[column].valid_to;
        let Some(role) = self.layout.role_on(group, column, false).filter(|_| there) else { return false };
        // Parity that a loss of power left wrong gives wrong data.
        let torn = self.doubt.torn_rows(group, self.ops[index].rows) > 0 && role < self.layout.data;
        self.counters.write_holes += u64::from(torn);
        let op = &mut self.ops[index];
        (op.roles, op.write_set) = (1 << role, 1 << role);
        true
    }

    /// An operation of a repair has ended.
    pub(crate) fn repair_part(&mut self, id: u32, range: u32, group: u64, rows: Rows) {
        let Some(at) = self.repairs.position(id) else { return };
        let column = self.repairs.active[at].column;
        let base =
            self.layout.role_on(group, column, false).map(|role| self.layout.locate(group, role, false).1);
        let repair = &mut self.repairs.active[at];
        repair.ops -= 1;
        if let Some(span) = repair.spans.iter_mut().find(|span| span.range == range) {
            span.left -= 1;
        }
        repair.drop_done_spans();
        if let Some(base) = base.filter(|_| !repair.missing.is_empty()) {
            repair.missing.remove(base + u64::from(rows.first)..base + u64::from(rows.end));
        }
        self.background.pump = true;
    }

    /// The flush at the end of a repair is done.
    pub(crate) fn repair_flushed(&mut self, now: Nanos, id: u32) {
        self.finish_repair(now, id);
    }

    /// Puts rows first that most members lack.
    pub(super) fn sort_by_exposure(&mut self) {
        for at in 0..self.repairs.active.len() {
            let mut items = std::mem::take(&mut self.repairs.active[at].items);
            let own = self.repairs.active[at].column;
            items.make_contiguous().sort_by_key(|item| (Reverse(self.exposure(own, item)), item.sector));
            self.repairs.active[at].items = items;
        }
    }

    /// Other members that lack some of the rows.
    fn exposure(&self, own: usize, item: &Item) -> u32 {
        let lacks = |role: usize| {
            let (column, base) = self.layout.locate(item.group, role, false);
            let rows = base + u64::from(item.rows.first)..base + u64::from(item.rows.end);
            let known = |repair: &Repair| repair.column == column && repair.missing.overlaps(&rows);
            column != own
                && (item.group >= self.columns[column].valid_to || self.repairs.active.iter().any(known))
        };
        (0..self.layout.roles).map(|role| u32::from(lacks(role))).sum()
    }

    /// Counts what recovery reads or writes on device `index`.
    pub(crate) fn count_repair(&mut self, kind: OpKind, index: usize, sectors: u32, is_read: bool) {
        let repair = match kind {
            OpKind::Repair { repair: id, .. } => self.repairs.active.iter().find(|repair| repair.id == id),
            // Of rebuilds that go on together, reads count for the first.
            _ => self
                .repairs
                .active
                .iter()
                .find(|repair| repair.way != RepairWay::Die && (is_read || repair.column == index)),
        };
        let Some(&Repair { id, column, .. }) = repair else { return };
        let own = index % self.columns.len() == column;
        let record = self.repairs.record(id);
        let bytes = Bytes(u64::from(sectors) * SECTOR_BYTES);
        match (is_read, own) {
            (true, true) => record.bytes_read_from_member.0 += bytes.0,
            (true, false) => record.bytes_read_from_peers.0 += bytes.0,
            (false, true) => record.bytes_written.0 += bytes.0,
            (false, false) => {}
        }
    }

    /// Counts data that recovery could not bring back.
    pub(crate) fn count_lost(&mut self, kind: OpKind, sectors: u64) {
        let id = match kind {
            OpKind::Repair { repair, .. } => Some(repair),
            OpKind::Transform => {
                let mut rebuilds = self.repairs.active.iter().filter(|repair| repair.way != RepairWay::Die);
                rebuilds.next().map(|repair| repair.id)
            }
            _ => None,
        };
        if let Some(id) = id {
            self.repairs.record(id).lost_sectors += sectors;
        }
    }

    /// How far the recovery in place of a member is; by ranges recovered.
    pub(crate) fn repair_progress(&self, now: Nanos, column: Option<usize>) -> Option<Progress> {
        let wanted = |repair: &&Repair| {
            repair.way == RepairWay::Die && column.is_none_or(|column| repair.column == column)
        };
        let repair = self.repairs.active.iter().find(wanted)?;
        let started = self.repairs.records[repair.id as usize].started_at?;
        let total = Bytes(self.layout.member_sectors() * SECTOR_BYTES);
        let done = Bytes((u64::from(repair.ranges_done) * self.config.repair.range.0).min(total.0));
        Some(Progress::new(PassKind::Repair, done, total, done.0, now.saturating_sub(started)))
    }
}
