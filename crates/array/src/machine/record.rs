//! Records of operations, which outlive a loss of power.

use super::{Array, command};
use crate::layout::Rows;
use crate::op::{Content, Op, OpKind, Record, Sub, SubKind};
use crate::roles::roles;
use outlast_device::{Command, Device, Op as HostOp};
use outlast_settings::array::{Consistency, LogPlace};
use outlast_units::{Nanos, SECTOR_BYTES};

/// Sectors of a record's header (md's partial parity log has 4 KiB).
const HEADER_SECTORS: u32 = 8;

/// Bytes of the record of an operation, where it takes room.
pub(super) fn record_bytes(op: &Op) -> u64 {
    let rows = if op.kind == OpKind::Trim { 0 } else { op.rows.len() };
    u64::from(rows + HEADER_SECTORS) * SECTOR_BYTES
}

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
        let bytes = record_bytes(op);
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
        for (index, record) in self.doubt.records.iter_mut() {
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
}
