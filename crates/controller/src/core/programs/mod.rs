//! Program units on their way to flash: which queue they go through, who waits for them, what follows when they are there.

mod covers;
mod failed;
mod map_flush;
mod passes;

pub(crate) use map_flush::MapPrograms;
pub(crate) use map_flush::MapTimer;

use crate::core::{CoreContext, Due, FlashCore};
use crate::op::{InternalTask, OpKind, Purpose};
use outlast_flash::DieQueue;
use outlast_ftl::StreamCause;
use outlast_settings::drive::WriteCache;
use outlast_units::{Nanos, Pu, Stream};

impl FlashCore {
    /// Programs `pu`, full or filled up, with `units` units of the host's data; where writes coalesce, when its turn comes.
    #[allow(clippy::inline_always, reason = "as Flash::submit")]
    #[inline(always)]
    pub(crate) fn program_host(&mut self, now: Nanos, context: &mut CoreContext, pu: Pu, units: u32) {
        if self.ftl.coalesces() {
            return self.hold_back(now, context, pu, units);
        }
        let epoch = context.commands.flushes.open_epoch();
        self.program_host_in(now, context, pu, units, epoch);
    }

    /// [`Ssd::program_host`] as a part of a flush epoch that has not ended.
    #[allow(clippy::inline_always, reason = "as Flash::submit")]
    #[inline(always)]
    pub(crate) fn program_host_in(
        &mut self,
        now: Nanos,
        context: &mut CoreContext,
        pu: Pu,
        units: u32,
        epoch: u32,
    ) {
        debug_assert!(units <= self.ftl.layout().units_per_pu(), "program unit {pu} is too full");
        context.commands.flushes.count_in(epoch);
        let purpose = Purpose::program(OpKind::HostProgram, InternalTask::Gc, pu, epoch);
        self.submit_program(now, context, DieQueue::Programs, purpose, units);
    }

    /// The host program of `tag` has ended: its `units` units leave the buffer.
    #[allow(clippy::inline_always, reason = "as FlashCore::programmed")]
    #[inline(always)]
    pub(crate) fn host_programmed(
        &mut self,
        now: Nanos,
        context: &mut CoreContext,
        tag: Purpose,
        units: u32,
    ) {
        debug_assert!(tag.kind == OpKind::HostProgram, "{:?} ends as a host program", tag.kind);
        self.buffer.leave(units);
        context.count_out(now, tag.cookie);
        if self.buffer.any_moved_in() {
            self.end_moved_in(now, context, tag.pu);
        }
        self.mark_pinned(context);
        if self.maps.any_in_flight() {
            self.note_map_programmed(context, tag.pu);
        }
        if self.buffer.pacer().credit().is_mixed() {
            context.let_waiting_go();
        }
        if self.buffer.any_waits() {
            // Writes that now fit enter before it is seen whether space is short.
            self.make_due(context, Due::Admit);
            self.make_due_then(context, Due::Collect);
        } else if !(context.is_settled() && self.collects_nothing()) {
            self.make_due(context, Due::Collect);
        }
    }

    /// Program unit `pu` is on flash, or its units are elsewhere: the flush epochs of host data in it go on.
    #[cold]
    fn end_moved_in(&mut self, now: Nanos, context: &mut CoreContext, pu: Pu) {
        for epoch in self.buffer.take_moved_in(pu) {
            context.count_out(now, epoch);
        }
    }

    /// Programs the parity of the stripes that `stream` has completed.
    #[inline]
    pub(crate) fn program_parity(&mut self, now: Nanos, context: &mut CoreContext, stream: Stream) {
        if context.striped {
            self.program_due_parity(now, context, stream);
        }
    }

    #[inline(never)]
    fn program_due_parity(&mut self, now: Nanos, context: &mut CoreContext, stream: Stream) {
        while let Some(pu) = self.ftl.take_parity(stream) {
            self.program_in(now, context, stream, pu, 0);
        }
        self.note_exposed(now, context, stream);
    }

    /// Programs `pu` of `stream`, through the queue that is the stream's.
    pub(crate) fn program_in(
        &mut self,
        now: Nanos,
        context: &mut CoreContext,
        stream: Stream,
        pu: Pu,
        units: u32,
    ) {
        match self.ftl.streams().cause(stream) {
            StreamCause::Host | StreamCause::Partial => self.program_host(now, context, pu, units),
            StreamCause::Map => self.program_map(now, context, pu),
            StreamCause::Gc | StreamCause::Fold => {
                self.program_relocated(now, context, InternalTask::Gc, pu, units);
            }
            StreamCause::WearLeveling => {
                self.program_relocated(now, context, InternalTask::WearLeveling, pu, units);
            }
            StreamCause::Scrub | StreamCause::Reencode => {
                self.program_relocated(now, context, InternalTask::Scrub, pu, units);
            }
        }
    }

    #[inline(never)]
    pub(crate) fn program_relocated(
        &mut self,
        now: Nanos,
        context: &mut CoreContext,
        task: InternalTask,
        pu: Pu,
        units: u32,
    ) {
        let epoch = self.tasks.epoch(task);
        self.program_relocated_in(now, context, task, pu, units, epoch);
    }

    /// [`Ssd::program_relocated`] for the victim with that epoch.
    #[allow(clippy::inline_always, reason = "as Flash::submit")]
    #[inline(always)]
    pub(crate) fn program_relocated_in(
        &mut self,
        now: Nanos,
        context: &mut CoreContext,
        task: InternalTask,
        pu: Pu,
        units: u32,
        epoch: u32,
    ) {
        debug_assert!(units <= self.ftl.layout().units_per_pu(), "program unit {pu} is too full");
        self.tasks.program_begins(task, epoch);
        let purpose = Purpose::program(OpKind::RelocationProgram, task, pu, epoch);
        self.submit_program(now, context, DieQueue::Internal(task), purpose, units);
    }

    /// The program of `tag`, of relocation, has ended: its `units` units leave the buffer.
    #[allow(clippy::inline_always, reason = "as FlashCore::programmed")]
    #[inline(always)]
    pub(crate) fn relocation_programmed(
        &mut self,
        now: Nanos,
        context: &mut CoreContext,
        tag: Purpose,
        units: u32,
    ) {
        debug_assert!(tag.kind == OpKind::RelocationProgram, "{:?} ends as one of relocation", tag.kind);
        context.flash.end_internal(now);
        self.tasks.leave(units);
        self.tasks.program_ended(tag.task, tag.cookie, tag.pu);
        if self.buffer.any_moved_in() {
            self.end_moved_in(now, context, tag.pu);
        }
        if context.write_cache() != WriteCache::Protected {
            self.make_due(context, Due::Formers);
            self.make_due(context, Due::victim(tag.task));
        }
        if !(context.is_settled() && self.collects_nothing()) {
            self.make_due_then(context, Due::Collect);
        }
        context.let_waiting_go();
    }

    /// Data has come to flash: victims may be erased that waited for what superseded their units.
    #[inline]
    fn mark_pinned(&mut self, context: &mut CoreContext) {
        if self.tasks.take_pinned() {
            self.make_due(context, Due::Formers);
        }
    }
}
