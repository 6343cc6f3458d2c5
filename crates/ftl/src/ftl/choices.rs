//! Choice of the superblock to relocate: for its space, its wear, or the age of its data.

use super::Ftl;
use crate::policy::{FtlPolicies, SuperblockUserPolicy, choose, choose_by};
use crate::superblocks::SuperblockTable;
use outlast_decisions::{CellColumns, HostShareQuestion, NO_CANDIDATE, RandomDraws, SuperblockColumns};
use outlast_media::ConfigError;
use outlast_settings::ftl::GcConfig;
use outlast_units::rng::SplitMix;
use outlast_units::{Nanos, SuperblockId};

impl Ftl {
    /// The superblock that garbage collection should take next, by the configured policy; `None` when no sealed superblock has
    /// a stale unit, or, on a worn drive, when there is no place to move its valid ones to.
    ///
    /// # Panics
    /// If there is no such place on a drive that is not worn, whose superblocks all hold as much: one is always held back.
    pub fn choose_victim(&mut self) -> Option<SuperblockId> {
        // A loss of power may have spent the reserve on superblocks that were left half written: until it is whole, the emptiest
        // superblock is collected, whatever the policy.
        if self.room.may_lack_reserve()
            && self.free_superblocks() < self.reserve()
            && let Some(least) = self.choose_least()
        {
            return Some(least);
        }
        let victim = self.pick_victim();
        if let Some(victim) = victim {
            if self.can_relocate(victim, self.streams.gc(self.class_of_superblock(victim))) {
                // Data that was trimmed, or that has moved to another core, may have made room again.
                self.room.set_stuck(false);
                return Some(victim);
            }
            let may_lack =
                self.is_damaged() || self.lanes.has_had_failures() || self.is_mixed() || self.is_unequal();
            assert!(may_lack, "a superblock is held back for relocation unless the drive is worn or damaged");
        }
        if let Some(least) = self.choose_least() {
            return victim.and(Some(least));
        }
        // There will be room when what is being emptied has been erased; and a victim, when a superblock is sealed.
        let waits = victim.is_none()
            && (self.free_superblocks() != 0 || self.superblocks.candidates().next().is_none());
        if !waits && !self.is_collecting() {
            self.room.set_stuck(true);
        }
        None
    }

    /// The superblock that scrubbing should move by the user's policy, among those not `is_flagged` already.
    pub fn choose_to_scrub(&mut self, is_flagged: impl Fn(SuperblockId) -> bool) -> Option<SuperblockId> {
        let units = self.codes.most_data_units();
        let FtlPolicies { scrub, cells, shares, .. } = &mut *self.policies;
        shares.clear();
        let hidden =
            |id| bounded(self.superblocks.count(id), units) | if is_flagged(id) { NO_CANDIDATE } else { 0 };
        shares.extend(self.superblocks.ids().map(hidden));
        let view = SuperblockColumns {
            valid: shares,
            cells: cells.as_deref(),
            ..self.superblocks.view(self.counts.clock(), units)
        };
        choose(scrub.as_mut()?, &view, &mut RandomDraws { choices: 1, rng: &mut self.rng }, false)
    }

    /// True if a policy of the user's sets the host's share of collection's grants.
    #[inline]
    pub fn is_paced_by_policy(&self) -> bool {
        self.policies.pacing.is_some()
    }

    /// The host's share, 0 to 1, of collection's grants while `victim` is moved, by the user's policy. `waiting`: host writes that wait; `room`:
    /// units for which the host's open superblocks have room.
    pub fn choose_host_share(&mut self, now: Nanos, victim: SuperblockId, room: u32, waiting: u32) -> f64 {
        let (start_free, stop_free) = self.room.marks();
        let question = HostShareQuestion {
            victim: victim.0,
            valid: self.superblocks.count(victim) & !NO_CANDIDATE,
            units: self.units_of(victim),
            room,
            free: self.free_superblocks(),
            start_free,
            stop_free,
            waiting,
            clock: self.counts.clock(),
            now_ns: now,
        };
        let check = |share: &f64| match share {
            0.0..=1.0 => Ok(()),
            _ => Err(format!("returned {share}: must be a share, between 0 and 1")),
        };
        self.policies.pacing.as_mut().and_then(|policy| policy.decide(&question, check)).unwrap_or(1.0)
    }

    /// True if a policy of the user's needs figures of cells: then [`Ftl::show_cells`] is to be called before each choice.
    #[inline]
    pub fn policies_need_cells(&self) -> bool {
        self.policies.need_cells()
    }

    /// Updates the figures of cells by `fill`, for the policies of the user's that see them.
    pub fn show_cells(&mut self, fill: impl FnOnce(&Self, &mut CellColumns)) {
        let mut cells = self.policies.cells.take().unwrap_or_default();
        fill(self, &mut cells);
        self.policies.cells = Some(cells);
    }

    /// True if a policy of the user's has failed: see [`Ftl::policy_failure`].
    pub fn has_policy_failed(&self) -> bool {
        self.policies.have_failed()
    }

    /// Error of the first of the user's policies that failed.
    pub fn policy_failure(&self) -> Option<ConfigError> {
        self.policies.failure()
    }

    /// True if classes, or superblocks of one class, have different codes.
    #[inline]
    fn is_mixed(&self) -> bool {
        self.codes.count() > 1 || self.streams.classes() > 1
    }

    /// True if superblocks of some stream hold more data than those that the data moves to, as when only moved data has parity.
    fn is_unequal(&self) -> bool {
        let moves_to = |stream| self.streams.gc(self.streams.class(stream));
        self.data_streams().any(|stream| self.data_units(stream) > self.data_units(moves_to(stream)))
    }

    fn pick_victim(&mut self) -> Option<SuperblockId> {
        // Without a superblock for the host, or for data that must move, a policy may not wait.
        let must = self.free_superblocks() <= self.reserve();
        if self.is_mixed() {
            return self.pick_mixed(must);
        }
        let units = self.data_units(self.streams.gc(0));
        let Self { superblocks, counts, config, policies, rng, .. } = self;
        let FtlPolicies { gc: user_policy, cells, shares, .. } = &mut **policies;
        let mut view =
            SuperblockColumns { cells: cells.as_deref(), ..superblocks.view(counts.clock(), units) };
        if user_policy.is_some() {
            view.valid = bounded_counts(superblocks, units, shares);
        }
        pick_by_policy(user_policy, &config.gc, &view, rng, must)
    }

    /// Picks a victim where superblocks hold different amounts of data: policies see the part of a target superblock that a victim's valid units
    /// would fill. Superblocks whose code is outdated come first, if anything is gained from them.
    fn pick_mixed(&mut self, must: bool) -> Option<SuperblockId> {
        let most = self.codes.most_data_units();
        let mut shares = std::mem::take(&mut self.policies.shares);
        let victim = [true, false].into_iter().find_map(|only_outdated| {
            shares.clear();
            shares.extend(self.superblocks.ids().map(|id| self.share(id, most, only_outdated)));
            let Self { superblocks, counts, config, policies, rng, .. } = self;
            let FtlPolicies { gc: user_policy, cells, .. } = &mut **policies;
            let view = SuperblockColumns {
                valid: &shares,
                cells: cells.as_deref(),
                ..superblocks.view(counts.clock(), most)
            };
            pick_by_policy(user_policy, &config.gc, &view, rng, must && !only_outdated)
        });
        self.policies.shares = shares;
        victim
    }

    /// Part of a target superblock that the valid units of `superblock` would fill, scaled to `most` slots. With [`NO_CANDIDATE`] if they find no
    /// place, or, with `only_outdated`, if its code is not outdated.
    fn share(&self, superblock: SuperblockId, most: u32, only_outdated: bool) -> u32 {
        let valid = self.superblocks.count(superblock);
        if valid & NO_CANDIDATE != 0 {
            return bounded(valid, most);
        }
        let stream = self.streams.gc(self.class_of_superblock(superblock));
        if !self.can_relocate(superblock, stream) || (only_outdated && !self.is_outdated(superblock)) {
            return bounded(valid, most) | NO_CANDIDATE;
        }
        let units = self.data_units(stream).max(1);
        let share = (u64::from(valid) * u64::from(most)).div_ceil(u64::from(units));
        share.min(u64::from(most)) as u32
    }

    /// The superblock that static wear levelling should move: by the user's policy, or the least-worn sealed one, when the most-worn superblock is ahead of
    /// it by more than the configured gap and a well-worn one is free.
    pub fn choose_cold(&mut self) -> Option<SuperblockId> {
        let FtlPolicies { wear, cells, shares, .. } = &mut *self.policies;
        if let Some(policy) = wear {
            let units = self.codes.most_data_units();
            let view = SuperblockColumns {
                valid: bounded_counts(&self.superblocks, units, shares),
                cells: cells.as_deref(),
                ..self.superblocks.view(self.counts.clock(), units)
            };
            let cold = choose(policy, &view, &mut RandomDraws { choices: 1, rng: &mut self.rng }, false)?;
            let stream = self.streams.wear_leveling(self.class_of_superblock(cold));
            return self.can_relocate(cold, stream).then_some(cold);
        }
        let gap = self.config.wear_leveling.static_gap?;
        let candidates = self.superblocks.candidates();
        let (coldest, _) = candidates.min_by_key(|&(superblock, _)| self.superblocks.cycles(superblock))?;
        // Cold data goes to the most worn free superblock, so the gap is measured to that, not to the most worn of all.
        let worn = self.superblocks.free().iter().map(|&free| self.superblocks.cycles(free)).max()?;
        let stream = self.streams.wear_leveling(self.class_of_superblock(coldest));
        let ahead = worn.saturating_sub(self.superblocks.cycles(coldest));
        (ahead > gap && self.can_relocate(coldest, stream)).then_some(coldest)
    }
}

/// The valid units of a superblock as policies of superblocks of `units` units see them. One that was filled with less parity than the next ones get, or
/// before a lane failed, may hold more: what matters is that nothing is gained from it, and formulas count on a share of at most 1.
fn bounded(count: u32, units: u32) -> u32 {
    (count & !NO_CANDIDATE).min(units) | (count & NO_CANDIDATE)
}

/// Valid units of all superblocks within the bound: as they are, or written to `shares` if one exceeds it.
fn bounded_counts<'a>(superblocks: &'a SuperblockTable, units: u32, shares: &'a mut Vec<u32>) -> &'a [u32] {
    let counts = superblocks.counts();
    if counts.iter().all(|&count| count & !NO_CANDIDATE <= units) {
        return counts;
    }
    shares.clear();
    shares.extend(counts.iter().map(|&count| bounded(count, units)));
    shares
}

/// The choice of the user's policy, or else of the policy in the settings. `must`: a policy may not decline while space can be gained.
fn pick_by_policy(
    user_policy: &mut Option<SuperblockUserPolicy>,
    gc: &GcConfig,
    view: &SuperblockColumns<'_>,
    rng: &mut SplitMix,
    must: bool,
) -> Option<SuperblockId> {
    let mut draws = RandomDraws { choices: gc.choices, rng };
    let victim = match user_policy {
        // The run ends with the failure of the policy, and the drive must not stop before.
        Some(policy) => choose(policy, view, &mut draws, must)
            .or_else(|| if policy.has_failed() { choose_by(gc.policy, view, &mut draws) } else { None }),
        None => choose_by(gc.policy, view, &mut draws),
    };
    debug_assert!(victim.is_none_or(|victim| view.is_candidate(victim)), "a policy took no candidate");
    victim
}
