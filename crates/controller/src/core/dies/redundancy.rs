//! Redundancy after a failure: what is closed and moved so that data has all of it again.
//!
//! Rebuilding is scrubbing (decision 0100). Open superblocks that have lost a lane, or members when power failed, are closed. With streams that scrubbing uses
//! only after a failure, these take superblocks from then on (`Ftl::begin_rebuild`). `ftl/src/ftl/redundancy.rs` says how many failures data survives, stripe by
//! stripe.

use crate::core::{CoreContext, Due, FlashCore};
use crate::health::{RedundancyLoss, Scrub};
use crate::op::{InternalTask, OpKind};
use outlast_ftl::Ftl;
use outlast_units::{LocalDie, Nanos, Stream};

impl FlashCore {
    /// Die `local` of the core, or only `plane` of it, has been given up: what has lost redundancy is closed, counted, and to be moved.
    pub(crate) fn restore_redundancy(
        &mut self,
        now: Nanos,
        context: &mut CoreContext,
        local: LocalDie,
        plane: Option<u16>,
    ) {
        if context.config.protection.is_none() {
            return;
        }
        if context.config.moves_degraded() {
            self.close_degraded(now, context);
        }
        self.note_loss(now, context, local, plane);
        if context.config.rebuilds() && self.ftl.redundancy().degraded().next().is_some() {
            self.begin_rebuild(context);
        }
    }

    /// Open superblocks that have lost redundancy take no more data: their stripes under way are ended, and they can be moved. Each leaves its
    /// stream in want of another superblock: without a free one, data whose program operation fails would have nowhere to go, and the
    /// superblock is filled first.
    fn close_degraded(&mut self, now: Nanos, context: &mut CoreContext) {
        let ftl = &self.ftl;
        let mut streams = ftl.redundancy().narrowed_streams();
        streams.truncate(ftl.space().free_superblocks() as usize);
        if streams.is_empty() {
            return;
        }
        self.program_held(now, context);
        for stream in streams {
            self.close_superblock(now, context, stream);
            self.ftl.record_closing(stream);
        }
    }

    /// Ends the stripe under way of `stream` with padding and closes its open superblock: the next unit opens another. True if that seals it.
    pub fn close_superblock(&mut self, now: Nanos, context: &mut CoreContext, stream: Stream) -> bool {
        loop {
            let ftl = &mut self.ftl;
            let units = ftl.stream(stream).begun_units();
            let Some(pu) = ftl.pad_stripe(stream) else { break };
            self.program_in(now, context, stream, pu, units);
            self.program_parity(now, context, stream);
        }
        let open = self.ftl.stream(stream).open_superblock();
        let is_sealed = self.ftl.close(stream);
        if let Some(superblock) = open {
            self.close_passes(now, context, superblock);
        }
        self.note_covered(now, stream);
        is_sealed
    }

    fn note_loss(&mut self, now: Nanos, context: &mut CoreContext, local: LocalDie, plane: Option<u16>) {
        let FlashCore { ftl, dies, .. } = self;
        let (superblocks, units) = degraded(ftl);
        if superblocks != 0 {
            let (core, die) = (self.id.0, dies[local].0);
            let restored_at = None;
            context.redundancy.lost(RedundancyLoss {
                at: now,
                core,
                die,
                plane,
                superblocks,
                units,
                restored_at,
            });
        }
    }

    fn begin_rebuild(&mut self, context: &mut CoreContext) {
        let Some(protection) = &context.config.protection else { return };
        let FlashCore { ftl, scrub, .. } = self;
        let superblocks = ftl.layout().superblocks();
        if !ftl.begin_rebuild() {
            return;
        }
        let cores = u64::from(context.config.controller.flash_cores);
        let bytes = u64::from(ftl.layout().units_per_pu()) * context.config.ftl.mapping_unit.0;
        let cached =
            protection.check_cache(&context.config.geometry, ftl.parity().open_units() * cores, bytes);
        if cached.is_err() {
            // The cache has no room for parity of one open stripe more.
            ftl.end_rebuild();
            return;
        }
        scrub.get_or_insert_with(|| Scrub::of(&context.config, superblocks));
        if let Some(every) = protection.rebuild_every {
            context.flash.set_background_every(every);
        }
    }

    /// A superblock has been moved, and its last data waits in the controller for a program unit to be filled. The next superblock fills it;
    /// where none follows it is padded, as nothing else may come and the data is not to stay on a drive that may lose it with the power.
    #[cold]
    pub(crate) fn go_on_rebuilding(&mut self, now: Nanos, context: &mut CoreContext) {
        let FlashCore { ftl, scrub, .. } = self;
        if scrub.as_ref().is_some_and(Scrub::waits) {
            self.make_due_then(context, Due::Scrub);
            return;
        }
        let streams = 0..ftl.streams().classes();
        let streams: Vec<Stream> = streams.map(|class| ftl.streams().scrub(class)).collect();
        for stream in streams {
            let ftl = &mut self.ftl;
            let units = ftl.stream(stream).begun_units();
            if let Some(pu) = ftl.pad(stream) {
                self.program_relocated(now, context, InternalTask::Scrub, pu, units);
                self.program_parity(now, context, stream);
            }
        }
        self.end_passes(now, context, |_, tag| {
            tag.kind == OpKind::RelocationProgram && tag.task == InternalTask::Scrub
        });
    }

    /// Power has failed: what had been moved may be where it was, and without capacitors stripes may have lost members that were on their way
    /// to flash.
    pub(crate) fn look_at_redundancy_again(&mut self, now: Nanos, context: &mut CoreContext) {
        if context.config.protection.is_none() || self.ftl.redundancy().degraded().next().is_none() {
            return;
        }
        if context.config.moves_degraded() {
            self.close_degraded(now, context);
        }
        context.redundancy.fell_back(self.id.0);
        context.redundancy.cut(self.id.0);
        if context.config.rebuilds() {
            self.begin_rebuild(context);
        }
        self.reprotect_all(now, context);
    }
}

/// Superblocks that hold data and have lost redundancy, and units in them.
pub fn degraded(ftl: &Ftl) -> (u32, u64) {
    let units = |superblock| u64::from(ftl.superblock(superblock).valid());
    ftl.redundancy()
        .degraded()
        .map(units)
        .fold((0, 0), |(superblocks, sum), units| (superblocks + 1, sum + units))
}
