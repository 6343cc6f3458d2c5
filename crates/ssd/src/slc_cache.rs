//! Rules of an SLC cache on each flash core, from the settings of the drive.

use outlast_ftl::SlcCacheRules;
use outlast_settings::drive::{SlcCacheConfig, SsdConfig};
use outlast_units::Bytes;

/// The rules of `cache` for one of the flash cores of the drive, over `dies` dies: its part of the cache, in superblocks.
#[allow(clippy::cast_possible_truncation, reason = "superblocks of a core are numbered in 32 bits")]
pub(crate) fn rules_of(cache: &SlcCacheConfig, config: &SsdConfig, dies: usize) -> SlcCacheRules {
    let geometry = &config.geometry;
    let rows = u64::from(cache.cell_mode(config).rows);
    let superblock = rows * u64::from(geometry.planes_per_die) * geometry.page_size.0 * dies as u64;
    let part = |size: Bytes| size.0 * dies as u64 / u64::from(geometry.dies());
    SlcCacheRules {
        bits_per_cell: cache.bits_per_cell,
        fixed: part(cache.static_size).div_ceil(superblock) as u32,
        share: cache.lent_share(),
        most_lent: cache
            .dynamic_size
            .map_or(u32::MAX, |size| ((part(size) + superblock / 2) / superblock).max(1) as u32),
        when_full: cache.when_full,
        fold_from: cache.fold_from,
        in_idle_time: cache.fold_after_idle.is_some(),
    }
}
