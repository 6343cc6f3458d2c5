//! Lost data: reads of it fail, until it is written anew.

use super::Array;
use crate::layout::RowRange;
use crate::roles::roles;
use outlast_device::{Device, Outcome};

impl<D: Device> Array<D> {
    /// True if any of `rows` of `group` is lost in one of the roles in `set`.
    #[inline]
    pub(super) fn is_lost(&self, group: u64, set: u64, rows: RowRange) -> bool {
        !self.history.lost().is_empty()
            && roles(set).any(|role| {
                let first = self.layout.logical(group, role, rows.first);
                self.history.lost().overlaps(&(first..first + u64::from(rows.len())))
            })
    }

    /// Fails a host read of `rows` of `group` in the roles `set`, with the sectors of it that are lost.
    #[cold]
    pub(super) fn fail_lost(&mut self, host: u32, group: u64, set: u64, rows: RowRange) {
        for role in roles(set) {
            for row in rows.first..rows.end {
                let sector = self.layout.logical(group, role, row);
                if self.history.lost().overlaps(&(sector..sector + 1)) {
                    self.replies.note_failure(host, sector, 1);
                }
            }
        }
        self.flight.hosts[host].outcome = Outcome::MediumError;
    }

    /// Fails host command `host`: none of `rows` of `group` in the roles `set` can be read or written.
    #[cold]
    pub(super) fn fail_unread(&mut self, host: u32, group: u64, set: u64, rows: RowRange) {
        for role in roles(set) {
            self.replies.note_failure(host, self.layout.logical(group, role, rows.first), rows.len());
        }
        self.flight.hosts[host].outcome = Outcome::MediumError;
    }

    /// Removes rows that have been written anew from the lost data.
    pub(super) fn clear_lost(&mut self, group: u64, set: u64, rows: RowRange) {
        if self.history.lost().is_empty() {
            return;
        }
        for role in roles(set) {
            let first = self.layout.logical(group, role, rows.first);
            self.history.remove_lost(first..first + u64::from(rows.len()));
        }
    }
}
