//! Units that the host reads or trims on a flash core, and units that are lost.

mod decoding;
mod recent;
mod recovery;
mod sensing;

pub use recent::Recent;

use crate::core::{CoreContext, Due, FlashCore};
use crate::op::{OpKind, UnitWork};
use outlast_settings::drive::Trims;
use outlast_units::Nanos;

impl FlashCore {
    /// The host trims the whole unit of `work`.
    pub fn trim_unit(&mut self, context: &mut CoreContext, work: UnitWork) {
        self.forget_read(work.lpn);
        let ftl = &mut self.ftl;
        match context.config.controller.trims {
            Trims::Kept => ftl.trim(work.lpn),
            Trims::Volatile => ftl.trim_unsafely(work.lpn),
        };
        self.make_due(context, Due::Collect);
    }

    /// The host reads the unit of `work`, or a part of it; where `BARE`, nothing else by the same command, of a drive that
    /// [passes units](CoreContext::passes_units).
    #[allow(clippy::inline_always, reason = "the way of every read of a unit")]
    #[inline(always)]
    pub fn read_unit<const BARE: bool>(&mut self, now: Nanos, context: &mut CoreContext, work: UnitWork) {
        let ftl = &self.ftl;
        let slot = ftl.lookup(work.lpn);
        if !slot.is_some() {
            if ftl.is_lost(work.lpn) {
                context.end_in_error(now, self.id, work);
                return;
            }
            context.counters.unmapped_reads += 1;
            context.data_moved(now, work.request, u64::from(work.sectors));
            context.finish_parts(now, work.request, 1);
            return;
        }
        if !BARE && context.config.bytes {
            self.copy_out(context, work);
        }
        let ftl = &self.ftl;
        if !ftl.space().pus().is_programmed(slot) {
            context.counters.buffer_hits += 1;
            context.data_moved(now, work.request, u64::from(work.sectors));
            context.finish_parts(now, work.request, 1);
            return;
        }
        let of_pu = ftl.layout().pu_of(slot);
        if !BARE && self.finds_read(work.lpn) {
            context.counters.read_cache_hits += 1;
            context.data_moved(now, work.request, u64::from(work.sectors));
            context.finish_parts(now, work.request, 1);
            return;
        }
        self.enqueue_read::<BARE>(now, context, OpKind::HostRead, of_pu, work);
    }

    fn copy_out(&mut self, context: &mut CoreContext, work: UnitWork) {
        let (start, command) =
            (context.first_sector(self.id, work.lpn), *context.commands.requests.command(work.request));
        let ftl = &self.ftl;
        let Some(unit) = ftl.load(ftl.lookup(work.lpn)) else { return };
        context.commands.bytes.copy_out(&command, start, work, unit);
    }
}
