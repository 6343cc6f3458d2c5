//! A pass under way.

use super::PassKind;
use super::pace::WorkPacer;
use crate::ids::GroupIndex;
use outlast_units::{Bytes, Nanos};

/// Groups that a pass may be ahead of the first that is not done: bits of one word.
pub(super) const AHEAD: u64 = 64;

/// A pass under way.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub(crate) struct BackgroundPass {
    pub(crate) kind: PassKind,
    /// Groups below this are done.
    pub(crate) base: GroupIndex,
    /// Groups done among the 64 from `base` on, as bits.
    pub(super) done: u64,
    /// The next group to begin.
    pub(super) next: GroupIndex,
    pub(super) in_flight: u32,
    pub(super) pacer: WorkPacer,
}

impl BackgroundPass {
    /// True if work on `group` is under way.
    pub(crate) fn has_begun(&self, group: GroupIndex) -> bool {
        (self.base..self.next).contains(&group) && self.done >> (group - self.base) & 1 == 0
    }

    /// Progress as [`WorkPacer::done_lately`] measures it, with groups of `group` bytes of each member.
    pub(crate) fn done_lately(&self, group: Bytes) -> Option<(Bytes, Nanos)> {
        self.pacer.done_lately(Bytes(group.0 * u64::from(self.in_flight)))
    }
}
