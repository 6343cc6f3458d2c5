//! The SLC cache in a space: what its rules see, and what follows from them when a superblock is opened, filled or erased.

use crate::slc_cache::{CACHED, CacheUse, NextSuperblock, SlcCache, SlcCacheCounts, SlcCacheRules};
use crate::space::FlashSpace;
use crate::streams::StreamCause;
use outlast_media::ConfigError;
use outlast_units::{ModeId, Stream, SuperblockId};

outlast_units::counters! {
    /// The SLC cache of a core, or of several, as it is now.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct SlcCacheFigures {
        /// Superblocks of the cache.
        pub superblocks: u64,
        /// Data slots of them, valid or not.
        pub units: u64,
        /// Data slots of the superblocks that it may have.
        pub limit: u64,
        /// Valid units in it.
        pub valid: u64,
    }
}

impl FlashSpace {
    /// Gives the space a cache by `rules`.
    ///
    /// # Errors
    /// Superblocks of which nothing is gained by folding, or too few of them.
    pub(super) fn begin_slc_cache(&mut self, rules: Option<SlcCacheRules>) -> Result<(), ConfigError> {
        let Some(rules) = rules else { return Ok(()) };
        self.slc_cache = Some(Box::new(SlcCache { rules, idle: false, counts: SlcCacheCounts::default() }));
        for stream in self.pus.streams.hosts() {
            self.set_mode(stream, CACHED)?;
            let moves_to = self.pus.streams.gc(self.pus.streams.class(stream));
            let (cached, folded) = (self.data_units(stream), self.data_units(moves_to));
            if cached >= folded && folded != 0 {
                let limit = format!(
                    "leaves a superblock of the cache {cached} units and one that it is folded into {folded}, with its parity: folding gains nothing"
                );
                return Err(ConfigError::new("device.slc_cache.bits_per_cell", rules.bits_per_cell, limit));
            }
        }
        self.review_slc_cache();
        Ok(())
    }

    fn set_mode(&mut self, stream: Stream, mode: ModeId) -> Result<(), ConfigError> {
        self.pus.streams.set_mode(stream, mode);
        self.pus.codes.follow_mode(stream, &self.pus.layout, &self.pus.streams, self.pus.lanes.dead())
    }

    /// Superblocks that the cache has to itself.
    pub(super) fn fixed_for_cache(&self) -> u32 {
        self.slc_cache.as_ref().map_or(0, |cache| cache.rules.fixed)
    }

    /// True if there is an SLC cache.
    pub fn has_slc_cache(&self) -> bool {
        self.slc_cache.is_some()
    }

    fn cache_use(&self) -> CacheUse {
        CacheUse {
            free: self.free_superblocks(),
            held_back: self.marks.start_free(),
            cached: self.pus.superblocks.cached(),
            full: self.pus.superblocks.cached_full(),
        }
    }

    /// What a stream of the host does when its superblock is full; `None` without a cache, or of another stream.
    pub(super) fn next_of_host(&self, stream: Stream) -> Option<NextSuperblock> {
        let cache = self.slc_cache.as_ref()?;
        let is_host = self.pus.streams.cause(stream) == StreamCause::Host;
        is_host.then(|| cache.rules.next(self.cache_use()))
    }

    /// True if `stream` waits until a superblock of the cache has been folded.
    #[cold]
    pub(super) fn awaits_folding(&self, stream: Stream) -> bool {
        self.next_of_host(stream) == Some(NextSuperblock::AwaitsFolding)
    }

    /// Free superblocks that `stream` leaves to the cache.
    pub(super) fn left_to_cache(&self, stream: Stream) -> u32 {
        let takes_its_own = || self.next_of_host(stream) == Some(NextSuperblock::In(CACHED));
        let kept = self.marks.kept_for_cache();
        if kept != 0 && takes_its_own() { 0 } else { kept }
    }

    /// Sets the mode in which `stream` opens the superblock that it is about to.
    pub(super) fn choose_mode(&mut self, stream: Stream) {
        let Some(NextSuperblock::In(mode)) = self.next_of_host(stream) else { return };
        if self.pus.streams.mode(stream) != mode {
            let followed = self.set_mode(stream, mode);
            debug_assert!(followed.is_ok(), "codes of both modes were made when they were assigned");
        }
    }

    /// Reviews what the cache keeps and whether it is to be folded: superblocks have been opened, filled or erased.
    #[inline]
    pub(super) fn review_slc_cache(&mut self) {
        if self.slc_cache.is_some() {
            self.review_cache_demand();
        }
    }

    #[cold]
    fn review_cache_demand(&mut self) {
        let Some(cache) = &self.slc_cache else { return };
        let now = self.cache_use();
        let (kept, folds) = (cache.rules.kept(now), cache.rules.folds(now, cache.idle));
        self.marks.set_cache_demand(kept, folds);
    }

    /// `superblock` is full: counts it if it is of the cache.
    #[inline]
    pub(super) fn note_full(&mut self, superblock: SuperblockId) {
        if self.slc_cache.is_some() {
            let filled_units = u64::from(self.pus.units_of(superblock));
            self.note_cached(superblock, SlcCacheCounts { filled_units, erased_blocks: 0 });
        }
    }

    /// Adds `more`, of `superblock`, to the counts if that is of the cache.
    #[cold]
    pub(super) fn note_cached(&mut self, superblock: SuperblockId, more: SlcCacheCounts) {
        let is_cached = self.pus.superblocks.mode(superblock) == CACHED;
        if let Some(cache) = self.slc_cache.as_mut().filter(|_| is_cached) {
            cache.counts.filled_units += more.filled_units;
            cache.counts.erased_blocks += more.erased_blocks;
        }
        self.review_cache_demand();
    }

    /// Counts of the SLC cache since the beginning; zero without one.
    pub fn slc_cache_counts(&self) -> SlcCacheCounts {
        self.slc_cache.as_ref().map_or_else(SlcCacheCounts::default, |cache| cache.counts)
    }

    /// The host rests, or does no more: in idle time the cache is folded, if its rules say so.
    pub fn set_idle(&mut self, idle: bool) {
        if let Some(cache) = &mut self.slc_cache {
            cache.idle = idle && cache.rules.in_idle_time;
            self.review_cache_demand();
        }
    }

    /// True if something could be folded in idle time.
    pub fn may_fold_in_idle_time(&self) -> bool {
        self.slc_cache.as_ref().is_some_and(|cache| cache.rules.in_idle_time)
            && self.pus.superblocks.cached_full() != 0
    }

    /// True if the cache is folded because the host rests.
    pub fn is_idle(&self) -> bool {
        self.slc_cache.as_ref().is_some_and(|cache| cache.idle)
    }

    /// True if collection that begins now works ahead: superblocks are free, and no write of the host waits for the cache to be folded.
    pub(crate) fn collects_ahead(&self) -> bool {
        self.marks.folds()
            && !self.marks.is_short(self.free_superblocks())
            && !self.pus.streams.hosts().any(|stream| self.awaits_folding(stream))
    }

    /// The superblock of the cache to be folded next, if the cache is to be folded though superblocks are free.
    pub(crate) fn choose_fold(&self) -> Option<SuperblockId> {
        if !self.marks.folds() || self.marks.is_short(self.free_superblocks()) {
            return None;
        }
        let oldest = self.pus.superblocks.oldest_cached()?;
        let stream = self.pus.streams.gc(self.pus.class_of_superblock(oldest));
        self.can_relocate(oldest, stream).then_some(oldest)
    }

    /// Cause of moving the units of `superblock` for `cause`: collection folds what is cached.
    pub fn cause_of_moving(&self, superblock: SuperblockId, cause: StreamCause) -> StreamCause {
        let folds = self.slc_cache.is_some()
            && cause == StreamCause::Gc
            && self.pus.superblocks.is_cached(superblock);
        if folds { StreamCause::Fold } else { cause }
    }

    /// Figures of the SLC cache; `None` without one.
    pub fn slc_cache_figures(&self) -> Option<SlcCacheFigures> {
        let cache = self.slc_cache.as_ref()?;
        let superblocks = &self.pus.superblocks;
        let cached = superblocks.ids().filter(|&id| superblocks.is_cached(id));
        let each = u64::from(self.pus.layout.data_pus(CACHED) * self.pus.layout.units_per_pu());
        Some(SlcCacheFigures {
            superblocks: superblocks.cached().into(),
            units: each * u64::from(superblocks.cached()),
            limit: each * u64::from(cache.rules.limit(self.cache_use())),
            valid: cached.map(|id| u64::from(superblocks.valid(id))).sum(),
        })
    }
}
