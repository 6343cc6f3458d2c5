//! Units that the host reads or trims on a flash core, and units that are lost.

use super::Due;
use crate::core::CoreContext;
use crate::core::FlashCore;
use crate::host::HostRequestId;
use crate::op::{OpKind, UnitWork};
use outlast_device::Outcome;
use outlast_media::Unit;
use outlast_settings::drive::Trims;
use outlast_units::{CoreId, Lpn, Nanos};

impl FlashCore {
    /// The host trims the whole unit of `work`.
    pub(crate) fn trim_unit(&mut self, context: &mut CoreContext, work: UnitWork) {
        self.forget_read(work.lpn);
        let ftl = &mut self.ftl;
        match context.config.controller.trims {
            Trims::Kept => ftl.trim(work.lpn),
            Trims::Volatile => ftl.trim_unsafely(work.lpn),
        };
        self.make_due(context, Due::Collect);
    }

    /// The host reads the unit of `work`, or a part of it.
    #[inline]
    pub(crate) fn read_unit(&mut self, now: Nanos, context: &mut CoreContext, work: UnitWork) {
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
        if context.config.bytes {
            self.copy_out(context, work);
        }
        let ftl = &self.ftl;
        if !ftl.is_programmed(slot) {
            context.counters.buffer_hits += 1;
            context.data_moved(now, work.request, u64::from(work.sectors));
            context.finish_parts(now, work.request, 1);
            return;
        }
        let of_pu = ftl.layout().pu_of(slot);
        if self.finds_read(work.lpn) {
            context.counters.read_cache_hits += 1;
            context.data_moved(now, work.request, u64::from(work.sectors));
            context.finish_parts(now, work.request, 1);
            return;
        }
        self.enqueue_read(now, context, OpKind::HostRead, of_pu, work);
    }

    fn copy_out(&mut self, context: &mut CoreContext, work: UnitWork) {
        let (start, command) =
            (context.first_sector(self.id, work.lpn), *context.host.requests.command(work.request));
        let ftl = &self.ftl;
        let Some(unit) = ftl.load(ftl.lookup(work.lpn)) else { return };
        context.host.bytes.copy_out(&command, start, work, unit);
    }
}

impl CoreContext {
    /// A unit that a command needs is known to be lost.
    #[cold]
    pub(crate) fn end_in_error(&mut self, now: Nanos, core: CoreId, work: UnitWork) {
        self.counters.medium_errors += 1;
        self.look_at_state();
        self.host.failures.note(work.request, self.unit_at(core, work.lpn));
        self.host.requests.fail(work.request, Outcome::MediumError);
        self.finish_parts(now, work.request, 1);
    }

    /// Puts the bytes of a unit, rebuilt from its stripe, where the read that asked for it returns them.
    pub(crate) fn deliver(&mut self, request: HostRequestId, core: CoreId, lpn: Lpn, unit: &Unit) {
        let (start, command) = (self.first_sector(core, lpn), *self.host.requests.command(request));
        self.host.bytes.deliver(&command, request, start, u64::from(self.size.sectors_per_unit), unit);
    }

    /// The first host sector of the unit that core `core` knows by number `lpn`.
    pub(crate) fn first_sector(&self, core: CoreId, lpn: Lpn) -> u64 {
        self.unit_at(core, lpn) * u64::from(self.size.sectors_per_unit)
    }
}
