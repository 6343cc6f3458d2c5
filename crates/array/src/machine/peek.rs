//! Content of the array, derived from that of its members, without taking time.

use super::Array;
use crate::ids::{ColumnDevice, ColumnIndex, GroupIndex};
use crate::layout::RowRange;
use outlast_device::{Device, Held, Peek};
use outlast_units::Lba;

impl<D: Device> Array<D> {
    /// See [`Device::peek`]: content that a read would take straight from a member is known; content that it would have to compute or wait for
    /// is not.
    pub(super) fn peek_at(&self, lba: Lba, sectors: u64, to: &mut Vec<Peek>) {
        let end = lba.0.saturating_add(sectors).min(self.setup.capacity);
        if lba.0 >= end {
            return;
        }
        for piece in self.layout.pieces(lba.0, end - lba.0, false) {
            self.peek_chunk(piece.group, usize::from(piece.first_role), piece.rows, to);
        }
    }

    fn peek_chunk(&self, group: GroupIndex, role: usize, rows: RowRange, to: &mut Vec<Peek>) {
        let sector = self.layout.logical(group, role, rows.first);
        let Some((column, base)) = self.read_from(group, role, rows) else {
            to.push(Peek { lba: Lba(sector), sectors: rows.len().into(), held: Held::Unknown });
            return;
        };
        let first = base + u64::from(rows.first);
        let before = to.len();
        if let Some(device) = &self.members[column].device {
            device.peek(Lba(first), rows.len().into(), to);
        }
        for peek in &mut to[before..] {
            peek.lba = Lba(sector + (peek.lba.0 - first));
            if peek.held == Held::Lost {
                // It may be computed from other members.
                peek.held = Held::Unknown;
            }
        }
    }

    /// The column that a read of these rows of data role `role` goes to, and the first sector of the chunk there; `None` if the read takes
    /// more than that.
    fn read_from(&self, group: GroupIndex, role: usize, rows: RowRange) -> Option<(ColumnIndex, u64)> {
        let source_role = if self.layout.data == 1 {
            self.availability().choose_copy(group, rows, self.doubt.distrusts(group))
        } else {
            role
        };
        let (hard, soft) = self.availability().unreadable_roles(group, rows);
        let waits = !self.powered || self.flight.replaying > 0 || self.passes.moves_parity();
        let gone = (hard | soft) & 1 << source_role != 0
            || self.history.is_lost(&self.layout, group, 1 << role, rows);
        let (column, base) = self.layout.locate(group, source_role, false);
        let is_at_home = self.members.source(column, group) == ColumnDevice::Member(column);
        (is_at_home && !waits && !gone).then_some((column, base))
    }
}
