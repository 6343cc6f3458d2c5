//! Rebuild Assist: a member that is being replaced stays, and gives what it still can.
//!
//! The column's device is then the new one. Groups at and beyond its `valid_to` are read from the donor, and writes of the host there
//! go to both, so that the donor has whatever the new member lacks. What the donor has lost, or refuses to take, counts as bad sectors.

use crate::array::{Array, Column};
use crate::config::RepairWay;
use crate::error::EventKind;
use crate::layout::Rows;
use crate::op::Sub;
use crate::ranges::RangeSet;
use outlast_device::Device;
use outlast_units::Nanos;
use std::collections::BTreeSet;

/// A member that is being replaced.
#[derive(Clone, Debug)]
pub(crate) struct Donor<D> {
    pub(crate) home: Column<D>,
    /// Sectors that it said it has lost.
    pub(super) known: RangeSet,
    /// Ranges that it was asked about, and that it has answered for.
    asked: BTreeSet<u32>,
    pub(super) answered: BTreeSet<u32>,
}

impl<D: Device> Array<D> {
    pub(crate) fn donor(&self, column: usize) -> Option<&Donor<D>> {
        self.donors.get(column)?.as_ref()
    }

    pub(crate) fn donor_mut(&mut self, column: usize) -> Option<&mut Donor<D>> {
        self.donors.get_mut(column)?.as_mut()
    }

    /// The column, or that many columns further its donor.
    #[inline]
    pub(crate) fn column_mut(&mut self, index: usize) -> Option<&mut Column<D>> {
        let members = self.columns.len();
        if index < members {
            return Some(&mut self.columns[index]);
        }
        Some(&mut self.donors.get_mut(index - members)?.as_mut()?.home)
    }

    /// The device at such an index.
    #[inline]
    pub(crate) fn device_mut(&mut self, index: usize) -> Option<&mut D> {
        self.column_mut(index)?.device.as_mut()
    }

    /// Where to read what column `column` has of `group`: from its device, or from its donor.
    #[inline]
    pub(crate) fn source(&self, column: usize, group: u64) -> usize {
        if self.donors.is_empty() || group < self.columns[column].valid_to || self.donor(column).is_none() {
            return column;
        }
        column + self.columns.len()
    }

    /// Whether the donor of a column, where there is one, cannot give sectors; `None` without one.
    pub(crate) fn donor_lacks(&self, column: usize, sectors: &std::ops::Range<u64>) -> Option<bool> {
        let donor = self.donor(column)?;
        Some(donor.known.overlaps(sectors) || donor.home.bad.overlaps(sectors))
    }

    /// A spare takes the place of a member, which stays as its donor.
    pub(super) fn begin_assist(&mut self, now: Nanos, column: usize) {
        let Some(spare) = self.spares.pop_front() else { return };
        let members = self.columns.len();
        if self.donors.is_empty() {
            self.donors.resize_with(members, || None);
            self.deadlines.resize(2 * members, Nanos::MAX);
        }
        let deadline = spare.next_deadline().unwrap_or(Nanos::MAX);
        let new = Column { valid_to: 0, ..Column::new(spare) };
        let mut home = std::mem::replace(&mut self.columns[column], new);
        home.excused = true;
        self.donors[column] = Some(Donor {
            home,
            known: RangeSet::default(),
            asked: BTreeSet::new(),
            answered: BTreeSet::new(),
        });
        self.deadlines[members + column] = std::mem::replace(&mut self.deadlines[column], deadline);
        let theirs = |sub: &&mut Sub| sub.live && usize::from(sub.column) == column;
        for sub in self.subs.slots_mut().iter_mut().filter(theirs) {
            sub.column = (members + column) as u8;
        }
        self.degraded = true;
        self.event(now, EventKind::RebuildStarted { member: column });
        self.start_rebuild();
    }

    /// The donor of a column leaves, if there is one.
    pub(crate) fn drop_donor(&mut self, now: Nanos, column: usize) {
        let Some(donor) = self.donors.get_mut(column).and_then(Option::take) else { return };
        let index = self.columns.len() + column;
        self.deadlines[index] = Nanos::MAX;
        self.removed.extend(donor.home.device.map(|device| (column, device)));
        self.abandon_commands(now, index);
        if self.donors.iter().all(Option::is_none) {
            self.donors.clear();
            self.deadlines.truncate(self.columns.len());
        }
    }

    /// What the donor said no longer holds.
    pub(super) fn ask_donor_again(&mut self, column: usize) {
        if let Some(donor) = self.donor_mut(column) {
            (donor.asked, donor.answered) = (BTreeSet::new(), BTreeSet::new());
            donor.known = RangeSet::default();
        }
    }

    /// Whether donors have said what they lack of `group`; asks them where they have not.
    pub(crate) fn donors_told(&mut self, now: Nanos, group: u64) -> bool {
        if self.donors.is_empty() {
            return true;
        }
        let mut told = true;
        for column in 0..self.columns.len() {
            let (Some(role), Some(_)) = (self.layout.role_on(group, column, false), self.donor(column))
            else {
                continue;
            };
            let Some(repair) = self.repairs.on(column).filter(|repair| repair.way == RepairWay::Assist)
            else {
                continue;
            };
            let (id, under_way) = (repair.id, repair.asked.len());
            let first = self.layout.locate(group, role, false).1;
            let (first, last) = (self.range_of(first), self.range_of(first + self.layout.chunk - 1));
            let ranges = self.ranges();
            let ahead = u32::from(self.config.repair.queries) - 1;
            let index = self.columns.len() + column;
            let Some(donor) = self.donor_mut(column) else { continue };
            told &= (first..=last).all(|range| donor.answered.contains(&range));
            let room = usize::from(ahead as u16 + 1).saturating_sub(under_way);
            let wanted: Vec<u32> = (first..=(last + ahead).min(ranges - 1))
                .filter(|range| !donor.asked.contains(range))
                .take(room)
                .collect();
            donor.asked.extend(&wanted);
            for range in wanted {
                self.ask(now, id, index, range);
            }
        }
        told
    }

    /// Of `rows` of a group, the first that donors have all of, or nothing of: so that what they have is copied, and no more is computed
    /// than must be.
    pub(crate) fn even_rows(&self, group: u64, rows: Rows) -> Rows {
        let mut end = rows.end;
        for column in (0..self.donors.len()).filter(|&column| group >= self.columns[column].valid_to) {
            let Some(donor) = self.donor(column) else { continue };
            let Some(role) = self.layout.role_on(group, column, false) else { continue };
            let base = self.layout.locate(group, role, false).1;
            let first = base + u64::from(rows.first);
            for edge in [donor.known.next_edge(first), donor.home.bad.next_edge(first)].into_iter().flatten()
            {
                end = end.min((edge - base).min(u64::from(end)) as u32);
            }
        }
        Rows::new(rows.first, end)
    }

    /// Before rows are given up: what donors said may be old, so it is forgotten there, and reading tells. Returns whether anything was.
    pub(crate) fn doubt_donors(&mut self, group: u64, rows: Rows) -> bool {
        let mut any = false;
        for column in 0..self.donors.len() {
            let Some(role) = self.layout.role_on(group, column, false) else { continue };
            let base = self.layout.locate(group, role, false).1;
            let sectors = base + u64::from(rows.first)..base + u64::from(rows.end);
            if let Some(donor) = self.donor_mut(column)
                && donor.known.overlaps(&sectors)
            {
                donor.known.remove(sectors);
                any = true;
            }
        }
        any
    }

    /// A write to a donor has ended: what it does not take it lacks.
    pub(crate) fn donor_written(&mut self, column: usize, sectors: std::ops::Range<u64>, done: bool) {
        let Some(donor) = self.donor_mut(column) else { return };
        if done {
            donor.known.remove(sectors.clone());
            donor.home.bad.remove(sectors);
        } else {
            donor.home.bad.insert(sectors);
        }
    }
}
