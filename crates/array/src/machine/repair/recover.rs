//! Recovery of listed rows: start, pace, counts and end.

use super::super::Array;
use crate::ids::{ColumnDevice, RepairId};
use crate::member_command::MemberCommandKind;
use crate::op::{GroupOp, GroupOpKind};
use crate::passes::{HeldRate, NextStart, PacedWork};
use crate::repairs::{RepairAction, RepairLimits};
use outlast_device::Device;
use outlast_settings::array::{FakeWay, RepairConfig};
use outlast_units::Nanos;

impl<D: Device> Array<D> {
    /// Advances a recovery in place: queries ranges and begins to recover rows, as many as the settings allow.
    pub(super) fn pump_repair(&mut self, now: Nanos, id: RepairId) {
        let settings = self.setup.config.repair;
        let limits = RepairLimits {
            ranges: self.repair_ranges().count(),
            queries: usize::from(settings.queries),
            identify_first: self.identifies_before_recovery(),
            window: self.setup.config.background.window.into(),
        };
        while let Some(repair) = self.repairs.get_mut(id) {
            let column = repair.column;
            match repair.next_action(&limits) {
                RepairAction::Wait => return,
                RepairAction::Ask => {
                    let range = repair.take_range();
                    self.query_range(now, id, ColumnDevice::Member(column), range);
                }
                RepairAction::Flush => {
                    // Rows written back must survive a loss of power, since the member no longer lists them.
                    repair.begin_flush();
                    self.send_flush(now, ColumnDevice::Member(column), MemberCommandKind::RepairFlush(id));
                    return;
                }
                RepairAction::Recover => {
                    if !self.recover_next(now, id, &settings) {
                        return;
                    }
                }
            }
        }
    }

    /// Begins to recover the next rows if the pace allows; returns true if it did.
    fn recover_next(&mut self, now: Nanos, id: RepairId, settings: &RepairConfig) -> bool {
        if !self.may_recover(now, id) {
            return false;
        }
        let item = self.repairs.get_mut(id).and_then(|repair| repair.take_item(now, settings));
        let Some(item) = item else { return false };
        let copy = item.readable && settings.fakes == FakeWay::Copy;
        let kind = GroupOpKind::Repair { repair: id, range: item.range, copy };
        self.start_op(now, GroupOp::new(kind, item.group, item.rows));
        true
    }

    /// True if the next rows of a repair may be begun now; if not, requests another look in time.
    fn may_recover(&mut self, now: Nanos, id: RepairId) -> bool {
        let Some(repair) = self.repairs.get(id) else { return false };
        // As for passes: no question before the first rows have begun.
        let held = if repair.has_begun() { self.held_rate(now, PacedWork::Repair) } else { None };
        let Some(repair) = self.repairs.get_mut(id) else { return false };
        let fixed = held.and_then(|held| held.rate).or(repair.rate);
        let busy = repair.busy_until();
        let wake = match repair.next_start(&self.setup.config.background, now, self.members.traffic(), fixed)
        {
            NextStart::Now if busy <= now => return true,
            NextStart::Now => busy,
            NextStart::At(wake) => wake,
            NextStart::WhenDone => return false,
        };
        self.passes.wake_by(HeldRate::next_look(held, wake));
        false
    }
}
