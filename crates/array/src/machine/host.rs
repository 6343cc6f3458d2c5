//! Host commands: accepted, cut into pieces, and completed when every piece is done.

use super::Array;
use super::flight::HeldBack;
use crate::ids::{GroupIndex, HostCommandId};
use crate::layout::{GroupPiece, RowRange, to_row};
use crate::member_command::MemberCommandKind;
use crate::op::{GroupOp, GroupOpKind, HostCommand};
use outlast_device::{Command, Completion, Device, Op as HostOp, Outcome, Tag};
use outlast_units::{Nanos, SECTOR_BYTES, to_length};

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
        let outcome = self.setup.check_command(&command);
        if outcome != Outcome::Ok {
            self.replies.ready.push_back(Completion::new(now, tag, outcome));
            return;
        }
        let index = self.flight.hosts.insert(HostCommand {
            command,
            tag,
            // One part for the cutting itself, so that the command cannot end before it is cut.
            left: 1,
            outcome: Outcome::Ok,
            data: Vec::new(),
        });
        if self.setup.bytes && matches!(command.op, HostOp::Read | HostOp::Write) {
            let host = &mut self.flight.hosts[index];
            if command.op == HostOp::Write {
                self.flight.spare_cells.give_memory(&mut host.data);
                host.data.clear();
                host.data.extend_from_slice(data);
            }
            host.data.resize(to_length(u64::from(command.sectors) * SECTOR_BYTES), 0);
        }
        if is_change(command.op) {
            self.doubt.write_begins();
        }
        match command.op {
            HostOp::Read => self.split_read(now, index, command),
            HostOp::Write => self.split_write(now, index, command),
            HostOp::Trim => self.split_trim(now, index),
            HostOp::Flush => self.flush(now, index),
            // An array has redundancy of its own: it asks nobody to write anything again.
            HostOp::LbaStatus | HostOp::Append | HostOp::ManageZone => {}
        }
        self.finish_part(now, index);
    }

    /// Cuts a read into pieces: those that can be read directly, and those that need a lock.
    fn split_read(&mut self, now: Nanos, host: HostCommandId, command: Command) {
        let Command { lba, sectors, .. } = command;
        // The common case: every chunk is read from its own member, without looking at its group.
        let simple =
            !self.members.is_degraded() && !self.passes.moves_parity() && self.history.lost().is_empty();
        if simple {
            // Most reads lie in one chunk.
            if let Some(piece) = self.layout.piece_in_chunk(lba.0, u64::from(sectors)) {
                self.direct_read(now, host, piece.group, usize::from(piece.first_role), piece.rows);
                return;
            }
            for piece in self.layout.pieces(lba.0, u64::from(sectors), false) {
                self.direct_read(now, host, piece.group, usize::from(piece.first_role), piece.rows);
            }
            return;
        }
        for piece in self.layout.pieces(lba.0, u64::from(sectors), true) {
            let set = piece_roles(piece);
            if self.history.is_lost(&self.layout, piece.group, set, piece.rows) {
                self.fail_lost(host, piece.group, set, piece.rows);
                continue;
            }
            let (hard, soft) = self.availability().unreadable_roles(piece.group, piece.rows);
            // Any copy of a mirror will do.
            let readable = if self.layout.data == 1 {
                (hard | soft) != self.layout.role_set
            } else {
                (hard | soft) & set == 0
            };
            if readable && !self.passes.moves_parity() {
                for role in piece.first_role..piece.end_role {
                    self.direct_read(now, host, piece.group, usize::from(role), piece.rows);
                }
            } else {
                self.read_under_lock(now, host, piece.group, set, piece.rows, (0, 0));
            }
        }
    }

    /// Cuts a write into operations on groups, or into direct writes without redundancy.
    fn split_write(&mut self, now: Nanos, host: HostCommandId, command: Command) {
        let Command { lba, sectors, fua, placement, .. } = command;
        if self.read_only {
            self.flight.hosts[host].outcome = Outcome::ReadOnly;
            return;
        }
        let (sectors, direct) = (u64::from(sectors), self.writes_directly());
        // Most writes lie in one chunk.
        let (mut next, mut rest) = (self.layout.piece_in_chunk(lba.0, sectors), None);
        if next.is_none() {
            let joined = self.setup.joins_chunks() && !self.layout.is_striped_only();
            next = rest.insert(self.layout.pieces(lba.0, sectors, joined)).next();
        }
        while let Some(piece) = next {
            next = rest.as_mut().and_then(Iterator::next);
            if direct {
                self.direct_write(now, host, piece);
                continue;
            }
            self.flight.hosts[host].left += 1;
            let index = self.flight.new_op(GroupOpKind::Write, piece.group, piece.rows);
            let op = &mut self.flight.ops[index];
            (op.host, op.roles, op.fua, op.placement) = (Some(host), piece_roles(piece), fua, placement);
            // A lazy shift moves the stripe along with this write, which needs the whole chunk.
            op.whole = self.layout.shift().is_some_and(|shift| shift.lazy && !shift.is_moved(piece.group));
            self.start(now, index);
        }
        self.check_wear(now, sectors);
    }

    /// Cuts a trim into operations on groups, or into direct trims without redundancy.
    fn split_trim(&mut self, now: Nanos, host: HostCommandId) {
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
            if self.layout.is_striped_only() {
                self.trim_under_lock(now, host, piece.group, piece_roles(piece), piece.rows);
                continue;
            }
            // Parity stays valid only if the same rows of all data chunks are deallocated: zeroes are a codeword. Other rows are left alone,
            // since deallocation is advice. Only whole units, so that all members deallocate the same rows.
            let unit = to_row(self.setup.trim_unit);
            let first = piece.rows.first.next_multiple_of(unit);
            let end = piece.rows.end / unit * unit;
            if usize::from(piece.end_role - piece.first_role) == data && first < end {
                self.trim_under_lock(now, host, piece.group, self.layout.data_set, RowRange::new(first, end));
            }
        }
    }

    fn trim_under_lock(
        &mut self,
        now: Nanos,
        host: HostCommandId,
        group: GroupIndex,
        roles: u64,
        rows: RowRange,
    ) {
        self.flight.hosts[host].left += 1;
        self.start_op(
            now,
            GroupOp { host: Some(host), roles, ..GroupOp::new(GroupOpKind::Trim, group, rows) },
        );
    }

    /// Flushes every member for a host command.
    fn flush(&mut self, now: Nanos, host: HostCommandId) {
        // The parts are counted as they go out; the one for the cutting keeps the command from ending.
        let sent = self.flush_all(now, MemberCommandKind::Flush(host));
        self.flight.hosts[host].left += sent;
    }

    /// Flushes the members before they are marked clean, after a time without writes. The marks themselves (two writes of the superblock,
    /// at the first write and now) take neither time nor space.
    pub(super) fn flush_to_be_clean(&mut self, now: Nanos) {
        // One more than the flushes, so that it cannot end before the last one has been sent.
        self.doubt.flushing(1);
        let sent = self.flush_all(now, MemberCommandKind::Clean);
        self.doubt.flushing(sent);
        self.doubt.flushed();
    }
}

/// True if a command changes what is stored.
pub(super) fn is_change(op: HostOp) -> bool {
    matches!(op, HostOp::Write | HostOp::Trim)
}

/// The data roles of a piece, as a set.
fn piece_roles(piece: GroupPiece) -> u64 {
    crate::roles::first_roles(usize::from(piece.end_role))
        & !crate::roles::first_roles(usize::from(piece.first_role))
}
