//! Which of the flagged superblocks is moved next.

use super::{Scrub, View};
use crate::health::Reason;
use outlast_units::SuperblockId;

impl Scrub {
    /// Of the flagged superblocks that can be moved, the one that needs it most.
    pub(super) fn most_needed(&self, view: &impl View) -> Option<(SuperblockId, Reason)> {
        let rereads =
            |superblock| f64::from(view.rereads(superblock)) / f64::from(view.valid(superblock).max(1));
        let candidates = self.flagged.iter().enumerate();
        let movable = candidates
            .filter(|&(_, &(superblock, _))| view.is_sealed(superblock) && view.can_move(superblock));
        let best = movable.max_by(|&(first, &(a, _)), &(second, &(b, _))| {
            let exposed = view.exposure(a).cmp(&view.exposure(b));
            exposed.then_with(|| rereads(a).total_cmp(&rereads(b))).then(second.cmp(&first))
        });
        best.map(|(_, &best)| best)
    }

    /// What has been erased meanwhile, or soon will be, needs no scrubbing.
    pub(super) fn forget_gone(&mut self, view: &impl View) {
        let is_flagged = &mut self.is_flagged;
        self.flagged.retain(|&(superblock, _)| {
            is_flagged[superblock] = !view.is_gone(superblock);
            is_flagged[superblock]
        });
    }
}
