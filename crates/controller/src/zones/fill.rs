//! A finish writes the rest of its zone, a commit what lies in its random write area: units through the zone's stream, in turns with what the host writes.

use super::Zones;
use crate::commands::HostRequestId;
use outlast_device::ZoneId;

/// Units of a zone that a finish or a commit writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, outlast_persist::Persist)]
pub struct ZoneFill {
    /// Request of the finish, of the commit, or of the write that commits.
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
    /// True if it commits, and is done when all is in the buffer.
    commits: bool,
}

impl ZoneFill {
    /// True if another unit may wait for room now.
    pub fn has_room(&self) -> bool {
        self.next < self.end && self.waiting < self.depth
    }
}

impl Zones {
    /// `request` writes the units from `next` to `end` of `zone`, of which `depth` may wait at a time. `commits`: for a commit, not for a finish.
    pub fn begin_fill(
        &mut self,
        request: HostRequestId,
        zone: ZoneId,
        (next, end): (u64, u64),
        depth: u32,
        commits: bool,
    ) {
        self.fills.push(ZoneFill { request, zone, next, end, waiting: 0, depth, commits });
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

    /// Unit `unit` of `request` has entered a buffer, or never will (`lost`). Returns the zone if `request` has written all then, and whether it commits.
    pub fn left_queue(
        &mut self,
        request: HostRequestId,
        unit: u64,
        bytes: u64,
        lost: bool,
    ) -> Option<(ZoneId, bool)> {
        let at = self.fills.iter().position(|fill| fill.request == request)?;
        let fill = &mut self.fills[at];
        fill.waiting -= 1;
        let (zone, commits) = (fill.zone, fill.commits);
        if lost {
            fill.next = fill.end;
        }
        let ends = fill.next == fill.end && fill.waiting == 0;
        if !lost {
            let was_in_area = self.leave_area(zone, unit);
            if commits || was_in_area {
                self.counts.committed_bytes += bytes;
            } else {
                self.counts.finish_bytes += bytes;
            }
        }
        ends.then(|| {
            self.fills.swap_remove(at);
            (zone, commits)
        })
    }

    /// True if `request` is a finish or a commit that writes units of a zone.
    pub fn is_fill(&self, request: HostRequestId) -> bool {
        self.fills.iter().any(|fill| fill.request == request)
    }
}
