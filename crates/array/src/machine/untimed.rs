//! The array without time: which members get what of a command, so that devices that can do without time are prepared through it.
//!
//! Members do not depend on each other here, so a command is only passed on: what each member gets is put into an order of its own, and
//! whoever has the members carries that out, member by member or on several threads.

use super::plan::PartialWrite;
use super::{Array, command};
use crate::layout::{GroupMap, GroupPiece, RowRange};
use crate::op::WriteMethod;
use crate::roles::roles;
use crate::status::ArrayCounters;
use outlast_device::{Command, Device, Op as HostOp, Outcome};

/// What members are given, and what that counts.
struct UntimedOrders<'a, F> {
    counters: &'a mut ArrayCounters,
    give: &'a mut F,
}

impl<D: Device> Array<D> {
    /// Passes `command` on without time: `give` is told of each command to a member, with the member's column, in the order in which that
    /// member must carry its own out; `counters` grows by what is counted once they are. Writes read what they would read with time, and
    /// every member gets data and redundancy; nothing is locked, recorded or rebuilt. Only while nothing is under way.
    pub fn route_untimed(
        &self,
        command: Command,
        counters: &mut ArrayCounters,
        give: &mut impl FnMut(usize, Command),
    ) -> Outcome {
        let end = command.lba.0.saturating_add(u64::from(command.sectors));
        if command.op == HostOp::Flush {
            return Outcome::Ok;
        }
        if end > self.setup.capacity {
            return Outcome::OutOfRange;
        }
        let mut orders = UntimedOrders { counters, give };
        let joined = command.op != HostOp::Write || self.setup.joins_chunks;
        for piece in self.layout.pieces(command.lba.0, u64::from(command.sectors), joined) {
            match command.op {
                HostOp::Write => self.route_write(command, piece, &mut orders),
                HostOp::Read => {
                    self.route_to_members(command, piece, piece_data(piece), piece.rows, &mut orders)
                }
                HostOp::Trim => self.route_trim(command, piece, &mut orders),
                HostOp::Flush | HostOp::LbaStatus => {}
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

    /// Counts what was routed.
    pub fn count_untimed(&mut self, counters: ArrayCounters) {
        self.history.counters = self.history.counters + counters;
    }

    /// The members that are there, with their columns. Only while nothing is under way: the array does not see what happens to them.
    pub fn members_mut(&mut self) -> impl Iterator<Item = (usize, &mut D)> {
        self.members.iter_mut().enumerate().filter_map(|(at, column)| Some((at, column.device.as_mut()?)))
    }

    /// Of the first `sectors` of the array those that fill every member equally and from its first sector on when they are written in
    /// order, and how many sectors of each member that is; `None` where members get different amounts.
    pub fn filled_by(&self, sectors: u64) -> Option<(u64, u64)> {
        match &self.layout.map {
            GroupMap::Striped(_) => {
                let groups = sectors / (self.layout.data as u64 * self.layout.chunk);
                let own = groups * self.layout.chunk;
                Some((own * self.layout.data as u64, own))
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
        let joined = self.setup.joins_chunks || data == 1;
        if all > data && data > 1 && !(written == data && joined) {
            // As with time.
            let own = piece_data(piece).fold(0u64, |set, role| set | 1 << role);
            let part =
                PartialWrite { data: own, unwritten: self.data_set() & !own, moves: false, lost: false };
            let (hard, soft) = self.unreadable_roles(piece.group, piece.rows);
            let (method, needed) = self.choose_write_method(piece.group, &part, hard | soft, 0);
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

    /// As with time: parity stays right only where every data chunk is deallocated, in whole units.
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
        let unit = self.setup.trim_unit as u32;
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
            let own = command(host.op, base + u64::from(rows.first), rows);
            (orders.give)(column, Command { stream: host.stream, ..own });
            match host.op {
                HostOp::Read => orders.counters.member_reads += 1,
                HostOp::Write => orders.counters.member_writes += 1,
                HostOp::Trim | HostOp::Flush | HostOp::LbaStatus => {}
            }
        }
    }
}

fn piece_data(piece: GroupPiece) -> std::ops::Range<usize> {
    usize::from(piece.first_role)..usize::from(piece.end_role)
}
