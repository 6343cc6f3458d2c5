//! The array without time: which members get what of a command, so that devices that can do without time are prepared through it.

use super::plan::PartWrite;
use super::{Array, command};
use crate::layout::{Map, Piece, Rows};
use crate::op::Method;
use outlast_device::{Command, Device, Op as HostOp, Outcome};

impl<D: Device> Array<D> {
    /// Carries out a command at once: `apply` does the same to a device. Writes read what they would read with time, and every member
    /// gets data and redundancy; nothing is locked, recorded or rebuilt. Only while nothing is under way.
    pub fn apply_untimed(
        &mut self,
        command: Command,
        mut apply: impl FnMut(&mut D, Command) -> Outcome,
    ) -> Outcome {
        let end = command.lba.0.saturating_add(u64::from(command.sectors));
        if command.op == HostOp::Flush {
            return Outcome::Ok;
        }
        if end > self.setup.capacity {
            return Outcome::OutOfRange;
        }
        let joined = command.op != HostOp::Write || self.setup.joins_chunks;
        let mut outcome = Outcome::Ok;
        for piece in self.layout.pieces(command.lba.0, u64::from(command.sectors), joined) {
            let done = match command.op {
                HostOp::Write => self.write_untimed(command, piece, &mut apply),
                HostOp::Read => self.each_untimed(command, piece, piece_data(piece), piece.rows, &mut apply),
                HostOp::Trim => self.trim_untimed(command, piece, &mut apply),
                HostOp::Flush | HostOp::LbaStatus => Outcome::Ok,
            };
            if done != Outcome::Ok {
                outcome = done;
            }
        }
        if command.op == HostOp::Write {
            self.ledger.counters.writes += 1;
            self.ledger.counters.sectors_written += u64::from(command.sectors);
        } else if command.op == HostOp::Read {
            self.ledger.counters.reads += 1;
            self.ledger.counters.sectors_read += u64::from(command.sectors);
        }
        outcome
    }

    /// Of the first `sectors` of the array those that fill every member equally and from its first sector on when they are written in
    /// order, and how many sectors of each member that is; `None` where members get different amounts.
    pub fn filled_by(&self, sectors: u64) -> Option<(u64, u64)> {
        match &self.layout.map {
            Map::Striped(_) => {
                let groups = sectors / (self.layout.data as u64 * self.layout.chunk);
                let own = groups * self.layout.chunk;
                Some((own * self.layout.data as u64, own))
            }
            Map::Copies { .. } => None,
        }
    }

    fn write_untimed(
        &mut self,
        host: Command,
        piece: Piece,
        apply: &mut impl FnMut(&mut D, Command) -> Outcome,
    ) -> Outcome {
        let (data, roles) = (self.layout.data, self.layout.roles);
        let written = usize::from(piece.end_role - piece.first_role);
        let all = self.setup.joins_chunks || data == 1;
        if roles > data && data > 1 && !(written == data && all) {
            // As with time.
            let own = piece_data(piece).fold(0u64, |set, role| set | 1 << role);
            let part = PartWrite { data: own, rest: self.data_set() & !own, moves: false, lost: false };
            let (hard, soft) = self.unreadable(piece.group, piece.rows);
            let (method, needed) = self.way_to_write(piece.group, &part, hard | soft, 0);
            let read = Command { op: HostOp::Read, ..host };
            for role in crate::roles::roles(needed) {
                self.each_untimed(read, piece, role..role + 1, piece.rows, apply);
            }
            self.ledger.counters.count_write(method);
        } else if roles > data {
            self.ledger.counters.count_write(Method::Full);
        }
        let outcome = self.each_untimed(host, piece, piece_data(piece), piece.rows, apply);
        let redundancy = self.each_untimed(host, piece, data..roles, piece.rows, apply);
        if outcome == Outcome::Ok { redundancy } else { outcome }
    }

    /// As with time: parity stays right only where every data chunk is deallocated, in whole units.
    fn trim_untimed(
        &mut self,
        host: Command,
        piece: Piece,
        apply: &mut impl FnMut(&mut D, Command) -> Outcome,
    ) -> Outcome {
        let (data, roles) = (self.layout.data, self.layout.roles);
        if roles == data {
            return self.each_untimed(host, piece, piece_data(piece), piece.rows, apply);
        }
        let unit = self.setup.trim_unit as u32;
        let (first, end) = (piece.rows.first.next_multiple_of(unit), piece.rows.end / unit * unit);
        if usize::from(piece.end_role - piece.first_role) < data || first >= end {
            return Outcome::Ok;
        }
        self.each_untimed(host, piece, 0..roles, Rows::new(first, end), apply)
    }

    fn each_untimed(
        &mut self,
        host: Command,
        piece: Piece,
        roles: std::ops::Range<usize>,
        rows: Rows,
        apply: &mut impl FnMut(&mut D, Command) -> Outcome,
    ) -> Outcome {
        let mut outcome = Outcome::Ok;
        for role in roles {
            let (column, base) = self.layout.locate(piece.group, role, false);
            let Some(device) = &mut self.members[column].device else { continue };
            let own = command(host.op, base + u64::from(rows.first), rows);
            let done = apply(device, Command { stream: host.stream, ..own });
            match host.op {
                HostOp::Read => self.ledger.counters.member_reads += 1,
                HostOp::Write => self.ledger.counters.member_writes += 1,
                HostOp::Trim | HostOp::Flush | HostOp::LbaStatus => {}
            }
            if done != Outcome::Ok {
                outcome = done;
            }
        }
        outcome
    }
}

fn piece_data(piece: Piece) -> std::ops::Range<usize> {
    usize::from(piece.first_role)..usize::from(piece.end_role)
}
