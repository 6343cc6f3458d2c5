//! Reads of single members from outside: the content of a device, not of the array. They take time on the member like other commands.

use super::{Array, command};
use crate::layout::RowRange;
use crate::op::{MemberCommand, MemberCommandKind};
use outlast_device::{Completion, Device, Extent, ExtentState, Op as HostOp, Outcome, SectorRun, Tag};
use outlast_units::{Bytes, Lba, Nanos, SECTOR_BYTES};

impl<D: Device> Array<D> {
    /// Bytes of every member that the array uses: data first, then records. A replacement needs at least as many.
    pub fn member_capacity(&self) -> Bytes {
        self.setup.member_bytes()
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
        let is_within = column < self.members.len() && end <= self.member_capacity().0 / SECTOR_BYTES;
        if is_within && sectors > 0 {
            let (kind, column, rows) = (MemberCommandKind::External, column as u8, RowRange::new(0, sectors));
            self.begin_member_read(
                now,
                MemberCommand { live: true, kind, column, role: 0, owner: tag.0, group: lba.0, rows },
            );
        } else {
            self.replies.ready.push_back(Completion { at: now, tag, outcome: Outcome::OutOfRange });
        }
        self.settle(now);
    }

    fn begin_member_read(&mut self, now: Nanos, sub: MemberCommand) {
        let column = usize::from(sub.column);
        if self.members[column].device.is_none() {
            self.fail_member_read(now, sub);
            return;
        }
        // Not by `send`, which would count it as work of the array.
        let member_tag = Tag(self.flight.member_commands.insert(sub));
        self.members.submit(now, column, command(HostOp::Read, sub.group, sub.rows), member_tag, &[]);
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

    /// Completes a read from outside.
    pub(super) fn finish_member_read(
        &mut self,
        now: Nanos,
        sub: MemberCommand,
        member_tag: Tag,
        outcome: Outcome,
    ) {
        let tag = Tag(sub.owner);
        let device = self.members.device_mut(usize::from(sub.column));
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
        self.replies.ready.push_back(Completion { at: now, tag, outcome });
    }

    /// Fails a read from outside whose member is gone.
    pub(super) fn fail_member_read(&mut self, now: Nanos, sub: MemberCommand) {
        let tag = Tag(sub.owner);
        let all = SectorRun { lba: Lba(sub.group), sectors: u64::from(sub.rows.len()) };
        self.replies.failed.insert(tag, vec![all]);
        self.replies.ready.push_back(Completion { at: now, tag, outcome: Outcome::MediumError });
    }
}
