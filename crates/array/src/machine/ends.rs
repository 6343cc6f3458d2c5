//! Ends of operations: what each releases, and to whom it reports.

use super::Array;
use crate::ids::{GroupIndex, GroupOpId, PassEpoch, RangeIndex, RepairId};
use crate::layout::RowRange;
use crate::op::GroupOpKind;
use crate::passes::PassKind;
use outlast_device::{Device, Outcome};
use outlast_units::Nanos;

impl<D: Device> Array<D> {
    /// Ends a write or trim of the host that the members can no longer take: too many are absent, or the array is read-only. Without
    /// redundancy, a member that is not rebuilt counts as absent, since the rebuild will write zeroes there. Called at the start and, since
    /// members may leave while the operation waits, before anything is written. Returns true if the operation has ended.
    #[inline]
    pub(super) fn refuse_if_read_only(&mut self, now: Nanos, index: GroupOpId) -> bool {
        (self.read_only | self.members.is_degraded()) && self.refuse_if_needed(now, index)
    }

    /// See [`Array::refuse_if_read_only`]; for an array that lacks something.
    #[cold]
    #[inline(never)]
    fn refuse_if_needed(&mut self, now: Nanos, index: GroupOpId) -> bool {
        let op = &self.flight.ops[index];
        if !matches!(op.kind, GroupOpKind::Write | GroupOpKind::Trim) {
            return false;
        }
        let (redundancy, host) = (self.layout.roles - self.layout.data, op.host);
        let refused = self.read_only
            || if redundancy == 0 {
                self.availability().unreadable_roles(op.group, op.rows).0 & op.roles != 0
            } else {
                self.availability().absent_roles(op.group, op.moves).count_ones() as usize > redundancy
            };
        if refused {
            if let Some(host) = host {
                self.flight.hosts[host].outcome = Outcome::ReadOnly;
            }
            self.end_op(now, index);
        }
        refused
    }

    /// Ends the operation, successful or not: releases its lock, mark, log space and record, and reports to whoever it works for.
    #[allow(clippy::inline_always, reason = "the end of each commit")]
    #[inline(always)]
    pub(super) fn end_op(&mut self, now: Nanos, index: GroupOpId) {
        let op = &mut self.flight.ops[index];
        let (host, lock) = (op.host, op.lock);
        let is_for_host = matches!(op.kind, GroupOpKind::Read | GroupOpKind::Write | GroupOpKind::Trim);
        let is_simple = is_for_host && op.epoch.is_none();
        op.committing = false;
        let holds = !op.cells.is_empty() || op.record.is_some() || op.marked || op.log_bytes > 0;
        if holds || !self.doubt.records.is_empty() {
            self.release_held(now, index);
        }
        let runnable = &mut self.flight.runnable;
        if let Some(lock) = lock {
            self.flight.locks.release(lock, |op| runnable.push_back(op));
        }
        self.flight.ops.remove(index);
        if let Some(host) = host {
            self.finish_part(now, host);
        }
        if !is_simple {
            self.report_end(index);
        }
    }

    /// Releases what an operation holds besides its lock: content, mark, log space and record.
    #[inline(never)]
    fn release_held(&mut self, now: Nanos, index: GroupOpId) {
        let op = &mut self.flight.ops[index];
        if !op.cells.is_empty() {
            self.flight.spare_cells.take_back(std::mem::take(&mut op.cells));
        }
        op.record = None;
        if !self.doubt.records.is_empty() {
            self.doubt.records.remove(index);
        }
        if op.marked {
            self.doubt.bitmap.unmark(now, op.group, self.setup.config.log.bitmap_delay);
        }
        if op.log_bytes > 0 {
            self.doubt.log.release(op.log_bytes);
        }
    }

    /// Reports the end of an operation, which has just been given up, to the pass, repair or replay that it worked for.
    #[inline(never)]
    fn report_end(&mut self, index: GroupOpId) {
        let op = &self.flight.ops[index];
        let (group, kind, rows, epoch) = (op.group, op.kind, op.rows, op.epoch);
        if let Some(epoch) = epoch {
            self.group_done(group, epoch);
        }
        if let GroupOpKind::Repair { repair, range, .. } = kind {
            self.repair_part(repair, range, group, rows);
        }
        if kind == GroupOpKind::Replay {
            self.replay_done();
        }
    }

    pub(super) fn group_done(&mut self, group: GroupIndex, epoch: PassEpoch) {
        let done = self.passes.end_group(group, epoch);
        self.groups_done(done);
    }

    /// Takes over the progress of a pass: kind, and the group up to which it is done.
    pub(super) fn groups_done(&mut self, done: Option<(PassKind, GroupIndex)>) {
        match done {
            Some((PassKind::Rebuild, base)) => {
                for column in self.members.iter_mut().filter(|column| column.device.is_some()) {
                    column.note_filled(base);
                }
            }
            Some((PassKind::Resync, base)) => self.doubt.resynced_up_to(base),
            Some((PassKind::Shift | PassKind::Repair | PassKind::Scrub, _)) | None => {}
        }
    }

    /// Ends an operation of a repair.
    pub(super) fn repair_part(&mut self, id: RepairId, range: RangeIndex, group: GroupIndex, rows: RowRange) {
        let Some(repair) = self.repairs.get_mut(id) else { return };
        let role = self.layout.role_on(group, repair.column, false);
        let base = role.map(|role| self.layout.locate(group, role, false).1);
        repair.recovered(range, base.map(|base| base + u64::from(rows.first)..base + u64::from(rows.end)));
        self.passes.request_pump();
    }

    /// Counts a record as replayed; the host is served after the last one.
    pub(super) fn replay_done(&mut self) {
        self.flight.replaying -= 1;
        if self.flight.replaying == 0 {
            self.passes.request_pump();
        }
    }
}
