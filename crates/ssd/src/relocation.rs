//! The part of internal tasks that the dies have: what they start when, and the bound on it.

use crate::core::{Core, NextRead};
use crate::die::Phase;
use crate::op::{Op, OpKind, Task};
use crate::ssd::Ssd;
use outlast_units::Nanos;
use outlast_units::slab::NIL;

impl Ssd {
    /// Whether one more internal operation may start, given the bound on them.
    fn may_start_internal(&mut self, die: u16) -> bool {
        if self.internal < self.internal_max {
            return true;
        }
        self.wait_for_leave(die);
        false
    }

    fn wait_for_leave(&mut self, die: u16) {
        let state = &mut self.dies[usize::from(die)];
        if !state.waiting {
            state.waiting = true;
            self.waiting_dies.push_back(die);
        }
    }

    /// An internal operation has ended or relocated data has left the buffer: dies that waited for that may go on.
    pub(crate) fn give_leave(&mut self, now: Nanos) {
        for _ in 0..self.waiting_dies.len() {
            let Some(die) = self.waiting_dies.pop_front() else { break };
            self.dies[usize::from(die)].waiting = false;
            let before = self.internal;
            self.wake(now, die);
            if self.internal != before {
                break;
            }
        }
    }

    /// Starts an operation of garbage collection on an idle die, if there is one and it may.
    pub(crate) fn start_collection(&mut self, now: Nanos, die: u16) -> bool {
        let started = self.start_queued(now, die, Task::Gc) || self.start_relocation_read(now, die, Task::Gc);
        if started {
            self.dies[usize::from(die)].host_in_a_row = 0;
        }
        started
    }

    /// Starts an operation of a background task on an idle die, if there is one and it may.
    pub(crate) fn start_background(&mut self, now: Nanos, die: u16) -> bool {
        self.start_queued(now, die, Task::WearLeveling)
            || self.start_relocation_read(now, die, Task::WearLeveling)
            || self.start_relocation_read(now, die, Task::Scrub)
    }

    fn start_queued(&mut self, now: Nanos, die: u16, task: Task) -> bool {
        let state = &self.dies[usize::from(die)];
        let queue = if task == Task::Gc { state.collection } else { state.background };
        if queue.is_empty()
            || (self.ops[queue.head].kind == OpKind::Erase && self.reads_want(die, queue.head))
        {
            return false;
        }
        if !self.may_start_internal(die) {
            return false;
        }
        let state = &mut self.dies[usize::from(die)];
        let queue = if task == Task::Gc { &mut state.collection } else { &mut state.background };
        let op = queue.pop(&self.ops);
        self.internal += 1;
        match self.ops[op].kind {
            OpKind::Erase => self.start_erase(now, die, op),
            OpKind::PatrolRead | OpKind::MoveRead => self.start_read(now, die, op),
            _ => self.start_program(now, die, op),
        }
        true
    }

    /// Whether a read waits for data of the superblock that erasure `op` is about to erase: translated before its data moved, it
    /// must still find it.
    fn reads_want(&self, die: u16, op: u32) -> bool {
        let erase = &self.ops[op];
        let layout = self.cores[usize::from(erase.core)].ftl.layout();
        let superblock = layout.place(erase.pu).superblock;
        let mut read = self.dies[usize::from(die)].reads.head;
        while read != NIL {
            if layout.place(self.ops[read].pu).superblock == superblock {
                return true;
            }
            read = self.ops[read].next;
        }
        false
    }

    /// Starts reading the next valid units that a task wants from this die.
    fn start_relocation_read(&mut self, now: Nanos, die: u16, task: Task) -> bool {
        let local = self.dies[usize::from(die)].local;
        let core = usize::from(self.dies[usize::from(die)].core);
        loop {
            let Core { tasks, ftl, .. } = &mut self.cores[core];
            if self.internal >= self.internal_max {
                if tasks.has_reads(task, local) {
                    self.wait_for_leave(die);
                }
                return false;
            }
            match tasks.next_read(task, local, ftl) {
                NextRead::None => return false,
                NextRead::Later => {
                    self.wait_for_leave(die);
                    return false;
                }
                NextRead::Stale => {
                    self.maybe_erase(now, core, task);
                    if self.dies[usize::from(die)].phase != Phase::Idle || self.start_queued(now, die, task) {
                        return true;
                    }
                }
                NextRead::Read { pu, mask } => {
                    let units = mask.count_ones();
                    self.internal += 1;
                    let op =
                        Op { units: units as u16, mask, ..Op::new(OpKind::RelocationRead, task, core, pu) };
                    let op = self.ops.insert(op);
                    let cost = self.config.controller.relocation_cost;
                    if cost != Nanos::ZERO {
                        self.cores[core].cpu.occupy(now, Nanos(cost.0 * u64::from(units)));
                    }
                    self.start_read(now, die, op);
                    return true;
                }
            }
        }
    }

    pub(crate) fn queue_internal(&mut self, now: Nanos, die: u16, op: Op) {
        let task = op.task;
        let op = self.ops.insert(op);
        let state = &mut self.dies[usize::from(die)];
        let queue = if task == Task::Gc { &mut state.collection } else { &mut state.background };
        queue.push(&mut self.ops, op);
        self.wake(now, die);
    }
}
