//! Commands to zones, as they come, wait for each other, and have their units enter buffers.

use crate::commands::HostRequestId;
use crate::core::CoreContext;
use crate::op::UnitWork;
use outlast_device::{Command, Outcome, Tag, ZoneId};
use outlast_units::{CoreId, Nanos, SECTOR_BYTES};

impl CoreContext {
    /// Outcome of a command as it comes to a drive with zones, rewritten to the drive's own sectors; `Ok` where nothing refuses it.
    #[cold]
    #[inline(never)]
    pub fn accept_in_zone(&mut self, command: &mut Command, tag: Tag) -> Outcome {
        self.zones.as_mut().map_or(Outcome::Ok, |zones| zones.accept(command, tag))
    }

    /// Request `request` of an accepted command takes its place in the order of its zone.
    #[cold]
    #[inline(never)]
    pub fn begin_in_zone(&mut self, request: HostRequestId, command: &Command) {
        if let Some(zones) = &mut self.zones {
            zones.begin(request, command, &mut self.commands.requests);
            self.look_at_zones();
        }
    }

    /// True if `request` has to wait for others to its zone.
    #[inline(never)]
    pub fn waits_in_zone(&mut self, request: HostRequestId) -> bool {
        let Some(zones) = &mut self.zones else { return false };
        let waits = zones.holds(request, &mut self.commands.requests);
        if waits {
            self.look_at_zones();
        }
        waits
    }

    /// A unit that a finish or a commit writes has entered the buffer of `core`, or never will (`lost`).
    #[cold]
    #[inline(never)]
    pub fn left_queue(&mut self, now: Nanos, core: CoreId, work: UnitWork, lost: bool) {
        let (request, unit) = (work.request, self.unit_at(core, work.lpn));
        let Some(zones) = &mut self.zones else { return };
        if !zones.is_fill(request) {
            return;
        }
        let bytes = u64::from(work.sectors) * SECTOR_BYTES;
        if !lost {
            // It is not the host's.
            self.counters.host_bytes_written -= bytes;
        }
        if let Some((zone, commits)) = zones.left_queue(request, unit, bytes, lost) {
            // Of a finish the host is told when the zone is on flash. Its last program unit is full: nothing need be padded, even if the buffer is volatile.
            if commits {
                self.finish_parts(now, request, 1);
            } else {
                self.commands.flushes.bar(request);
            }
            self.end_zone_action(zone);
            self.end_barriers(now);
        }
        self.look_at_zones();
    }

    /// The action under way on `zone` has ended: what waited for it may go on.
    pub fn end_zone_action(&mut self, zone: ZoneId) {
        if let Some(zones) = &mut self.zones {
            zones.acted(zone, &mut self.commands.requests);
        }
        self.look_at_zones();
    }
}
