//! Events that scrubbing is told of: alarms, re-reads, superblocks filled, moved or erased. Nothing is read or moved here.

use super::view::{CoreView, expected_errors};
use crate::core::{CoreContext, FlashCore};
use crate::health::{Decision, Reason, Scrub};
use outlast_units::{Nanos, Pu, SuperblockId};

impl FlashCore {
    /// Has the scrubbing of the core, if it scrubs, do something with its view of the core; then calls housekeeping if that is wanted.
    #[inline]
    pub(super) fn scrubbing<T>(
        &mut self,
        now: Nanos,
        context: &mut CoreContext,
        act: impl FnOnce(&mut Scrub, &mut CoreView<'_>) -> T,
    ) -> Option<T> {
        let FlashCore { ftl, cells, scrub, dies, .. } = self;
        let scrub = scrub.as_mut()?;
        let mut view = CoreView {
            now,
            aged: context.aged,
            codeword_bits: context.reliability.as_ref().map_or(0, |own| own.ecc().codeword_bits()),
            ftl,
            cells: cells.as_mut(),
            dies,
            watch: context.watch.as_deref(),
            config: &context.config,
            timing: context.flash.timing(),
            reread: None,
        };
        let result = act(scrub, &mut view);
        if scrub.take_call() {
            context.call_housekeeping(now);
        }
        Some(result)
    }

    /// Simulated time begins, or the data has become older at once.
    pub fn begin_scrub(&mut self, now: Nanos, context: &mut CoreContext) {
        self.scrubbing(now, context, |scrub, view| scrub.begin(view));
    }

    /// Blocks may have been read as often as a policy waited for.
    #[inline]
    pub(crate) fn look_at_alarms(&mut self, now: Nanos, context: &mut CoreContext) {
        if self.cells.as_ref().is_some_and(|own| own.cells.has_alarm()) {
            self.answer_alarms(now, context);
        }
    }

    #[cold]
    fn answer_alarms(&mut self, now: Nanos, context: &mut CoreContext) {
        self.scrubbing(now, context, |scrub, view| scrub.answer_alarms(view));
    }

    /// The units `failing` of program unit `pu` have been read again.
    pub(crate) fn count_reread(&mut self, now: Nanos, context: &mut CoreContext, pu: Pu, failing: u64) {
        let FlashCore { ftl, cells, .. } = self;
        let superblock = ftl.layout().place(pu).superblock;
        let Some(own) = cells else { return };
        let block = own.count_rereads(ftl, pu, failing);
        let block = context.config.scrubs_blocks().then_some(block);
        self.scrubbing(now, context, |scrub, view| {
            view.reread = block;
            scrub.reread(view, superblock);
        });
    }

    /// Not all of `superblock` has found room where scrubbing moves it.
    pub(crate) fn scrub_given_up(&mut self, now: Nanos, context: &mut CoreContext, superblock: SuperblockId) {
        self.scrubbing(now, context, |scrub, view| scrub.given_up(view, superblock));
    }

    /// Power has cut the move of `superblock` short.
    pub(crate) fn scrub_cut_short(
        &mut self,
        now: Nanos,
        context: &mut CoreContext,
        superblock: SuperblockId,
    ) {
        self.scrubbing(now, context, |scrub, view| scrub.cut_short(view, superblock));
    }

    /// Scrubbing has moved a part of a superblock, which stays.
    pub(crate) fn block_moved(&mut self, now: Nanos, context: &mut CoreContext) {
        self.scrubbing(now, context, |scrub, view| scrub.block_moved(view));
    }

    /// A superblock has been filled.
    #[cold]
    pub fn sealed(&mut self, now: Nanos, context: &mut CoreContext, superblock: SuperblockId) {
        self.scrubbing(now, context, |scrub, view| scrub.sealed(view, superblock));
    }

    /// Dies have come or gone, or codes have changed.
    pub fn reprotect_all(&mut self, now: Nanos, context: &mut CoreContext) {
        self.scrubbing(now, context, |scrub, view| scrub.reprotect_all(view));
    }

    /// A superblock has been erased: its cells are fresh, and what was known about it is past.
    pub(crate) fn cells_erased(&mut self, superblock: SuperblockId) {
        if let Some(scrub) = &mut self.scrub {
            scrub.erased(superblock);
        }
        let Some(own) = &mut self.cells else { return };
        let cycles = self.ftl.space().blocks().all_cycles();
        let blocks = self.ftl.superblock(superblock).blocks();
        own.erased(superblock, blocks.map(|block| (block, cycles[block])));
    }

    /// A relocation begins: what was known about the superblock then.
    pub(crate) fn note_decision(
        &mut self,
        now: Nanos,
        context: &mut CoreContext,
        superblock: SuperblockId,
        reason: Reason,
    ) {
        let FlashCore { ftl, cells, .. } = self;
        let at = now + context.aged;
        let bits = context.reliability.as_ref().map(|own| own.ecc().codeword_bits());
        context.decisions.note(reason, || {
            let class = ftl.superblock(superblock).class();
            let stream = match reason {
                Reason::Space => ftl.streams().gc(class),
                Reason::Wear => ftl.streams().wear_leveling(class),
                _ => ftl.streams().scrub(class),
            };
            let errors =
                cells.as_ref().zip(bits).map(|(own, bits)| expected_errors(ftl, own, superblock, at, bits));
            Decision {
                at: now,
                core: self.id.0,
                superblock,
                reason,
                valid: ftl.superblock(superblock).valid(),
                rereads: cells.as_ref().map_or(0, |own| own.rereads(superblock)),
                expected_errors: errors.unwrap_or(f64::NAN),
                protected: ftl.superblock(superblock).has_parity(),
                will_be_protected: ftl.stream(stream).is_protected(),
            }
        });
    }
}
