//! Commands to members, under way.

use crate::ids::{ColumnDevice, GroupIndex, GroupOpId, HostCommandId, RangeIndex, RepairId};
use crate::layout::RowRange;
use outlast_device::Tag;
use outlast_units::Lba;

/// The purpose of a command to a member, and whose it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, outlast_persist::Persist)]
pub(crate) enum MemberCommandKind {
    /// Data of a host command, without an operation.
    DirectRead(HostCommandId),
    /// The same, with limited retry.
    LimitedRead(HostCommandId),
    DirectWrite(HostCommandId),
    DirectTrim(HostCommandId),
    Flush(HostCommandId),
    /// A step of an operation.
    Read(GroupOpId),
    Write(GroupOpId),
    Log(GroupOpId),
    /// For the bitmap.
    Bitmap,
    /// A flush before the members are marked clean.
    Clean,
    /// A question of a repair about a range, and the flush at its end.
    Status {
        repair: RepairId,
        range: RangeIndex,
    },
    RepairFlush(RepairId),
    /// A read of the member from outside the array, from sector `lba` of the member on.
    External {
        tag: Tag,
        lba: Lba,
    },
}

impl MemberCommandKind {
    /// True for parts of a host command; false for parts of an operation and for background work.
    pub(crate) fn is_for_host(self) -> bool {
        self.direct_host().is_some()
    }

    /// The host command that the command is a part of by itself.
    #[inline]
    pub(crate) fn direct_host(self) -> Option<HostCommandId> {
        match self {
            Self::DirectRead(host)
            | Self::LimitedRead(host)
            | Self::DirectWrite(host)
            | Self::DirectTrim(host)
            | Self::Flush(host) => Some(host),
            _ => None,
        }
    }

    /// The operation that the command is a step of.
    #[inline]
    pub(crate) fn op(self) -> Option<GroupOpId> {
        match self {
            Self::Read(op) | Self::Write(op) | Self::Log(op) => Some(op),
            _ => None,
        }
    }
}

/// A command to a member.
#[derive(Clone, Copy, Debug, outlast_persist::Persist)]
pub(crate) struct MemberCommand {
    pub(crate) kind: MemberCommandKind,
    pub(crate) device: ColumnDevice,
    /// The role and group of the chunk that the command reads or writes; 0 for commands to the whole member.
    pub(crate) role: u8,
    pub(crate) group: GroupIndex,
    pub(crate) rows: RowRange,
}

impl MemberCommand {
    /// A command that reads or writes no chunk of a group.
    pub(crate) fn to_device(kind: MemberCommandKind, device: ColumnDevice, rows: RowRange) -> Self {
        Self { kind, device, role: 0, group: GroupIndex(0), rows }
    }
}
