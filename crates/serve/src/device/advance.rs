//! The time of a device, and its completions.

use super::{RefusedInput, ServedDevice};
use outlast_device::{Completion, Device};
use outlast_engine::DRAIN_TIME;
use outlast_units::Nanos;

/// Time before the horizon at which a server ends whose clock has run on by itself: early enough for its shutdown.
const END_TIME: Nanos = Nanos::secs(86_400 / 2);
/// Time before the horizon in which nothing at all is done any more. Restored state needs an hour of it.
const STANDSTILL: Nanos = Nanos::secs(86_400 / 4);

impl ServedDevice {
    /// Latest time to which a user may move the clock: a whole number of days, and at least one before the horizon of events.
    pub fn latest(&self) -> Nanos {
        let latest = self.service.latest().saturating_sub(DRAIN_TIME);
        latest.saturating_sub(Nanos(latest.0 % DRAIN_TIME.0))
    }

    /// Time from which on the device is served no longer.
    pub(crate) fn end_of_service(&self) -> Nanos {
        self.service.latest().saturating_sub(END_TIME)
    }

    /// Latest time that the device can be given.
    pub(crate) fn standstill(&self) -> Nanos {
        self.service.latest().saturating_sub(STANDSTILL)
    }

    /// Does everything that is due up to and including `now`, and appends completions in order of time. Beyond the time that the device can be given,
    /// it stands still.
    pub fn advance(&mut self, now: Nanos, completions: &mut Vec<Completion>) {
        if self.advance_to(now.min(self.standstill())).is_err() {
            return;
        }
        completions.append(&mut self.ready);
        self.events.collect(&mut self.service);
    }

    /// Does what is due until a command has completed, the device has something to tell, or `limit` is reached, and appends completions. Returns the time
    /// reached. The device must have power.
    pub fn advance_to_completion(&mut self, limit: Nanos, completions: &mut Vec<Completion>) -> Nanos {
        if self.ready.is_empty() {
            let at = self.service.advance_to_completion(limit.min(self.standstill()), &mut self.ready);
            self.now = self.now.max(at);
            self.end_tags(0);
        }
        completions.append(&mut self.ready);
        self.events.collect(&mut self.service);
        self.now
    }

    /// Time of the next event; `None` if the device is idle or has no power.
    pub fn next_deadline(&self) -> Option<Nanos> {
        // Completions that wait to be handed out are due at once.
        if !self.ready.is_empty() {
            return Some(self.now);
        }
        if self.off_since.is_some() { None } else { self.service.next_deadline() }
    }

    /// Does everything that is due by `now`; returns the new time, which is never before the latest one.
    pub(super) fn advance_to(&mut self, now: Nanos) -> Result<Nanos, RefusedInput> {
        if now > self.standstill() {
            return Err(RefusedInput::BeyondHorizon { now, latest: self.latest() });
        }
        // Time never goes back, even if a caller's clock does.
        self.now = self.now.max(now);
        if self.off_since.is_none() {
            let completed_before = self.ready.len();
            self.service.advance(self.now, &mut self.ready);
            self.end_tags(completed_before);
        }
        Ok(self.now)
    }

    /// Frees the tags of the commands that have completed, which are those after the first `completed_before` that are ready: here, not when completions are
    /// handed out, since whether a tag is free must not depend on when a caller asks. An array also completes commands that a loss of power has already
    /// aborted; these have no tag any more, and are dropped.
    #[inline]
    fn end_tags(&mut self, completed_before: usize) {
        let (tags, mut seen) = (&mut self.tags, 0);
        self.ready.retain(|done| {
            seen += 1;
            seen <= completed_before || tags.end(done.tag)
        });
    }
}
