//! The door of a drive: commands wait before it while the drive mounts, wakes up, or is too warm.

use super::{HostSide, Submission};
use crate::heat::HostPacing;
use outlast_device::{LatencyCause, Op, Tag};
use outlast_units::{ByteRate, Bytes, Nanos, SECTOR_BYTES};
use std::collections::VecDeque;

/// Closed while the drive is not ready, and while it throttles the host: its queue then has no place for any command.
#[derive(Clone, Debug, Default, outlast_persist::Persist)]
pub(super) struct Door {
    /// When it opens, or the next command is let in, and the places of its queue; absent while the door is open.
    closed: Option<(Nanos, u32)>,
    /// Commands that have come meanwhile.
    pub(super) arrived: VecDeque<Submission>,
    /// Present while the host is throttled.
    pace: Option<EntryPace>,
    /// When the drive is ready, apart from throttling.
    ready_at: Nanos,
    /// True if it was a mount for which it was closed last.
    mounts: bool,
}

/// Pace at which commands are let in, one by one.
#[derive(Clone, Copy, Debug, outlast_persist::Persist)]
struct EntryPace {
    /// Absent: none is let in.
    rate: Option<ByteRate>,
    /// When the bytes of the commands before have had their time.
    free_at: Nanos,
}

impl Door {
    pub(super) fn is_closed(&self) -> bool {
        self.closed.is_some()
    }

    /// When the drive is ready, apart from throttling.
    pub(super) fn ready_at(&self) -> Nanos {
        self.ready_at
    }

    /// True if commands are let in one by one.
    pub(super) fn is_paced(&self) -> bool {
        self.pace.is_some()
    }

    /// When the next command may come in while the host is throttled.
    fn turn(&self, now: Nanos) -> Nanos {
        match self.pace {
            Some(EntryPace { rate: Some(_), free_at }) if !self.arrived.is_empty() => {
                free_at.max(self.ready_at).max(now)
            }
            _ => Nanos::MAX,
        }
    }
}

impl HostSide {
    /// The drive mounts, and takes commands from `until` on.
    pub(crate) fn close(&mut self, until: Nanos) {
        self.close_for(LatencyCause::Mount, until);
    }

    /// The drive takes commands from `until` on, for which `cause` is to blame.
    pub(super) fn close_for(&mut self, cause: LatencyCause, until: Nanos) {
        self.door.ready_at = until;
        self.door.mounts = cause == LatencyCause::Mount;
        if self.door.is_paced() { self.shut(self.door.turn(until)) } else { self.shut(until) }
    }

    /// True if commands wait before the door.
    #[inline]
    pub(super) fn is_closed(&self) -> bool {
        self.door.is_closed()
    }

    /// True if commands are let in one by one.
    pub(super) fn is_paced(&self) -> bool {
        self.door.is_paced()
    }

    /// Cause for which commands have waited that come in as the door opens.
    pub(super) fn why_closed(&self) -> LatencyCause {
        if self.door.mounts { LatencyCause::Mount } else { LatencyCause::Throttle }
    }

    fn shut(&mut self, until: Nanos) {
        let places = self.door.closed.map_or(self.queue_depth, |(_, places)| places);
        self.door.closed = Some((until, places));
        self.queue_depth = 0;
    }

    /// When the door opens, or lets the next command in; [`Nanos::MAX`] if it is open.
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

    /// Lets commands in by `pacing` from now on. Returns when the door is to be looked at.
    pub(crate) fn set_pacing(&mut self, now: Nanos, pacing: HostPacing) -> Nanos {
        let rate = match pacing {
            HostPacing::Free if self.door.pace.is_none() => return Nanos::MAX,
            HostPacing::Free => {
                self.door.pace = None;
                self.door.mounts = self.door.ready_at > now;
                self.shut(self.door.ready_at.max(now));
                return self.opens_at();
            }
            HostPacing::Rate(rate) => Some(rate),
            HostPacing::Shut => None,
        };
        let free_at = self.door.pace.map_or(now, |pace| pace.free_at);
        self.door.pace = Some(EntryPace { rate, free_at });
        self.shut(self.door.turn(now));
        self.opens_at()
    }

    /// A command has come to the door. Returns when the door is to be looked at.
    pub(super) fn knock(&mut self, now: Nanos) -> Nanos {
        if self.door.is_paced() {
            self.shut(self.door.turn(now));
        }
        self.opens_at()
    }

    /// The next command that is let in while the host is throttled, if it is time: its tag, and the command itself where the drive's queue has a place for
    /// it. Without one it waits there.
    pub(super) fn next_paced(&mut self, now: Nanos) -> Option<(Tag, Option<Submission>)> {
        let turn = self.door.turn(now);
        if turn > now {
            self.shut(turn);
            return None;
        }
        let submission = self.door.arrived.pop_front()?;
        let (command, tag) = (submission.command, submission.tag);
        if let Some(pace) = &mut self.door.pace
            && let Some(rate) = pace.rate
            && matches!(command.op, Op::Read | Op::Write | Op::Append)
        {
            let bytes = Bytes(u64::from(command.sectors) * SECTOR_BYTES);
            pace.free_at = pace.free_at.max(now) + rate.time_for(bytes);
        }
        let places = self.door.closed.map_or(self.queue_depth, |(_, places)| places);
        if self.in_flight >= places || !self.waiting.passes(command.queue, tag) {
            self.waiting.push(submission);
            return Some((tag, None));
        }
        if self.in_flight == 0 {
            self.busy_since = now;
        }
        self.in_flight += 1;
        Some((tag, Some(submission)))
    }
}
