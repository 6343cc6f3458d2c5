//! The devices of an array: those in its columns, those that are being replaced, those that stand by and those that have left.

mod column;
mod devices;

pub(crate) use column::{Column, Donor};

use crate::deadlines::Deadlines;
use outlast_units::Nanos;
use std::collections::VecDeque;
use std::ops::{Index, IndexMut, Range};

/// All devices of an array, and when each of them next does something.
///
/// A member is named by its column; where a number may also name a donor, columns are followed by as many numbers for their donors.
#[derive(Clone, Debug, outlast_persist::Restore)]
pub(crate) struct Members<D> {
    columns: Vec<Column<D>>,
    /// Members that are being replaced but still give what they have, by column; empty where there is none.
    donors: Vec<Option<Donor<D>>>,
    deadlines: Deadlines,
    spares: VecDeque<D>,
    removed: Vec<(usize, D)>,
    /// Members to be thrown out as soon as the event at hand is done.
    leaving: Vec<usize>,
    /// The measure of a device's age.
    #[persist(skip)]
    age_of: fn(&D) -> f64,
    /// Some chunk somewhere cannot simply be read.
    degraded: bool,
    /// Sectors that the host has written since wear was last looked at.
    written: u64,
    /// For each column, sectors moved for the host less those under way for the array itself, as far as the latter has worked meanwhile.
    traffic: Vec<i64>,
}

impl<D> Index<usize> for Members<D> {
    type Output = Column<D>;
    #[inline]
    fn index(&self, column: usize) -> &Column<D> {
        &self.columns[column]
    }
}

impl<D> IndexMut<usize> for Members<D> {
    #[inline]
    fn index_mut(&mut self, column: usize) -> &mut Column<D> {
        &mut self.columns[column]
    }
}

impl<D> Members<D> {
    /// The first `members` of `devices` in columns, the rest as spares.
    pub(crate) fn new(devices: Vec<D>, members: usize, age_of: fn(&D) -> f64) -> Self {
        assert!(members >= 1 && members <= devices.len(), "there is a device for each column");
        let mut devices = devices.into_iter();
        let columns: Vec<Column<D>> = devices.by_ref().take(members).map(Column::new).collect();
        // Not collected from the rest of the vector: the standard library (1.95) makes an empty one of it whose first element lies beyond
        // its memory.
        let mut spares = VecDeque::new();
        spares.extend(devices);
        Self {
            columns,
            donors: Vec::new(),
            deadlines: Deadlines::new(members),
            spares,
            removed: Vec::new(),
            leaving: Vec::new(),
            age_of,
            degraded: false,
            written: 0,
            traffic: vec![0; members],
        }
    }

    /// For each column, what [`Pacer::leave`](crate::passes::Pacer::leave) is told of it.
    pub(crate) fn traffic(&self) -> &[i64] {
        &self.traffic
    }

    /// Member `number` has moved sectors for the host, or begins (less than none) or ends those of the array's own work.
    #[inline]
    pub(crate) fn count_traffic(&mut self, number: usize, sectors: i64) {
        let column = self.column_of(number);
        self.traffic[column] += sectors;
    }

    /// Columns.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.columns.len()
    }

    /// The columns, in order.
    pub(crate) fn iter(&self) -> std::slice::Iter<'_, Column<D>> {
        self.columns.iter()
    }

    /// As [`Members::iter`], to change them.
    pub(crate) fn iter_mut(&mut self) -> std::slice::IterMut<'_, Column<D>> {
        self.columns.iter_mut()
    }

    /// Column `column`, if there is one.
    pub(crate) fn get(&self, column: usize) -> Option<&Column<D>> {
        self.columns.get(column)
    }

    /// The device of a number.
    pub(crate) fn device(&self, number: usize) -> Option<&D> {
        match self.columns.get(number) {
            Some(column) => column.device.as_ref(),
            None => self.donor(number - self.columns.len())?.home.device.as_ref(),
        }
    }

    /// When the device of a number next does something.
    pub(crate) fn deadline(&self, number: usize) -> Nanos {
        self.deadlines.get(number)
    }

    /// Whether what was read has those leave that are there, each once, and has seen as much written as can be.
    pub(crate) fn is_plausible(&self) -> bool {
        let is_there = |&column: &usize| self.get(column).is_some_and(|column| column.device.is_some());
        let once: std::collections::BTreeSet<_> = self.leaving.iter().collect();
        once.len() == self.leaving.len() && self.leaving.iter().all(is_there) && self.written < 1 << 60
    }

    /// Numbers of all members and donors.
    pub(crate) fn numbers(&self) -> Range<usize> {
        0..self.deadlines.len()
    }

    /// Columns that may have a donor; none where no column has.
    pub(crate) fn donor_columns(&self) -> Range<usize> {
        0..self.donors.len()
    }

    pub(crate) fn donor(&self, column: usize) -> Option<&Donor<D>> {
        self.donors.get(column)?.as_ref()
    }

    pub(crate) fn donor_mut(&mut self, column: usize) -> Option<&mut Donor<D>> {
        self.donors.get_mut(column)?.as_mut()
    }

    /// The donors there are.
    pub(crate) fn donors(&self) -> impl Iterator<Item = &Donor<D>> {
        self.donors.iter().flatten()
    }

    /// The number of a column's donor.
    pub(crate) fn donor_number(&self, column: usize) -> usize {
        self.columns.len() + column
    }

    /// The column that a number belongs to.
    pub(crate) fn column_of(&self, number: usize) -> usize {
        number % self.columns.len()
    }

    /// The column or donor of a number.
    #[inline]
    pub(crate) fn place_mut(&mut self, number: usize) -> Option<&mut Column<D>> {
        let members = self.columns.len();
        if number < members {
            return Some(&mut self.columns[number]);
        }
        Some(&mut self.donors.get_mut(number - members)?.as_mut()?.home)
    }

    /// The device of a number.
    #[inline]
    pub(crate) fn device_mut(&mut self, number: usize) -> Option<&mut D> {
        self.place_mut(number)?.device.as_mut()
    }

    /// Where to read what column `column` has of `group`: from its device, or from its donor.
    #[inline]
    pub(crate) fn source(&self, column: usize, group: u64) -> usize {
        if self.donors.is_empty() || group < self.columns[column].valid_to || self.donor(column).is_none() {
            return column;
        }
        self.donor_number(column)
    }

    /// Whether the donor of a column, where there is one, cannot give sectors; `None` without one.
    pub(crate) fn donor_lacks(&self, column: usize, sectors: &Range<u64>) -> Option<bool> {
        let donor = self.donor(column)?;
        Some(donor.known.overlaps(sectors) || donor.home.bad.overlaps(sectors))
    }

    /// Whether some chunk somewhere cannot simply be read.
    #[inline]
    pub(crate) fn is_degraded(&self) -> bool {
        self.degraded
    }

    /// Finds out whether some chunk cannot simply be read, after a member has become complete or a sector good or bad.
    pub(crate) fn update_degraded(&mut self) {
        self.degraded = self.columns.iter().any(|column| !column.is_in_sync() || !column.bad.is_empty());
    }

    /// The measure of age.
    pub(crate) fn measure_age_by(&mut self, age_of: fn(&D) -> f64) {
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

    /// The host writes `sectors` more: whether wear is to be looked at, which it is whenever `every` have been written.
    pub(crate) fn is_look_at_wear_due(&mut self, sectors: u64, every: u64) -> bool {
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

    /// A device has left column `column`.
    pub(crate) fn remember_removed(&mut self, column: usize, device: D) {
        self.removed.push((column, device));
    }

    /// Every device: members by column, then spares, then those that have left, oldest first, then donors.
    pub(crate) fn devices(&self) -> impl Iterator<Item = &D> {
        let members = self.columns.iter().filter_map(|column| column.device.as_ref());
        let donors = self.donors().filter_map(|donor| donor.home.device.as_ref());
        members.chain(&self.spares).chain(self.removed.iter().map(|(_, device)| device)).chain(donors)
    }

    /// The devices other than members, in the order of [`Members::devices`].
    pub(crate) fn others_mut(&mut self) -> impl Iterator<Item = &mut D> {
        let left = self.removed.iter_mut().map(|(_, device)| device);
        let donors = self.donors.iter_mut().flatten().filter_map(|donor| donor.home.device.as_mut());
        self.spares.iter_mut().chain(left).chain(donors)
    }

    /// The donors' devices.
    pub(crate) fn donors_mut(&mut self) -> impl Iterator<Item = &mut Donor<D>> {
        self.donors.iter_mut().flatten()
    }

    /// Column `column` is to be thrown out as soon as the event at hand is done.
    pub(crate) fn expel(&mut self, column: usize) {
        assert!(!self.is_leaving(column), "a member is thrown out once");
        self.leaving.push(column);
    }

    /// Whether a column is to be thrown out.
    pub(crate) fn is_leaving(&self, column: usize) -> bool {
        self.leaving.contains(&column)
    }

    /// Whether any column is to be thrown out.
    pub(crate) fn is_any_leaving(&self) -> bool {
        !self.leaving.is_empty()
    }

    /// The next column to be thrown out.
    #[inline]
    pub(crate) fn take_leaving(&mut self) -> Option<usize> {
        self.leaving.pop()
    }
}
