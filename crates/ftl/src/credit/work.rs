//! Work of collection on a victim: units to be moved until space is gained, and the gain that comes with them.

use super::CREDIT_PER_UNIT;

/// Work of collection on its victim, and the gain from it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, outlast_persist::Persist)]
pub struct VictimWork {
    /// Valid units to be moved until a superblock is gained for the host: of this victim, and of those after it if the gain of this one goes into the stream's own
    /// next superblock. An estimate: later victims are taken to hold what this one held.
    until_gain: u32,
    /// Slots that the erasure of the victim gains, in 2^-16 units, less those accounted for.
    gain: u64,
    /// Valid units not yet handled.
    to_move: u32,
}

/// A step of collection against the work that is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct VictimProgress {
    /// Units handled in this step, and, these included, units left until a superblock is gained.
    pub(super) units: u32,
    pub(super) work: u32,
}

impl VictimWork {
    /// Work on a victim with `valid` units, which go to a stream whose open superblock has `room` and whose next one has `units` slots.
    pub fn new(valid: u32, room: u32, units: u32) -> Self {
        let gain = u64::from(units.saturating_sub(valid)) * CREDIT_PER_UNIT;
        Self { until_gain: work_until_gain(valid, room, units), gain, to_move: valid }
    }

    /// Takes `units` units, which have been handled, off the work.
    #[inline]
    pub(super) fn advance(&mut self, units: u32) -> VictimProgress {
        let work = self.until_gain.max(units);
        self.until_gain = work - units;
        VictimProgress { units, work }
    }

    /// Takes the part of the gain that comes with `units` units that have been handled, in 2^-16 units.
    pub(super) fn take_gain(&mut self, units: u32) -> u64 {
        let to_move = self.to_move.max(units).max(1);
        let gain = self.gain * u64::from(units) / u64::from(to_move);
        self.to_move = to_move - units;
        self.gain -= gain;
        gain
    }

    /// Takes the gain that did not come with units moved, once all have been.
    pub(super) fn take_remaining_gain(&mut self) -> u64 {
        std::mem::take(&mut self.gain)
    }
}

/// Valid units to be moved until a victim's erasure leaves one superblock more than before: its own `valid` ones when they fit
/// into the `room` of the stream's open superblock; otherwise a new one of `units` slots is opened for the rest, and the next
/// victim counts too.
pub(super) fn work_until_gain(valid: u32, room: u32, units: u32) -> u32 {
    let (mut work, mut room) = (valid, room);
    // Each victim adds what it has stale; one without any adds nothing, and there is no end to be estimated.
    while room < valid && valid < units {
        room += units - valid;
        work = work.saturating_add(valid);
    }
    work
}
