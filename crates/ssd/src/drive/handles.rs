//! Reclaim unit handles: the host has one refer to an empty reclaim unit, and names one that its namespace does not have.

use crate::ssd::Ssd;
use outlast_controller::Due;
use outlast_device::{Command, PlacementId};
use outlast_units::Nanos;

outlast_units::counters! {
    /// Events of flexible data placement that the host causes, over the drive's life.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, outlast_persist::Persist)]
    pub(crate) struct HostPlacementEvents {
        /// Writes with a placement identifier that the namespace does not have.
        pub(crate) invalid_identifiers: u64,
        /// Reclaim units that a handle left before they were full.
        pub(crate) not_fully_written: u64,
    }
}

impl Ssd {
    /// The handle of placement identifier `identifier` refers to an empty reclaim unit from now on (`NVMe`: Reclaim Unit Handle Update). What was
    /// left of the one that it referred to is erased with it. Does nothing if that is empty, or without handles.
    pub fn update_handle(&mut self, now: Nanos, identifier: PlacementId) {
        self.renew_reclaim_unit(now, identifier);
        self.settle(now);
    }

    /// [`Ssd::update_handle`] as an effect of an event, after which the drive settles.
    pub(crate) fn renew_reclaim_unit(&mut self, now: Nanos, identifier: PlacementId) {
        let mut was_begun = false;
        for core in self.cores.indices() {
            let streams = self.cores[core].ftl().streams();
            if !streams.has_handles() {
                return;
            }
            let stream = streams.host(identifier.0, 0);
            was_begun |= self.cores[core].close_reclaim_unit(now, &mut self.context, stream);
            self.cores[core].make_due(&mut self.context, Due::Collect);
        }
        self.placement_events.not_fully_written += u64::from(was_begun);
    }

    /// Counts a write of the host whose placement identifier its namespace does not have: it goes through the first handle.
    #[inline]
    pub(crate) fn note_identifier(&mut self, command: &Command) {
        if self.context.config.placement.is_some() {
            self.look_at_identifier(command.placement);
        }
    }

    #[cold]
    fn look_at_identifier(&mut self, identifier: PlacementId) {
        let known = self.ftls().next().map_or(0, |ftl| ftl.streams().identifiers());
        self.placement_events.invalid_identifiers += u64::from(usize::from(identifier.0) >= known);
    }
}
