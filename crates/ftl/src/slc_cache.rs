//! Rules of an SLC cache on one flash core: in which mode the host's streams open superblocks, and when the cache is folded.
//!
//! Superblocks of the cache are those that are opened in the second mode. Folding is collection of them: nothing else is written here than which mode
//! comes next, how many superblocks the cache may have, and whether it is to get smaller now.

use outlast_settings::drive::WhenFull;
use outlast_units::ModeId;

/// Mode of the cache's superblocks.
pub(crate) const CACHED: ModeId = ModeId(1);

/// Rules of an SLC cache, in superblocks of one flash core.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlcCacheRules {
    /// Bits of a cell that it uses.
    pub bits_per_cell: u8,
    /// Superblocks that hold nothing but cached data.
    pub fixed: u32,
    /// Share, 0 to 1, of the free superblocks and those of the cache beyond `fixed` that are lent to it.
    pub share: f64,
    /// Most superblocks that are lent.
    pub most_lent: u32,
    /// Course of a write of the host when the cache is full.
    pub when_full: WhenFull,
    /// Share of the cache, above 0 and up to 1, from which on it is folded while the host writes; absent: only for want of space.
    pub fold_from: Option<f64>,
    /// True if it is folded while the host rests.
    pub in_idle_time: bool,
}

/// Next step of a stream of the host when its superblock is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NextSuperblock {
    /// It opens one in this mode.
    In(ModeId),
    /// It waits until one of the cache has been folded.
    AwaitsFolding,
}

/// Superblocks of a core by use, as the rules of the cache see them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CacheUse {
    /// Free ones.
    pub(crate) free: u32,
    /// Free ones that are held back for relocation, or with which collection begins.
    pub(crate) held_back: u32,
    /// Those of the cache, and those of them that are full.
    pub(crate) cached: u32,
    pub(crate) full: u32,
}

impl SlcCacheRules {
    /// Superblocks that the cache may have: the fixed ones, and those lent.
    pub(crate) fn limit(&self, now: CacheUse) -> u32 {
        let beyond = (now.free + now.cached).saturating_sub(now.held_back + self.fixed);
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a share between 0 and 1 of a 32-bit number"
        )]
        let lent = (f64::from(beyond) * self.share) as u32;
        self.fixed + lent.min(self.most_lent)
    }

    /// Free superblocks that are the cache's own, and that it has not taken.
    pub(crate) fn kept(&self, now: CacheUse) -> u32 {
        self.fixed.saturating_sub(now.cached)
    }

    /// What a stream of the host does next.
    pub(crate) fn next(&self, now: CacheUse) -> NextSuperblock {
        let limit = self.limit(now);
        // A superblock that collection has just gained holds all bits: with a part of them it would have to be folded for the next one.
        let is_last = self.when_full == WhenFull::Direct && now.free <= now.held_back + 1;
        if now.cached < limit && (now.cached < self.fixed || !is_last) {
            NextSuperblock::In(CACHED)
        } else if self.when_full == WhenFull::Fold && limit != 0 && now.full != 0 {
            NextSuperblock::AwaitsFolding
        } else {
            // Nothing could be folded: superblocks of the cache that are open stay until the host has filled them.
            NextSuperblock::In(ModeId::FIRST)
        }
    }

    /// True if the cache is to be folded though superblocks are free. `idle`: the host rests.
    pub(crate) fn folds(&self, now: CacheUse, idle: bool) -> bool {
        if now.full == 0 {
            return false;
        }
        let pressed = |from: f64| f64::from(now.cached) >= from * f64::from(self.limit(now).max(1));
        idle || self.next(now) == NextSuperblock::AwaitsFolding || self.fold_from.is_some_and(pressed)
    }
}

outlast_units::counters! {
    /// Counts of an SLC cache since the beginning.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, outlast_persist::Persist)]
    pub struct SlcCacheCounts {
        /// Data slots of the superblocks that the host has filled in it.
        pub filled_units: u64,
        /// Blocks of it that were erased: of a superblock, those that have not failed.
        pub erased_blocks: u64,
    }
}

/// The SLC cache of a core.
#[derive(Clone, Debug, outlast_persist::Restore)]
pub(crate) struct SlcCache {
    #[persist(skip)]
    pub(crate) rules: SlcCacheRules,
    /// True if the host rests, for as long as the cache is folded in idle time.
    pub(crate) idle: bool,
    pub(crate) counts: SlcCacheCounts,
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: SlcCacheRules = SlcCacheRules {
        bits_per_cell: 1,
        fixed: 2,
        share: 0.5,
        most_lent: 10,
        when_full: WhenFull::Fold,
        fold_from: None,
        in_idle_time: true,
    };

    fn uses(free: u32, cached: u32, full: u32) -> CacheUse {
        CacheUse { free, held_back: 3, cached, full }
    }

    #[test]
    fn half_of_what_is_free_is_lent_up_to_a_bound() {
        assert_eq!(RULES.limit(uses(13, 0, 0)), 2 + 4);
        assert_eq!(RULES.limit(uses(9, 4, 4)), 2 + 4, "what is cached was free");
        assert_eq!(RULES.limit(uses(99, 0, 0)), 2 + 10);
        assert_eq!(RULES.limit(uses(2, 0, 0)), 2);
        assert_eq!([0, 1, 2, 3].map(|cached| RULES.kept(uses(9, cached, 0))), [2, 1, 0, 0]);
    }

    #[test]
    fn a_full_cache_is_awaited_or_passed() {
        let direct = SlcCacheRules { when_full: WhenFull::Direct, ..RULES };
        assert_eq!(RULES.next(uses(9, 3, 3)), NextSuperblock::In(CACHED));
        assert_eq!(RULES.next(uses(7, 6, 5)), NextSuperblock::AwaitsFolding);
        assert_eq!(direct.next(uses(7, 6, 5)), NextSuperblock::In(ModeId::FIRST));
        assert_eq!(
            direct.next(uses(4, 7, 7)),
            NextSuperblock::In(ModeId::FIRST),
            "the last free one is not lent"
        );
        assert_eq!(direct.next(uses(4, 1, 1)), NextSuperblock::In(CACHED), "but it may be the cache's own");
        assert_eq!(RULES.next(uses(7, 6, 0)), NextSuperblock::In(ModeId::FIRST), "all are open");
        let lent = SlcCacheRules { fixed: 0, ..RULES };
        assert_eq!(lent.next(uses(3, 1, 1)), NextSuperblock::In(ModeId::FIRST), "nothing is lent");
    }

    #[test]
    fn it_is_folded_in_idle_time_when_awaited_and_under_pressure() {
        assert!(RULES.folds(uses(9, 1, 1), true) && !RULES.folds(uses(9, 1, 1), false));
        assert!(!RULES.folds(uses(9, 1, 0), true), "its only superblock is open");
        assert!(RULES.folds(uses(7, 6, 5), false));
        let pressed = SlcCacheRules { when_full: WhenFull::Direct, fold_from: Some(0.5), ..RULES };
        assert!(pressed.folds(uses(9, 4, 1), false) && !pressed.folds(uses(11, 2, 1), false));
    }
}
