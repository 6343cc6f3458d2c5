//! Operations that wait for marks of the bitmap.

use super::{BitmapPhase, IntentBitmap};
use crate::ids::GroupOpId;

impl IntentBitmap {
    /// True if an operation may go on, or marks may be written.
    #[inline]
    pub(crate) fn is_ready(&self) -> bool {
        !self.marked.is_empty() || self.phase == BitmapPhase::No && !self.next.is_empty()
    }

    /// True if operations are to go on or marks to be set: else [`IntentBitmap::is_ready`] need not be asked.
    #[inline]
    pub(crate) fn may_be_ready(&self) -> bool {
        !self.marked.is_empty() | !self.next.is_empty()
    }

    /// The next operation whose mark is durable.
    pub(crate) fn take_marked(&mut self) -> Option<GroupOpId> {
        self.marked.pop_front()
    }

    /// True if the mark of operation `op` is durable already; takes it from the queue.
    pub(crate) fn take_own_mark(&mut self, op: GroupOpId) -> bool {
        let at = self.marked.iter().position(|&marked| marked == op);
        at.is_some_and(|at| self.marked.remove(at).is_some())
    }

    /// Operations that wait for a mark.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = GroupOpId> {
        self.waiting.iter().chain(&self.waiting_next).chain(&self.marked).copied()
    }
}
