//! Counts and progress of recoveries.

use super::super::Array;
use crate::ids::{ColumnDevice, ColumnIndex};
use crate::op::GroupOpKind;
use crate::passes::PassKind;
use crate::repairs::ActiveRepair;
use crate::status::PassProgress;
use outlast_decisions::RepairWay;
use outlast_device::Device;
use outlast_units::{Bytes, Nanos, SECTOR_BYTES};

impl<D: Device> Array<D> {
    /// Counts sectors that recovery reads or writes on a device.
    pub(in crate::machine) fn count_repair(
        &mut self,
        kind: GroupOpKind,
        device: ColumnDevice,
        sectors: u32,
        is_read: bool,
    ) {
        let repair = match kind {
            GroupOpKind::Repair { repair: id, .. } => self.repairs.get(id),
            // Reads of a group that rebuilds several members count for the first of them.
            _ => self.repairs.active().iter().find(|repair| {
                repair.way != RepairWay::Die && (is_read || device == ColumnDevice::Member(repair.column))
            }),
        };
        let Some(&ActiveRepair { id, column, .. }) = repair else { return };
        let is_repaired_member = device.column() == column;
        let record = self.repairs.record_mut(id);
        let bytes = Bytes(u64::from(sectors) * SECTOR_BYTES);
        match (is_read, is_repaired_member) {
            (true, true) => record.bytes_read_from_member.0 += bytes.0,
            (true, false) => record.bytes_read_from_peers.0 += bytes.0,
            (false, true) => record.bytes_written.0 += bytes.0,
            (false, false) => {}
        }
    }

    /// Progress of the recovery in place of a member, by ranges recovered; `column`: `None` for the first recovery.
    pub(in crate::machine) fn repair_progress(
        &self,
        now: Nanos,
        column: Option<ColumnIndex>,
    ) -> Option<PassProgress> {
        let is_meant = |repair: &&ActiveRepair| {
            repair.way == RepairWay::Die && column.is_none_or(|column| repair.column == column)
        };
        let repair = self.repairs.active().iter().find(is_meant)?;
        let started = self.repairs.records()[repair.id.index()].started_at?;
        let total = Bytes(self.layout.member_sectors() * SECTOR_BYTES);
        let done = Bytes((u64::from(repair.ranges_done()) * self.setup.config.repair.range.0).min(total.0));
        Some(PassProgress::new(PassKind::Repair, done, total, done.0, now.saturating_sub(started)))
    }
}
