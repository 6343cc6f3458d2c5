//! Program units on their way to flash: which queue they go through, who waits for them, what follows when they are there.

use super::Due;
use crate::op::{InternalTask, Op, OpKind, Purpose};
use crate::ssd::Ssd;
use outlast_flash::DieQueue;
use outlast_ftl::StreamCause;
use outlast_settings::drive::WriteCache;
use outlast_units::{CoreId, Nanos, Pu, Stream};

impl Ssd {
    /// Programs `pu`, full or filled up, with `units` units of the host's data; where writes coalesce, when its turn comes.
    #[inline]
    pub(crate) fn program_host(&mut self, now: Nanos, core: CoreId, pu: Pu, units: u32) {
        if self.cores[core].ftl.coalesces() {
            return self.hold_back(now, core, pu, units);
        }
        let epoch = self.host.flushes.open_epoch();
        self.program_host_in(now, core, pu, units, epoch);
    }

    /// [`Ssd::program_host`] as a part of a flush epoch that has not ended.
    #[inline]
    pub(crate) fn program_host_in(&mut self, now: Nanos, core: CoreId, pu: Pu, units: u32, epoch: u32) {
        debug_assert!(units <= self.cores[core].ftl.layout().units_per_pu(), "program unit {pu} is too full");
        self.host.flushes.count_in(epoch);
        let purpose = Purpose::program(OpKind::HostProgram, InternalTask::Gc, pu, epoch);
        self.submit_program(now, core, DieQueue::Programs, purpose, units);
    }

    /// A host program has ended: its units leave the buffer.
    pub(crate) fn host_programmed(&mut self, now: Nanos, op: &Op) {
        debug_assert!(op.kind == OpKind::HostProgram, "{:?} ends as a host program", op.kind);
        let core = op.core;
        self.cores[core].buffer.leave(u32::from(op.units));
        self.count_out(now, op.epoch);
        if self.cores[core].buffer.any_moved_in() {
            self.end_moved_in(now, core, op.pu);
        }
        self.mark_pinned(core);
        if self.cores[core].maps.any_in_flight() {
            self.note_map_programmed(core, op.pu);
        }
        if self.cores[core].buffer.pacer().credit().is_mixed() {
            self.let_waiting_go();
        }
        if self.cores[core].buffer.any_waits() {
            // Writes that now fit enter before it is seen whether space is short.
            self.make_due(core, Due::Admit);
            self.make_due_then(core, Due::Collect);
        } else if !(self.is_settled() && self.cores[core].collects_nothing()) {
            self.make_due(core, Due::Collect);
        }
    }

    /// A program operation of flush epoch `epoch` has ended.
    pub(crate) fn count_out(&mut self, now: Nanos, epoch: u32) {
        self.host.flushes.count_out(epoch);
        self.end_barriers(now);
    }

    /// Program unit `pu` is on flash, or its units are elsewhere: the flush epochs of host data in it go on.
    #[cold]
    fn end_moved_in(&mut self, now: Nanos, core: CoreId, pu: Pu) {
        for epoch in self.cores[core].buffer.take_moved_in(pu) {
            self.count_out(now, epoch);
        }
    }

    /// Programs the parity of the stripes that `stream` has completed.
    #[inline]
    pub(crate) fn program_parity(&mut self, now: Nanos, core: CoreId, stream: Stream) {
        if self.striped {
            self.program_due_parity(now, core, stream);
        }
    }

    #[inline(never)]
    fn program_due_parity(&mut self, now: Nanos, core: CoreId, stream: Stream) {
        while let Some(pu) = self.cores[core].ftl.take_parity(stream) {
            self.program_in(now, core, stream, pu, 0);
        }
        self.note_exposed(now, core, stream);
    }

    /// Programs `pu` of `stream`, through the queue that is the stream's.
    pub(crate) fn program_in(&mut self, now: Nanos, core: CoreId, stream: Stream, pu: Pu, units: u32) {
        match self.cores[core].ftl.streams().cause(stream) {
            StreamCause::Host | StreamCause::Partial => self.program_host(now, core, pu, units),
            StreamCause::Map => self.program_map(now, core, pu),
            StreamCause::Gc => self.program_relocated(now, core, InternalTask::Gc, pu, units),
            StreamCause::WearLeveling => {
                self.program_relocated(now, core, InternalTask::WearLeveling, pu, units);
            }
            StreamCause::Scrub | StreamCause::Reencode => {
                self.program_relocated(now, core, InternalTask::Scrub, pu, units);
            }
        }
    }

    pub(crate) fn program_relocated(
        &mut self,
        now: Nanos,
        core: CoreId,
        task: InternalTask,
        pu: Pu,
        units: u32,
    ) {
        let epoch = self.cores[core].tasks.epoch(task);
        self.program_relocated_in(now, core, task, pu, units, epoch);
    }

    /// [`Ssd::program_relocated`] for the victim with that epoch.
    #[inline]
    pub(crate) fn program_relocated_in(
        &mut self,
        now: Nanos,
        core: CoreId,
        task: InternalTask,
        pu: Pu,
        units: u32,
        epoch: u32,
    ) {
        debug_assert!(units <= self.cores[core].ftl.layout().units_per_pu(), "program unit {pu} is too full");
        self.cores[core].tasks.program_begins(task, epoch);
        let purpose = Purpose::program(OpKind::RelocationProgram, task, pu, epoch);
        self.submit_program(now, core, DieQueue::Internal(task), purpose, units);
    }

    pub(crate) fn relocation_programmed(&mut self, now: Nanos, op: &Op) {
        debug_assert!(op.kind == OpKind::RelocationProgram, "{:?} ends as one of relocation", op.kind);
        let core = op.core;
        self.flash.end_internal(now);
        let state = &mut self.cores[core];
        state.tasks.leave(u32::from(op.units));
        state.tasks.program_ended(op.task, op.epoch, op.pu);
        if self.cores[core].buffer.any_moved_in() {
            self.end_moved_in(now, core, op.pu);
        }
        if self.write_cache() != WriteCache::Protected {
            self.make_due(core, Due::Formers);
            self.make_due(core, Due::victim(op.task));
        }
        if !(self.is_settled() && self.cores[core].collects_nothing()) {
            self.make_due_then(core, Due::Collect);
        }
        self.let_waiting_go();
    }

    /// Data has come to flash: victims may be erased that waited for what superseded their units.
    #[inline]
    fn mark_pinned(&mut self, core: CoreId) {
        if self.cores[core].tasks.take_pinned() {
            self.make_due(core, Due::Formers);
        }
    }
}
