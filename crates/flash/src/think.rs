//! Think time: how long the slot of an internal operation stays taken after the operation.

use crate::flash::Flash;
use outlast_units::{DieId, Nanos};
use std::collections::VecDeque;

/// The slots whose operation has ended and which no other operation may take yet.
#[derive(Clone, Debug, outlast_persist::Restore)]
pub(crate) struct ThinkingSlots {
    #[persist(skip)]
    time: Nanos,
    /// End of each slot's think time. All think for the same time, so the first to begin is the first to end.
    ends: VecDeque<Nanos>,
}

impl ThinkingSlots {
    pub(crate) fn new(time: Nanos) -> Self {
        Self { time, ends: VecDeque::new() }
    }

    /// True if there is think time.
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.time != Nanos::ZERO
    }

    /// Slots that think now.
    pub(crate) fn slots(&self) -> usize {
        self.ends.len()
    }

    /// When the first slot is free again; [`Nanos::MAX`] if none thinks.
    fn next(&self) -> Nanos {
        self.ends.front().copied().unwrap_or(Nanos::MAX)
    }

    /// Power fails: no slot is taken any more.
    pub(crate) fn cut_power(&mut self) {
        self.ends.clear();
    }
}

impl<T: Copy> Flash<T> {
    /// Internal operations that are under way, or handed back and not yet [ended](Flash::end_internal), and slots that think.
    #[inline]
    pub fn internal_operations(&self) -> u32 {
        self.context.internal
    }

    /// Dies that wait until one more internal operation may start.
    #[inline]
    pub fn dies_waiting(&self) -> usize {
        self.context.waiting.len()
    }

    /// Takes the die that has waited longest to start an internal operation; it is to be [woken](Flash::wake).
    #[inline]
    pub fn take_waiting_die(&mut self) -> Option<DieId> {
        let die = self.context.waiting.pop_front()?;
        debug_assert!(self.dies[die].waiting, "die {die} is listed and does not wait");
        self.dies[die].waiting = false;
        Some(die)
    }

    /// Releases the slot of an internal operation that has been handed back and handled: one more may start, after think time.
    #[inline]
    pub fn end_internal(&mut self, now: Nanos) {
        debug_assert!(
            self.context.internal as usize > self.context.thinking.slots(),
            "an internal operation ended twice"
        );
        if self.context.thinking.is_on() {
            self.begin_thinking(now);
        } else {
            self.context.internal -= 1;
        }
    }

    #[inline(never)]
    fn begin_thinking(&mut self, now: Nanos) {
        let end = now + self.context.thinking.time;
        debug_assert!(
            self.context.thinking.ends.back().is_none_or(|&last| last <= end),
            "a slot thinks out of order"
        );
        self.context.thinking.ends.push_back(end);
        self.schedule_thinking();
    }

    /// Frees the slot whose think time ends, as [`FlashSource::Thinking`](crate::FlashSource::Thinking) is due: one more internal operation may
    /// start. Several that end at one time have an event each, so that a die can take each slot.
    pub fn end_thinking(&mut self, now: Nanos) {
        let end = self.context.thinking.ends.pop_front();
        debug_assert!(end == Some(now), "a slot that thinks until {end:?} is free at {now}");
        self.context.internal -= 1;
        self.schedule_thinking();
    }

    fn schedule_thinking(&mut self) {
        // The event tree takes no time beyond the horizon, and no run reaches it.
        let next = self.context.thinking.next();
        let next = if next > self.horizon() { Nanos::MAX } else { next };
        self.context.events.set_thinking(next);
    }

    /// True if the slot of an internal operation is still taken after its operation.
    pub fn has_thinking_slots(&self) -> bool {
        self.context.thinking.slots() != 0
    }

    /// True if all slots are taken and the next to be free has an event of its own: no die need be woken before.
    #[inline]
    pub fn awaits_thinking_slot(&self) -> bool {
        self.context.thinking.is_on() && self.context.internal >= self.context.internal_max
    }
}
