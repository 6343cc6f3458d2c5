//! The devices of an array: in columns, donors (being replaced), spares, and removed ones.

mod column;
mod devices;

pub(crate) use column::{DonorMember, MemberColumn};

use crate::deadlines::DeadlineTree;
use outlast_units::Nanos;
use std::collections::VecDeque;
use std::ops::{Index, IndexMut, Range};

/// All devices of an array, with the next deadline of each.
///
/// A member is named by its column. A *number* names a member or a donor: `n` columns are followed by the `n` numbers of their donors.
#[derive(Clone, Debug, outlast_persist::Restore)]
pub(crate) struct ArrayMembers<D> {
    columns: Vec<MemberColumn<D>>,
    /// Members that are being replaced but still serve reads, by column; empty if there is none.
    donors: Vec<Option<DonorMember<D>>>,
    deadlines: DeadlineTree,
    spares: VecDeque<D>,
    removed: Vec<(usize, D)>,
    /// Columns of members to be removed at the end of the current event.
    leaving: Vec<usize>,
    /// The measure of a device's age, any figure that grows with wear.
    #[persist(skip)]
    age_of: fn(&D) -> f64,
    /// Some chunk of some group cannot be read straight from its column.
    degraded: bool,
    /// Sectors that the host has written since the last check of wear.
    written: u64,
    /// For each column, sectors moved for the host less sectors under way for the array itself; counted only during background work.
    traffic: Vec<i64>,
}

impl<D> Index<usize> for ArrayMembers<D> {
    type Output = MemberColumn<D>;
    #[inline]
    fn index(&self, column: usize) -> &MemberColumn<D> {
        &self.columns[column]
    }
}

impl<D> IndexMut<usize> for ArrayMembers<D> {
    #[inline]
    fn index_mut(&mut self, column: usize) -> &mut MemberColumn<D> {
        &mut self.columns[column]
    }
}

impl<D> ArrayMembers<D> {
    /// The first `members` of `devices` in columns, the rest as spares.
    pub(crate) fn new(devices: Vec<D>, members: usize, age_of: fn(&D) -> f64) -> Self {
        assert!(members >= 1 && members <= devices.len(), "there is a device for each column");
        let mut devices = devices.into_iter();
        let columns: Vec<MemberColumn<D>> = devices.by_ref().take(members).map(MemberColumn::new).collect();
        // Not collected from the rest of the vector: the standard library (1.95) makes an empty one of it whose first element lies beyond
        // its memory.
        let mut spares = VecDeque::new();
        spares.extend(devices);
        Self {
            columns,
            donors: Vec::new(),
            deadlines: DeadlineTree::new(members),
            spares,
            removed: Vec::new(),
            leaving: Vec::new(),
            age_of,
            degraded: false,
            written: 0,
            traffic: vec![0; members],
        }
    }

    /// The traffic of each column, as [`WorkPacer::next_start`](crate::passes::WorkPacer::next_start) takes it.
    pub(crate) fn traffic(&self) -> &[i64] {
        &self.traffic
    }

    /// Adds to the traffic of device `number`: sectors of a command that has ended, or minus the sectors of background work that begins.
    #[inline]
    pub(crate) fn count_traffic(&mut self, number: usize, sectors: i64) {
        let column = self.column_of(number);
        self.traffic[column] += sectors;
    }

    /// Number of columns.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.columns.len()
    }

    /// The columns, in order.
    pub(crate) fn iter(&self) -> std::slice::Iter<'_, MemberColumn<D>> {
        self.columns.iter()
    }

    /// Mutable columns, in order.
    pub(crate) fn iter_mut(&mut self) -> std::slice::IterMut<'_, MemberColumn<D>> {
        self.columns.iter_mut()
    }

    /// Column `column`, if there is one.
    pub(crate) fn get(&self, column: usize) -> Option<&MemberColumn<D>> {
        self.columns.get(column)
    }

    /// The device with number `number`.
    pub(crate) fn device(&self, number: usize) -> Option<&D> {
        match self.columns.get(number) {
            Some(column) => column.device.as_ref(),
            None => self.donor(number - self.columns.len())?.home.device.as_ref(),
        }
    }

    /// Next deadline of the device with number `number`.
    pub(crate) fn deadline(&self, number: usize) -> Nanos {
        self.deadlines.get(number)
    }

    /// True if restored state is plausible: each leaving column has a device and is listed once, and counts are in range.
    pub(crate) fn is_plausible(&self) -> bool {
        let has_device = |&column: &usize| self.get(column).is_some_and(|column| column.device.is_some());
        let once: std::collections::BTreeSet<_> = self.leaving.iter().collect();
        once.len() == self.leaving.len() && self.leaving.iter().all(has_device) && self.written < 1 << 60
    }

    /// Numbers of all members and donors.
    pub(crate) fn numbers(&self) -> Range<usize> {
        0..self.deadlines.len()
    }

    /// Columns that may have a donor; none if no column has one.
    pub(crate) fn donor_columns(&self) -> Range<usize> {
        0..self.donors.len()
    }

    pub(crate) fn donor(&self, column: usize) -> Option<&DonorMember<D>> {
        self.donors.get(column)?.as_ref()
    }

    pub(crate) fn donor_mut(&mut self, column: usize) -> Option<&mut DonorMember<D>> {
        self.donors.get_mut(column)?.as_mut()
    }

    /// All donors.
    pub(crate) fn donors(&self) -> impl Iterator<Item = &DonorMember<D>> {
        self.donors.iter().flatten()
    }

    /// The number of a column's donor.
    pub(crate) fn donor_number(&self, column: usize) -> usize {
        self.columns.len() + column
    }

    /// The column that a number belongs to.
    pub(crate) fn column_of(&self, number: usize) -> usize {
        // Donors follow the columns in the same order.
        number % self.columns.len()
    }

    /// The column or donor of a number.
    #[inline]
    pub(crate) fn home_mut(&mut self, number: usize) -> Option<&mut MemberColumn<D>> {
        let members = self.columns.len();
        if number < members {
            return Some(&mut self.columns[number]);
        }
        Some(&mut self.donors.get_mut(number - members)?.as_mut()?.home)
    }

    /// The device of a number.
    #[inline]
    pub(crate) fn device_mut(&mut self, number: usize) -> Option<&mut D> {
        self.home_mut(number)?.device.as_mut()
    }

    /// The number of the device that has column `column` of `group`: the member, or its donor for groups that are not yet filled.
    #[inline]
    pub(crate) fn source(&self, column: usize, group: u64) -> usize {
        if self.donors.is_empty() || group < self.columns[column].valid_to || self.donor(column).is_none() {
            return column;
        }
        self.donor_number(column)
    }

    /// True if the donor of a column lacks some of the sectors; `None` without a donor.
    pub(crate) fn donor_lacks(&self, column: usize, sectors: &Range<u64>) -> Option<bool> {
        let donor = self.donor(column)?;
        Some(donor.lost.overlaps(sectors) || donor.home.bad.overlaps(sectors))
    }

    /// True if some chunk of some group cannot be read straight from its column.
    #[inline]
    pub(crate) fn is_degraded(&self) -> bool {
        self.degraded
    }

    /// Updates [`ArrayMembers::is_degraded`], after a member has become complete or a sector good or bad.
    pub(crate) fn update_degraded(&mut self) {
        self.degraded = self.columns.iter().any(|column| !column.is_in_sync() || !column.bad.is_empty());
    }

    /// Sets the measure of age.
    pub(crate) fn set_age_measure(&mut self, age_of: fn(&D) -> f64) {
        self.age_of = age_of;
    }

    /// The age of the device in a column.
    pub(crate) fn age(&self, column: usize) -> Option<f64> {
        self.columns[column].device.as_ref().map(self.age_of)
    }

    /// The ages of all columns' devices.
    pub(crate) fn ages(&self) -> Vec<Option<f64>> {
        (0..self.len()).map(|column| self.age(column)).collect()
    }

    /// Counts `sectors` that the host writes; returns true whenever `every` sectors have been written since the last check of wear.
    pub(crate) fn is_wear_check_due(&mut self, sectors: u64, every: u64) -> bool {
        self.written += sectors;
        let due = self.written >= every;
        if due {
            self.written = 0;
        }
        due
    }

    pub(crate) fn spares(&self) -> &VecDeque<D> {
        &self.spares
    }

    pub(crate) fn spares_mut(&mut self) -> &mut VecDeque<D> {
        &mut self.spares
    }

    /// Devices that have left, with the column that they had, oldest first.
    pub(crate) fn removed(&self) -> &[(usize, D)] {
        &self.removed
    }

    /// Adds a device that has left column `column`.
    pub(crate) fn remember_removed(&mut self, column: usize, device: D) {
        self.removed.push((column, device));
    }

    /// Every device: members by column, then spares, then those that have left, oldest first, then donors.
    pub(crate) fn devices(&self) -> impl Iterator<Item = &D> {
        let members = self.columns.iter().filter_map(|column| column.device.as_ref());
        let donors = self.donors().filter_map(|donor| donor.home.device.as_ref());
        members.chain(&self.spares).chain(self.removed.iter().map(|(_, device)| device)).chain(donors)
    }

    /// The devices other than members, in the order of [`ArrayMembers::devices`].
    pub(crate) fn others_mut(&mut self) -> impl Iterator<Item = &mut D> {
        let left = self.removed.iter_mut().map(|(_, device)| device);
        let donors = self.donors.iter_mut().flatten().filter_map(|donor| donor.home.device.as_mut());
        self.spares.iter_mut().chain(left).chain(donors)
    }

    /// All donors, mutable.
    pub(crate) fn donors_mut(&mut self) -> impl Iterator<Item = &mut DonorMember<D>> {
        self.donors.iter_mut().flatten()
    }

    /// Schedules the removal of the member in `column` for the end of the current event.
    pub(crate) fn schedule_removal(&mut self, column: usize) {
        assert!(!self.is_leaving(column), "a member is removed once");
        self.leaving.push(column);
    }

    /// True if the member in `column` is to be removed.
    pub(crate) fn is_leaving(&self, column: usize) -> bool {
        self.leaving.contains(&column)
    }

    /// True if any member is to be removed.
    pub(crate) fn is_any_leaving(&self) -> bool {
        !self.leaving.is_empty()
    }

    /// The next column whose member is to be removed.
    #[inline]
    pub(crate) fn take_leaving(&mut self) -> Option<usize> {
        self.leaving.pop()
    }
}
