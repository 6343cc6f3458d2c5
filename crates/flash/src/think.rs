//! Think time: how long the slot of an internal operation stays taken after the operation.

use crate::flash::Flash;
use outlast_units::Nanos;
use std::collections::VecDeque;

/// The slots whose operation has ended and which no other operation may take yet.
#[derive(Clone, Debug, outlast_persist::Restore)]
pub(crate) struct ThinkingSlots {
    #[persist(skip)]
    time: Nanos,
    /// When each of them is free again. All think for the same time, so the first to begin is the first to end.
    ends: VecDeque<Nanos>,
}

impl ThinkingSlots {
    pub(crate) fn new(time: Nanos) -> Self {
        Self { time, ends: VecDeque::new() }
    }

    /// Whether slots think at all.
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.time != Nanos::ZERO
    }

    /// Slots that think now.
    pub(crate) fn slots(&self) -> usize {
        self.ends.len()
    }

    /// When the first of them is free again.
    fn next(&self) -> Nanos {
        self.ends.front().copied().unwrap_or(Nanos::MAX)
    }

    /// Power fails: no slot is taken any more.
    pub(crate) fn cut_power(&mut self) {
        self.ends.clear();
    }
}

impl<T: Copy> Flash<T> {
    /// An internal operation that has been handed back is done with: one more may start, once its slot has thought.
    #[inline]
    pub fn end_internal(&mut self, now: Nanos) {
        debug_assert!(self.internal as usize > self.thinking.slots(), "an internal operation ended twice");
        if self.thinking.is_on() {
            self.begin_thinking(now);
        } else {
            self.internal -= 1;
        }
    }

    #[inline(never)]
    fn begin_thinking(&mut self, now: Nanos) {
        let end = now + self.thinking.time;
        debug_assert!(
            self.thinking.ends.back().is_none_or(|&last| last <= end),
            "a slot thinks out of order"
        );
        self.thinking.ends.push_back(end);
        self.schedule_thinking();
    }

    /// A slot has thought, for which [`FlashSource::Thinking`](crate::FlashSource::Thinking) was due: one more internal operation may start. Of
    /// several that end at one time each has an event of its own, so that a die can take each of them.
    pub fn end_thinking(&mut self, now: Nanos) {
        let end = self.thinking.ends.pop_front();
        debug_assert!(end == Some(now), "a slot that thinks until {end:?} is free at {now}");
        self.internal -= 1;
        self.schedule_thinking();
    }

    fn schedule_thinking(&mut self) {
        // Beyond the horizon nothing happens any more.
        let next = self.thinking.next();
        let next = if next > self.horizon() { Nanos::MAX } else { next };
        self.events.set_thinking(next);
    }

    /// Whether a slot of an internal operation thinks.
    pub fn has_thinking_slots(&self) -> bool {
        self.thinking.slots() != 0
    }

    /// Whether all slots are taken and the next to be free says so by an event of its own: no die need be asked before.
    #[inline]
    pub fn awaits_thinking_slot(&self) -> bool {
        self.thinking.is_on() && self.internal >= self.internal_max
    }
}
