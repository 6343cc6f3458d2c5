//! What a command asks of the device, and what becomes of the answers.

use std::collections::VecDeque;

use crate::device::{DeviceOp, DeviceRequest};
use crate::log_pages::LogRequest;

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
    Write { fua: bool },
    Flush,
    Deallocate,
    WriteZeroes { fua: bool, may_deallocate: bool },
    LostBlocks,
    Health,
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
    CopyTo { offset: u64, fua: bool },
    /// Lost ranges are listed in so many bytes.
    ListLost { room: usize },
    /// A part of the health log is returned.
    Health(LogRequest),
}

/// The requests of a command, one after another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CommandPlan {
    pub(crate) requests: VecDeque<PlannedRequest>,
    pub(crate) end: PlanEnd,
    /// Bytes held for the command beside its own data.
    pub(crate) cost: u64,
}

impl CommandPlan {
    pub(crate) fn new(requests: impl IntoIterator<Item = PlannedRequest>, end: PlanEnd, cost: u64) -> Self {
        Self { requests: requests.into_iter().collect(), end, cost }
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
            PlannedOp::Write { fua } => DeviceOp::Write { data, fua },
            PlannedOp::Flush => DeviceOp::Flush,
            PlannedOp::Deallocate => DeviceOp::Deallocate,
            PlannedOp::WriteZeroes { fua, may_deallocate } => DeviceOp::WriteZeroes { fua, may_deallocate },
            PlannedOp::LostBlocks => DeviceOp::LostBlocks,
            PlannedOp::Health => DeviceOp::Health,
        };
        DeviceRequest { tag, offset: self.offset, length: self.length, op }
    }
}
