//! Loss of power: logical pages go back to their copies on flash, and program units that were on their way are filled anew or given up.

use crate::ftl::Ftl;
use crate::space::PowerAftermath;
use outlast_units::{Pu, SuperblockId};

impl Ftl {
    /// Begins to keep the origin of each unit in the buffer; units that untimed writes have left in the buffer go to flash. Does nothing if the
    /// buffer is protected.
    pub fn begin_origins(&mut self) {
        if !self.space.marks().erases_late() || self.pages.keeps_origins() {
            return;
        }
        self.program_held();
        for stream in self.space.frontiers().streams() {
            if let Some(pu) = self.pad(stream) {
                self.programmed(pu);
                self.program_parity(stream);
            }
        }
        self.pages.begin_origins(&self.space);
        self.checks_before_write = true;
    }

    /// Stops keeping origins: writes without time need none.
    #[cold]
    pub(super) fn drop_origins_of_all(&mut self) {
        self.pages.end_origins();
        self.checks_before_write = self.held.is_some() || self.pages.has_map_pages();
    }

    /// True if a unit of program unit `pu`, which is on its way to flash, supersedes one of `superblock`.
    pub fn pu_pins(&self, pu: Pu, superblock: SuperblockId) -> bool {
        self.pages.pins(&self.space, pu, self.layout().units_per_pu(), superblock)
    }

    /// Records that power has failed: superblocks held back may have been spent, and a victim that had no place to go may have one now.
    pub fn power_failed(&mut self) {
        self.pages.stop_map_flush();
        self.space.power_failed();
    }

    /// Empties the buffer, as power failed. `started`: program units whose programming was under way; `queued`: those that were full and waited for
    /// it, without those held back. Every logical page goes back to its newest copy on flash; program units that were not begun are filled anew by
    /// their stream, if its frontier is still in their superblock.
    pub fn lose_buffer(&mut self, started: &[Pu], queued: &[Pu]) -> PowerAftermath {
        self.begin_origins();
        self.pages.drop_buffered(&self.space);
        let mut gone: Vec<(Pu, bool)> = Vec::with_capacity(started.len() + queued.len());
        gone.extend(started.iter().map(|&pu| (pu, true)));
        gone.extend(queued.iter().map(|&pu| (pu, false)));
        while let Some(pu) = self.take_held() {
            gone.push((pu, false));
        }
        gone.extend(self.space.take_begun().into_iter().map(|pu| (pu, false)));
        // In order of slots: what a superblock, or a stripe, has lost is a range of it.
        gone.sort_unstable();
        debug_assert!(gone.windows(2).all(|pair| pair[0].0 < pair[1].0), "a program unit is lost twice");
        let lost = self.pages.fall_back(&mut self.space, &gone);
        PowerAftermath { lost, ..self.space.lose_buffer(&gone, &mut self.pages) }
    }

    /// The program units on flash of stripes under way: after a loss of power they are read, so that parity that is still to come is known again.
    pub fn stripes_under_way(&self) -> Vec<Pu> {
        self.space.stripes_under_way()
    }

    /// Computes the parity of those program units in `fill` that hold it anew.
    pub fn recompute_parity(&mut self, fill: &[Pu]) {
        self.space.recompute_parity(fill, &mut self.pages);
    }
}
