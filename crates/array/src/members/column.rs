//! Columns of an array, and donors.

use crate::ranges::RangeSet;
use outlast_units::Nanos;
use std::collections::BTreeSet;

/// A column of the array, with or without a device.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub(crate) struct MemberColumn<D> {
    pub(crate) device: Option<D>,
    /// The device has all groups below this one; `u64::MAX`: all groups.
    pub(crate) valid_to: u64,
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
            valid_to: u64::MAX,
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
        Self { valid_to: 0, ..Self::new(device) }
    }

    /// Takes the device out; the column is empty.
    pub(super) fn take(&mut self) -> Option<D> {
        let device = self.device.take()?;
        (self.valid_to, self.in_flight, self.read_errors) = (0, 0, 0);
        self.bad = RangeSet::default();
        (self.has_unrepaired_die, self.beyond_repair) = (false, false);
        self.dies.clear();
        Some(device)
    }

    /// True if a device is present that has all groups.
    pub(crate) fn is_in_sync(&self) -> bool {
        self.valid_to == u64::MAX
    }

    /// True if a device is present that lacks some groups.
    pub(crate) fn is_filling(&self) -> bool {
        self.device.is_some() && !self.is_in_sync()
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
    pub(crate) queried: BTreeSet<u32>,
    /// Ranges that it has answered for.
    pub(crate) answered: BTreeSet<u32>,
}

impl<D> DonorMember<D> {
    /// Forgets its answers, which no longer hold.
    pub(crate) fn forget_answers(&mut self) {
        (self.queried, self.answered) = (BTreeSet::new(), BTreeSet::new());
        self.lost = RangeSet::default();
    }
}
