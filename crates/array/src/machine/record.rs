//! Records of operations, which survive a loss of power: partial parity log, journal, and the backup of stripes that move.

use super::{Array, command};
use crate::layout::RowRange;
use crate::op::{GroupOp, GroupOpKind, GroupRecord, MemberCommand, MemberCommandKind, RecordContent};
use crate::roles::roles;
use outlast_device::{Command, Device, Op as HostOp};
use outlast_settings::array::{Consistency, LogPlace};
use outlast_units::{Nanos, SECTOR_BYTES};

/// Sectors of a record's header (md's partial parity log has 4 KiB).
const HEADER_SECTORS: u32 = 8;

/// Bytes that the record of an operation takes in the log of each member.
pub(super) fn record_bytes(op: &GroupOp) -> u64 {
    let rows = if op.kind == GroupOpKind::Trim { 0 } else { op.rows.len() };
    u64::from(rows + HEADER_SECTORS) * SECTOR_BYTES
}

impl<D: Device> Array<D> {
    /// True if records hold partial parity, as md's PPL does.
    pub(super) fn uses_partial_log(&self) -> bool {
        self.setup.config.consistency == Consistency::Ppl
    }

    /// Stores the sums of a partial record in the operation until the record is made.
    pub(super) fn keep_sums(&mut self, index: u32, sums: Vec<Vec<u8>>) {
        let op = &mut self.flight.ops[index];
        let content = RecordContent::Partial { written: op.roles, sums, extra: 0, cells: Vec::new() };
        op.record = Some(Box::new(GroupRecord { group: op.group, rows: op.rows, content }));
    }

    /// Makes the record that the operation needs, and writes it to the members if it is kept there; else goes on at once.
    pub(super) fn write_record(&mut self, now: Nanos, index: u32) {
        let op = &self.flight.ops[index];
        let logged = self.setup.keeps_records;
        let content = match op.kind {
            // A stripe that moves is kept in the controller's protected memory, as md keeps it in a backup file.
            GroupOpKind::Transform | GroupOpKind::Write if op.moves => self.cells_content(index),
            GroupOpKind::Write if self.setup.config.consistency == Consistency::Journal => {
                self.cells_content(index)
            }
            GroupOpKind::Write if logged => self.partial_content(index),
            GroupOpKind::Trim if logged => RecordContent::Trim,
            _ => {
                self.commit(now, index);
                return;
            }
        };
        let op = &mut self.flight.ops[index];
        op.record = Some(Box::new(GroupRecord { group: op.group, rows: op.rows, content }));
        if !logged || op.kind == GroupOpKind::Transform || self.setup.config.log.place == LogPlace::Controller
        {
            self.finish_record(now, index);
            return;
        }
        let bytes = record_bytes(op);
        if self.doubt.log.reserve(bytes, index) {
            self.flight.ops[index].log_bytes = bytes;
            self.write_log(now, index);
        }
    }

    /// The content of a record that holds all new chunks.
    fn cells_content(&self, index: u32) -> RecordContent {
        let op = &self.flight.ops[index];
        let keep = |role: usize| {
            if op.write_set >> role & 1 == 1 { op.cells[role].clone() } else { Vec::new() }
        };
        let cells = if op.cells.is_empty() { Vec::new() } else { (0..self.layout.roles).map(keep).collect() };
        RecordContent::Cells { set: op.write_set, cells, moves: op.moves }
    }

    /// The content of a record that holds partial parity, and new data that only parity would hold.
    fn partial_content(&mut self, index: u32) -> RecordContent {
        let sums = match self.flight.ops[index].record.take().map(|record| record.content) {
            Some(RecordContent::Partial { sums, .. }) => sums,
            _ => Vec::new(),
        };
        let op = &self.flight.ops[index];
        // New data that its member cannot give back exists only in the parity, so the record keeps it.
        let (hard, soft) = self.unreadable_roles(op.group, op.rows);
        let extra = op.roles & (hard | soft);
        let mut cells = vec![Vec::new(); if op.cells.is_empty() { 0 } else { self.layout.roles }];
        if !op.cells.is_empty() {
            for role in roles(extra) {
                cells[role].clone_from(&op.cells[role]);
            }
        }
        RecordContent::Partial { written: op.roles, sums, extra, cells }
    }

    /// Adds the new data of the member in `column`, which leaves, to the records of writes under way.
    pub(super) fn widen_records(&mut self, column: usize) {
        let widen = |record: &mut GroupRecord, new_data: &[Vec<u8>]| {
            let RecordContent::Partial { written, extra, cells, .. } = &mut record.content else { return };
            let is_on_column = |&role: &usize| self.layout.locate(record.group, role, false).0 == column;
            if let Some(role) = roles(*written & !*extra).find(is_on_column) {
                *extra |= 1 << role;
                if let Some(cell) = new_data.get(role) {
                    cells[role].clone_from(cell);
                }
            }
        };
        for (index, record) in self.doubt.records.iter_mut() {
            // While power is off, records have no operations any more: data that a record lacks is lost with the member.
            let op = self.flight.ops.slots().get(index as usize);
            if let Some(op) = op.filter(|op| op.kind == GroupOpKind::Write) {
                widen(record, &op.cells);
            }
        }
        for op in self.flight.ops.slots_mut() {
            if let (GroupOpKind::Write, Some(record)) = (op.kind, &mut op.record) {
                widen(record, &op.cells);
            }
        }
    }

    /// Writes the record, for which the log has room: to the parity members (PPL), or to every member that the operation writes.
    pub(super) fn write_log(&mut self, now: Nanos, index: u32) {
        let op = &self.flight.ops[index];
        let parity = self.role_set() & !self.data_set();
        let set = if self.setup.config.consistency == Consistency::Ppl { parity } else { op.write_set };
        let set = set & !self.absent_roles(op.group, op.moves);
        let (group, moves) = (op.group, op.moves);
        let sectors = (op.log_bytes / SECTOR_BYTES) as u32;
        let at = self.setup.member_sectors + self.doubt.log.next_offset(op.log_bytes) / SECTOR_BYTES;
        // One more than the writes, so that the operation cannot go on before the last one has been sent.
        self.flight.ops[index].left = set.count_ones() + 1;
        for role in roles(set) {
            let (column, _) = self.layout.locate(group, role, moves);
            let (column, role) = (column as u8, role as u8);
            let rows = RowRange::new(0, sectors);
            let sub = MemberCommand {
                live: true,
                kind: MemberCommandKind::Log,
                column,
                role,
                owner: index,
                group,
                rows,
            };
            let write = Command { fua: true, ..command(HostOp::Write, at, rows) };
            self.history.counters.log_writes += 1;
            // The content is kept in `doubt.records`; the member only spends the time of the write.
            self.send(now, sub, write, &[]);
        }
        self.log_done(now, index);
    }

    /// Counts a write of the record that has ended; the last one completes the record.
    pub(super) fn log_done(&mut self, now: Nanos, index: u32) {
        self.flight.ops[index].left -= 1;
        if self.flight.ops[index].left == 0 {
            self.finish_record(now, index);
        }
    }

    /// Keeps the completed record until the operation ends, and commits the operation.
    fn finish_record(&mut self, now: Nanos, index: u32) {
        if let Some(record) = self.flight.ops[index].record.take() {
            self.doubt.records.insert(index, *record);
        }
        self.commit(now, index);
    }
}
