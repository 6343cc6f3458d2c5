//! Data that is lost: commands that ask for it fail, and what is written anew is found again.

use super::Array;
use crate::layout::Rows;
use crate::roles::roles;
use outlast_device::{Device, Outcome};

impl<D: Device> Array<D> {
    /// Whether some of `rows` of `group` is lost in the roles `set`.
    #[inline]
    pub(super) fn is_lost(&self, group: u64, set: u64, rows: Rows) -> bool {
        !self.ledger.lost().is_empty()
            && roles(set).any(|role| {
                let first = self.layout.logical(group, role, rows.first);
                self.ledger.lost().overlaps(&(first..first + u64::from(rows.len())))
            })
    }

    /// A read of `rows` of `group` in the roles `set` fails: some of it is lost.
    #[cold]
    pub(super) fn fail_lost(&mut self, host: u32, group: u64, set: u64, rows: Rows) {
        for role in roles(set) {
            for row in rows.first..rows.end {
                let sector = self.layout.logical(group, role, row);
                if self.ledger.lost().overlaps(&(sector..sector + 1)) {
                    self.replies.note_failure(host, sector, 1);
                }
            }
        }
        self.flight.hosts[host].outcome = Outcome::MediumError;
    }

    /// Host command `host` fails, since `rows` of `group` cannot be read in the roles `set`.
    #[cold]
    pub(super) fn fail_unread(&mut self, host: u32, group: u64, set: u64, rows: Rows) {
        for role in roles(set) {
            self.replies.note_failure(host, self.layout.logical(group, role, rows.first), rows.len());
        }
        self.flight.hosts[host].outcome = Outcome::MediumError;
    }

    /// Data that was lost has been written anew.
    pub(super) fn found_again(&mut self, group: u64, set: u64, rows: Rows) {
        if self.ledger.lost().is_empty() {
            return;
        }
        for role in roles(set) {
            let first = self.layout.logical(group, role, rows.first);
            self.ledger.find(first..first + u64::from(rows.len()));
        }
    }
}
