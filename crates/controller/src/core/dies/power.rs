//! Loss of power: what a core forgets, and how it goes on.

use crate::core::{CoreContext, Due, FlashCore};
use crate::op::{InternalTask, OpKind, Purpose};
use crate::read::{broken_units, units};
use outlast_flash::OutstandingProgram;
use outlast_ftl::{PowerAftermath, StreamCause};
use outlast_media::UnitTear;
use outlast_units::{Nanos, Pu, SuperblockId};

/// Losses of a core whose buffer power has cleared, and what is to be done about them.
pub struct BufferLoss {
    /// Program operations that power cut short.
    pub torn: u64,
    /// Units that are gone.
    pub lost_units: u64,
    /// Pages that a mount reads for it.
    pub mount_pages: u64,
    /// Program units that are read so that parity is known again.
    pub read: Vec<Pu>,
    /// Superblocks that are full now.
    pub sealed: Vec<SuperblockId>,
    /// Program units that are filled up with nothing.
    pub fill: Vec<Pu>,
}

impl FlashCore {
    /// The program operations of `outstanding` that are the core's.
    fn own_programs<'a>(
        &self,
        context: &'a CoreContext,
        outstanding: &'a [OutstandingProgram<Purpose>],
    ) -> impl Iterator<Item = &'a OutstandingProgram<Purpose>> + use<'a> {
        let id = self.id;
        outstanding.iter().filter(move |one| context.places[one.die].core == id)
    }

    /// The buffer has survived: it has room for what is issued again of `outstanding`.
    ///
    /// # Panics
    /// If more is issued again than the buffer has room for.
    pub fn hold_again(&mut self, context: &CoreContext, outstanding: &[OutstandingProgram<Purpose>]) {
        let (mut host, mut relocated) = (self.ftl.held_units(), 0);
        for one in self.own_programs(context, outstanding) {
            let units = one.op.units();
            if one.op.tag.kind == OpKind::HostProgram { host += units } else { relocated += units }
        }
        for stream in self.ftl.streams().all() {
            let begun = self.ftl.stream(stream).begun_units();
            if self.ftl.streams().cause(stream) == StreamCause::Host {
                host += begun;
            } else {
                relocated += begun;
            }
        }
        assert!(
            u64::from(host + relocated) <= self.ftl.figures().buffered_units,
            "core {}: more is issued again than awaits programming",
            self.id
        );
        self.buffer.hold(host);
        self.tasks.hold(relocated);
    }

    /// A program operation of `task` is issued again, of no victim that the task still has.
    pub fn begin_program_again(&mut self, task: InternalTask) {
        self.tasks.program_begins(task, 0);
    }

    /// The buffer is empty. Of the program operations of `outstanding`, those of the program units in `taken` have come to flash all the same.
    ///
    /// # Panics
    /// If more units are lost than the buffer held.
    pub fn lose_buffer(
        &mut self,
        context: &mut CoreContext,
        outstanding: &[OutstandingProgram<Purpose>],
        taken: &[Pu],
    ) -> BufferLoss {
        let of = |wanted: bool| -> Vec<Pu> {
            let programs = self.own_programs(context, outstanding);
            let lost = programs.filter(|one| one.started == wanted && !taken.contains(&one.op.tag.pu));
            lost.map(|one| one.op.tag.pu).collect()
        };
        let (started, queued) = (of(true), of(false));
        self.buffer.hold(0);
        self.tasks.hold(0);
        self.maps.forget();
        let (core, buffered) = (self.id, self.ftl.figures().buffered_units);
        let PowerAftermath { lost, sealed, fill, mut read, scanned } =
            self.ftl.lose_buffer(&started, &queued);
        assert!(lost <= buffered, "core {core}: {lost} units are lost of {buffered} in the buffer");
        let filled = fill.len() as u64 * u64::from(self.ftl.layout().units_per_pu());
        assert!(
            self.ftl.figures().buffered_units == filled,
            "core {core}: only what is filled up awaits programming after the buffer's loss"
        );
        read.extend(self.ftl.stripes_under_way());
        self.read_for_parity(context, &read, true);
        self.ftl.recompute_parity(&fill);
        let pages = u64::from(self.ftl.layout().pages_per_pu());
        let mount_pages = (scanned + read.len() as u64) * pages;
        BufferLoss { torn: started.len() as u64, lost_units: lost, mount_pages, read, sealed, fill }
    }

    /// Superblocks `sealed` are full, and program units `fill` are programmed with nothing in them, after the buffer's loss.
    pub fn fill_after_loss(
        &mut self,
        now: Nanos,
        context: &mut CoreContext,
        sealed: Vec<SuperblockId>,
        fill: Vec<Pu>,
    ) {
        for superblock in sealed {
            self.sealed(now, context, superblock);
        }
        for pu in fill {
            let stream = self.ftl.superblock(self.ftl.layout().place(pu).superblock).stream();
            self.program_in(now, context, stream, pu, 0);
        }
    }

    /// Core `core` forgets the host's commands and the tasks under way. Returns the superblocks whose relocation is abandoned.
    pub fn stop_core(&mut self, now: Nanos, context: &mut CoreContext) -> Vec<SuperblockId> {
        self.cpu.forget(now);
        self.resets.power_failed();
        if let Some(cache) = &mut self.read_cache {
            cache.clear();
        }
        if let Some(cache) = &mut self.map_cache {
            cache.clear();
        }
        context.counters.blocked_ns += self.buffer.forget(now).0;
        if let Some(scrub) = &mut self.scrub {
            scrub.power_failed();
        }
        let abandoned = self.tasks.forget();
        for &superblock in &abandoned {
            self.ftl.end_relocation(superblock);
        }
        self.ftl.power_failed();
        abandoned
    }

    /// The program units in `read` are read so that the parity of their stripes is known again. What cannot be read is lost, unless what
    /// covers the stripe gives it, where `covered` says that this has survived.
    pub fn read_for_parity(&mut self, context: &mut CoreContext, read: &[Pu], covered: bool) {
        let mask = u64::MAX >> (64 - self.ftl.layout().units_per_pu());
        for &pu in read {
            let first = self.ftl.layout().first_slot_of(pu);
            for unit in units(broken_units(&self.ftl, self.faults.as_ref(), pu, mask)) {
                let is_broken =
                    |other: Pu| broken_units(&self.ftl, self.faults.as_ref(), other, 1 << unit) != 0;
                if covered && self.ftl.parity().cover_gives(pu, unit, is_broken) {
                    continue;
                }
                let gone = self.ftl.lose_uncovered(first + unit).is_some();
                context.counters.lost_units += u64::from(gone);
            }
        }
    }

    /// Core `core` goes on: erasures that were under way are begun anew, parity that has become due is programmed. Returns the superblocks that are full,
    /// of each of which a mount reads a page.
    pub fn go_on_after_cut(
        &mut self,
        now: Nanos,
        context: &mut CoreContext,
        abandoned: &[SuperblockId],
    ) -> u64 {
        let ftl = &self.ftl;
        let superblocks = (0..ftl.layout().superblocks()).map(SuperblockId);
        let filled = superblocks
            .filter(|&at| ftl.superblock(at).state() == outlast_decisions::SuperblockState::Sealed)
            .count() as u64;
        for stream in self.ftl.streams().all() {
            self.program_parity(now, context, stream);
        }
        for task in InternalTask::ALL {
            let FlashCore { tasks, ftl, .. } = self;
            for superblock in tasks.erase_again(task, ftl) {
                self.begin_erasing(now, context, task, superblock);
            }
        }
        for &superblock in abandoned {
            self.scrub_cut_short(now, context, superblock);
        }
        self.look_at_redundancy_again(now, context);
        self.look_at_alarms(now, context);
        for local in self.dies.indices() {
            let die = self.dies[local];
            self.wake_of::<false>(now, context, die);
        }
        self.make_due(context, Due::Collect);
        self.make_due(context, Due::Scrub);
        filled
    }

    /// Power failed, and of program operations of the core among the `outstanding` that were under way flash has what `tear` says, which `draw` decides. The drive
    /// takes those for good that hold nothing but what the host was not promised; returns their program units. What relocation was moving,
    /// and parity, is passed over as ever: who moves data reads it again and sees what came of it.
    pub fn take_for_good(
        &mut self,
        now: Nanos,
        context: &mut CoreContext,
        outstanding: &[OutstandingProgram<Purpose>],
        (tear, draw): (UnitTear, u64),
    ) -> Vec<Pu> {
        let mut taken = Vec::new();
        if tear == UnitTear::Nothing {
            return taken;
        }
        for one in outstanding.iter().filter(|one| one.in_last_pass) {
            if context.places[one.die].core != self.id {
                continue;
            }
            let (tag, units) = (one.op.tag, one.op.units());
            let mask = u64::MAX >> (64 - self.ftl.layout().units_per_pu());
            let is_broken = broken_units(&self.ftl, self.faults.as_ref(), tag.pu, mask) != 0;
            if tag.kind != OpKind::HostProgram || units == 0 || is_broken || !self.ftl.is_unpromised(tag.pu) {
                continue;
            }
            self.ftl.tear(tag.pu, tear, draw);
            self.flash_programmed(now, context, tag.pu, units);
            taken.push(tag.pu);
        }
        taken
    }
}
