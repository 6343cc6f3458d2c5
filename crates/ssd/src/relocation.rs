//! Internal tasks, all of one kind: read a superblock's valid units, write them to a stream of their own, erase it.

use crate::config::{SsdConfig, WriteCache};
use crate::core::{CREDIT_ONE, Core, Outgoing, Processor, Relocation, Waiting};
use crate::health::{Covers, Reason, Scrub};
use crate::op::{Op, OpKind, Task};
use crate::ssd::Ssd;
use outlast_ftl::{Cause, Ftl, Stream};
use outlast_media::ConfigError;
use outlast_units::slab::NIL;
use outlast_units::{DieId, Nanos, Ppn, SuperblockId};
use std::collections::VecDeque;

impl Core {
    pub(crate) fn new(ftl: Ftl, dies: &[DieId], config: &SsdConfig) -> Result<Self, ConfigError> {
        let layout = ftl.layout();
        let buffer = config.controller.write_buffer.0 / config.ftl.mapping_unit.0;
        let buffer_units =
            u32::try_from(buffer / u64::from(config.controller.flash_cores)).unwrap_or(u32::MAX);
        // Each stream may hold a program unit that is begun and not full; one more must fit.
        let least = u32::from(ftl.host_streams()) * layout.units_per_pu() + 1;
        if buffer_units < least {
            let bytes =
                u64::from(least) * config.ftl.mapping_unit.0 * u64::from(config.controller.flash_cores);
            let limit = format!(
                "must hold a program unit of every stream and core: at least {}",
                outlast_units::Bytes(bytes)
            );
            return Err(ConfigError::new(
                "device.controller.write_buffer",
                config.controller.write_buffer,
                limit,
            ));
        }
        // Two superpages: one being programmed while the next is read.
        let relocating_max = 2 * layout.lanes().len() as u32 * layout.units_per_pu();
        Ok(Self {
            cpu: Processor::default(),
            buffered: 0,
            buffer_units,
            waiting: VecDeque::new(),
            relocations: Default::default(),
            outgoing: Default::default(),
            pinned: false,
            moved_in: Vec::new(),
            recovering: 0,
            cells: None,
            faults: None,
            scrub: config.scrubs().then(|| {
                let own = config.scrub.unwrap_or_default();
                Scrub::new(&own, layout.superblocks(), config.controller.flash_cores, config.ftl.mapping_unit)
            }),
            covers: Covers::new(
                ftl.streams(),
                config.protection.as_ref().map_or(Nanos::MAX, |own| own.partial.timeout),
            ),
            relocating: 0,
            relocating_max,
            credit: 0,
            handing_out: false,
            pump_owed: false,
            blocked_since: None,
            dies: dies.iter().map(|die| die.0).collect(),
            spare_lists: Default::default(),
            ftl,
        })
    }
}

impl Ssd {
    /// Starts garbage collection on `core` if it is needed and not under way.
    #[inline]
    pub(crate) fn maybe_collect(&mut self, now: Nanos, core: usize) {
        if self.cores[core].ftl.needs_gc() && self.cores[core].relocations[Task::Gc as usize].is_none() {
            self.start_gc(now, core);
        }
    }

    fn start_gc(&mut self, now: Nanos, core: usize) {
        // No victim yet: the stale units are in superblocks still being programmed. Every program that ends asks again.
        let ftl = &mut self.cores[core].ftl;
        if let Some(victim) = ftl.choose_victim().or_else(|| ftl.choose_broken()) {
            let ftl = &self.cores[core].ftl;
            let stream = ftl.gc_stream(ftl.class_of_superblock(victim));
            self.start_relocation(now, core, Task::Gc, victim, stream, Reason::Space);
        }
    }

    pub(crate) fn start_relocation(
        &mut self,
        now: Nanos,
        core: usize,
        task: Task,
        superblock: SuperblockId,
        stream: Stream,
        reason: Reason,
    ) {
        if self.fallible || !matches!(reason, Reason::Space | Reason::Wear) {
            self.note_decision(now, core, superblock, reason);
        }
        // Of a die that is expected to fail only its own data goes.
        let leaving = if reason == Reason::Evacuation { self.leaving_lanes(core) } else { Vec::new() };
        let state = &mut self.cores[core];
        let valid = state.ftl.begin_relocation(superblock, stream, reason.cause());
        let (mut todo, mut cursors) = std::mem::take(&mut state.spare_lists);
        list_by_die(&state.ftl, superblock, &leaving, &mut todo, &mut cursors);
        let units = state.ftl.data_units(stream);
        let dies = state.ftl.layout().dies();
        state.relocations[task as usize] = Some(Relocation {
            superblock,
            stream,
            dies_left: cursors.iter().filter(|(next, end)| next != end).count() as u32,
            todo,
            cursors,
            reads_in_flight: 0,
            erases_left: 0,
            work_left: work_until_gain(valid, state.ftl.room(stream), units),
        });
        for local in 0..usize::from(dies) {
            let die = self.cores[core].dies[local];
            self.wake(now, die);
        }
        // A victim without valid data needs no reads.
        self.maybe_erase(now, core, task);
    }

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

    /// Starts reading the next valid units that a relocation wants from this die.
    fn start_relocation_read(&mut self, now: Nanos, die: u16, task: Task) -> bool {
        let local = self.dies[usize::from(die)].local;
        let core = usize::from(self.dies[usize::from(die)].core);
        loop {
            let state = &mut self.cores[core];
            let Some(relocation) = &mut state.relocations[task as usize] else { return false };
            let (next, end) = &mut relocation.cursors[usize::from(local)];
            if next == end {
                return false;
            }
            if state.relocating >= state.relocating_max || self.internal >= self.internal_max {
                self.wait_for_leave(die);
                return false;
            }
            let within = relocation.todo[*next as usize];
            *next += 1;
            relocation.dies_left -= u32::from(next == end);
            let mask = state.ftl.valid_units(relocation.superblock, within);
            if mask == 0 {
                // The host has overwritten all of it meanwhile. That may have been the last of the victim.
                self.maybe_erase(now, core, task);
                if self.dies[usize::from(die)].phase != crate::die::Phase::Idle {
                    return true;
                }
                if self.start_queued(now, die, task) {
                    return true;
                }
                continue;
            }
            let pu = relocation.superblock.0 * state.ftl.layout().pus_per_superblock() + within;
            relocation.reads_in_flight += 1;
            let units = mask.count_ones();
            // Room is kept from the start of the read, so that data read always has a place to go.
            state.relocating += units;
            self.internal += 1;
            let op = Op { units: units as u16, mask, ..Op::new(OpKind::RelocationRead, task, core, pu) };
            let op = self.ops.insert(op);
            let cost = self.config.controller.relocation_cost;
            if cost != Nanos::ZERO {
                self.cores[core].cpu.occupy(now, Nanos(cost.0 * u64::from(units)));
            }
            self.start_read(now, die, op);
            return true;
        }
    }

    /// Valid units of a victim have been read, but for those in `lost`: they go to the frontier of the relocation's stream.
    pub(crate) fn relocation_read(&mut self, now: Nanos, op: &Op, lost: u64) {
        let core = usize::from(op.core);
        self.internal -= 1;
        let state = &mut self.cores[core];
        let relocation =
            state.relocations[op.task as usize].as_ref().expect("a read belongs to a relocation");
        let stream = relocation.stream;
        let first = op.pu * state.ftl.layout().units_per_pu();
        let mut mask = op.mask;
        while mask != 0 {
            let unit = mask.trailing_zeros();
            mask &= mask - 1;
            let state = &mut self.cores[core];
            if lost >> unit & 1 == 1 {
                state.relocating -= 1;
                self.counters.lost_units += u64::from(state.ftl.lose(Ppn(first + unit)).is_some());
                continue;
            }
            if self.fallible && !state.ftl.can_append(stream) {
                // Flash has failed where the data was to go: it stays where it is.
                state.relocating -= 1;
                continue;
            }
            match state.ftl.relocate(stream, Ppn(first + unit)) {
                // Written or trimmed by the host since the read began.
                None => state.relocating -= 1,
                Some(slot) if slot.completes_pu => {
                    let (pu, _) = state.ftl.layout().pu_of(slot.ppn);
                    let units = state.ftl.layout().units_per_pu();
                    self.program_relocated(now, core, op.task, pu, units);
                    self.program_parity(now, core, stream);
                }
                Some(_) => {}
            }
        }
        // Only now: until every unit has left, the victim must not be erased.
        if let Some(relocation) = &mut self.cores[core].relocations[op.task as usize] {
            relocation.reads_in_flight -= 1;
        }
        if op.task == Task::Gc {
            self.grant_credit(core, u32::from(op.units));
            if !self.cores[core].waiting.is_empty() {
                self.pump(now, core);
            }
        }
        self.maybe_erase(now, core, op.task);
        self.give_leave(now);
    }

    /// Collection has dealt with `units` units of its victim: the host may write its share, such that its open superblock is
    /// full when the next one has been gained. A sixteenth of the superblock is kept back for the time of the erasure and of
    /// estimates that were off; then host writes go on at the pace of the estimate.
    fn grant_credit(&mut self, core: usize, units: u32) {
        let state = &mut self.cores[core];
        let Some(relocation) = &mut state.relocations[Task::Gc as usize] else { return };
        let hosts = (0..state.ftl.host_streams()).map(Stream);
        // Of all streams together: one that is full waits for itself, and the others need not wait with it.
        let room: u32 = hosts.map(|stream| state.ftl.room(stream)).sum();
        let spendable = room.saturating_sub(state.ftl.layout().units_per_superblock() / 16);
        let work = relocation.work_left.max(units);
        let share = u64::from(spendable) * CREDIT_ONE * u64::from(units) / u64::from(work);
        relocation.work_left = work - units;
        state.credit = (state.credit + share).min(u64::from(room) * CREDIT_ONE);
    }

    /// Programs the parity of the stripes that `stream` has completed.
    #[inline]
    pub(crate) fn program_parity(&mut self, now: Nanos, core: usize, stream: Stream) {
        if self.striped {
            self.program_due_parity(now, core, stream);
        }
    }

    #[inline(never)]
    fn program_due_parity(&mut self, now: Nanos, core: usize, stream: Stream) {
        while let Some(pu) = self.cores[core].ftl.take_parity(stream) {
            self.program_in(now, core, stream, pu, 0);
        }
        self.note_exposed(now, core, stream);
    }

    /// Programs `pu` of `stream`, through the queue that is the stream's.
    pub(crate) fn program_in(&mut self, now: Nanos, core: usize, stream: Stream, pu: u32, units: u32) {
        match self.cores[core].ftl.cause_of(stream) {
            Cause::Host | Cause::Partial => self.program_host(now, core, pu, units),
            Cause::Gc => self.program_relocated(now, core, Task::Gc, pu, units),
            Cause::WearLeveling => self.program_relocated(now, core, Task::WearLeveling, pu, units),
            Cause::Scrub | Cause::Reencode => self.program_relocated(now, core, Task::Scrub, pu, units),
        }
    }

    pub(crate) fn program_relocated(&mut self, now: Nanos, core: usize, task: Task, pu: u32, units: u32) {
        let epoch = self.cores[core].outgoing[task as usize].epoch;
        self.program_relocated_in(now, core, task, pu, units, epoch);
    }

    /// [`Ssd::program_relocated`] for the victim with that epoch.
    #[inline]
    pub(crate) fn program_relocated_in(
        &mut self,
        now: Nanos,
        core: usize,
        task: Task,
        pu: u32,
        units: u32,
        epoch: u32,
    ) {
        let outgoing = &mut self.cores[core].outgoing[task as usize];
        outgoing.programs += u32::from(outgoing.epoch == epoch);
        if let Some(waiting) = outgoing.waiting.as_mut().filter(|waiting| waiting.epoch == epoch) {
            waiting.programs += 1;
        }
        let op = Op { units: units as u16, epoch, ..Op::new(OpKind::RelocationProgram, task, core, pu) };
        let die = self.cores[core].ftl.layout().lane_of_pu(pu).die.0;
        self.queue_internal(now, die, op);
    }

    pub(crate) fn queue_internal(&mut self, now: Nanos, die: u16, op: Op) {
        let task = op.task;
        let op = self.ops.insert(op);
        let state = &mut self.dies[usize::from(die)];
        let queue = if task == Task::Gc { &mut state.collection } else { &mut state.background };
        queue.push(&mut self.ops, op);
        self.wake(now, die);
    }

    pub(crate) fn relocation_programmed(&mut self, now: Nanos, op: &Op) {
        let core = usize::from(op.core);
        self.internal -= 1;
        let state = &mut self.cores[core];
        state.relocating -= u32::from(op.units);
        let outgoing = &mut state.outgoing[op.task as usize];
        if let Some(waiting) = &mut outgoing.waiting {
            waiting.programs -= u32::from(waiting.epoch == op.epoch);
            waiting.begun = waiting.begun.filter(|&pu| pu != op.pu);
        }
        outgoing.programs -= u32::from(outgoing.epoch == op.epoch);
        if !self.cores[core].moved_in.is_empty() {
            self.end_moved_in(now, core, op.pu);
        }
        self.maybe_erase_waiting(now, core, op.task);
        self.maybe_erase(now, core, op.task);
        self.retry_erasures(now, core);
        self.maybe_collect(now, core);
        self.give_leave(now);
    }

    /// Begins to erase a victim once its data is out of it: at once where the buffer is protected; else when the data is on
    /// flash, until when the victim waits and makes way for the next.
    pub(crate) fn maybe_erase(&mut self, now: Nanos, core: usize, task: Task) {
        let cache = self.write_cache();
        let state = &mut self.cores[core];
        let Some(relocation) = &mut state.relocations[task as usize] else { return };
        if relocation.dies_left != 0 || relocation.reads_in_flight != 0 || relocation.erases_left != 0 {
            return;
        }
        let (superblock, stream) = (relocation.superblock, relocation.stream);
        if state.ftl.valid_count(superblock) != 0 {
            // Not all of it found room. Another victim, with less to move, may.
            state.ftl.give_up_relocation(superblock, stream);
            state.relocations[task as usize] = None;
            if task == Task::Scrub {
                self.call_housekeeping(now);
            }
            self.maybe_collect(now, core);
            self.pump(now, core);
            return;
        }
        let outgoing = &mut state.outgoing[task as usize];
        let begun = state.ftl.begun_pu(stream);
        if cache == WriteCache::Protected
            || (outgoing.programs == 0
                && outgoing.waiting.is_none()
                && begun.is_none()
                && state.ftl.may_erase(superblock))
        {
            relocation.erases_left = state.ftl.erasable_lanes(superblock).count() as u32;
            self.begin_erasing(now, core, task, superblock);
            return;
        }
        match outgoing.waiting {
            // The victim before this one waits for a program unit that this one's data did not fill either: between them
            // they gain so much that a padded one is little. Or its data went to another stream, which nothing may fill.
            Some(Waiting { begun: Some(waited), .. })
                if Some(waited) == begun || !state.ftl.is_of(waited, stream) =>
            {
                let stream = state.ftl.stream_of(state.ftl.layout().place(waited).superblock);
                let units = state.ftl.begun_units(stream);
                if let Some(pu) = state.ftl.pad(stream) {
                    self.program_relocated(now, core, task, pu, units);
                    self.program_parity(now, core, stream);
                }
            }
            // It waits for programs that are under way; their end comes back here.
            Some(_) => {}
            None => {
                let Outgoing { programs, epoch, .. } = *outgoing;
                let waiting = Waiting { superblock, epoch, programs, begun, erases_left: 0 };
                *outgoing = Outgoing { programs: 0, epoch: epoch.wrapping_add(1), waiting: Some(waiting) };
                if let Some(done) = state.relocations[task as usize].take() {
                    state.spare_lists = (done.todo, done.cursors);
                }
                self.maybe_collect(now, core);
                self.maybe_erase_waiting(now, core, task);
                // Where no other victim follows, nothing holds host writes back any more.
                self.pump(now, core);
            }
        }
    }

    /// Begins to erase a waiting victim when its data is on flash.
    pub(crate) fn maybe_erase_waiting(&mut self, now: Nanos, core: usize, task: Task) {
        let state = &mut self.cores[core];
        let Some(waiting) = &mut state.outgoing[task as usize].waiting else { return };
        if waiting.programs == 0 && waiting.begun.is_none() && waiting.erases_left == 0 {
            if !state.ftl.may_erase(waiting.superblock) {
                state.pinned = true;
                self.hurry_pinned(now, core);
                return;
            }
            waiting.erases_left = state.ftl.erasable_lanes(waiting.superblock).count() as u32;
            let superblock = waiting.superblock;
            self.begin_erasing(now, core, task, superblock);
        }
    }

    fn queue_erasures(&mut self, now: Nanos, core: usize, task: Task, superblock: SuperblockId) {
        let first_pu = superblock.0 * self.cores[core].ftl.layout().pus_per_superblock();
        let lanes: Vec<u32> = self.cores[core].ftl.erasable_lanes(superblock).collect();
        for lane in lanes {
            let die = self.cores[core].ftl.layout().lanes()[lane as usize].die.0;
            let op = Op::new(OpKind::Erase, task, core, first_pu + lane);
            self.queue_internal(now, die, op);
        }
    }

    /// Has the blocks of victim `superblock` erased, on all lanes that it still has.
    pub(crate) fn begin_erasing(&mut self, now: Nanos, core: usize, task: Task, superblock: SuperblockId) {
        if self.cores[core].ftl.erasable_lanes(superblock).next().is_some() {
            self.queue_erasures(now, core, task, superblock);
        } else {
            // Its last lane has failed since it was filled: no erasure will ever end.
            self.victim_erased(now, core, task, superblock);
        }
    }

    pub(crate) fn relocation_erased(&mut self, now: Nanos, op: &Op) {
        let core = usize::from(op.core);
        self.internal -= 1;
        if self.note_erase_failure(op) {
            self.note_failed_write(now, op);
        }
        let state = &mut self.cores[core];
        let superblock = state.ftl.layout().place(op.pu).superblock;
        let waiting = state.outgoing[op.task as usize].waiting.as_mut();
        let left = if let Some(waits) = waiting.filter(|waits| waits.superblock == superblock) {
            &mut waits.erases_left
        } else {
            let relocation = state.relocations[op.task as usize].as_mut();
            &mut relocation.expect("an erasure belongs to a victim").erases_left
        };
        *left -= 1;
        if *left == 0 {
            self.victim_erased(now, core, op.task, superblock);
        }
        self.give_leave(now);
    }

    /// The blocks of victim `superblock` of `task` have been erased, or have failed to be.
    fn victim_erased(&mut self, now: Nanos, core: usize, task: Task, superblock: SuperblockId) {
        let state = &mut self.cores[core];
        let waiting = &mut state.outgoing[task as usize].waiting;
        if waiting.take_if(|waits| waits.superblock == superblock).is_none()
            && let Some(done) = state.relocations[task as usize].take()
        {
            state.spare_lists = (done.todo, done.cursors);
        }
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
        self.look_at_state(now);
        // The victim after this one may have been waiting for it to be gone.
        self.maybe_erase(now, core, task);
        let state = &mut self.cores[core];
        if state.relocations[Task::WearLeveling as usize].is_none()
            && let Some(cold) = state.ftl.choose_cold()
        {
            let stream = state.ftl.wear_leveling_stream(state.ftl.class_of_superblock(cold));
            self.start_relocation(now, core, Task::WearLeveling, cold, stream, Reason::Wear);
        }
        self.maybe_collect(now, core);
        self.maybe_scrub(now, core);
        self.pump(now, core);
    }
}

/// Valid units to be moved until a victim's erasure leaves one superblock more than before: its own `valid` ones when they fit
/// into the `room` of the stream's open superblock; otherwise a new one of `units` slots is opened for the rest, and the next
/// victim counts too.
fn work_until_gain(valid: u32, room: u32, units: u32) -> u32 {
    let (mut work, mut room) = (valid, room);
    // Each victim adds what it has stale; one without any adds nothing, and there is no end to be estimated.
    while room < valid && valid < units {
        room += units - valid;
        work = work.saturating_add(valid);
    }
    work
}

/// Lists the program units of `superblock` that hold valid data, die by die: `todo` has a stretch of equal length for each die, of
/// which `cursors` gives the part in use. Those of lanes in `only`, if any are given.
fn list_by_die(
    ftl: &Ftl,
    superblock: SuperblockId,
    only: &[u32],
    todo: &mut Vec<u32>,
    cursors: &mut Vec<(u32, u32)>,
) {
    let layout = ftl.layout();
    let stretch = layout.pus_per_superblock() / u32::from(layout.dies());
    todo.clear();
    todo.resize(layout.pus_per_superblock() as usize, 0);
    cursors.clear();
    cursors.extend((0..u32::from(layout.dies())).map(|die| (die * stretch, die * stretch)));
    let mut pu = 0;
    for _ in 0..layout.superpages() {
        for (position, lane) in (0u32..).zip(layout.lanes()) {
            if ftl.valid_units(superblock, pu) != 0 && (only.is_empty() || only.contains(&position)) {
                let (_, end) = &mut cursors[usize::from(lane.local_die)];
                todo[*end as usize] = pu;
                *end += 1;
            }
            pu += 1;
        }
    }
}
