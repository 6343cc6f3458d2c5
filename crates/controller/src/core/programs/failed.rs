//! Failed program operations, whose data is written again, and failed erasures.

use crate::core::{CoreContext, FlashCore};
use crate::op::{InternalTask, Op, OpKind};
use crate::places::place_of_pu;
use outlast_ftl::StreamCause;
use outlast_settings::drive::WriteCache;
use outlast_units::{Nanos, Ppn, Pu, Row, Stream};

impl FlashCore {
    /// True if the program operation that has just ended failed.
    #[inline(never)]
    pub(crate) fn program_fails(&mut self, op: &Op) -> bool {
        let Some(faults) = &mut self.faults else { return false };
        let layout = self.ftl.layout();
        let place = layout.place(op.pu);
        // What was queued behind a failed program of the same block goes elsewhere, too.
        let mut fails = self.ftl.space().pus().is_given_up(op.pu);
        for plane in place.lane.first_plane..place.lane.first_plane + place.lane.planes {
            let block = self.ftl.space().block_index(place.superblock, place.lane.local_die, plane);
            for row in Row::each(place.first_page..place.first_page + layout.rows_per_pu()) {
                fails |= faults.program_fails(block, row);
            }
        }
        fails
    }

    /// A program operation has failed: its data is still in the controller and is written again elsewhere. Flushes and tasks that waited
    /// for the failed operation wait for the new one.
    #[cold]
    pub(crate) fn program_failed(&mut self, now: Nanos, context: &mut CoreContext, op: &Op) {
        assert!(
            matches!(op.kind, OpKind::HostProgram | OpKind::RelocationProgram),
            "{:?} programs nothing",
            op.kind
        );
        context.counters.program_failures += 1;
        self.note_failed_write(now, context, op);
        // Program units of a stream are programmed in their order, and those that the failed data fills are awaited.
        self.program_held(now, context);
        let ftl = &mut self.ftl;
        let superblock = ftl.layout().place(op.pu).superblock;
        let own = ftl.superblock(superblock).stream();
        let sealed = ftl.program_failed(op.pu);
        if context.flash.passes().are_on() {
            let (die, _) = place_of_pu(&self.ftl, op.pu);
            self.close_passes_on(now, context, die, Some(superblock));
        }
        self.move_failed(now, context, own, op);
        self.program_held(now, context);
        if context.write_cache() != WriteCache::Protected {
            // Who waited for the first attempt must not wait for what follows the second.
            self.end_all_passes(now, context);
        }
        match op.kind {
            OpKind::HostProgram => self.host_programmed(now, context, op.tag(), u32::from(op.units)),
            _ => self.relocation_programmed(now, context, op.tag(), u32::from(op.units)),
        }
        if sealed {
            self.sealed(now, context, superblock);
        }
    }

    /// Writes the units of operation `op` of stream `own`, which failed, again.
    fn move_failed(&mut self, now: Nanos, context: &mut CoreContext, own: Stream, op: &Op) {
        let units = self.ftl.layout().units_per_pu();
        assert!(u32::from(op.units) <= units, "{} units in a program unit of {units}", op.units);
        // A stripe may have ended where its lane would have come next; its parity goes before all that follows.
        self.program_parity(now, context, own);
        let mut stranded = 0;
        if self.ftl.streams().cause(own) == StreamCause::Map {
            self.drop_map_pages(op.pu);
        } else if op.units != 0 {
            for slot in Ppn::each(self.ftl.layout().slots_of(op.pu)) {
                self.note_superseded(context, op, slot);
                stranded += u64::from(!self.write_again(now, context, own, slot, op));
            }
        }
        context.counters.lost_units += stranded;
        self.ftl.drop_failed();
        // Of the other streams, those whose open program unit took units of a failed operation are filled up: who waited for the first
        // attempt must not wait for the host to fill the second.
        for stream in self.ftl.streams().all() {
            if stream == own || self.has_moved_in(stream) {
                self.fill_up(now, context, stream, op);
                self.program_parity(now, context, stream);
            }
        }
    }

    /// Puts a unit of a failed program at the frontier again; false where no stream has room, so that the unit is lost.
    pub(crate) fn write_again(
        &mut self,
        now: Nanos,
        context: &mut CoreContext,
        own: Stream,
        slot: Ppn,
        op: &Op,
    ) -> bool {
        let streams = self.ftl.streams();
        let class = streams.class(own);
        let mut others: Vec<Stream> = streams.all().filter(|&stream| Some(stream) != streams.map()).collect();
        // Those that the unit may lie in by the isolation of its data come first.
        let is_apart = |stream| {
            let is_handle = streams.has_handles() && streams.cause(stream) == StreamCause::Host;
            is_handle || streams.class(stream) != class
        };
        others.sort_by_key(|&stream| is_apart(stream));
        for stream in [own, streams.gc(class)].into_iter().chain(others) {
            let ftl = &mut self.ftl;
            if let Some(to) = ftl.rewrite(stream, slot) {
                let host = ftl.streams().cause(stream) == StreamCause::Host;
                self.note_moved_in(context, op, to.ppn, host);
                if host {
                    self.buffer.enter_again();
                } else {
                    self.tasks.keep_room(1);
                }
                if to.completes_pu {
                    let (pu, _) = self.ftl.layout().pu_of(to.ppn);
                    let units = self.ftl.layout().units_per_pu();
                    self.program_of(now, context, stream, pu, units, op);
                    self.program_parity(now, context, stream);
                }
                return true;
            }
        }
        self.ftl.lose(slot).is_none()
    }

    /// Pads and programs what `stream` has begun, where something waits for the failed operation's data to be on flash.
    fn fill_up(&mut self, now: Nanos, context: &mut CoreContext, stream: Stream, op: &Op) {
        if context.write_cache() == WriteCache::Protected {
            return;
        }
        let units = self.ftl.stream(stream).begun_units();
        if let Some(pu) = self.ftl.pad(stream) {
            self.program_of(now, context, stream, pu, units, op);
        }
    }

    /// The unit in `slot`, which never came to flash, may have been superseded by a newer one that is not on flash yet: a flush that
    /// waited for the old one now waits for the new one.
    fn note_superseded(&mut self, context: &mut CoreContext, op: &Op, slot: Ppn) {
        let ftl = &self.ftl;
        let lpn = ftl.owner(slot);
        let current = if lpn.is_some() { ftl.lookup(lpn) } else { Ppn::NONE };
        if op.kind == OpKind::HostProgram
            && current.is_some()
            && current != slot
            && !ftl.space().pus().is_programmed(current)
        {
            self.note_moved_in(context, op, current, false);
        }
    }

    /// The unit of a failed operation has gone to slot `to`: where that is among relocated data, flushes that waited for the failed
    /// operation wait for the program unit of `to`, too.
    fn note_moved_in(&mut self, context: &mut CoreContext, op: &Op, to: Ppn, host: bool) {
        if context.write_cache() == outlast_settings::drive::WriteCache::Protected {
            return;
        }
        let (pu, _) = self.ftl.layout().pu_of(to);
        let own = (op.kind == OpKind::HostProgram && !host).then_some(op.epoch);
        let epochs: Vec<u32> = self.buffer.moved_in(op.pu).chain(own).collect();
        for epoch in epochs {
            if self.buffer.note_moved_in(pu, epoch) {
                context.commands.flushes.count_in(epoch);
            }
        }
    }

    fn has_moved_in(&self, stream: Stream) -> bool {
        self.buffer.any_moved_in()
            && self
                .ftl
                .stream(stream)
                .begun_pu()
                .is_some_and(|begun| self.buffer.moved_in(begun).next().is_some())
    }

    /// Programs `pu` of `stream` for whoever waits for operation `op`, which failed.
    fn program_of(
        &mut self,
        now: Nanos,
        context: &mut CoreContext,
        stream: Stream,
        pu: Pu,
        units: u32,
        op: &Op,
    ) {
        // All program units of a stream go through one queue, so that none overtakes another.
        let task = match self.ftl.streams().cause(stream) {
            StreamCause::Host if op.kind == OpKind::HostProgram => {
                return self.program_host_in(now, context, pu, units, op.epoch);
            }
            StreamCause::Host | StreamCause::Partial => return self.program_host(now, context, pu, units),
            StreamCause::Map => return self.program_map(now, context, pu),
            StreamCause::Gc | StreamCause::Fold => InternalTask::Gc,
            StreamCause::WearLeveling => InternalTask::WearLeveling,
            StreamCause::Scrub | StreamCause::Reencode => InternalTask::Scrub,
        };
        if op.kind == OpKind::RelocationProgram && op.task == task {
            self.program_relocated_in(now, context, task, pu, units, op.epoch);
        } else {
            self.program_relocated(now, context, task, pu, units);
        }
    }

    /// True if the erasure of a lane of a victim, which has just ended, failed.
    #[inline(never)]
    pub(crate) fn note_erase_failure(&mut self, context: &mut CoreContext, op: &Op) -> bool {
        let Some(faults) = &mut self.faults else { return false };
        let place = self.ftl.layout().place(op.pu);
        let mut failed = false;
        for plane in place.lane.first_plane..place.lane.first_plane + place.lane.planes {
            let block = self.ftl.space().block_index(place.superblock, place.lane.local_die, plane);
            failed |= faults.erase_fails(block);
        }
        context.counters.erase_failures += u64::from(failed);
        failed
    }
}
