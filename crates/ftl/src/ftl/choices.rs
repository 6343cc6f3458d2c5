//! Choices of superblocks to relocate, as callers ask for them.

use crate::ftl::Ftl;
use outlast_decisions::CellColumns;
use outlast_media::ConfigError;
use outlast_settings::ftl::VictimPolicy;
use outlast_units::{Nanos, SuperblockId};

impl Ftl {
    /// The superblock that garbage collection should take next, by the configured policy; `None` when no sealed superblock has
    /// a stale unit, or, on a worn drive, when there is no place to move its valid ones to.
    ///
    /// # Panics
    /// If there is no such place on a drive that is not worn, whose superblocks all hold as much: one is always held back.
    pub fn choose_victim(&mut self) -> Option<SuperblockId> {
        self.chooser.choose_victim(&mut self.space)
    }

    /// The superblock that scrubbing should move by the user's policy, among those not `is_flagged` already.
    pub fn choose_to_scrub(&mut self, is_flagged: impl Fn(SuperblockId) -> bool) -> Option<SuperblockId> {
        self.chooser.choose_to_scrub(&self.space, is_flagged)
    }

    /// The superblock that static wear levelling should move: by the user's policy, or the least-worn sealed one, when the most-worn superblock is ahead of
    /// it by more than the configured gap and a well-worn one is free.
    pub fn choose_cold(&mut self) -> Option<SuperblockId> {
        self.chooser.choose_cold(&self.space)
    }

    /// True if a policy of the user's sets the host's share of collection's grants.
    #[inline]
    pub fn is_paced_by_policy(&self) -> bool {
        self.chooser.policies().pacing.is_some()
    }

    /// The host's share, 0 to 1, of collection's grants while `victim` is moved, by the user's policy. `waiting`: host writes that wait; `room`:
    /// units for which the host's open superblocks have room.
    pub fn choose_host_share(&mut self, now: Nanos, victim: SuperblockId, room: u32, waiting: u32) -> f64 {
        self.chooser.choose_host_share(&self.space, now, victim, room, waiting)
    }

    /// True if a policy of the user's needs figures of cells: then [`Ftl::show_cells`] is to be called before each choice.
    #[inline]
    pub fn policies_need_cells(&self) -> bool {
        self.chooser.policies().need_cells()
    }

    /// Updates the figures of cells by `fill`, for the policies of the user's that see them.
    pub fn show_cells(&mut self, fill: impl FnOnce(&Self, &mut CellColumns)) {
        let mut cells = self.chooser.cells_mut().take().unwrap_or_default();
        fill(self, &mut cells);
        *self.chooser.cells_mut() = Some(cells);
    }

    /// True if a policy of the user's has failed: see [`Ftl::policy_failure`].
    pub fn has_policy_failed(&self) -> bool {
        self.chooser.policies().have_failed() || self.space.has_policy_failed()
    }

    /// Error of the first of the user's policies that failed.
    pub fn policy_failure(&self) -> Option<ConfigError> {
        self.chooser.policies().failure(self.space.policy_failure())
    }

    /// The victim policy in force; `None` where it is code of the user's.
    pub fn victim_policy(&self) -> Option<VictimPolicy> {
        self.chooser.policies().gc.is_none().then_some(self.space.config().gc.policy)
    }

    /// The superblock to collect if no victim would gain a slot by its count of valid units ([`Ftl::choose_victim`]): the one that gains most without
    /// its units on failed dies, which are gone.
    #[cold]
    pub fn choose_broken(&self) -> Option<SuperblockId> {
        self.space.lanes().dead()?;
        let gain = |(superblock, valid): (SuperblockId, u32)| {
            let stream = self.space.streams().gc(self.space.pus().class_of_superblock(superblock));
            let live = valid - self.pages.units_gone(&self.space, superblock);
            let room =
                self.space.room(stream) + self.space.free_superblocks() * self.space.data_units(stream);
            let gain = self.space.data_units(stream).checked_sub(live)?;
            (gain != 0 && live <= room && live != valid).then_some((gain, superblock))
        };
        // Of equal gains the first superblock: the complement of its number is the second key.
        self.space
            .superblocks()
            .candidates()
            .filter_map(gain)
            .max_by_key(|&(gain, superblock)| (gain, u32::MAX - superblock.0))
            .map(|best| best.1)
    }
}
