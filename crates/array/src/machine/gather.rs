//! Gathering: reads the chunks that an operation must know, window by window.

use super::plan::{GatherPlan, plan_update};
use super::{Array, command};
use crate::ids::GroupOpId;
use crate::layout::RowRange;
use crate::member_command::{MemberCommand, MemberCommandKind};
use crate::op::{GroupOpKind, RecordContent};
use crate::roles::{roles, to_role};
use outlast_device::{Device, Op as HostOp, Outcome, Tag};
use outlast_settings::array::ChunkOrder;
use outlast_units::Nanos;

impl<D: Device> Array<D> {
    /// Follows the plan of the current window: reads, or finishes the window and begins the next, or shrinks it.
    ///
    /// Called once the lock is held and the region marked, and again whenever all reads of the window have ended.
    pub(super) fn gather(&mut self, now: Nanos, index: GroupOpId) {
        if self.refuse_if_read_only(now, index) {
            return;
        }
        if self.setup.bytes && self.flight.ops[index].cells.is_empty() {
            self.flight.ops[index].cells = self.flight.spare_cells.take_list(self.layout.roles);
        }
        let plan =
            plan_update(&self.layout, &self.members, &self.doubt, &self.setup, &self.flight.ops[index]);
        debug_assert!(
            plan.is_none_or(|set| match Self::planner(self).plan(&self.flight.ops[index]) {
                GatherPlan::Read(own) => own == set && set != 0,
                GatherPlan::Ready(method) => method == crate::op::WriteMethod::Delta && set == 0,
                GatherPlan::Short => false,
            }),
            "a simple update is planned in another way than all else"
        );
        match plan {
            None => self.gather_window(now, index),
            Some(0) => self.finish_update(now, index),
            Some(set) => self.read_roles(now, index, set),
        }
    }

    /// As [`Array::gather`], for all that is no simple read-modify-write.
    #[inline(never)]
    fn gather_window(&mut self, now: Nanos, index: GroupOpId) {
        loop {
            match self.planner().plan(&self.flight.ops[index]) {
                GatherPlan::Read(set) => {
                    let one_by_one = self.setup.order_of(&self.flight.ops[index]) == ChunkOrder::InTurn;
                    // `set & -set` is the lowest role of the set.
                    let next = if one_by_one { set & set.wrapping_neg() } else { set };
                    self.read_roles(now, index, next);
                    return;
                }
                GatherPlan::Ready(method) => {
                    self.flight.ops[index].method = method;
                    self.finish_window(index);
                    let op = &mut self.flight.ops[index];
                    if op.window.end == op.rows.end {
                        self.finish_gather(now, index);
                        return;
                    }
                    // The next window is all that remains, even after one that had to be shrunk.
                    op.window = RowRange::new(op.window.end, op.rows.end);
                    (op.have, op.failed, op.limited, op.lost) = (0, 0, 0, 0);
                    if op.kind == GroupOpKind::Transform {
                        let (group, remaining) = (op.group, op.window);
                        self.flight.ops[index].window = self.availability().even_rows(group, remaining);
                    }
                }
                GatherPlan::Short => {
                    if !self.shrink_window(index) {
                        self.end_op(now, index);
                        return;
                    }
                }
            }
        }
    }

    /// Reads the window of each role in `set` from its member, or from the member's donor.
    fn read_roles(&mut self, now: Nanos, index: GroupOpId, set: u64) {
        let op = &self.flight.ops[index];
        let (group, window, kind) = (op.group, op.window, op.kind);
        debug_assert!(set != 0, "a plan that reads reads something");
        let (place, recovers) = (self.layout.place(group, false), kind.recovers());
        let mut sent = 0;
        for role in roles(set) {
            let (column, base) = self.layout.column(place, role);
            let source = self.members.source(column, group);
            if recovers {
                self.count_repair(kind, source, window.len(), true);
            }
            let (kind, role) = (MemberCommandKind::Read(index), to_role(role));
            let sub = MemberCommand { kind, device: source, role, group, rows: window };
            self.send(now, sub, command(HostOp::Read, base + u64::from(window.first), window), &[]);
            sent += 1;
        }
        // Nothing that is sent ends before the next event.
        self.flight.ops[index].left = sent;
    }

    /// Takes the content of a role that has been read, or notes that the role cannot be read.
    #[allow(clippy::inline_always, reason = "a part of `member_done`")]
    #[inline(always)]
    pub(super) fn handle_read_done(
        &mut self,
        now: Nanos,
        index: GroupOpId,
        sub: MemberCommand,
        tag: Tag,
        outcome: Outcome,
    ) {
        let op = &mut self.flight.ops[index];
        debug_assert!(op.left > 0 && op.have >> sub.role & 1 == 0, "a role is read once");
        if outcome == Outcome::Ok {
            op.have |= 1 << sub.role;
            if self.setup.bytes {
                self.take_content(index, sub, tag);
            }
        } else {
            op.failed |= 1 << sub.role;
            self.note_read_error(now, sub.device);
        }
        self.finish_gather_part(now, index);
    }

    /// Takes the content that a member has read for an operation.
    #[inline(never)]
    fn take_content(&mut self, index: GroupOpId, sub: MemberCommand, tag: Tag) {
        if let Some(device) = self.members.device_mut(sub.device)
            && let Some(data) = device.take_data(tag)
        {
            self.flight.ops[index].put_cell(usize::from(sub.role), sub.rows, data);
            // The cell keeps the device's memory, which gets other memory for it.
            self.flight.spare_cells.take_memory().into_iter().for_each(|own| device.return_data(own));
        }
    }

    /// Counts a read of an operation that has ended; after the last one, follows the next plan, which finds the role of a member that has left missing.
    #[inline]
    pub(super) fn finish_gather_part(&mut self, now: Nanos, index: GroupOpId) {
        let op = &mut self.flight.ops[index];
        op.left -= 1;
        if op.left == 0 {
            self.gather(now, index);
        }
    }

    /// Handles a window of which too few chunks can be read, in this order: reads what limited retry has given up, reads rows that a member has listed as failed, reads rows that
    /// donors have listed, halves the window, gives the missing data up. Returns false if the operation is to end, as a host read does.
    fn shrink_window(&mut self, index: GroupOpId) -> bool {
        let op = &mut self.flight.ops[index];
        if op.limited != 0 {
            op.failed &= !op.limited;
            op.limited = 0;
            return true;
        }
        if let GroupOpKind::Repair { copy, .. } = &mut op.kind
            && !*copy
        {
            // The list of the member may be out of date by now; only a read of the row tells.
            *copy = true;
            return true;
        }
        let (group, window) = (op.group, op.window);
        if self.members.distrust_donors(&self.layout, group, window) {
            return true;
        }
        let op = &self.flight.ops[index];
        let (hard, soft) = self.availability().unreadable_roles(group, window);
        // Hopeless: members are missing, so that halving the window does not help.
        let hopeless = match (&op.kind, &op.record) {
            // A record is replayed from the chunks that were written; without one of their members it is of no use.
            (GroupOpKind::Replay, Some(record)) => match &record.content {
                RecordContent::Partial { written, extra, .. } => written & !extra & hard != 0,
                _ => false,
            },
            _ => ((self.layout.role_set & !hard).count_ones() as usize) < self.layout.data,
        };
        let op = &self.flight.ops[index];
        let missing = (hard | soft | op.failed) & !op.known_roles();
        // Roles that the host overwrites are not lost. The role of a repair is computed, not overwritten.
        let has_host_data = !matches!(op.kind, GroupOpKind::Repair { .. });
        let overwritten = if has_host_data && op.is_overlaid() { op.roles } else { 0 };
        let needed = match op.record.as_deref().map(|record| &record.content) {
            Some(RecordContent::Partial { written, extra, .. }) if op.kind == GroupOpKind::Replay => {
                written & !extra
            }
            _ => self.layout.data_set,
        };
        let lost = missing & needed & !overwritten;
        // Halving also pays if a member that is present lacks only some of the rows: the others are saved.
        let saves = op.kind != GroupOpKind::Read && lost & !hard != 0;
        if (!hopeless || saves) && window.len() > 1 {
            let middle = window.first + window.len() / 2;
            let op = &mut self.flight.ops[index];
            op.window = RowRange::new(window.first, middle);
            // Roles that failed over the whole window may be readable in its first half.
            op.failed = 0;
            return true;
        }
        if op.kind == GroupOpKind::Read {
            let (host, asked_roles) = (op.host_command(), op.roles);
            let missing = missing & asked_roles;
            // Of mirrors another role than the one asked for may be the missing one.
            self.fail_unread(host, group, if missing == 0 { asked_roles } else { missing }, window);
            return false;
        }
        self.give_up_window(index, lost);
        true
    }

    /// Gives up data of the window that cannot be read or computed: replaces it by zeroes, and adds it to the lost data.
    fn give_up_window(&mut self, index: GroupOpId, lost: u64) {
        let (group, window) = (self.flight.ops[index].group, self.flight.ops[index].window);
        // With mirrors the one data chunk is lost when no copy is left.
        let lost = if self.layout.data == 1 { 1 } else { lost };
        assert!(lost & !self.flight.ops[index].lost != 0, "a window that lacks nothing is not short");
        let writes = self.flight.ops[index].kind == GroupOpKind::Write;
        // Zeroes need new redundancy; a write computes it anyway.
        let rewrite = if writes { lost } else { lost | self.layout.role_set & !self.layout.data_set };
        // A longer window may have given up some of it already, before it had to be halved.
        let covers = |rows: RowRange| rows.first <= window.first && window.end <= rows.end;
        let repairs = self.flight.ops[index].repairs.iter().filter(|(_, rows)| covers(*rows));
        let given_up = repairs.fold(0, |set, &(role, _)| set | 1 << role);
        for role in roles(lost & !given_up) {
            let first = self.layout.logical(group, role, window.first);
            self.history.add_lost(first..first + u64::from(window.len()));
        }
        let sectors = (lost & !given_up).count_ones() * window.len();
        self.repairs.count_lost(self.flight.ops[index].kind, u64::from(sectors));
        let op = &mut self.flight.ops[index];
        op.lost |= lost;
        op.repairs.extend(roles(rewrite & !given_up).map(|role| (to_role(role), window)));
        if !op.cells.is_empty() {
            let range = window.bytes(op.rows.first);
            op.fill_cells(lost);
            for role in roles(lost) {
                op.cells[role][range.clone()].fill(0);
            }
        }
    }
}
