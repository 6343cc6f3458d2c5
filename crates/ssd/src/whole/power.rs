//! Loss of power: what the drive forgets, what it still knows, and how it goes on.
//!
//! Power may fail at any moment, and returns at once ([`Ssd::power_cut`]) or later ([`PowerCycle::power_cycle`]). With `device.mount`, the drive then reads
//! flash before it takes commands, which takes time (`mount.rs`). Without it the mount takes no time, and [`PowerCuts`] counts the pages that it would have
//! read.
//!
//! The setting `write_cache` says what survives: with [`WriteCache::Protected`] everything that was acknowledged; otherwise what is on flash, and of every
//! mapping unit the newest copy there. For this, each unit in an unprotected buffer knows the copy that it supersedes, and pins the superblock of that copy,
//! which is not erased meanwhile. Torn program units are skipped; those that had not begun are filled again (decision 0015).
//!
//! Trims survive, flushed or not, unless `controller.trims` is `volatile`: then a trim is safe after the next flush that is carried out. Until then it is kept
//! as a note of the copy that it made stale (`ftl/src/ftl/trims.rs`), and a loss of power makes that copy current again.

use crate::core::{Core, Due};
use crate::counters::PowerCuts;
use crate::events::DriveSource;
use crate::ledger::Ledger;
use crate::op::{OpKind, Purpose, Task};
use crate::read::{broken_units, units};
use crate::ssd::Ssd;
use outlast_device::PowerCycle;
use outlast_flash::{Outstanding, Queue};
use outlast_ftl::{Aftermath, Cause};
use outlast_media::UnitTear;
use outlast_settings::drive::WriteCache;
use outlast_settings::ftl::PartialPlace;
use outlast_units::slab::Slab;
use outlast_units::{CoreId, IndexVec, Nanos, Pu, SuperblockId};

impl PowerCycle for Ssd {
    fn power_cycle(&mut self, off: Nanos, on: Nanos) {
        let mut unheard = Vec::new();
        while self.next_event() < off {
            self.step(off, &mut unheard);
        }
        self.host.forget(off);
        self.note(Ledger::forget);
        self.cut(off, on);
    }
}

impl Ssd {
    /// Power fails at `now` and is back at once. Commands in flight never complete, those included whose completion has not been
    /// handed out. Faults, ageing and scrubbing that are still to come will come.
    pub fn power_cut(&mut self, now: Nanos) {
        self.power_cycle(now, now);
    }

    /// What losses of power have done so far.
    pub fn power_cuts(&self) -> PowerCuts {
        self.power_cuts
    }

    /// All but the host's side forgets at `off` what it was doing; at `on` the drive mounts.
    pub(crate) fn cut(&mut self, off: Nanos, on: Nanos) {
        self.power_cuts.cuts += 1;
        let tear = self.schedule.take_tear();
        self.shutdowns.power_failed();
        let outstanding = self.flash.cut(off);
        self.events.cut();
        self.reads = Slab::default();
        self.host.requests.clear();
        self.forget_queries(off);
        self.ladder.power_failed();
        self.master.forget(off);
        let cores = self.cores.indices();
        let abandoned: IndexVec<CoreId, _> = cores.map(|core| self.stop_core(off, core)).collect();
        let protected = self.write_cache() == WriteCache::Protected;
        let parity = if protected {
            self.issue_again(on, &outstanding);
            Vec::new()
        } else {
            self.lose_buffers(on, &outstanding, tear)
        };
        self.mount_from_flash(on, &parity, protected);
        for (core, abandoned) in abandoned.iter_indexed() {
            self.mount(on, core, abandoned);
        }
        self.move_again();
        self.settle(on);
        // Housekeeping is the only source of events that outlives the power.
        if self.events.next() < on {
            self.events.set(DriveSource::Housekeeping, on);
        }
    }

    /// Core `core` forgets the host's commands and the tasks under way. Returns the superblocks whose relocation is abandoned.
    fn stop_core(&mut self, now: Nanos, core: CoreId) -> Vec<SuperblockId> {
        let state = &mut self.cores[core];
        state.cpu.forget(now);
        if let Some(cache) = &mut state.read_cache {
            cache.clear();
        }
        self.counters.blocked_ns += state.buffer.forget(now).0;
        if let Some(scrub) = &mut state.scrub {
            scrub.power_failed();
        }
        let abandoned = state.tasks.forget();
        for &superblock in &abandoned {
            state.ftl.end_relocation(superblock);
        }
        state.ftl.power_failed();
        abandoned
    }

    /// The buffer has survived, and what keeps it alive lets program operations under way come to their end: here they begin anew, and
    /// those that had not begun follow.
    fn issue_again(&mut self, now: Nanos, outstanding: &[Outstanding<Purpose>]) {
        let epoch = self.host.flushes.open_epoch();
        for core in self.cores.indices() {
            let state = &mut self.cores[core];
            let own = outstanding.iter().filter(|one| self.places[one.die].core == core);
            let (mut host, mut relocated) = (state.ftl.held_units(), 0);
            for one in own {
                let units = one.op.units();
                if one.op.tag.kind == OpKind::HostProgram { host += units } else { relocated += units }
            }
            for stream in state.ftl.streams().all() {
                let begun = state.ftl.stream(stream).begun_units();
                if state.ftl.streams().cause(stream) == Cause::Host {
                    host += begun;
                } else {
                    relocated += begun;
                }
            }
            assert!(
                u64::from(host + relocated) <= state.ftl.figures().buffered_units,
                "core {core}: more is issued again than awaits programming"
            );
            state.buffer.hold(host);
            state.tasks.hold(relocated);
        }
        for &Outstanding { die, op, .. } in outstanding {
            let (queue, cookie) = match (op.tag.kind, op.tag.task) {
                (OpKind::HostProgram, _) => {
                    self.host.flushes.count_in(epoch);
                    (Queue::Programs, epoch)
                }
                (_, task) => {
                    self.cores[self.places[die].core].tasks.program_begins(task, 0);
                    (Queue::Internal(task), 0)
                }
            };
            self.flash.enqueue(now, die, queue, op.with_tag(Purpose { cookie, ..op.tag }));
        }
    }

    /// The buffer is empty. Returns the program units that are read so that parity is known again.
    fn lose_buffers(
        &mut self,
        now: Nanos,
        outstanding: &[Outstanding<Purpose>],
        tear: UnitTear,
    ) -> Vec<(CoreId, Pu)> {
        let mut read_again = Vec::new();
        for core in self.cores.indices() {
            let taken = self.take_for_good(now, core, outstanding, tear);
            let of = |wanted: bool| -> Vec<Pu> {
                let own = outstanding.iter().filter(|one| self.places[one.die].core == core);
                let own = own.filter(|one| one.started == wanted && !taken.contains(&one.op.tag.pu));
                own.map(|one| one.op.tag.pu).collect()
            };
            let (started, queued) = (of(true), of(false));
            let state = &mut self.cores[core];
            state.buffer.hold(0);
            state.tasks.hold(0);
            state.maps.forget();
            let buffered = state.ftl.figures().buffered_units;
            let Aftermath { lost, sealed, fill, mut read, scanned } =
                state.ftl.lose_buffer(&started, &queued);
            assert!(lost <= buffered, "core {core}: {lost} units are lost of {buffered} in the buffer");
            let filled = fill.len() as u64 * u64::from(state.ftl.layout().units_per_pu());
            assert!(
                state.ftl.figures().buffered_units == filled,
                "core {core}: only what is filled up awaits programming after the buffer's loss"
            );
            let pages = u64::from(state.ftl.layout().pages_per_pu());
            read.extend(state.ftl.stripes_under_way());
            self.power_cuts.torn += started.len() as u64;
            self.power_cuts.lost_units += lost;
            self.power_cuts.mount_pages += (scanned + read.len() as u64) * pages;
            self.read_for_parity(core, &read, true);
            read_again.extend(read.into_iter().map(|pu| (core, pu)));
            let state = &mut self.cores[core];
            state.ftl.recompute_parity(&fill);
            for superblock in sealed {
                self.sealed(now, core, superblock);
            }
            for pu in fill {
                let ftl = &self.cores[core].ftl;
                let stream = ftl.superblock(ftl.layout().place(pu).superblock).stream();
                self.program_in(now, core, stream, pu, 0);
            }
        }
        read_again
    }

    /// The program units in `read` are read so that the parity of their stripes is known again. What cannot be read is lost, unless what
    /// covers the stripe gives it, where `covered` says that this has survived.
    pub(crate) fn read_for_parity(&mut self, core: CoreId, read: &[Pu], covered: bool) {
        let state = &mut self.cores[core];
        let mask = u64::MAX >> (64 - state.ftl.layout().units_per_pu());
        for &pu in read {
            let first = state.ftl.layout().first_slot_of(pu);
            for unit in units(broken_units(&state.ftl, state.faults.as_ref(), pu, mask)) {
                let is_broken =
                    |other: Pu| broken_units(&state.ftl, state.faults.as_ref(), other, 1 << unit) != 0;
                if covered && state.ftl.parity().cover_gives(pu, unit, is_broken) {
                    continue;
                }
                let gone = state.ftl.lose_uncovered(first + unit).is_some();
                self.counters.lost_units += u64::from(gone);
            }
        }
    }

    /// The parity cache has lost its contents.
    pub(crate) fn lose_parity_cache(&mut self) {
        let cached = |core: &Core| core.ftl.parity().partial_place() == Some(PartialPlace::Cache);
        for core in self.cores.indices() {
            if cached(&self.cores[core]) {
                let read = self.cores[core].ftl.stripes_under_way();
                self.read_for_parity(core, &read, false);
            }
        }
    }

    /// Core `core` goes on: erasures that were under way are begun anew, parity that has become due is programmed.
    fn mount(&mut self, now: Nanos, core: CoreId, abandoned: &[SuperblockId]) {
        let ftl = &self.cores[core].ftl;
        let superblocks = (0..ftl.layout().superblocks()).map(SuperblockId);
        let filled = superblocks
            .filter(|&at| ftl.superblock(at).state() == outlast_decisions::SuperblockState::Sealed)
            .count() as u64;
        self.power_cuts.mount_pages += filled;
        for stream in self.cores[core].ftl.streams().all() {
            self.program_parity(now, core, stream);
        }
        for task in Task::ALL {
            let Core { tasks, ftl, .. } = &mut self.cores[core];
            for superblock in tasks.erase_again(task, ftl) {
                self.begin_erasing(now, core, task, superblock);
            }
        }
        for &superblock in abandoned {
            self.scrub_cut_short(now, core, superblock);
        }
        self.look_at_redundancy_again(now, core);
        self.look_at_alarms(now, core);
        for local in self.cores[core].dies.indices() {
            self.wake(now, self.cores[core].dies[local]);
        }
        self.make_due(core, Due::Collect);
        self.make_due(core, Due::Scrub);
        self.settle(now);
    }

    /// A victim cannot be erased before what superseded its units is on flash. Where host writes wait for its space, what they would
    /// have to fill first is padded.
    #[cold]
    pub(crate) fn hurry_pinned(&mut self, now: Nanos, core: CoreId) {
        if !self.cores[core].buffer.is_blocked() {
            return;
        }
        self.program_held(now, core);
        let pinned: Vec<SuperblockId> = self.cores[core].tasks.formers().collect();
        for superblock in pinned {
            for stream in self.cores[core].ftl.streams().all() {
                let ftl = &mut self.cores[core].ftl;
                let units = ftl.stream(stream).begun_units();
                if !ftl.stream(stream).begun_pins(superblock) {
                    continue;
                }
                let Some(pu) = ftl.pad(stream) else { continue };
                self.program_in(now, core, stream, pu, units);
                self.program_parity(now, core, stream);
            }
        }
    }
}
