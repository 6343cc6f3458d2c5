//! Ejection of members that fail too often.

use super::Array;
use crate::ids::{ColumnDevice, ColumnIndex};
use outlast_device::Device;
use outlast_units::Nanos;

impl<D: Device> Array<D> {
    /// Schedules the removal of a member for the end of the current event, if the array can do without it. Returns true if it is to go.
    pub(super) fn eject(&mut self, column: ColumnIndex) -> bool {
        if self.members.is_leaving(column) {
            return true;
        }
        let possible =
            self.members[column].device.is_some() && !self.availability().is_missing_too_many(Some(column));
        if possible {
            self.history.counters.ejected += 1;
            self.members.schedule_removal(column);
        }
        possible
    }

    /// Counts a read error of a member, and ejects it after too many in too short a time.
    #[cold]
    pub(super) fn note_read_error(&mut self, now: Nanos, device: ColumnDevice) {
        self.history.counters.read_errors += 1;
        let Some(column) = device.as_member().filter(|&column| !self.members[column].has_unrepaired_die)
        else {
            return;
        };
        let errors = self.members[column].count_read_error(now);
        if errors > self.setup.config.ejection.read_errors {
            self.eject(column);
        }
    }
}
