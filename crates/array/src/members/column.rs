//! The place of a member, and that of one which is being replaced.

use crate::ranges::RangeSet;
use outlast_units::Nanos;
use std::collections::BTreeSet;

/// The place of a member in the array.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub(crate) struct Column<D> {
    pub(crate) device: Option<D>,
    /// Groups below this are there; `u64::MAX`: all.
    pub(crate) valid_to: u64,
    /// Commands under way.
    pub(crate) in_flight: u32,
    /// Read errors not yet forgotten, and the hour of the last one, by which they are.
    read_errors: u32,
    error_hour: u64,
    /// Sectors that could not be written.
    pub(crate) bad: RangeSet,
    /// Dies that it told have failed; whether that is not yet made good, so that read errors are no surprise; and whether it cannot be.
    pub(crate) dies: Vec<u16>,
    pub(crate) excused: bool,
    pub(crate) beyond_repair: bool,
}

impl<D> Column<D> {
    /// The place of a device that has everything.
    pub(super) fn new(device: D) -> Self {
        Self {
            device: Some(device),
            valid_to: u64::MAX,
            in_flight: 0,
            read_errors: 0,
            error_hour: 0,
            bad: RangeSet::default(),
            dies: Vec::new(),
            excused: false,
            beyond_repair: false,
        }
    }

    /// The place of a device that has nothing yet.
    pub(super) fn of_empty(device: D) -> Self {
        Self { valid_to: 0, ..Self::new(device) }
    }

    /// Takes the device out; the place is empty.
    pub(super) fn take(&mut self) -> Option<D> {
        let device = self.device.take()?;
        (self.valid_to, self.in_flight, self.read_errors) = (0, 0, 0);
        self.bad = RangeSet::default();
        (self.excused, self.beyond_repair) = (false, false);
        self.dies.clear();
        Some(device)
    }

    /// Whether all of it can be read.
    pub(crate) fn is_in_sync(&self) -> bool {
        self.valid_to == u64::MAX
    }

    /// Whether a device is there that lacks some groups.
    pub(crate) fn is_filling(&self) -> bool {
        self.device.is_some() && !self.is_in_sync()
    }

    /// Whether the last read error was before `now`, and there were as many as can be.
    pub(crate) fn is_plausible(&self, now: Nanos) -> bool {
        self.error_hour <= now.0 / Nanos::secs(3600).0 && self.read_errors < 1 << 31
    }

    /// Read errors not yet forgotten.
    pub(crate) fn read_errors(&self) -> u32 {
        self.read_errors
    }

    /// Read errors so far have had their cause.
    pub(crate) fn excuse(&mut self) {
        (self.excused, self.read_errors) = (true, 0);
    }

    /// One more read error at `now`; half of those before are forgotten every hour. Returns how many count.
    pub(crate) fn count_read_error(&mut self, now: Nanos) -> u32 {
        let hour = now.0 / Nanos::secs(3600).0;
        debug_assert!(hour >= self.error_hour, "read errors come in order of time");
        self.read_errors >>= (hour - self.error_hour).min(31) as u32;
        self.error_hour = hour;
        self.read_errors += 1;
        self.read_errors
    }
}

/// A member that is being replaced and stays as the source of what it still can give.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub(crate) struct Donor<D> {
    pub(crate) home: Column<D>,
    /// Sectors that it said it has lost.
    pub(crate) known: RangeSet,
    /// Ranges that it was asked about, and that it has answered for.
    pub(crate) asked: BTreeSet<u32>,
    pub(crate) answered: BTreeSet<u32>,
}

impl<D> Donor<D> {
    /// What it said no longer holds.
    pub(crate) fn forget_answers(&mut self) {
        (self.asked, self.answered) = (BTreeSet::new(), BTreeSet::new());
        self.known = RangeSet::default();
    }
}
