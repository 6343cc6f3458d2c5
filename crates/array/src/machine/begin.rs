//! The beginning of an operation: its lock, its mark, and what it will write.

use super::Array;
use crate::layout::Rows;
use crate::op::{Op, OpKind};
use outlast_device::{Device, Outcome};
use outlast_units::Nanos;

impl<D: Device> Array<D> {
    /// Begins an operation: it asks for its lock.
    pub(super) fn start(&mut self, now: Nanos, op: Op) -> u32 {
        let whole = op.whole || matches!(op.kind, OpKind::Transform | OpKind::Verify { .. });
        let rows = if whole { self.whole_chunk() } else { op.rows };
        let (group, shared) = (op.group, op.kind == OpKind::Read);
        let index = self.flight.ops.insert(op);
        let (lock, held) = self.flight.locks.acquire(group, rows, shared, index);
        self.flight.ops[index].lock = lock;
        if held {
            self.locked(now, index);
        }
        index
    }

    /// Roles of `group` that cannot be read in `rows`: because their member does not have them at all, or because of bad sectors.
    #[inline]
    pub(super) fn unreadable(&self, group: u64, rows: Rows) -> (u64, u64) {
        if !self.members.is_degraded() {
            return (0, 0);
        }
        self.find_unreadable(group, rows)
    }

    fn find_unreadable(&self, group: u64, rows: Rows) -> (u64, u64) {
        let (mut hard, mut soft) = (0, 0);
        for role in 0..self.layout.roles {
            let (column, base) = self.layout.locate(group, role, false);
            let place = &self.members[column];
            let first = base + u64::from(rows.first);
            let sectors = first..first + u64::from(rows.len());
            if group >= place.valid_to {
                match self.members.donor_lacks(column, &sectors) {
                    None => hard |= 1 << role,
                    Some(lacks) => soft |= u64::from(lacks) << role,
                }
            } else if !place.bad.is_empty() {
                soft |= u64::from(place.bad.overlaps(&sectors)) << role;
            }
        }
        (hard, soft)
    }

    /// Roles of `group` whose member is not there to be written.
    #[inline]
    pub(super) fn absent(&self, group: u64, target: bool) -> u64 {
        if !self.members.is_degraded() {
            return 0;
        }
        let gone = |&role: &usize| self.members[self.layout.locate(group, role, target).0].device.is_none();
        (0..self.layout.roles).filter(gone).fold(0, |set, role| set | 1 << role)
    }

    /// Roles that lie elsewhere in the shift's target.
    fn moved_roles(&self, group: u64) -> u64 {
        let moved = |&role: &usize| {
            self.layout.locate(group, role, false).0 != self.layout.locate(group, role, true).0
        };
        (0..self.layout.roles).filter(moved).fold(0, |set, role| set | 1 << role)
    }

    /// The lock is held.
    pub(super) fn locked(&mut self, now: Nanos, index: u32) {
        let op = &self.flight.ops[index];
        let (group, kind, roles) = (op.group, op.kind, op.roles);
        match kind {
            OpKind::Read | OpKind::Verify { .. } => {}
            OpKind::Write | OpKind::Trim => {
                if self.refused(now, index) {
                    return;
                }
                if kind == OpKind::Write {
                    self.prepare_write(index);
                } else {
                    self.flight.ops[index].write_set = roles | self.role_set() & !self.data_set();
                }
                self.flight.ops[index].marked = self.doubt.bitmap.is_used();
                if !self.doubt.bitmap.mark(group, index) {
                    if self.doubt.bitmap.begin_marking() {
                        self.carry_on_bitmap(now);
                    }
                    // A mark in protected memory is there at once.
                    if !self.doubt.bitmap.take_own_mark(index) {
                        return;
                    }
                }
            }
            OpKind::Transform => self.prepare_transform(index),
            OpKind::Repair { repair, .. } => {
                if !self.prepare_repair(index, repair) {
                    self.end(now, index);
                    return;
                }
            }
            OpKind::Replay => {
                // It must outlive another loss of power.
                if let Some(record) = self.flight.ops[index].record.clone() {
                    self.doubt.records.insert(index, *record);
                }
            }
        }
        self.gather(now, index);
    }

    /// Ends a host's write or trim that the members can no longer take: too many are missing, or one takes no more writes. Without
    /// redundancy one that is not rebuilt is as good as missing: the rebuild will write zeroes there. Asked at the start and, since members
    /// may leave while the operation waits, before anything is written.
    #[inline]
    pub(super) fn refused(&mut self, now: Nanos, index: u32) -> bool {
        if !self.read_only && !self.members.is_degraded() {
            return false;
        }
        let op = &self.flight.ops[index];
        if !matches!(op.kind, OpKind::Write | OpKind::Trim) {
            return false;
        }
        let (redundancy, host) = (self.layout.roles - self.layout.data, op.host);
        let refused = self.read_only
            || if redundancy == 0 {
                self.unreadable(op.group, op.rows).0 & op.roles != 0
            } else {
                self.absent(op.group, op.moves).count_ones() as usize > redundancy
            };
        if refused {
            self.flight.hosts[host].outcome = Outcome::ReadOnly;
            self.end(now, index);
        }
        refused
    }

    fn prepare_write(&mut self, index: u32) {
        let op = &self.flight.ops[index];
        let (group, roles) = (op.group, op.roles);
        let moves = op.whole
            && self.layout.shift().is_some_and(|shift| shift.lazy && !shift.is_moved(group))
            && self.moved_roles(group) != 0;
        let mut set = roles | self.role_set() & !self.data_set();
        let chunk = self.whole_chunk();
        if moves {
            set |= self.moved_roles(group);
        }
        let op = &mut self.flight.ops[index];
        if moves {
            (op.rows, op.window) = (chunk, chunk);
        }
        (op.moves, op.write_set) = (moves, set);
    }

    fn prepare_transform(&mut self, index: u32) {
        let group = self.flight.ops[index].group;
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
