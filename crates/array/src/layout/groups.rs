//! Questions about groups that need no member.

use super::{GroupLayout, RowRange, to_row};
use crate::ids::GroupIndex;
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
