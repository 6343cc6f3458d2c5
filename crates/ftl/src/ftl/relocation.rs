//! Relocation: which superblock to empty, moving its valid units, erasing it.

use super::{Cause, Frontier, Ftl, State, Stream};
use crate::bits::{lowest, ones};
use crate::policy::{self, NO_CANDIDATE, View};
use crate::table::Mapping;
use outlast_units::{Ppn, SuperblockId};

/// What [`Ftl::relocate_units`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relocated {
    /// Units of those asked for that had become stale meanwhile.
    pub stale: u32,
    /// Units of those asked for that are still to be looked at.
    pub rest: u64,
    /// The program unit that the last unit moved has filled; it can be programmed now.
    pub completed: Option<u32>,
}

impl Ftl {
    /// Which slots of program unit `pu`, of a superblock being relocated, are valid, as a bit mask.
    #[inline]
    pub fn valid_units(&self, superblock: SuperblockId, pu_within: u32) -> u64 {
        if self.state[superblock.index()] != State::Collecting {
            return 0;
        }
        let units = self.layout.units_per_pu();
        self.map.valid_in(Ppn(self.layout.first_slot(superblock) + pu_within * units), units)
    }

    /// Moves those units of program unit `pu`, of a superblock being relocated, that are set in bit mask `units` and still valid to the
    /// frontier of `stream`, up to and including the one that fills a program unit there: that is to be programmed before the rest
    /// follows. Stale ones are passed over.
    ///
    /// # Panics
    /// If the stream cannot take a unit.
    #[inline]
    pub fn relocate_units(&mut self, stream: Stream, pu: u32, units: u64) -> Relocated {
        debug_assert!(units != 0, "no unit is to be moved");
        let (superblock, within) = self.layout.within_superblock(pu);
        let valid = units & self.valid_units(superblock, within);
        let index = usize::from(stream.0);
        if valid == 0 {
            return Relocated { stale: units.count_ones(), rest: 0, completed: None };
        }
        if self.frontiers[index].next == self.frontiers[index].end {
            self.open(stream);
        }
        let Frontier { next, pu_end, irregular, .. } = self.frontiers[index];
        let moved = lowest(valid, pu_end - next);
        // What lies above the unit that fills a program unit has not been looked at, be it valid or stale.
        let filled = next + moved.count_ones() == pu_end;
        let looked_at = if filled { units & ones(64 - moved.leading_zeros()) } else { units };
        let cause = self.moved_for[superblock.index()];
        self.move_units(stream, Ppn(pu * self.layout.units_per_pu()), moved, cause);
        let frontier = &mut self.frontiers[index];
        frontier.next += moved.count_ones();
        let completed = filled.then(|| self.layout.pu_of(Ppn(pu_end - 1)).0);
        if filled {
            frontier.pu_end += self.layout.units_per_pu();
            if irregular {
                self.skip(stream);
            }
        }
        Relocated { stale: (looked_at & !moved).count_ones(), rest: units & !looked_at, completed }
    }

    /// Moves the units in those slots from `first` on that are set in `moved`, all valid and of one superblock, to the slots at the
    /// frontier of `stream`, which is then to be set on.
    #[inline]
    fn move_units(&mut self, stream: Stream, first: Ppn, moved: u64, cause: Cause) {
        let Frontier { next, superblock: target, .. } = self.frontiers[usize::from(stream.0)];
        let source = self.layout.superblock_of(first);
        debug_assert!(source != target, "a superblock is relocated to itself");
        self.map.relocate(first, moved, Ppn(next));
        if self.contents.is_some() || self.origins.is_some() {
            self.carry(first, moved, Ppn(next));
        }
        let count = moved.count_ones();
        debug_assert!(self.valid_count(source) >= count, "more units move than are valid in {source}");
        self.valid[source.index()] -= count;
        self.valid[target.index()] += count;
        self.written[cause.moved()] += u64::from(count);
    }

    /// Bytes and origins of units that have moved go with them.
    #[cold]
    fn carry(&mut self, first: Ppn, moved: u64, to: Ppn) {
        let (mut rest, mut to) = (moved, to);
        while rest != 0 {
            let from = Ppn(first.0 + rest.trailing_zeros());
            rest &= rest - 1;
            if let Some(contents) = &mut self.contents {
                contents.relocate(from.0, to.0, self.map.owner(to).0);
            }
            self.note_origin(to, from, false);
            to.0 += 1;
        }
    }

    /// [`Ftl::relocate_units`] without time: moves the units in all slots from `first` on that are set in `units`, which are valid, and
    /// programs what they complete.
    pub(super) fn relocate_at_once(&mut self, stream: Stream, first: Ppn, units: u64) {
        let index = usize::from(stream.0);
        let cause = self.cause_of(stream);
        let mut rest = units;
        while rest != 0 {
            if self.frontiers[index].next == self.frontiers[index].end {
                self.open(stream);
            }
            let Frontier { next, end, pu_end, irregular, .. } = self.frontiers[index];
            // What follows the program unit may hold no data.
            let moved = lowest(rest, if irregular { pu_end } else { end } - next);
            rest &= !moved;
            self.move_units(stream, first, moved, cause);
            let next = next + moved.count_ones();
            self.frontiers[index].next = next;
            if next < pu_end {
                continue;
            }
            let (last, begun) = self.layout.pu_of(Ppn(next));
            let (filled, _) = self.layout.pu_of(Ppn(pu_end - 1));
            self.frontiers[index].pu_end = next - begun + self.layout.units_per_pu();
            if self.covers || self.origins.is_some() {
                for pu in filled..last {
                    self.programmed(pu);
                }
            } else {
                self.programmed_run(filled, last - filled);
            }
            if irregular {
                self.skip(stream);
            }
            if irregular || self.layout.list_rows() != 0 {
                self.program_parity(stream);
            }
        }
    }

    /// Whether space must be collected: few superblocks are free.
    #[inline]
    pub fn needs_gc(&self) -> bool {
        self.free.len() <= self.config.gc.start_free.unwrap_or(0) as usize
    }

    /// Whether there is a place to move the valid units of `superblock` to: they fit into the open superblock of `stream` and the free ones that are not promised
    /// to another.
    pub fn can_relocate(&self, superblock: SuperblockId, stream: Stream) -> bool {
        self.fits(superblock, stream)
    }

    fn fits(&self, superblock: SuperblockId, stream: Stream) -> bool {
        let others = self.frontiers.iter().enumerate().filter(|&(index, _)| index != usize::from(stream.0));
        let promised = others.filter(|(_, frontier)| frontier.promised).count() as u64;
        let free = u64::from(self.free_superblocks()).saturating_sub(promised);
        let room = u64::from(self.room(stream)) + free * u64::from(self.data_units(stream));
        u64::from(self.valid_count(superblock)) <= room
    }

    /// The superblock that garbage collection should take next, by the configured policy; `None` when no sealed superblock has
    /// a stale unit, or, on a worn drive, when there is no place to move its valid ones to.
    ///
    /// # Panics
    /// If there is no such place on a drive that is not worn: a superblock is always held back.
    pub fn choose_victim(&mut self) -> Option<SuperblockId> {
        if self.cuts != 0
            && self.free_superblocks() < self.reserve()
            && let Some(least) = self.choose_least()
        {
            return Some(least);
        }
        let victim = self.pick_victim()?;
        if !self.fits(victim, self.gc_stream(self.class_of_superblock(victim))) {
            let damaged = self.is_damaged() || self.damaged || self.is_mixed();
            assert!(damaged, "a superblock is held back for relocation unless the drive is worn or damaged");
            if let Some(least) = self.choose_least() {
                return Some(least);
            }
            if self.is_collecting() {
                // There will be room when it has been erased.
                return None;
            }
            self.read_only.stuck = true;
            return None;
        }
        // Data that was trimmed, or that has moved to another core, may have made room again.
        self.read_only.stuck = false;
        Some(victim)
    }

    /// Whether classes, or superblocks of one class, have different codes.
    #[inline]
    fn is_mixed(&self) -> bool {
        self.codes.len() > 1 || self.classes() > 1
    }

    fn pick_victim(&mut self) -> Option<SuperblockId> {
        if self.is_mixed() {
            return self.pick_mixed();
        }
        let view = View {
            valid: &self.valid,
            sealed_at: &self.sealed_at,
            sealed_order: &self.sealed_order,
            clock: self.clock,
            units: self.data_units(self.gc_stream(0)),
        };
        policy::choose(&self.config.gc, &view, &mut self.rng)
    }

    /// Where superblocks hold different amounts of data, what counts is the part of a superblock that a victim's valid units would
    /// fill. Superblocks whose code is outdated come first, if anything is gained from them.
    fn pick_mixed(&mut self) -> Option<SuperblockId> {
        let most = self.data_units.iter().copied().max()?;
        let share = |(index, &valid): (usize, &u32)| {
            let superblock = SuperblockId(index as u32);
            if valid & NO_CANDIDATE != 0 {
                return valid;
            }
            let stream = self.gc_stream(self.class_of_superblock(superblock));
            if !self.fits(superblock, stream) {
                return valid | NO_CANDIDATE;
            }
            let units = self.data_units(stream).max(1);
            (u64::from(valid) * u64::from(most)).div_ceil(u64::from(units)) as u32
        };
        let valid: Vec<u32> = self.valid.iter().enumerate().map(share).collect();
        let outdated: Vec<u32> = valid
            .iter()
            .enumerate()
            .map(|(index, &share)| {
                let is = self.is_outdated(SuperblockId(index as u32));
                if is { share } else { share | NO_CANDIDATE }
            })
            .collect();
        [outdated, valid].iter().find_map(|valid| {
            let view = View {
                valid,
                sealed_at: &self.sealed_at,
                sealed_order: &self.sealed_order,
                clock: self.clock,
                units: most,
            };
            policy::choose(&self.config.gc, &view, &mut self.rng)
        })
    }

    /// The superblock that static wear levelling should move: the least-worn sealed one, when the most-worn superblock is ahead of
    /// it by more than the configured gap and a well-worn one is free.
    pub fn choose_cold(&self) -> Option<SuperblockId> {
        let gap = self.config.wear_leveling.static_gap?;
        let coldest = (0..self.valid.len())
            .filter(|&index| self.valid[index] & NO_CANDIDATE == 0)
            .min_by_key(|&index| self.cycles[index])?;
        let worn = self.free.iter().map(|superblock| self.cycles[superblock.index()]).max()?;
        let coldest_cycles = self.cycles[coldest];
        let coldest = SuperblockId(coldest as u32);
        let stream = self.wear_leveling_stream(self.class_of_superblock(coldest));
        (worn.saturating_sub(coldest_cycles) > gap && self.fits(coldest, stream)).then_some(coldest)
    }

    /// Takes `superblock` out of the candidates: its valid units are now to be relocated to `stream` and counted for `cause`. Returns
    /// their number.
    ///
    /// # Panics
    /// If it is not sealed.
    pub fn begin_relocation(&mut self, superblock: SuperblockId, stream: Stream, cause: Cause) -> u32 {
        self.take_out(superblock);
        self.moved_for[superblock.index()] = cause;
        let valid = self.valid_count(superblock);
        self.frontiers[usize::from(stream.0)].promised = valid > self.room(stream);
        valid
    }

    /// Gives up the relocation of `superblock`, which is a candidate again.
    ///
    /// # Panics
    /// If it is not being relocated.
    pub fn end_relocation(&mut self, superblock: SuperblockId) {
        let state = &mut self.state[superblock.index()];
        assert!(*state == State::Collecting, "superblock {superblock} is {state:?}, not being relocated");
        *state = State::Sealed;
        self.valid[superblock.index()] &= !NO_CANDIDATE;
    }

    /// [`Ftl::end_relocation`] of one whose data found no room in `stream`: what was promised to the stream is free for others.
    pub fn give_up_relocation(&mut self, superblock: SuperblockId, stream: Stream) {
        self.frontiers[usize::from(stream.0)].promised = false;
        self.end_relocation(superblock);
    }

    /// Takes `superblock` out of the candidates.
    pub(super) fn take_out(&mut self, superblock: SuperblockId) {
        let index = superblock.index();
        assert!(
            self.state[index] == State::Sealed,
            "superblock {superblock} is {:?}, not sealed",
            self.state[index]
        );
        self.state[index] = State::Collecting;
        self.victims += 1;
        self.victim_units += u64::from(self.valid[index]);
        self.valid[index] |= NO_CANDIDATE;
    }

    /// Reports that every block of `superblock` has been erased. It is free again, unless a block went bad and no spare block
    /// could replace it.
    ///
    /// # Panics
    /// If it still holds valid units: erasing them would lose data.
    pub fn erased(&mut self, superblock: SuperblockId) {
        self.erased_but(superblock, |_| false);
    }

    /// As [`Ftl::erased`], but blocks of which `is_bad` says so (numbered as by [`outlast_media::Blocks::index`]) are retired and
    /// replaced by spare ones.
    ///
    /// # Panics
    /// As [`Ftl::erased`].
    pub fn erased_but(&mut self, superblock: SuperblockId, is_bad: impl Fn(u32) -> bool) {
        let index = superblock.index();
        assert!(
            self.state[index] == State::Collecting,
            "superblock {superblock} erased while {:?}",
            self.state[index]
        );
        assert!(self.valid[index] == NO_CANDIDATE, "superblock {superblock} erased with valid units");
        let whole = self.erase_blocks(superblock, is_bad);
        self.forget(superblock);
        if whole {
            self.state[index] = State::Free;
            self.free.push(superblock);
            if self.free_superblocks() >= self.reserve() {
                self.cuts = 0;
            }
        } else {
            self.state[index] = State::Retired;
            self.retired += 1;
        }
        self.review_room();
    }

    /// Whether too few superblocks are left to take writes for ever: the core serves reads only.
    #[inline]
    pub fn is_read_only(&self) -> bool {
        self.read_only.stuck || self.read_only.worn_out
    }

    pub(super) fn is_damaged(&self) -> bool {
        self.retired != 0 || !self.dead_lanes.is_empty() || self.missing_units != 0
    }
}
