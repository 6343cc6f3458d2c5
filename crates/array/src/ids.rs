//! Numbers of the array's parts, each a type of its own.

use outlast_settings::array::MEMBERS_MAX;
use outlast_units::index_type;

index_type! {
    /// The place of a member in the array.
    pub struct ColumnIndex(u8);
}
index_type! {
    /// A group: a stripe of an array with parity, one chunk and its copies of an array of mirrors.
    pub(crate) struct GroupIndex(u64);
}
index_type! {
    /// An operation on a group that is under way.
    pub(crate) struct GroupOpId(u32);
}
index_type! {
    /// A host command that is under way.
    pub(crate) struct HostCommandId(u32);
}
index_type! {
    /// A lock on rows of a group, held or waited for.
    pub(crate) struct LockId(u32);
}
index_type! {
    /// A recovery of data that a member has lost with a die, by its record.
    pub(crate) struct RepairId(u32);
}
index_type! {
    /// A range of a member, about which it is queried as a whole.
    pub(crate) struct RangeIndex(u32);
}
index_type! {
    /// A background pass: passes are numbered from 1 in the order in which they begin.
    pub(crate) struct PassEpoch(u32);
}

/// A column as the tables of placements keep it.
#[inline]
pub(crate) fn column_number(column: usize) -> u8 {
    debug_assert!(column < MEMBERS_MAX, "an array has at most 64 columns");
    #[allow(clippy::cast_possible_truncation, reason = "below 64, as asserted")]
    let column = column as u8;
    column
}

/// One of the devices of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, outlast_persist::Persist)]
pub(crate) enum ColumnDevice {
    /// The member: the only device, except during Rebuild Assist.
    Member(ColumnIndex),
    /// The member that is being replaced, and serves the reads that the new one cannot yet (Rebuild Assist).
    Donor(ColumnIndex),
}

impl ColumnDevice {
    /// The column that the device is in.
    #[inline]
    pub(crate) fn column(self) -> ColumnIndex {
        match self {
            Self::Member(column) | Self::Donor(column) => column,
        }
    }

    /// The column of a member; `None` for a donor.
    #[inline]
    pub(crate) fn as_member(self) -> Option<ColumnIndex> {
        match self {
            Self::Member(column) => Some(column),
            Self::Donor(_) => None,
        }
    }
}

impl std::fmt::Display for ColumnDevice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Member(column) => write!(f, "member {column}"),
            Self::Donor(column) => write!(f, "donor of member {column}"),
        }
    }
}
