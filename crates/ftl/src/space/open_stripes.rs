//! Stripes under way: which stream fills a superblock, and whose parity has been handed out.

use crate::space::FlashSpace;
use crate::streams::StreamCause;
use outlast_decisions::SuperblockState;
use outlast_units::{Pu, Stream, SuperblockId};

impl FlashSpace {
    /// The stream that fills `superblock`, which is open, or has filled it and no other since. A frontier of another stream may point into it from an
    /// earlier use of the superblock.
    pub(crate) fn filler(&self, superblock: SuperblockId) -> Option<Stream> {
        let stream = self.pus.superblocks.opened_by(superblock);
        if self.pus.streams.cause(stream) == StreamCause::Partial {
            // Superblocks of partial parity have no frontier.
            return None;
        }
        let is_own = self.frontiers[stream].superblock() == superblock;
        (self.pus.superblocks.state(superblock) == SuperblockState::Open && is_own).then_some(stream)
    }

    /// True if the parity of the stripe of program unit `pu` has been handed out.
    pub(crate) fn is_stripe_complete(&self, pu: Pu) -> bool {
        let (superblock, within) = self.pus.within_superblock(pu);
        self.pus.code_of(superblock).is_some_and(|code| {
            let due = self.filler(superblock).map(|stream| self.frontiers[stream].due().stripe);
            due.is_none_or(|due| code.stripe_of(within) < due)
        })
    }

    /// True if the parity within blocks of the group of `stripe` has been handed out.
    pub(super) fn is_group_complete(&self, superblock: SuperblockId, stripe: u32) -> bool {
        let Some(code) = self.pus.code_of(superblock).filter(|code| code.block_code().is_some()) else {
            return false;
        };
        let due = self.filler(superblock).map_or(code.count(), |stream| self.frontiers[stream].due().stripe);
        (stripe..due).any(|stripe| !code.block_parity_after(stripe).is_empty())
    }

    /// The program units on flash of stripes under way: after a loss of power they are read, so that parity that is still to come is known again.
    pub fn stripes_under_way(&self) -> Vec<Pu> {
        let mut members = Vec::new();
        for stream in self.frontiers.streams() {
            let frontier = &self.frontiers[stream];
            let (superblock, due) = (frontier.superblock(), frontier.due().stripe);
            if self.filler(superblock) != Some(stream) {
                continue;
            }
            if self.pus.code_of(superblock).is_some_and(|code| due < code.count()) {
                let all = self.pus.stripe_members(superblock, due);
                members.extend(all.into_iter().filter(|&pu| self.pus.is_on_flash(superblock, pu)));
            }
        }
        members
    }
}
