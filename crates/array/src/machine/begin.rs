//! The beginning of an operation: its lock, its mark in the bitmap, and the roles that it will write.

use super::Array;
use crate::layout::RowRange;
use crate::op::{GroupOp, GroupOpKind};
use outlast_device::{Device, Outcome};
use outlast_units::Nanos;

impl<D: Device> Array<D> {
    /// Begins an operation by asking for its lock, and goes on if it gets it at once. Returns the operation's index.
    pub(super) fn start_op(&mut self, now: Nanos, op: GroupOp) -> u32 {
        // Passes and moves work on whole chunks; reads share their lock with other reads.
        let whole = op.whole || matches!(op.kind, GroupOpKind::Transform | GroupOpKind::Verify { .. });
        let rows = if whole { self.whole_chunk() } else { op.rows };
        let (group, shared) = (op.group, op.kind == GroupOpKind::Read);
        let index = self.flight.ops.insert(op);
        let (lock, held) = self.flight.locks.acquire(group, rows, shared, index);
        self.flight.ops[index].lock = lock;
        if held {
            self.begin_locked(now, index);
        }
        index
    }

    /// Roles of `group` that cannot be read in `rows`, as two sets: *hard*, whose member is absent or not yet filled; *soft*, with bad
    /// sectors there.
    #[inline]
    pub(super) fn unreadable_roles(&self, group: u64, rows: RowRange) -> (u64, u64) {
        // The common case, kept small enough to be inlined.
        if !self.members.is_degraded() {
            return (0, 0);
        }
        self.find_unreadable_roles(group, rows)
    }

    fn find_unreadable_roles(&self, group: u64, rows: RowRange) -> (u64, u64) {
        let (mut hard, mut soft) = (0, 0);
        for role in 0..self.layout.roles {
            let (column, base) = self.layout.locate(group, role, false);
            let member = &self.members[column];
            let first = base + u64::from(rows.first);
            let sectors = first..first + u64::from(rows.len());
            if group >= member.valid_to {
                match self.members.donor_lacks(column, &sectors) {
                    None => hard |= 1 << role,
                    Some(lacks) => soft |= u64::from(lacks) << role,
                }
            } else if !member.bad.is_empty() {
                soft |= u64::from(member.bad.overlaps(&sectors)) << role;
            }
        }
        (hard, soft)
    }

    /// Roles of `group` whose column has no device to write to; `target`: in the placement that the shift moves to.
    #[inline]
    pub(super) fn absent_roles(&self, group: u64, target: bool) -> u64 {
        if !self.members.is_degraded() {
            return 0;
        }
        let is_absent =
            |&role: &usize| self.members[self.layout.locate(group, role, target).0].device.is_none();
        (0..self.layout.roles).filter(is_absent).fold(0, |set, role| set | 1 << role)
    }

    /// Roles that the shift moves to another column.
    fn moved_roles(&self, group: u64) -> u64 {
        let is_moved = |&role: &usize| {
            self.layout.locate(group, role, false).0 != self.layout.locate(group, role, true).0
        };
        (0..self.layout.roles).filter(is_moved).fold(0, |set, role| set | 1 << role)
    }

    /// Goes on with an operation that has its lock: refuses it, or prepares it, marks its region and begins to gather.
    pub(super) fn begin_locked(&mut self, now: Nanos, index: u32) {
        let op = &self.flight.ops[index];
        let (group, kind, roles) = (op.group, op.kind, op.roles);
        match kind {
            GroupOpKind::Read | GroupOpKind::Verify { .. } => {}
            GroupOpKind::Write | GroupOpKind::Trim => {
                if self.refuse_if_read_only(now, index) {
                    return;
                }
                if kind == GroupOpKind::Write {
                    self.prepare_write(index);
                } else {
                    self.flight.ops[index].write_set = roles | self.role_set() & !self.data_set();
                }
                self.flight.ops[index].marked = self.doubt.bitmap.is_used();
                if !self.doubt.bitmap.mark(group, index) {
                    if self.doubt.bitmap.begin_marking() {
                        self.carry_on_bitmap(now);
                    }
                    // Without it the operation waits until the mark is durable. A mark in protected memory is durable at once.
                    if !self.doubt.bitmap.take_own_mark(index) {
                        return;
                    }
                }
            }
            GroupOpKind::Transform => self.prepare_transform(index),
            GroupOpKind::Repair { repair, .. } => {
                if !self.prepare_repair(index, repair) {
                    self.end_op(now, index);
                    return;
                }
            }
            GroupOpKind::Replay => {
                // The record is kept until the replay has ended, in case power fails again.
                if let Some(record) = self.flight.ops[index].record.clone() {
                    self.doubt.records.insert(index, *record);
                }
            }
        }
        self.gather(now, index);
    }

    /// Ends a write or trim of the host that the members can no longer take: too many are absent, or the array is read-only. Without
    /// redundancy, a member that is not rebuilt counts as absent, since the rebuild will write zeroes there. Called at the start and, since
    /// members may leave while the operation waits, before anything is written. Returns true if the operation has ended.
    #[inline]
    pub(super) fn refuse_if_read_only(&mut self, now: Nanos, index: u32) -> bool {
        if !self.read_only && !self.members.is_degraded() {
            return false;
        }
        let op = &self.flight.ops[index];
        if !matches!(op.kind, GroupOpKind::Write | GroupOpKind::Trim) {
            return false;
        }
        let (redundancy, host) = (self.layout.roles - self.layout.data, op.host);
        let refused = self.read_only
            || if redundancy == 0 {
                self.unreadable_roles(op.group, op.rows).0 & op.roles != 0
            } else {
                self.absent_roles(op.group, op.moves).count_ones() as usize > redundancy
            };
        if refused {
            self.flight.hosts[host].outcome = Outcome::ReadOnly;
            self.end_op(now, index);
        }
        refused
    }

    /// Sets the roles that a write changes: data, parity, and chunks that a lazy shift moves along.
    fn prepare_write(&mut self, index: u32) {
        let op = &self.flight.ops[index];
        let (group, roles) = (op.group, op.roles);
        let moves = op.whole
            && self.layout.shift().is_some_and(|shift| shift.lazy && !shift.is_moved(group))
            && self.moved_roles(group) != 0;
        let mut write_set = roles | self.role_set() & !self.data_set();
        let chunk = self.whole_chunk();
        if moves {
            write_set |= self.moved_roles(group);
        }
        let op = &mut self.flight.ops[index];
        if moves {
            (op.rows, op.window) = (chunk, chunk);
        }
        (op.moves, op.write_set) = (moves, write_set);
    }

    /// Sets the roles that a rebuild or a move writes: those that the shift moves, and those that a filling member lacks.
    fn prepare_transform(&mut self, index: u32) {
        let group = self.flight.ops[index].group;
        // A rebuild moves the stripe along with an eager or lazy shift.
        let moves = self.layout.shift().is_some_and(|shift| !shift.is_moved(group));
        let mut set = if moves { self.moved_roles(group) } else { 0 };
        for role in 0..self.layout.roles {
            let column = &self.members[self.layout.locate(group, role, moves).0];
            if column.device.is_some() && group >= column.valid_to {
                set |= 1 << role;
            }
        }
        let window = self.even_rows(group, self.flight.ops[index].rows);
        let op = &mut self.flight.ops[index];
        (op.moves, op.write_set, op.window) = (moves, set, window);
    }
}
