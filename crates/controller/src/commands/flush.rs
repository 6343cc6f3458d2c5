//! Flush epochs: which host programs a flush, or a write that must reach flash, waits for.
//!
//! Host programs are counted by the epoch in which they were handed out. A barrier ends the open epoch and waits until it and all before it
//! have no program left.
//!
//! With a protected buffer, a write is safe when it is in the buffer, and nothing waits here. Without one, a flush programs the buffered units (padding the
//! last program units), and a victim is erased only when its data is on flash (decision 0009). Flushes that the drive ignores or delays are in
//! `flushing.rs`.

use crate::commands::HostRequestId;
use std::collections::VecDeque;

/// The epochs that have not ended, and the requests that wait for them.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub struct Flushes {
    /// Host programs that have not ended, by epoch; the last epoch is open.
    programs: VecDeque<u32>,
    /// Number of the first epoch.
    first: u32,
    /// The request of the barrier that ended each epoch but the open one.
    barriers: VecDeque<HostRequestId>,
    /// Requests that all their data is in the buffer for, whose barriers have not begun.
    due: VecDeque<HostRequestId>,
}

impl Default for Flushes {
    fn default() -> Self {
        Self { programs: VecDeque::from([0]), first: 0, barriers: VecDeque::new(), due: VecDeque::new() }
    }
}

impl Flushes {
    /// The epoch of what is handed out now.
    #[inline]
    pub fn open_epoch(&self) -> u32 {
        self.first.wrapping_add(self.programs.len() as u32 - 1)
    }

    /// Another program of epoch `epoch`, which has not ended.
    #[allow(clippy::inline_always, reason = "as Flash::submit")]
    #[inline(always)]
    pub fn count_in(&mut self, epoch: u32) {
        let index = self.index(epoch);
        self.programs[index] += 1;
    }

    /// A program of epoch `epoch` has ended; see [`Flushes::next_reached`].
    #[inline]
    pub(crate) fn count_out(&mut self, epoch: u32) {
        let index = self.index(epoch);
        debug_assert!(
            self.programs[index] != 0,
            "a program of epoch {epoch} ends that none was counted in for"
        );
        self.programs[index] -= 1;
    }

    /// All of request `request` is in the buffer and must reach flash: see [`Flushes::take_due`].
    pub fn call(&mut self, request: HostRequestId) {
        self.due.push_back(request);
    }

    /// True if any barrier is to begin.
    #[inline]
    pub(crate) fn any_due(&self) -> bool {
        !self.due.is_empty()
    }

    /// The request whose barrier begins next: what it has begun is to be programmed, and then [`Flushes::bar`] called.
    pub fn take_due(&mut self) -> Option<HostRequestId> {
        self.due.pop_front()
    }

    /// Request `request` waits for all programs handed out until now; see [`Flushes::next_reached`].
    pub fn bar(&mut self, request: HostRequestId) {
        self.barriers.push_back(request);
        self.programs.push_back(0);
        debug_assert_eq!(
            self.barriers.len() + 1,
            self.programs.len(),
            "a barrier ends each epoch but the open one"
        );
    }

    /// The next request whose programs have all ended; asked until there is none.
    #[inline]
    pub(crate) fn next_reached(&mut self) -> Option<HostRequestId> {
        if self.programs.len() == 1 || self.programs[0] != 0 {
            return None;
        }
        self.programs.pop_front();
        self.first = self.first.wrapping_add(1);
        debug_assert_eq!(
            self.barriers.len(),
            self.programs.len(),
            "a barrier ends each epoch but the open one"
        );
        self.barriers.pop_front()
    }

    /// Power has failed: nothing is outstanding, and nobody waits.
    pub fn forget(&mut self) {
        self.first = self.open_epoch();
        self.programs = VecDeque::from([0]);
        self.barriers.clear();
        self.due.clear();
    }

    /// Host programs that have not ended, over all epochs.
    pub fn outstanding(&self) -> u64 {
        self.programs.iter().map(|&programs| u64::from(programs)).sum()
    }

    /// True if epoch `epoch` has begun and not ended.
    pub fn has_epoch(&self, epoch: u32) -> bool {
        (epoch.wrapping_sub(self.first) as usize) < self.programs.len()
    }

    /// Requests whose barriers wait or have not begun.
    pub fn requests(&self) -> impl Iterator<Item = HostRequestId> {
        self.barriers.iter().chain(&self.due).copied()
    }

    /// Requests that wait.
    pub fn waiting(&self) -> usize {
        self.barriers.len()
    }

    #[inline]
    fn index(&self, epoch: u32) -> usize {
        let index = epoch.wrapping_sub(self.first) as usize;
        debug_assert!(index < self.programs.len(), "epoch {epoch} has ended, or has not begun");
        index
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_barrier_waits_for_its_own_epoch_and_all_before_it() {
        let mut flushes = Flushes::default();
        flushes.count_in(0);
        flushes.bar(HostRequestId(7));
        flushes.count_in(1);
        flushes.bar(HostRequestId(8));
        assert_eq!((flushes.open_epoch(), flushes.next_reached()), (2, None));
        flushes.count_out(1);
        assert_eq!(flushes.next_reached(), None, "the first epoch has not ended");
        flushes.count_out(0);
        assert_eq!(
            [flushes.next_reached(), flushes.next_reached(), flushes.next_reached()],
            [Some(HostRequestId(7)), Some(HostRequestId(8)), None]
        );
        assert_eq!((flushes.outstanding(), flushes.waiting()), (0, 0));
    }

    #[test]
    fn a_barrier_with_nothing_outstanding_is_reached_at_once() {
        let mut flushes = Flushes::default();
        flushes.bar(HostRequestId(3));
        assert_eq!([flushes.next_reached(), flushes.next_reached()], [Some(HostRequestId(3)), None]);
    }

    #[test]
    fn nobody_waits_after_a_loss_of_power_and_numbers_go_on() {
        let mut flushes = Flushes::default();
        flushes.count_in(0);
        flushes.bar(HostRequestId(3));
        flushes.forget();
        assert_eq!((flushes.open_epoch(), flushes.next_reached()), (1, None));
        flushes.count_in(1);
        flushes.count_out(1);
        assert_eq!(flushes.outstanding(), 0);
    }
}
