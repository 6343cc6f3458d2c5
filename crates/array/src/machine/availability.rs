//! Roles of groups that can be read and written, from where groups lie and what members have.

use crate::ids::{ColumnIndex, GroupIndex};
use crate::layout::{GroupLayout, GroupMap, RowRange, to_row};
use crate::members::ArrayMembers;
use crate::op::GroupOp;
use crate::roles::roles;
use outlast_device::Device;
use outlast_units::to_count;

/// Where groups lie, and what the members there have: answers and changes nothing.
pub(super) struct RoleAvailability<'a, D> {
    pub(super) layout: &'a GroupLayout,
    pub(super) members: &'a ArrayMembers<D>,
}

impl<D: Device> RoleAvailability<'_, D> {
    /// Roles of `group` that cannot be read in `rows`, as two sets: *hard*, whose member is absent or not yet filled; *soft*, with bad
    /// sectors there.
    #[inline]
    pub(super) fn unreadable_roles(&self, group: GroupIndex, rows: RowRange) -> (u64, u64) {
        // The common case, kept small enough to be inlined.
        if !self.members.is_degraded() {
            return (0, 0);
        }
        self.find_unreadable_roles(group, rows)
    }

    pub(super) fn find_unreadable_roles(&self, group: GroupIndex, rows: RowRange) -> (u64, u64) {
        let (mut hard, mut soft) = (0, 0);
        for role in 0..self.layout.roles {
            let (column, base) = self.layout.locate(group, role, false);
            let member = &self.members[column];
            let first = base + u64::from(rows.first);
            let sectors = first..first + u64::from(rows.len());
            if !member.has(group) {
                match self.members.donor_lacks(column, &sectors) {
                    None => hard |= 1 << role,
                    Some(lacks) => soft |= u64::from(lacks) << role,
                }
            } else if !member.bad.is_empty() {
                soft |= u64::from(member.bad.overlaps(&sectors)) << role;
            }
        }
        (hard, soft)
    }

    /// True if enough other roles can be read to compute `rows` of `role`.
    pub(super) fn can_do_without(&self, group: GroupIndex, role: usize, rows: RowRange) -> bool {
        let (hard, soft) = self.unreadable_roles(group, rows);
        let others = self.layout.role_set & !(hard | soft) & !(1 << role);
        others.count_ones() as usize >= self.layout.data
    }

    /// Roles of `group` whose column has no device to write to; `target`: in the placement that the shift moves to.
    #[inline]
    pub(super) fn absent_roles(&self, group: GroupIndex, target: bool) -> u64 {
        if !self.members.is_degraded() {
            return 0;
        }
        let is_absent =
            |&role: &usize| self.members[self.layout.locate(group, role, target).0].device.is_none();
        (0..self.layout.roles).filter(is_absent).fold(0, |set, role| set | 1 << role)
    }

    /// True if so many members lack `group` that data of it is lost.
    pub(super) fn is_beyond_repair(&self, group: GroupIndex) -> bool {
        let (hard, _) = self.unreadable_roles(group, RowRange::new(0, 1));
        (self.layout.role_set & !hard).count_ones() < to_count(self.layout.data)
    }

    /// True if some group lacks more chunks than redundancy makes good, counting members that are being rebuilt as missing, unless they
    /// are filled from a donor, and also column `extra`.
    pub(super) fn is_missing_too_many(&self, extra: Option<ColumnIndex>) -> bool {
        let missing = |column: ColumnIndex| {
            !self.members[column].is_in_sync() && self.members.donor(column).is_none()
                || extra == Some(column)
        };
        let redundancy = self.layout.roles - self.layout.data;
        match &self.layout.map {
            GroupMap::Striped(_) => {
                self.members.indices().filter(|&column| missing(column)).count() > redundancy
            }
            // The pattern of copies repeats after `columns` groups, or fewer.
            GroupMap::Copies { columns, .. } => {
                (0..self.layout.groups.min(*columns)).map(GroupIndex).any(|group| {
                    (0..self.layout.roles).all(|role| missing(self.layout.locate(group, role, false).0))
                })
            }
        }
    }

    /// True if a rebuild saves data. With too many members missing it would only write zeroes, unless every column has a device again.
    pub(super) fn can_rebuild(&self) -> bool {
        !self.is_missing_too_many(None) || self.members.iter().all(|column| column.device.is_some())
    }

    /// True if data of `group` has to be computed from parity, so that wrong parity makes it wrong. Mirrors have no parity.
    pub(super) fn depends_on_parity(&self, group: GroupIndex) -> bool {
        let (hard, _) = self.unreadable_roles(group, self.layout.whole_chunk());
        self.layout.data > 1 && hard & self.layout.data_set != 0
    }

    /// True if the data of a host's write can be read back: each chunk from its member, or all computed from enough others. Members
    /// that are to be removed after the current event do not count.
    #[inline]
    pub(super) fn is_kept(&self, op: &GroupOp) -> bool {
        // The common case, kept small enough to be inlined.
        !self.members.is_degraded() && !self.members.is_any_leaving() || self.is_kept_beside_missing(op)
    }

    fn is_kept_beside_missing(&self, op: &GroupOp) -> bool {
        let lacks = |&role: &usize| {
            let (column, base) = self.layout.locate(op.group, role, op.moves);
            let (member, first) = (&self.members[column], base + u64::from(op.rows.first));
            let sectors = first..first + u64::from(op.rows.len());
            let lacks = if member.has(op.group) {
                member.bad.overlaps(&sectors)
            } else {
                self.members.donor_lacks(column, &sectors).unwrap_or(true)
            };
            lacks || self.members.is_leaving(column)
        };
        let lacking = (0..self.layout.roles).filter(lacks).fold(0u64, |set, role| set | 1 << role);
        lacking & op.roles == 0 || (lacking.count_ones() as usize) <= self.layout.roles - self.layout.data
    }

    /// The first part of `rows` that each donor has either completely or not at all, so that rows that donors have are copied, and no more
    /// is computed than necessary.
    pub(super) fn even_rows(&self, group: GroupIndex, rows: RowRange) -> RowRange {
        let mut end = rows.end;
        for column in self.members.donor_columns().filter(|&column| !self.members[column].has(group)) {
            let Some(donor) = self.members.donor(column) else { continue };
            let Some(role) = self.layout.role_on(group, column, false) else { continue };
            let base = self.layout.locate(group, role, false).1;
            let first = base + u64::from(rows.first);
            // Up to the next row at which the donor's state changes.
            for edge in [donor.lost.next_edge(first), donor.home.bad.next_edge(first)].into_iter().flatten() {
                end = to_row((edge - base).min(u64::from(end)));
            }
        }
        RowRange::new(rows.first, end)
    }

    pub(super) fn missing_members(&self) -> u32 {
        to_count(self.members.iter().filter(|column| !column.is_in_sync()).count())
    }

    /// The role to read of a mirror: the copy on the least busy member. While copies may differ after a loss of power always the first, as in
    /// md, so that repeated reads return the same data.
    pub(super) fn choose_copy(&self, group: GroupIndex, rows: RowRange, is_in_doubt: bool) -> usize {
        if self.layout.roles == 1 {
            return 0;
        }
        let (hard, soft) =
            if self.members.is_degraded() { self.unreadable_roles(group, rows) } else { (0, 0) };
        let readable = self.layout.role_set & !(hard | soft);
        let busy = |role: &usize| self.members[self.layout.locate(group, *role, false).0].in_flight;
        let best = if is_in_doubt { roles(readable).next() } else { roles(readable).min_by_key(busy) };
        best.unwrap_or(0)
    }
}
