//! Writing the bitmap to the members.

use super::{Array, command};
use crate::bitmap::{BitmapPhase, PAGE_SECTORS};
use crate::ids::ColumnDevice;
use crate::layout::RowRange;
use crate::member_command::{MemberCommand, MemberCommandKind};
use outlast_device::{Command, Device, Op as HostOp};
use outlast_settings::array::LogPlace;
use outlast_units::Nanos;

impl<D: Device> Array<D> {
    /// Sends the member commands for the phase that the bitmap is in, and for the following ones as long as none has to be waited for.
    pub(super) fn carry_on_bitmap(&mut self, now: Nanos) {
        loop {
            let sent = match self.doubt.bitmap.phase() {
                BitmapPhase::No => return,
                BitmapPhase::Setting | BitmapPhase::Clearing => self.write_bitmap(now),
                BitmapPhase::Flushing => self.flush_all(now, MemberCommandKind::Bitmap),
            };
            self.doubt.bitmap.sent(sent);
            // A step without member commands (marks in the controller) is done at once.
            if sent > 0 || !self.bitmap_step_done(now) {
                return;
            }
        }
    }

    /// Counts a command for the bitmap that has ended.
    pub(super) fn bitmap_part_done(&mut self, now: Nanos) {
        if self.doubt.bitmap.part_done() && self.bitmap_step_done(now) {
            self.carry_on_bitmap(now);
        }
    }

    fn bitmap_step_done(&mut self, now: Nanos) -> bool {
        self.doubt.bitmap.step_done(now, self.setup.config.log.bitmap_delay, self.is_in_doubt())
    }

    /// Begins to clear the marks of quiet regions, which takes a flush of the members first.
    pub(super) fn bitmap_daemon(&mut self, now: Nanos) {
        if self.doubt.bitmap.begin_clearing(now, self.setup.config.log.bitmap_delay) {
            self.carry_on_bitmap(now);
        }
    }

    /// Writes the bitmap to every member, unless the controller keeps it; returns the number of writes.
    fn write_bitmap(&mut self, now: Nanos) -> u32 {
        if self.setup.config.log.place == LogPlace::Controller {
            return 0;
        }
        let rows = RowRange::new(0, PAGE_SECTORS);
        let write = Command { fua: true, ..command(HostOp::Write, self.setup.member_sectors, rows) };
        let mut sent = 0;
        for column in self.members.indices() {
            if self.members[column].device.is_some() {
                let device = ColumnDevice::Member(column);
                sent += 1;
                self.history.counters.log_writes += 1;
                self.send(now, MemberCommand::to_device(MemberCommandKind::Bitmap, device, rows), write, &[]);
            }
        }
        sent
    }
}
