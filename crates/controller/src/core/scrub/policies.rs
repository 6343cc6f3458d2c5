//! Cells as policies of the user's see them.

use super::view::expected_errors;
use crate::core::{CoreContext, FlashCore};
use crate::health::Scrub;
use outlast_decisions::{CellColumns, SuperblockState};
use outlast_settings::drive::ReliabilityConfig;
use outlast_units::{Nanos, SuperblockId};

impl FlashCore {
    /// Shows the policies of the core what its cells have gone through, if one asks to see it.
    #[inline]
    pub(crate) fn show_cells(&mut self, now: Nanos, context: &mut CoreContext) {
        if self.ftl.policies_need_cells() {
            self.write_down_cells(now, context);
        }
    }

    /// Asks code of the user's, where its time has come, until it names no superblock any more.
    pub(super) fn ask_what_to_scrub(&mut self, now: Nanos, context: &mut CoreContext) {
        if !self.scrub.as_mut().is_some_and(Scrub::take_question) {
            return;
        }
        self.show_cells(now, context);
        let FlashCore { ftl, scrub: Some(scrub), .. } = self else { return };
        while let Some(superblock) = ftl.choose_to_scrub(|superblock| scrub.is_flagged(superblock)) {
            scrub.flag_for_own(superblock);
        }
    }

    /// Superblock `superblock` of the core is about to be erased: what it has gone through, where codes depend on that.
    #[inline]
    pub(crate) fn note_use(&mut self, now: Nanos, context: &mut CoreContext, superblock: SuperblockId) {
        if self.ftl.space().keeps_uses() {
            self.end_use(now, context, superblock);
        }
    }

    #[cold]
    fn end_use(&mut self, now: Nanos, context: &mut CoreContext, superblock: SuperblockId) {
        let at = now + context.aged;
        let bits = context.reliability.as_ref().map_or(0, |own| own.ecc().codeword_bits());
        let FlashCore { ftl, cells, .. } = self;
        let (errors, rereads) = cells.as_ref().map_or((0.0, 0), |own| {
            (expected_errors(ftl, own, superblock, at, bits), own.rereads(superblock))
        });
        ftl.end_use(superblock, errors, rereads);
    }

    #[cold]
    fn write_down_cells(&mut self, now: Nanos, context: &mut CoreContext) {
        let at = now + context.aged;
        let bits = context.reliability.as_ref().map_or(0, |own| own.ecc().codeword_bits());
        let FlashCore { ftl, cells, .. } = self;
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

    /// The cells are brought into the state in which the run begins; what is expected of superblocks now stands for what their last use came to.
    pub fn begin_cells(&mut self, reliability: &ReliabilityConfig, codeword_bits: u32) {
        let FlashCore { ftl, cells: Some(cells), .. } = self else { return };
        cells.begin(ftl, reliability);
        if ftl.space().keeps_uses() {
            for superblock in (0..ftl.layout().superblocks()).map(SuperblockId) {
                let errors = expected_errors(ftl, cells, superblock, Nanos::ZERO, codeword_bits);
                ftl.begin_use(superblock, errors);
            }
        }
    }
}
