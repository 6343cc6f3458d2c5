//! Members that are to leave.

use super::ArrayMembers;
use crate::ids::ColumnIndex;

impl<D> ArrayMembers<D> {
    /// Schedules the removal of the member in `column` for the end of the current event.
    pub(crate) fn schedule_removal(&mut self, column: ColumnIndex) {
        assert!(!self.is_leaving(column), "a member is removed once");
        self.leaving.push(column);
    }

    /// True if the member in `column` is to be removed.
    pub(crate) fn is_leaving(&self, column: ColumnIndex) -> bool {
        self.leaving.contains(&column)
    }

    /// True if any member is to be removed.
    pub(crate) fn is_any_leaving(&self) -> bool {
        !self.leaving.is_empty()
    }

    /// The next column whose member is to be removed.
    #[inline]
    pub(crate) fn take_leaving(&mut self) -> Option<ColumnIndex> {
        self.leaving.pop()
    }
}
