//! The devices of an array: those in its columns, those that are being replaced, those that stand by and those that have left.

use crate::deadlines::Deadlines;
use crate::ranges::RangeSet;
use outlast_device::{Command, Completion, Device, Notice, Tag};
use outlast_units::Nanos;
use std::collections::{BTreeSet, VecDeque};
use std::ops::{Index, IndexMut, Range};

/// The place of a member in the array.
#[derive(Clone, Debug)]
pub(crate) struct Column<D> {
    pub(crate) device: Option<D>,
    /// Groups below this are there; `u64::MAX`: all.
    pub(crate) valid_to: u64,
    /// Commands under way.
    pub(crate) in_flight: u32,
    /// Read errors not yet forgotten, and the hour of the last one, by which they are.
    read_errors: u32,
    error_hour: u64,
    /// Sectors that could not be written.
    pub(crate) bad: RangeSet,
    /// Dies that it told have failed; whether that is not yet made good, so that read errors are no surprise; and whether it cannot be.
    pub(crate) dies: Vec<u16>,
    pub(crate) excused: bool,
    pub(crate) beyond_repair: bool,
}

impl<D> Column<D> {
    /// The place of a device that has everything.
    fn new(device: D) -> Self {
        Self {
            device: Some(device),
            valid_to: u64::MAX,
            in_flight: 0,
            read_errors: 0,
            error_hour: 0,
            bad: RangeSet::default(),
            dies: Vec::new(),
            excused: false,
            beyond_repair: false,
        }
    }

    /// Whether all of it can be read.
    pub(crate) fn is_in_sync(&self) -> bool {
        self.valid_to == u64::MAX
    }

    /// Whether a device is there that lacks some groups.
    pub(crate) fn is_filling(&self) -> bool {
        self.device.is_some() && !self.is_in_sync()
    }

    /// Read errors not yet forgotten.
    pub(crate) fn read_errors(&self) -> u32 {
        self.read_errors
    }

    /// Read errors so far have had their cause.
    pub(crate) fn excuse(&mut self) {
        (self.excused, self.read_errors) = (true, 0);
    }

    /// One more read error at `now`; half of those before are forgotten every hour. Returns how many count.
    pub(crate) fn count_read_error(&mut self, now: Nanos) -> u32 {
        let hour = now.0 / Nanos::secs(3600).0;
        debug_assert!(hour >= self.error_hour, "read errors come in order of time");
        self.read_errors >>= (hour - self.error_hour).min(31) as u32;
        self.error_hour = hour;
        self.read_errors += 1;
        self.read_errors
    }
}

/// A member that is being replaced and stays as the source of what it still can give.
#[derive(Clone, Debug)]
pub(crate) struct Donor<D> {
    pub(crate) home: Column<D>,
    /// Sectors that it said it has lost.
    pub(crate) known: RangeSet,
    /// Ranges that it was asked about, and that it has answered for.
    pub(crate) asked: BTreeSet<u32>,
    pub(crate) answered: BTreeSet<u32>,
}

impl<D> Donor<D> {
    /// What it said no longer holds.
    pub(crate) fn forget_answers(&mut self) {
        (self.asked, self.answered) = (BTreeSet::new(), BTreeSet::new());
        self.known = RangeSet::default();
    }
}

/// All devices of an array, and when each of them next does something.
///
/// A member is named by its column; where a number may also name a donor, columns are followed by as many numbers for their donors.
#[derive(Clone, Debug)]
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
    age_of: fn(&D) -> f64,
    /// Some chunk somewhere cannot simply be read.
    degraded: bool,
    /// Sectors that the host has written since wear was last looked at.
    written: u64,
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
        }
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

impl<D: Device> Members<D> {
    /// Hands a command to member `number`, which must be there.
    #[inline]
    pub(crate) fn submit(&mut self, now: Nanos, number: usize, command: Command, tag: Tag, data: &[u8]) {
        let place = self.place_mut(number).expect("commands go to members that are there");
        place.in_flight += 1;
        let device = place.device.as_mut().expect("commands go to members that are there");
        if data.is_empty() {
            device.submit(now, command, tag);
        } else {
            device.submit_data(now, command, tag, data);
        }
        let deadline = device.next_deadline().unwrap_or(Nanos::MAX);
        self.deadlines.set(number, deadline);
    }

    /// A command of member `number` has ended.
    #[inline]
    pub(crate) fn completed(&mut self, number: usize) {
        if let Some(place) = self.place_mut(number) {
            debug_assert!(place.in_flight > 0, "a member ends commands that it has");
            place.in_flight -= 1;
        }
    }

    /// When a member next does something.
    #[inline]
    pub(crate) fn first_deadline(&self) -> Nanos {
        self.deadlines.first()
    }

    /// The member that does something first.
    #[inline]
    pub(crate) fn first_due(&self) -> usize {
        self.deadlines.whose()
    }

    /// Lets member `number` go on by itself until something completes, it has something to tell, another member does something, or `limit`
    /// is reached, but at least up to `at`, when it next does something. Returns the time reached and what it tells.
    #[inline]
    pub(crate) fn advance(
        &mut self,
        number: usize,
        at: Nanos,
        limit: Nanos,
        completions: &mut Vec<Completion>,
    ) -> (Nanos, Option<Notice>) {
        let limit = limit.min(self.deadlines.first_but(number)).max(at);
        let Some(device) = self.device_mut(number) else {
            debug_assert!(false, "a member that is gone is never due");
            return (at, None);
        };
        let reached = device.advance_to_completion(limit, completions);
        let notice = device.take_notice();
        let deadline = device.next_deadline().unwrap_or(Nanos::MAX);
        self.deadlines.set(number, deadline);
        (reached, notice)
    }

    /// Asks every member when it next does something.
    pub(crate) fn refresh_deadlines(&mut self) {
        for number in self.numbers() {
            let deadline = self.device_mut(number).and_then(|device| device.next_deadline());
            self.deadlines.set(number, deadline.unwrap_or(Nanos::MAX));
        }
    }

    /// Power is gone: nothing is under way or due.
    pub(crate) fn forget_commands(&mut self) {
        self.columns.iter_mut().for_each(|column| column.in_flight = 0);
        self.donors.iter_mut().flatten().for_each(|donor| donor.home.in_flight = 0);
        self.deadlines.clear();
    }

    /// Takes the device out of a column, which is empty from now on.
    pub(crate) fn take(&mut self, column: usize) -> Option<D> {
        let place = &mut self.columns[column];
        let device = place.device.take()?;
        (place.valid_to, place.in_flight, place.read_errors) = (0, 0, 0);
        place.bad = RangeSet::default();
        (place.excused, place.beyond_repair) = (false, false);
        place.dies.clear();
        self.deadlines.set(column, Nanos::MAX);
        self.degraded = true;
        Some(device)
    }

    /// Puts a device that has nothing yet into a column.
    pub(crate) fn install(&mut self, column: usize, device: D) {
        self.deadlines.set(column, device.next_deadline().unwrap_or(Nanos::MAX));
        self.columns[column] = Column { valid_to: 0, ..Column::new(device) };
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
        let new = Column { valid_to: 0, ..Column::new(device) };
        let mut home = std::mem::replace(&mut self.columns[column], new);
        home.excused = true;
        self.donors[column] = Some(Donor {
            home,
            known: RangeSet::default(),
            asked: BTreeSet::new(),
            answered: BTreeSet::new(),
        });
        self.deadlines.set(members + column, self.deadlines.get(column));
        let deadline = self.columns[column].device.as_ref().and_then(Device::next_deadline);
        self.deadlines.set(column, deadline.unwrap_or(Nanos::MAX));
        self.degraded = true;
    }

    /// Takes the donor of a column out, if there is one; [`Members::close_donors`] follows once its commands are forgotten.
    pub(crate) fn remove_donor(&mut self, column: usize) -> bool {
        let Some(donor) = self.donors.get_mut(column).and_then(Option::take) else { return false };
        self.deadlines.set(self.donor_number(column), Nanos::MAX);
        self.removed.extend(donor.home.device.map(|device| (column, device)));
        true
    }

    /// Where the last donor has left, there is no place for any.
    pub(crate) fn close_donors(&mut self) {
        if !self.donors.is_empty() && self.donors.iter().all(Option::is_none) {
            self.donors.clear();
            self.resize_deadlines(self.columns.len());
        }
    }

    fn resize_deadlines(&mut self, count: usize) {
        let mut resized = Deadlines::new(count);
        for number in 0..count.min(self.deadlines.len()) {
            resized.set(number, self.deadlines.get(number));
        }
        self.deadlines = resized;
    }

    /// Checks every device, and what is kept about them.
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
        let whole = self.columns.iter().all(|column| column.is_in_sync() && column.bad.is_empty());
        if !whole && !self.degraded {
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
