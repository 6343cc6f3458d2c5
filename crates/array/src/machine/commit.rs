//! The commit of an operation: writes its changes, and releases everything that it holds.

use super::{Array, command};
use crate::error::ArrayEventKind;
use crate::ids::{ColumnDevice, ColumnIndex, GroupOpId};
use crate::layout::RowRange;
use crate::member_command::{MemberCommand, MemberCommandKind};
use crate::op::GroupOpKind;
use crate::roles::{roles, to_role};
use outlast_device::{Command, Device, Op as HostOp, Outcome, PlacementId};
use outlast_units::Nanos;

/// The content of `part` in a cell that holds `rows`.
#[inline(never)]
fn content_of(cell: &[u8], part: RowRange, rows: RowRange) -> &[u8] {
    &cell[part.bytes(rows.first)]
}

impl<D: Device> Array<D> {
    /// Writes all chunks that the operation changes, and runs of rows to be rewritten.
    pub(super) fn commit(&mut self, now: Nanos, index: GroupOpId) {
        if self.refuse_if_read_only(now, index) {
            return;
        }
        let op = &mut self.flight.ops[index];
        let (rows, moves, kind) = (op.rows, op.moves, op.kind);
        let set = if kind == GroupOpKind::Read { 0 } else { op.write_set };
        // Progress that the array keeps must not outlive its data: rebuilt groups, moved parity, repaired sectors.
        let must_be_durable = moves || !matches!(kind, GroupOpKind::Write | GroupOpKind::Trim);
        let (fua, placement) = (op.fua || self.setup.keeps_records || must_be_durable, op.placement);
        if set == 0 && op.repairs.is_empty() {
            self.finish_commit(now, index);
            return;
        }
        (op.left, op.committing) = (0, true);
        let whole = roles(set).map(|role| (to_role(role), rows));
        if op.repairs.is_empty() && (op.epoch.is_none() || self.setup.order_of(op).is_together()) {
            self.write_runs(now, index, whole, (fua, placement));
            if self.flight.ops[index].left == 0 {
                // No member is there to take it.
                self.finish_commit(now, index);
            }
        } else {
            self.commit_with_repairs(now, index, set, whole, (fua, placement));
        }
    }

    /// Writes `whole`, the chunks of the roles in `set`, and what has to be rewritten besides; all together, or one after the other.
    #[cold]
    #[inline(never)]
    fn commit_with_repairs(
        &mut self,
        now: Nanos,
        index: GroupOpId,
        set: u64,
        whole: impl Iterator<Item = (u8, RowRange)>,
        (fua, placement): (bool, PlacementId),
    ) {
        // One more than the writes, so that the commit cannot end before the last one has been sent.
        self.flight.ops[index].left = 1;
        let repairs = self.take_repairs(index, set);
        let runs = whole.chain(repairs);
        if self.setup.order_of(&self.flight.ops[index]).is_together() {
            self.write_runs(now, index, runs, (fua, placement));
        } else {
            // One run after the other, from the list of repairs.
            self.flight.ops[index].repairs = runs.collect();
            self.flight.ops[index].fua = fua;
        }
        self.finish_commit_part(now, index);
    }

    /// Writes runs of single roles.
    fn write_runs(
        &mut self,
        now: Nanos,
        index: GroupOpId,
        runs: impl Iterator<Item = (u8, RowRange)>,
        (fua, placement): (bool, PlacementId),
    ) {
        let op = &mut self.flight.ops[index];
        let (group, rows, moves, kind) = (op.group, op.rows, op.moves, op.kind);
        let cells = if self.setup.bytes { std::mem::take(&mut op.cells) } else { Vec::new() };
        let host_op = if kind == GroupOpKind::Trim { HostOp::Trim } else { HostOp::Write };
        let (place, recovers) = (self.layout.place(group, moves), kind.recovers());
        // A rebuild writes nothing that a donor does not have.
        let rebuilds = kind == GroupOpKind::Transform && !moves;
        let mut sent = 0;
        for (role, part) in runs {
            let (column, base) = self.layout.column(place, usize::from(role));
            // Only an array that lacks something lacks a member.
            if self.members.is_degraded() && self.members[column].device.is_none() {
                continue;
            }
            if recovers {
                self.count_repair(kind, ColumnDevice::Member(column), part.len(), false);
            }
            let write = Command { fua, placement, ..command(host_op, base + u64::from(part.first), part) };
            let has_data = !cells.is_empty() && host_op == HostOp::Write;
            let data = if has_data { content_of(&cells[usize::from(role)], part, rows) } else { &[][..] };
            sent += 1;
            let (sub_kind, device) = (MemberCommandKind::Write(index), ColumnDevice::Member(column));
            let sub = MemberCommand { kind: sub_kind, device, role, group, rows: part };
            self.send(now, sub, write, data);
            // A donor that is still read for this group gets new data, too.
            let has_donors = self.members.is_degraded() && !rebuilds;
            let source = if has_donors { self.members.source(column, group) } else { device };
            if source != device {
                sent += 1;
                self.send(now, MemberCommand { device: source, ..sub }, write, data);
            }
        }
        let op = &mut self.flight.ops[index];
        // Nothing that is sent ends before the next event.
        op.left += sent;
        if self.setup.bytes {
            op.cells = cells;
        }
    }

    /// Takes out the runs to be rewritten, without those of roles in `set`, which are written as a whole.
    fn take_repairs(&mut self, index: GroupOpId, set: u64) -> Vec<(u8, RowRange)> {
        let mut repairs = std::mem::take(&mut self.flight.ops[index].repairs);
        repairs.retain(|&(role, _)| set >> role & 1 == 0);
        let sectors: u64 = repairs.iter().map(|(_, rows)| u64::from(rows.len())).sum();
        self.history.counters.sectors_repaired += sectors;
        repairs
    }

    /// Handles the end of a write of an operation.
    #[inline]
    pub(super) fn handle_write_done(
        &mut self,
        now: Nanos,
        index: GroupOpId,
        sub: MemberCommand,
        outcome: Outcome,
    ) {
        // Of an array that lacks nothing, no sectors are bad.
        let is_plain = !self.members.is_degraded() && sub.device.as_member().is_some();
        if outcome != Outcome::Ok || !is_plain || self.layout.is_striped_only() {
            self.note_written_or_bad(now, index, sub, outcome);
        }
        self.finish_commit_part(now, index);
    }

    /// Updates the bad sectors of a member after a write, and ejects it if it has too many.
    #[inline(never)]
    fn note_written_or_bad(&mut self, now: Nanos, index: GroupOpId, sub: MemberCommand, outcome: Outcome) {
        if outcome == Outcome::Ok {
            if self.layout.is_striped_only() && self.flight.ops[index].kind == GroupOpKind::Write {
                self.repairs.note_written(&self.layout, sub);
            }
            if sub.device.as_member().is_some_and(|column| self.members[column].bad.is_empty()) {
                return;
            }
        }
        let moves = self.flight.ops[index].moves;
        let (_, base) = self.layout.locate(sub.group, usize::from(sub.role), moves);
        let first = base + u64::from(sub.rows.first);
        let range = first..first + u64::from(sub.rows.len());
        let column = match sub.device {
            ColumnDevice::Member(column) => column,
            ColumnDevice::Donor(column) => {
                self.members.donor_written(column, range, outcome == Outcome::Ok);
                return;
            }
        };
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
            // A member has no zones, and an array sends it no command for them.
            Outcome::ReadOnly
            | Outcome::OutOfRange
            | Outcome::InvalidNamespace
            | Outcome::Zone(_)
            | Outcome::InvalidOpcode => {
                self.write_refused(now, index, column);
            }
        }
    }

    /// Handles a member that takes no more writes: ejects it, or, if the array cannot do without it, makes the array read-only.
    fn write_refused(&mut self, now: Nanos, index: GroupOpId, column: ColumnIndex) {
        if !self.eject(column) && !self.read_only && self.members[column].device.is_some() {
            self.read_only = true;
            self.history.record_event(now, ArrayEventKind::ReadOnly { member: column });
        }
        if self.read_only {
            let (host, group, rows) =
                (self.flight.ops[index].host, self.flight.ops[index].group, self.flight.ops[index].rows);
            if let Some(host) = host {
                self.flight.hosts[host].outcome = Outcome::ReadOnly;
            }
            // Parity was only partly written, so that data which has to be computed from it is lost.
            let (hard, _) = self.availability().unreadable_roles(group, rows);
            for role in roles(hard & self.layout.data_set) {
                let first = self.layout.logical(group, role, rows.first);
                self.history.add_lost(first..first + u64::from(rows.len()));
            }
        }
    }

    /// Ends a part of a commit; after the last one, writes the next run or finishes the operation.
    #[inline]
    pub(super) fn finish_commit_part(&mut self, now: Nanos, index: GroupOpId) {
        let op = &mut self.flight.ops[index];
        debug_assert!(op.left > 0, "each write of an operation ends once");
        op.left -= 1;
        if op.left == 0 {
            if op.repairs.is_empty() {
                self.finish_commit(now, index);
            } else {
                self.write_next_run(now, index);
            }
        }
    }

    /// Writes the next run of an operation that writes one by one; finishes the operation if no member takes what remains.
    #[cold]
    #[inline(never)]
    fn write_next_run(&mut self, now: Nanos, index: GroupOpId) {
        while self.flight.ops[index].left == 0 {
            let op = &mut self.flight.ops[index];
            if op.repairs.is_empty() {
                self.finish_commit(now, index);
                return;
            }
            let (next, how) = (op.repairs.remove(0), (op.fua, op.placement));
            self.write_runs(now, index, std::iter::once(next), how);
        }
    }

    /// Finishes an operation whose writes have all ended.
    fn finish_commit(&mut self, now: Nanos, index: GroupOpId) {
        let op = &self.flight.ops[index];
        if op.kind == GroupOpKind::Write && !self.availability().is_kept(op) {
            self.flight.hosts[op.host_command()].outcome = Outcome::ReadOnly;
        }
        if op.moves {
            if let Some(shift) = self.layout.shift_mut() {
                shift.set_moved(op.group);
            }
            self.shift_progress();
        }
        if !self.history.lost().is_empty() || self.doubt.is_any_torn() {
            self.clear_damage(index);
        }
        self.end_op(now, index);
    }

    /// Notes that what an operation has written is no longer lost, and its redundancy no longer wrong.
    #[inline(never)]
    fn clear_damage(&mut self, index: GroupOpId) {
        let op = &self.flight.ops[index];
        if matches!(op.kind, GroupOpKind::Write | GroupOpKind::Trim)
            && op.host.is_none_or(|host| self.flight.hosts[host].outcome == Outcome::Ok)
        {
            self.history.clear_lost(&self.layout, op.group, op.roles, op.overlay);
        }
        if op.leaves_redundancy_right() {
            self.doubt.clear_torn(op.group, op.rows);
        }
    }
}
