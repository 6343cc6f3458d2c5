//! A controller processor: one piece of work at a time, in order.

use crate::commands::HostRequestId;
use crate::op::UnitWork;
use outlast_units::Nanos;
use std::collections::VecDeque;

/// A processor that handles one piece of work at a time, in order.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub struct Processor<W> {
    free_at: Nanos,
    /// Time of all work that it was given since the last reset.
    given: Nanos,
    /// Work whose processing ends at the given time.
    queue: VecDeque<(Nanos, W)>,
}

impl<W> Default for Processor<W> {
    fn default() -> Self {
        Self { free_at: Nanos::ZERO, given: Nanos::ZERO, queue: VecDeque::new() }
    }
}

impl<W> Processor<W> {
    /// True if it could act at once on work that costs nothing.
    #[inline]
    pub fn is_free(&self, now: Nanos) -> bool {
        self.free_at <= now && self.queue.is_empty()
    }

    /// Takes on `work`.
    pub fn take(&mut self, now: Nanos, cost: Nanos, work: W) {
        let done = self.occupy(now, cost);
        debug_assert!(self.queue.back().is_none_or(|&(last, _)| last <= done), "work ends out of order");
        self.queue.push_back((done, work));
    }

    /// Is busy for `cost` more; returns until when.
    pub(crate) fn occupy(&mut self, now: Nanos, cost: Nanos) -> Nanos {
        self.free_at = self.free_at.max(now) + cost;
        self.given += cost;
        self.free_at
    }

    /// When all that it was given is done.
    pub fn free_at(&self) -> Nanos {
        self.queue.iter().map(|&(at, _)| at).fold(self.free_at, Nanos::max)
    }

    /// How long it has been busy until `now`, since the last reset. It works without a gap until it is free.
    pub fn busy_until(&self, now: Nanos) -> Nanos {
        self.given.saturating_sub(self.free_at.saturating_sub(now))
    }

    /// Counts anew from `now` on: work that is left counts from then on.
    pub fn reset_busy(&mut self, now: Nanos) {
        self.given = self.free_at.saturating_sub(now);
    }

    /// When the first piece of work is done.
    pub fn next(&self) -> Nanos {
        self.queue.front().map_or(Nanos::MAX, |&(at, _)| at)
    }

    /// The first piece of work, which is done.
    pub fn done(&mut self) -> Option<W> {
        self.queue.pop_front().map(|(_, work)| work)
    }

    /// All work that it has, in order.
    pub fn works(&self) -> impl Iterator<Item = &W> {
        self.queue.iter().map(|(_, work)| work)
    }

    /// The work that came last.
    pub fn last(&self) -> Option<&W> {
        self.queue.back().map(|(_, work)| work)
    }

    /// Power has failed: it has nothing to do.
    pub fn forget(&mut self, now: Nanos) {
        self.queue.clear();
        self.given = self.busy_until(now);
        self.free_at = now;
    }
}

/// Work for the processor of a flash core.
#[derive(Clone, Copy, Debug, outlast_persist::Persist)]
pub enum CoreWork {
    /// Units of a command: the first one, and how many there are. More than one are neighbouring units of a read that share a program unit.
    Units {
        /// The first unit.
        first: UnitWork,
        /// Number of units.
        units: u32,
    },
    /// The core's part of the search for a query.
    Search {
        /// The query.
        request: HostRequestId,
    },
    /// Marking what the lists of a failed die of the core leave out, for the sake of a query.
    Mark {
        /// The query.
        request: HostRequestId,
    },
}

impl Processor<CoreWork> {
    /// Adds a unit to the work taken on last, which is done when `cost` has been spent on that unit, too.
    pub(crate) fn take_another_unit(&mut self, now: Nanos, cost: Nanos) {
        let done = self.occupy(now, cost);
        if let Some((at, CoreWork::Units { units, .. })) = self.queue.back_mut() {
            *at = done;
            *units += 1;
        }
    }
}
