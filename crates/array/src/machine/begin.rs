//! The beginning of an operation: its lock, its mark in the bitmap, and the roles that it will write.

use super::Array;
use crate::ids::{GroupIndex, GroupOpId, HostCommandId, RepairId};
use crate::layout::RowRange;
use crate::op::{GroupOp, GroupOpKind};
use outlast_device::Device;
use outlast_units::Nanos;

impl<D: Device> Array<D> {
    /// Begins an operation by asking for its lock, and goes on if it gets it at once. Returns the operation's index.
    pub(super) fn start_op(&mut self, now: Nanos, op: GroupOp) -> GroupOpId {
        let index = self.flight.ops.insert(op);
        self.start(now, index);
        index
    }

    /// Asks for the lock of a new operation, which begins if it gets it at once.
    #[allow(clippy::inline_always, reason = "the beginning of each operation, beside two calls")]
    #[inline(always)]
    pub(super) fn start(&mut self, now: Nanos, index: GroupOpId) {
        let op = &self.flight.ops[index];
        // Passes and moves work on whole chunks; reads share their lock with other reads.
        let whole = op.whole || matches!(op.kind, GroupOpKind::Transform | GroupOpKind::Verify { .. });
        let rows = if whole { self.layout.whole_chunk() } else { op.rows };
        let (group, shared) = (op.group, op.kind == GroupOpKind::Read);
        let (lock, held) = self.flight.locks.acquire(group, rows, shared, index);
        self.flight.ops[index].lock = Some(lock);
        if held {
            self.begin_locked(now, index);
        }
    }

    /// Goes on with an operation that has its lock: refuses it, or prepares it, marks its region and begins to gather.
    #[inline(never)]
    pub(super) fn begin_locked(&mut self, now: Nanos, index: GroupOpId) {
        let is_change = matches!(self.flight.ops[index].kind, GroupOpKind::Write | GroupOpKind::Trim);
        let is_ready =
            if is_change { self.prepare_change(now, index) } else { self.prepare_other(now, index) };
        if is_ready {
            self.gather(now, index);
        }
    }

    /// Prepares an operation that is no write or trim of the host; returns false if it has ended.
    #[inline(never)]
    fn prepare_other(&mut self, now: Nanos, index: GroupOpId) -> bool {
        match self.flight.ops[index].kind {
            GroupOpKind::Read | GroupOpKind::Verify { .. } | GroupOpKind::Write | GroupOpKind::Trim => {}
            GroupOpKind::Transform => self.prepare_transform(index),
            GroupOpKind::Repair { repair, .. } => {
                if !self.prepare_repair(index, repair) {
                    self.end_op(now, index);
                    return false;
                }
            }
            GroupOpKind::Replay => {
                // The record is kept until the replay has ended, in case power fails again.
                if let Some(record) = self.flight.ops[index].record.clone() {
                    self.doubt.records.insert(index, *record);
                }
            }
        }
        true
    }

    /// Marks the region of an operation; returns false if it waits for that.
    fn mark_region(&mut self, now: Nanos, index: GroupOpId) -> bool {
        let op = &mut self.flight.ops[index];
        op.marked = true;
        if self.doubt.bitmap.mark(op.group, index) {
            return true;
        }
        if self.doubt.bitmap.begin_marking() {
            self.carry_on_bitmap(now);
        }
        // Without it the operation waits until the mark is durable. A mark in protected memory is durable at once.
        self.doubt.bitmap.take_own_mark(index)
    }

    /// Prepares a write or trim of the host: sets the roles that it changes, that is data, parity, and chunks that a lazy shift moves along with a
    /// write, and marks its region. Returns false if it is refused, or waits for the mark.
    #[inline]
    fn prepare_change(&mut self, now: Nanos, index: GroupOpId) -> bool {
        if self.refuse_if_read_only(now, index) {
            return false;
        }
        let op = &mut self.flight.ops[index];
        op.write_set = op.roles | self.layout.role_set & !self.layout.data_set;
        let (group, may_move) = (op.group, op.whole && op.kind == GroupOpKind::Write);
        op.moves = may_move
            && self.layout.shift().is_some_and(|shift| shift.lazy && !shift.is_moved(group))
            && self.layout.moved_roles(group) != 0;
        if op.moves {
            let chunk = self.layout.whole_chunk();
            op.write_set |= self.layout.moved_roles(group);
            (op.rows, op.window) = (chunk, chunk);
        }
        !self.doubt.bitmap.is_used() || self.mark_region(now, index)
    }

    /// Sets the roles that a rebuild or a move writes: those that the shift moves, and those that a filling member lacks.
    fn prepare_transform(&mut self, index: GroupOpId) {
        let group = self.flight.ops[index].group;
        // A rebuild moves the stripe along with an eager or lazy shift.
        let moves = self.layout.shift().is_some_and(|shift| !shift.is_moved(group));
        let mut set = if moves { self.layout.moved_roles(group) } else { 0 };
        for role in 0..self.layout.roles {
            let column = &self.members[self.layout.locate(group, role, moves).0];
            if column.device.is_some() && !column.has(group) {
                set |= 1 << role;
            }
        }
        let window = self.availability().even_rows(group, self.flight.ops[index].rows);
        let op = &mut self.flight.ops[index];
        (op.moves, op.write_set, op.window) = (moves, set, window);
    }

    /// Reads roles of a group under a lock; `failed`: roles that have just failed to be read, and `limited` those among them whose member made few
    /// attempts. Returns the operation.
    pub(super) fn read_under_lock(
        &mut self,
        now: Nanos,
        host: HostCommandId,
        group: GroupIndex,
        data_roles: u64,
        rows: RowRange,
        (failed, limited): (u64, u64),
    ) -> GroupOpId {
        self.flight.hosts[host].left += 1;
        let op = GroupOp {
            host: Some(host),
            roles: data_roles,
            failed,
            limited,
            ..GroupOp::new(GroupOpKind::Read, group, rows)
        };
        self.start_op(now, op)
    }

    /// Prepares an operation of a repair that holds its lock: sets the role that it computes. Returns false if there is nothing to do.
    pub(super) fn prepare_repair(&mut self, index: GroupOpId, id: RepairId) -> bool {
        let Some(column) = self.repairs.get(id).map(|repair| repair.column) else { return false };
        let group = self.flight.ops[index].group;
        let is_filled = self.members[column].device.is_some() && self.members[column].has(group);
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
}
