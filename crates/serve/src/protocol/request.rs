//! Requests to devices, and the replies.

use outlast_device::extended_health::EXTENDED_PAGE_BYTES;
use outlast_device::health_log::PAGE_BYTES;
use outlast_device::{Extent, PlacementId, SectorRun, ZoneAction, ZoneDescriptor, ZoneError, ZoneState};
use outlast_units::Bytes;

use crate::device::PlacementReport;

/// A session's name for a request in flight. Free again once the request is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RequestTag(pub(crate) u32);

/// A request that its session has checked with [`super::ExportFacts::takes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlockRequest<'a> {
    /// Name of the request.
    pub(crate) tag: RequestTag,
    /// Offset in the export, in bytes; 0 for what has no range: a flush, an update of a handle, a question about health or placement.
    pub(crate) offset: u64,
    /// Length in bytes; 0 only for what has no range.
    pub(crate) length: Bytes,
    pub(crate) op: BlockOp<'a>,
}

/// Kinds of request. Each can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockOp<'a> {
    /// Read, answered with [`BlockReply::Data`].
    Read {
        /// Few attempts are made to read bad data, and then the read fails.
        limited_retry: bool,
    },
    /// Write, answered with [`BlockReply::Done`].
    Write {
        /// The bytes to write, lent by the session's buffer until the session is next called.
        data: &'a [u8],
        /// Forced unit access: answered only when it would survive a loss of power.
        fua: bool,
        /// Placement identifier of the device.
        placement: PlacementId,
    },
    /// Answered with [`BlockReply::Done`] when every write that was answered before this came, in whatever session, would survive a loss of power.
    Flush,
    /// Deallocation, if that is of use to the device; answered with [`BlockReply::Done`]. May be as long as the export.
    Trim {
        /// Forced unit access, as for writes.
        fua: bool,
    },
    /// Zeroing: afterwards the range reads as zeroes; answered with [`BlockReply::Done`]. May be as long as the export.
    WriteZeroes {
        /// Forced unit access, as for writes.
        fua: bool,
        /// Deallocation is allowed: nothing need be stored for the range.
        may_punch: bool,
        /// Requires it to be faster than writing, or to fail at once with [`FailureKind::SlowZeroes`].
        fast: bool,
    },
    /// The range will be read soon; answered with [`BlockReply::Done`]. May be as long as the export.
    Prefetch,
    /// Question for the state of sectors, answered with [`BlockReply::Extents`]. May be as long as the export.
    Status,
    /// Question for the sectors that are lost or that the device wants written again, answered with [`BlockReply::LostRuns`]. May be as long as the
    /// export.
    LbaStatus,
    /// Question for a page of the health log, answered with [`BlockReply::Health`].
    Health(HealthPage),
    /// Question for the figures of flexible data placement, answered with [`BlockReply::Placement`].
    Placement,
    /// The reclaim unit handle of this placement identifier is to refer to an empty reclaim unit; answered with [`BlockReply::Done`].
    UpdateHandle(PlacementId),
    /// Write at the write pointer of the zone that begins at the offset, answered with [`BlockReply::Appended`].
    Append {
        /// The bytes to write, lent as those of a write.
        data: &'a [u8],
        /// Forced unit access.
        fua: bool,
    },
    /// Action on the zone that begins at the offset; answered with [`BlockReply::Done`].
    ManageZone(ZoneAction),
    /// Question for the zones that begin in the range, answered with [`BlockReply::Zones`]. May be as long as the export.
    ListZones(ZoneListQuery),
}

/// Pages on health, which have one length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HealthPage {
    /// SMART / Health Information of `NVMe`.
    Smart,
    /// The extended log of the Open Compute Project.
    Extended,
}

const _: () = assert!(PAGE_BYTES == EXTENDED_PAGE_BYTES);

/// A question for zones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ZoneListQuery {
    /// Zones in which states are listed, by the numbers of the states.
    pub(crate) states: [bool; ZoneState::ALL.len()],
    /// Most zones to list: the first.
    pub(crate) most: u32,
}

/// Zones that begin in a range.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ZoneList {
    /// Number of zones of the states that were asked for, whether listed or not.
    pub(crate) count: u64,
    /// The first of them, in order of address.
    pub(crate) zones: Vec<ZoneDescriptor>,
}

/// The answer to a request.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum BlockReply {
    /// Success of a request that returns nothing.
    Done,
    /// The bytes of a read, all of them.
    Data(Vec<u8>),
    /// Runs of sectors from the request's offset on, at least one, which may end before the request does, and not behind the export's end.
    Extents(Vec<Extent>),
    /// All runs of sectors that are lost or to be written again, in order of address; they do not touch.
    LostRuns(Vec<SectorRun>),
    /// The page of a health log.
    Health(Box<[u8; PAGE_BYTES]>),
    /// Figures of flexible data placement.
    Placement(Box<PlacementReport>),
    /// Offset in the export of the first byte that an append has written.
    Appended(u64),
    /// Zones.
    Zones(ZoneList),
    /// Failure, of any request.
    Failed(RequestFailure),
}

/// The reason why a request has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RequestFailure {
    pub(crate) kind: FailureKind,
    /// Offset of the first failure in the export, in bytes, if it is known.
    pub(crate) at: Option<u64>,
    /// A sentence for a person; may be empty.
    pub(crate) text: &'static str,
}

/// Kinds of failure, of which each protocol has its own codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FailureKind {
    /// Data is lost where the request reads.
    Unreadable,
    /// Nothing is written there, at present or ever.
    ReadOnly,
    /// Zeroes that cannot be written faster than data.
    SlowZeroes,
    /// A range that the device does not have.
    OutOfRange,
    /// The zone does not allow it.
    Zone(ZoneError),
    /// The device has no power, or the server is going down.
    Unavailable,
    /// The server itself has failed.
    Internal,
}

impl From<FailureKind> for RequestFailure {
    fn from(kind: FailureKind) -> Self {
        Self { kind, at: None, text: "" }
    }
}

/// What a device tells unasked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DeviceNews {
    /// Number of the device.
    pub(crate) device: u32,
    /// Critical warning of its health log.
    pub(crate) critical_warning: u8,
}
