//! What each reclaim unit handle has written and cost, and the statistics and events of flexible data placement.

use crate::ssd::Ssd;
use outlast_ftl::{HandleContents, HandleCounts};
use outlast_units::{SECTOR_BYTES, Stream};
use serde::Serialize;
use std::ops::Add;

outlast_units::counters! {
    /// A reclaim unit handle, over all flash cores.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct HandleFigures {
        /// Counts since the last reset.
        pub counts: HandleCounts,
        /// Its valid units, and those of them that lie beside units of other handles.
        pub contents: HandleContents,
        /// Units that still fit into the reclaim unit that it refers to (`NVMe`: RUAMW, in mapping units).
        pub remaining_units: u64,
    }
}

outlast_units::counters! {
    /// Statistics of flexible data placement over the life of a drive (`NVMe`: FDP Statistics log page), in bytes.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
    pub struct PlacementStatistics {
        /// Bytes that the host has written: HBMW.
        pub host_bytes_written: u64,
        /// Bytes programmed, for whatever cause: MBMW.
        pub media_bytes_written: u64,
        /// Bytes of the blocks erased: MBE.
        pub media_bytes_erased: u64,
    }
}

outlast_units::counters! {
    /// Events of flexible data placement over the life of a drive (`NVMe`: FDP Events log page), by type.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
    pub struct PlacementEvents {
        /// Reclaim Unit Not Fully Written To Capacity: a handle update left room in one.
        pub reclaim_unit_not_fully_written: u64,
        /// Invalid Placement Identifier: writes with one that the namespace does not have.
        pub invalid_placement_identifier: u64,
        /// Media Reallocated: superblocks out of which the drive moved data of the host, and that it then erased.
        pub media_reallocated: u64,
    }
}

/// Sums of what each handle has, over several drives or cores: `all` has a list for each of them, in order of handle.
pub fn sum_by_handle<T: Copy + Default + Add<Output = T>>(all: impl Iterator<Item = Vec<T>>) -> Vec<T> {
    let mut sums: Vec<T> = Vec::new();
    for own in all {
        sums.resize(sums.len().max(own.len()), T::default());
        sums.iter_mut().zip(own).for_each(|(sum, own)| *sum = *sum + own);
    }
    sums
}

impl Ssd {
    /// Counts of each handle since the beginning, over all cores; empty without handles.
    pub(crate) fn handle_totals(&self) -> Vec<HandleCounts> {
        sum_by_handle(self.ftls().map(|ftl| ftl.handle_counts().to_vec()))
    }

    /// Checks that nothing was counted before the last reset that was not counted since the beginning.
    pub(crate) fn check_handle_counts(&self) -> Result<(), String> {
        let (all, before) = (self.handle_totals(), &self.at_reset.handles);
        let exceeds = |(all, before): (&HandleCounts, &HandleCounts)| {
            before.host_units > all.host_units
                || before.moved_units > all.moved_units
                || before.reclaim_units > all.reclaim_units
        };
        if before.len() > all.len() || all.iter().zip(before).any(exceeds) {
            return Err(format!("{before:?} were counted of handles at the last reset, of {all:?}"));
        }
        Ok(())
    }

    /// Counts of each handle since the last reset, over all cores; empty without handles.
    pub fn handle_counts(&self) -> Vec<HandleCounts> {
        let mut counts = self.handle_totals();
        counts.iter_mut().zip(&self.at_reset.handles).for_each(|(own, &before)| *own = *own - before);
        counts
    }

    /// Figures of each handle, in order; empty without handles. In time proportional to the flash.
    pub fn handle_figures(&self) -> Vec<HandleFigures> {
        let counts = self.handle_counts().into_iter();
        let mut figures: Vec<HandleFigures> =
            counts.map(|counts| HandleFigures { counts, ..HandleFigures::default() }).collect();
        for ftl in self.ftls() {
            let contents = ftl.handle_contents();
            for ((stream, own), contents) in (0..).map(Stream).zip(&mut figures).zip(contents) {
                own.contents.valid += contents.valid;
                own.contents.mixed += contents.mixed;
                own.remaining_units += u64::from(ftl.stream(stream).room());
            }
        }
        figures
    }

    /// Statistics of flexible data placement over the drive's life.
    pub fn placement_statistics(&self) -> PlacementStatistics {
        let (totals, geometry) = (self.totals(), &self.context.config.geometry);
        let page = geometry.page_size.0;
        PlacementStatistics {
            host_bytes_written: self.context.commands.life.sectors[1] * SECTOR_BYTES,
            media_bytes_written: totals.programs * page,
            media_bytes_erased: totals.erases * u64::from(geometry.pages_per_block) * page,
        }
    }

    /// Events of flexible data placement over the drive's life.
    pub fn placement_events(&self) -> PlacementEvents {
        PlacementEvents {
            reclaim_unit_not_fully_written: self.placement_events.not_fully_written,
            invalid_placement_identifier: self.placement_events.invalid_identifiers,
            media_reallocated: self.ftls().map(outlast_ftl::Ftl::reallocated_superblocks).sum(),
        }
    }
}
