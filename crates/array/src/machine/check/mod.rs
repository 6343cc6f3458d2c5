//! Checks of restored state: indices from one part of the array to another are valid, and counts match.
//!
//! Parts that can be judged alone check themselves as they are read ([`RowLocks`](crate::locks::Locks), [`ParityPlacement`](crate::placement::Placement), and
//! others); these checks compare parts with each other, and with the settings. [`Device::self_check`] has the rest.

mod doubt;
mod flight;
mod members;
mod work;

use super::Array;
use crate::ids::GroupIndex;
use crate::layout::{GroupLayout, GroupMap, RowRange, lay_out};
use crate::ranges::RangeSet;
use outlast_device::Device;
use outlast_units::SECTOR_BYTES;
use std::ops::Deref;

/// Bound of anything that is counted over a life, so that sums of restored counts cannot overflow.
const MOST: u64 = 1 << 60;

/// Outcome of a check; the error names the part of the state that is wrong.
type ArrayCheck = Result<(), String>;

/// Fails with the message of `why` unless `holds`.
fn must(holds: bool, why: impl FnOnce() -> String) -> ArrayCheck {
    if holds { Ok(()) } else { Err(why()) }
}

impl<D: Device> Array<D> {
    /// Checks restored state against the settings and against itself.
    pub(super) fn check_restored(&self) -> Result<(), String> {
        RestoredArray(self).check_parts()?;
        self.self_check()
    }
}

/// An array whose state has just been read; checks look at all of it and change nothing.
struct RestoredArray<'a, D: Device>(&'a Array<D>);

impl<D: Device> Deref for RestoredArray<'_, D> {
    type Target = Array<D>;

    fn deref(&self) -> &Array<D> {
        self.0
    }
}

impl<D: Device> RestoredArray<'_, D> {
    fn check_parts(&self) -> ArrayCheck {
        self.check_layout()?;
        self.check_members()?;
        self.check_flight()?;
        self.check_doubt()?;
        self.check_passes()?;
        self.check_repairs()?;
        self.check_history()
    }

    /// Everything but the tables of a placement follows from the settings.
    fn check_layout(&self) -> ArrayCheck {
        let (config, restored) = (&self.setup.config, &self.layout);
        let chunk = config.chunk.0 / SECTOR_BYTES;
        let expected = lay_out(config, self.setup.shares.as_ref(), chunk, self.setup.member_sectors);
        let sizes = |layout: &GroupLayout| (layout.chunk, layout.data, layout.roles, layout.groups);
        let sets = |layout: &GroupLayout| (layout.data_set, layout.role_set);
        must(sizes(restored) == sizes(&expected) && sets(restored) == sets(&expected), || {
            format!(
                "an array of {} groups of {} chunks is not as its settings say",
                restored.groups, restored.roles
            )
        })?;
        match (&restored.map, &expected.map) {
            (GroupMap::Striped(restored), GroupMap::Striped(expected)) => {
                // With parity shares, the table depends on the history of replacements; only its shape is fixed.
                let is_like = restored.now.is_like(&expected.now)
                    && (self.setup.shares.is_some() || restored.now == expected.now);
                must(is_like, || "a placement is not as the settings say".to_owned())?;
                let Some(shift) = &restored.shift else { return Ok(()) };
                must(self.setup.shares.is_some() && shift.target.is_like(&restored.now), || {
                    "parity moves to a placement of another array".to_owned()
                })?;
                shift.check(self.layout.groups)
            }
            (
                &GroupMap::Copies { layout, columns, copies, far_rows },
                &GroupMap::Copies {
                    layout: expected,
                    columns: expected_columns,
                    copies: expected_copies,
                    far_rows: expected_rows,
                },
            ) => must(
                (layout, columns, copies, far_rows)
                    == (expected, expected_columns, expected_copies, expected_rows),
                || format!("{copies} copies on {columns} members are not as the settings say"),
            ),
            _ => Err("stripes stand for copies".to_owned()),
        }
    }

    fn check_history(&self) -> ArrayCheck {
        let (lost, capacity) = (self.history.lost().end(), self.setup.capacity);
        must(lost <= capacity, || format!("sector {lost} is lost of an array of {capacity}"))?;
        let most = self.history.counters.largest();
        must(most < MOST, || format!("something was counted {most} times"))
    }

    /// Checks that the group and its rows exist.
    fn check_group_rows(&self, group: GroupIndex, rows: RowRange) -> ArrayCheck {
        must(group.0 < self.layout.groups, || format!("group {group} of {}", self.layout.groups))?;
        Self::check_rows(rows, self.layout.whole_chunk())
    }

    fn check_rows(rows: RowRange, within: RowRange) -> ArrayCheck {
        let fits = within.first <= rows.first && rows.first < rows.end && rows.end <= within.end;
        must(fits, || format!("rows {} to {} of {} to {}", rows.first, rows.end, within.first, within.end))
    }

    /// Checks that `set` holds no roles beyond those of a group.
    fn check_roles(&self, set: u64) -> ArrayCheck {
        must(set & !self.layout.role_set == 0, || format!("roles {set:#x} of {}", self.layout.roles))
    }

    /// Checks that a set of sectors lies within a member.
    fn check_sectors(&self, set: &RangeSet) -> ArrayCheck {
        let (end, all) = (set.end(), self.setup.member_bytes().0 / SECTOR_BYTES);
        must(end <= all, || format!("sector {end} of a member that has {all}"))
    }
}
