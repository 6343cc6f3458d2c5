//! Host commands: accepted, cut into pieces, and completed when every piece is done.

use super::flight::HeldBack;
use super::{Array, command};
use crate::layout::{GroupPiece, RowRange};
use crate::op::{GroupOp, GroupOpKind, HostCommand, MemberCommand, MemberCommandKind};
use outlast_device::{Command, Completion, Device, Op as HostOp, Outcome, Tag};
use outlast_units::slab::NIL;
use outlast_units::{Nanos, SECTOR_BYTES};

impl<D: Device> Array<D> {
    /// Takes a host command; holds it back while records are replayed.
    pub(super) fn receive(&mut self, now: Nanos, command: Command, tag: Tag, data: &[u8]) {
        assert!(self.powered, "an array without power takes no commands");
        // `|` rather than `||`: one branch, since either is rare.
        if (self.flight.replaying > 0) | self.accounts.is_some() {
            if let Some(accounts) = &mut self.accounts {
                accounts.open_account(now, tag);
            }
            if self.flight.replaying > 0 {
                self.flight.held_back.push_back(HeldBack { command, tag, data: data.to_vec() });
                return;
            }
        }
        self.accept(now, command, tag, data);
    }

    /// Begins a host command.
    pub(super) fn accept(&mut self, now: Nanos, command: Command, tag: Tag, data: &[u8]) {
        let end = command.lba.0.saturating_add(u64::from(command.sectors));
        if command.op != HostOp::Flush && end > self.setup.capacity {
            self.replies.ready.push_back(Completion { at: now, tag, outcome: Outcome::OutOfRange });
            return;
        }
        let mut host = HostCommand {
            command,
            tag,
            // One part for the cutting itself, so that the command cannot end before it is cut.
            left: 1,
            outcome: Outcome::Ok,
            data: Vec::new(),
        };
        if self.setup.bytes && matches!(command.op, HostOp::Read | HostOp::Write) {
            if command.op == HostOp::Write {
                host.data = data.to_vec();
            }
            host.data.resize(command.sectors as usize * SECTOR_BYTES as usize, 0);
        }
        let index = self.flight.hosts.insert(host);
        if is_change(command.op) {
            self.doubt.write_begins();
        }
        match command.op {
            HostOp::Read => self.split_read(now, index),
            HostOp::Write => self.split_write(now, index),
            HostOp::Trim => self.split_trim(now, index),
            HostOp::Flush => self.flush(now, index),
            // An array has redundancy of its own: it asks nobody to write anything again.
            HostOp::LbaStatus => {}
        }
        self.finish_part(now, index);
    }

    /// Cuts a read into pieces: those that can be read directly, and those that need a lock.
    fn split_read(&mut self, now: Nanos, host: u32) {
        let Command { lba, sectors, .. } = self.flight.hosts[host].command;
        // The common case: every chunk is read from its own member, without looking at its group.
        let simple =
            !self.members.is_degraded() && !self.passes.moves_parity() && self.history.lost().is_empty();
        for piece in self.layout.pieces(lba.0, u64::from(sectors), !simple) {
            if simple {
                self.direct_read(now, host, piece.group, usize::from(piece.first_role), piece.rows);
                continue;
            }
            let set = piece_roles(piece);
            if self.is_lost(piece.group, set, piece.rows) {
                self.fail_lost(host, piece.group, set, piece.rows);
                continue;
            }
            let (hard, soft) = self.unreadable_roles(piece.group, piece.rows);
            // Any copy of a mirror will do.
            let readable = if self.layout.data == 1 {
                (hard | soft) != self.role_set()
            } else {
                (hard | soft) & set == 0
            };
            if readable && !self.passes.moves_parity() {
                for role in piece.first_role..piece.end_role {
                    self.direct_read(now, host, piece.group, usize::from(role), piece.rows);
                }
            } else {
                self.read_under_lock(now, host, piece.group, set, piece.rows, 0);
            }
        }
    }

    /// Reads roles of a group under a lock; `failed`: roles that have just failed to be read. Returns the operation.
    pub(super) fn read_under_lock(
        &mut self,
        now: Nanos,
        host: u32,
        group: u64,
        data_roles: u64,
        rows: RowRange,
        failed: u64,
    ) -> u32 {
        self.flight.hosts[host].left += 1;
        let op = GroupOp { host, roles: data_roles, failed, ..GroupOp::new(GroupOpKind::Read, group, rows) };
        self.start_op(now, op)
    }

    /// Copies rows of a data role into the host's buffer.
    pub(super) fn give_to_host(&mut self, host: u32, group: u64, role: usize, rows: RowRange, data: &[u8]) {
        let host = &mut self.flight.hosts[host];
        let at = (self.layout.logical(group, role, rows.first) - host.command.lba.0) * SECTOR_BYTES;
        host.data[at as usize..at as usize + data.len()].copy_from_slice(data);
    }

    /// Cuts a write into operations on groups, or into direct writes without redundancy.
    fn split_write(&mut self, now: Nanos, host: u32) {
        let Command { lba, sectors, fua, stream, .. } = self.flight.hosts[host].command;
        if self.read_only {
            self.flight.hosts[host].outcome = Outcome::ReadOnly;
            return;
        }
        let (striped_only, direct) = (self.is_striped_only(), self.writes_directly());
        for piece in self.layout.pieces(lba.0, u64::from(sectors), self.setup.joins_chunks && !striped_only) {
            if direct {
                self.direct_write(now, host, piece);
                continue;
            }
            self.flight.hosts[host].left += 1;
            let mut op = GroupOp::new(GroupOpKind::Write, piece.group, piece.rows);
            (op.host, op.roles, op.fua, op.stream) = (host, piece_roles(piece), fua, stream);
            if self.layout.shift().is_some_and(|shift| shift.lazy && !shift.is_moved(piece.group)) {
                // A lazy shift moves the stripe along with this write, which needs the whole chunk.
                op.whole = true;
            }
            self.start_op(now, op);
        }
        self.check_wear(now, u64::from(sectors));
    }

    /// Cuts a trim into operations on groups, or into direct trims without redundancy.
    fn split_trim(&mut self, now: Nanos, host: u32) {
        let Command { lba, sectors, .. } = self.flight.hosts[host].command;
        if self.read_only {
            self.flight.hosts[host].outcome = Outcome::ReadOnly;
            return;
        }
        let (data, direct) = (self.layout.data, self.writes_directly());
        for piece in self.layout.pieces(lba.0, u64::from(sectors), true) {
            if direct {
                for role in piece.first_role..piece.end_role {
                    self.direct_trim(now, host, piece.group, usize::from(role), piece.rows);
                }
                continue;
            }
            if self.is_striped_only() {
                self.trim_under_lock(now, host, piece.group, piece_roles(piece), piece.rows);
                continue;
            }
            // Parity stays valid only if the same rows of all data chunks are deallocated: zeroes are a codeword. Other rows are left alone,
            // since deallocation is advice. Only whole units, so that all members deallocate the same rows.
            let unit = self.setup.trim_unit as u32;
            let first = piece.rows.first.next_multiple_of(unit);
            let end = piece.rows.end / unit * unit;
            if usize::from(piece.end_role - piece.first_role) == data && first < end {
                self.trim_under_lock(now, host, piece.group, self.data_set(), RowRange::new(first, end));
            }
        }
    }

    fn trim_under_lock(&mut self, now: Nanos, host: u32, group: u64, roles: u64, rows: RowRange) {
        self.flight.hosts[host].left += 1;
        self.start_op(now, GroupOp { host, roles, ..GroupOp::new(GroupOpKind::Trim, group, rows) });
    }

    /// Flushes every member for a host command.
    fn flush(&mut self, now: Nanos, host: u32) {
        // The parts are counted as they go out; the one for the cutting keeps the command from ending.
        let sent = self.flush_all(now, MemberCommandKind::Flush, host);
        self.flight.hosts[host].left += sent;
    }

    /// Flushes the members before they are marked clean, after a time without writes. The marks themselves (two writes of the superblock,
    /// at the first write and now) take neither time nor space.
    pub(super) fn flush_to_be_clean(&mut self, now: Nanos) {
        // One more than the flushes, so that it cannot end before the last one has been sent.
        self.doubt.flushing(1);
        let sent = self.flush_all(now, MemberCommandKind::Clean, NIL);
        self.doubt.flushing(sent);
        self.doubt.flushed();
    }

    /// Sends a flush to every member and donor; returns their number.
    pub(super) fn flush_all(&mut self, now: Nanos, kind: MemberCommandKind, owner: u32) -> u32 {
        let mut sent = 0;
        for number in self.members.numbers() {
            if self.members.device_mut(number).is_some() {
                sent += 1;
                self.send_flush(now, number, kind, owner);
            }
        }
        sent
    }

    pub(super) fn send_flush(&mut self, now: Nanos, column: usize, kind: MemberCommandKind, owner: u32) {
        let rows = RowRange::new(0, 1);
        let sub = MemberCommand { live: true, kind, column: column as u8, role: 0, owner, group: 0, rows };
        let flush = Command { sectors: 0, ..command(HostOp::Flush, 0, rows) };
        self.send(now, sub, flush, &[]);
    }

    /// Ends a part of a host command; the last one completes the command.
    #[inline]
    pub(super) fn finish_part(&mut self, now: Nanos, index: u32) {
        debug_assert!(index != NIL, "only parts of host commands are finished");
        let host = &mut self.flight.hosts[index];
        debug_assert!(host.left > 0, "each part of a host command ends once");
        host.left -= 1;
        if host.left == 0 {
            self.finish(now, index);
        }
    }

    /// Completes a host command.
    fn finish(&mut self, now: Nanos, index: u32) {
        let host = &mut self.flight.hosts[index];
        let (command, tag, outcome) = (host.command, host.tag, host.outcome);
        if self.setup.bytes && command.op == HostOp::Read && outcome == Outcome::Ok {
            let data = std::mem::take(&mut host.data);
            self.replies.data.insert(tag, data);
        }
        if outcome != Outcome::Ok {
            self.replies.end_failed(index, tag, outcome);
        }
        self.flight.hosts.remove(index);
        self.flight.last_host = Some(now);
        if is_change(command.op) {
            self.doubt.write_ends(now);
        }
        let sectors = u64::from(command.sectors);
        match command.op {
            HostOp::Read => {
                self.history.counters.reads += 1;
                self.history.counters.sectors_read += sectors;
            }
            HostOp::Write => {
                self.history.counters.writes += 1;
                self.history.counters.sectors_written += if outcome == Outcome::Ok { sectors } else { 0 };
            }
            HostOp::Trim | HostOp::Flush | HostOp::LbaStatus => {}
        }
        self.history.counters.medium_errors += u64::from(outcome == Outcome::MediumError);
        self.replies.ready.push_back(Completion { at: now, tag, outcome });
    }
}

/// True if a command changes what is stored.
fn is_change(op: HostOp) -> bool {
    matches!(op, HostOp::Write | HostOp::Trim)
}

/// The data roles of a piece, as a set.
fn piece_roles(piece: GroupPiece) -> u64 {
    crate::roles::first_roles(usize::from(piece.end_role))
        & !crate::roles::first_roles(usize::from(piece.first_role))
}
