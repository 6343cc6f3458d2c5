//! What policies of the user's see of the cells.

use super::scrub_view::expected_errors;
use crate::core::Core;
use crate::health::Scrub;
use crate::ssd::Ssd;
use outlast_decisions::{CellColumns, SuperblockState};
use outlast_units::{CoreId, Nanos, SuperblockId};

impl Ssd {
    /// Shows the policies of core `core` what its cells have gone through, if one asks to see it.
    #[inline]
    pub(crate) fn show_cells(&mut self, now: Nanos, core: CoreId) {
        if self.cores[core].ftl.policies_need_cells() {
            self.write_down_cells(now, core);
        }
    }

    /// Asks code of the user's, where its time has come, until it names no superblock any more.
    pub(super) fn ask_what_to_scrub(&mut self, now: Nanos, core: CoreId) {
        if !self.cores[core].scrub.as_mut().is_some_and(Scrub::take_question) {
            return;
        }
        self.show_cells(now, core);
        let Core { ftl, scrub: Some(scrub), .. } = &mut self.cores[core] else { return };
        while let Some(superblock) = ftl.choose_to_scrub(|superblock| scrub.is_flagged(superblock)) {
            scrub.flag_for_own(superblock);
        }
    }

    /// Superblock `superblock` of core `core` is about to be erased: what it has gone through, where codes depend on that.
    #[inline]
    pub(crate) fn note_use(&mut self, now: Nanos, core: CoreId, superblock: SuperblockId) {
        if self.cores[core].ftl.keeps_uses() {
            self.end_use(now, core, superblock);
        }
    }

    #[cold]
    fn end_use(&mut self, now: Nanos, core: CoreId, superblock: SuperblockId) {
        let at = now + self.schedule.aged();
        let bits = self.reliability.as_ref().map_or(0, |own| own.ecc().codeword_bits());
        let Core { ftl, cells, .. } = &mut self.cores[core];
        let (errors, rereads) = cells.as_ref().map_or((0.0, 0), |own| {
            (expected_errors(ftl, own, superblock, at, bits), own.rereads(superblock))
        });
        ftl.end_use(superblock, errors, rereads);
    }

    /// Time begins: what is expected of superblocks now stands for what their last use came to.
    pub(crate) fn begin_uses(&mut self) {
        let bits = self.reliability.as_ref().map_or(0, |own| own.ecc().codeword_bits());
        for Core { ftl, cells, .. } in &mut self.cores {
            let Some(own) = cells.as_ref().filter(|_| ftl.keeps_uses()) else { continue };
            for superblock in (0..ftl.layout().superblocks()).map(SuperblockId) {
                let errors = expected_errors(ftl, own, superblock, Nanos::ZERO, bits);
                ftl.begin_use(superblock, errors);
            }
        }
    }

    #[cold]
    fn write_down_cells(&mut self, now: Nanos, core: CoreId) {
        let at = now + self.schedule.aged();
        let bits = self.reliability.as_ref().map_or(0, |own| own.ecc().codeword_bits());
        let Core { ftl, cells, .. } = &mut self.cores[core];
        ftl.show_cells(|ftl, columns| {
            let CellColumns { reads, rereads, errors, days } = columns;
            let count = ftl.layout().superblocks();
            reads.clear();
            reads.resize(count as usize, 0);
            rereads.clear();
            rereads.resize(count as usize, 0);
            errors.clear();
            errors.resize(count as usize, 0.0);
            days.clear();
            days.resize(count as usize, 0.0);
            let Some(own) = cells else { return };
            for superblock in (0..count).map(SuperblockId) {
                if ftl.superblock(superblock).state() != SuperblockState::Sealed {
                    continue;
                }
                let place = superblock.0 as usize;
                let blocks = ftl.superblock(superblock).blocks();
                reads[place] = blocks.map(|block| own.cells.reads(block)).max().unwrap_or(0);
                rereads[place] = own.rereads(superblock);
                errors[place] = expected_errors(ftl, own, superblock, at, bits);
                days[place] = own.cells.days(own.oldest(superblock), at);
            }
        });
    }
}
