//! Membership: failures, spares, replacement, wear.

use super::Array;
use crate::error::{ArrayError, ArrayEvent, ArrayEventKind};
use crate::layout::GroupMap;
use crate::roles::roles;
use outlast_device::Device;
use outlast_units::Nanos;

impl<D: Device> Array<D> {
    /// The device in column `column` fails: nothing can be read from it or written to it. A spare takes its place, if there is one.
    ///
    /// # Errors
    /// If there is no such member.
    pub fn fail_member(&mut self, now: Nanos, column: usize) -> Result<(), ArrayError> {
        self.check_member_exists(column)?;
        if self.members[column].device.is_none() {
            return Err(ArrayError::Absent { member: column });
        }
        self.catch_up(now);
        self.fail_column(now, column);
        self.settle(now);
        Ok(())
    }

    /// Puts `device` in the place of the one in column `column`, which comes back if it was there, and rebuilds it. With
    /// `parity_percent`, parity moves to the oldest members.
    ///
    /// # Errors
    /// If the column does not exist, the device is too small or lacks a link speed that is needed, or the old one holds the only copy of some
    /// data, unless `force`.
    pub fn replace(
        &mut self,
        now: Nanos,
        column: usize,
        device: D,
        force: bool,
    ) -> Result<Option<D>, ArrayError> {
        self.check_member_exists(column)?;
        self.check_size(&device)?;
        let has_data = self.members[column].is_in_sync() || self.members.donor(column).is_some();
        if !force && has_data && self.is_missing_too_many(Some(column)) {
            return Err(ArrayError::OnlyCopy { member: column });
        }
        self.catch_up(now);
        let old = self.exchange_device(now, column, device);
        self.settle(now);
        Ok(old)
    }

    /// Adds a spare; it is used at once if a member is missing.
    ///
    /// # Errors
    /// If the device is too small, or lacks a link speed that is needed.
    pub fn add_spare(&mut self, now: Nanos, device: D) -> Result<(), ArrayError> {
        self.check_size(&device)?;
        self.catch_up(now);
        self.members.spares_mut().push_back(device);
        self.use_spares(now);
        // A repair may have waited for it.
        self.passes.request_pump();
        self.settle(now);
        Ok(())
    }

    /// Events, oldest first; only the first 65 536 are kept.
    pub fn events(&self) -> &[ArrayEvent] {
        self.history.events()
    }

    /// The ages of the members, by the array's measure.
    pub fn ages(&self) -> Vec<Option<f64>> {
        self.members.ages()
    }

    fn check_member_exists(&self, column: usize) -> Result<(), ArrayError> {
        let members = self.members.len();
        if column < members { Ok(()) } else { Err(ArrayError::NoSuchMember { member: column, members }) }
    }

    fn check_size(&self, device: &D) -> Result<(), ArrayError> {
        let capacity = device.identify().capacity;
        let needed = self.setup.member_bytes();
        if capacity < needed {
            return Err(ArrayError::TooSmall { capacity, needed });
        }
        let needs_link = self.setup.config.repair.share.is_some();
        if needs_link && device.identify().link.is_none() { Err(ArrayError::NoLink) } else { Ok(()) }
    }

    /// True if some group lacks more chunks than redundancy makes good, counting members that are being rebuilt as missing, unless they
    /// are filled from a donor, and also column `extra`.
    pub(super) fn is_missing_too_many(&self, extra: Option<usize>) -> bool {
        let missing = |column: usize| {
            !self.members[column].is_in_sync() && self.members.donor(column).is_none()
                || extra == Some(column)
        };
        let redundancy = self.layout.roles - self.layout.data;
        match &self.layout.map {
            GroupMap::Striped(_) => {
                (0..self.members.len()).filter(|&column| missing(column)).count() > redundancy
            }
            // The pattern of copies repeats after `columns` groups, or fewer.
            GroupMap::Copies { columns, .. } => (0..self.layout.groups.min(*columns)).any(|group| {
                (0..self.layout.roles).all(|role| missing(self.layout.locate(group, role, false).0))
            }),
        }
    }

    /// Schedules the removal of a member for the end of the current event, if the array can do without it. Returns true if it is to go.
    pub(super) fn eject(&mut self, column: usize) -> bool {
        if self.members.is_leaving(column) {
            return true;
        }
        let possible = self.members[column].device.is_some() && !self.is_missing_too_many(Some(column));
        if possible {
            self.history.counters.ejected += 1;
            self.members.schedule_removal(column);
        }
        possible
    }

    /// Counts a read error of a member, and ejects it after too many in too short a time.
    #[cold]
    pub(super) fn note_read_error(&mut self, now: Nanos, column: usize) {
        self.history.counters.read_errors += 1;
        if column >= self.members.len() || self.members[column].has_unrepaired_die {
            return;
        }
        let errors = self.members[column].count_read_error(now);
        if errors > self.setup.config.ejection.read_errors {
            self.eject(column);
        }
    }

    pub(super) fn fail_column(&mut self, now: Nanos, column: usize) {
        let Some(device) = self.take_device_out(now, column) else { return };
        self.members.remember_removed(column, device);
        let failed = self.is_missing_too_many(None);
        self.history.record_event(now, ArrayEventKind::MemberFailed { member: column, failed });
        self.use_spares(now);
    }

    /// Takes the device out of a column, and ends its commands without an answer.
    fn take_device_out(&mut self, now: Nanos, column: usize) -> Option<D> {
        self.members[column].device.as_ref()?;
        self.widen_records(column);
        // Write holes: data of torn rows will be computed from parity that may be wrong.
        let data = self.data_set();
        let depends = |group: u64| {
            self.layout.data > 1
                && roles(data).any(|role| self.layout.locate(group, role, false).0 == column)
                && (group < self.members[column].valid_to || self.members.donor(column).is_some())
        };
        let holes = self.doubt.torn_groups().into_iter().filter(|&group| depends(group)).count();
        self.history.counters.write_holes += holes as u64;
        let device = self.members.take(column);
        self.abandon_repairs(now, column);
        self.drop_donor(now, column);
        self.abandon_commands(now, column);
        self.passes.request_pump();
        device
    }

    /// Ends all commands to device `index`, which is gone.
    pub(super) fn abandon_commands(&mut self, now: Nanos, index: usize) {
        // All are marked first: the handlers may look at other commands of the device.
        let theirs = |sub: &crate::op::MemberCommand| sub.live && usize::from(sub.column) == index;
        let gone: Vec<u32> = (0u32..)
            .zip(self.flight.member_commands.slots())
            .filter(|(_, sub)| theirs(sub))
            .map(|(index, _)| index)
            .collect();
        for &index in &gone {
            self.flight.member_commands[index].live = false;
        }
        for index in gone {
            let sub = self.flight.member_commands[index];
            self.flight.member_commands.remove(index);
            self.member_gone(now, sub);
        }
    }

    /// Puts spares into empty columns, unless too many members are missing: a rebuild would give up data that they may still hold.
    pub(super) fn use_spares(&mut self, now: Nanos) {
        if self.is_missing_too_many(None) {
            return;
        }
        for column in 0..self.members.len() {
            if self.members[column].device.is_none()
                && let Some(spare) = self.members.spares_mut().pop_front()
            {
                self.install(now, column, spare);
            }
        }
    }

    /// Exchanges the device of a column.
    fn exchange_device(&mut self, now: Nanos, column: usize, device: D) -> Option<D> {
        let ages = self.ages();
        let old = self.take_device_out(now, column);
        self.history.record_event(now, ArrayEventKind::Replaced { member: column, ages });
        self.install(now, column, device);
        old
    }

    /// Puts an empty device into a column and begins to rebuild it.
    fn install(&mut self, now: Nanos, column: usize, device: D) {
        self.members.install(column, device);
        self.history.record_event(now, ArrayEventKind::RebuildStarted { member: column });
        self.start_rebuild();
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
        let worn = |column: &usize| {
            let age = self.members.age(*column);
            age.is_some_and(|age| age >= limit) && !self.is_missing_too_many(Some(*column))
        };
        let age = |column: usize| self.members.age(column).unwrap_or(0.0);
        let oldest = (0..self.members.len()).filter(worn).max_by(|&a, &b| age(a).total_cmp(&age(b)));
        if let Some(column) = oldest
            && let Some(spare) = self.members.spares_mut().pop_front()
            && let Some(old) = self.exchange_device(now, column, spare)
        {
            self.members.remember_removed(column, old);
        }
    }
}
