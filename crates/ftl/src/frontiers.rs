//! Write frontiers: the slot to which the next unit of each stream goes.

use outlast_units::{IndexVec, Ppn, Stream, SuperblockId};
use std::ops::{Index, IndexMut};

/// Parity that is due: of stripes whose data is complete.
#[derive(Clone, Copy, Debug, Default, outlast_persist::Persist)]
pub(crate) struct DueParity {
    /// The first stripe whose parity has not all been handed out.
    pub(crate) stripe: u32,
    /// The first stripe that is not complete.
    pub(crate) end: u32,
    /// Program units of parity of `stripe` that have been handed out.
    pub(crate) handed_out: u32,
}

/// Positions of data after the program unit under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, outlast_persist::Persist)]
enum FrontierPath {
    /// Every slot up to the end holds data.
    Straight,
    /// Some program units hold no data: parity, or lanes that are gone. Holds the number of data slots after the program unit under way.
    Broken(u32),
}

/// The write frontier of one stream.
#[derive(Clone, Copy, Debug, outlast_persist::Persist)]
pub(crate) struct WriteFrontier {
    superblock: SuperblockId,
    /// Next slot.
    next: Ppn,
    /// Number of the first slot of the next program unit. No `Ppn`: beside a full superblock, the last of the core, there is no such slot.
    pu_end: u32,
    /// First slot beyond those of data; equal to `next` when no superblock is open.
    end: Ppn,
    path: FrontierPath,
    due: DueParity,
    /// Program units of lists that have been considered, in allocation order.
    lists: u32,
    /// True if a relocation under way may have to open a superblock more for this stream: a free one is promised to it.
    promised: bool,
}

impl Default for WriteFrontier {
    /// No superblock is open, and none ever was.
    fn default() -> Self {
        Self {
            superblock: SuperblockId::default(),
            next: Ppn(0),
            pu_end: 0,
            end: Ppn(0),
            path: FrontierPath::Straight,
            due: DueParity::default(),
            lists: 0,
            promised: false,
        }
    }
}

impl WriteFrontier {
    /// At slot `first`, the first of `superblock`, of which the `data` slots up to the lists hold data, `units` in a program unit.
    pub(crate) fn at_start(superblock: SuperblockId, first: Ppn, data: u32, units: u32) -> Self {
        debug_assert!(
            data.is_multiple_of(units),
            "{data} slots are no whole number of program units of {units}"
        );
        Self { superblock, next: first, pu_end: first.0 + units, end: first + data, ..Self::default() }
    }

    /// The superblock that the stream fills, or has filled last.
    #[inline]
    pub(crate) fn superblock(&self) -> SuperblockId {
        self.superblock
    }

    /// The next slot.
    #[inline]
    pub(crate) fn next(&self) -> Ppn {
        self.next
    }

    /// True if no slot is left: the next unit opens a superblock.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.next == self.end
    }

    /// True if a superblock was ever opened, and all its data slots are taken.
    pub(crate) fn has_filled(&self) -> bool {
        self.is_full() && self.end != Ppn(0)
    }

    /// True if not all slots after the program unit under way hold data.
    #[inline]
    pub(crate) fn is_broken(&self) -> bool {
        self.path != FrontierPath::Straight
    }

    /// Slots left in the program unit under way.
    #[inline]
    pub(crate) fn left_in_pu(&self) -> u32 {
        debug_assert!(self.next.0 <= self.pu_end, "slot {} lies beyond its program unit", self.next);
        self.pu_end - self.next.0
    }

    /// Slots from the next one on that follow one another.
    #[inline]
    pub(crate) fn stretch(&self) -> u32 {
        if self.is_broken() { self.left_in_pu() } else { self.end - self.next }
    }

    /// Data slots left.
    #[inline]
    pub(crate) fn room(&self) -> u32 {
        match self.path {
            FrontierPath::Straight => self.end - self.next,
            FrontierPath::Broken(_) if self.is_full() => 0,
            FrontierPath::Broken(later) => later + self.left_in_pu(),
        }
    }

    /// Units in the program unit, of `units` slots, that is begun and not full.
    #[inline]
    pub(crate) fn begun(&self, units: u32) -> u32 {
        if self.is_full() { 0 } else { units - self.left_in_pu() }
    }

    /// Takes the next `count` slots, which follow one another. Returns whether that fills the program unit under way.
    #[inline]
    pub(crate) fn take(&mut self, count: u32, units: u32) -> bool {
        debug_assert!(count <= self.left_in_pu(), "{count} slots taken, {} left", self.left_in_pu());
        debug_assert!(!self.is_full(), "slots taken beyond the superblock");
        debug_assert!(self.next + count <= self.end, "slots taken beyond the data of the superblock");
        self.next = self.next + count;
        let filled = self.next.0 == self.pu_end;
        if filled {
            self.pu_end += units;
        }
        filled
    }

    /// Takes the next `count` slots, which follow one another over any number of program units, the next of which ends at `pu_end`
    /// then.
    #[inline]
    pub(crate) fn take_over(&mut self, count: u32, pu_end: Ppn) {
        debug_assert!(count <= self.stretch(), "{count} slots taken, {} left", self.stretch());
        self.next = self.next + count;
        self.pu_end = pu_end.0;
        debug_assert!(self.next.0 < self.pu_end, "no slot is left of the program unit under way");
    }

    /// Makes the frontier broken: `later` slots after the program unit under way hold data.
    pub(crate) fn break_off(&mut self, later: u32) {
        debug_assert!(later <= self.end.0, "{later} slots come, of {}", self.end);
        self.path = FrontierPath::Broken(later);
    }

    /// Makes a straight frontier broken, with all slots that follow still for data.
    pub(crate) fn break_straight(&mut self) {
        if self.path == FrontierPath::Straight {
            self.path = FrontierPath::Broken(self.end.0 - self.pu_end);
        }
    }

    /// Takes `count` slots after the program unit under way from those that hold data.
    ///
    /// # Panics
    /// If there are not so many.
    pub(crate) fn lose_later(&mut self, count: u32) {
        let FrontierPath::Broken(later) = &mut self.path else {
            panic!("slots are lost of a superblock in which all hold data");
        };
        assert!(*later >= count, "{count} slots hold no data, of {later} that come");
        *later -= count;
    }

    /// Moves on to the program unit that begins with slot `first`, which holds data, or to the end.
    pub(crate) fn move_to(&mut self, first: Ppn, units: u32) {
        self.next = first;
        self.pu_end = first.0 + units;
        if !self.is_full() {
            self.lose_later(units);
        }
        assert!(self.next <= self.end, "a frontier at slot {first}, beyond the data of its superblock");
    }

    /// Closes the superblock: no slot is left.
    pub(crate) fn close(&mut self) {
        debug_assert!(self.next <= self.end, "a frontier beyond the data of its superblock");
        self.next = self.end;
    }

    /// The parity that is due.
    pub(crate) fn due(&self) -> DueParity {
        self.due
    }

    pub(crate) fn due_mut(&mut self) -> &mut DueParity {
        &mut self.due
    }

    /// Program units of lists considered so far.
    pub(crate) fn lists(&self) -> u32 {
        self.lists
    }

    /// Takes the next program unit of lists; returns its number among them.
    pub(crate) fn take_list(&mut self) -> u32 {
        self.lists += 1;
        self.lists - 1
    }

    /// Considers lists from the first one on again.
    pub(crate) fn restart_lists(&mut self) {
        self.lists = 0;
    }

    /// True if a relocation under way may have to open a superblock more for the stream.
    pub(crate) fn is_promised(&self) -> bool {
        self.promised
    }

    /// Promises a free superblock to the stream, for a relocation under way that may have to open one more, or takes the promise back.
    pub(crate) fn promise(&mut self, promised: bool) {
        self.promised = promised;
    }
}

/// The frontiers of all streams.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub(crate) struct StreamFrontiers(IndexVec<Stream, WriteFrontier>);

impl StreamFrontiers {
    /// Frontiers of `streams` streams without an open superblock.
    pub(crate) fn new(streams: usize) -> Self {
        Self(IndexVec::filled(WriteFrontier::default(), streams))
    }

    /// Number of streams.
    pub(crate) fn len(&self) -> u32 {
        self.0.len() as u32
    }

    pub(crate) fn streams(&self) -> impl ExactSizeIterator<Item = Stream> + use<> {
        self.0.indices()
    }

    /// Free superblocks promised to any stream.
    pub(crate) fn promised(&self) -> u32 {
        self.0.iter().map(|frontier| u32::from(frontier.promised)).sum()
    }

    /// Free superblocks promised to streams other than `stream`.
    pub(crate) fn promised_beside(&self, stream: Stream) -> u32 {
        let others = self.0.iter_indexed().filter(|&(other, _)| other != stream);
        others.map(|(_, frontier)| u32::from(frontier.promised)).sum()
    }

    /// Takes back all promises.
    pub(crate) fn forget_promises(&mut self) {
        self.0.iter_mut().for_each(|frontier| frontier.promised = false);
    }

    /// Checks that frontiers lie within their superblocks, of `slots` slots, and that the room of each is `room`: its data slots counted one by one.
    ///
    /// # Errors
    /// The first frontier that does not.
    pub(crate) fn check(&self, slots: u32, units: u32, room: impl Fn(Stream) -> u32) -> Result<(), String> {
        for (stream, frontier) in self.0.iter_indexed().filter(|(_, frontier)| !frontier.is_full()) {
            let first = Ppn(frontier.superblock.0 * slots);
            if frontier.next < first || frontier.end > first + slots || frontier.next > frontier.end {
                return Err(format!(
                    "stream {}: slot {} lies outside the superblock",
                    stream.0, frontier.next
                ));
            }
            if frontier.left_in_pu() == 0 || frontier.left_in_pu() > units {
                return Err(format!("stream {}: {} slots left of {units}", stream.0, frontier.left_in_pu()));
            }
            let counted = room(stream);
            if counted != frontier.room() {
                return Err(format!(
                    "stream {}: room for {counted} units, kept as {}",
                    stream.0,
                    frontier.room()
                ));
            }
        }
        Ok(())
    }
}

impl Index<Stream> for StreamFrontiers {
    type Output = WriteFrontier;

    #[inline]
    fn index(&self, stream: Stream) -> &WriteFrontier {
        &self.0[stream]
    }
}

impl IndexMut<Stream> for StreamFrontiers {
    #[inline]
    fn index_mut(&mut self, stream: Stream) -> &mut WriteFrontier {
        &mut self.0[stream]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Superblock 3 of 24 slots, the last four for lists; four units to a program unit.
    fn frontier() -> WriteFrontier {
        WriteFrontier::at_start(SuperblockId(3), Ppn(72), 20, 4)
    }

    #[test]
    fn a_straight_frontier_is_a_counter() {
        let mut frontier = frontier();
        assert_eq!((frontier.room(), frontier.begun(4), frontier.stretch()), (20, 0, 20));
        assert!(!frontier.take(3, 4));
        assert_eq!((frontier.room(), frontier.begun(4), frontier.left_in_pu()), (17, 3, 1));
        assert!(frontier.take(1, 4));
        assert_eq!((frontier.room(), frontier.begun(4), frontier.next()), (16, 0, Ppn(76)));
        frontier.take_over(16, Ppn(96));
        assert!(frontier.is_full() && frontier.has_filled());
        assert_eq!((frontier.room(), frontier.begun(4)), (0, 0));
        assert!(!WriteFrontier::default().has_filled() && WriteFrontier::default().is_full());
    }

    #[test]
    fn a_broken_one_knows_how_much_follows() {
        let mut frontier = frontier();
        frontier.take(2, 4);
        frontier.break_straight();
        assert_eq!((frontier.room(), frontier.stretch()), (18, 2));
        frontier.lose_later(8);
        assert_eq!(frontier.room(), 10);
        assert!(frontier.take(2, 4));
        frontier.move_to(Ppn(84), 4);
        assert_eq!((frontier.room(), frontier.next()), (8, Ppn(84)));
        frontier.take(4, 4);
        frontier.move_to(Ppn(88), 4);
        frontier.take(4, 4);
        frontier.move_to(Ppn(92), 4);
        assert!(frontier.is_full());
    }

    #[test]
    #[should_panic(expected = "of 16 that come")]
    fn no_more_is_lost_than_comes() {
        let mut frontier = frontier();
        frontier.break_straight();
        frontier.lose_later(20);
    }

    #[test]
    fn promises_count_for_the_others() {
        let mut frontiers = StreamFrontiers::new(3);
        frontiers[Stream(1)].promise(true);
        assert_eq!([0, 1, 2].map(|stream| frontiers.promised_beside(Stream(stream))), [1, 0, 1]);
        frontiers.forget_promises();
        assert_eq!(frontiers.promised_beside(Stream(0)), 0);
    }

    #[test]
    fn a_room_that_is_off_is_found() {
        let mut frontiers = StreamFrontiers::new(4);
        frontiers[Stream(2)] = frontier();
        assert_eq!(frontiers.check(24, 4, |_| 20), Ok(()));
        assert!(
            frontiers.check(24, 4, |_| 16).unwrap_err().contains("stream 2: room for 16 units, kept as 20")
        );
        assert!(frontiers.check(16, 4, |_| 20).unwrap_err().contains("outside"));
    }
}
