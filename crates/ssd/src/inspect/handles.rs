//! What each reclaim unit handle has written and cost, and the statistics and events of flexible data placement.

use crate::ssd::Ssd;
use outlast_ftl::{Ftl, HandleContents, HandleCounts, HandlesView};
use outlast_units::{CoreId, Nanos, SECTOR_BYTES, Stream};
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
        /// Reclaim Unit Time Limit Exceeded: handles left a reclaim unit that they had begun and not filled, in a flash core. In results absent where none did.
        #[serde(skip_serializing_if = "is_zero")]
        pub reclaim_unit_time_limit_exceeded: u64,
        /// Controller Level Reset Modified Reclaim Unit Handles: handles that referred to other reclaim units after a loss of power. In results absent where none did.
        #[serde(skip_serializing_if = "is_zero")]
        pub reset_modified_handles: u64,
        /// Invalid Placement Identifier: writes with one that the namespace does not have.
        pub invalid_placement_identifier: u64,
        /// Media Reallocated: superblocks out of which the drive moved data of the host, and that it then erased.
        pub media_reallocated: u64,
        /// Implicitly Modified Reclaim Unit Handle: the drive closed the reclaim unit of a handle, for a die that it has given up. In results absent where it
        /// closed none.
        #[serde(skip_serializing_if = "is_zero")]
        pub implicitly_modified_handle: u64,
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Units that still fit into the reclaim unit that the handle that is `stream` refers to in the flash core of `ftl`.
fn remaining_of(ftl: &Ftl, stream: Stream) -> u64 {
    let unopened = HandlesView::of(ftl).unopened(stream).unwrap_or(0);
    u64::from(ftl.stream(stream).room()) + u64::from(unopened) * u64::from(ftl.stream(stream).data_units())
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

/// Flexible data placement of a drive, seen from outside; without handles, all answers are empty.
#[derive(Clone, Copy, Debug)]
pub struct PlacementView<'a>(pub(super) &'a Ssd);

impl<'a> PlacementView<'a> {
    /// Flexible data placement of `ssd`.
    pub fn of(ssd: &'a Ssd) -> Self {
        Self(ssd)
    }

    fn cores(self) -> impl Iterator<Item = HandlesView<'a>> {
        self.0.ftls().map(HandlesView::of)
    }

    /// Counts of each handle since the beginning, over all cores.
    pub(crate) fn totals(self) -> Vec<HandleCounts> {
        sum_by_handle(self.cores().map(|core| core.counts().to_vec()))
    }

    /// Checks that nothing was counted before the last reset that was not counted since the beginning.
    pub(crate) fn check(self) -> Result<(), String> {
        let (all, before) = (self.totals(), &self.0.at_reset.handles);
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

    /// Counts of each handle since the last reset, over all cores.
    pub fn counts(self) -> Vec<HandleCounts> {
        let mut counts = self.totals();
        counts.iter_mut().zip(&self.0.at_reset.handles).for_each(|(own, &before)| *own = *own - before);
        counts
    }

    /// Figures of each handle, in order. In time proportional to the flash.
    pub fn figures(self) -> Vec<HandleFigures> {
        let counts = self.counts().into_iter();
        let mut figures: Vec<HandleFigures> =
            counts.map(|counts| HandleFigures { counts, ..HandleFigures::default() }).collect();
        for ftl in self.0.ftls() {
            let contents = HandlesView::of(ftl).contents();
            for ((stream, own), contents) in (0..).map(Stream).zip(&mut figures).zip(contents) {
                own.contents = own.contents + contents;
                own.remaining_units += remaining_of(ftl, stream);
            }
        }
        figures
    }

    /// Units that still fit into the reclaim unit that each handle refers to in group `group`.
    pub fn remaining_units(self, group: u16) -> Vec<u64> {
        let handles = self.0.ftls().next().map_or(0, |ftl| HandlesView::of(ftl).counts().len());
        let mut remaining = vec![0; handles];
        for core in self.cores_of(group) {
            for (stream, own) in (0..).map(Stream).zip(&mut remaining) {
                *own += remaining_of(self.0.cores[core].ftl(), stream);
            }
        }
        remaining
    }

    /// How long until each handle leaves the reclaim unit that it refers to in group `group` for its time limit, as seen at `now`; empty without a limit.
    pub fn unit_times(self, now: Nanos, group: u16) -> Vec<Option<Nanos>> {
        let cores: Vec<CoreId> = self.cores_of(group).collect();
        self.0.unit_times(now, &cores)
    }

    /// Statistics over the drive's life.
    pub fn statistics(self) -> PlacementStatistics {
        let (totals, geometry) = (self.0.totals(), &self.0.config().geometry);
        let page = geometry.page_size.0;
        PlacementStatistics {
            host_bytes_written: self.0.context.commands.life.sectors[1] * SECTOR_BYTES,
            media_bytes_written: totals.programs * page,
            media_bytes_erased: totals.erases * u64::from(geometry.pages_per_block) * page,
        }
    }

    /// Events over the drive's life.
    pub fn events(self) -> PlacementEvents {
        let mut events: PlacementEvents = self.events_by_unit().into_iter().sum();
        events.invalid_placement_identifier = self.0.handles.invalid_identifiers();
        events
    }

    /// Events over the drive's life by the reclaim unit that they are of: first those of the first handle in each reclaim group. An identifier that the namespace does not
    /// have is of none.
    pub fn events_by_unit(self) -> Vec<PlacementEvents> {
        let handles = self.0.ftls().next().map_or(0, |ftl| HandlesView::of(ftl).counts().len());
        let units = (0..handles).flat_map(|handle| (0..self.group_count()).map(move |group| (handle, group)));
        units.map(|(handle, group)| self.events_of(handle, group)).collect()
    }

    /// Events of handle `handle` in group `group`.
    fn events_of(self, handle: usize, group: u16) -> PlacementEvents {
        let mut events = PlacementEvents::default();
        self.0.handles.add_left(handle, group, &mut events);
        for core in self.cores_of(group) {
            let view = HandlesView::of(self.0.cores[core].ftl());
            events.implicitly_modified_handle += view.left().get(handle).copied().unwrap_or(0);
            events.media_reallocated += view.reallocated().get(handle).copied().unwrap_or(0);
        }
        events
    }
}
