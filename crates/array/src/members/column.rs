//! Columns of an array, and donors.

use crate::ids::{GroupIndex, RangeIndex};
use crate::ranges::RangeSet;
use outlast_units::Nanos;
use std::collections::BTreeSet;

/// The groups that a device has got. A rebuild fills a new device in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, outlast_persist::Persist)]
enum FilledGroups {
    /// Groups before this one.
    Before(GroupIndex),
    /// Every group.
    All,
}

impl FilledGroups {
    /// No group.
    const NONE: Self = Self::Before(GroupIndex(0));

    #[inline]
    fn contains(self, group: GroupIndex) -> bool {
        match self {
            Self::Before(end) => group < end,
            Self::All => true,
        }
    }
}

/// A column of the array, with or without a device.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub(crate) struct MemberColumn<D> {
    pub(crate) device: Option<D>,
    /// The groups that the device has.
    filled: FilledGroups,
    /// Commands under way.
    pub(crate) in_flight: u32,
    /// Read errors, halved for every hour that has passed since.
    read_errors: u32,
    /// Hour of the last read error.
    error_hour: u64,
    /// Sectors that could not be written.
    pub(crate) bad: RangeSet,
    /// Dies that have failed, as the member reported.
    pub(crate) dies: Vec<u16>,
    /// A failed die is not yet recovered, so that read errors are expected and do not count.
    pub(crate) has_unrepaired_die: bool,
    /// The member reported a failure that it cannot compensate for; it is being replaced.
    pub(crate) beyond_repair: bool,
}

impl<D> MemberColumn<D> {
    /// A column whose device has all groups.
    pub(super) fn new(device: D) -> Self {
        Self {
            device: Some(device),
            filled: FilledGroups::All,
            in_flight: 0,
            read_errors: 0,
            error_hour: 0,
            bad: RangeSet::default(),
            dies: Vec::new(),
            has_unrepaired_die: false,
            beyond_repair: false,
        }
    }

    /// A column whose device has no group yet.
    pub(super) fn of_empty(device: D) -> Self {
        Self { filled: FilledGroups::NONE, ..Self::new(device) }
    }

    /// Takes the device out; the column is empty.
    pub(super) fn take(&mut self) -> Option<D> {
        let device = self.device.take()?;
        (self.filled, self.in_flight, self.read_errors) = (FilledGroups::NONE, 0, 0);
        self.bad = RangeSet::default();
        (self.has_unrepaired_die, self.beyond_repair) = (false, false);
        self.dies.clear();
        Some(device)
    }

    /// True if a device is present that has all groups.
    pub(crate) fn is_in_sync(&self) -> bool {
        self.filled == FilledGroups::All
    }

    /// True if the device has `group`.
    #[inline]
    pub(crate) fn has(&self, group: GroupIndex) -> bool {
        self.filled.contains(group)
    }

    /// Notes that the device has all groups before `group`. It may be ahead: a pass began anew for another member.
    pub(crate) fn note_filled(&mut self, group: GroupIndex) {
        self.filled = self.filled.max(FilledGroups::Before(group));
    }

    /// Completes the device if it has all `groups` groups of the array, and was not complete before; returns true if so.
    pub(crate) fn complete(&mut self, groups: u64) -> bool {
        let is_new =
            self.device.is_some() && self.first_lacking().is_some_and(|first| first >= GroupIndex(groups));
        if is_new {
            self.filled = FilledGroups::All;
        }
        is_new
    }

    /// The first group that the device lacks.
    pub(crate) fn first_lacking(&self) -> Option<GroupIndex> {
        match self.filled {
            FilledGroups::Before(group) => Some(group),
            FilledGroups::All => None,
        }
    }

    /// True if restored state is plausible: the last read error is not after `now`, and the count is in range.
    pub(crate) fn is_plausible(&self, now: Nanos) -> bool {
        self.error_hour <= now.0 / Nanos::secs(3600).0 && self.read_errors < 1 << 31
    }

    /// Read errors that count, see [`MemberColumn::count_read_error`].
    pub(crate) fn read_errors(&self) -> u32 {
        self.read_errors
    }

    /// Notes that a die has failed: it explains earlier read errors, which are forgotten, and later ones.
    pub(crate) fn note_failed_die(&mut self) {
        (self.has_unrepaired_die, self.read_errors) = (true, 0);
    }

    /// Counts a read error at `now`. Every hour halves the count, as md does (`check_decay_read_errors`). Returns the count.
    pub(crate) fn count_read_error(&mut self, now: Nanos) -> u32 {
        let hour = now.0 / Nanos::secs(3600).0;
        debug_assert!(hour >= self.error_hour, "read errors come in order of time");
        // 31 is the largest shift of a `u32`; it leaves at most 1.
        self.read_errors >>= (hour - self.error_hour).min(31) as u32;
        self.error_hour = hour;
        self.read_errors += 1;
        self.read_errors
    }
}

/// A member that is being replaced and stays as the source of the data that it can still read.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub(crate) struct DonorMember<D> {
    pub(crate) home: MemberColumn<D>,
    /// Sectors that it has reported as lost.
    pub(crate) lost: RangeSet,
    /// Ranges that it has been queried about.
    pub(crate) queried: BTreeSet<RangeIndex>,
    /// Ranges that it has answered for.
    pub(crate) answered: BTreeSet<RangeIndex>,
}

impl<D> DonorMember<D> {
    /// Forgets its answers, which no longer hold.
    pub(crate) fn forget_answers(&mut self) {
        (self.queried, self.answered) = (BTreeSet::new(), BTreeSet::new());
        self.lost = RangeSet::default();
    }
}
