//! Reading what an operation must know, window by window.

use super::plan::Plan;
use super::{Array, command};
use crate::layout::Rows;
use crate::op::{Content, OpKind, Sub, SubKind};
use crate::roles::roles;
use outlast_device::{Device, Op as HostOp, Outcome, Tag};
use outlast_settings::array::ChunkOrder;
use outlast_units::{Nanos, SECTOR_BYTES};

impl<D: Device> Array<D> {
    /// The region is marked where that is needed: gathering begins.
    pub(super) fn gather(&mut self, now: Nanos, index: u32) {
        if self.refused(now, index) {
            return;
        }
        if self.setup.bytes && self.flight.ops[index].cells.is_empty() {
            let bytes = self.flight.ops[index].rows.len() as usize * SECTOR_BYTES as usize;
            self.flight.ops[index].cells = vec![vec![0; bytes]; self.layout.roles];
        }
        loop {
            match self.plan(index) {
                Plan::Read(set) => {
                    let one_by_one = self.order_of(index) == ChunkOrder::InTurn;
                    self.read_roles(now, index, if one_by_one { set & set.wrapping_neg() } else { set });
                    return;
                }
                Plan::Ready(method) => {
                    self.flight.ops[index].method = method;
                    self.window_done(index);
                    let op = &mut self.flight.ops[index];
                    if op.window.end == op.rows.end {
                        self.gathered(now, index);
                        return;
                    }
                    op.window = Rows::new(op.window.end, op.rows.end);
                    (op.have, op.failed, op.lost) = (0, 0, 0);
                    if op.kind == OpKind::Transform {
                        let (group, rest) = (op.group, op.window);
                        self.flight.ops[index].window = self.even_rows(group, rest);
                    }
                }
                Plan::Short => {
                    if !self.shorten(index) {
                        self.end(now, index);
                        return;
                    }
                }
            }
        }
    }

    fn read_roles(&mut self, now: Nanos, index: u32, set: u64) {
        let op = &mut self.flight.ops[index];
        let (group, window, kind) = (op.group, op.window, op.kind);
        op.left = set.count_ones();
        debug_assert!(op.left > 0, "a plan that reads reads something");
        let place = self.layout.place(group, false);
        for role in roles(set) {
            let (column, base) = self.layout.column(place, role);
            let source = self.members.source(column, group);
            if kind.recovers() {
                self.count_repair(kind, source, window.len(), true);
            }
            let (column, role, kind) = (source as u8, role as u8, SubKind::Read);
            let sub = Sub { live: true, kind, column, role, owner: index, group, rows: window };
            self.send(now, sub, command(HostOp::Read, base + u64::from(window.first), window), &[]);
        }
    }

    /// A read of an operation has ended.
    pub(super) fn gather_done(&mut self, now: Nanos, sub: Sub, tag: Tag, outcome: Outcome) {
        let (index, role) = (sub.owner, usize::from(sub.role));
        let op = &mut self.flight.ops[index];
        debug_assert!(op.left > 0 && op.have >> role & 1 == 0, "a role is read once");
        if outcome == Outcome::Ok {
            op.have |= 1 << role;
            if self.setup.bytes {
                let device = self.members.device_mut(usize::from(sub.column));
                if let Some(data) = device.and_then(|device| device.take_data(tag)) {
                    op.cells[role][sub.rows.bytes(op.rows.first)].copy_from_slice(&data);
                }
            }
        } else {
            self.flight.ops[index].failed |= 1 << role;
            self.note_read_error(now, usize::from(sub.column));
        }
        self.gather_part(now, index);
    }

    /// A read of an operation went to a member that is no longer there.
    pub(super) fn gather_gone(&mut self, now: Nanos, sub: Sub) {
        self.gather_part(now, sub.owner);
    }

    fn gather_part(&mut self, now: Nanos, index: u32) {
        let op = &mut self.flight.ops[index];
        op.left -= 1;
        if op.left == 0 {
            self.gather(now, index);
        }
    }

    /// Too few chunks of the window can be read: tries half of it, or gives its missing data up. Returns whether to go on; a read
    /// of the host does not.
    fn shorten(&mut self, index: u32) -> bool {
        let op = &mut self.flight.ops[index];
        if let OpKind::Repair { copy, .. } = &mut op.kind
            && !*copy
        {
            // What the member said may be old, or true of its place only: reading it tells.
            *copy = true;
            return true;
        }
        let (group, window) = (op.group, op.window);
        if self.doubt_donors(group, window) {
            return true;
        }
        let op = &self.flight.ops[index];
        let (hard, soft) = self.unreadable(group, window);
        let hopeless = match (&op.kind, &op.record) {
            (OpKind::Replay, Some(record)) => match &record.content {
                Content::Partial { written, extra, .. } => written & !extra & hard != 0,
                _ => false,
            },
            _ => ((self.role_set() & !hard).count_ones() as usize) < self.layout.data,
        };
        let op = &self.flight.ops[index];
        let missing = (hard | soft | op.failed) & !op.known();
        let host_data = !matches!(op.kind, OpKind::Repair { .. });
        let overwritten = if host_data && op.is_overlaid() { op.roles } else { 0 };
        let needed = match op.record.as_deref().map(|record| &record.content) {
            Some(Content::Partial { written, extra, .. }) if op.kind == OpKind::Replay => written & !extra,
            _ => self.data_set(),
        };
        let lost = missing & needed & !overwritten;
        // Members that are there lack only some of their rows.
        let saves = op.kind != OpKind::Read && lost & !hard != 0;
        if (!hopeless || saves) && window.len() > 1 {
            let middle = window.first + window.len() / 2;
            let op = &mut self.flight.ops[index];
            op.window = Rows::new(window.first, middle);
            op.failed = 0;
            return true;
        }
        if op.kind == OpKind::Read {
            let (host, wanted) = (op.host, op.roles);
            let missing = missing & wanted;
            self.fail_unread(host, group, if missing == 0 { wanted } else { missing }, window);
            return false;
        }
        self.give_up(index, lost);
        true
    }

    /// Data of the window that nothing can bring back becomes zeroes, and is remembered as lost.
    fn give_up(&mut self, index: u32, lost: u64) {
        let (group, window) = (self.flight.ops[index].group, self.flight.ops[index].window);
        // With mirrors the one data chunk is lost when no copy is left.
        let lost = if self.layout.data == 1 { 1 } else { lost };
        assert!(lost & !self.flight.ops[index].lost != 0, "a window that lacks nothing is not short");
        let writes = self.flight.ops[index].kind == OpKind::Write;
        let rewrite = if writes { lost } else { lost | self.role_set() & !self.data_set() };
        // A longer window that had to be cut may have given up some of it already.
        let covers = |rows: Rows| rows.first <= window.first && window.end <= rows.end;
        let repairs = self.flight.ops[index].repairs.iter().filter(|(_, rows)| covers(*rows));
        let before = repairs.fold(0, |set, &(role, _)| set | 1 << role);
        for role in roles(lost & !before) {
            let first = self.layout.logical(group, role, window.first);
            self.ledger.lose(first..first + u64::from(window.len()));
        }
        let sectors = (lost & !before).count_ones() * window.len();
        self.count_lost(self.flight.ops[index].kind, u64::from(sectors));
        let op = &mut self.flight.ops[index];
        op.lost |= lost;
        op.repairs.extend(roles(rewrite & !before).map(|role| (role as u8, window)));
        if !op.cells.is_empty() {
            let range = window.bytes(op.rows.first);
            for role in roles(lost) {
                op.cells[role][range.clone()].fill(0);
            }
        }
    }
}
