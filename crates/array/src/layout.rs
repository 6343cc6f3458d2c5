//! Arithmetic of addresses: from the array's sectors to groups, roles and rows, and on to members and their sectors.
//!
//! A *group* is what redundancy is computed over: a stripe of an array with parity, one chunk and its copies of an array of
//! mirrors. A *role* is a chunk's part in its group: data roles first, then parity (or further copies). A *row* is a sector
//! within a chunk.

mod groups;
mod pieces;
mod rows;
mod shift;

pub(crate) use rows::{GroupPiece, RowRange, to_row};
pub(crate) use shift::ParityShift;

use crate::ids::{ColumnIndex, GroupIndex, column_number};
use crate::placement::ParityPlacement;
use crate::roles::first_roles;
use groups::place_of_copy;
use outlast_media::ConfigError;
use outlast_settings::array::{ArrayConfig, CopyLayout, Level, ParityLayout, Shares};
use outlast_units::{Bytes, SECTOR_BYTES, to_length};
use pieces::GroupPieces;

/// How groups lie on the columns.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub(crate) enum GroupMap {
    /// One chunk on every column.
    Striped(StripedMap),
    /// RAID-10.
    Copies { layout: CopyLayout, columns: u64, copies: u64, far_rows: u64 },
}

/// A placement, and the shift to another one if that is in progress.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub(crate) struct StripedMap {
    pub(crate) now: ParityPlacement,
    pub(crate) shift: Option<ParityShift>,
}

/// Sizes and places of one array.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub(crate) struct GroupLayout {
    pub(crate) map: GroupMap,
    /// Sectors of a chunk.
    pub(crate) chunk: u64,
    /// Data roles of a group.
    pub(crate) data: usize,
    /// Roles of a group.
    pub(crate) roles: usize,
    pub(crate) groups: u64,
    /// Data roles, and all roles of a group, as sets.
    pub(crate) data_set: u64,
    pub(crate) role_set: u64,
}

/// The place of a group, from which the columns of all its roles follow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GroupPlace {
    group: GroupIndex,
    /// Where the columns of the group's roles begin in the table of a placement.
    first: usize,
    /// True if it follows the shift's target.
    moved: bool,
}

impl GroupLayout {
    /// Stripes over columns of `member_sectors` usable sectors each.
    pub(crate) fn striped(placement: ParityPlacement, chunk: u64, member_sectors: u64) -> Self {
        Self {
            chunk,
            data: placement.data(),
            roles: placement.columns(),
            groups: member_sectors / chunk,
            data_set: first_roles(placement.data()),
            role_set: first_roles(placement.columns()),
            map: GroupMap::Striped(StripedMap { now: placement, shift: None }),
        }
    }

    /// RAID-10 over `columns` columns of `member_sectors` usable sectors each.
    pub(crate) fn copies(
        layout: CopyLayout,
        columns: u64,
        copies: u64,
        chunk: u64,
        member_sectors: u64,
    ) -> Self {
        let rows = member_sectors / chunk;
        let far_rows = rows / copies;
        let groups = match layout {
            // Copies of a group lie side by side, and may wrap to the next row.
            CopyLayout::Near => rows * columns / copies,
            CopyLayout::Far | CopyLayout::Offset => far_rows * columns,
        };
        let map = GroupMap::Copies { layout, columns, copies, far_rows };
        let role_set = first_roles(to_length(copies));
        Self { map, chunk, data: 1, roles: to_length(copies), groups, data_set: 1, role_set }
    }

    /// Sectors that the array offers.
    pub(crate) fn capacity(&self) -> u64 {
        self.groups * self.data as u64 * self.chunk
    }

    /// Column of a role, and the first of its sectors there; `target`: in the placement that the shift in progress moves to.
    #[inline]
    pub(crate) fn locate(&self, group: GroupIndex, role: usize, target: bool) -> (ColumnIndex, u64) {
        self.column(self.place(group, target), role)
    }

    /// The place of a group, of which the columns of all its roles follow; `target`: in the placement that the shift in progress moves to.
    #[inline]
    pub(crate) fn place(&self, group: GroupIndex, target: bool) -> GroupPlace {
        debug_assert!(group.0 < self.groups, "a group of the array");
        match &self.map {
            GroupMap::Striped(striped) => {
                let moved = striped.shift.as_ref().is_some_and(|shift| target || shift.is_moved(group));
                GroupPlace { group, first: striped.now.first_entry(group.0), moved }
            }
            GroupMap::Copies { .. } => GroupPlace { group, first: 0, moved: false },
        }
    }

    /// Column of a role of the group at `place`, and the first of its sectors there.
    #[inline]
    pub(crate) fn column(&self, place: GroupPlace, role: usize) -> (ColumnIndex, u64) {
        match &self.map {
            GroupMap::Striped(striped) if !place.moved => {
                (ColumnIndex(striped.now.column_at(place.first + role)), place.group.0 * self.chunk)
            }
            _ => self.other_column(place.group, place.first, role),
        }
    }

    /// As [`GroupLayout::column`], for a group that has moved, and for copies; `first`: where the columns of its roles begin.
    #[inline(never)]
    fn other_column(&self, group: GroupIndex, first: usize, role: usize) -> (ColumnIndex, u64) {
        match &self.map {
            GroupMap::Striped(striped) => {
                let placement = striped.shift.as_ref().map_or(&striped.now, |shift| &shift.target);
                (ColumnIndex(placement.column_at(first + role)), group.0 * self.chunk)
            }
            &GroupMap::Copies { layout, columns, copies, far_rows } => {
                let (column, row) = place_of_copy(layout, group.0, role as u64, (columns, copies, far_rows));
                (ColumnIndex(column_number(to_length(column))), row * self.chunk)
            }
        }
    }

    /// The role that column `column` plays in `group`, if any.
    pub(crate) fn role_on(&self, group: GroupIndex, column: ColumnIndex, target: bool) -> Option<usize> {
        (0..self.roles).find(|&role| self.locate(group, role, target).0 == column)
    }

    /// The group that sector `sector` of column `column` belongs to; `None` where no data lies. The inverse of [`GroupLayout::locate`].
    pub(crate) fn group_at(&self, column: ColumnIndex, sector: u64) -> Option<GroupIndex> {
        let (column, row) = (u64::from(column.0), sector / self.chunk);
        let group = match &self.map {
            GroupMap::Striped(_) => row,
            &GroupMap::Copies { layout: CopyLayout::Near, columns, copies, .. } => {
                (row * columns + column) / copies
            }
            &GroupMap::Copies { layout, columns, copies, far_rows } => {
                // The row tells which copy lies here, and the shift of that copy is undone.
                let far = layout == CopyLayout::Far;
                let (copy, row) =
                    if far { (row / far_rows, row % far_rows) } else { (row % copies, row / copies) };
                if copy >= copies {
                    return None;
                }
                // Plus `columns`, so that the difference is never negative.
                row * columns + (column + columns - copy % columns) % columns
            }
        };
        (group < self.groups).then_some(GroupIndex(group))
    }

    /// Sectors of a member that data and redundancy lie in.
    pub(crate) fn member_sectors(&self) -> u64 {
        let rows = match &self.map {
            GroupMap::Striped(_) => self.groups,
            &GroupMap::Copies { layout: CopyLayout::Near, columns, copies, .. } => {
                (self.groups * copies).div_ceil(columns)
            }
            &GroupMap::Copies { copies, far_rows, .. } => far_rows * copies,
        };
        rows * self.chunk
    }

    /// The shift in progress.
    pub(crate) fn shift(&self) -> Option<&ParityShift> {
        match &self.map {
            GroupMap::Striped(striped) => striped.shift.as_ref(),
            GroupMap::Copies { .. } => None,
        }
    }

    pub(crate) fn shift_mut(&mut self) -> Option<&mut ParityShift> {
        match &mut self.map {
            GroupMap::Striped(striped) => striped.shift.as_mut(),
            GroupMap::Copies { .. } => None,
        }
    }

    /// True if a shift in progress has yet to move `group`.
    #[inline]
    pub(crate) fn is_to_move(&self, group: GroupIndex) -> bool {
        self.shift().is_some_and(|shift| !shift.is_moved(group))
    }

    /// First sector of the array that lies in row `row` of a data role.
    pub(crate) fn logical(&self, group: GroupIndex, role: usize, row: u32) -> u64 {
        // All copies of a mirror hold the same data.
        let role = if self.data == 1 { 0 } else { role as u64 };
        (group.0 * self.data as u64 + role) * self.chunk + u64::from(row)
    }

    /// The chunk that a sector of the array lies in, as group and data role, and its row there.
    #[inline]
    pub(crate) fn chunk_of(&self, sector: u64) -> (GroupIndex, usize, u64) {
        let chunk = sector / self.chunk;
        let data = self.data as u64;
        (GroupIndex(chunk / data), to_length(chunk % data), sector - chunk * self.chunk)
    }

    /// Cuts sectors `first..first + sectors` of the array into rectangles, in rising order of group. `banded` joins chunks of one
    /// group over common rows; without it every chunk is a piece of its own.
    #[inline]
    pub(crate) fn pieces(&self, first: u64, sectors: u64, banded: bool) -> GroupPieces {
        GroupPieces::new(self.chunk, self.data as u64, first, sectors, banded)
    }
}

/// Capacity of an array over devices of which the smallest has `smallest`.
///
/// # Errors
/// A setting that cannot work, or not even one chunk fits into each.
pub fn capacity_over(config: &ArrayConfig, smallest: Bytes) -> Result<Bytes, ConfigError> {
    config.validate()?;
    let layout = lay_out_over(config, smallest)?;
    Ok(Bytes(layout.capacity() * SECTOR_BYTES))
}

/// Sectors of a member of `capacity` that hold data.
pub(crate) fn usable_sectors(config: &ArrayConfig, capacity: Bytes) -> u64 {
    (capacity.0 / SECTOR_BYTES).saturating_sub(config.reserved().0 / SECTOR_BYTES)
}

/// The map of an array over members of which the smallest has `smallest`.
pub(crate) fn lay_out_over(config: &ArrayConfig, smallest: Bytes) -> Result<GroupLayout, ConfigError> {
    let member_sectors = usable_sectors(config, smallest);
    let layout = lay_out(config, config.shares()?.as_ref(), config.chunk.0 / SECTOR_BYTES, member_sectors);
    if layout.groups == 0 {
        let limit =
            format!("must fit into the {} of the smallest member", Bytes(member_sectors * SECTOR_BYTES));
        return Err(ConfigError::new("array.chunk", config.chunk, limit));
    }
    Ok(layout)
}

/// The map of an array over members of `member_sectors` sectors.
pub(crate) fn lay_out(
    config: &ArrayConfig,
    shares: Option<&Shares>,
    chunk: u64,
    member_sectors: u64,
) -> GroupLayout {
    let (members, redundancy) = (usize::from(config.members), usize::from(config.redundancy()));
    let placement = match (shares, config.level) {
        (Some(shares), _) => ParityPlacement::from_shares(shares),
        (_, Level::Raid10) => {
            let copies = u64::from(config.copies);
            return GroupLayout::copies(config.copy_layout, members as u64, copies, chunk, member_sectors);
        }
        (_, Level::Raid5 | Level::Raid6 | Level::Code) => match &config.table {
            Some(table) => ParityPlacement::written_out(table, members - redundancy),
            None => ParityPlacement::named(config.layout, members - redundancy, redundancy),
        },
        (_, Level::Raid0 | Level::Raid1 | Level::Raid4) => {
            ParityPlacement::named(ParityLayout::ParityLast, members - redundancy, redundancy)
        }
    };
    GroupLayout::striped(placement, chunk, member_sectors)
}

#[cfg(test)]
mod tests;
