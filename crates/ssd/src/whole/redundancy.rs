//! Redundancy after a failure: what is closed and moved so that data has all of it again, and what data survives. This takes the whole
//! drive: a die that is given up concerns open superblocks, room, tasks and the pace of the dies at once.
//!
//! Rebuilding is scrubbing (decision 0100). Open superblocks that have lost a lane, or members when power failed, are closed. With streams that scrubbing uses
//! only after a failure, these take superblocks from then on (`Ftl::begin_rebuild`). `ftl/src/ftl/survival.rs` says how many failures data survives, stripe by
//! stripe.

use crate::core::{Core, Due};
use crate::health::{RedundancyLoss, Scrub};
use crate::op::InternalTask;
use crate::ssd::Ssd;
use outlast_ftl::Ftl;
use outlast_units::{CoreId, LocalDie, Nanos, Stream};
use serde::Serialize;

/// The redundancy of a drive's data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RedundancyView {
    /// Dies that may still fail, whichever they are, before data is lost by it, as far as the drive's own parity goes; of a drive that is
    /// empty, before new data would be. What is on its way to flash is lost where there is no room to write it elsewhere.
    pub data_survives: u32,
    /// Superblocks that hold data and have lost members of their stripes, with a die or when power failed, and mapping units in them.
    pub degraded_superblocks: u32,
    #[allow(missing_docs, reason = "said above")]
    pub degraded_units: u64,
    /// Whether the drive is moving them, or will, into superblocks of full protection.
    pub rebuilds: bool,
    /// Whether it would, and too few superblocks are left for it.
    pub lacks_space: bool,
}

impl Ssd {
    /// Die `local` of core `core`, or only `plane` of it, has been given up: what has lost redundancy is closed, counted, and to be moved.
    pub(crate) fn restore_redundancy(
        &mut self,
        now: Nanos,
        core: CoreId,
        local: LocalDie,
        plane: Option<u16>,
    ) {
        if self.config.protection.is_none() {
            return;
        }
        if self.config.moves_degraded() {
            self.close_degraded(now, core);
        }
        self.note_loss(now, core, local, plane);
        if self.config.rebuilds() && self.cores[core].ftl.degraded().next().is_some() {
            self.begin_rebuild(core);
        }
    }

    /// Open superblocks that have lost redundancy take no more data: their stripes under way are ended, and they can be moved. Each leaves its
    /// stream in want of another superblock: without a free one, data whose program operation fails would have nowhere to go, and the
    /// superblock is filled first.
    fn close_degraded(&mut self, now: Nanos, core: CoreId) {
        let ftl = &self.cores[core].ftl;
        let mut streams = ftl.narrowed_streams();
        streams.truncate(ftl.space().free_superblocks() as usize);
        if streams.is_empty() {
            return;
        }
        self.program_held(now, core);
        for stream in streams {
            loop {
                let ftl = &mut self.cores[core].ftl;
                let units = ftl.stream(stream).begun_units();
                let Some(pu) = ftl.pad_stripe(stream) else { break };
                self.program_in(now, core, stream, pu, units);
                self.program_parity(now, core, stream);
            }
            self.cores[core].ftl.close(stream);
            self.note_covered(now, core, stream);
        }
    }

    fn note_loss(&mut self, now: Nanos, core: CoreId, local: LocalDie, plane: Option<u16>) {
        let Core { ftl, dies, .. } = &self.cores[core];
        let (superblocks, units) = degraded(ftl);
        if superblocks != 0 {
            let (core, die) = (core.0, dies[local].0);
            let restored_at = None;
            self.redundancy.lost(RedundancyLoss {
                at: now,
                core,
                die,
                plane,
                superblocks,
                units,
                restored_at,
            });
        }
    }

    fn begin_rebuild(&mut self, core: CoreId) {
        let Some(protection) = &self.config.protection else { return };
        let Core { ftl, scrub, .. } = &mut self.cores[core];
        let superblocks = ftl.layout().superblocks();
        if !ftl.begin_rebuild() {
            return;
        }
        let cores = u64::from(self.config.controller.flash_cores);
        let bytes = u64::from(ftl.layout().units_per_pu()) * self.config.ftl.mapping_unit.0;
        let cached = protection.check_cache(&self.config.geometry, ftl.parity().open_units() * cores, bytes);
        if cached.is_err() {
            // The cache has no room for parity of one open stripe more.
            ftl.end_rebuild();
            return;
        }
        scrub.get_or_insert_with(|| Scrub::of(&self.config, superblocks));
        if let Some(every) = protection.rebuild_every {
            self.flash.set_background_every(every);
        }
    }

    /// A superblock has been moved, and its last data waits in the controller for a program unit to be filled. The next superblock fills it;
    /// where none follows it is padded, as nothing else may come and the data is not to stay on a drive that may lose it with the power.
    #[cold]
    pub(crate) fn go_on_rebuilding(&mut self, now: Nanos, core: CoreId) {
        let Core { ftl, scrub, .. } = &mut self.cores[core];
        if scrub.as_ref().is_some_and(Scrub::waits) {
            self.make_due_then(core, Due::Scrub);
            return;
        }
        let streams = 0..ftl.streams().classes();
        let streams: Vec<Stream> = streams.map(|class| ftl.streams().scrub(class)).collect();
        for stream in streams {
            let ftl = &mut self.cores[core].ftl;
            let units = ftl.stream(stream).begun_units();
            if let Some(pu) = ftl.pad(stream) {
                self.program_relocated(now, core, InternalTask::Scrub, pu, units);
                self.program_parity(now, core, stream);
            }
        }
    }

    /// A superblock has been moved, filled or erased: redundancy that was lacking may be whole again.
    #[inline]
    pub(crate) fn look_at_redundancy(&mut self, now: Nanos, core: CoreId) {
        if self.redundancy.is_lacking() {
            self.note_restored(now, core);
        }
    }

    #[cold]
    fn note_restored(&mut self, now: Nanos, core: CoreId) {
        if self.cores[core].ftl.degraded().next().is_none() {
            self.redundancy.restored(now, core.0);
            if !self.redundancy.is_lacking() {
                self.flash.set_background_every(self.config.controller.background_every);
            }
        }
    }

    /// Power has failed: what had been moved may be where it was, and without capacitors stripes may have lost members that were on their way
    /// to flash.
    pub(crate) fn look_at_redundancy_again(&mut self, now: Nanos, core: CoreId) {
        if self.config.protection.is_none() || self.cores[core].ftl.degraded().next().is_none() {
            return;
        }
        if self.config.moves_degraded() {
            self.close_degraded(now, core);
        }
        self.redundancy.fell_back(core.0);
        self.redundancy.cut(core.0);
        if self.config.rebuilds() {
            self.begin_rebuild(core);
        }
        self.reprotect_all(now, core);
    }

    /// Dies and planes that were given up while data with parity lay on them, over the drive's life.
    pub fn redundancy_losses(&self) -> &[RedundancyLoss] {
        self.redundancy.losses()
    }

    /// The redundancy of the drive's data. At a cost proportional to its program units.
    pub fn redundancy(&self) -> RedundancyView {
        let of_new = |ftl: &Ftl| {
            let classes = 0..ftl.streams().classes();
            classes.map(|class| ftl.failures_survived_by_new(class)).min().unwrap_or(0)
        };
        let survived = self.ftls().map(|ftl| ftl.failures_survived().unwrap_or_else(|| of_new(ftl)));
        let (superblocks, units) =
            self.ftls().map(degraded).fold((0, 0), |sum, own| (sum.0 + own.0, sum.1 + own.1));
        let mut view = RedundancyView {
            data_survives: survived.min().unwrap_or(0),
            degraded_superblocks: superblocks,
            degraded_units: units,
            rebuilds: false,
            lacks_space: false,
        };
        for core in self.cores.iter().filter(|core| core.ftl.degraded().next().is_some()) {
            let lacks_space = self.config.rebuilds() && Self::is_short_of_space(core);
            view.lacks_space |= lacks_space;
            view.rebuilds |= self.config.moves_degraded() && core.scrub.is_some() && !lacks_space;
        }
        view
    }

    /// Whether nothing that has lost redundancy on `core` finds a place with more.
    fn is_short_of_space(core: &Core) -> bool {
        let ftl = &core.ftl;
        let finds = |superblock| {
            let class = ftl.superblock(superblock).class();
            ftl.can_relocate(superblock, ftl.streams().scrub(class))
        };
        let waits = core.scrub.as_ref().is_none_or(Scrub::waits) && !core.tasks.runs(InternalTask::Scrub);
        !ftl.may_scrub() || (waits && !ftl.degraded().any(finds))
    }
}

/// Superblocks that hold data and have lost redundancy, and units in them.
fn degraded(ftl: &Ftl) -> (u32, u64) {
    let units = |superblock| u64::from(ftl.superblock(superblock).valid());
    ftl.degraded().map(units).fold((0, 0), |(superblocks, sum), units| (superblocks + 1, sum + units))
}
