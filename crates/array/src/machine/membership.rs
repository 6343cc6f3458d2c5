//! Membership: failures, spares, replacement, wear.

use super::Array;
use crate::error::{ArrayEvent, ArrayEventKind};
use crate::ids::{ColumnDevice, ColumnIndex, GroupIndex};
use crate::roles::roles;
use outlast_device::{Device, Tag};
use outlast_units::Nanos;

impl<D: Device> Array<D> {
    /// Events, oldest first; only the first 65 536 are kept.
    pub fn events(&self) -> &[ArrayEvent] {
        self.history.events()
    }

    /// The ages of the members, by the array's measure.
    pub fn ages(&self) -> Vec<Option<f64>> {
        self.members.ages()
    }

    pub(super) fn fail_column(&mut self, now: Nanos, column: ColumnIndex) {
        let Some(device) = self.take_device_out(now, column) else { return };
        self.members.remember_removed(column, device);
        let failed = self.availability().is_missing_too_many(None);
        self.history.record_event(now, ArrayEventKind::MemberFailed { member: column, failed });
        self.use_spares(now);
    }

    /// Takes the device out of a column, and ends its commands without an answer.
    pub(super) fn take_device_out(&mut self, now: Nanos, column: ColumnIndex) -> Option<D> {
        self.members[column].device.as_ref()?;
        self.widen_records(column);
        // Write holes: data of torn rows will be computed from parity that may be wrong.
        let data = self.layout.data_set;
        let depends = |group: GroupIndex| {
            self.layout.data > 1
                && roles(data).any(|role| self.layout.locate(group, role, false).0 == column)
                && (self.members[column].has(group) || self.members.donor(column).is_some())
        };
        let holes = self.doubt.torn_groups().into_iter().filter(|&group| depends(group)).count();
        self.history.counters.write_holes += holes as u64;
        let device = self.members.take(column);
        self.abandon_repairs(now, column);
        self.drop_donor(now, column);
        self.abandon_commands(now, ColumnDevice::Member(column));
        self.passes.request_pump();
        device
    }

    /// Ends all commands to a device that is gone.
    pub(super) fn abandon_commands(&mut self, now: Nanos, device: ColumnDevice) {
        // All are taken out first: the handlers may look at other commands of the device.
        let slots = (0u32..).map(Tag).zip(self.flight.member_commands.slots_mut());
        let gone = slots.filter_map(|(tag, slot)| Some((tag, slot.take_if(|sub| sub.device == device)?)));
        for (tag, sub) in gone.collect::<Vec<_>>() {
            self.flight.member_commands.remove(tag);
            self.member_gone(now, sub);
        }
    }

    /// Puts spares into empty columns, unless too many members are missing: a rebuild would give up data that they may still hold.
    pub(super) fn use_spares(&mut self, now: Nanos) {
        if self.availability().is_missing_too_many(None) {
            return;
        }
        for column in self.members.indices() {
            if self.members[column].device.is_none()
                && let Some(spare) = self.members.spares_mut().pop_front()
            {
                self.install(now, column, spare);
            }
        }
    }

    /// Exchanges the device of a column.
    pub(super) fn exchange_device(&mut self, now: Nanos, column: ColumnIndex, device: D) -> Option<D> {
        let ages = self.ages();
        let old = self.take_device_out(now, column);
        self.history.record_event(now, ArrayEventKind::Replaced { member: column, ages });
        self.install(now, column, device);
        old
    }

    /// Puts an empty device into a column and begins to rebuild it.
    fn install(&mut self, now: Nanos, column: ColumnIndex, device: D) {
        self.members.install(column, device);
        self.history.record_event(now, ArrayEventKind::RebuildStarted { member: column });
        self.passes.request_rebuild();
        self.plan_shift(now);
    }

    /// Counts host writes, and checks from time to time for members at the end of their life.
    pub(super) fn check_wear(&mut self, now: Nanos, sectors: u64) {
        if self.setup.config.replacement.limit_percent.is_none() {
            return;
        }
        // A thousandth of a member's capacity is a thousandth of a cycle, or less than a fiftieth of one where 64 members share it.
        if self.members.is_wear_check_due(sectors, self.setup.member_sectors.div_ceil(1000)) {
            self.retire_worn(now);
        }
    }

    /// Replaces the oldest member that has reached its limit by a spare, one at a time.
    pub(super) fn retire_worn(&mut self, now: Nanos) {
        let Some(limit) = self.setup.config.replacement.limit_percent else { return };
        let busy = self.passes.under_way().is_some() || self.passes.is_shift_pending();
        if self.members.spares().is_empty() || busy || !self.repairs.is_none_active() {
            return;
        }
        let worn = |column: &ColumnIndex| {
            let age = self.members.age(*column);
            age.is_some_and(|age| age >= limit) && !self.availability().is_missing_too_many(Some(*column))
        };
        let age = |column: ColumnIndex| self.members.age(column).unwrap_or(0.0);
        let oldest = self.members.indices().filter(worn).max_by(|&a, &b| age(a).total_cmp(&age(b)));
        if let Some(column) = oldest
            && let Some(spare) = self.members.spares_mut().pop_front()
            && let Some(old) = self.exchange_device(now, column, spare)
        {
            self.members.remember_removed(column, old);
        }
    }

    /// Puts a spare into the column of a member, which stays as its donor. Commands under way follow the donor.
    pub(super) fn begin_assist(&mut self, now: Nanos, column: ColumnIndex) {
        let Some(spare) = self.members.spares_mut().pop_front() else { return };
        self.members.install_beside(column, spare);
        let subs = self.flight.member_commands.slots_mut().iter_mut().flatten();
        for sub in subs.filter(|sub| sub.device == ColumnDevice::Member(column)) {
            sub.device = ColumnDevice::Donor(column);
        }
        self.history.record_event(now, ArrayEventKind::RebuildStarted { member: column });
        self.passes.request_rebuild();
    }

    /// Removes the donor of a column, if there is one.
    pub(super) fn drop_donor(&mut self, now: Nanos, column: ColumnIndex) {
        if self.members.remove_donor(column) {
            self.abandon_commands(now, ColumnDevice::Donor(column));
            self.members.close_donors();
        }
    }
}
