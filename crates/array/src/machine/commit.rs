//! The second half of an operation: records first, then data and parity, then the lock goes back.

use super::{Array, command};
use crate::config::{Consistency, LogPlace};
use crate::error::EventKind;
use crate::layout::Rows;
use crate::op::{Content, Op, OpKind, Record, Sub, SubKind, roles};
use outlast_device::{Command, Device, Op as HostOp, Outcome};
use outlast_units::slab::NIL;
use outlast_units::{Nanos, SECTOR_BYTES};

/// Sectors of a record's header (md's partial parity log has 4 KiB).
const HEADER_SECTORS: u32 = 8;

impl<D: Device> Array<D> {
    pub(super) fn uses_partial_log(&self) -> bool {
        self.setup.config.consistency == Consistency::Ppl
    }

    /// Keeps the sums of a partial record until the record is made.
    pub(super) fn keep_sums(&mut self, index: u32, sums: Vec<Vec<u8>>) {
        let op = &mut self.flight.ops[index];
        let content = Content::Partial { written: op.roles, sums, extra: 0, cells: Vec::new() };
        op.record = Some(Box::new(Record { group: op.group, rows: op.rows, content }));
    }

    /// Makes the record that the operation needs, and writes it where that takes time.
    pub(super) fn record(&mut self, now: Nanos, index: u32) {
        let op = &self.flight.ops[index];
        let logged = self.setup.keeps_records;
        let content = match op.kind {
            // A stripe that moves is kept in the controller's protected memory, as md keeps it in a backup file.
            OpKind::Transform | OpKind::Write if op.moves => self.cells_content(index),
            OpKind::Write if self.setup.config.consistency == Consistency::Journal => {
                self.cells_content(index)
            }
            OpKind::Write if logged => self.partial_content(index),
            OpKind::Trim if logged => Content::Trim,
            _ => {
                self.commit(now, index);
                return;
            }
        };
        let op = &mut self.flight.ops[index];
        op.record = Some(Box::new(Record { group: op.group, rows: op.rows, content }));
        if !logged || op.kind == OpKind::Transform || self.setup.config.log.place == LogPlace::Controller {
            self.recorded(now, index);
            return;
        }
        let rows = if op.kind == OpKind::Trim { 0 } else { op.rows.len() };
        let bytes = u64::from(rows + HEADER_SECTORS) * SECTOR_BYTES;
        if self.doubt.log.reserve(bytes, index) {
            self.flight.ops[index].log_bytes = bytes;
            self.write_log(now, index);
        }
    }

    fn cells_content(&self, index: u32) -> Content {
        let op = &self.flight.ops[index];
        let keep = |role: usize| {
            if op.write_set >> role & 1 == 1 { op.cells[role].clone() } else { Vec::new() }
        };
        let cells = if op.cells.is_empty() { Vec::new() } else { (0..self.layout.roles).map(keep).collect() };
        Content::Cells { set: op.write_set, cells, moves: op.moves }
    }

    fn partial_content(&mut self, index: u32) -> Content {
        let sums = match self.flight.ops[index].record.take().map(|record| record.content) {
            Some(Content::Partial { sums, .. }) => sums,
            _ => Vec::new(),
        };
        let op = &self.flight.ops[index];
        // New data that its member cannot give back exists only in the parity, so the record keeps it.
        let (hard, soft) = self.unreadable(op.group, op.rows);
        let extra = op.roles & (hard | soft);
        let mut cells = vec![Vec::new(); if op.cells.is_empty() { 0 } else { self.layout.roles }];
        if !op.cells.is_empty() {
            for role in roles(extra) {
                cells[role].clone_from(&op.cells[role]);
            }
        }
        Content::Partial { written: op.roles, sums, extra, cells }
    }

    /// A member leaves: records of writes under way take in the data that it was to get.
    pub(super) fn widen_records(&mut self, column: usize) {
        let widen = |record: &mut Record, own: &[Vec<u8>]| {
            let Content::Partial { written, extra, cells, .. } = &mut record.content else { return };
            let there = |&role: &usize| self.layout.locate(record.group, role, false).0 == column;
            if let Some(role) = roles(*written & !*extra).find(there) {
                *extra |= 1 << role;
                if let Some(cell) = own.get(role) {
                    cells[role].clone_from(cell);
                }
            }
        };
        for (&index, record) in &mut self.doubt.records {
            // While power is off there are records without operations: what they lack is lost.
            let op = self.flight.ops.slots().get(index as usize);
            if let Some(op) = op.filter(|op| op.kind == OpKind::Write) {
                widen(record, &op.cells);
            }
        }
        for op in self.flight.ops.slots_mut() {
            if let (OpKind::Write, Some(record)) = (op.kind, &mut op.record) {
                widen(record, &op.cells);
            }
        }
    }

    /// Room in the log is there: the record goes to the parity members, or to every member that will be written.
    pub(super) fn write_log(&mut self, now: Nanos, index: u32) {
        let op = &self.flight.ops[index];
        let parity = self.role_set() & !self.data_set();
        let set = if self.setup.config.consistency == Consistency::Ppl { parity } else { op.write_set };
        let set = set & !self.absent(op.group, op.moves);
        let (group, moves) = (op.group, op.moves);
        let sectors = (op.log_bytes / SECTOR_BYTES) as u32;
        let at = self.setup.member_sectors + self.doubt.log.place(op.log_bytes) / SECTOR_BYTES;
        self.flight.ops[index].left = set.count_ones() + 1;
        for role in roles(set) {
            let (column, _) = self.layout.locate(group, role, moves);
            let (column, role) = (column as u8, role as u8);
            let rows = Rows::new(0, sectors);
            let sub = Sub { live: true, kind: SubKind::Log, column, role, owner: index, group, rows };
            let write = Command { fua: true, ..command(HostOp::Write, at, rows) };
            self.ledger.counters.log_writes += 1;
            // What the record holds is kept apart: the member only spends the time.
            self.send(now, sub, write, &[]);
        }
        self.log_done(now, index);
    }

    /// A part of a record is written.
    pub(super) fn log_done(&mut self, now: Nanos, index: u32) {
        self.flight.ops[index].left -= 1;
        if self.flight.ops[index].left == 0 {
            self.recorded(now, index);
        }
    }

    fn recorded(&mut self, now: Nanos, index: u32) {
        if let Some(record) = self.flight.ops[index].record.take() {
            self.doubt.records.insert(index, *record);
        }
        self.commit(now, index);
    }

    /// Writes everything that the operation changes.
    pub(super) fn commit(&mut self, now: Nanos, index: u32) {
        if self.refused(now, index) {
            return;
        }
        let op = &self.flight.ops[index];
        let (group, rows, moves, kind) = (op.group, op.rows, op.moves, op.kind);
        let set = if op.kind == OpKind::Read { 0 } else { op.write_set };
        let logged = self.setup.keeps_records;
        // What the array notes as done must be: members that are complete, parity that has moved, sectors that were repaired.
        let own = moves || !matches!(kind, OpKind::Write | OpKind::Trim);
        let (fua, stream) = (op.fua || logged || own, op.stream);
        if set == 0 && op.repairs.is_empty() {
            self.committed(now, index);
            return;
        }
        self.flight.ops[index].left = 1;
        self.flight.ops[index].committing = true;
        let host_op = if kind == OpKind::Trim { HostOp::Trim } else { HostOp::Write };
        let cells = std::mem::take(&mut self.flight.ops[index].cells);
        let mut repairs = std::mem::take(&mut self.flight.ops[index].repairs);
        repairs.retain(|&(role, _)| set >> role & 1 == 0);
        self.ledger.counters.sectors_repaired +=
            repairs.iter().map(|(_, rows)| u64::from(rows.len())).sum::<u64>();
        let whole = roles(set).map(|role| (role as u8, rows));
        for (role, part) in whole.chain(repairs.iter().copied()) {
            let (column, base) = self.layout.locate(group, usize::from(role), moves);
            if self.members[column].device.is_none() {
                continue;
            }
            if kind.recovers() {
                self.count_repair(kind, column, part.len(), false);
            }
            let write = Command { fua, stream, ..command(host_op, base + u64::from(part.first), part) };
            let data = cells.get(usize::from(role)).filter(|_| host_op == HostOp::Write);
            let data = data.map_or(&[][..], |cell| &cell[part.bytes(rows.first)]);
            // Where a donor is still read, it gets what it does not have.
            let source =
                if kind == OpKind::Transform && !moves { column } else { self.members.source(column, group) };
            for target in
                [Some(column), Some(source).filter(|&source| source != column)].into_iter().flatten()
            {
                self.flight.ops[index].left += 1;
                let (kind, target) = (SubKind::Write, target as u8);
                let sub = Sub { live: true, kind, column: target, role, owner: index, group, rows: part };
                self.send(now, sub, write, data);
            }
        }
        self.flight.ops[index].cells = cells;
        self.commit_part(now, index);
    }

    /// A write of an operation has ended.
    pub(super) fn commit_done(&mut self, now: Nanos, sub: Sub, outcome: Outcome) {
        let index = sub.owner;
        let column = usize::from(sub.column);
        let moves = self.flight.ops[index].moves;
        let (_, base) = self.layout.locate(sub.group, usize::from(sub.role), moves);
        let first = base + u64::from(sub.rows.first);
        let range = first..first + u64::from(sub.rows.len());
        if column >= self.members.len() {
            self.donor_written(column - self.members.len(), range, outcome == Outcome::Ok);
            self.commit_part(now, index);
            return;
        }
        match outcome {
            Outcome::Ok => {
                if !self.members[column].bad.is_empty() {
                    self.members[column].bad.remove(range);
                    self.members.update_degraded();
                }
            }
            // Of a write that was cut off, nobody knows what the member holds.
            Outcome::MediumError | Outcome::Aborted => {
                self.members[column].bad.insert(range);
                self.members.update_degraded();
                if self.members[column].bad.runs() > self.setup.config.ejection.bad_blocks as usize {
                    self.eject(column);
                }
            }
            Outcome::ReadOnly | Outcome::OutOfRange => self.write_refused(now, index, column),
        }
        self.commit_part(now, index);
    }

    /// A member takes no more writes. It must go; where the array cannot do without it, the array takes no more writes either.
    fn write_refused(&mut self, now: Nanos, index: u32, column: usize) {
        if !self.eject(column) && !self.read_only && self.members[column].device.is_some() {
            self.read_only = true;
            self.ledger.event(now, EventKind::ReadOnly { member: column });
        }
        if self.read_only {
            let (host, group, rows) =
                (self.flight.ops[index].host, self.flight.ops[index].group, self.flight.ops[index].rows);
            if host != NIL {
                self.flight.hosts[host].outcome = Outcome::ReadOnly;
            }
            // Parity no longer fits the data that is there, so what only parity could give is gone.
            let (hard, _) = self.unreadable(group, rows);
            for role in roles(hard & self.data_set()) {
                let first = self.layout.logical(group, role, rows.first);
                self.ledger.lose(first..first + u64::from(rows.len()));
            }
        }
    }

    pub(super) fn commit_part(&mut self, now: Nanos, index: u32) {
        self.flight.ops[index].left -= 1;
        if self.flight.ops[index].left == 0 {
            self.committed(now, index);
        }
    }

    /// Whether the data of a host's write can be had from what the members took: each chunk from its member, or all from enough others.
    /// Members that leave with the event at hand have not taken it.
    fn is_kept(&self, op: &Op) -> bool {
        if !self.members.is_degraded() && !self.members.is_any_leaving() {
            return true;
        }
        let lacks = |&role: &usize| {
            let (column, base) = self.layout.locate(op.group, role, op.moves);
            let (place, first) = (&self.members[column], base + u64::from(op.rows.first));
            let sectors = first..first + u64::from(op.rows.len());
            let lacks = if op.group >= place.valid_to {
                self.members.donor_lacks(column, &sectors).unwrap_or(true)
            } else {
                place.bad.overlaps(&sectors)
            };
            lacks || self.members.is_leaving(column)
        };
        let lacking = (0..self.layout.roles).filter(lacks).fold(0u64, |set, role| set | 1 << role);
        lacking & op.roles == 0 || (lacking.count_ones() as usize) <= self.layout.roles - self.layout.data
    }

    /// Everything is written.
    fn committed(&mut self, now: Nanos, index: u32) {
        let op = &self.flight.ops[index];
        if op.kind == OpKind::Write && !self.is_kept(op) {
            self.flight.hosts[op.host].outcome = Outcome::ReadOnly;
        }
        let (group, moves, kind, set, overlay, host) =
            (op.group, op.moves, op.kind, op.roles, op.overlay, op.host);
        let (rows, fits) = (op.rows, op.leaves_redundancy_right());
        if moves {
            if let Some(shift) = self.layout.shift_mut() {
                shift.set_moved(group);
            }
            self.shift_progress();
        }
        if matches!(kind, OpKind::Write | OpKind::Trim)
            && (host == NIL || self.flight.hosts[host].outcome == Outcome::Ok)
        {
            self.found_again(group, set, overlay);
        }
        if fits {
            self.doubt.mend(group, rows);
        }
        self.end(now, index);
    }

    /// The operation is over, whatever came of it: what it held goes back.
    pub(super) fn end(&mut self, now: Nanos, index: u32) {
        let op = &mut self.flight.ops[index];
        let (group, kind, host, lock, epoch) = (op.group, op.kind, op.host, op.lock, op.epoch);
        let rows = op.rows;
        let (marked, log_bytes) = (op.marked, op.log_bytes);
        op.committing = false;
        op.cells = Vec::new();
        op.repairs = Vec::new();
        op.record = None;
        self.doubt.records.remove(&index);
        if marked {
            self.doubt.bitmap.unmark(now, group, self.setup.config.log.bitmap_delay);
        }
        let runnable = &mut self.flight.runnable;
        self.flight.locks.release(lock, |op| runnable.push_back(op));
        self.flight.ops.remove(index);
        if log_bytes > 0 {
            self.doubt.log.release(log_bytes);
        }
        if host != NIL {
            self.finish_part(now, host);
        }
        if epoch != 0 {
            self.group_done(group, epoch);
        }
        if let OpKind::Repair { repair, range, .. } = kind {
            self.repair_part(repair, range, group, rows);
        }
        if kind == OpKind::Replay {
            self.replay_done();
        }
    }
}
