//! Arithmetic of addresses: from the array's sectors to groups, roles and rows, and on to members and their sectors.
//!
//! A *group* is what redundancy is computed over: a stripe of an array with parity, one chunk and its copies of an array of
//! mirrors. A *role* is a chunk's part in its group: data roles first, then parity (or further copies). A *row* is a sector
//! within a chunk.

use crate::config::{ArrayConfig, CopyLayout, Level};
use crate::placement::{ParityLayout, Placement, Shares, ShiftPlan};
use crate::roles::first_roles;
use outlast_media::ConfigError;
use outlast_units::{Bytes, SECTOR_BYTES};

/// How groups lie on the columns.
#[derive(Clone, Debug)]
pub(crate) enum Map {
    /// One chunk on every column.
    Striped(Striped),
    /// RAID-10.
    Copies { layout: CopyLayout, columns: u64, copies: u64, far_rows: u64 },
}

/// A placement, and perhaps another one on the way.
#[derive(Clone, Debug)]
pub(crate) struct Striped {
    pub(crate) now: Placement,
    pub(crate) shift: Option<Shift>,
}

/// The way from one placement to another, stripe by stripe.
#[derive(Clone, Debug)]
pub(crate) struct Shift {
    pub(crate) target: Placement,
    /// Stripes that already follow the target, as bits.
    moved: Vec<u64>,
    /// Stripes that do not yet.
    pub(crate) left: u64,
    /// Whether writes carry it on (the lazy way) rather than a pass.
    pub(crate) lazy: bool,
}

impl Shift {
    /// A shift of `stripes` stripes; those that the plan leaves as they are count as moved.
    pub(crate) fn new(from: &Placement, plan: ShiftPlan, stripes: u64, lazy: bool) -> Self {
        let period = u64::from(from.period());
        let same: Vec<bool> = (0..from.period() as usize)
            .map(|phase| from.columns_at(phase) == plan.target.columns_at(phase))
            .collect();
        let mut moved = vec![0u64; stripes.div_ceil(64) as usize];
        let mut left = stripes;
        for stripe in 0..stripes {
            if same[(stripe % period) as usize] {
                moved[(stripe / 64) as usize] |= 1 << (stripe % 64);
                left -= 1;
            }
        }
        Self { target: plan.target, moved, left, lazy }
    }

    #[inline]
    pub(crate) fn is_moved(&self, stripe: u64) -> bool {
        self.moved[(stripe / 64) as usize] >> (stripe % 64) & 1 == 1
    }

    pub(crate) fn set_moved(&mut self, stripe: u64) {
        if !self.is_moved(stripe) {
            self.moved[(stripe / 64) as usize] |= 1 << (stripe % 64);
            self.left -= 1;
        }
    }
}

/// Sizes and places of one array.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub(crate) map: Map,
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

/// A run of rows of one chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rows {
    pub(crate) first: u32,
    pub(crate) end: u32,
}

impl Rows {
    pub(crate) fn new(first: u32, end: u32) -> Self {
        debug_assert!(first < end, "rows are never empty");
        Self { first, end }
    }
    pub(crate) fn len(self) -> u32 {
        self.end - self.first
    }
    pub(crate) fn overlaps(self, other: Self) -> bool {
        self.first < other.end && other.first < self.end
    }
    /// The rows as bytes of a buffer that begins with row `from`.
    pub(crate) fn bytes(self, from: u32) -> std::ops::Range<usize> {
        let sector = outlast_units::SECTOR_BYTES as usize;
        (self.first - from) as usize * sector..(self.end - from) as usize * sector
    }
}

/// Where a group lies, found once for all its roles.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    group: u64,
    /// The group's stripe within the period of a placement.
    phase: usize,
    /// Whether it follows the shift's target.
    moved: bool,
}

/// A rectangle of one group: data roles `first_role..end_role`, each over the same rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) group: u64,
    pub(crate) first_role: u8,
    pub(crate) end_role: u8,
    pub(crate) rows: Rows,
}

impl Layout {
    /// Stripes over columns of `member_sectors` usable sectors each.
    pub(crate) fn striped(placement: Placement, chunk: u64, member_sectors: u64) -> Self {
        Self {
            chunk,
            data: placement.data(),
            roles: placement.columns(),
            groups: member_sectors / chunk,
            data_set: first_roles(placement.data()),
            role_set: first_roles(placement.columns()),
            map: Map::Striped(Striped { now: placement, shift: None }),
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
            CopyLayout::Near => rows * columns / copies,
            CopyLayout::Far | CopyLayout::Offset => far_rows * columns,
        };
        let map = Map::Copies { layout, columns, copies, far_rows };
        let role_set = first_roles(copies as usize);
        Self { map, chunk, data: 1, roles: copies as usize, groups, data_set: 1, role_set }
    }

    /// Sectors that the array offers.
    pub(crate) fn capacity(&self) -> u64 {
        self.groups * self.data as u64 * self.chunk
    }

    /// Column of a role, and the first of its sectors there; `target`: where the shift in progress wants it.
    #[inline]
    pub(crate) fn locate(&self, group: u64, role: usize, target: bool) -> (usize, u64) {
        self.column(self.place(group, target), role)
    }

    /// The place of a group, of which the columns of all its roles follow; `target`: where the shift in progress wants it.
    #[inline]
    pub(crate) fn place(&self, group: u64, target: bool) -> Place {
        debug_assert!(group < self.groups, "a group of the array");
        match &self.map {
            Map::Striped(striped) => {
                let moved = striped.shift.as_ref().is_some_and(|shift| target || shift.is_moved(group));
                Place { group, phase: striped.now.phase(group), moved }
            }
            Map::Copies { .. } => Place { group, phase: 0, moved: false },
        }
    }

    /// Column of a role of the group at `place`, and the first of its sectors there.
    #[inline]
    pub(crate) fn column(&self, place: Place, role: usize) -> (usize, u64) {
        let group = place.group;
        match &self.map {
            Map::Striped(striped) => {
                let placement = match &striped.shift {
                    Some(shift) if place.moved => &shift.target,
                    _ => &striped.now,
                };
                (usize::from(placement.columns_at(place.phase)[role]), group * self.chunk)
            }
            &Map::Copies { layout, columns, copies, far_rows } => {
                let copy = role as u64;
                let (column, row) = match layout {
                    CopyLayout::Near => {
                        let place = group * copies + copy;
                        (place % columns, place / columns)
                    }
                    CopyLayout::Far => ((group + copy) % columns, group / columns + copy * far_rows),
                    CopyLayout::Offset => ((group + copy) % columns, group / columns * copies + copy),
                };
                (column as usize, row * self.chunk)
            }
        }
    }

    /// The role that column `column` plays in `group`, if any.
    pub(crate) fn role_on(&self, group: u64, column: usize, target: bool) -> Option<usize> {
        (0..self.roles).find(|&role| self.locate(group, role, target).0 == column)
    }

    /// The group that sector `sector` of column `column` belongs to; `None` where no data lies. The inverse of [`Layout::locate`].
    pub(crate) fn group_at(&self, column: usize, sector: u64) -> Option<u64> {
        let (column, row) = (column as u64, sector / self.chunk);
        let group = match &self.map {
            Map::Striped(_) => row,
            &Map::Copies { layout: CopyLayout::Near, columns, copies, .. } => {
                (row * columns + column) / copies
            }
            &Map::Copies { layout, columns, copies, far_rows } => {
                let far = layout == CopyLayout::Far;
                let (copy, row) =
                    if far { (row / far_rows, row % far_rows) } else { (row % copies, row / copies) };
                if copy >= copies {
                    return None;
                }
                row * columns + (column + columns - copy % columns) % columns
            }
        };
        (group < self.groups).then_some(group)
    }

    /// Sectors of a member that data and redundancy lie in.
    pub(crate) fn member_sectors(&self) -> u64 {
        let rows = match &self.map {
            Map::Striped(_) => self.groups,
            &Map::Copies { layout: CopyLayout::Near, columns, copies, .. } => {
                (self.groups * copies).div_ceil(columns)
            }
            &Map::Copies { copies, far_rows, .. } => far_rows * copies,
        };
        rows * self.chunk
    }

    /// The shift in progress.
    pub(crate) fn shift(&self) -> Option<&Shift> {
        match &self.map {
            Map::Striped(striped) => striped.shift.as_ref(),
            Map::Copies { .. } => None,
        }
    }

    pub(crate) fn shift_mut(&mut self) -> Option<&mut Shift> {
        match &mut self.map {
            Map::Striped(striped) => striped.shift.as_mut(),
            Map::Copies { .. } => None,
        }
    }

    /// Whether a shift wants `group` elsewhere than it is.
    #[inline]
    pub(crate) fn is_to_move(&self, group: u64) -> bool {
        self.shift().is_some_and(|shift| !shift.is_moved(group))
    }

    /// First sector of the array that lies in row `row` of a data role.
    pub(crate) fn logical(&self, group: u64, role: usize, row: u32) -> u64 {
        let role = if self.data == 1 { 0 } else { role as u64 };
        (group * self.data as u64 + role) * self.chunk + u64::from(row)
    }

    /// The chunk that a sector of the array lies in, as group and data role, and its row there.
    #[inline]
    pub(crate) fn chunk_of(&self, sector: u64) -> (u64, usize, u64) {
        let chunk = sector / self.chunk;
        let data = self.data as u64;
        (chunk / data, (chunk % data) as usize, sector - chunk * self.chunk)
    }

    /// Cuts sectors `first..first + sectors` of the array into rectangles, in rising order of group. `banded` joins chunks of one
    /// group over common rows; without it every chunk is a piece of its own.
    #[inline]
    pub(crate) fn pieces(&self, first: u64, sectors: u64, banded: bool) -> Pieces {
        let (chunk, data) = (self.chunk, self.data as u64);
        let banded = banded && data > 1;
        Pieces { chunk, data, at: first, end: first + sectors, banded, bands: None }
    }
}

/// The rectangles of a run of sectors.
#[derive(Clone, Debug)]
pub(crate) struct Pieces {
    chunk: u64,
    data: u64,
    at: u64,
    end: u64,
    banded: bool,
    bands: Option<Bands>,
}

impl Iterator for Pieces {
    type Item = Piece;

    #[inline]
    fn next(&mut self) -> Option<Piece> {
        if let Some(piece) = self.bands.as_mut().and_then(Bands::next) {
            return Some(piece);
        }
        if self.at == self.end {
            return None;
        }
        let chunk = self.at / self.chunk;
        let (group, role) = (chunk / self.data, chunk % self.data);
        let row = self.at - chunk * self.chunk;
        let left = self.end - self.at;
        if row + left > self.chunk && self.banded && role + 1 < self.data {
            return self.band(group, role, row);
        }
        let here = left.min(self.chunk - row);
        self.at += here;
        let rows = Rows::new(row as u32, (row + here) as u32);
        Some(Piece { group, first_role: role as u8, end_role: role as u8 + 1, rows })
    }
}

impl Pieces {
    /// The first rectangle of a run over several chunks of one group.
    #[cold]
    fn band(&mut self, group: u64, role: u64, row: u64) -> Option<Piece> {
        let here = ((self.data - role) * self.chunk - row).min(self.end - self.at);
        self.at += here;
        let last = role + (row + here - 1) / self.chunk;
        let end = (row + here) - (last - role) * self.chunk;
        let bounds = [0, row.min(end), row.max(end), self.chunk];
        let bands = Bands { group, first: role, last, row, end, bounds, at: 0 };
        self.bands.insert(bands).next()
    }
}

/// A run over several chunks of one group, as at most three rectangles: the first chunk begins at `row`, the last ends at `end`, and
/// between two of these bounds the same chunks take part.
#[derive(Clone, Debug)]
struct Bands {
    group: u64,
    first: u64,
    last: u64,
    row: u64,
    end: u64,
    bounds: [u64; 4],
    at: usize,
}

impl Iterator for Bands {
    type Item = Piece;

    fn next(&mut self) -> Option<Piece> {
        while self.at < 3 {
            let (from, to) = (self.bounds[self.at], self.bounds[self.at + 1]);
            self.at += 1;
            let first_role = if from >= self.row { self.first } else { self.first + 1 };
            let end_role = if to <= self.end { self.last + 1 } else { self.last };
            if from < to && first_role < end_role {
                let rows = Rows::new(from as u32, to as u32);
                let (first_role, end_role) = (first_role as u8, end_role as u8);
                return Some(Piece { group: self.group, first_role, end_role, rows });
            }
        }
        None
    }
}

impl ArrayConfig {
    /// Capacity of the array over devices of which the smallest has `smallest`.
    ///
    /// # Errors
    /// A setting that cannot work, or not even one chunk fits into each.
    pub fn capacity_over(&self, smallest: Bytes) -> Result<Bytes, ConfigError> {
        self.validate()?;
        let layout = lay_out_over(self, smallest)?;
        Ok(Bytes(layout.capacity() * SECTOR_BYTES))
    }
}

/// Sectors of a member of `capacity` that hold data.
pub(crate) fn usable_sectors(config: &ArrayConfig, capacity: Bytes) -> u64 {
    (capacity.0 / SECTOR_BYTES).saturating_sub(config.reserved().0 / SECTOR_BYTES)
}

/// The map of an array over members of which the smallest has `smallest`.
pub(crate) fn lay_out_over(config: &ArrayConfig, smallest: Bytes) -> Result<Layout, ConfigError> {
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
fn lay_out(config: &ArrayConfig, shares: Option<&Shares>, chunk: u64, member_sectors: u64) -> Layout {
    let (members, redundancy) = (usize::from(config.members), usize::from(config.redundancy()));
    let placement = match (shares, config.level) {
        (Some(shares), _) => Placement::from_shares(shares),
        (_, Level::Raid10) => {
            let copies = u64::from(config.copies);
            return Layout::copies(config.copy_layout, members as u64, copies, chunk, member_sectors);
        }
        (_, Level::Raid5 | Level::Raid6 | Level::Code) => {
            Placement::named(config.layout, members - redundancy, redundancy)
        }
        (_, Level::Raid0 | Level::Raid1 | Level::Raid4) => {
            Placement::named(ParityLayout::ParityLast, members - redundancy, redundancy)
        }
    };
    Layout::striped(placement, chunk, member_sectors)
}

#[cfg(test)]
mod tests;
