//! The life of superblocks: free, open, sealed, being relocated, free again or given up.

use crate::bits::BitSet;
use crate::streams::StreamCause;
use outlast_decisions::{NO_CANDIDATE, SuperblockColumns, SuperblockState};
use outlast_units::{IndexVec, Pu, Stream, SuperblockId};

/// Table of the superblocks of a flash core, and the list of free ones.
///
/// [`take_free`](Self::take_free) and [`open`](Self::open), then [`mark_programmed`](Self::mark_programmed) or [`settle`](Self::settle) for every
/// program unit: the last one seals it. [`begin_collecting`](Self::begin_collecting), then [`free_erased`](Self::free_erased).
#[derive(Clone, Debug, outlast_persist::Restore)]
pub(crate) struct SuperblockTable {
    /// Program units of a superblock.
    #[persist(skip)]
    pus: u32,
    #[persist(each)]
    state: IndexVec<SuperblockId, SuperblockState>,
    /// Valid units, with [`NO_CANDIDATE`] unless it is sealed.
    #[persist(each)]
    valid: IndexVec<SuperblockId, u32>,
    /// Host units that had been written when it was sealed, and the number of seals before.
    #[persist(each)]
    sealed_at: IndexVec<SuperblockId, u64>,
    #[persist(each)]
    sealed_order: IndexVec<SuperblockId, u64>,
    /// P/E cycles: the mean of its blocks.
    #[persist(each)]
    cycles: IndexVec<SuperblockId, u32>,
    /// Program units that are still to come: neither programmed nor settled.
    #[persist(each)]
    to_come: IndexVec<SuperblockId, u32>,
    /// One bit for each program unit; meaningful where some are still to come, or where not all of the superblock was programmed.
    programmed: BitSet,
    /// The stream that opened it last.
    #[persist(each)]
    opened_by: IndexVec<SuperblockId, Stream>,
    /// Cause of moving its units, while it is being relocated.
    #[persist(each)]
    moved_for: IndexVec<SuperblockId, StreamCause>,
    /// Superblocks that collection empties or erases.
    coming: u32,
    /// Free ones, the one freed longest ago first.
    free: Vec<SuperblockId>,
    retired: u32,
    seals: u64,
    victims: u64,
    victim_units: u64,
}

impl SuperblockTable {
    /// `count` superblocks of `pus` program units, erased; `tracked`: with a bit for each program unit.
    pub(crate) fn new(count: usize, pus: u32, tracked: bool) -> Self {
        Self {
            pus,
            state: IndexVec::filled(SuperblockState::Free, count),
            valid: IndexVec::filled(NO_CANDIDATE, count),
            sealed_at: IndexVec::filled(0, count),
            sealed_order: IndexVec::filled(0, count),
            cycles: IndexVec::filled(0, count),
            to_come: IndexVec::filled(0, count),
            programmed: BitSet::new(if tracked { count * pus as usize } else { 0 }),
            opened_by: IndexVec::filled(Stream::default(), count),
            moved_for: IndexVec::filled(StreamCause::Gc, count),
            coming: 0,
            free: (0..count as u32).map(SuperblockId).collect(),
            retired: 0,
            seals: 0,
            victims: 0,
            victim_units: 0,
        }
    }

    /// All superblocks.
    pub(crate) fn ids(&self) -> impl ExactSizeIterator<Item = SuperblockId> + use<> {
        self.state.indices()
    }

    #[inline]
    pub(crate) fn state(&self, superblock: SuperblockId) -> SuperblockState {
        self.state[superblock]
    }

    /// Superblocks in state `wanted`.
    pub(crate) fn in_state(&self, wanted: SuperblockState) -> impl Iterator<Item = SuperblockId> {
        self.state
            .iter_indexed()
            .filter(move |&(_, &state)| state == wanted)
            .map(|(superblock, _)| superblock)
    }

    #[inline]
    pub(crate) fn opened_by(&self, superblock: SuperblockId) -> Stream {
        self.opened_by[superblock]
    }

    #[inline]
    pub(crate) fn moved_for(&self, superblock: SuperblockId) -> StreamCause {
        self.moved_for[superblock]
    }

    /// Valid units of a superblock.
    #[inline]
    pub(crate) fn valid(&self, superblock: SuperblockId) -> u32 {
        self.valid[superblock] & !NO_CANDIDATE
    }

    /// Candidates for relocation with their valid units.
    pub(crate) fn candidates(&self) -> impl Iterator<Item = (SuperblockId, u32)> {
        let all = self.valid.iter_indexed().filter(|&(_, &valid)| valid & NO_CANDIDATE == 0);
        all.map(|(superblock, &valid)| (superblock, valid))
    }

    /// The valid units of a superblock as policies see them: [`NO_CANDIDATE`] is set unless it is sealed.
    #[inline]
    pub(crate) fn count(&self, superblock: SuperblockId) -> u32 {
        self.valid[superblock]
    }

    /// Valid units of all superblocks, with [`NO_CANDIDATE`] unless sealed.
    pub(crate) fn counts(&self) -> &[u32] {
        self.valid.as_slice()
    }

    /// View of superblocks of `units` slots for a policy; `clock`: units that the host has written.
    pub(crate) fn view(&self, clock: u64, units: u32) -> SuperblockColumns<'_> {
        SuperblockColumns {
            valid: self.valid.as_slice(),
            sealed_at: self.sealed_at.as_slice(),
            sealed_order: self.sealed_order.as_slice(),
            cycles: self.cycles.as_slice(),
            streams: self.opened_by.as_slice(),
            states: self.state.as_slice(),
            clock,
            units,
            cells: None,
        }
    }

    /// Counts a unit of `superblock` that has become valid.
    #[inline]
    pub(crate) fn add_valid(&mut self, superblock: SuperblockId) {
        debug_assert!(
            !matches!(self.state[superblock], SuperblockState::Free | SuperblockState::Retired),
            "a unit of superblock {superblock} becomes valid, which is erased"
        );
        self.valid[superblock] += 1;
    }

    /// Counts a unit of `superblock` that has become stale.
    #[inline]
    pub(crate) fn remove_valid(&mut self, superblock: SuperblockId) {
        debug_assert!(
            self.valid(superblock) != 0,
            "superblock {superblock} has no valid unit to become stale"
        );
        self.valid[superblock] -= 1;
    }

    /// Counts `units` valid units that have moved from one superblock to another.
    #[inline]
    pub(crate) fn move_valid(&mut self, from: SuperblockId, to: SuperblockId, units: u32) {
        debug_assert!(from != to, "superblock {from} is relocated to itself");
        debug_assert!(self.valid(from) >= units, "more units move than are valid in superblock {from}");
        self.valid[from] -= units;
        self.valid[to] += units;
    }

    /// Program units of an open superblock that are still to come; none of any other.
    #[inline]
    pub(crate) fn to_come(&self, superblock: SuperblockId) -> u32 {
        self.to_come[superblock]
    }

    /// True if program unit `pu`, numbered over the core, has been programmed.
    #[inline]
    pub(crate) fn is_programmed(&self, pu: Pu) -> bool {
        self.programmed.get(pu.0)
    }

    /// Free superblocks, the one freed longest ago first.
    #[inline]
    pub(crate) fn free(&self) -> &[SuperblockId] {
        &self.free
    }

    /// Takes a free superblock by `pick`; of equally worn ones the one freed first.
    ///
    /// # Panics
    /// If none is free.
    pub(crate) fn take_free(&mut self, pick: FreePick) -> SuperblockId {
        let of = |index: &usize| self.cycles[self.free[*index]];
        let all = 0..self.free.len();
        let index = match pick {
            FreePick::FreedFirst => Some(0),
            FreePick::LeastWorn => all.min_by_key(of),
            // Smallest complement: the first of the most worn ones, while `max_by_key` would give the last.
            FreePick::MostWorn => all.min_by_key(|index| !of(index)),
        };
        self.free.remove(index.expect("a stream asks whether a superblock is free before it opens one"))
    }

    /// Opens `superblock`, free until now, for `stream`.
    pub(crate) fn open(&mut self, superblock: SuperblockId, stream: Stream) {
        assert!(
            self.state[superblock] == SuperblockState::Free,
            "superblock {superblock} opened while {:?}",
            self.state[superblock]
        );
        debug_assert!(
            self.valid[superblock] == NO_CANDIDATE,
            "superblock {superblock} opened with valid units"
        );
        self.state[superblock] = SuperblockState::Open;
        self.to_come[superblock] = self.pus;
        self.programmed.clear_range(superblock.0 * self.pus, self.pus);
        self.opened_by[superblock] = stream;
    }

    /// Records that `count` program units of `superblock`, at most 64, from `first` on (numbered over the core) have been programmed; true if those
    /// were the last.
    #[inline]
    pub(crate) fn mark_programmed(
        &mut self,
        superblock: SuperblockId,
        first: Pu,
        count: u32,
        clock: u64,
    ) -> bool {
        debug_assert!(
            first.0 / self.pus == superblock.0,
            "program unit {first} is not of superblock {superblock}"
        );
        debug_assert!(
            self.programmed.mask(first.0, count) == 0,
            "program unit {first} or one after it is programmed twice"
        );
        self.programmed.set_run(first.0, count);
        self.settle(superblock, count, clock)
    }

    /// Takes `count` program units of `superblock` off those to come; true if those were the last: then it is sealed.
    ///
    /// # Panics
    /// If so many were not to come.
    #[inline]
    pub(crate) fn settle(&mut self, superblock: SuperblockId, count: u32, clock: u64) -> bool {
        let to_come = &mut self.to_come[superblock];
        assert!(
            *to_come >= count,
            "superblock {superblock}: {count} program units end, {to_come} are to come"
        );
        *to_come -= count;
        let sealed = *to_come == 0 && count != 0;
        if sealed {
            self.seal(superblock, clock);
        }
        sealed
    }

    #[cold]
    fn seal(&mut self, superblock: SuperblockId, clock: u64) {
        self.set_state(superblock, SuperblockState::Open, SuperblockState::Sealed);
        self.valid[superblock] &= !NO_CANDIDATE;
        self.sealed_at[superblock] = clock;
        self.sealed_order[superblock] = self.seals;
        self.seals += 1;
    }

    /// Begins the relocation of `superblock`, sealed, for `cause`: it is no candidate any more.
    ///
    /// # Panics
    /// If it is not sealed.
    pub(crate) fn begin_collecting(&mut self, superblock: SuperblockId, cause: StreamCause) {
        self.set_state(superblock, SuperblockState::Sealed, SuperblockState::Collecting);
        self.moved_for[superblock] = cause;
        self.coming += u32::from(cause == StreamCause::Gc);
        self.victims += 1;
        self.victim_units += u64::from(self.valid[superblock]);
        self.valid[superblock] |= NO_CANDIDATE;
    }

    /// Superblocks that collection empties or erases: each will be free once it is erased.
    #[inline]
    pub(crate) fn coming(&self) -> u32 {
        self.coming
    }

    /// Gives up the relocation of `superblock`, which is a candidate again.
    ///
    /// # Panics
    /// If it is not being relocated.
    pub(crate) fn end_collecting(&mut self, superblock: SuperblockId) {
        self.set_state(superblock, SuperblockState::Collecting, SuperblockState::Sealed);
        self.coming -= u32::from(self.moved_for[superblock] == StreamCause::Gc);
        self.valid[superblock] &= !NO_CANDIDATE;
    }

    /// Records that `superblock` has been erased, with mean P/E cycles `cycles`. It is free if `usable`, else retired.
    ///
    /// # Panics
    /// If it was not being relocated, or still holds valid units: erasing them would lose data.
    pub(crate) fn free_erased(&mut self, superblock: SuperblockId, cycles: u32, usable: bool) {
        assert!(self.valid[superblock] == NO_CANDIDATE, "superblock {superblock} erased with valid units");
        self.set_state(superblock, SuperblockState::Collecting, SuperblockState::Free);
        self.coming -= u32::from(self.moved_for[superblock] == StreamCause::Gc);
        self.free.push(superblock);
        self.cycles[superblock] = cycles;
        if !usable {
            self.retire(superblock);
        }
    }

    /// Retires `superblock`, which is free.
    pub(crate) fn retire(&mut self, superblock: SuperblockId) {
        self.set_state(superblock, SuperblockState::Free, SuperblockState::Retired);
        self.free.retain(|&other| other != superblock);
        self.retired += 1;
    }

    /// Frees `superblock`, which was retired and can be used after all.
    pub(crate) fn restore(&mut self, superblock: SuperblockId) {
        self.set_state(superblock, SuperblockState::Retired, SuperblockState::Free);
        self.free.push(superblock);
        self.retired -= 1;
    }

    fn set_state(&mut self, superblock: SuperblockId, from: SuperblockState, to: SuperblockState) {
        let state = &mut self.state[superblock];
        assert!(*state == from, "superblock {superblock} is {state:?}, not {from:?}, and becomes {to:?}");
        *state = to;
    }

    /// Number of retired superblocks.
    #[inline]
    pub(crate) fn retired(&self) -> u32 {
        self.retired
    }

    /// Units that the host had written when the superblock was sealed last.
    pub(crate) fn sealed_at(&self, superblock: SuperblockId) -> u64 {
        self.sealed_at[superblock]
    }

    /// Number of the seal of a superblock among all seals; `None` unless it is sealed.
    pub(crate) fn seal_of(&self, superblock: SuperblockId) -> Option<u64> {
        (self.state[superblock] == SuperblockState::Sealed).then(|| self.sealed_order[superblock])
    }

    /// Superblocks relocated so far, and the valid units that they held.
    pub(crate) fn victims(&self) -> (u64, u64) {
        (self.victims, self.victim_units)
    }

    /// P/E cycles of a superblock.
    pub(crate) fn cycles(&self, superblock: SuperblockId) -> u32 {
        self.cycles[superblock]
    }

    pub(crate) fn set_cycles(&mut self, superblock: SuperblockId, cycles: u32) {
        self.cycles[superblock] = cycles;
    }

    /// Bytes for each superblock, without those for each program unit.
    pub(crate) const BYTES_EACH: usize = size_of::<SuperblockState>()
        + size_of::<u32>() * 3
        + size_of::<u64>() * 2
        + size_of::<Stream>()
        + size_of::<StreamCause>()
        + size_of::<SuperblockId>();

    /// Resident bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.state.len() * Self::BYTES_EACH + self.programmed.bytes()
    }

    /// Checks counts, flags and the free list against the states, given the valid units that the mapping has in each superblock.
    ///
    /// # Errors
    /// The first disagreement.
    pub(crate) fn check(&self, mapped: impl Fn(SuperblockId) -> u32, units: u32) -> Result<(), String> {
        for (superblock, &state) in self.state.iter_indexed() {
            let (counted, kept) = (mapped(superblock), self.valid(superblock));
            if kept != counted {
                return Err(format!(
                    "superblock {superblock} has {counted} valid units, its count says {kept}"
                ));
            }
            if (self.valid[superblock] & NO_CANDIDATE == 0) != (state == SuperblockState::Sealed) {
                return Err(format!("superblock {superblock} is {state:?} but its candidate flag disagrees"));
            }
            if counted > units
                || (matches!(state, SuperblockState::Free | SuperblockState::Retired) && counted != 0)
            {
                return Err(format!("superblock {superblock} is {state:?} with {counted} valid units"));
            }
            let to_come = self.to_come[superblock];
            if (state == SuperblockState::Open) != (to_come != 0) {
                return Err(format!(
                    "superblock {superblock} is {state:?} with {to_come} program units to come"
                ));
            }
            let programmed = self.programmed.count(superblock.0 * self.pus, self.pus);
            if state == SuperblockState::Open && programmed + to_come > self.pus {
                return Err(format!(
                    "superblock {superblock}: {programmed} program units are programmed, {to_come} to come"
                ));
            }
            if self.free.iter().filter(|&&free| free == superblock).count()
                != usize::from(state == SuperblockState::Free)
            {
                return Err(format!(
                    "superblock {superblock} is {state:?}, which the list of free ones denies"
                ));
            }
        }
        let retired = self.in_state(SuperblockState::Retired).count();
        if retired != self.retired as usize {
            return Err(format!("{retired} superblocks are given up, their count says {}", self.retired));
        }
        Ok(())
    }
}

/// Choice among free superblocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FreePick {
    /// The one freed longest ago.
    FreedFirst,
    /// The least worn one.
    LeastWorn,
    /// The most worn one.
    MostWorn,
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: SuperblockId = SuperblockId(1);

    fn filled(units: u32) -> SuperblockTable {
        let mut superblocks = SuperblockTable::new(3, 4, true);
        assert_eq!(superblocks.take_free(FreePick::FreedFirst), SuperblockId(0));
        assert_eq!(superblocks.take_free(FreePick::LeastWorn), ID);
        superblocks.open(ID, Stream(2));
        (0..units).for_each(|_| superblocks.add_valid(ID));
        assert!(!superblocks.mark_programmed(ID, Pu(4), 3, 7));
        assert!(superblocks.settle(ID, 1, 7));
        superblocks
    }

    #[test]
    fn a_superblock_goes_round() {
        let mut superblocks = filled(2);
        assert_eq!((superblocks.state(ID), superblocks.seal_of(ID)), (SuperblockState::Sealed, Some(0)));
        assert_eq!(superblocks.candidates().collect::<Vec<_>>(), [(ID, 2)]);
        assert_eq!([4, 5, 6, 7].map(|pu| superblocks.is_programmed(Pu(pu))), [true, true, true, false]);
        superblocks.begin_collecting(ID, StreamCause::Scrub);
        assert_eq!((superblocks.candidates().count(), superblocks.moved_for(ID)), (0, StreamCause::Scrub));
        superblocks.remove_valid(ID);
        superblocks.remove_valid(ID);
        superblocks.free_erased(ID, 9, true);
        assert_eq!((superblocks.state(ID), superblocks.victims()), (SuperblockState::Free, (1, 2)));
        assert_eq!(superblocks.take_free(FreePick::MostWorn), ID);
    }

    #[test]
    fn one_that_cannot_be_used_is_given_up_until_it_can() {
        let mut superblocks = filled(0);
        superblocks.begin_collecting(ID, StreamCause::Gc);
        superblocks.free_erased(ID, 1, false);
        assert_eq!(
            (superblocks.state(ID), superblocks.retired(), superblocks.free()),
            (SuperblockState::Retired, 1, &[SuperblockId(2)][..])
        );
        superblocks.restore(ID);
        assert_eq!((superblocks.retired(), superblocks.free()), (0, &[SuperblockId(2), ID][..]));
    }

    #[test]
    #[should_panic(expected = "erased with valid units")]
    fn valid_units_are_not_erased() {
        let mut superblocks = filled(1);
        superblocks.begin_collecting(ID, StreamCause::Gc);
        superblocks.free_erased(ID, 1, true);
    }

    #[test]
    #[should_panic(expected = "is Open, not Sealed")]
    fn an_open_one_is_not_relocated() {
        let mut superblocks = SuperblockTable::new(1, 4, true);
        let superblock = superblocks.take_free(FreePick::FreedFirst);
        superblocks.open(superblock, Stream(0));
        superblocks.begin_collecting(superblock, StreamCause::Gc);
    }

    #[test]
    #[should_panic(expected = "5 program units end, 4 are to come")]
    fn no_more_is_settled_than_is_to_come() {
        let mut superblocks = SuperblockTable::new(1, 4, true);
        let superblock = superblocks.take_free(FreePick::FreedFirst);
        superblocks.open(superblock, Stream(0));
        superblocks.settle(superblock, 5, 0);
    }

    #[test]
    fn counts_that_are_off_are_found() {
        let mut superblocks = filled(2);
        superblocks.free = vec![SuperblockId(0), SuperblockId(2)];
        let mapped = |superblock| if superblock == ID { 2 } else { 0 };
        assert_eq!(superblocks.check(mapped, 8), Ok(()));
        let off = superblocks.check(|_| 0, 8).unwrap_err();
        assert_eq!(off, "superblock 1 has 0 valid units, its count says 2");
        superblocks.free.push(SuperblockId(2));
        assert!(superblocks.check(mapped, 8).unwrap_err().contains("list of free ones"));
    }
}
