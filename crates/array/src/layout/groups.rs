//! Questions about groups that need no member.

use super::{GroupLayout, RowRange, to_row};
use crate::ids::GroupIndex;
use outlast_settings::array::CopyLayout;
use outlast_units::{Bytes, SECTOR_BYTES};

impl GroupLayout {
    pub(crate) fn whole_chunk(&self) -> RowRange {
        RowRange::new(0, to_row(self.chunk))
    }

    /// Roles that the shift moves to another column.
    pub(crate) fn moved_roles(&self, group: GroupIndex) -> u64 {
        let is_moved = |&role: &usize| self.locate(group, role, false).0 != self.locate(group, role, true).0;
        (0..self.roles).filter(is_moved).fold(0, |set, role| set | 1 << role)
    }

    /// True if data is striped without redundancy.
    #[inline]
    pub(crate) fn is_striped_only(&self) -> bool {
        self.roles == self.data
    }

    /// Bytes of each member in `groups` groups.
    pub(crate) fn bytes_of_groups(&self, groups: u64) -> Bytes {
        Bytes(groups * self.chunk * SECTOR_BYTES)
    }
}

/// Column of copy `copy` of group `group`, and its row of chunks there; `sizes`: columns, copies, and rows of a part of a member.
pub(super) fn place_of_copy(
    layout: CopyLayout,
    group: u64,
    copy: u64,
    (columns, copies, far_rows): (u64, u64, u64),
) -> (u64, u64) {
    match layout {
        CopyLayout::Near => {
            let place = group * copies + copy;
            (place % columns, place / columns)
        }
        // Copy `c` lies in the `c`-th part of each member, shifted by `c` columns.
        CopyLayout::Far => ((group + copy) % columns, group / columns + copy * far_rows),
        // Each row of groups is followed by its copies, each shifted by one column.
        CopyLayout::Offset => ((group + copy) % columns, group / columns * copies + copy),
    }
}
