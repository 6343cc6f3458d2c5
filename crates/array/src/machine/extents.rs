//! Extents of the array, derived from those of its members, without taking time.

use super::Array;
use crate::ids::GroupIndex;
use crate::layout::{RowRange, to_row};
use crate::ranges::RangeSet;
use outlast_device::{Device, Extent, ExtentState, Extents};
use outlast_units::Lba;

/// The extents of a member within its chunk of a group.
struct MemberExtents<'a> {
    /// Sector of the member in which the chunk begins.
    base: u64,
    /// Absent if there is no member, or it is not yet rebuilt up to this group.
    runs: Option<Vec<Extent>>,
    /// Its sectors that the array knows to be bad.
    bad: [Option<&'a RangeSet>; 2],
}

impl MemberExtents<'_> {
    /// State of row `row` on the member, `None` if it cannot be read; and the first row after it whose state may differ.
    fn at(&self, row: u64) -> (Option<ExtentState>, u64) {
        let sector = self.base + row;
        let Some(runs) = &self.runs else { return (None, u64::MAX) };
        let run = runs.partition_point(|run| run.lba.0 + run.sectors <= sector);
        let Some(run) = runs.get(run) else { return (None, u64::MAX) };
        let (mut state, mut end) = (Some(run.state).filter(|state| !state.lost), run.lba.0 + run.sectors);
        for bad in self.bad.into_iter().flatten() {
            if bad.overlaps(&(sector..sector + 1)) {
                state = None;
            }
            end = end.min(bad.next_edge(sector).unwrap_or(u64::MAX));
        }
        (state, end - self.base)
    }
}

impl<D: Device> Array<D> {
    pub(super) fn extents_of(&self, lba: Lba, sectors: u64) -> Vec<Extent> {
        let end = lba.0.saturating_add(sectors).min(self.setup.capacity);
        let mut extents = Extents::default();
        if lba.0 < end {
            for piece in self.layout.pieces(lba.0, end - lba.0, false) {
                self.add_chunk_extents(piece.group, usize::from(piece.first_role), piece.rows, &mut extents);
            }
        }
        extents.into_vec()
    }

    fn add_chunk_extents(&self, group: GroupIndex, role: usize, rows: RowRange, extents: &mut Extents) {
        let home = self.extents_on_member(group, role, rows);
        // Fetched only if the own member cannot give some row.
        let mut others: Option<Vec<MemberExtents<'_>>> = None;
        let (mut row, end) = (u64::from(rows.first), u64::from(rows.end));
        while row < end {
            let sector = self.layout.logical(group, role, to_row(row));
            let (home_state, mut next) = home.at(row);
            // Each step ends where any of the states may change.
            let lost_edge =
                self.history.lost().next_edge(sector).map_or(u64::MAX, |edge| row + (edge - sector));
            next = next.min(end).min(lost_edge);
            let state = if self.history.lost().overlaps(&(sector..sector + 1)) {
                ExtentState { lost: true, ..ExtentState::GOOD }
            } else if let Some(state) = home_state.filter(|_| self.layout.data > 1 || self.layout.roles == 1)
            {
                state
            } else {
                let all = (0..self.layout.roles).filter(|&other| other != role);
                let others = others.get_or_insert_with(|| {
                    all.map(|other| self.extents_on_member(group, other, rows)).collect()
                });
                let mut states = vec![home_state];
                for other in others.iter() {
                    let (state, until) = other.at(row);
                    next = next.min(until);
                    states.push(state);
                }
                combine_states(self.layout.data, &states)
            };
            extents.push(Lba(sector), next - row, state);
            row = next;
        }
    }

    /// The extents of `rows` on the device that holds role `role` of `group`: the member, or its donor.
    fn extents_on_member(&self, group: GroupIndex, role: usize, rows: RowRange) -> MemberExtents<'_> {
        let (column, base) = self.layout.locate(group, role, false);
        let place = &self.members[column];
        let donor = self.members.donor(column).filter(|_| !place.has(group));
        let (home, bad) = match donor {
            Some(donor) => (Some(&donor.home), [Some(&donor.lost), Some(&donor.home.bad)]),
            None => (Some(place).filter(|place| place.has(group)), [Some(&place.bad), None]),
        };
        let device = home.and_then(|home| home.device.as_ref());
        let ask = |device: &D| device.extents(Lba(base + u64::from(rows.first)), u64::from(rows.len()));
        MemberExtents { base, runs: device.map(ask), bad }
    }
}

/// The state of data of a group of `data` data roles, from the `states` of its rows on the members of its group, its own member first.
fn combine_states(data: usize, states: &[Option<ExtentState>]) -> ExtentState {
    let readable = || states.iter().flatten();
    // Too few chunks to compute the row from.
    if readable().count() < data {
        return ExtentState { lost: true, ..ExtentState::GOOD };
    }
    let whole = readable().count() == states.len() && !readable().any(|state| state.misplaced);
    ExtentState {
        allocated: readable().any(|state| state.allocated),
        lost: false,
        // Data that has to be computed counts as misplaced, as does a mirror with a copy missing.
        misplaced: !(data == 1 && whole),
        volatile: readable().any(|state| state.volatile),
    }
}
