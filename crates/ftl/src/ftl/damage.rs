//! Damage: program operations that failed, data that is lost, lanes that are given up.

use crate::causes::ProgramCause;
use crate::ftl::{Ftl, WrittenSlot};
use outlast_units::{LocalDie, Lpn, Ppn, Pu, Stream};

impl Ftl {
    /// Reports that programming `pu` failed: nothing is on flash there, and its blocks take no more data until they have been
    /// replaced. Its valid units, still in the controller's memory, are to be written again ([`Ftl::rewrite`]).
    /// Returns whether that ends the filling of its superblock.
    pub fn program_failed(&mut self, pu: Pu) -> bool {
        debug_assert!(
            !self.space.superblocks().is_programmed(pu),
            "program unit {pu} fails after it was programmed"
        );
        // After a loss of power, program units without data are programmed all the same, and may fail.
        debug_assert!(
            !self.space.lanes().has_failed(pu) || self.pages.is_disowned(&self.space, pu),
            "program unit {pu} fails twice, with data in it"
        );
        self.pages.forget_failed(&self.space, pu);
        if self.space.program_failed(pu, &mut self.pages) {
            self.pages.keep_failed_units(&mut self.space, pu);
        }
        self.space.settle_pus(self.space.pus().within_superblock(pu).0, 1, &mut self.pages)
    }

    /// Drops the kept units of failed program units. To be called when they have been written again.
    pub fn drop_failed(&mut self) {
        self.pages.drop_failed(&self.space);
    }

    /// Puts the unit of `slot`, whose program operation failed, at the frontier of `stream`; `None` when it is stale or the
    /// stream cannot take it.
    pub fn rewrite(&mut self, stream: Stream, slot: Ppn) -> Option<WrittenSlot> {
        if !self.pages.map().is_valid(slot) {
            return None;
        }
        if !self.can_append(stream) {
            // Where collection moves data to the host's stream, too, held-back superblocks are for data that the drive has accepted.
            if !self.space.streams().are_mixed() || !self.space.may_open_for_moved(stream) {
                return None;
            }
            self.space.open_for_moved(stream, &mut self.pages);
        }
        let to = self.space.take_slot(stream, &mut self.pages);
        self.pages.rewrite(&mut self.space, stream, slot, to.ppn);
        self.space.counts_mut().count_units(ProgramCause::Rewritten, 1);
        Some(to)
    }

    /// Loses the unit of `slot`, which cannot be read any more. If it is current, its logical page is lost: reads of it fail until it is written or
    /// trimmed. Returns the page. A page of the mapping table is not lost, as the controller still has it in its memory: the next flush writes it
    /// again.
    pub fn lose(&mut self, slot: Ppn) -> Option<Lpn> {
        self.pages.lose(&mut self.space, slot)
    }

    /// Loses the unit in `slot`, which cannot be read while its stripe's parity is computed anew: the stripe covers it no more. Returns its page, if
    /// it was current.
    pub fn lose_uncovered(&mut self, slot: Ppn) -> Option<Lpn> {
        self.pages.lose_uncovered(&mut self.space, slot)
    }

    /// Gives up die `local_die` (or only `plane` of it), which has failed for good: no superblock uses its lanes any more.
    pub fn give_up_die(&mut self, local_die: LocalDie, plane: Option<u16>) {
        self.space.give_up_die(local_die, plane, &mut self.pages);
    }

    /// Adds die `local_die`, absent until now: superblocks opened from now on lie on it, too. Those that are open or full do not until they have been
    /// moved ([`SuperblockView::is_narrow`](crate::SuperblockView::is_narrow)).
    pub fn add_die(&mut self, local_die: LocalDie) {
        self.space.add_die(local_die);
    }
}
