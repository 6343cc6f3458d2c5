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
//! as a note of the copy that it made stale (`ftl/src/pages/trims.rs`), and a loss of power makes that copy current again.

use crate::ssd::Ssd;
use crate::totals::PowerCuts;
use outlast_controller::{DriveSource, FlashCore, OpKind, Purpose};
use outlast_flash::{DieQueue, OutstandingProgram};
use outlast_media::UnitTear;
use outlast_settings::drive::WriteCache;
use outlast_settings::ftl::PartialPlace;
use outlast_units::rng::{mix, sub_seed};
use outlast_units::{CoreId, IndexVec, Nanos, Pu, SuperblockId};

impl Ssd {
    /// Figures on losses of power so far.
    pub fn power_cuts(&self) -> PowerCuts {
        self.power_cuts
    }

    /// All but the host's side forgets at `off` what it was doing; at `on` the drive mounts.
    pub(crate) fn cut(&mut self, off: Nanos, on: Nanos) {
        self.power_cuts.cuts += 1;
        self.rest_without_power(off, on);
        let tear = self.schedule.take_tear();
        self.shutdowns.power_failed();
        self.forget_zone_commands();
        let units = self.open_units();
        let outstanding = self.context.power_failed(off);
        self.forget_queries(off);
        self.master.forget(off);
        let cores = self.cores.indices();
        let abandoned: IndexVec<CoreId, _> =
            cores.map(|core| self.cores[core].stop_core(off, &mut self.context)).collect();
        let protected = self.context.write_cache() == WriteCache::Protected;
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
        self.find_zones(on);
        self.note_reset_units(&units);
        self.move_again();
        self.settle(on);
        if self.idle.is_some() || self.power_watch.is_some() {
            self.context.call_housekeeping(on);
        }
        // Housekeeping is the only source of events that outlives the power.
        if self.context.events.next() < on {
            self.context.events.set(DriveSource::Housekeeping, on);
        }
    }

    /// The buffer has survived, and what keeps it alive lets program operations under way come to their end: here they begin anew, and
    /// those that had not begun follow.
    fn issue_again(&mut self, now: Nanos, outstanding: &[OutstandingProgram<Purpose>]) {
        let epoch = self.context.commands.flushes.open_epoch();
        for core in self.cores.indices() {
            self.cores[core].hold_again(&self.context, outstanding);
        }
        for &OutstandingProgram { die, op, .. } in outstanding {
            let (queue, cookie) = match (op.tag.kind, op.tag.task) {
                (OpKind::HostProgram, _) => {
                    self.context.commands.flushes.count_in(epoch);
                    (DieQueue::Programs, epoch)
                }
                (_, task) => {
                    self.cores[self.context.places[die].core].begin_program_again(task);
                    (DieQueue::Internal(task), 0)
                }
            };
            self.context.flash.enqueue(now, die, queue, op.with_tag(Purpose { cookie, ..op.tag }));
        }
    }

    /// The buffer is empty. Returns the program units that are read so that parity is known again.
    fn lose_buffers(
        &mut self,
        now: Nanos,
        outstanding: &[OutstandingProgram<Purpose>],
        tear: UnitTear,
    ) -> Vec<(CoreId, Pu)> {
        let mut read_again = Vec::new();
        for core in self.cores.indices() {
            let draw = mix(sub_seed(self.seed, "ssd.tear") ^ self.power_cuts.cuts);
            let taken = self.cores[core].take_for_good(now, &mut self.context, outstanding, (tear, draw));
            let loss = self.cores[core].lose_buffer(&mut self.context, outstanding, &taken);
            self.power_cuts.torn += loss.torn;
            self.power_cuts.lost_units += loss.lost_units;
            self.power_cuts.mount_pages += loss.mount_pages;
            read_again.extend(loss.read.into_iter().map(|pu| (core, pu)));
            self.cores[core].fill_after_loss(now, &mut self.context, loss.sealed, loss.fill);
        }
        read_again
    }

    /// The parity cache has lost its contents.
    pub(crate) fn lose_parity_cache(&mut self) {
        let cached = |core: &FlashCore| core.ftl().parity().partial_place() == Some(PartialPlace::Cache);
        for core in self.cores.indices() {
            if cached(&self.cores[core]) {
                let read = self.cores[core].ftl().stripes_under_way();
                self.cores[core].read_for_parity(&mut self.context, &read, false);
            }
        }
    }

    fn mount(&mut self, now: Nanos, core: CoreId, abandoned: &[SuperblockId]) {
        self.power_cuts.mount_pages += self.cores[core].go_on_after_cut(now, &mut self.context, abandoned);
        self.settle(now);
    }

    /// The next loss of power leaves `tear` of units whose program operation is under way then, if the buffer is not protected.
    pub fn tear_next(&mut self, tear: UnitTear) {
        self.schedule.tear_next(tear);
    }

    /// Host units that a read gives torn: the drive does not know of them.
    pub fn torn_units(&self) -> u64 {
        self.cores.iter().map(|core| core.ftl().torn_pages().count() as u64).sum()
    }
}
