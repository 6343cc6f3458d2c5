//! Direct commands to members: parts of a host command without an operation or a lock.
//!
//! In an array without redundancy, writes and trims normally go straight to the members. During a pass (a rebuild, for example), or when one may begin, they
//! take the lock of their rows, since a pass writes zeroes where it can read nothing. A pass first waits for the writes that were sent without a lock, and a
//! chunk that is still to be rebuilt accepts none.

use super::{Array, command};
use crate::layout::{GroupPiece, RowRange};
use crate::op::{MemberCommand, MemberCommandKind};
use crate::roles::roles;
use outlast_device::{Command, Device, Op as HostOp, Outcome, Tag};
use outlast_units::{Nanos, SECTOR_BYTES};

impl<D: Device> Array<D> {
    /// Reads one chunk's rows straight from a member that has them.
    #[inline]
    pub(super) fn direct_read(&mut self, now: Nanos, host: u32, group: u64, role: usize, rows: RowRange) {
        let role = if self.layout.data == 1 { self.choose_copy(group, rows) } else { role };
        let (column, base) = self.layout.locate(group, role, false);
        let column = self.members.source(column, group);
        self.flight.hosts[host].left += 1;
        self.flight.direct_reads += 1;
        let sub = MemberCommand {
            live: true,
            kind: MemberCommandKind::DirectRead,
            column: column as u8,
            role: role as u8,
            owner: host,
            group,
            rows,
        };
        self.send(now, sub, command(HostOp::Read, base + u64::from(rows.first), rows), &[]);
    }

    /// The role to read of a mirror: the copy on the least busy member. While copies may differ after a loss of power always the first, as in
    /// md, so that repeated reads return the same data.
    pub(super) fn choose_copy(&self, group: u64, rows: RowRange) -> usize {
        if self.layout.roles == 1 {
            return 0;
        }
        let (hard, soft) =
            if self.members.is_degraded() { self.unreadable_roles(group, rows) } else { (0, 0) };
        let readable = self.role_set() & !(hard | soft);
        let in_doubt = self.doubt.distrusts(group);
        let busy = |role: &usize| self.members[self.layout.locate(group, *role, false).0].in_flight;
        let best = if in_doubt { roles(readable).next() } else { roles(readable).min_by_key(busy) };
        best.unwrap_or(0)
    }

    /// Handles the end of a direct read; a failed one is tried again under a lock, with the help of redundancy.
    pub(super) fn direct_read_done(&mut self, now: Nanos, sub: MemberCommand, tag: Tag, outcome: Outcome) {
        self.flight.direct_reads -= 1;
        // A shift waits for reads without a lock, which look up placements without one.
        if self.flight.direct_reads == 0 && self.passes.is_shift_pending() {
            self.passes.request_pump();
        }
        let (host, role) = (sub.owner, usize::from(sub.role));
        let data_roles = if self.layout.data == 1 { 1 } else { 1 << role };
        if outcome != Outcome::Ok {
            // An error marks the role as unreadable; a member that has left is found missing anyway.
            let mut failed = 0;
            if outcome == Outcome::MediumError {
                self.note_read_error(now, usize::from(sub.column));
                failed = 1 << role;
            }
            let op = self.read_under_lock(now, host, sub.group, data_roles, sub.rows, failed);
            self.account_retry(host, op);
        } else if self.is_lost(sub.group, data_roles, sub.rows) {
            // The data was given up during the read, which may have returned the zeroes in its place.
            self.fail_lost(host, sub.group, data_roles, sub.rows);
        } else if self.setup.bytes {
            let device = self.members.device_mut(usize::from(sub.column));
            if let Some(data) = device.and_then(|device| device.take_data(tag)) {
                self.give_to_host(host, sub.group, role, sub.rows, &data);
            }
        }
        self.finish_part(now, host);
    }

    /// True if writes and trims need no lock: there is no redundancy, and nothing but the host writes. A pass over groups may write zeroes
    /// in place of data that it cannot read; its operations may outlive it, and on a degraded array it may begin at any time.
    #[inline]
    pub(super) fn writes_directly(&self) -> bool {
        self.is_striped_only()
            && !self.members.is_degraded()
            && self.passes.under_way().is_none()
            && (self.flight.ops.used() == 0 || self.flight.passing() == 0)
    }

    /// A write without redundancy.
    pub(super) fn direct_write(&mut self, now: Nanos, host: u32, piece: GroupPiece) {
        let (role, rows) = (usize::from(piece.first_role), piece.rows);
        let (column, base) = self.layout.locate(piece.group, role, false);
        self.flight.hosts[host].left += 1;
        self.flight.direct_changes += 1;
        let sub = MemberCommand {
            live: true,
            kind: MemberCommandKind::DirectWrite,
            column: column as u8,
            role: role as u8,
            owner: host,
            group: piece.group,
            rows,
        };
        let Command { stream, fua, lba, .. } = self.flight.hosts[host].command;
        let command = Command { stream, fua, ..command(HostOp::Write, base + u64::from(rows.first), rows) };
        if self.setup.bytes {
            // Taken out for the call, since `send` borrows the array.
            let data = std::mem::take(&mut self.flight.hosts[host].data);
            let at = ((self.layout.logical(piece.group, role, rows.first) - lba.0) * SECTOR_BYTES) as usize;
            self.send(now, sub, command, &data[at..at + rows.len() as usize * SECTOR_BYTES as usize]);
            self.flight.hosts[host].data = data;
        } else {
            self.send(now, sub, command, &[]);
        }
    }

    /// Handles the end of a direct write.
    pub(super) fn direct_write_done(&mut self, now: Nanos, sub: MemberCommand, outcome: Outcome) {
        if outcome == Outcome::Ok {
            self.clear_lost(sub.group, 1 << sub.role, sub.rows);
            self.note_written(sub);
        } else if outcome == Outcome::MediumError {
            self.fail_unread(sub.owner, sub.group, 1 << sub.role, sub.rows);
        } else {
            self.flight.hosts[sub.owner].outcome = outcome;
        }
        self.direct_change_done(now, sub);
    }

    /// Ends a direct write or trim; after the last one, a pass that waits for it can go on.
    pub(super) fn direct_change_done(&mut self, now: Nanos, sub: MemberCommand) {
        self.flight.direct_changes -= 1;
        if self.flight.direct_changes == 0 && self.passes.under_way().is_some() {
            self.passes.request_pump();
        }
        self.finish_part(now, sub.owner);
    }

    pub(super) fn direct_trim(&mut self, now: Nanos, host: u32, group: u64, role: usize, rows: RowRange) {
        let (column, base) = self.layout.locate(group, role, false);
        self.flight.hosts[host].left += 1;
        self.flight.direct_changes += 1;
        let (column, role) = (column as u8, role as u8);
        let sub = MemberCommand {
            live: true,
            kind: MemberCommandKind::DirectTrim,
            column,
            role,
            owner: host,
            group,
            rows,
        };
        self.send(now, sub, command(HostOp::Trim, base + u64::from(rows.first), rows), &[]);
    }
}
