//! States of superblocks: free, open, sealed, collected, retired.

use super::{FreePick, SuperblockTable};
use crate::streams::StreamCause;
use outlast_decisions::{NO_CANDIDATE, SuperblockState};
use outlast_units::{ModeId, Pu, Stream, SuperblockId};

impl SuperblockTable {
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

    /// Opens `superblock`, free until now, for `stream` in `mode`, of whose program units the first `pus` are used.
    pub(crate) fn open(&mut self, superblock: SuperblockId, stream: Stream, mode: ModeId, pus: u32) {
        assert!(pus <= self.pus, "{pus} program units of superblock {superblock}, which has {}", self.pus);
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
        self.to_come[superblock] = pus;
        self.mode[superblock] = mode;
        self.copies[superblock] = 0;
        self.cached += u32::from(mode != ModeId::FIRST);
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
        if count == 1 {
            self.programmed.set(first.0);
        } else {
            self.programmed.set_run(first.0, count);
        }
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
        self.cached_full += u32::from(self.mode[superblock] != ModeId::FIRST);
    }

    /// Begins the relocation of `superblock`, sealed, for `cause`: it is no candidate any more.
    ///
    /// # Panics
    /// If it is not sealed.
    pub(crate) fn begin_collecting(&mut self, superblock: SuperblockId, cause: StreamCause) {
        self.set_state(superblock, SuperblockState::Sealed, SuperblockState::Collecting);
        self.moved_for[superblock] = cause;
        self.coming += u32::from(cause.is_collection());
        self.victims += 1;
        self.victim_units += u64::from(self.valid[superblock]);
        self.valid[superblock] |= NO_CANDIDATE;
    }

    /// Superblocks that collection empties or erases: each will be free once it is erased.
    #[inline]
    pub(crate) fn coming(&self) -> u32 {
        self.coming
    }

    /// Checks that so many superblocks are relocated for collection as are counted.
    ///
    /// # Errors
    /// The count is another.
    pub(crate) fn check_coming(&self) -> Result<(), String> {
        let collecting = self.in_state(SuperblockState::Collecting);
        let coming = collecting.filter(|&superblock| self.moved_for[superblock].is_collection()).count();
        if coming == self.coming as usize {
            return Ok(());
        }
        Err(format!("collection empties {coming} superblocks, its count says {}", self.coming))
    }

    /// Gives up the relocation of `superblock`, which is a candidate again.
    ///
    /// # Panics
    /// If it is not being relocated.
    pub(crate) fn end_collecting(&mut self, superblock: SuperblockId) {
        self.set_state(superblock, SuperblockState::Collecting, SuperblockState::Sealed);
        self.coming -= u32::from(self.moved_for[superblock].is_collection());
        self.valid[superblock] &= !NO_CANDIDATE;
    }

    /// Records that `superblock` has been erased, with mean P/E cycles `cycles`. It is free if `usable`, else retired.
    ///
    /// # Panics
    /// If it was not being relocated, or still holds valid units: erasing them would lose data.
    pub(crate) fn free_erased(&mut self, superblock: SuperblockId, cycles: u32, usable: bool) {
        assert!(self.valid[superblock] == NO_CANDIDATE, "superblock {superblock} erased with valid units");
        self.set_state(superblock, SuperblockState::Collecting, SuperblockState::Free);
        self.coming -= u32::from(self.moved_for[superblock].is_collection());
        let cached = u32::from(self.mode[superblock] != ModeId::FIRST);
        (self.cached, self.cached_full) = (self.cached - cached, self.cached_full - cached);
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
}
