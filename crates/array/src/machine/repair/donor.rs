//! Rebuild Assist: a member that is being replaced stays as a donor, and serves the reads that it still can.
//!
//! The column's device is then the new one. Groups at and beyond its `valid_to` are read from the donor, and writes of the host there
//! go to both, so that the donor stays current for all that the new member lacks. Sectors that the donor has lost, or cannot write, count as bad.

use super::super::Array;
use crate::error::ArrayEventKind;
use crate::layout::RowRange;
use crate::op::MemberCommand;
use outlast_decisions::RepairWay;
use outlast_device::Device;
use outlast_units::Nanos;

impl<D: Device> Array<D> {
    /// Puts a spare into the column of a member, which stays as its donor. Commands under way follow the donor.
    pub(super) fn begin_assist(&mut self, now: Nanos, column: usize) {
        let Some(spare) = self.members.spares_mut().pop_front() else { return };
        self.members.install_beside(column, spare);
        let donor = self.members.donor_number(column) as u8;
        let theirs = |sub: &&mut MemberCommand| sub.live && usize::from(sub.column) == column;
        for sub in self.flight.member_commands.slots_mut().iter_mut().filter(theirs) {
            sub.column = donor;
        }
        self.history.record_event(now, ArrayEventKind::RebuildStarted { member: column });
        self.start_rebuild();
    }

    /// Removes the donor of a column, if there is one.
    pub(in crate::machine) fn drop_donor(&mut self, now: Nanos, column: usize) {
        if self.members.remove_donor(column) {
            self.abandon_commands(now, self.members.donor_number(column));
            self.members.close_donors();
        }
    }

    /// Forgets the answers of a donor, so that it is queried again.
    pub(super) fn ask_donor_again(&mut self, column: usize) {
        if let Some(donor) = self.members.donor_mut(column) {
            donor.forget_answers();
        }
    }

    /// True if all donors have answered which sectors of `group` they have lost; queries them otherwise, and some ranges ahead.
    pub(in crate::machine) fn have_donors_answered(&mut self, now: Nanos, group: u64) -> bool {
        if self.members.donor_columns().is_empty() {
            return true;
        }
        let mut have_answered = true;
        for column in 0..self.members.len() {
            let (Some(role), Some(_)) =
                (self.layout.role_on(group, column, false), self.members.donor(column))
            else {
                continue;
            };
            let Some(repair) = self.repairs.on(column).filter(|repair| repair.way == RepairWay::Assist)
            else {
                continue;
            };
            // Ranges of the chunk, and as many more as there may be queries, so that answers are there in time.
            let (id, under_way) = (repair.id, repair.unanswered());
            let first = self.layout.locate(group, role, false).1;
            let (first, last) = (self.range_of(first), self.range_of(first + self.layout.chunk - 1));
            let ranges = self.ranges();
            let ahead = u32::from(self.setup.config.repair.queries) - 1;
            let index = self.members.donor_number(column);
            let Some(donor) = self.members.donor_mut(column) else { continue };
            have_answered &= (first..=last).all(|range| donor.answered.contains(&range));
            // The limit of queries holds for all ranges together.
            let room = usize::from(ahead as u16 + 1).saturating_sub(under_way);
            let ranges_to_query: Vec<u32> = (first..=(last + ahead).min(ranges - 1))
                .filter(|range| !donor.queried.contains(range))
                .take(room)
                .collect();
            donor.queried.extend(&ranges_to_query);
            for range in ranges_to_query {
                self.query_range(now, id, index, range);
            }
        }
        have_answered
    }

    /// The first part of `rows` that each donor has either completely or not at all, so that rows that donors have are copied, and no more
    /// is computed than necessary.
    pub(in crate::machine) fn even_rows(&self, group: u64, rows: RowRange) -> RowRange {
        let mut end = rows.end;
        for column in self.members.donor_columns().filter(|&column| group >= self.members[column].valid_to) {
            let Some(donor) = self.members.donor(column) else { continue };
            let Some(role) = self.layout.role_on(group, column, false) else { continue };
            let base = self.layout.locate(group, role, false).1;
            let first = base + u64::from(rows.first);
            // Up to the next row at which the donor's state changes.
            for edge in [donor.lost.next_edge(first), donor.home.bad.next_edge(first)].into_iter().flatten() {
                end = end.min((edge - base).min(u64::from(end)) as u32);
            }
        }
        RowRange::new(rows.first, end)
    }

    /// Forgets the lost sectors that donors have listed in `rows`, since answers may be out of date, so that a read decides before the
    /// rows are given up. Returns true if there were any.
    pub(in crate::machine) fn distrust_donors(&mut self, group: u64, rows: RowRange) -> bool {
        let mut any = false;
        for column in self.members.donor_columns() {
            let Some(role) = self.layout.role_on(group, column, false) else { continue };
            let base = self.layout.locate(group, role, false).1;
            let sectors = base + u64::from(rows.first)..base + u64::from(rows.end);
            if let Some(donor) = self.members.donor_mut(column)
                && donor.lost.overlaps(&sectors)
            {
                donor.lost.remove(sectors);
                any = true;
            }
        }
        any
    }

    /// Notes a write to a donor that has ended; sectors that it could not write count as bad.
    pub(in crate::machine) fn donor_written(
        &mut self,
        column: usize,
        sectors: std::ops::Range<u64>,
        done: bool,
    ) {
        let Some(donor) = self.members.donor_mut(column) else { return };
        if done {
            donor.lost.remove(sectors.clone());
            donor.home.bad.remove(sectors);
        } else {
            donor.home.bad.insert(sectors);
        }
    }
}
