//! Which of the flagged superblocks is moved next.

use super::{Scrub, Share, View};
use crate::health::Reason;
use outlast_units::{BlockIndex, Bytes, SuperblockId};

impl Scrub {
    /// Takes the flagged superblock that is to be moved now, if there is one and the bandwidth allows it: the most exposed one; of these the
    /// one that has cost the most re-reads for each unit to be moved; of these the one flagged first. With it comes the block of it that is to
    /// be moved by itself, if one is.
    pub fn choose(&mut self, view: &impl View) -> Option<(SuperblockId, Reason, Option<BlockIndex>)> {
        if self.flagged.is_empty() || view.now() < self.ready_at {
            return None;
        }
        self.forget_gone(view);
        loop {
            let (superblock, reason) = self.most_needed(view)?;
            self.unflag(superblock);
            let Some((block, units)) = view.part(superblock, reason) else { continue };
            self.again += u64::from(self.written_by_it[superblock]);
            self.moving = block.map(|block| (superblock, block));
            let bandwidth = if reason == Reason::Exposed { self.rebuild_bandwidth } else { self.bandwidth };
            if let Some(Share { rate, cores, unit }) = bandwidth {
                self.ready_at = view.now() + rate.time_for(Bytes(u64::from(units) * unit * cores));
            }
            self.is_called = true;
            return Some((superblock, reason, block));
        }
    }

    /// What was moved of a superblock has gone: other blocks of it may be bad, too. One that nothing could be moved of is not tried again at
    /// once.
    pub(crate) fn block_moved(&mut self, view: &mut impl View) {
        if let Some((superblock, block)) = self.moving.take()
            && view.block_is_empty(superblock, block)
        {
            self.arm(view, superblock);
            self.answer_alarms(view);
        }
    }

    /// Of the flagged superblocks that can be moved, the one that needs it most.
    fn most_needed(&self, view: &impl View) -> Option<(SuperblockId, Reason)> {
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
    fn forget_gone(&mut self, view: &impl View) {
        let is_flagged = &mut self.is_flagged;
        self.flagged.retain(|&(superblock, _)| {
            is_flagged[superblock] = !view.is_gone(superblock);
            is_flagged[superblock]
        });
    }
}
