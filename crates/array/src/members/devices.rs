//! Members as devices: commands, time, exchange.

use super::{ArrayMembers, DonorMember, MemberColumn};
use crate::deadlines::DeadlineTree;
use crate::ranges::RangeSet;
use outlast_device::{Command, Completion, Device, Notice, Tag};
use outlast_units::Nanos;
use std::collections::BTreeSet;

impl<D: Device> ArrayMembers<D> {
    /// Submits a command to device `number`, which must be present.
    #[inline]
    pub(crate) fn submit(&mut self, now: Nanos, number: usize, command: Command, tag: Tag, data: &[u8]) {
        let home = self.home_mut(number).expect("commands go to members that are there");
        home.in_flight += 1;
        let device = home.device.as_mut().expect("commands go to members that are there");
        if data.is_empty() {
            device.submit(now, command, tag);
        } else {
            device.submit_data(now, command, tag, data);
        }
        let deadline = device.next_deadline().unwrap_or(Nanos::MAX);
        self.deadlines.set(number, deadline);
    }

    /// Counts a command of device `number` that has ended.
    #[inline]
    pub(crate) fn completed(&mut self, number: usize) {
        if let Some(home) = self.home_mut(number) {
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
    /// `limit` is reached. Returns its number, the time reached and its notice.
    #[inline]
    pub(crate) fn advance_first(
        &mut self,
        at: Nanos,
        limit: Nanos,
        completions: &mut Vec<Completion>,
    ) -> (usize, Nanos, Option<Notice>) {
        debug_assert!(at == self.deadlines.first(), "the first member is due");
        let (number, others) = self.deadlines.due();
        // At least to `at`, so that devices with equal deadlines do not stop each other.
        let limit = limit.min(others).max(at);
        let Some(device) = self.device_mut(number) else {
            debug_assert!(false, "a member that is gone is never due");
            return (number, at, None);
        };
        let reached = device.advance_to_completion(limit, completions);
        let notice = device.take_notice();
        let deadline = device.next_deadline().unwrap_or(Nanos::MAX);
        self.deadlines.set(number, deadline);
        (number, reached, notice)
    }

    /// Fetches the deadline of every device.
    pub(crate) fn refresh_deadlines(&mut self) {
        for number in self.numbers() {
            let deadline = self.device_mut(number).and_then(|device| device.next_deadline());
            self.deadlines.set(number, deadline.unwrap_or(Nanos::MAX));
        }
    }

    /// Forgets commands and deadlines, after a loss of power.
    pub(crate) fn forget_commands(&mut self) {
        self.columns.iter_mut().for_each(|column| column.in_flight = 0);
        self.donors.iter_mut().flatten().for_each(|donor| donor.home.in_flight = 0);
        self.deadlines.clear();
    }

    /// Takes the device out of a column, which is empty from now on.
    pub(crate) fn take(&mut self, column: usize) -> Option<D> {
        let device = self.columns[column].take()?;
        self.deadlines.set(column, Nanos::MAX);
        self.degraded = true;
        Some(device)
    }

    /// Puts an empty device into a column.
    pub(crate) fn install(&mut self, column: usize, device: D) {
        self.deadlines.set(column, device.next_deadline().unwrap_or(Nanos::MAX));
        self.columns[column] = MemberColumn::of_empty(device);
        self.degraded = true;
    }

    /// Puts `device` into a column, whose device stays as its donor.
    pub(crate) fn install_beside(&mut self, column: usize, device: D) {
        let members = self.columns.len();
        if self.donors.is_empty() {
            self.donors.resize_with(members, || None);
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
        // The old device keeps its deadline under its new number.
        self.deadlines.set(members + column, self.deadlines.get(column));
        let deadline = self.columns[column].device.as_ref().and_then(Device::next_deadline);
        self.deadlines.set(column, deadline.unwrap_or(Nanos::MAX));
        self.degraded = true;
    }

    /// Takes the donor of a column out, if there is one; [`ArrayMembers::close_donors`] follows once its commands are forgotten.
    pub(crate) fn remove_donor(&mut self, column: usize) -> bool {
        let Some(donor) = self.donors.get_mut(column).and_then(Option::take) else { return false };
        self.deadlines.set(self.donor_number(column), Nanos::MAX);
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
        for number in 0..count.min(self.deadlines.len()) {
            resized.set(number, self.deadlines.get(number));
        }
        self.deadlines = resized;
    }

    /// Checks every device, and the state kept about it.
    ///
    /// # Errors
    /// The first broken invariant, in words.
    pub(crate) fn self_check(&self) -> Result<(), String> {
        for (index, column) in self.columns.iter().enumerate() {
            let Some(device) = &column.device else {
                if column.in_flight != 0 || self.deadlines.get(index) != Nanos::MAX {
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
}
