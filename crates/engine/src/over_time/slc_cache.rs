//! Occupancy of the SLC cache over time.

use super::OverTime;
use crate::drives::DriveSet;
use crate::table::ResultTable;
use outlast_ftl::SlcCacheFigures;
use outlast_ssd::Ssd;

/// The SLC caches of `drives` together; `None` where one has none.
pub(super) fn caches(drives: &[(u64, &Ssd)]) -> Option<SlcCacheFigures> {
    let all: Option<Vec<SlcCacheFigures>> = drives.iter().map(|(_, ssd)| Some(ssd.slc_cache()?.1)).collect();
    Some(all?.into_iter().sum())
}

impl OverTime {
    /// Table of the bytes in the SLC cache, valid or not, of those that are valid, and of what it may hold; `None` without a cache.
    pub(super) fn slc_cache(&self, drives: &DriveSet<'_>) -> Option<ResultTable> {
        self.samples.iter().find(|sample| sample.slc_cache.is_some())?;
        let unit = drives.config().ftl.mapping_unit.0;
        let rows = || self.samples.iter().filter_map(|sample| Some((sample.at, sample.slc_cache?)));
        let bytes = |units: fn(&SlcCacheFigures) -> u64| rows().map(move |(_, own)| units(&own) * unit);
        let mut table = ResultTable::default();
        table.measures("at_s", rows().map(|(at, _)| at.as_secs_f64()));
        table.counts("used_bytes", bytes(|own| own.units));
        table.counts("valid_bytes", bytes(|own| own.valid));
        table.counts("capacity_bytes", bytes(|own| own.limit));
        Some(table)
    }
}
