//! Members as devices: commands, time, exchange.

use super::{ArrayMembers, DonorMember, MemberColumn};
use crate::deadlines::DeadlineTree;
use crate::ids::{ColumnDevice, ColumnIndex, GroupIndex};
use crate::layout::{GroupLayout, RowRange};
use crate::ranges::RangeSet;
use outlast_device::{Command, Completion, Device, Notice, Tag};
use outlast_units::{IndexVec, Nanos};
use std::collections::BTreeSet;

/// The state that is kept about the donor of column `column`.
#[cold]
#[inline(never)]
fn donor_home<D>(
    donors: &mut IndexVec<ColumnIndex, Option<DonorMember<D>>>,
    column: usize,
) -> Option<&mut MemberColumn<D>> {
    donors.as_mut_slice().get_mut(column)?.as_mut().map(|donor| &mut donor.home)
}

impl<D: Device> ArrayMembers<D> {
    /// Submits a command to a device, which must be present.
    #[inline]
    pub(crate) fn submit(
        &mut self,
        now: Nanos,
        device: ColumnDevice,
        command: Command,
        tag: Tag,
        data: &[u8],
    ) {
        let place = self.deadline_place(device);
        let home = self.home_mut(device).expect("commands go to members that are there");
        home.in_flight += 1;
        let device = home.device.as_mut().expect("commands go to members that are there");
        if data.is_empty() {
            device.submit(now, command, tag);
        } else {
            device.submit_data(now, command, tag, data);
        }
        let deadline = device.next_deadline().unwrap_or(Nanos::MAX);
        self.deadlines.set(place, deadline);
    }

    /// Counts a command of a device that has ended.
    #[inline]
    pub(crate) fn completed(&mut self, device: ColumnDevice) {
        if let Some(home) = self.home_mut(device) {
            debug_assert!(home.in_flight > 0, "a member ends commands that it has");
            home.in_flight -= 1;
        }
    }

    /// The earliest deadline of all devices.
    #[inline]
    pub(crate) fn first_deadline(&self) -> Nanos {
        self.deadlines.first()
    }

    /// Advances the device with the earliest deadline, `at`, until it completes something or has a notice, another device is due, or
    /// `limit` is reached. Returns the time reached, and the device with its notice, if it has one.
    #[inline]
    pub(crate) fn advance_first(
        &mut self,
        at: Nanos,
        limit: Nanos,
        completions: &mut Vec<Completion>,
    ) -> (Nanos, Option<(ColumnDevice, Notice)>) {
        debug_assert!(at == self.deadlines.first(), "the first member is due");
        let place = self.deadlines.due();
        let home = match self.columns.as_mut_slice().get_mut(place) {
            Some(home) => Some(home),
            None => donor_home(&mut self.donors, place - self.columns.len()),
        };
        let Some(device) = home.and_then(|home| home.device.as_mut()) else {
            debug_assert!(false, "a member that is gone is never due");
            return (at, None);
        };
        // Mostly something completes at once, so that it does not matter when another device is due.
        let mut reached = device.advance_to_completion(at, completions);
        let mut notice = device.take_notice();
        if completions.is_empty() && notice.is_none() {
            // At least to `at`, so that devices with equal deadlines do not stop each other.
            let limit = limit.min(self.deadlines.due_after(place));
            if limit > at {
                reached = device.advance_to_completion(limit, completions);
                notice = device.take_notice();
            }
        }
        let deadline = device.next_deadline().unwrap_or(Nanos::MAX);
        self.deadlines.set(place, deadline);
        (reached, notice.map(|notice| (self.device_at(place), notice)))
    }

    /// Fetches the deadline of every device.
    pub(crate) fn refresh_deadlines(&mut self) {
        for device in self.column_devices() {
            let deadline = self.device(device).and_then(Device::next_deadline);
            self.deadlines.set(self.deadline_place(device), deadline.unwrap_or(Nanos::MAX));
        }
    }

    /// Forgets commands and deadlines, after a loss of power.
    pub(crate) fn forget_commands(&mut self) {
        self.columns.iter_mut().for_each(|column| column.in_flight = 0);
        self.donors.iter_mut().flatten().for_each(|donor| donor.home.in_flight = 0);
        self.deadlines.clear();
    }

    /// Takes the device out of a column, which is empty from now on.
    pub(crate) fn take(&mut self, column: ColumnIndex) -> Option<D> {
        let device = self.columns[column].take()?;
        self.deadlines.set(column.index(), Nanos::MAX);
        self.degraded = true;
        Some(device)
    }

    /// Puts an empty device into a column.
    pub(crate) fn install(&mut self, column: ColumnIndex, device: D) {
        self.deadlines.set(column.index(), device.next_deadline().unwrap_or(Nanos::MAX));
        self.columns[column] = MemberColumn::of_empty(device);
        self.degraded = true;
    }

    /// Puts `device` into a column, whose device stays as its donor.
    pub(crate) fn install_beside(&mut self, column: ColumnIndex, device: D) {
        let members = self.columns.len();
        if self.donors.is_empty() {
            self.donors.extend(std::iter::repeat_with(|| None).take(members));
            self.resize_deadlines(2 * members);
        }
        assert!(self.donors[column].is_none(), "a column has one donor");
        let new = MemberColumn::of_empty(device);
        let mut home = std::mem::replace(&mut self.columns[column], new);
        home.has_unrepaired_die = true;
        self.donors[column] = Some(DonorMember {
            home,
            lost: RangeSet::default(),
            queried: BTreeSet::new(),
            answered: BTreeSet::new(),
        });
        // The old device keeps its deadline at its new place.
        let donor_place = self.deadline_place(ColumnDevice::Donor(column));
        self.deadlines.set(donor_place, self.deadlines.get(column.index()));
        let deadline = self.columns[column].device.as_ref().and_then(Device::next_deadline);
        self.deadlines.set(column.index(), deadline.unwrap_or(Nanos::MAX));
        self.degraded = true;
    }

    /// Takes the donor of a column out, if there is one; [`ArrayMembers::close_donors`] follows once its commands are forgotten.
    pub(crate) fn remove_donor(&mut self, column: ColumnIndex) -> bool {
        let Some(donor) = self.donors.as_mut_slice().get_mut(column.index()).and_then(Option::take) else {
            return false;
        };
        self.deadlines.set(self.deadline_place(ColumnDevice::Donor(column)), Nanos::MAX);
        self.removed.extend(donor.home.device.map(|device| (column, device)));
        true
    }

    /// Drops the table of donors once the last one has left.
    pub(crate) fn close_donors(&mut self) {
        if !self.donors.is_empty() && self.donors.iter().all(Option::is_none) {
            self.donors.clear();
            self.resize_deadlines(self.columns.len());
        }
    }

    fn resize_deadlines(&mut self, count: usize) {
        let mut resized = DeadlineTree::new(count);
        for place in 0..count.min(self.deadlines.len()) {
            resized.set(place, self.deadlines.get(place));
        }
        self.deadlines = resized;
    }

    /// Checks every device, and the state kept about it.
    ///
    /// # Errors
    /// The first broken invariant, in words.
    pub(crate) fn self_check(&self) -> Result<(), String> {
        for (index, column) in self.columns.iter_indexed() {
            let Some(device) = &column.device else {
                if column.in_flight != 0 || self.deadlines.get(index.index()) != Nanos::MAX {
                    return Err(format!("member {index} is gone and still has commands or a time"));
                }
                continue;
            };
            device.self_check().map_err(|error| format!("member {index}: {error}"))?;
        }
        let is_complete = self.columns.iter().all(|column| column.is_in_sync() && column.bad.is_empty());
        if !is_complete && !self.degraded {
            return Err("a member lacks something, and the array counts as whole".to_owned());
        }
        Ok(())
    }

    /// Commands under way on members and donors.
    pub(crate) fn in_flight(&self) -> u32 {
        let donors = self.donors().map(|donor| &donor.home);
        self.columns.iter().chain(donors).map(|column| column.in_flight).sum()
    }

    /// Forgets the answers of a donor, so that it is queried again.
    pub(crate) fn ask_donor_again(&mut self, column: ColumnIndex) {
        if let Some(donor) = self.donor_mut(column) {
            donor.forget_answers();
        }
    }

    /// Notes a write to a donor that has ended; sectors that it could not write count as bad.
    pub(crate) fn donor_written(&mut self, column: ColumnIndex, sectors: std::ops::Range<u64>, done: bool) {
        let Some(donor) = self.donor_mut(column) else { return };
        if done {
            donor.lost.remove(sectors.clone());
            donor.home.bad.remove(sectors);
        } else {
            donor.home.bad.insert(sectors);
        }
    }

    /// Forgets the lost sectors that donors have listed in `rows`, since answers may be out of date, so that a read decides before the
    /// rows are given up. Returns true if there were any.
    pub(crate) fn distrust_donors(
        &mut self,
        layout: &GroupLayout,
        group: GroupIndex,
        rows: RowRange,
    ) -> bool {
        let mut any = false;
        for column in self.donor_columns() {
            let Some(role) = layout.role_on(group, column, false) else { continue };
            let base = layout.locate(group, role, false).1;
            let sectors = base + u64::from(rows.first)..base + u64::from(rows.end);
            if let Some(donor) = self.donor_mut(column)
                && donor.lost.overlaps(&sectors)
            {
                donor.lost.remove(sectors);
                any = true;
            }
        }
        any
    }
}
