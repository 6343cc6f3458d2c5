//! Idle time of the host, in which the SLC cache is folded.

use crate::ssd::Ssd;
use outlast_controller::Due;
use outlast_units::Nanos;

/// Looks at the host in one pause of it: a pause is seen to be long enough within a quarter of that.
const LOOKS: u64 = 4;

/// Watch on the host's pauses; it looks while there is something to be folded.
#[derive(Clone, Copy, Debug, outlast_persist::Persist)]
pub(crate) struct IdleWatch {
    /// Pause after which the cache is folded.
    #[persist(fixed)]
    after: Nanos,
    /// Since when the host was busy last, and when that was seen first while it rested.
    busy_since: Nanos,
    seen: Nanos,
    next: Nanos,
}

impl IdleWatch {
    /// A watch for pauses of `after`.
    pub(crate) fn new(after: Nanos) -> Self {
        Self { after, busy_since: Nanos::MAX, seen: Nanos::ZERO, next: Nanos::ZERO }
    }

    /// Looks at a host that rests since it was busy from `busy_since` on, or that is busy (`None`). True if the pause is long enough.
    fn look(&mut self, now: Nanos, busy_since: Option<Nanos>) -> bool {
        self.next = now + Nanos(self.after.0 / LOOKS);
        let Some(busy_since) = busy_since else {
            self.busy_since = Nanos::MAX;
            return false;
        };
        if self.busy_since != busy_since {
            (self.busy_since, self.seen) = (busy_since, now);
        }
        now - self.seen >= Nanos(self.after.0 - self.after.0 / LOOKS)
    }
}

impl Ssd {
    /// Looks at whether the host rests, if it is time, and has the cores fold their caches meanwhile; returns when to look again.
    pub(crate) fn fold_in_idle_time(&mut self, now: Nanos) -> Nanos {
        let Some(watch) = &mut self.idle else { return Nanos::MAX };
        if watch.next > now {
            return watch.next;
        }
        if !self.cores.iter().any(|core| core.ftl().space().may_fold_in_idle_time()) {
            // The next superblock of a cache that is full calls.
            return Nanos::MAX;
        }
        let rests = self.host.in_flight(&self.context.commands) == 0;
        let idle = watch.look(now, rests.then(|| self.host.busy_since()));
        let next = watch.next;
        for core in self.cores.indices() {
            self.cores[core].ftl_mut().set_idle(idle);
            if idle {
                self.cores[core].make_due(&mut self.context, Due::Collect);
            }
        }
        self.settle(now);
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_is_seen_within_a_quarter_of_its_length() {
        let mut watch = IdleWatch::new(Nanos(400));
        let mut look = |now, busy| watch.look(Nanos(now), busy);
        assert!(!look(0, None) && !look(100, Some(Nanos(7))) && !look(399, Some(Nanos(7))));
        assert!(look(400, Some(Nanos(7))) && look(900, Some(Nanos(7))));
        assert!(!look(1000, Some(Nanos(950))), "it was busy in between");
        assert!(!look(1200, None) && !look(1300, Some(Nanos(950))) && look(1600, Some(Nanos(950))));
    }
}
