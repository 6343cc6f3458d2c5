//! A pass under way.

use super::PassKind;
use super::pace::Pacer;
use outlast_units::{Bytes, Nanos};

/// Groups that a pass may be ahead of the first that is not done: bits of one word.
pub(super) const AHEAD: u64 = 64;

/// A pass under way.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub(crate) struct Pass {
    pub(crate) kind: PassKind,
    /// Groups below this are done; bits of `done` tell which of the next 64 are.
    pub(crate) base: u64,
    pub(super) done: u64,
    pub(super) next: u64,
    pub(super) in_flight: u32,
    pub(super) pacer: Pacer,
}

impl Pass {
    /// Whether work on a group has begun and not ended.
    pub(crate) fn has_begun(&self, group: u64) -> bool {
        (self.base..self.next).contains(&group) && self.done >> (group - self.base) & 1 == 0
    }

    /// As [`Pacer::done_lately`] has it, with groups of `group` bytes of each member.
    pub(crate) fn done_lately(&self, group: Bytes) -> Option<(Bytes, Nanos)> {
        self.pacer.done_lately(Bytes(group.0 * u64::from(self.in_flight)))
    }
}
