//! Lost data: reads of it fail, until it is written anew.

use super::Array;
use crate::ids::{GroupIndex, HostCommandId};
use crate::layout::RowRange;
use crate::roles::roles;
use outlast_device::{Device, Outcome};

impl<D: Device> Array<D> {
    /// Fails a host read of `rows` of `group` in the roles `set`, with the sectors of it that are lost.
    #[cold]
    pub(super) fn fail_lost(&mut self, host: HostCommandId, group: GroupIndex, set: u64, rows: RowRange) {
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
    pub(super) fn fail_unread(&mut self, host: HostCommandId, group: GroupIndex, set: u64, rows: RowRange) {
        for role in roles(set) {
            self.replies.note_failure(host, self.layout.logical(group, role, rows.first), rows.len());
        }
        self.flight.hosts[host].outcome = Outcome::MediumError;
    }
}
