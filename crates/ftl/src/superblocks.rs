//! The life of superblocks: free, open, sealed, being relocated, free again or given up.

mod cached;
mod check;
mod states;

use crate::bits::BitSet;
use crate::streams::StreamCause;
use outlast_decisions::{NO_CANDIDATE, SuperblockColumns, SuperblockState};
use outlast_units::{IndexVec, ModeId, Pu, Stream, SuperblockId, to_count};

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
    /// The mode in which it was opened last.
    #[persist(each)]
    mode: IndexVec<SuperblockId, ModeId>,
    /// Copies on the chip, one after another without correction, that data in it has been through at most since it was opened.
    #[persist(each)]
    copies: IndexVec<SuperblockId, u8>,
    /// Cause of moving its units, while it is being relocated.
    #[persist(each)]
    moved_for: IndexVec<SuperblockId, StreamCause>,
    /// Superblocks that collection empties or erases.
    coming: u32,
    /// Superblocks that are not erased and not in the first mode, and those of them that are full.
    cached: u32,
    cached_full: u32,
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
            mode: IndexVec::filled(ModeId::FIRST, count),
            copies: IndexVec::filled(0, count),
            moved_for: IndexVec::filled(StreamCause::Gc, count),
            coming: 0,
            cached: 0,
            cached_full: 0,
            free: (0..to_count(count)).map(SuperblockId).collect(),
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

    /// The mode in which `superblock` was opened last.
    #[inline]
    pub(crate) fn mode(&self, superblock: SuperblockId) -> ModeId {
        self.mode[superblock]
    }

    /// Copies on the chip that data in `superblock` has been through at most.
    pub(crate) fn copies(&self, superblock: SuperblockId) -> u8 {
        self.copies[superblock]
    }

    /// Data of `from` has been copied on the chip to `to`.
    pub(crate) fn count_copy(&mut self, from: SuperblockId, to: SuperblockId) {
        self.copies[to] = self.copies[to].max(self.copies[from].saturating_add(1));
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
        + size_of::<ModeId>()
        + size_of::<StreamCause>()
        + size_of::<SuperblockId>();

    /// Resident bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.state.len() * Self::BYTES_EACH + self.programmed.bytes()
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
mod tests;
