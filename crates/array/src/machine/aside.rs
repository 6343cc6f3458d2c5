//! Members read from outside: what a device holds, not what the array makes of it. It shares the member's time with all that the array does.

use super::{Array, command};
use crate::layout::Rows;
use crate::op::{Sub, SubKind};
use outlast_device::{Completion, Device, Extent, ExtentState, Op as HostOp, Outcome, SectorRun, Tag};
use outlast_units::{Bytes, Lba, Nanos, SECTOR_BYTES};

impl<D: Device> Array<D> {
    /// Bytes of every member that the array uses: data first, then records. What takes a member's place has at least as many.
    pub fn member_capacity(&self) -> Bytes {
        self.setup.member_bytes()
    }

    /// Reads `sectors` sectors of the member in column `column` from `lba` on, as they are there. It completes as a command of the host by the
    /// name `tag`; where there is no device, or it leaves meanwhile, with [`Outcome::MediumError`].
    ///
    /// # Panics
    /// Without power.
    pub fn read_member(&mut self, now: Nanos, column: usize, lba: Lba, sectors: u32, tag: Tag) {
        self.catch_up(now);
        assert!(self.powered, "an array without power takes no commands");
        let end = lba.0.saturating_add(u64::from(sectors));
        let is_within = column < self.members.len() && end <= self.member_capacity().0 / SECTOR_BYTES;
        if is_within && sectors > 0 {
            let (kind, column, rows) = (SubKind::Aside, column as u8, Rows::new(0, sectors));
            self.begin_aside(
                now,
                Sub { live: true, kind, column, role: 0, owner: tag.0, group: lba.0, rows },
            );
        } else {
            self.replies.ready.push_back(Completion { at: now, tag, outcome: Outcome::OutOfRange });
        }
        self.settle(now);
    }

    fn begin_aside(&mut self, now: Nanos, sub: Sub) {
        let column = usize::from(sub.column);
        if self.members[column].device.is_none() {
            self.aside_gone(now, sub);
            return;
        }
        // Not by `send`: it is no part of the array's work, and is not counted as such.
        let own = Tag(self.flight.subs.insert(sub));
        self.members.submit(now, column, command(HostOp::Read, sub.group, sub.rows), own, &[]);
    }

    /// What the member in column `column` says of `sectors` of its sectors from `lba` on: all of them are lost where there is no device.
    pub fn member_extents(&self, column: usize, lba: Lba, sectors: u64) -> Vec<Extent> {
        let end = lba.0.saturating_add(sectors).min(self.member_capacity().0 / SECTOR_BYTES);
        let sectors = end.saturating_sub(lba.0);
        match self.member(column) {
            _ if sectors == 0 => Vec::new(),
            Some(device) => device.extents(lba, sectors),
            None => vec![Extent { lba, sectors, state: ExtentState { lost: true, ..ExtentState::GOOD } }],
        }
    }

    /// A member has done what it was asked from outside.
    pub(super) fn aside_done(&mut self, now: Nanos, sub: Sub, own: Tag, outcome: Outcome) {
        let tag = Tag(sub.owner);
        let device = self.members.device_mut(usize::from(sub.column));
        if outcome == Outcome::Ok {
            let data = device.and_then(|device| device.take_data(own));
            if let Some(data) = data {
                self.replies.data.insert(tag, data);
            }
        } else {
            let failed = device.and_then(|device| device.take_failed(own));
            if let Some(failed) = failed {
                self.replies.failed.insert(tag, failed);
            }
        }
        self.replies.ready.push_back(Completion { at: now, tag, outcome });
    }

    /// A member is not there that was asked from outside.
    pub(super) fn aside_gone(&mut self, now: Nanos, sub: Sub) {
        let tag = Tag(sub.owner);
        let all = SectorRun { lba: Lba(sub.group), sectors: u64::from(sub.rows.len()) };
        self.replies.failed.insert(tag, vec![all]);
        self.replies.ready.push_back(Completion { at: now, tag, outcome: Outcome::MediumError });
    }
}
