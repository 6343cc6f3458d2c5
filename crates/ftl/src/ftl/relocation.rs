//! Relocation: moving the valid units of a superblock. `choices` picks the superblock.

use super::Ftl;
use crate::bits::{lowest, ones};
use crate::streams::StreamCause;
use crate::table::PageMapping;
use outlast_decisions::SuperblockState;
use outlast_units::{Ppn, Pu, PuWithin, Stream, SuperblockId, count_few};

/// Units of a stretch of slots: a bit each, and their number.
#[derive(Clone, Copy, Debug)]
struct UnitRun(u64, u32);

/// Result of [`Ftl::relocate_units`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RelocatedUnits {
    /// Units to be moved that had become stale meanwhile.
    pub stale: u32,
    /// Units to be moved that have not been considered yet, a bit each.
    pub remaining: u64,
    /// The program unit that the last unit moved has filled; it can be programmed now.
    pub completed: Option<Pu>,
}

impl Ftl {
    /// Valid units of program unit `pu_within` of a superblock being relocated, a bit each; 0 of any other.
    #[inline]
    pub fn valid_units(&self, superblock: SuperblockId, pu_within: PuWithin) -> u64 {
        if self.superblocks.state(superblock) != SuperblockState::Collecting {
            return 0;
        }
        self.valid_units_of_any(superblock, pu_within)
    }

    /// Valid units of program unit `pu_within` of a superblock in any state, a bit each.
    #[inline]
    pub fn valid_units_of_any(&self, superblock: SuperblockId, pu_within: PuWithin) -> u64 {
        let units = self.layout.units_per_pu();
        self.map.valid_in(self.layout.first_slot(superblock) + pu_within.0 * units, units)
    }

    /// Moves those units of program unit `pu`, of a superblock being relocated, that are set in bit mask `units` and still valid to the
    /// frontier of `stream`, up to and including the one that fills a program unit there: that is to be programmed before the rest
    /// follows. Stale ones are passed over.
    ///
    /// # Panics
    /// If the stream cannot take a unit.
    #[inline]
    pub fn relocate_units(&mut self, stream: Stream, pu: Pu, units: u64) -> RelocatedUnits {
        debug_assert!(units != 0, "no unit is to be moved");
        let (superblock, within) = self.layout.within_superblock(pu);
        let valid = units & self.valid_units(superblock, within);
        if valid == 0 {
            return RelocatedUnits { stale: units.count_ones(), remaining: 0, completed: None };
        }
        if self.frontiers[stream].is_full() {
            self.open_for_moved(stream);
        }
        let (valid_count, left) = (count_few(valid), self.frontiers[stream].left_in_pu());
        let moved = if valid_count <= left {
            UnitRun(valid, valid_count)
        } else {
            UnitRun(lowest(valid, left), left)
        };
        let cause = self.superblocks.moved_for(superblock);
        let to = self.move_units(stream, superblock, self.layout.first_slot_of(pu), moved, cause);
        let UnitRun(moved, count) = moved;
        let frontier = &mut self.frontiers[stream];
        let filled = frontier.take(count, self.layout.units_per_pu());
        if filled && frontier.is_broken() {
            self.skip_to_data(stream);
        }
        // Units above the one that fills a program unit have not been considered, valid or stale.
        debug_assert!(filled || moved == valid, "units are left over, and so is room");
        let looked_at = if filled { units & ones(64 - moved.leading_zeros()) } else { units };
        let stale = looked_at & !moved;
        RelocatedUnits {
            stale: if stale == 0 { 0 } else { stale.count_ones() },
            remaining: units & !looked_at,
            completed: filled.then(|| self.layout.pu_of(to).0),
        }
    }

    /// Moves the units in those slots of `superblock` from `first` on that are set in `moved`, all valid, to the slots at the frontier of
    /// `stream`, which is then to be set on. Returns the first of these slots.
    #[inline]
    fn move_units(
        &mut self,
        stream: Stream,
        superblock: SuperblockId,
        first: Ppn,
        moved: UnitRun,
        cause: StreamCause,
    ) -> Ppn {
        debug_assert!(self.layout.superblock_of(first) == superblock, "slot {first} is not of {superblock}");
        let UnitRun(units, count) = moved;
        debug_assert!(units.count_ones() == count, "{count} units move, of {units:b}");
        let frontier = &self.frontiers[stream];
        let (to, target) = (frontier.next(), frontier.superblock());
        self.map.relocate(first, units, count, to);
        if self.contents.is_some() || self.tracks_writes {
            self.carry_contents(first, units, to);
        }
        debug_assert!(self.map.is_valid(to), "the first unit that moved is not where it went");
        self.superblocks.move_valid(superblock, target, count);
        self.counts.count_units(cause.moved(), count);
        to
    }

    /// Moves bytes, origins and records of units that have moved.
    #[cold]
    fn carry_contents(&mut self, first: Ppn, moved: u64, to: Ppn) {
        let (mut left_to_move, mut to) = (moved, to);
        while left_to_move != 0 {
            let from = Ppn(first.0 + left_to_move.trailing_zeros());
            left_to_move &= left_to_move - 1;
            if let Some(contents) = &mut self.contents {
                contents.relocate(from.0, to.0, self.map.owner(to).0);
            }
            self.record_put(to, self.map.owner(to), from, false);
            to.0 += 1;
        }
    }

    /// [`Ftl::relocate_units`] without time: moves the units in all slots from `first` on that are set in `units`, which are valid, and
    /// programs what they complete.
    pub(super) fn relocate_at_once(&mut self, stream: Stream, first: Ppn, units: u64) {
        let superblock = self.layout.superblock_of(first);
        let cause = self.superblocks.moved_for(superblock);
        let mut left_to_move = units;
        while left_to_move != 0 {
            if self.frontiers[stream].is_full() {
                self.open_for_moved(stream);
            }
            let frontier = &self.frontiers[stream];
            let (left, broken) = (frontier.left_in_pu(), frontier.is_broken());
            let moved = lowest(left_to_move, frontier.stretch());
            left_to_move &= !moved;
            let count = moved.count_ones();
            let to = self.move_units(stream, superblock, first, UnitRun(moved, count), cause);
            if count < left {
                self.frontiers[stream].take(count, self.layout.units_per_pu());
                continue;
            }
            let next = to + count;
            let (filled, _) = self.layout.pu_of(to);
            let (begun, units) = self.layout.pu_of(next);
            // End of the program unit in which the next slot lies: `units` of it are taken.
            let pu_end = Ppn(next.0 - units) + self.layout.units_per_pu();
            self.frontiers[stream].take_over(count, pu_end);
            self.program_full(stream, filled, begun - filled);
            if broken {
                self.skip_to_data(stream);
            }
            if broken || self.layout.list_rows() != 0 {
                self.program_parity(stream);
            }
        }
    }

    /// True if the valid units of `superblock` have a place to go: the open superblock of `stream` and free ones that are not promised to another
    /// stream.
    pub fn can_relocate(&self, superblock: SuperblockId, stream: Stream) -> bool {
        let free = self.free_superblocks().saturating_sub(self.frontiers.promised_beside(stream));
        let room = u64::from(self.room(stream)) + u64::from(free) * u64::from(self.data_units(stream));
        u64::from(self.superblocks.valid(superblock)) <= room
    }

    /// Takes `superblock` out of the candidates: its valid units are now to be relocated to `stream` and counted for `cause`. Returns
    /// their number.
    ///
    /// # Panics
    /// If it is not sealed.
    pub fn begin_relocation(&mut self, superblock: SuperblockId, stream: Stream, cause: StreamCause) -> u32 {
        self.superblocks.begin_collecting(superblock, cause);
        debug_assert!(
            self.streams.cause(stream) != StreamCause::Host || self.streams.are_mixed(),
            "relocated data goes to streams of its own"
        );
        let valid = self.superblocks.valid(superblock);
        let promised = valid > self.room(stream);
        self.frontiers[stream].promise(promised);
        valid
    }

    /// Gives up the relocation of `superblock`, which is a candidate again.
    ///
    /// # Panics
    /// If it is not being relocated.
    pub fn end_relocation(&mut self, superblock: SuperblockId) {
        self.superblocks.end_collecting(superblock);
    }

    /// [`Ftl::end_relocation`] of one whose data found no room in `stream`: what was promised to the stream is free for others.
    pub fn give_up_relocation(&mut self, superblock: SuperblockId, stream: Stream) {
        self.frontiers[stream].promise(false);
        self.end_relocation(superblock);
    }

    /// True if too few superblocks are left to take writes for ever: the core serves reads only.
    #[inline]
    pub fn is_read_only(&self) -> bool {
        self.room.is_read_only()
    }

    pub(super) fn is_damaged(&self) -> bool {
        self.superblocks.retired() != 0 || self.lanes.lacks_any()
    }
}
