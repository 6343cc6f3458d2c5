//! The devices of an array: in columns, donors (being replaced), spares, and removed ones.

mod column;
mod column_devices;
mod devices;
mod leaving;

pub(crate) use column::{DonorMember, MemberColumn};

use crate::deadlines::DeadlineTree;
use crate::error::ArrayError;
use crate::ids::{ColumnDevice, ColumnIndex};
use crate::member_command::{MemberCommand, MemberCommandKind};
use outlast_units::IndexVec;
use std::collections::VecDeque;
use std::ops::{Index, IndexMut, Range};

/// All devices of an array, with the next deadline of each.
#[derive(Clone, Debug, outlast_persist::Restore)]
pub(crate) struct ArrayMembers<D> {
    columns: IndexVec<ColumnIndex, MemberColumn<D>>,
    /// Members that are being replaced but still serve reads, by column; empty if there is none.
    donors: IndexVec<ColumnIndex, Option<DonorMember<D>>>,
    /// Places of members, by column, then those of donors, if there are any, likewise.
    deadlines: DeadlineTree,
    spares: VecDeque<D>,
    removed: Vec<(ColumnIndex, D)>,
    /// Columns of members to be removed at the end of the current event.
    leaving: Vec<ColumnIndex>,
    /// The measure of a device's age, any figure that grows with wear.
    #[persist(skip)]
    age_of: fn(&D) -> f64,
    /// Some chunk of some group cannot be read straight from its column.
    degraded: bool,
    /// Sectors that the host has written since the last check of wear.
    written: u64,
    /// For each column, sectors moved for the host less sectors under way for the array itself; counted only during background work.
    traffic: IndexVec<ColumnIndex, i64>,
}

impl<D> Index<ColumnIndex> for ArrayMembers<D> {
    type Output = MemberColumn<D>;
    #[inline]
    fn index(&self, column: ColumnIndex) -> &MemberColumn<D> {
        &self.columns[column]
    }
}

impl<D> IndexMut<ColumnIndex> for ArrayMembers<D> {
    #[inline]
    fn index_mut(&mut self, column: ColumnIndex) -> &mut MemberColumn<D> {
        &mut self.columns[column]
    }
}

impl<D> ArrayMembers<D> {
    /// The first `members` of `devices` in columns, the rest as spares.
    pub(crate) fn new(devices: Vec<D>, members: usize, age_of: fn(&D) -> f64) -> Self {
        assert!(members >= 1 && members <= devices.len(), "there is a device for each column");
        let mut devices = devices.into_iter();
        let columns: IndexVec<ColumnIndex, MemberColumn<D>> =
            devices.by_ref().take(members).map(MemberColumn::new).collect();
        // Not collected from the rest of the vector: the standard library (1.95) makes an empty one of it whose first element lies beyond
        // its memory.
        let mut spares = VecDeque::new();
        spares.extend(devices);
        Self {
            columns,
            donors: IndexVec::default(),
            deadlines: DeadlineTree::new(members),
            spares,
            removed: Vec::new(),
            leaving: Vec::new(),
            age_of,
            degraded: false,
            written: 0,
            traffic: IndexVec::filled(0, members),
        }
    }

    /// The traffic of each column, as [`WorkPacer::next_start`](crate::passes::WorkPacer::next_start) takes it.
    pub(crate) fn traffic(&self) -> &[i64] {
        self.traffic.as_slice()
    }

    /// Adds to the traffic of a device's column: sectors of a command that has ended, or minus the sectors of background work that begins.
    #[inline]
    pub(crate) fn count_traffic(&mut self, device: ColumnDevice, sectors: i64) {
        self.traffic[device.column()] += sectors;
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
    pub(crate) fn get(&self, column: ColumnIndex) -> Option<&MemberColumn<D>> {
        self.columns.get(column)
    }

    /// All column numbers, in order.
    pub(crate) fn indices(&self) -> impl ExactSizeIterator<Item = ColumnIndex> + use<D> {
        self.columns.indices()
    }

    /// The columns with their numbers, in order.
    pub(crate) fn iter_indexed(&self) -> impl ExactSizeIterator<Item = (ColumnIndex, &MemberColumn<D>)> {
        self.columns.iter_indexed()
    }

    /// True if restored state is plausible: each leaving column has a device and is listed once, and counts are in range.
    pub(crate) fn is_plausible(&self) -> bool {
        let has_device =
            |&column: &ColumnIndex| self.get(column).is_some_and(|column| column.device.is_some());
        let once: std::collections::BTreeSet<_> = self.leaving.iter().collect();
        once.len() == self.leaving.len() && self.leaving.iter().all(has_device) && self.written < 1 << 60
    }

    /// Columns that may have a donor; none if no column has one.
    pub(crate) fn donor_columns(&self) -> impl ExactSizeIterator<Item = ColumnIndex> + use<D> {
        self.donors.indices()
    }

    pub(crate) fn donor(&self, column: ColumnIndex) -> Option<&DonorMember<D>> {
        self.donors.get(column)?.as_ref()
    }

    pub(crate) fn donor_mut(&mut self, column: ColumnIndex) -> Option<&mut DonorMember<D>> {
        self.donors.as_mut_slice().get_mut(column.index())?.as_mut()
    }

    /// All donors.
    pub(crate) fn donors(&self) -> impl Iterator<Item = &DonorMember<D>> {
        self.donors.iter().flatten()
    }

    /// True if the donor of a column lacks some of the sectors; `None` without a donor.
    pub(crate) fn donor_lacks(&self, column: ColumnIndex, sectors: &Range<u64>) -> Option<bool> {
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
    pub(crate) fn age(&self, column: ColumnIndex) -> Option<f64> {
        self.columns[column].device.as_ref().map(self.age_of)
    }

    /// The ages of all columns' devices.
    pub(crate) fn ages(&self) -> Vec<Option<f64>> {
        self.indices().map(|column| self.age(column)).collect()
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
    pub(crate) fn removed(&self) -> &[(ColumnIndex, D)] {
        &self.removed
    }

    /// Adds a device that has left column `column`.
    pub(crate) fn remember_removed(&mut self, column: ColumnIndex, device: D) {
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

    /// Counts the traffic of a member command that has ended, for the pace of background work.
    #[cold]
    pub(crate) fn count_ended(&mut self, sub: &MemberCommand) {
        let moves_data = !matches!(
            sub.kind,
            MemberCommandKind::Flush(_)
                | MemberCommandKind::Clean
                | MemberCommandKind::Status { .. }
                | MemberCommandKind::RepairFlush(_)
        );
        if moves_data {
            self.count_traffic(sub.device, sub.rows.len().into());
        }
    }

    /// Column number `member`, as it comes from outside.
    pub(crate) fn find_column(&self, member: usize) -> Result<ColumnIndex, ArrayError> {
        let members = self.len();
        self.indices().nth(member).ok_or(ArrayError::NoSuchMember { member, members })
    }
}
