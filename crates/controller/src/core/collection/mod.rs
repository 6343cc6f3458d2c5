//! Relocation on a flash core: victims are chosen, their valid units go from the dies to a stream, their blocks are erased.

mod erasing;
mod moving;
mod on_chip;
mod padding;
mod parts;
mod record;
mod tasks;
mod victim;

pub(super) use on_chip::OnChip;
pub(crate) use parts::holds_data;
pub(crate) use parts::valid_in_block;
pub use record::Victim;
pub(crate) use tasks::NextRead;
pub use tasks::Tasks;
pub(super) use victim::VictimPart;

use crate::core::{Buffer, CoreContext, Due, FlashCore};
use crate::health::Reason;
use crate::op::InternalTask;
use outlast_ftl::{ConsideredUnits, RelocatedUnits};
use outlast_settings::drive::WriteCache;
use outlast_units::{BlockIndex, Nanos, Pu, Stream, SuperblockId};
use tasks::Next;

impl FlashCore {
    /// Starts garbage collection on `core` if it is needed and not under way.
    #[allow(clippy::inline_always, reason = "two comparisons, mostly, for every write that waits")]
    #[inline(always)]
    pub fn collect(&mut self, now: Nanos, context: &mut CoreContext) {
        if !self.collects_nothing() {
            self.start_gc(now, context);
        }
    }

    fn start_gc(&mut self, now: Nanos, context: &mut CoreContext) {
        if !self.resets.is_empty() {
            if let Some(superblock) = self.next_of_reset(now, context) {
                self.start_relocation(now, context, InternalTask::Gc, superblock, Reason::Space, None);
            }
            if self.tasks.runs(InternalTask::Gc) || !self.ftl.needs_gc() {
                return;
            }
        }
        if self.ftl.space().is_idle() && context.commands.count() != 0 {
            self.ftl.set_idle(false);
            if !self.ftl.needs_gc() {
                return;
            }
        }
        self.show_cells(now, context);
        // No victim yet: the stale units are in superblocks still being programmed. Every program that ends asks again.
        let ftl = &mut self.ftl;
        if let Some(victim) = ftl.choose_victim().or_else(|| ftl.choose_broken()) {
            let FlashCore { ftl, buffer, .. } = self;
            buffer.collects(now, ftl, victim);
            self.start_relocation(now, context, InternalTask::Gc, victim, Reason::Space, None);
        } else {
            self.pad_for_room(now, context);
        }
    }

    pub(crate) fn start_relocation(
        &mut self,
        now: Nanos,
        context: &mut CoreContext,
        task: InternalTask,
        superblock: SuperblockId,
        reason: Reason,
        block: Option<BlockIndex>,
    ) {
        if context.fallible || !matches!(reason, Reason::Space | Reason::Wear) {
            self.note_decision(now, context, superblock, reason);
        }
        self.note_victim(now, context, superblock, reason);
        let part = self.part_to_move(context, superblock, reason, block);
        let FlashCore { ftl, tasks, dies, .. } = self;
        let class = ftl.superblock(superblock).class();
        let stream = match task {
            InternalTask::Gc => ftl.streams().gc(class),
            InternalTask::WearLeveling => ftl.streams().wear_leveling(class),
            InternalTask::Scrub => ftl.streams().scrub(class),
        };
        let cause = ftl.space().cause_of_moving(superblock, reason.cause());
        let valid = ftl.begin_relocation(superblock, stream, cause);
        let has_reads = tasks.begin(task, ftl, superblock, stream, &part, valid);
        for (local, &die) in dies.iter_indexed() {
            if tasks.has_reads(task, local) {
                context.flash.add_task_reads(die, task);
            }
        }
        for local in dies.indices() {
            let die = self.dies[local];
            self.wake_of::<false>(now, context, die);
        }
        if !has_reads {
            self.make_due(context, Due::victim(task));
        }
    }

    /// Units of the victim of `task` have gone to the frontier of `stream`: what has become stale leaves, and what is full is programmed.
    #[allow(
        clippy::inline_always,
        reason = "for every unit that collection moves, with its parts in registers"
    )]
    #[inline(always)]
    fn note_relocated(
        &mut self,
        now: Nanos,
        context: &mut CoreContext,
        task: InternalTask,
        stream: Stream,
        relocated: RelocatedUnits,
    ) {
        let RelocatedUnits { before, after, completed } = relocated;
        let joins_host = self.buffer.pacer().credit().is_mixed() && task == InternalTask::Gc;
        let FlashCore { tasks, buffer, .. } = self;
        count_considered(tasks, buffer, before, joins_host);
        if let Some(pu) = completed {
            let full = self.ftl.layout().units_per_pu();
            if joins_host {
                self.program_host(now, context, pu, full);
            } else {
                self.program_relocated_in(now, context, task, pu, full, self.tasks.epoch(task));
            }
            self.program_parity(now, context, stream);
        }
        if after != ConsideredUnits::default() {
            let FlashCore { tasks, buffer, .. } = self;
            count_considered(tasks, buffer, after, joins_host);
        }
    }

    /// Of the units in `mask` that have been read, those up to the next one in `lost`, if flash has room for them. The others before them leave the
    /// mask: what is lost is gone, and what has nowhere to go stays where it is.
    #[inline(never)]
    fn next_run(
        &mut self,
        context: &mut CoreContext,
        pu: Pu,
        stream: Stream,
        mask: &mut u64,
        lost: u64,
    ) -> Option<u64> {
        let FlashCore { ftl, tasks, .. } = self;
        let first = ftl.layout().first_slot_of(pu);
        while *mask != 0 {
            let unit = mask.trailing_zeros();
            if lost >> unit & 1 == 1 {
                context.counters.lost_units += u64::from(ftl.lose(first + unit).is_some());
            } else if !context.fallible || ftl.space().can_take_moved(stream) {
                let lost = lost & *mask;
                return Some(if lost == 0 { *mask } else { *mask & ((lost & lost.wrapping_neg()) - 1) });
            }
            *mask &= *mask - 1;
            tasks.leave(1);
        }
        None
    }

    /// Sees what becomes of the victim of `task`.
    pub(crate) fn look_at_victim(&mut self, now: Nanos, context: &mut CoreContext, task: InternalTask) {
        let protected = context.write_cache() == WriteCache::Protected;
        let FlashCore { tasks, ftl, buffer, .. } = self;
        if task == InternalTask::Gc && buffer.pacer().credit().shares_gain() && tasks.is_moved(task) {
            let (before, mut work) = (tasks.work(), tasks.work());
            buffer.victim_moved(now, ftl, &mut work);
            tasks.set_work(work);
            if work != before {
                context.unsettled.add(self.id, &mut self.dirty, Due::Admit);
            }
        }
        let FlashCore { tasks, ftl, .. } = self;
        match tasks.look_at_victim(task, ftl, protected) {
            Next::Stays | Next::Pinned => self.end_passes_of_former(now, context, task),
            Next::Erase(superblock) => {
                ftl.end_promise(tasks.stream(task));
                self.begin_erasing(now, context, task, superblock);
            }
            Next::EraseBeside(superblock, stream) => {
                ftl.end_promise(stream);
                self.begin_erasing(now, context, task, superblock);
                self.collect(now, context);
                // Where no other victim follows, nothing holds host writes back any more.
                self.make_due(context, Due::Admit);
            }
            Next::GivenUp(superblock, stream) => {
                ftl.give_up_relocation(superblock, stream);
                if task == InternalTask::Scrub {
                    self.block_moved(now, context);
                    self.scrub_given_up(now, context, superblock);
                    context.call_housekeeping(now);
                }
                self.look_at_redundancy(now, context);
                self.make_due(context, Due::Collect);
                self.make_due(context, Due::Admit);
            }
            Next::Pad(stream) => self.pad_relocated(now, context, task, stream),
            Next::AwaitsFlash(stream) => {
                ftl.end_promise(stream);
                if task == InternalTask::Scrub && context.redundancy.is_lacking() {
                    self.go_on_rebuilding(now, context);
                }
                self.look_at_redundancy(now, context);
                self.collect(now, context);
                self.look_at_formers(now, context);
                // Where no other victim follows, nothing holds host writes back any more.
                self.make_due(context, Due::Admit);
            }
        }
    }

    /// Begins to erase the victims that have waited for their data to be on flash, where it is.
    pub(crate) fn look_at_formers(&mut self, now: Nanos, context: &mut CoreContext) {
        self.tasks.take_pinned();
        for task in InternalTask::ALL {
            let FlashCore { tasks, ftl, .. } = self;
            match tasks.look_at_former(task, ftl) {
                Next::Erase(superblock) => self.begin_erasing(now, context, task, superblock),
                Next::Pinned => self.hurry_pinned(now, context),
                _ => {}
            }
        }
    }

    /// Starts wear levelling on `core` if it has something to move and is not under way.
    pub(crate) fn level_wear(&mut self, now: Nanos, context: &mut CoreContext) {
        self.show_cells(now, context);
        if !self.tasks.runs(InternalTask::WearLeveling)
            && let Some(cold) = self.ftl.choose_cold()
        {
            self.start_relocation(now, context, InternalTask::WearLeveling, cold, Reason::Wear, None);
        }
    }
}

/// Units of a victim need no room any more: those that the host has written or trimmed since their read began, and those that `joins_host` puts among
/// the host's.
#[inline]
fn count_considered(tasks: &mut Tasks, buffer: &mut Buffer, units: ConsideredUnits, joins_host: bool) {
    tasks.leave(units.stale);
    if joins_host {
        tasks.leave(units.moved);
        buffer.take_in(units.moved);
    }
}
