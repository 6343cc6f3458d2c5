//! Checks of the table of superblocks against itself and the mapping.

use super::SuperblockTable;
use outlast_decisions::{NO_CANDIDATE, SuperblockState};
use outlast_units::SuperblockId;

impl SuperblockTable {
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
        let cached: Vec<SuperblockId> = self.ids().filter(|&id| self.is_cached(id)).collect();
        let full = cached.iter().filter(|&&id| self.state[id] != SuperblockState::Open).count();
        if (cached.len(), full) != (self.cached as usize, self.cached_full as usize) {
            return Err(format!(
                "{} superblocks are of the SLC cache and {full} of them full, their counts say {} and {}",
                cached.len(),
                self.cached,
                self.cached_full
            ));
        }
        let retired = self.in_state(SuperblockState::Retired).count();
        if retired != self.retired as usize {
            return Err(format!("{retired} superblocks are given up, their count says {}", self.retired));
        }
        Ok(())
    }
}
