//! The commit of an operation: writes its changes, and releases everything that it holds.

use super::{Array, command};
use crate::error::ArrayEventKind;
use crate::layout::RowRange;
use crate::op::{GroupOp, GroupOpKind, MemberCommand, MemberCommandKind};
use crate::roles::roles;
use outlast_device::{Command, Device, Op as HostOp, Outcome, StreamId};
use outlast_settings::array::ChunkOrder;
use outlast_units::Nanos;
use outlast_units::slab::NIL;

impl<D: Device> Array<D> {
    /// Writes all chunks that the operation changes, and runs of rows to be rewritten.
    pub(super) fn commit(&mut self, now: Nanos, index: u32) {
        if self.refuse_if_read_only(now, index) {
            return;
        }
        let op = &mut self.flight.ops[index];
        let (rows, moves, kind) = (op.rows, op.moves, op.kind);
        let set = if kind == GroupOpKind::Read { 0 } else { op.write_set };
        // Progress that the array keeps must not outlive its data: rebuilt groups, moved parity, repaired sectors.
        let must_be_durable = moves || !matches!(kind, GroupOpKind::Write | GroupOpKind::Trim);
        let (fua, stream) = (op.fua || self.setup.keeps_records || must_be_durable, op.stream);
        if set == 0 && op.repairs.is_empty() {
            self.finish_commit(now, index);
            return;
        }
        // One more than the writes, so that the commit cannot end before the last one has been sent.
        (op.left, op.committing) = (1, true);
        let repairs = if op.repairs.is_empty() { Vec::new() } else { self.take_repairs(index, set) };
        let whole = roles(set).map(|role| (role as u8, rows));
        let runs = whole.chain(repairs.iter().copied());
        if self.order_of(index).is_together() {
            self.write_runs(now, index, runs, (fua, stream));
        } else {
            // One run after the other, from the list of repairs.
            self.flight.ops[index].repairs = runs.collect();
            self.flight.ops[index].fua = fua;
        }
        self.finish_commit_part(now, index);
    }

    /// The order in which the operation reads and writes its chunks; only passes may go one by one.
    pub(super) fn order_of(&self, index: u32) -> ChunkOrder {
        if self.flight.ops[index].epoch == 0 {
            return ChunkOrder::Together;
        }
        self.setup.config.background.chunks
    }

    /// Writes runs of single roles.
    fn write_runs(
        &mut self,
        now: Nanos,
        index: u32,
        runs: impl Iterator<Item = (u8, RowRange)>,
        (fua, stream): (bool, StreamId),
    ) {
        let op = &mut self.flight.ops[index];
        let (group, rows, moves, kind) = (op.group, op.rows, op.moves, op.kind);
        let cells = if self.setup.bytes { std::mem::take(&mut op.cells) } else { Vec::new() };
        let host_op = if kind == GroupOpKind::Trim { HostOp::Trim } else { HostOp::Write };
        let place = self.layout.place(group, moves);
        for (role, part) in runs {
            let (column, base) = self.layout.column(place, usize::from(role));
            if self.members[column].device.is_none() {
                continue;
            }
            if kind.recovers() {
                self.count_repair(kind, column, part.len(), false);
            }
            let write = Command { fua, stream, ..command(host_op, base + u64::from(part.first), part) };
            let data = cells.get(usize::from(role)).filter(|_| host_op == HostOp::Write);
            let data = data.map_or(&[][..], |cell| &cell[part.bytes(rows.first)]);
            self.flight.ops[index].left += 1;
            let (sub_kind, target) = (MemberCommandKind::Write, column as u8);
            let sub = MemberCommand {
                live: true,
                kind: sub_kind,
                column: target,
                role,
                owner: index,
                group,
                rows: part,
            };
            self.send(now, sub, write, data);
            // A donor that is still read for this group gets new data, too; a rebuild writes nothing that the donor does not have.
            let rebuilds = kind == GroupOpKind::Transform && !moves;
            let source = if rebuilds { column } else { self.members.source(column, group) };
            if source != column {
                self.flight.ops[index].left += 1;
                self.send(now, MemberCommand { column: source as u8, ..sub }, write, data);
            }
        }
        self.flight.ops[index].cells = cells;
    }

    /// Takes out the runs to be rewritten, without those of roles in `set`, which are written as a whole.
    fn take_repairs(&mut self, index: u32, set: u64) -> Vec<(u8, RowRange)> {
        let mut repairs = std::mem::take(&mut self.flight.ops[index].repairs);
        repairs.retain(|&(role, _)| set >> role & 1 == 0);
        let sectors: u64 = repairs.iter().map(|(_, rows)| u64::from(rows.len())).sum();
        self.history.counters.sectors_repaired += sectors;
        repairs
    }

    /// Handles the end of a write of an operation.
    pub(super) fn handle_write_done(&mut self, now: Nanos, sub: MemberCommand, outcome: Outcome) {
        let index = sub.owner;
        let column = usize::from(sub.column);
        let is_clean = column < self.members.len() && self.members[column].bad.is_empty();
        if outcome != Outcome::Ok || !is_clean {
            self.note_written_or_bad(now, sub, outcome);
        }
        if outcome == Outcome::Ok
            && self.is_striped_only()
            && self.flight.ops[index].kind == GroupOpKind::Write
        {
            self.note_written(sub);
        }
        self.finish_commit_part(now, index);
    }

    /// Updates the bad sectors of a member after a write, and ejects it if it has too many.
    #[cold]
    fn note_written_or_bad(&mut self, now: Nanos, sub: MemberCommand, outcome: Outcome) {
        let (index, column) = (sub.owner, usize::from(sub.column));
        let moves = self.flight.ops[index].moves;
        let (_, base) = self.layout.locate(sub.group, usize::from(sub.role), moves);
        let first = base + u64::from(sub.rows.first);
        let range = first..first + u64::from(sub.rows.len());
        if column >= self.members.len() {
            self.donor_written(self.members.column_of(column), range, outcome == Outcome::Ok);
            return;
        }
        match outcome {
            Outcome::Ok => {
                self.members[column].bad.remove(range);
                self.members.update_degraded();
            }
            // After an aborted write, the content of the sectors is unknown.
            Outcome::MediumError | Outcome::Aborted => {
                self.members[column].bad.insert(range);
                self.members.update_degraded();
                if self.members[column].bad.runs() > self.setup.config.ejection.bad_blocks as usize {
                    self.eject(column);
                }
            }
            Outcome::ReadOnly | Outcome::OutOfRange => self.write_refused(now, index, column),
        }
    }

    /// Handles a member that takes no more writes: ejects it, or, if the array cannot do without it, makes the array read-only.
    fn write_refused(&mut self, now: Nanos, index: u32, column: usize) {
        if !self.eject(column) && !self.read_only && self.members[column].device.is_some() {
            self.read_only = true;
            self.history.record_event(now, ArrayEventKind::ReadOnly { member: column });
        }
        if self.read_only {
            let (host, group, rows) =
                (self.flight.ops[index].host, self.flight.ops[index].group, self.flight.ops[index].rows);
            if host != NIL {
                self.flight.hosts[host].outcome = Outcome::ReadOnly;
            }
            // Parity was only partly written, so that data which has to be computed from it is lost.
            let (hard, _) = self.unreadable_roles(group, rows);
            for role in roles(hard & self.data_set()) {
                let first = self.layout.logical(group, role, rows.first);
                self.history.add_lost(first..first + u64::from(rows.len()));
            }
        }
    }

    /// Ends a part of a commit; after the last one, writes the next run or finishes the operation.
    pub(super) fn finish_commit_part(&mut self, now: Nanos, index: u32) {
        let op = &mut self.flight.ops[index];
        debug_assert!(op.left > 0, "each write of an operation ends once");
        op.left -= 1;
        while self.flight.ops[index].left == 0 {
            // The runs that remain of an operation that writes one by one.
            let op = &mut self.flight.ops[index];
            if op.repairs.is_empty() {
                self.finish_commit(now, index);
                return;
            }
            let (next, how) = (op.repairs.remove(0), (op.fua, op.stream));
            self.write_runs(now, index, std::iter::once(next), how);
        }
    }

    /// True if the data of a host's write can be read back: each chunk from its member, or all computed from enough others. Members
    /// that are to be removed after the current event do not count.
    fn is_kept(&self, op: &GroupOp) -> bool {
        if !self.members.is_degraded() && !self.members.is_any_leaving() {
            return true;
        }
        let lacks = |&role: &usize| {
            let (column, base) = self.layout.locate(op.group, role, op.moves);
            let (member, first) = (&self.members[column], base + u64::from(op.rows.first));
            let sectors = first..first + u64::from(op.rows.len());
            let lacks = if op.group >= member.valid_to {
                self.members.donor_lacks(column, &sectors).unwrap_or(true)
            } else {
                member.bad.overlaps(&sectors)
            };
            lacks || self.members.is_leaving(column)
        };
        let lacking = (0..self.layout.roles).filter(lacks).fold(0u64, |set, role| set | 1 << role);
        lacking & op.roles == 0 || (lacking.count_ones() as usize) <= self.layout.roles - self.layout.data
    }

    /// Finishes an operation whose writes have all ended.
    fn finish_commit(&mut self, now: Nanos, index: u32) {
        let op = &self.flight.ops[index];
        if op.kind == GroupOpKind::Write && !self.is_kept(op) {
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
        if matches!(kind, GroupOpKind::Write | GroupOpKind::Trim)
            && (host == NIL || self.flight.hosts[host].outcome == Outcome::Ok)
        {
            self.clear_lost(group, set, overlay);
        }
        if fits {
            self.doubt.clear_torn(group, rows);
        }
        self.end_op(now, index);
    }

    /// Ends the operation, successful or not: releases its lock, mark, log space and record, and reports to whoever it works for.
    pub(super) fn end_op(&mut self, now: Nanos, index: u32) {
        let op = &mut self.flight.ops[index];
        let (group, kind, host, lock, epoch) = (op.group, op.kind, op.host, op.lock, op.epoch);
        let (rows, marked, log_bytes) = (op.rows, op.marked, op.log_bytes);
        op.committing = false;
        if !op.cells.is_empty() {
            op.cells = Vec::new();
        }
        if op.record.is_some() {
            op.record = None;
        }
        if !self.doubt.records.is_empty() {
            self.doubt.records.remove(index);
        }
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
        if let GroupOpKind::Repair { repair, range, .. } = kind {
            self.repair_part(repair, range, group, rows);
        }
        if kind == GroupOpKind::Replay {
            self.replay_done();
        }
    }
}
