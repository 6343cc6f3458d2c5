//! Space for records on the members: a ring of which only the fill matters.

use crate::ids::GroupOpId;
use std::collections::VecDeque;

/// The ring, the same on every member. Offsets only spread the writes: its content is never read.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub(crate) struct RecordLog {
    size: u64,
    used: u64,
    next: u64,
    waiting: VecDeque<(GroupOpId, u64)>,
}

impl RecordLog {
    pub(crate) fn new(size: u64) -> Self {
        Self { size, used: 0, next: 0, waiting: VecDeque::new() }
    }

    /// Takes space for a record of operation `op`; returns false if there is none: the operation then waits in order.
    pub(crate) fn reserve(&mut self, bytes: u64, op: GroupOpId) -> bool {
        // Behind others that wait, even a small record waits: first come, first served.
        let fits = self.waiting.is_empty() && self.used + bytes <= self.size;
        if fits {
            self.used += bytes;
        } else {
            self.waiting.push_back((op, bytes));
        }
        fits
    }

    /// The offset for a record of `bytes`; records do not wrap around the end.
    pub(crate) fn next_offset(&mut self, bytes: u64) -> u64 {
        if self.next + bytes > self.size {
            self.next = 0;
        }
        let at = self.next;
        self.next += bytes;
        at
    }

    /// Gives the space of a record back.
    pub(crate) fn release(&mut self, bytes: u64) {
        assert!(bytes <= self.used, "room in the log is given back once");
        self.used -= bytes;
    }

    /// The operation that has waited longest, if its record now fits; takes the space for it.
    pub(crate) fn next_waiting(&mut self) -> Option<(GroupOpId, u64)> {
        let &(op, bytes) = self.waiting.front()?;
        if self.used + bytes > self.size {
            return None;
        }
        self.waiting.pop_front();
        self.used += bytes;
        Some((op, bytes))
    }

    /// True if operations wait for room: else [`RecordLog::is_ready`] need not be asked.
    #[inline]
    pub(crate) fn may_be_ready(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// True if the operation that has waited longest may have its room.
    #[inline]
    pub(crate) fn is_ready(&self) -> bool {
        self.waiting.front().is_some_and(|&(_, bytes)| self.used + bytes <= self.size)
    }

    /// Operations that wait for room.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = GroupOpId> {
        self.waiting.iter().map(|&(op, _)| op)
    }

    /// Operations that wait for space, and the bytes that each waits for.
    pub(crate) fn requests(&self) -> impl Iterator<Item = (GroupOpId, u64)> {
        self.waiting.iter().copied()
    }

    /// True if restored state stays within the ring, and no operation waits for more than its size.
    pub(crate) fn is_plausible(&self) -> bool {
        let waits = |&(_, bytes): &(GroupOpId, u64)| bytes <= self.size;
        self.used <= self.size && self.next <= self.size && self.waiting.iter().all(waits)
    }

    /// Bytes of the ring.
    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    /// Bytes taken on each member.
    pub(crate) fn in_use(&self) -> u64 {
        self.used
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::new(self.size);
    }
}
