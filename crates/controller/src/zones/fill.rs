//! A finish writes the rest of its zone: units of zeroes through the zone's stream, in turns with what the host writes.

use super::Zones;
use crate::commands::HostRequestId;
use outlast_device::ZoneId;

/// The rest of a zone that a finish writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, outlast_persist::Persist)]
pub struct ZoneFill {
    /// Request of the finish.
    pub request: HostRequestId,
    /// The zone.
    pub zone: ZoneId,
    /// The next unit, of the drive's.
    next: u64,
    /// The unit after the last.
    end: u64,
    /// Units that wait for room in a buffer, and how many may: as a host that keeps so many writes in flight.
    waiting: u32,
    depth: u32,
}

impl ZoneFill {
    /// True if another unit may wait for room now.
    pub fn has_room(&self) -> bool {
        self.next < self.end && self.waiting < self.depth
    }
}

impl Zones {
    /// Finish `request` writes the units from `next` to `end` of `zone`, of which `depth` may wait at a time.
    pub fn begin_fill(&mut self, request: HostRequestId, zone: ZoneId, (next, end): (u64, u64), depth: u32) {
        self.fills.push(ZoneFill { request, zone, next, end, waiting: 0, depth });
    }

    /// The next unit that a finish writes, and its fill: each in turn.
    pub fn next_of_fill(&mut self) -> Option<(ZoneFill, u64)> {
        let at = self.fills.iter().position(ZoneFill::has_room)?;
        let fill = &mut self.fills[at];
        let unit = fill.next;
        fill.next += 1;
        fill.waiting += 1;
        let fill = *fill;
        self.fills.rotate_left(at + 1);
        Some((fill, unit))
    }

    /// A unit of `request` has entered a buffer, or never will (`lost`). Returns the zone if `request` is a finish that has written all then.
    pub fn left_queue(&mut self, request: HostRequestId, bytes: u64, lost: bool) -> Option<ZoneId> {
        let at = self.fills.iter().position(|fill| fill.request == request)?;
        let fill = &mut self.fills[at];
        fill.waiting -= 1;
        if lost {
            fill.next = fill.end;
        } else {
            self.counts.finish_bytes += bytes;
        }
        let ends = fill.next == fill.end && fill.waiting == 0;
        ends.then(|| self.fills.swap_remove(at).zone)
    }

    /// True if `request` is a finish that writes the rest of a zone.
    pub fn is_fill(&self, request: HostRequestId) -> bool {
        self.fills.iter().any(|fill| fill.request == request)
    }
}
