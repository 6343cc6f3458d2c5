//! Inputs from outside beside commands and power: each is one event, with what is due before it, the input itself, and one `settle`.

use super::Array;
use crate::error::ArrayError;
use crate::layout::RowRange;
use outlast_device::{Completion, Device, Outcome, Tag};
use outlast_units::{Lba, Nanos, SECTOR_BYTES};

impl<D: Device> Array<D> {
    /// The device in column `column` fails: nothing can be read from it or written to it. A spare takes its place, if there is one.
    ///
    /// # Errors
    /// If there is no such member.
    pub fn fail_member(&mut self, now: Nanos, column: usize) -> Result<(), ArrayError> {
        let column = self.members.find_column(column)?;
        if self.members[column].device.is_none() {
            return Err(ArrayError::Absent { member: column.index() });
        }
        self.catch_up(now);
        self.fail_column(now, column);
        self.settle(now);
        Ok(())
    }

    /// Puts `device` in the place of the one in column `column`, which comes back if it was there, and rebuilds it. With
    /// `parity_percent`, parity moves to the oldest members.
    ///
    /// # Errors
    /// If the column does not exist, the device is too small or lacks a link speed that is needed, or the old one holds the only copy of some
    /// data, unless `force`.
    pub fn replace(
        &mut self,
        now: Nanos,
        column: usize,
        device: D,
        force: bool,
    ) -> Result<Option<D>, ArrayError> {
        let column = self.members.find_column(column)?;
        self.setup.check_size(&device)?;
        let has_data = self.members[column].is_in_sync() || self.members.donor(column).is_some();
        if !force && has_data && self.availability().is_missing_too_many(Some(column)) {
            return Err(ArrayError::OnlyCopy { member: column.index() });
        }
        self.catch_up(now);
        let old = self.exchange_device(now, column, device);
        self.settle(now);
        Ok(old)
    }

    /// Adds a spare; it is used at once if a member is missing.
    ///
    /// # Errors
    /// If the device is too small, or lacks a link speed that is needed.
    pub fn add_spare(&mut self, now: Nanos, device: D) -> Result<(), ArrayError> {
        self.setup.check_size(&device)?;
        self.catch_up(now);
        self.members.spares_mut().push_back(device);
        self.use_spares(now);
        // A repair may have waited for it.
        self.passes.request_pump();
        self.settle(now);
        Ok(())
    }

    /// Compares every sector and counts redundancy that differs; `repair` rewrites it. Unreadable sectors are rewritten in either case.
    pub fn start_scrub(&mut self, now: Nanos, repair: bool) {
        self.catch_up(now);
        self.passes.request_scrub(repair, self.history.counters.mismatches);
        self.settle(now);
    }

    /// Completes a lazy shift with a pass.
    pub fn finish_shift(&mut self, now: Nanos) {
        self.catch_up(now);
        if let Some(shift) = self.layout.shift_mut() {
            shift.lazy = false;
        }
        self.passes.make_shift_eager();
        self.settle(now);
    }

    /// Reads `sectors` sectors of the member in column `column` from `lba` on, as they are there. Completes like a host command
    /// with tag `tag`; if there is no device, or it leaves meanwhile, with [`Outcome::MediumError`].
    ///
    /// # Panics
    /// Without power.
    pub fn read_member(&mut self, now: Nanos, column: usize, lba: Lba, sectors: u32, tag: Tag) {
        self.catch_up(now);
        assert!(self.powered, "an array without power takes no commands");
        let end = lba.0.saturating_add(u64::from(sectors));
        let is_within = sectors > 0 && end <= self.member_capacity().0 / SECTOR_BYTES;
        match self.members.find_column(column) {
            Ok(column) if is_within => {
                self.begin_member_read(now, column, tag, lba, RowRange::new(0, sectors));
            }
            _ => self.replies.ready.push_back(Completion::new(now, tag, Outcome::OutOfRange)),
        }
        self.settle(now);
    }
}
