//! Write frontiers: the slot to which the next unit of each stream goes.

mod of_streams;

pub(crate) use of_streams::StreamFrontiers;

use outlast_units::{Ppn, SuperblockId};

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

    /// True if a superblock was ever opened.
    pub(crate) fn has_opened(&self) -> bool {
        self.end != Ppn(0)
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

    /// Takes the next `count` slots, which follow one another, no more than the `units` of a program unit. Returns whether that fills the program
    /// unit under way.
    #[inline]
    pub(crate) fn take(&mut self, count: u32, units: u32) -> bool {
        debug_assert!(
            count <= units && count <= self.stretch(),
            "{count} slots taken, {} left",
            self.stretch()
        );
        debug_assert!(!self.is_full(), "slots taken beyond the superblock");
        debug_assert!(self.next + count <= self.end, "slots taken beyond the data of the superblock");
        self.next = self.next + count;
        let filled = self.next.0 >= self.pu_end;
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

#[cfg(test)]
mod tests;
