//! Choice of the superblock to relocate: for its space, its wear, or the age of its data.

use crate::policy::{FtlPolicies, SuperblockUserPolicy, check_gain, choose, choose_by};
use crate::space::FlashSpace;
use crate::superblocks::SuperblockTable;
use outlast_decisions::{CellColumns, HostShareQuestion, NO_CANDIDATE, RandomDraws, SuperblockColumns};
use outlast_settings::ftl::{FtlConfig, GcConfig};
use outlast_units::rng::SplitMix;
use outlast_units::{Nanos, SuperblockId};

/// Chooser of superblocks to be relocated: the policies of the settings, and the user's instead of them.
#[derive(Clone, Debug, outlast_persist::Restore)]
pub(crate) struct RelocationChooser {
    /// Draws random victims.
    rng: SplitMix,
    /// The user's policies, instead of built-in ones.
    #[persist(skip)]
    policies: Box<FtlPolicies>,
}

impl RelocationChooser {
    /// A chooser by `config`; `seed`: that of the core.
    pub(crate) fn new(config: &FtlConfig, seed: u64) -> Self {
        Self { rng: SplitMix::new(seed, "ftl.gc"), policies: Box::new(FtlPolicies::new(&config.own)) }
    }

    /// The user's policies.
    #[inline]
    pub(crate) fn policies(&self) -> &FtlPolicies {
        &self.policies
    }

    /// Place of the figures of cells that policies see.
    pub(crate) fn cells_mut(&mut self) -> &mut Option<Box<CellColumns>> {
        &mut self.policies.cells
    }

    /// The superblock that garbage collection should take next, by the configured policy; `None` when no sealed superblock has
    /// a stale unit, or, on a worn drive, when there is no place to move its valid ones to.
    ///
    /// # Panics
    /// If there is no such place on a drive that is not worn, whose superblocks all hold as much: one is always held back.
    pub(crate) fn choose_victim(&mut self, space: &mut FlashSpace) -> Option<SuperblockId> {
        // A loss of power may have spent the reserve on superblocks that were left half written: until it is whole, the emptiest
        // superblock is collected, whatever the policy.
        if space.marks().may_lack_reserve()
            && space.free_superblocks() < space.reserve()
            && let Some(least) = space.choose_least()
        {
            return Some(least);
        }
        if let Some(folded) = space.choose_fold() {
            return Some(folded);
        }
        let victim = self.pick_victim(space);
        if let Some(victim) = victim {
            if space.can_relocate(victim, space.streams().gc(space.pus().class_of_superblock(victim))) {
                // Data that was trimmed, or that has moved to another core, may have made room again.
                space.marks_mut().set_stuck(false);
                return Some(victim);
            }
            let may_lack = space.is_damaged()
                || space.lanes().has_had_failures()
                || space.pus().is_mixed()
                || space.is_unequal();
            assert!(may_lack, "a superblock is held back for relocation unless the drive is worn or damaged");
        }
        if let Some(least) = space.choose_least() {
            return victim.and(Some(least));
        }
        // There will be room when what is being emptied has been erased; and a victim, when a superblock is sealed.
        let waits = victim.is_none()
            && (space.free_superblocks() != 0 || space.superblocks().candidates().next().is_none());
        if !waits && !space.is_collecting() {
            space.marks_mut().set_stuck(true);
        }
        None
    }

    /// The superblock that scrubbing should move by the user's policy, among those not `is_flagged` already.
    pub(crate) fn choose_to_scrub(
        &mut self,
        space: &FlashSpace,
        is_flagged: impl Fn(SuperblockId) -> bool,
    ) -> Option<SuperblockId> {
        let units = space.codes().most_data_units();
        let FtlPolicies { scrub, cells, shares, .. } = &mut *self.policies;
        shares.clear();
        let hidden = |id| {
            bounded(space.superblocks().count(id), units) | if is_flagged(id) { NO_CANDIDATE } else { 0 }
        };
        shares.extend(space.superblocks().ids().map(hidden));
        let view = SuperblockColumns {
            valid: shares,
            cells: cells.as_deref(),
            ..space.superblocks().view(space.counts().clock(), units)
        };
        choose(scrub.as_mut()?, &view, &mut RandomDraws { choices: 1, rng: &mut self.rng }, false)
    }

    /// The host's share, 0 to 1, of collection's grants while `victim` is moved, by the user's policy. `waiting`: host writes that wait; `room`:
    /// units for which the host's open superblocks have room.
    pub(crate) fn choose_host_share(
        &mut self,
        space: &FlashSpace,
        now: Nanos,
        victim: SuperblockId,
        room: u32,
        waiting: u32,
    ) -> f64 {
        let (start_free, stop_free) = space.marks().marks();
        let question = HostShareQuestion {
            victim: victim.0,
            valid: space.superblocks().count(victim) & !NO_CANDIDATE,
            units: space.pus().units_of(victim),
            room,
            free: space.free_superblocks(),
            start_free,
            stop_free,
            waiting,
            clock: space.counts().clock(),
            now_ns: now,
        };
        let check = |share: &f64| match share {
            0.0..=1.0 => Ok(()),
            _ => Err(format!("returned {share}: must be a share, between 0 and 1")),
        };
        self.policies.pacing.as_mut().and_then(|policy| policy.decide(&question, check)).unwrap_or(1.0)
    }

    fn pick_victim(&mut self, space: &FlashSpace) -> Option<SuperblockId> {
        // Without a superblock for the host, or for data that must move, a policy may not wait.
        let must = space.free_superblocks() <= space.reserve();
        if space.pus().is_mixed() {
            return self.pick_mixed(space, must);
        }
        let units = space.data_units(space.streams().gc(0));
        let Self { policies, rng } = self;
        let FtlPolicies { gc: user_policy, without_gain, cells, shares, .. } = &mut **policies;
        let mut view = SuperblockColumns {
            cells: cells.as_deref(),
            ..space.superblocks().view(space.counts().clock(), units)
        };
        if user_policy.is_some() {
            view.valid = bounded_counts(space.superblocks(), units, shares);
        }
        pick_by_policy((user_policy, without_gain), &space.config().gc, &view, rng, must)
    }

    /// Picks a victim where superblocks hold different amounts of data: policies see the part of a target superblock that a victim's valid units
    /// would fill. Superblocks whose code is outdated come first, if anything is gained from them.
    fn pick_mixed(&mut self, space: &FlashSpace, must: bool) -> Option<SuperblockId> {
        let most = space.codes().most_data_units();
        let mut shares = std::mem::take(&mut self.policies.shares);
        let victim = [true, false].into_iter().find_map(|only_outdated| {
            shares.clear();
            shares.extend(space.superblocks().ids().map(|id| Self::share(space, id, most, only_outdated)));
            let Self { policies, rng } = self;
            let FtlPolicies { gc: user_policy, without_gain, cells, .. } = &mut **policies;
            let view = SuperblockColumns {
                valid: &shares,
                cells: cells.as_deref(),
                ..space.superblocks().view(space.counts().clock(), most)
            };
            pick_by_policy(
                (user_policy, without_gain),
                &space.config().gc,
                &view,
                rng,
                must && !only_outdated,
            )
        });
        self.policies.shares = shares;
        victim
    }

    /// Part of a target superblock that the valid units of `superblock` would fill, scaled to `most` slots. With [`NO_CANDIDATE`] if they find no
    /// place, or, with `only_outdated`, if its code is not outdated.
    #[allow(clippy::cast_possible_truncation, reason = "at most `most`")]
    fn share(space: &FlashSpace, superblock: SuperblockId, most: u32, only_outdated: bool) -> u32 {
        let valid = space.superblocks().count(superblock);
        if valid & NO_CANDIDATE != 0 {
            return bounded(valid, most);
        }
        let stream = space.streams().gc(space.pus().class_of_superblock(superblock));
        if !space.can_relocate(superblock, stream) || (only_outdated && !space.is_outdated(superblock)) {
            return bounded(valid, most) | NO_CANDIDATE;
        }
        let units = space.data_units(stream).max(1);
        let share = (u64::from(valid) * u64::from(most)).div_ceil(u64::from(units));
        share.min(u64::from(most)) as u32
    }

    /// The superblock that static wear levelling should move: by the user's policy, or the least-worn sealed one, when the most-worn superblock is ahead of
    /// it by more than the configured gap and a well-worn one is free.
    pub(crate) fn choose_cold(&mut self, space: &FlashSpace) -> Option<SuperblockId> {
        let FtlPolicies { wear, cells, shares, .. } = &mut *self.policies;
        if let Some(policy) = wear {
            let units = space.codes().most_data_units();
            let view = SuperblockColumns {
                valid: bounded_counts(space.superblocks(), units, shares),
                cells: cells.as_deref(),
                ..space.superblocks().view(space.counts().clock(), units)
            };
            let cold = choose(policy, &view, &mut RandomDraws { choices: 1, rng: &mut self.rng }, false)?;
            let stream = space.streams().wear_leveling(space.pus().class_of_superblock(cold));
            return space.can_relocate(cold, stream).then_some(cold);
        }
        let gap = space.config().wear_leveling.static_gap?;
        let candidates = space.superblocks().candidates();
        let (coldest, _) =
            candidates.min_by_key(|&(superblock, _)| space.superblocks().cycles(superblock))?;
        // Cold data goes to the most worn free superblock, so the gap is measured to that, not to the most worn of all.
        let worn = space.superblocks().free().iter().map(|&free| space.superblocks().cycles(free)).max()?;
        let stream = space.streams().wear_leveling(space.pus().class_of_superblock(coldest));
        let ahead = worn.saturating_sub(space.superblocks().cycles(coldest));
        (ahead > gap && space.can_relocate(coldest, stream)).then_some(coldest)
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
    (user_policy, without_gain): (&mut Option<SuperblockUserPolicy>, &mut u32),
    gc: &GcConfig,
    view: &SuperblockColumns<'_>,
    rng: &mut SplitMix,
    must: bool,
) -> Option<SuperblockId> {
    let mut draws = RandomDraws { choices: gc.choices, rng };
    let victim = match user_policy {
        // The run ends with the failure of the policy, and the drive must not stop before.
        Some(policy) => {
            let chosen = choose(policy, view, &mut draws, must);
            if let Some(victim) = chosen.filter(|_| must) {
                check_gain(policy, view, victim, without_gain);
            }
            chosen.or_else(|| if policy.has_failed() { choose_by(gc.policy, view, &mut draws) } else { None })
        }
        None => choose_by(gc.policy, view, &mut draws),
    };
    debug_assert!(victim.is_none_or(|victim| view.is_candidate(victim)), "a policy took no candidate");
    victim
}
