//! Direct commands to members: parts of a host command without an operation or a lock.
//!
//! In an array without redundancy, writes and trims normally go straight to the members. During a pass (a rebuild, for example), or when one may begin, they
//! take the lock of their rows, since a pass writes zeroes where it can read nothing. A pass first waits for the writes that were sent without a lock, and a
//! chunk that is still to be rebuilt accepts none.

use super::{Array, command};
use crate::ids::{ColumnDevice, GroupIndex, HostCommandId};
use crate::layout::{GroupPiece, RowRange};
use crate::member_command::{MemberCommand, MemberCommandKind};
use crate::roles::to_role;
use outlast_device::{Command, Device, Op as HostOp, Outcome, Tag};
use outlast_units::{Nanos, SECTOR_BYTES, to_length};

impl<D: Device> Array<D> {
    /// Reads one chunk's rows straight from a member that has them.
    #[inline]
    pub(super) fn direct_read(
        &mut self,
        now: Nanos,
        host: HostCommandId,
        group: GroupIndex,
        role: usize,
        rows: RowRange,
    ) {
        let role = if self.layout.data == 1 {
            self.availability().choose_copy(group, rows, self.doubt.distrusts(group))
        } else {
            role
        };
        self.flight.hosts[host].left += 1;
        self.flight.direct_reads += 1;
        let is_limited = self.setup.config.limited_retry
            && !self.doubt.distrusts(group)
            && self.availability().can_do_without(group, role, rows);
        let kind = if is_limited {
            MemberCommandKind::LimitedRead(host)
        } else {
            MemberCommandKind::DirectRead(host)
        };
        let (sub, command) = self.direct_command(kind, group, role, rows);
        self.send(now, sub, command, &[]);
    }

    /// A command for `rows` of one role, and its record. A read goes to the device that has the data; a change goes to the member, as there is no
    /// redundancy from which a replacement would be rebuilt.
    fn direct_command(
        &self,
        kind: MemberCommandKind,
        group: GroupIndex,
        role: usize,
        rows: RowRange,
    ) -> (MemberCommand, Command) {
        let (column, base) = self.layout.locate(group, role, false);
        let limited_retry = matches!(kind, MemberCommandKind::LimitedRead(_));
        let (op, device) = match kind {
            MemberCommandKind::DirectRead(_) | MemberCommandKind::LimitedRead(_) => {
                (HostOp::Read, self.members.source(column, group))
            }
            MemberCommandKind::DirectTrim(_) => (HostOp::Trim, ColumnDevice::Member(column)),
            _ => (HostOp::Write, ColumnDevice::Member(column)),
        };
        let sub = MemberCommand { kind, device, role: to_role(role), group, rows };
        (sub, Command { limited_retry, ..command(op, base + u64::from(rows.first), rows) })
    }

    /// Handles the end of a direct read; a failed one is tried again under a lock, with the help of redundancy.
    pub(super) fn direct_read_done(
        &mut self,
        now: Nanos,
        host: HostCommandId,
        sub: MemberCommand,
        tag: Tag,
        outcome: Outcome,
    ) {
        self.flight.direct_reads -= 1;
        // A shift waits for reads without a lock, which look up placements without one.
        if self.flight.direct_reads == 0 && self.passes.is_shift_pending() {
            self.passes.request_pump();
        }
        let role = usize::from(sub.role);
        let data_roles = if self.layout.data == 1 { 1 } else { 1 << role };
        if outcome != Outcome::Ok {
            // An error marks the role as unreadable; a member that has left is found missing anyway.
            let failed = if outcome == Outcome::MediumError { 1 << role } else { 0 };
            let limited = if matches!(sub.kind, MemberCommandKind::LimitedRead(_)) { failed } else { 0 };
            if failed != limited {
                self.note_read_error(now, sub.device);
            }
            let op = self.read_under_lock(now, host, sub.group, data_roles, sub.rows, (failed, limited));
            self.account_retry(host, op);
        } else if self.history.is_lost(&self.layout, sub.group, data_roles, sub.rows) {
            // The data was given up during the read, which may have returned the zeroes in its place.
            self.fail_lost(host, sub.group, data_roles, sub.rows);
        } else if self.setup.bytes {
            let device = self.members.device_mut(sub.device);
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
        self.layout.is_striped_only()
            && !self.members.is_degraded()
            && self.passes.under_way().is_none()
            && (self.flight.ops.used() == 0 || self.flight.passing() == 0)
    }

    /// A write without redundancy.
    pub(super) fn direct_write(&mut self, now: Nanos, host: HostCommandId, piece: GroupPiece) {
        let (role, rows) = (usize::from(piece.first_role), piece.rows);
        self.flight.hosts[host].left += 1;
        self.flight.direct_changes += 1;
        let (sub, command) =
            self.direct_command(MemberCommandKind::DirectWrite(host), piece.group, role, rows);
        let Command { placement, fua, lba, .. } = self.flight.hosts[host].command;
        let command = Command { placement, fua, ..command };
        if self.setup.bytes {
            // Taken out for the call, since `send` borrows the array.
            let data = std::mem::take(&mut self.flight.hosts[host].data);
            let at = to_length((self.layout.logical(piece.group, role, rows.first) - lba.0) * SECTOR_BYTES);
            self.send(now, sub, command, &data[at..at + rows.byte_length()]);
            self.flight.hosts[host].data = data;
        } else {
            self.send(now, sub, command, &[]);
        }
    }

    /// Handles the end of a direct write.
    pub(super) fn direct_write_done(
        &mut self,
        now: Nanos,
        host: HostCommandId,
        sub: MemberCommand,
        outcome: Outcome,
    ) {
        if outcome == Outcome::Ok {
            self.history.clear_lost(&self.layout, sub.group, 1 << sub.role, sub.rows);
            self.repairs.note_written(&self.layout, sub);
        } else if outcome == Outcome::MediumError {
            self.fail_unread(host, sub.group, 1 << sub.role, sub.rows);
        } else {
            self.flight.hosts[host].outcome = outcome;
        }
        self.direct_change_done(now, host);
    }

    /// Ends a direct write or trim; after the last one, a pass that waits for it can go on.
    pub(super) fn direct_change_done(&mut self, now: Nanos, host: HostCommandId) {
        self.flight.direct_changes -= 1;
        if self.flight.direct_changes == 0 && self.passes.under_way().is_some() {
            self.passes.request_pump();
        }
        self.finish_part(now, host);
    }

    pub(super) fn direct_trim(
        &mut self,
        now: Nanos,
        host: HostCommandId,
        group: GroupIndex,
        role: usize,
        rows: RowRange,
    ) {
        self.flight.hosts[host].left += 1;
        self.flight.direct_changes += 1;
        let (sub, command) = self.direct_command(MemberCommandKind::DirectTrim(host), group, role, rows);
        self.send(now, sub, command, &[]);
    }
}
