//! Logical pages by the place of their newest copy: on a die, or in a list of owners.

use crate::ftl::Ftl;
use crate::space::ListRead;
use outlast_decisions::SuperblockState;
use outlast_units::{LocalDie, Lpn, SuperblockId};

impl Ftl {
    /// The current pages on flash that a list names, without those of the mapping table.
    pub fn listed(&self, read: ListRead) -> impl Iterator<Item = Lpn> {
        let lanes = self.space.layout().lane_count();
        let all = (0..read.count)
            .flat_map(move |row| self.pages.current_in(&self.space, read.listed + row * lanes));
        all.filter(|&lpn| !self.pages.is_map_page(lpn))
    }

    /// Pages, except for those of the mapping table, whose current copy lies on flash of die `local_die`; `open`: only those of superblocks that are not full, whose owners the
    /// controller has in its memory.
    pub fn pages_on(&self, local_die: LocalDie, open: bool) -> impl Iterator<Item = Lpn> {
        let superblocks = self.space.superblocks().ids();
        let holds = move |superblock: &SuperblockId| match self.space.superblocks().state(*superblock) {
            SuperblockState::Open => true,
            SuperblockState::Sealed | SuperblockState::Collecting => !open,
            SuperblockState::Free | SuperblockState::Retired => false,
        };
        let all = superblocks.filter(holds).flat_map(move |superblock| {
            let lanes = self.space.layout().lanes_of_die(local_die).iter();
            lanes
                .flat_map(move |&lane| self.space.pus().pus_on(superblock, lane))
                .flat_map(move |pu| self.pages.current_in(&self.space, pu))
        });
        all.filter(|&lpn| !self.pages.is_map_page(lpn))
    }
}
