//! The life of a victim: a superblock whose valid units an internal task moves, and which is then erased.
//!
//! ```text
//! Moving ──────────────► Erasing ──► gone        the buffer is protected, or all of it is on flash
//!    │ └► AwaitsFlash ──────┘                    else; meanwhile the task's next victim may begin
//!    └──► given up: not all of it found room
//! ```

use outlast_ftl::{Ftl, Stream};
use outlast_units::{IndexVec, LaneIndex, LocalDie, Pu, PuWithin, SuperblockId};

/// The victim that a task moves, or erases: read valid units, write them to a stream, erase.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub(super) struct Victim {
    pub(super) superblock: SuperblockId,
    pub(super) stream: Stream,
    pub(super) list: ReadList,
    pub(super) reads_in_flight: u32,
    /// Valid units that collection must still move until a superblock is gained for the host: of this victim, and of those
    /// after it if the gain of this one goes into the stream's own next superblock. An estimate: later victims are taken
    /// to hold what this one held.
    pub(super) work_left: u32,
    /// Lanes still to be erased, once that has begun.
    pub(super) erasing: Option<u32>,
}

impl Victim {
    /// Whether all that is to be read has been read and put where it goes, and erasing has not begun.
    #[inline]
    pub(super) fn is_moved(&self) -> bool {
        self.list.dies_left == 0 && self.reads_in_flight == 0 && self.erasing.is_none()
    }
}

/// A victim whose data has all been read and written, but is not all on flash: it is erased when it is. Meanwhile the next
/// victim may begin, and its data fills the program unit that this one's has begun.
#[derive(Clone, Copy, Debug, outlast_persist::Persist)]
pub(super) struct Former {
    pub(super) superblock: SuperblockId,
    /// Programs with this epoch are of this victim's data (or older), and so many of them have not ended.
    pub(super) epoch: u32,
    pub(super) programs: u32,
    /// The program unit that its last data has begun, until it is programmed.
    pub(super) begun: Option<Pu>,
    /// Lanes still to be erased, once that has begun.
    pub(super) erasing: Option<u32>,
}

impl Former {
    /// Whether its data is on flash, and erasing has not begun.
    pub(super) fn is_on_flash(&self) -> bool {
        self.programs == 0 && self.begun.is_none() && self.erasing.is_none()
    }
}

/// The program units of a victim that are still to be read, die by die. Reused from one victim to the next.
#[derive(Clone, Debug, Default, outlast_persist::Persist)]
pub(super) struct ReadList {
    /// Program units (counted within the superblock) that held valid data when it was chosen: a stretch of equal length for each die.
    pus: Vec<PuWithin>,
    /// Next entry of `pus`, and the end, for each die; equal when the die has nothing more to read.
    cursors: IndexVec<LocalDie, (u32, u32)>,
    /// Dies that have something more to read.
    pub(super) dies_left: u32,
}

impl ReadList {
    /// Lists what `superblock` holds, of the lanes in `only` if any are given.
    pub(super) fn fill(&mut self, ftl: &Ftl, superblock: SuperblockId, only: &[LaneIndex]) {
        let layout = ftl.layout();
        let stretch = layout.pus_per_superblock() / u32::from(layout.dies());
        self.pus.clear();
        self.pus.resize(layout.pus_per_superblock() as usize, PuWithin(0));
        self.cursors.clear();
        self.cursors.extend((0..u32::from(layout.dies())).map(|die| (die * stretch, die * stretch)));
        let mut pu = PuWithin(0);
        for _ in 0..layout.superpages() {
            for (position, lane) in layout.lanes().iter_indexed() {
                if ftl.valid_units(superblock, pu) != 0 && (only.is_empty() || only.contains(&position)) {
                    let (_, end) = &mut self.cursors[lane.local_die];
                    debug_assert!(
                        *end < (u32::from(lane.local_die.0) + 1) * stretch,
                        "a die has more than its share"
                    );
                    self.pus[*end as usize] = pu;
                    *end += 1;
                }
                pu = pu + 1;
            }
        }
        self.dies_left = self.cursors.iter().filter(|(next, end)| next != end).count() as u32;
    }

    /// Whether die `local` has something more to read.
    #[inline]
    pub(super) fn has_more(&self, local: LocalDie) -> bool {
        let (next, end) = self.cursors[local];
        next != end
    }

    /// The next program unit on die `local`, which has one.
    #[inline]
    pub(super) fn take(&mut self, local: LocalDie) -> PuWithin {
        let (next, end) = &mut self.cursors[local];
        debug_assert!(next < end, "die {local} has nothing more to read");
        let pu = self.pus[*next as usize];
        *next += 1;
        self.dies_left -= u32::from(next == end);
        pu
    }

    /// The one that comes after it.
    #[inline]
    pub(super) fn peek(&self, local: LocalDie) -> Option<PuWithin> {
        let (next, end) = self.cursors[local];
        (next != end).then(|| self.pus[next as usize])
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Victims of `valid` of `units` units each: the stream's open superblock takes `room`, and each further one opened costs what a
    /// victim gains; counted one by one.
    #[test]
    fn the_work_until_a_gain_is_that_of_all_victims_it_takes() {
        for (valid, room, units) in [(10, 10, 100), (10, 0, 100), (90, 0, 100), (90, 85, 100), (50, 49, 100)]
        {
            let (mut victims, mut free, mut left) = (0, 0i64, room);
            while free < 1 {
                victims += 1;
                if left < valid {
                    free -= 1;
                    left += units;
                }
                left -= valid;
                free += 1;
            }
            assert_eq!(
                work_until_gain(valid, room, units),
                victims * valid,
                "{valid} of {units}, room {room}"
            );
        }
        assert_eq!(work_until_gain(100, 3, 100), 100, "a victim without stale units ends the estimate");
    }
}
