//! Records of operations, which survive a loss of power: partial parity log, journal, and the backup of stripes that move.

use super::{Array, command};
use crate::ids::{ColumnDevice, ColumnIndex, GroupOpId};
use crate::layout::{RowRange, to_row};
use crate::member_command::{MemberCommand, MemberCommandKind};
use crate::op::{GroupOp, GroupOpKind, GroupRecord, RecordContent};
use crate::roles::{roles, to_role};
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
    /// Makes the record that the operation needs, and writes it to the members if it is kept there; else goes on at once.
    #[inline]
    pub(super) fn write_record(&mut self, now: Nanos, index: GroupOpId) {
        let may_need_record = self.setup.keeps_records || self.flight.ops[index].moves;
        if !may_need_record || !self.make_record(now, index) {
            self.commit(now, index);
        }
    }

    /// See [`Array::write_record`]; returns false if the operation needs no record.
    #[inline(never)]
    fn make_record(&mut self, now: Nanos, index: GroupOpId) -> bool {
        let op = &self.flight.ops[index];
        let logged = self.setup.keeps_records;
        let content = match op.kind {
            // A stripe that moves is kept in the controller's protected memory, as md keeps it in a backup file.
            GroupOpKind::Transform | GroupOpKind::Write if op.moves => op.cells_content(self.layout.roles),
            GroupOpKind::Write if self.setup.config.consistency == Consistency::Journal => {
                op.cells_content(self.layout.roles)
            }
            GroupOpKind::Write if logged => self.partial_content(index),
            GroupOpKind::Trim if logged => RecordContent::Trim,
            _ => return false,
        };
        let op = &mut self.flight.ops[index];
        op.record = Some(Box::new(GroupRecord { group: op.group, rows: op.rows, content }));
        if !logged || op.kind == GroupOpKind::Transform || self.setup.config.log.place == LogPlace::Controller
        {
            self.finish_record(now, index);
            return true;
        }
        let bytes = record_bytes(op);
        if self.doubt.log.reserve(bytes, index) {
            self.flight.ops[index].log_bytes = bytes;
            self.write_log(now, index);
        }
        true
    }

    /// The content of a record that holds partial parity, and new data that only parity would hold.
    fn partial_content(&mut self, index: GroupOpId) -> RecordContent {
        let sums = match self.flight.ops[index].record.take().map(|record| record.content) {
            Some(RecordContent::Partial { sums, .. }) => sums,
            _ => Vec::new(),
        };
        let op = &self.flight.ops[index];
        // New data that its member cannot give back exists only in the parity, so the record keeps it.
        let (hard, soft) = self.availability().unreadable_roles(op.group, op.rows);
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
    pub(super) fn widen_records(&mut self, column: ColumnIndex) {
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
            let op = self.flight.ops.get(index);
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
    pub(super) fn write_log(&mut self, now: Nanos, index: GroupOpId) {
        let op = &self.flight.ops[index];
        let parity = self.layout.role_set & !self.layout.data_set;
        let set = if self.setup.config.consistency == Consistency::Ppl { parity } else { op.write_set };
        let set = set & !self.availability().absent_roles(op.group, op.moves);
        let (group, moves) = (op.group, op.moves);
        let sectors = to_row(op.log_bytes / SECTOR_BYTES);
        let at = self.setup.member_sectors + self.doubt.log.next_offset(op.log_bytes) / SECTOR_BYTES;
        // One more than the writes, so that the operation cannot go on before the last one has been sent.
        self.flight.ops[index].left = set.count_ones() + 1;
        for role in roles(set) {
            let (column, _) = self.layout.locate(group, role, moves);
            let rows = RowRange::new(0, sectors);
            let (kind, device) = (MemberCommandKind::Log(index), ColumnDevice::Member(column));
            let sub = MemberCommand { kind, device, role: to_role(role), group, rows };
            let write = Command { fua: true, ..command(HostOp::Write, at, rows) };
            self.history.counters.log_writes += 1;
            // The content is kept in `doubt.records`; the member only spends the time of the write.
            self.send(now, sub, write, &[]);
        }
        self.log_done(now, index);
    }

    /// Counts a write of the record that has ended; the last one completes the record.
    pub(super) fn log_done(&mut self, now: Nanos, index: GroupOpId) {
        self.flight.ops[index].left -= 1;
        if self.flight.ops[index].left == 0 {
            self.finish_record(now, index);
        }
    }

    /// Keeps the completed record until the operation ends, and commits the operation.
    fn finish_record(&mut self, now: Nanos, index: GroupOpId) {
        if let Some(record) = self.flight.ops[index].record.take() {
            self.doubt.records.insert(index, *record);
        }
        self.commit(now, index);
    }

    /// Applies the record of a gathered operation: sets its cells to their new content.
    #[inline(never)]
    pub(super) fn apply_record(&mut self, index: GroupOpId) {
        let Some(record) = self.flight.ops[index].record.clone() else { return };
        let group = record.group;
        let parity = self.layout.role_set & !self.layout.data_set;
        match record.content {
            RecordContent::Trim => self.flight.ops[index].write_set = self.layout.role_set,
            RecordContent::Cells { set, cells, moves } => {
                let op = &mut self.flight.ops[index];
                (op.write_set, op.moves) = (set, moves);
                for (role, cell) in cells.into_iter().enumerate().filter(|(_, cell)| !cell.is_empty()) {
                    op.cells[role] = cell;
                }
            }
            RecordContent::Partial { written, sums, extra, cells } => {
                // A member that was being rebuilt may have become readable since: its chunk in the record is written, too.
                self.flight.ops[index].write_set =
                    (parity | extra) & !self.availability().absent_roles(group, false);
                if !self.setup.bytes {
                    return;
                }
                let data = self.layout.data;
                let mut new_cells = std::mem::take(&mut self.flight.ops[index].cells);
                for role in roles(extra) {
                    new_cells[role].clone_from(&cells[role]);
                }
                // New parity: the sums over the chunks that were not written, plus whatever the written ones hold now.
                new_cells.splice(data.., sums);
                let bytes = 0..new_cells[data].len();
                for role in roles(written) {
                    self.setup.code.add(&mut new_cells, bytes.clone(), role);
                }
                self.flight.ops[index].cells = new_cells;
            }
        }
    }
}
