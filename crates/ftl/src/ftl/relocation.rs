//! Relocation: which superblock to empty, moving its valid units, erasing it.

use super::{Cause, Frontier, Ftl, Slot, State, Stream, Victim};
use crate::policy::{self, NO_CANDIDATE, View};
use outlast_units::{Lpn, Ppn, SuperblockId};

impl Ftl {
    /// Which slots of program unit `pu`, of a superblock being relocated, are valid, as a bit mask.
    #[inline]
    pub fn valid_units(&self, superblock: SuperblockId, pu_within: u32) -> u64 {
        let units = self.layout.units_per_pu();
        let Some(victim) = self.victim(superblock) else { return 0 };
        let first = (pu_within * units) as usize;
        let low = victim.valid[first / 64] >> (first % 64);
        // A program unit may straddle two words.
        let high = if first.is_multiple_of(64) {
            0
        } else {
            victim.valid.get(first / 64 + 1).map_or(0, |w| w << (64 - first % 64))
        };
        (low | high) & (u64::MAX >> (64 - units))
    }

    #[inline]
    fn victim(&self, superblock: SuperblockId) -> Option<&Victim> {
        self.relocating.iter().find(|victim| victim.superblock == Some(superblock))
    }

    /// A slot of an open superblock or one being relocated has become stale.
    pub(super) fn note_stale(&mut self, superblock: SuperblockId, slot: Ppn) {
        let within = (slot.0 - self.layout.first_slot(superblock)) as usize;
        if let Some(victim) = self.relocating.iter_mut().find(|victim| victim.superblock == Some(superblock))
        {
            victim.valid[within / 64] &= !(1 << (within % 64));
        }
    }

    /// Moves the unit in slot `from`, of a superblock being relocated, to the frontier of `stream`; `None` when it has become
    /// stale.
    ///
    /// # Panics
    /// If the stream cannot take a unit.
    #[inline]
    pub fn relocate(&mut self, stream: Stream, from: Ppn) -> Option<Slot> {
        let superblock = self.layout.superblock_of(from);
        let within = (from.0 - self.layout.first_slot(superblock)) as usize;
        let victim = self.victim(superblock)?;
        (victim.valid[within / 64] >> (within % 64) & 1 == 1).then(|| {
            self.note_stale(superblock, from);
            self.relocate_valid(stream, superblock, from)
        })
    }

    /// [`Ftl::relocate`] of a slot known to be valid.
    #[inline]
    fn relocate_valid(&mut self, stream: Stream, superblock: SuperblockId, from: Ppn) -> Slot {
        let lpn = self.p2l[from.index()];
        let slot = self.advance(stream);
        self.l2p[lpn.index()] = slot.ppn;
        if let Some(contents) = &mut self.contents {
            contents.relocate(from.0, slot.ppn.0, lpn.0);
        }
        self.p2l[slot.ppn.index()] = lpn;
        self.note_origin(slot.ppn, from, false);
        let cause = self.victim(superblock).and_then(|victim| victim.cause);
        self.count_relocated(stream, superblock, 1, cause);
        slot
    }

    /// Accounts for `units` valid units that have moved from `superblock` to the open superblock of `stream`.
    #[inline]
    fn count_relocated(
        &mut self,
        stream: Stream,
        superblock: SuperblockId,
        units: u32,
        cause: Option<Cause>,
    ) {
        self.valid[superblock.index()] -= units;
        self.valid[self.frontiers[usize::from(stream.0)].superblock.index()] += units;
        let cause = cause.unwrap_or_else(|| self.cause_of(stream));
        self.written[cause.moved()] += u64::from(units);
    }

    /// Moves valid units, given with their slots in `superblock`, and programs what they complete: [`Ftl::relocate`] in bulk.
    pub(super) fn relocate_all(&mut self, stream: Stream, superblock: SuperblockId, units: &[(Lpn, Ppn)]) {
        let index = usize::from(stream.0);
        let mut rest = units;
        while !rest.is_empty() {
            if self.frontiers[index].next == self.frontiers[index].end {
                self.open(stream);
            }
            let Frontier { next, mut end, mut pu_end, irregular, .. } = self.frontiers[index];
            if irregular {
                // What follows the program unit may hold no data.
                end = pu_end;
            }
            let (now, later) = rest.split_at(rest.len().min((end - next) as usize));
            let targets = self.p2l[next as usize..].iter_mut().zip(next..);
            for (&(lpn, from), (owner, slot)) in now.iter().zip(targets) {
                self.l2p[lpn.index()] = Ppn(slot);
                *owner = lpn;
                if let Some(contents) = &mut self.contents {
                    contents.relocate(from.0, slot, lpn.0);
                }
            }
            let next = next + now.len() as u32;
            self.count_relocated(stream, superblock, now.len() as u32, None);
            while pu_end <= next {
                let (pu, _) = self.layout.pu_of(Ppn(pu_end - 1));
                self.programmed(pu);
                pu_end += self.layout.units_per_pu();
            }
            let completed = pu_end != self.frontiers[index].pu_end;
            self.frontiers[index].next = next;
            self.frontiers[index].pu_end = pu_end;
            if irregular && completed {
                self.skip(stream);
                self.program_parity(stream);
            } else if completed && self.layout.list_rows() != 0 {
                self.program_parity(stream);
            }
            rest = later;
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
            self.stuck = true;
            return None;
        }
        // Data that was trimmed, or that has moved to another core, may have made room again.
        self.stuck = false;
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

    /// Takes `superblock` out of the candidates and maps its valid slots, which are now to be relocated to `stream` and counted for
    /// `cause`; returns their number.
    ///
    /// # Panics
    /// If it is not sealed, or two others are being relocated.
    pub fn begin_relocation(&mut self, superblock: SuperblockId, stream: Stream, cause: Cause) -> u32 {
        self.take_out(superblock);
        let place = self.relocating.iter().position(|victim| victim.superblock.is_none());
        let place =
            place.expect("no more superblocks are relocated at once than there are relocating streams");
        let mut victim = std::mem::take(&mut self.relocating[place]);
        let first = self.layout.first_slot(superblock);
        let owners = &self.p2l[first as usize..(first + self.layout.units_per_superblock()) as usize];
        victim.superblock = Some(superblock);
        victim.cause = Some(cause);
        victim.valid.clear();
        // One pass of loads that do not wait for each other, so that their cache misses overlap.
        victim.valid.extend(owners.chunks(64).zip((first..).step_by(64)).map(|(owners, slot)| {
            owners.iter().zip(0u32..).fold(0u64, |word, (&owner, bit)| {
                word | u64::from(self.l2p[self.l2p_index(owner)] == Ppn(slot + bit)) << bit
            })
        }));
        let valid = victim.valid.iter().map(|word| word.count_ones()).sum();
        assert!(
            valid | NO_CANDIDATE == self.valid[superblock.index()],
            "valid count of superblock {superblock} is off"
        );
        self.relocating[place] = victim;
        self.frontiers[usize::from(stream.0)].promised = valid > self.room(stream);
        valid
    }

    /// Gives up the relocation of `superblock`, which is a candidate again.
    pub fn end_relocation(&mut self, superblock: SuperblockId) {
        if let Some(victim) = self.relocating.iter_mut().find(|victim| victim.superblock == Some(superblock))
        {
            victim.superblock = None;
        }
        self.state[superblock.index()] = State::Sealed;
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
        if let Some(victim) = self.relocating.iter_mut().find(|victim| victim.superblock == Some(superblock))
        {
            victim.superblock = None;
        }
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
    }

    /// Whether too few superblocks are left to take writes for ever: the core serves reads only.
    #[inline]
    pub fn is_read_only(&self) -> bool {
        self.stuck
            || (self.is_damaged() && self.layout.superblocks() - self.retired < self.superblocks_needed())
    }

    #[inline]
    fn is_damaged(&self) -> bool {
        self.retired != 0 || !self.dead_lanes.is_empty() || self.missing_units != 0
    }
}
