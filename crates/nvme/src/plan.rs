//! What a command asks of the device, and what becomes of the answers.

use std::collections::VecDeque;

use crate::device::{DeviceOp, DeviceRequest, HealthLogPage};
use crate::log_pages::LogRequest;
use crate::zone_reports::ReportRequest;
use crate::zones::{ZoneListRequest, ZoneSendAction};

/// A request to the device, whose data is that of its command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PlannedRequest {
    pub(crate) offset: u64,
    pub(crate) length: u64,
    pub(crate) op: PlannedOp,
}

/// See [`DeviceOp`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PlannedOp {
    Read { limited_retry: bool },
    Write { fua: bool, identifier: u16 },
    Flush,
    Deallocate,
    WriteZeroes { fua: bool, may_deallocate: bool },
    LostBlocks,
    Health(HealthLogPage),
    Placement,
    UpdateHandle(u16),
    Append { fua: bool },
    ManageZone(ZoneSendAction),
    ListZones(ZoneListRequest),
}

/// What becomes of the answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PlanEnd {
    /// The command ends when the last request has succeeded.
    Nothing,
    /// The data read is the host's.
    Return,
    /// The data read is compared with the command's.
    Compare,
    /// The data read is gathered, and written at this offset.
    CopyTo { offset: u64, fua: bool, identifier: u16 },
    /// Lost ranges are listed in so many bytes.
    ListLost { room: usize },
    /// A part of a health log is returned.
    Health(LogRequest),
    /// A part of the log of LBA status is returned.
    LbaStatusLog(LogRequest),
    /// A part of the log of the endurance group is returned.
    EnduranceGroup(LogRequest),
    /// A part of the log of statistics of flexible data placement is returned.
    PlacementStatistics(LogRequest),
    /// A part of the log of its events is returned.
    PlacementEvents(LogRequest),
    /// The status of the namespace's handles is returned in so many bytes.
    HandleStatus { room: usize },
    /// Types of events that are enabled for a handle are returned in so many bytes, at most so many types.
    EventTypes { handle: u16, most: usize, room: usize },
    /// Types of events are enabled or disabled for a handle.
    EnableEvents { handle: u16, kinds: Vec<u8>, is_enabled: bool },
    /// The first block that an append has written is the command's result.
    ReturnPlace,
    /// Zones are reported.
    ReportZones(ReportRequest),
    /// The controller is shut down.
    ShutDown,
    /// The action is carried out on the zones that are listed.
    ManageZones(ZoneSendAction),
}

/// Requests to the device, one after another. Most commands have one, which takes no memory of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PlannedRequests {
    /// The next one; none if all are done.
    next: Option<PlannedRequest>,
    rest: VecDeque<PlannedRequest>,
}

impl PlannedRequests {
    pub(crate) fn is_empty(&self) -> bool {
        self.next.is_none()
    }

    /// Takes the next one.
    pub(crate) fn pop(&mut self) -> Option<PlannedRequest> {
        let next = self.next.take();
        self.next = self.rest.pop_front();
        next
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}

impl Extend<PlannedRequest> for PlannedRequests {
    fn extend<I: IntoIterator<Item = PlannedRequest>>(&mut self, requests: I) {
        let mut requests = requests.into_iter();
        if self.next.is_none() {
            self.next = requests.next();
        }
        self.rest.extend(requests);
    }
}

/// The requests of a command, one after another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CommandPlan {
    pub(crate) requests: PlannedRequests,
    pub(crate) end: PlanEnd,
    /// Bytes held for the command beside its own data.
    pub(crate) cost: u64,
}

impl CommandPlan {
    pub(crate) fn new(planned: impl IntoIterator<Item = PlannedRequest>, end: PlanEnd, cost: u64) -> Self {
        let mut requests = PlannedRequests::default();
        requests.extend(planned);
        Self { requests, end, cost }
    }
}

impl PlannedRequest {
    /// A request without a range.
    pub(crate) const fn whole(op: PlannedOp) -> Self {
        Self { offset: 0, length: 0, op }
    }

    /// The request, with the data of its command.
    pub(crate) fn with_data(self, tag: u32, data: &[u8]) -> DeviceRequest<'_> {
        let op = match self.op {
            PlannedOp::Read { limited_retry } => DeviceOp::Read { limited_retry },
            PlannedOp::Write { fua, identifier } => DeviceOp::Write { data, fua, identifier },
            PlannedOp::Flush => DeviceOp::Flush,
            PlannedOp::Deallocate => DeviceOp::Deallocate,
            PlannedOp::WriteZeroes { fua, may_deallocate } => DeviceOp::WriteZeroes { fua, may_deallocate },
            PlannedOp::LostBlocks => DeviceOp::LostBlocks,
            PlannedOp::Health(page) => DeviceOp::Health(page),
            PlannedOp::Placement => DeviceOp::Placement,
            PlannedOp::UpdateHandle(identifier) => DeviceOp::UpdateHandle(identifier),
            PlannedOp::Append { fua } => DeviceOp::Append { data, fua },
            PlannedOp::ManageZone(action) => DeviceOp::ManageZone(action),
            PlannedOp::ListZones(request) => DeviceOp::ListZones(request),
        };
        DeviceRequest { tag, offset: self.offset, length: self.length, op }
    }
}
