//! Ends of recoveries.

use super::super::Array;
use crate::error::{ArrayEventKind, RepairStep};
use crate::ids::{ColumnIndex, RepairId};
use outlast_device::Device;
use outlast_units::Nanos;

impl<D: Device> Array<D> {
    /// Ends a recovery; read errors of the member count again once no other die of it waits.
    pub(in crate::machine) fn finish_repair(&mut self, now: Nanos, id: RepairId) {
        let Some((column, die, is_another_waiting)) = self.repairs.finish(now, id) else { return };
        self.history
            .record_event(now, ArrayEventKind::Repair { member: column, die, step: RepairStep::Done });
        self.members[column].has_unrepaired_die = is_another_waiting;
        self.passes.request_pump();
    }

    /// Ends the recoveries of a member that leaves or is replaced, except the rebuild that it leaves for.
    pub(in crate::machine) fn abandon_repairs(&mut self, now: Nanos, column: ColumnIndex) {
        for die in self.repairs.abandon(now, column) {
            self.history.record_event(
                now,
                ArrayEventKind::Repair { member: column, die, step: RepairStep::Abandoned },
            );
            self.passes.request_pump();
        }
    }
}
