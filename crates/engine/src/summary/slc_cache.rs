//! Section `slc_cache` of the result: what went through the cache, what it holds, and wear by mode.

use crate::facts::RunFacts;
use outlast_ftl::ProgramCause;
use serde::Serialize;

/// The SLC cache; in an array, those of its drives together.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct SlcCacheSummary {
    /// Bytes that the host wrote to the cache, in superblocks that are full.
    pub cached_bytes: u64,
    /// Share of the host's bytes that went to the cache; absent where it wrote nothing.
    pub cached_share: Option<f64>,
    /// Bytes folded: moved out of the cache by collection.
    pub folded_bytes: u64,
    /// Erasures of blocks that had been used for the cache, and of all others.
    pub cache_erases: u64,
    /// See `cache_erases`.
    pub native_erases: u64,
    /// Bytes that the cache may hold at the end.
    pub capacity_bytes: u64,
    /// Bytes in its superblocks at the end, valid or not.
    pub used_bytes: u64,
    /// Bytes of valid data in it at the end.
    pub valid_bytes: u64,
}

/// Figures of the SLC caches; `None` without one.
pub(crate) fn slc_cache(facts: &RunFacts<'_>) -> Option<SlcCacheSummary> {
    let (counts, now) = facts.measured.slc_cache?;
    let config = facts.ssd.config();
    let unit = config.ftl.mapping_unit.0;
    let written = &facts.measured.counts.written;
    let host = written[ProgramCause::Host] * unit;
    let cached_bytes = counts.filled_units * unit;
    Some(SlcCacheSummary {
        cached_bytes,
        cached_share: (host != 0).then(|| cached_bytes.min(host) as f64 / host as f64),
        folded_bytes: written[ProgramCause::Fold] * unit,
        cache_erases: counts.erased_blocks,
        native_erases: facts.measured.counts.drives.erases.saturating_sub(counts.erased_blocks),
        capacity_bytes: now.limit * unit,
        used_bytes: now.units * unit,
        valid_bytes: now.valid * unit,
    })
}
