//! The array without time: routes commands to members, to prepare devices that can work without time.
//!
//! Members do not depend on each other here, so a command is only passed on: each member gets a sequence of commands of its own, and
//! the caller carries these out, member by member or on several threads.

use super::plan::PartialWrite;
use super::{Array, command};
use crate::layout::{GroupMap, GroupPiece, RowRange, to_row};
use crate::op::WriteMethod;
use crate::roles::roles;
use crate::status::ArrayCounters;
use outlast_device::{Command, Device, Op as HostOp, Outcome};

/// The sink of routed commands, and the counters for them.
struct UntimedOrders<'a, F> {
    counters: &'a mut ArrayCounters,
    give: &'a mut F,
}

impl<D: Device> Array<D> {
    /// Routes `command` without time: `give` gets each command to a member, with the member's column, in the order in which that
    /// member must execute them; `counters` grows by the figures of these commands. Writes read what they would read with time, and
    /// every member gets data and redundancy; nothing is locked, recorded or rebuilt. Only while nothing is under way.
    pub fn route_untimed(
        &self,
        command: Command,
        counters: &mut ArrayCounters,
        give: &mut impl FnMut(usize, Command),
    ) -> Outcome {
        let outcome = self.setup.check_command(&command);
        if outcome != Outcome::Ok || command.op == HostOp::Flush {
            return outcome;
        }
        let mut orders = UntimedOrders { counters, give };
        let joined = command.op != HostOp::Write || self.setup.joins_chunks();
        for piece in self.layout.pieces(command.lba.0, u64::from(command.sectors), joined) {
            match command.op {
                HostOp::Write => self.route_write(command, piece, &mut orders),
                HostOp::Read => {
                    self.route_to_members(command, piece, piece_data(piece), piece.rows, &mut orders);
                }
                HostOp::Trim => self.route_trim(command, piece, &mut orders),
                HostOp::Flush | HostOp::LbaStatus | HostOp::Append | HostOp::ManageZone => {}
            }
        }
        if command.op == HostOp::Write {
            counters.writes += 1;
            counters.sectors_written += u64::from(command.sectors);
        } else if command.op == HostOp::Read {
            counters.reads += 1;
            counters.sectors_read += u64::from(command.sectors);
        }
        Outcome::Ok
    }

    /// Adds the counters of routed commands.
    pub fn count_untimed(&mut self, counters: ArrayCounters) {
        self.history.counters = self.history.counters + counters;
    }

    /// The members that are present, with their columns. Only while nothing is under way: the array does not see what happens to them.
    pub fn members_mut(&mut self) -> impl Iterator<Item = (usize, &mut D)> {
        self.members.iter_mut().enumerate().filter_map(|(at, column)| Some((at, column.device.as_mut()?)))
    }

    /// The part of the first `sectors` of the array that, written in order, fills every member equally and from its first sector on; and
    /// the sectors of each member that this fills. `None` for mirrors, whose members may get different amounts.
    pub fn filled_by(&self, sectors: u64) -> Option<(u64, u64)> {
        match &self.layout.map {
            GroupMap::Striped(_) => {
                let groups = sectors / (self.layout.data as u64 * self.layout.chunk);
                let sectors_each = groups * self.layout.chunk;
                Some((sectors_each * self.layout.data as u64, sectors_each))
            }
            GroupMap::Copies { .. } => None,
        }
    }

    fn route_write<F: FnMut(usize, Command)>(
        &self,
        host: Command,
        piece: GroupPiece,
        orders: &mut UntimedOrders<'_, F>,
    ) {
        let (data, all) = (self.layout.data, self.layout.roles);
        let written = usize::from(piece.end_role - piece.first_role);
        let joined = self.setup.joins_chunks() || data == 1;
        if all > data && data > 1 && !(written == data && joined) {
            // The same choice as with time.
            let written_roles = piece_data(piece).fold(0u64, |set, role| set | 1 << role);
            let part = PartialWrite {
                data: written_roles,
                unwritten: self.layout.data_set & !written_roles,
                moves: false,
                lost: false,
            };
            let (hard, soft) = self.availability().unreadable_roles(piece.group, piece.rows);
            let (method, needed) = self.planner().choose_write_method(piece.group, &part, hard | soft, 0);
            let read = Command { op: HostOp::Read, ..host };
            for role in roles(needed) {
                self.route_to_members(read, piece, role..role + 1, piece.rows, orders);
            }
            orders.counters.count_write(method);
        } else if all > data {
            orders.counters.count_write(WriteMethod::Full);
        }
        self.route_to_members(host, piece, piece_data(piece), piece.rows, orders);
        self.route_to_members(host, piece, data..all, piece.rows, orders);
    }

    /// Routes a trim as with time: parity stays valid only if all data chunks are deallocated, in whole units.
    fn route_trim<F: FnMut(usize, Command)>(
        &self,
        host: Command,
        piece: GroupPiece,
        orders: &mut UntimedOrders<'_, F>,
    ) {
        let (data, all) = (self.layout.data, self.layout.roles);
        if all == data {
            self.route_to_members(host, piece, piece_data(piece), piece.rows, orders);
            return;
        }
        let unit = to_row(self.setup.trim_unit);
        let (first, end) = (piece.rows.first.next_multiple_of(unit), piece.rows.end / unit * unit);
        if usize::from(piece.end_role - piece.first_role) == data && first < end {
            self.route_to_members(host, piece, 0..all, RowRange::new(first, end), orders);
        }
    }

    fn route_to_members<F: FnMut(usize, Command)>(
        &self,
        host: Command,
        piece: GroupPiece,
        roles: std::ops::Range<usize>,
        rows: RowRange,
        orders: &mut UntimedOrders<'_, F>,
    ) {
        for role in roles {
            let (column, base) = self.layout.locate(piece.group, role, false);
            if self.members[column].device.is_none() {
                continue;
            }
            let routed = command(host.op, base + u64::from(rows.first), rows);
            (orders.give)(column.index(), Command { placement: host.placement, ..routed });
            match host.op {
                HostOp::Read => orders.counters.member_reads += 1,
                HostOp::Write => orders.counters.member_writes += 1,
                HostOp::Trim | HostOp::Flush | HostOp::LbaStatus | HostOp::Append | HostOp::ManageZone => {}
            }
        }
    }
}

/// The data roles of a piece.
fn piece_data(piece: GroupPiece) -> std::ops::Range<usize> {
    usize::from(piece.first_role)..usize::from(piece.end_role)
}
