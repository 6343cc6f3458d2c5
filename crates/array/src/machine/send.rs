//! Commands to members: the way out of every handler.

use super::{Array, command};
use crate::ids::{ColumnDevice, RangeIndex, RepairId};
use crate::layout::{RowRange, to_row};
use crate::member_command::{MemberCommand, MemberCommandKind};
use crate::op::GroupOpKind;
use outlast_device::{Command, Device, Op as HostOp};
use outlast_units::Nanos;

impl<D: Device> Array<D> {
    /// Sends a command to a member that is there.
    #[inline]
    pub(super) fn send(&mut self, now: Nanos, sub: MemberCommand, command: Command, data: &[u8]) {
        let tag = self.flight.member_commands.insert(Some(sub));
        self.members.submit(now, sub.device, command, tag, data);
        match command.op {
            HostOp::Read => self.history.counters.member_reads += 1,
            HostOp::Write => self.history.counters.member_writes += 1,
            HostOp::Trim | HostOp::Flush | HostOp::LbaStatus | HostOp::Append | HostOp::ManageZone => {}
        }
        if self.members.is_degraded() {
            self.count_rebuild(sub, command);
        }
        // Subtracted now, and added again at its end: background work cancels out in the long run.
        if self.is_working() && self.flight.is_background_work(&sub) {
            self.members.count_traffic(sub.device, -i64::from(sub.rows.len()));
        }
    }

    /// True during background work, the pace of which depends on the traffic of the members.
    #[inline]
    pub(super) fn is_working(&self) -> bool {
        self.passes.under_way().is_some() || !self.repairs.is_none_active()
    }

    /// Counts a command that rebuilds a member.
    #[cold]
    pub(super) fn count_rebuild(&mut self, sub: MemberCommand, command: Command) {
        let (op, count) = match sub.kind {
            MemberCommandKind::Read(op) => (op, &mut self.history.counters.rebuild_sectors_read),
            MemberCommandKind::Write(op) => (op, &mut self.history.counters.rebuild_sectors_written),
            _ => return,
        };
        if self.flight.ops[op].kind == GroupOpKind::Transform {
            *count += u64::from(command.sectors);
        }
    }

    pub(super) fn send_flush(&mut self, now: Nanos, device: ColumnDevice, kind: MemberCommandKind) {
        let rows = RowRange::new(0, 1);
        let sub = MemberCommand::to_device(kind, device, rows);
        let flush = Command { sectors: 0, ..command(HostOp::Flush, 0, rows) };
        self.send(now, sub, flush, &[]);
    }

    /// Sends a flush to every member and donor; returns their number.
    pub(super) fn flush_all(&mut self, now: Nanos, kind: MemberCommandKind) -> u32 {
        let mut sent = 0;
        for device in self.members.column_devices() {
            if self.members.device(device).is_some() {
                sent += 1;
                self.send_flush(now, device, kind);
            }
        }
        sent
    }

    /// Queries a device about a range, for repair `id`.
    pub(super) fn query_range(&mut self, now: Nanos, id: RepairId, device: ColumnDevice, range: RangeIndex) {
        let Some(repair) = self.repairs.get_mut(id) else { return };
        repair.note_query(now, range);
        let (sectors, rows) = (self.repair_ranges().sectors_of(range), RowRange::new(0, 1));
        let kind = MemberCommandKind::Status { repair: id, range };
        let sub = MemberCommand::to_device(kind, device, rows);
        let count = to_row(sectors.end - sectors.start);
        let ask = Command { sectors: count, ..command(HostOp::LbaStatus, sectors.start, rows) };
        self.send(now, sub, ask, &[]);
    }
}
