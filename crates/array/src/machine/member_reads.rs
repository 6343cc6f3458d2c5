//! Reads of single members from outside: the content of a device, not of the array. They take time on the member like other commands.

use super::{Array, command};
use crate::ids::{ColumnDevice, ColumnIndex};
use crate::layout::RowRange;
use crate::member_command::{MemberCommand, MemberCommandKind};
use outlast_device::{Completion, Device, Extent, ExtentState, Op as HostOp, Outcome, SectorRun, Tag};
use outlast_units::{Bytes, Lba, Nanos, SECTOR_BYTES};

impl<D: Device> Array<D> {
    /// Bytes of every member that the array uses: data first, then records. A replacement needs at least as many.
    pub fn member_capacity(&self) -> Bytes {
        self.setup.member_bytes()
    }

    pub(super) fn begin_member_read(
        &mut self,
        now: Nanos,
        column: ColumnIndex,
        tag: Tag,
        lba: Lba,
        rows: RowRange,
    ) {
        if self.members[column].device.is_none() {
            self.fail_member_read(now, tag, lba, rows);
            return;
        }
        let (kind, device) = (MemberCommandKind::External { tag, lba }, ColumnDevice::Member(column));
        // Not by `send`, which would count it as work of the array.
        let sub = MemberCommand::to_device(kind, device, rows);
        let member_tag = self.flight.member_commands.insert(Some(sub));
        self.members.submit(now, device, command(HostOp::Read, lba.0, rows), member_tag, &[]);
    }

    /// The states of `sectors` sectors of the member in column `column` from `lba` on; without a device all of them are lost.
    pub fn member_extents(&self, column: usize, lba: Lba, sectors: u64) -> Vec<Extent> {
        let end = lba.0.saturating_add(sectors).min(self.member_capacity().0 / SECTOR_BYTES);
        let sectors = end.saturating_sub(lba.0);
        match self.member(column) {
            _ if sectors == 0 => Vec::new(),
            Some(device) => device.extents(lba, sectors),
            None => vec![Extent { lba, sectors, state: ExtentState { lost: true, ..ExtentState::GOOD } }],
        }
    }

    /// Completes the read from outside with the host's `tag`, which was `member_tag` to the member.
    pub(super) fn finish_member_read(
        &mut self,
        now: Nanos,
        device: ColumnDevice,
        tag: Tag,
        member_tag: Tag,
        outcome: Outcome,
    ) {
        let device = self.members.device_mut(device);
        if outcome == Outcome::Ok {
            let data = device.and_then(|device| device.take_data(member_tag));
            if let Some(data) = data {
                self.replies.data.insert(tag, data);
            }
        } else {
            let failed = device.and_then(|device| device.take_failed(member_tag));
            if let Some(failed) = failed {
                self.replies.failed.insert(tag, failed);
            }
        }
        self.replies.ready.push_back(Completion::new(now, tag, outcome));
    }

    /// Fails a read from outside whose member is gone.
    pub(super) fn fail_member_read(&mut self, now: Nanos, tag: Tag, lba: Lba, rows: RowRange) {
        let all = SectorRun { lba, sectors: u64::from(rows.len()) };
        self.replies.failed.insert(tag, vec![all]);
        self.replies.ready.push_back(Completion::new(now, tag, Outcome::MediumError));
    }
}
