//! Relocation: moving the valid units of a superblock. `choices` picks the superblock.

use crate::bits::{lowest, lowest_of_more};
use crate::ftl::Ftl;
use crate::layout::DieLane;
use crate::pages::UnitRun;
use outlast_decisions::SuperblockState;
use outlast_units::{Ppn, Pu, PuWithin, Stream, SuperblockId, count_few};

/// Units of a program unit of a victim on their way to a stream: see [`Ftl::relocate_units`].
#[derive(Clone, Copy, Debug)]
pub struct MovingUnits {
    /// The victim.
    superblock: SuperblockId,
    /// The first slot of the program unit.
    first: Ppn,
    /// Units that have not been considered yet, a bit each; and which of them are valid.
    left: u64,
    valid: u64,
}

impl MovingUnits {
    /// Those units of program unit `pu` of `ftl`, of a superblock being relocated, that are set in bit mask `units`.
    #[inline]
    pub fn of(ftl: &Ftl, pu: Pu, units: u64) -> Self {
        Self::of_victim(ftl, ftl.space.layout().superblock_of_pu(pu), pu, units)
    }

    /// [`MovingUnits::of`], where it is known that `pu` is of `superblock`.
    #[inline]
    pub fn of_victim(ftl: &Ftl, superblock: SuperblockId, pu: Pu, units: u64) -> Self {
        debug_assert!(units != 0, "no unit is to be moved");
        let layout = ftl.space.layout();
        debug_assert!(
            layout.superblock_of_pu(pu) == superblock,
            "program unit {pu} is of another superblock"
        );
        debug_assert!(
            ftl.space.superblocks().state(superblock) == SuperblockState::Collecting,
            "superblock {superblock} is moved and not being relocated"
        );
        let first = layout.first_slot_of(pu);
        let valid = units & ftl.pages.map().valid_in(first, layout.units_per_pu());
        Self { superblock, first, left: units, valid }
    }

    /// True if all of them have moved, or were stale.
    #[inline]
    pub fn are_done(&self) -> bool {
        self.left == 0
    }

    /// Those that have not been considered yet, a bit each.
    #[inline]
    pub fn left(&self) -> u64 {
        self.left
    }
}

/// Result of [`Ftl::relocate_units`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RelocatedUnits {
    /// Units up to the one that has filled a program unit; all of them where none is full.
    pub before: ConsideredUnits,
    /// Units after that.
    pub after: ConsideredUnits,
    /// The program unit that has been filled; it can be programmed now.
    pub completed: Option<Pu>,
}

/// How many units were to be moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConsideredUnits {
    /// Units that have moved.
    pub moved: u32,
    /// Units that had become stale meanwhile.
    pub stale: u32,
}

impl Ftl {
    /// Valid units of program unit `pu_within` of a superblock being relocated, a bit each; 0 of any other.
    #[inline]
    pub fn valid_units(&self, superblock: SuperblockId, pu_within: PuWithin) -> u64 {
        if self.space.superblocks().state(superblock) != SuperblockState::Collecting {
            return 0;
        }
        self.pages.valid_units_of_any(&self.space, superblock, pu_within)
    }

    /// Moves those of `moving` that are still valid to the frontier of `stream`, as far as the slots there follow one another: mostly all of them, of
    /// which the first ones may fill a program unit. Stale ones are passed over. Until the rest has followed, no unit of the core may become stale.
    ///
    /// # Panics
    /// If the stream cannot take a unit.
    #[allow(
        clippy::inline_always,
        reason = "for every program unit that collection reads, with its parts in registers"
    )]
    #[inline(always)]
    pub fn relocate_units(&mut self, stream: Stream, moving: &mut MovingUnits) -> RelocatedUnits {
        let MovingUnits { superblock, first, left, valid } = *moving;
        if valid == 0 {
            moving.left = 0;
            let before = ConsideredUnits { moved: 0, stale: left.count_ones() };
            return RelocatedUnits { before, after: ConsideredUnits::default(), completed: None };
        }
        if self.space.frontiers()[stream].is_full() {
            self.space.open_for_moved(stream, &mut self.pages);
        }
        let frontier = &self.space.frontiers()[stream];
        let (count, room, left_in_pu) = (count_few(valid), frontier.stretch(), frontier.left_in_pu());
        let moved =
            if count <= room { UnitRun(valid, count) } else { UnitRun(lowest_of_more(valid, room), room) };
        let cause = self.space.superblocks().moved_for(superblock);
        let (into, to) = (frontier.superblock(), frontier.next());
        self.pages.move_units(&mut self.space, (superblock, first), moved, (into, to), cause);
        let UnitRun(moved, count) = moved;
        let filled = self.space.take_slots(stream, count, &mut self.pages);
        // Units above the last one that has found a place have not been considered, valid or stale.
        let looked_at = if moved == valid { left } else { left & (u64::MAX >> moved.leading_zeros()) };
        (moving.left, moving.valid) = (left & !looked_at, valid & !moved);
        let mut before = ConsideredUnits { moved: count, stale: 0 };
        let mut after = ConsideredUnits::default();
        if count > left_in_pu {
            (before.moved, after.moved) = (left_in_pu, count - left_in_pu);
        }
        let stale = looked_at & !moved;
        if stale != 0 {
            // The first units up to the one that fills the program unit.
            let early = if count > left_in_pu { lowest_of_more(moved, left_in_pu) } else { moved };
            let early = if filled { stale & (u64::MAX >> early.leading_zeros()) } else { stale };
            (before.stale, after.stale) = (early.count_ones(), (stale & !early).count_ones());
        }
        let completed = filled.then(|| self.space.layout().pu_of(to).0);
        RelocatedUnits { before, after, completed }
    }

    /// [`Ftl::relocate_units`] without time: moves the units in all slots from `first` on that are set in `units`, which are valid, and
    /// programs what they complete.
    pub(super) fn relocate_at_once(&mut self, stream: Stream, first: Ppn, units: u64) {
        let superblock = self.space.layout().superblock_of(first);
        let cause = self.space.superblocks().moved_for(superblock);
        let mut left_to_move = units;
        while left_to_move != 0 {
            if self.space.frontiers()[stream].is_full() {
                self.space.open_for_moved(stream, &mut self.pages);
            }
            let frontier = &self.space.frontiers()[stream];
            let (left, broken) = (frontier.left_in_pu(), frontier.is_broken());
            let (into, to) = (frontier.superblock(), frontier.next());
            let moved = lowest(left_to_move, frontier.stretch());
            left_to_move &= !moved;
            let count = moved.count_ones();
            let moved = UnitRun(moved, count);
            self.pages.move_units(&mut self.space, (superblock, first), moved, (into, to), cause);
            if count < left {
                self.space.take_slots(stream, count, &mut self.pages);
                continue;
            }
            let next = to + count;
            let (filled, _) = self.space.layout().pu_of(to);
            let (begun, units) = self.space.layout().pu_of(next);
            // End of the program unit in which the next slot lies: `units` of it are taken.
            let pu_end = Ppn(next.0 - units) + self.space.layout().units_per_pu();
            self.space.take_run(stream, count, pu_end);
            self.program_full(stream, filled, begun - filled);
            if broken {
                self.space.skip_to_data(stream, &mut self.pages);
            }
            if broken || self.space.layout().has_lists() {
                self.program_parity(stream);
            }
        }
    }

    /// The lane on which `stream` goes on in its open superblock, if it begins a program unit there and leaves none out.
    pub fn next_whole_lane(&self, stream: Stream) -> Option<DieLane> {
        let (frontier, layout) = (&self.space.frontiers()[stream], self.space.layout());
        let is_whole =
            !frontier.is_full() && !frontier.is_broken() && frontier.left_in_pu() == layout.units_per_pu();
        is_whole.then(|| layout.place(layout.pu_of(frontier.next()).0).lane)
    }

    /// The data of program unit `from` is copied to `to` on the chip.
    pub fn count_copy(&mut self, from: Pu, to: Pu) {
        let layout = self.space.layout();
        let (from, to) = (layout.superblock_of_pu(from), layout.superblock_of_pu(to));
        self.space.count_copy(from, to);
    }

    /// Valid units of program unit `pu_within` of a superblock in any state, a bit each.
    #[inline]
    pub fn valid_units_of_any(&self, superblock: SuperblockId, pu_within: PuWithin) -> u64 {
        self.pages.valid_units_of_any(&self.space, superblock, pu_within)
    }
}
