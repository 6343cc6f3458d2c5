//! On-chip copies: relocation of whole program units within their die, which leave the channel alone (decision 0152).
//!
//! A program unit is copied where all of it is valid, and its stream's frontier begins a program unit on the same lane. Dies whose next program unit could be
//! copied wait for the frontier to come round to them, as long as the die to which it has come has one, too. Everything else goes through the controller, which
//! corrects it.

use super::count_considered;
use crate::core::{CoreContext, Due, Effect, FlashCore, NextRead};
use crate::op::{InternalTask, OpKind, Purpose};
use crate::places::place_of_pu;
use crate::read::broken_units;
use outlast_flash::{DieQueue, FlashOp};
use outlast_ftl::{DieLane, MovingUnits};
use outlast_units::{DieId, LocalDie, Nanos, Pu};

/// Consequence of a die's turn in a relocation that may copy on the chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::core) enum OnChip {
    /// A copy has been queued.
    Copied,
    /// The die waits until the frontier has come round to it.
    Waits,
    /// The controller reads what is next.
    Reads,
}

impl FlashCore {
    /// Has die `die` copy what `task` moves next from it, if that can be. One that waits is woken by the copy before its own.
    #[cold]
    #[inline(never)]
    pub(in crate::core) fn copy_on_chip(
        &mut self,
        now: Nanos,
        context: &mut CoreContext,
        task: InternalTask,
        die: DieId,
    ) -> OnChip {
        let local = context.places[die].local;
        let Some((from, lane)) = self.next_to_copy(context, task, local) else {
            return OnChip::Reads;
        };
        let Some(to) = self.ftl.next_whole_lane(self.tasks.stream(task)) else {
            return OnChip::Reads;
        };
        if to != lane {
            let comes = self.next_to_copy(context, task, to.local_die).is_some_and(|(_, own)| own == to);
            return if comes && to.local_die != local { OnChip::Waits } else { OnChip::Reads };
        }
        let NextRead::Read { pu, place, mask, .. } = self.tasks.next_read(task, local, &self.ftl, true)
        else {
            return OnChip::Waits;
        };
        debug_assert_eq!(pu, from, "another program unit is next");
        self.copy(now, context, task, (pu, mask), context.flash.sense_time(place, mask));
        OnChip::Copied
    }

    /// The next program unit that die `local` has for `task`, and its lane, if it may be copied on the chip.
    fn next_to_copy(
        &self,
        context: &CoreContext,
        task: InternalTask,
        local: LocalDie,
    ) -> Option<(Pu, DieLane)> {
        let (superblock, pu) = self.tasks.next_whole(task, local, &self.ftl)?;
        let most = context.config.ftl.gc.on_chip_copies;
        let all = u64::MAX >> (64 - self.ftl.layout().units_per_pu());
        let is_good = broken_units(&self.ftl, self.faults.as_ref(), pu, all) == 0;
        let may = is_good && self.ftl.superblock(superblock).copies() < most;
        may.then(|| (pu, self.ftl.layout().place(pu).lane))
    }

    /// Copies the units `mask` of program unit `from`, all of it, which takes the die `sense` before it programs.
    fn copy(
        &mut self,
        now: Nanos,
        context: &mut CoreContext,
        task: InternalTask,
        (from, mask): (Pu, u64),
        sense: Nanos,
    ) {
        let units = mask.count_ones();
        let cost = context.config.controller.relocation_cost;
        if cost != Nanos::ZERO {
            self.cpu.occupy(now, Nanos(cost.0 * u64::from(units)));
        }
        let cause = OpKind::RelocationRead.cause_in(task, place_of_pu(&self.ftl, from).1.mode);
        context.counters.reads[cause] += u64::from(self.ftl.layout().pages_per_pu());
        context.counters.on_chip_copies += 1;
        let stream = self.tasks.stream(task);
        let mut moving = MovingUnits::of(&self.ftl, from, mask);
        let relocated = self.ftl.relocate_units(stream, &mut moving);
        debug_assert!(moving.are_done(), "a whole program unit finds no room in one");
        count_considered(&mut self.tasks, &mut self.buffer, relocated.before, false);
        if let Some(to) = relocated.completed {
            self.ftl.count_copy(from, to);
            let at = now + context.aged;
            if let Some(own) = &mut self.cells {
                own.copy(&self.ftl, from, to, at);
            }
            let epoch = self.tasks.epoch(task);
            self.tasks.program_begins(task, epoch);
            let purpose = Purpose::program(OpKind::RelocationProgram, task, to, epoch);
            let (die, place) = place_of_pu(&self.ftl, to);
            let program = FlashOp::copy(place, units, sense, purpose);
            // The die that has asked takes it up when it is answered.
            context.flash.enqueue(now, die, DieQueue::Internal(task), program);
            // No stripe ends, as on-chip copies exclude parity; the list of a block may be due.
            self.program_parity(now, context, stream);
        }
        if let Some(next) = self.ftl.next_whole_lane(stream) {
            context.unsettled.add_effect(Effect::Wake(next.die));
        }
        let is_moved = self.tasks.read_ended(task);
        if task == InternalTask::Gc {
            self.grant_credit(now, units);
            context.unsettled.add(self.id, &mut self.dirty, Due::Admit);
        }
        if is_moved {
            self.make_due_then(context, Due::victim(task));
        }
    }
}
