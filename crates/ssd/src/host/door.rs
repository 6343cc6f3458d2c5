//! The door of a drive that mounts: commands wait before it until the drive is ready.

use super::{HostSide, Submission};
use outlast_units::Nanos;
use std::collections::VecDeque;

/// Closed while the drive mounts: its queue then has no place for any command.
#[derive(Clone, Debug, Default, outlast_persist::Persist)]
pub(super) struct Door {
    /// When the drive will be ready, and the places of its queue; absent while the door is open.
    closed: Option<(Nanos, u32)>,
    /// Commands that have come meanwhile.
    pub(super) arrived: VecDeque<Submission>,
}

impl Door {
    pub(super) fn is_closed(&self) -> bool {
        self.closed.is_some()
    }
}

impl HostSide {
    /// The drive takes commands from `until` on.
    pub(crate) fn close(&mut self, until: Nanos) {
        let places = self.door.closed.map_or(self.queue_depth, |(_, places)| places);
        self.door.closed = Some((until, places));
        self.queue_depth = 0;
    }

    /// When the door opens; [`Nanos::MAX`] if it is open.
    pub(crate) fn opens_at(&self) -> Nanos {
        self.door.closed.map_or(Nanos::MAX, |(until, _)| until)
    }

    /// Opens the door if it is time; returns the commands that have waited, in the order in which they came.
    pub(super) fn open(&mut self, now: Nanos) -> VecDeque<Submission> {
        let Some((_, places)) = self.door.closed.take_if(|&mut (until, _)| until <= now) else {
            return VecDeque::new();
        };
        self.queue_depth = places;
        std::mem::take(&mut self.door.arrived)
    }
}
