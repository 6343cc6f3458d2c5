//! Pending events of flash: one for each die, and one for the slots of internal operations.

use outlast_units::event_tree::EventTree;
use outlast_units::{DieId, Nanos, to_count};

/// Source of an event of flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlashSource {
    /// A die.
    Die(DieId),
    /// The slots of internal operations, while one thinks ([`Flash::end_thinking`](crate::Flash::end_thinking)).
    Thinking,
}

/// The event tree of flash: its dies, then the slots that think, if they ever do. Of events at one time the die with the lowest number comes first.
#[derive(Clone, Debug, outlast_persist::Restore)]
pub(crate) struct FlashEvents {
    tree: EventTree,
    #[persist(skip)]
    dies: u32,
}

impl FlashEvents {
    pub(crate) fn new(dies: usize, thinks: bool) -> Self {
        Self { tree: EventTree::new(dies + usize::from(thinks)), dies: to_count(dies) }
    }

    pub(crate) fn horizon(&self) -> Nanos {
        self.tree.horizon()
    }

    /// Sets when `die` is due; [`Nanos::MAX`] for never.
    #[inline]
    pub(crate) fn set_die(&mut self, die: DieId, at: Nanos) {
        self.tree.set(u32::from(die.0), at);
    }

    /// Takes the event of `die` away.
    #[inline]
    pub(crate) fn clear_die(&mut self, die: DieId) {
        self.tree.clear(u32::from(die.0));
    }

    /// Sets when the next slot has thought; [`Nanos::MAX`] for never.
    pub(crate) fn set_thinking(&mut self, at: Nanos) {
        self.tree.set(self.dies, at);
    }

    #[inline]
    pub(crate) fn next(&self) -> Nanos {
        self.tree.next()
    }

    #[inline]
    #[allow(clippy::cast_possible_truncation, reason = "dies are numbered by 16 bits")]
    pub(crate) fn next_source(&self) -> FlashSource {
        match self.tree.next_source() {
            number if number < self.dies => FlashSource::Die(DieId(number as u16)),
            _ => FlashSource::Thinking,
        }
    }

    /// Checks a tree that was read.
    pub(crate) fn check(&self) -> Result<(), String> {
        self.tree.check()
    }

    /// Forgets all events: power has failed.
    pub(crate) fn clear(&mut self) {
        (0..self.tree.sources()).for_each(|source| self.tree.clear(source));
    }
}
