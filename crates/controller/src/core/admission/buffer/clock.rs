//! Waits for the clock: tokens that are to come, and pauses that are to end.

use super::Buffer;
use crate::core::Tasks;
use crate::op::InternalTask;
use outlast_ftl::Ftl;
use outlast_units::Nanos;

impl Buffer {
    /// When the pause ends in which no write enters at `now`, if there is one.
    #[inline]
    pub(crate) fn pause_ends(&self, now: Nanos) -> Option<Nanos> {
        self.pauses.ends(now)
    }

    /// True if writes wait that may do so because of a pause.
    pub(crate) fn waits_for_pauses(&self) -> bool {
        self.pauses.any() && self.any_waits()
    }

    /// Of writes that take tokens: notes whether the write that waits longest waits for its token alone, and tells when that comes.
    pub(crate) fn note_token(&mut self, now: Nanos, ftl: &Ftl, tasks: &Tasks) -> Option<Nanos> {
        // All that `admits` asks but the token: who waits for more and wakes for that would wake again at once, without end.
        let credit = self.pacer.credit();
        let has_room = self.held < self.capacity
            && self.waiting.front().is_some_and(|first| {
                ftl.can_append(first.stream)
                    && (!tasks.runs(InternalTask::Gc)
                        || credit.lets_in(|| tasks.leaves_room(ftl, first.stream)))
            });
        self.pacer.note_wait(now, has_room)
    }

    /// True if writes take tokens.
    #[inline]
    pub(crate) fn takes_tokens(&self) -> bool {
        self.pacer.tokens().is_some()
    }

    /// Until when `task` holds back at `now` because it is ahead of what the host may write at its rate; notes that it does.
    #[inline(never)]
    pub(crate) fn holds_back(&mut self, now: Nanos, task: InternalTask) -> Option<Nanos> {
        let until = self.pacer.holds_until();
        if task != InternalTask::Gc || until <= now || (self.any_waits() && !self.pacer.awaits_token()) {
            return None;
        }
        self.pacer.tokens_mut()?.hold();
        Some(until)
    }
}
