//! The state of a channel.

use outlast_units::Nanos;

/// One channel: transfers book it first come, first served; commands, which are short, go in between.
#[derive(Clone, Copy, Debug, Default, outlast_persist::Persist)]
pub(crate) struct FlashChannel {
    free_at: Nanos,
    busy: Nanos,
}

impl FlashChannel {
    /// When all that has been booked is done.
    pub(crate) fn free_at(&self) -> Nanos {
        self.free_at
    }

    /// Books `span` from `now` or from when the channel is free; returns its end.
    #[inline]
    pub(crate) fn book(&mut self, now: Nanos, span: Nanos) -> Nanos {
        let end = self.free_at.max(now) + span;
        self.free_at = end;
        self.busy += span;
        end
    }

    /// Puts `span` of command cycles in between transfers that are booked or under way, which it delays; returns its end. Cycles that take
    /// no time leave the channel as it is.
    #[inline]
    pub(crate) fn interleave(&mut self, now: Nanos, span: Nanos) -> Nanos {
        if span != Nanos::ZERO {
            self.book(now, span);
        }
        now + span
    }

    /// Time that it was busy until `now`. Bookings follow each other without a gap, so that the booked time beyond `now` is all the time until the
    /// channel is free.
    pub(crate) fn busy_until(&self, now: Nanos) -> Nanos {
        self.busy.saturating_sub(self.free_at.saturating_sub(now))
    }

    /// Counts anew from `now` on; time that is booked beyond `now` belongs to the new count.
    pub(crate) fn reset(&mut self, now: Nanos) {
        self.busy = self.free_at.saturating_sub(now);
    }

    /// Cancels what is booked beyond `now`.
    pub(crate) fn cut_power(&mut self, now: Nanos) {
        self.busy = self.busy_until(now);
        self.free_at = now;
    }
}
