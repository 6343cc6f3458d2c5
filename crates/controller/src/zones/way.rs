//! The order of the commands to one zone.

use crate::commands::HostRequestId;
use outlast_device::ZoneId;
use std::collections::VecDeque;

/// A zone of which something is under way, or that has a stream.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub(super) struct ZoneWay {
    pub(super) zone: ZoneId,
    /// The stream that fills it; absent until the first write goes on.
    pub(super) stream: Option<u16>,
    /// Writes that go on and have not ended.
    pub(super) under_way: u32,
    /// True while a finish or a reset is carried out.
    pub(super) acts: bool,
    /// Commands that wait, in the order in which they came.
    pub(super) held: VecDeque<Held>,
}

impl ZoneWay {
    pub(super) fn new(zone: ZoneId) -> Self {
        Self { zone, stream: None, under_way: 0, acts: false, held: VecDeque::new() }
    }

    /// True if nothing is under way.
    pub(super) fn is_idle(&self) -> bool {
        self.under_way == 0 && !self.acts && self.held.is_empty()
    }
}

/// A command that waits for others to its zone.
#[derive(Clone, Copy, Debug, outlast_persist::Persist)]
#[allow(clippy::struct_excessive_bools, reason = "facts of a command that do not follow from each other")]
pub(super) struct Held {
    pub(super) request: HostRequestId,
    /// True if it is a write, else an action.
    pub(super) is_write: bool,
    /// True if it begins when nothing before it is under way, and what comes behind waits for it: a finish, a reset, or what moves the write pointer over
    /// what lies in a random write area.
    pub(super) acts: bool,
    /// True if it needs the zone's stream.
    pub(super) needs_stream: bool,
    /// True once all of it is in the drive.
    pub(super) arrived: bool,
}

impl Held {
    pub(super) fn write(request: HostRequestId) -> Self {
        Self { request, is_write: true, acts: false, needs_stream: true, arrived: false }
    }

    pub(super) fn action(request: HostRequestId) -> Self {
        Self { request, is_write: false, acts: true, needs_stream: false, arrived: false }
    }

    /// A write to a random write area, or a commit, that moves the write pointer.
    pub(super) fn commit(request: HostRequestId, is_write: bool) -> Self {
        Self { request, is_write, acts: true, needs_stream: true, arrived: false }
    }
}
