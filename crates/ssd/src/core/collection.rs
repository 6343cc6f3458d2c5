//! Relocation on a flash core: victims are chosen, their valid units go from the dies to a stream, their blocks are erased.

use super::tasks::Next;
use super::{Core, Due};
use crate::health::Reason;
use crate::op::{InternalTask, Op, OpKind};
use crate::ssd::Ssd;
use outlast_settings::drive::WriteCache;
use outlast_units::{BlockIndex, CoreId, LaneIndex, Nanos, PuWithin, Stream, SuperblockId};

impl Ssd {
    /// Starts garbage collection on `core` if it is needed and not under way.
    #[allow(clippy::inline_always, reason = "two comparisons, mostly, for every write that waits")]
    #[inline(always)]
    pub(crate) fn collect(&mut self, now: Nanos, core: CoreId) {
        if !self.cores[core].collects_nothing() {
            self.start_gc(now, core);
        }
    }

    fn start_gc(&mut self, now: Nanos, core: CoreId) {
        self.show_cells(now, core);
        // No victim yet: the stale units are in superblocks still being programmed. Every program that ends asks again.
        let ftl = &mut self.cores[core].ftl;
        if let Some(victim) = ftl.choose_victim().or_else(|| ftl.choose_broken()) {
            let Core { ftl, buffer, .. } = &mut self.cores[core];
            buffer.collects(now, ftl, victim);
            self.start_relocation(now, core, InternalTask::Gc, victim, Reason::Space, None);
        }
    }

    pub(crate) fn start_relocation(
        &mut self,
        now: Nanos,
        core: CoreId,
        task: InternalTask,
        superblock: SuperblockId,
        reason: Reason,
        block: Option<BlockIndex>,
    ) {
        if self.fallible || !matches!(reason, Reason::Space | Reason::Wear) {
            self.note_decision(now, core, superblock, reason);
        }
        self.note_victim(now, core, superblock, reason);
        let part = self.part_to_move(core, superblock, reason, block);
        let Core { ftl, tasks, dies, .. } = &mut self.cores[core];
        let class = ftl.superblock(superblock).class();
        let stream = match task {
            InternalTask::Gc => ftl.streams().gc(class),
            InternalTask::WearLeveling => ftl.streams().wear_leveling(class),
            InternalTask::Scrub => ftl.streams().scrub(class),
        };
        let valid = ftl.begin_relocation(superblock, stream, reason.cause());
        let has_reads = tasks.begin(task, ftl, superblock, stream, &part, valid);
        for (local, &die) in dies.iter_indexed() {
            if tasks.has_reads(task, local) {
                self.flash.add_task_reads(die, task);
            }
        }
        for local in dies.indices() {
            self.wake(now, self.cores[core].dies[local]);
        }
        if !has_reads {
            self.make_due(core, Due::victim(task));
        }
    }

    /// Valid units of a victim have been read, except for those in `lost`: they go to the frontier of the relocation's stream.
    pub(crate) fn relocation_read(&mut self, now: Nanos, op: &Op, lost: u64) {
        debug_assert!(lost & !op.mask == 0, "a unit of program unit {} is lost that was not read", op.pu);
        let core = op.core;
        self.flash.end_internal(now);
        let state = &mut self.cores[core];
        let stream = state.tasks.stream(op.task);
        let joins_host = state.buffer.pacer().credit().is_mixed() && op.task == InternalTask::Gc;
        let all_can_go = lost == 0 && !self.fallible;
        let mut mask = op.mask;
        while mask != 0 {
            let run = if all_can_go {
                mask
            } else {
                let Some(run) = self.next_run(op, stream, &mut mask, lost) else { break };
                run
            };
            let state = &mut self.cores[core];
            let relocated = state.ftl.relocate_units(stream, op.pu, run);
            mask = mask & !run | relocated.remaining;
            // Written or trimmed by the host since the read began.
            state.tasks.leave(relocated.stale);
            if joins_host {
                let moved = (run & !relocated.remaining).count_ones() - relocated.stale;
                state.tasks.leave(moved);
                state.buffer.take_in(moved);
            }
            if let Some(pu) = relocated.completed {
                let units = state.ftl.layout().units_per_pu();
                if joins_host {
                    self.program_host(now, core, pu, units);
                } else {
                    self.program_relocated(now, core, op.task, pu, units);
                }
                self.program_parity(now, core, stream);
            }
        }
        let is_moved = self.cores[core].tasks.read_ended(op.task);
        if op.task == InternalTask::Gc {
            self.grant_credit(now, core, u32::from(op.units));
            if self.cores[core].buffer.any_waits()
                && !(self.is_settled() && self.cores[core].admits_nothing())
            {
                self.make_due(core, Due::Admit);
            }
        }
        if is_moved {
            // After the writes for which there is credit now.
            self.make_due_then(core, Due::victim(op.task));
        }
        self.let_waiting_go();
    }

    /// Of the units in `mask` that have been read, those up to the next one in `lost`, if flash has room for them. The others before them leave the
    /// mask: what is lost is gone, and what has nowhere to go stays where it is.
    #[inline(never)]
    fn next_run(&mut self, op: &Op, stream: Stream, mask: &mut u64, lost: u64) -> Option<u64> {
        let Core { ftl, tasks, .. } = &mut self.cores[op.core];
        let first = ftl.layout().first_slot_of(op.pu);
        while *mask != 0 {
            let unit = mask.trailing_zeros();
            if lost >> unit & 1 == 1 {
                self.counters.lost_units += u64::from(ftl.lose(first + unit).is_some());
            } else if !self.fallible || ftl.can_take_moved(stream) {
                let lost = lost & *mask;
                return Some(if lost == 0 { *mask } else { *mask & ((lost & lost.wrapping_neg()) - 1) });
            }
            *mask &= *mask - 1;
            tasks.leave(1);
        }
        None
    }

    /// Sees what becomes of the victim of `task`.
    pub(crate) fn look_at_victim(&mut self, now: Nanos, core: CoreId, task: InternalTask) {
        let protected = self.write_cache() == WriteCache::Protected;
        let Core { tasks, ftl, buffer, .. } = &mut self.cores[core];
        if task == InternalTask::Gc && buffer.pacer().credit().shares_gain() && tasks.is_moved(task) {
            let (before, mut work) = (tasks.work(), tasks.work());
            buffer.victim_moved(now, ftl, &mut work);
            tasks.set_work(work);
            if work != before {
                self.unsettled.add(core, &mut self.cores[core].dirty, Due::Admit);
            }
        }
        let Core { tasks, ftl, .. } = &mut self.cores[core];
        match tasks.look_at_victim(task, ftl, protected) {
            Next::Stays | Next::Pinned => {}
            Next::Erase(superblock) => self.begin_erasing(now, core, task, superblock),
            Next::EraseBeside(superblock, stream) => {
                ftl.end_promise(stream);
                self.begin_erasing(now, core, task, superblock);
                self.collect(now, core);
                // Where no other victim follows, nothing holds host writes back any more.
                self.make_due(core, Due::Admit);
            }
            Next::GivenUp(superblock, stream) => {
                ftl.give_up_relocation(superblock, stream);
                if task == InternalTask::Scrub {
                    self.block_moved(now, core);
                    self.scrub_given_up(now, core, superblock);
                    self.call_housekeeping(now);
                }
                self.look_at_redundancy(now, core);
                self.make_due(core, Due::Collect);
                self.make_due(core, Due::Admit);
            }
            Next::Pad(stream) => {
                let units = ftl.stream(stream).begun_units();
                if let Some(pu) = ftl.pad(stream) {
                    self.program_relocated(now, core, task, pu, units);
                    self.program_parity(now, core, stream);
                }
            }
            Next::AwaitsFlash => {
                if task == InternalTask::Scrub && self.redundancy.is_lacking() {
                    self.go_on_rebuilding(now, core);
                }
                self.look_at_redundancy(now, core);
                self.collect(now, core);
                self.look_at_formers(now, core);
                // Where no other victim follows, nothing holds host writes back any more.
                self.make_due(core, Due::Admit);
            }
        }
    }

    /// Begins to erase the victims that have waited for their data to be on flash, where it is.
    pub(crate) fn look_at_formers(&mut self, now: Nanos, core: CoreId) {
        self.cores[core].tasks.take_pinned();
        for task in InternalTask::ALL {
            let Core { tasks, ftl, .. } = &mut self.cores[core];
            match tasks.look_at_former(task, ftl) {
                Next::Erase(superblock) => self.begin_erasing(now, core, task, superblock),
                Next::Pinned => self.hurry_pinned(now, core),
                _ => {}
            }
        }
    }

    fn queue_erasure(
        &mut self,
        now: Nanos,
        core: CoreId,
        task: InternalTask,
        superblock: SuperblockId,
        lane: LaneIndex,
    ) {
        let first_pu = self.cores[core].ftl.layout().pu_at(superblock, PuWithin(0));
        self.queue_internal(now, &Op::new(OpKind::Erase, task, core, first_pu + lane.0));
    }

    /// Has the blocks of victim `superblock` erased, on all lanes that it still has.
    pub(crate) fn begin_erasing(
        &mut self,
        now: Nanos,
        core: CoreId,
        task: InternalTask,
        superblock: SuperblockId,
    ) {
        self.cores[core].ftl.persist_trims_of(superblock);
        if self.cores[core].ftl.superblock(superblock).lanes().next().is_some() {
            let Core { tasks, ftl, .. } = &self.cores[core];
            let lanes: Vec<LaneIndex> = tasks.erased_first(ftl, superblock).collect();
            for lane in lanes {
                self.queue_erasure(now, core, task, superblock, lane);
            }
        } else {
            // Its last lane has failed since it was filled: no erasure will ever end.
            self.victim_erased(now, core, task, superblock);
        }
    }

    pub(crate) fn relocation_erased(&mut self, now: Nanos, op: &Op) {
        let core = op.core;
        self.flash.end_internal(now);
        if self.note_erase_failure(op) {
            self.note_failed_write(now, op);
        }
        let state = &mut self.cores[core];
        let superblock = state.ftl.layout().place(op.pu).superblock;
        let lane = LaneIndex(op.pu - state.ftl.layout().pu_at(superblock, PuWithin(0)));
        if let Some(next) = state.tasks.erased_after(&state.ftl, superblock, lane) {
            self.queue_erasure(now, core, op.task, superblock, next);
        } else if state.tasks.lane_erased(op.task, superblock) {
            self.victim_erased(now, core, op.task, superblock);
        }
        self.let_waiting_go();
    }

    /// The blocks of victim `superblock` of `task` have been erased, or have failed to be.
    fn victim_erased(&mut self, now: Nanos, core: CoreId, task: InternalTask, superblock: SuperblockId) {
        self.note_use(now, core, superblock);
        let state = &mut self.cores[core];
        state.tasks.erased(task, superblock);
        match (&state.faults, &self.watch) {
            (faults, Some(watch)) => {
                let must = |block| faults.as_ref().is_some_and(|faults| faults.block_must_retire(block));
                state.ftl.erased_but(superblock, |block| watch.must_retire(core, block, must(block)));
            }
            (Some(faults), None) => {
                state.ftl.erased_but(superblock, |block| faults.block_must_retire(block));
            }
            (None, None) => state.ftl.erased(superblock),
        }
        self.cells_erased(core, superblock);
        self.look_at_redundancy(now, core);
        self.look_at_state(now);
        // The victim after this one may have been waiting for it to be gone.
        self.make_due(core, Due::victim(task));
        for due in [Due::Wear, Due::Collect, Due::Scrub, Due::Admit] {
            self.make_due_then(core, due);
        }
        if self.cores[core].ftl.needs_map_flush() {
            self.make_due_then(core, Due::MapFlush);
        }
    }

    /// Starts wear levelling on `core` if it has something to move and is not under way.
    pub(crate) fn level_wear(&mut self, now: Nanos, core: CoreId) {
        self.show_cells(now, core);
        let state = &mut self.cores[core];
        if !state.tasks.runs(InternalTask::WearLeveling)
            && let Some(cold) = state.ftl.choose_cold()
        {
            self.start_relocation(now, core, InternalTask::WearLeveling, cold, Reason::Wear, None);
        }
    }
}
