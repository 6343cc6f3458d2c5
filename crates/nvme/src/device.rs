//! Requests to the device behind a namespace, and its answers. Whoever owns the device carries them out.

use crate::zones::{ZoneListRequest, ZoneRefusal, ZoneReports, ZoneSendAction};

/// A request to the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceRequest<'a> {
    /// Name of the request; free again once it is answered.
    pub tag: u32,
    /// First byte of the namespace that is concerned.
    pub offset: u64,
    /// Number of bytes; 0 where the request has no range.
    pub length: u64,
    /// What to do.
    pub op: DeviceOp<'a>,
}

/// Kinds of request. Each can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceOp<'a> {
    /// Read, answered with [`DeviceAnswer::Data`].
    Read {
        /// Bit LR: few attempts are made, and then the read fails.
        limited_retry: bool,
    },
    /// Write, answered with [`DeviceAnswer::Done`].
    Write {
        /// The bytes.
        data: &'a [u8],
        /// Forced unit access.
        fua: bool,
        /// Placement identifier of the device, which may be [unknown](crate::UNKNOWN_IDENTIFIER) to the namespace; 0 without flexible data placement.
        identifier: u16,
    },
    /// Answered with [`DeviceAnswer::Done`] when all writes that were answered before would survive a loss of power.
    Flush,
    /// Deallocation, answered with [`DeviceAnswer::Done`].
    Deallocate,
    /// Zeroing, answered with [`DeviceAnswer::Done`].
    WriteZeroes {
        /// Forced unit access.
        fua: bool,
        /// Nothing need be stored for the range.
        may_deallocate: bool,
    },
    /// Question for lost blocks, answered with [`DeviceAnswer::Lost`].
    LostBlocks,
    /// Question for a health log, answered with [`DeviceAnswer::Health`].
    Health(HealthLogPage),
    /// Question for the figures of flexible data placement, answered with [`DeviceAnswer::Placement`].
    Placement,
    /// The handle of this placement identifier is to refer to an empty reclaim unit; answered with [`DeviceAnswer::Done`].
    UpdateHandle(u16),
    /// Write at the write pointer of the zone that begins at the offset, answered with [`DeviceAnswer::Appended`].
    Append {
        /// The bytes.
        data: &'a [u8],
        /// Forced unit access.
        fua: bool,
    },
    /// Action on the zone that begins at the offset, answered with [`DeviceAnswer::Done`].
    ManageZone(ZoneSendAction),
    /// Question for the zones that begin in the range, answered with [`DeviceAnswer::Zones`].
    ListZones(ZoneListRequest),
}

/// Health logs of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HealthLogPage {
    /// SMART / Health Information (02h).
    Smart,
    /// SMART / Health Information Extended (C0h) of the OCP Datacenter `NVMe` SSD Specification 2.0.
    Extended,
}

/// Length of a health log, in bytes.
pub const HEALTH_BYTES: usize = 512;

/// The answer to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceAnswer {
    /// Success of a request that returns nothing.
    Done,
    /// The bytes of a read, all of them.
    Data(Vec<u8>),
    /// Ranges that the device wants written again, in order of address.
    Lost(Vec<LostRange>),
    /// The page of a health log.
    Health(Box<[u8; HEALTH_BYTES]>),
    /// Figures of flexible data placement.
    Placement(Box<PlacementReport>),
    /// The first byte that an append has written.
    Appended(u64),
    /// Zones.
    Zones(ZoneReports),
    /// Failure.
    Failed(DeviceFailure),
}

/// Figures of flexible data placement, over the device's life.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlacementReport {
    /// Time, in milliseconds since the device was put in service.
    pub now_ms: u64,
    /// Bytes that hosts have written.
    pub host_bytes_written: u64,
    /// Bytes programmed.
    pub media_bytes_written: u64,
    /// Bytes erased.
    pub media_bytes_erased: u64,
    /// Events of the reclaim unit of each handle of the configuration in each reclaim group, first the first handle in all groups; by type, in the order of their codes: reclaim units
    /// not fully written, those over their time limit, handles that a reset has modified, reclaim units whose data was moved, handles that the device has modified.
    pub events: Vec<[u64; 5]>,
    /// Bytes that still fit into the reclaim unit of each handle in each reclaim group, in the same order.
    pub remaining_bytes: Vec<u64>,
    /// Seconds until each handle leaves its reclaim unit for the time limit of that, in the same order; empty without a limit, 0 where none is begun.
    pub remaining_s: Vec<u32>,
}

/// A range whose data is potentially unrecoverable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostRange {
    /// First byte.
    pub offset: u64,
    /// Number of bytes.
    pub length: u64,
}

/// Reasons for which a request has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceFailure {
    /// Data is lost. The first byte that cannot be read, if the device knows it.
    Unreadable(Option<u64>),
    /// Nothing is written there, at present or ever.
    ReadOnly,
    /// A range that the device does not have.
    OutOfRange,
    /// The zone does not allow it.
    Zone(ZoneRefusal),
    /// No power, or the server ends.
    Unavailable,
    /// The server itself has failed.
    Internal,
}
