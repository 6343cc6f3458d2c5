//! The oracle: it knows the error rates of all cells, so it knows when a codeword is expected to have too many wrong bits.
//!
//! It forecasts at how many reads a superblock will be bad and has alarms set for these reads. Data also ages, so it looks again when the
//! data is half as old again, or when the data will be bad without being read, whichever is earlier.

use super::{Policy, RowReads, View};
use outlast_units::{IndexVec, Nanos, SuperblockId};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The least time between two looks of the oracle at a superblock.
const AT_MOST_EVERY: Nanos = Nanos::secs(60);

/// What is expected at the threshold may be above it by rounding only.
const ROUNDING: f64 = 1.0 - 1e-6;

/// A look at a superblock in its `life`-th life: an erasure ends a life, and looks at an earlier life are left out.
type Look = Reverse<(Nanos, SuperblockId, u32)>;

/// For what the alarms that are being set must hold. Times are those of the data, leaps of age included.
#[derive(Clone, Copy, Debug, Default, outlast_persist::Persist)]
struct Forecast {
    /// Error rate at which the threshold is reached.
    rber: f64,
    at: Nanos,
    /// When the oracle looks again.
    look: Nanos,
}

#[derive(Clone, Debug, outlast_persist::Persist)]
pub(super) struct Oracle {
    /// Expected wrong bits of a codeword.
    #[persist(fixed)]
    threshold: f64,
    looks: BinaryHeap<Look>,
    lives: IndexVec<SuperblockId, u32>,
    forecast: Forecast,
}

impl Policy for Oracle {
    type Setting = f64;

    fn new(threshold: f64, superblocks: u32) -> Self {
        let lives = IndexVec::filled(0, superblocks as usize);
        Self { threshold, looks: BinaryHeap::new(), lives, forecast: Forecast::default() }
    }

    fn next(&self) -> Nanos {
        self.looks.peek().map_or(Nanos::MAX, |&Reverse((at, ..))| at)
    }

    fn watches_reads(&self) -> bool {
        true
    }

    fn forecasts(&self) -> bool {
        true
    }

    fn next_look(&mut self, now: Nanos) -> Option<SuperblockId> {
        while self.next() <= now
            && let Some(Reverse((_, superblock, life))) = self.looks.pop()
        {
            if self.lives[superblock] == life {
                return Some(superblock);
            }
        }
        None
    }

    fn is_bad(&self, view: &impl View, superblock: SuperblockId) -> bool {
        view.expected_errors(superblock) >= self.threshold * ROUNDING
    }

    fn arm(&mut self, view: &impl View, superblock: SuperblockId) {
        let (now, at) = (view.now(), view.now() + view.aged());
        let rber = self.threshold / f64::from(view.codeword_bits());
        let age = Nanos((view.days(superblock) * 86_400e9) as u64);
        let later = Nanos(at.0 + (age.0 / 2).max(AT_MOST_EVERY.0));
        let look = later.min(view.time_until(superblock, rber));
        self.forecast = Forecast { rber, at, look };
        let look = Nanos(look.0 - view.aged().0).max(now);
        // What is bad now is found by the alarms, which go off at once.
        let look = if look == now { Nanos(now.0 + AT_MOST_EVERY.0) } else { look };
        assert!(look > now, "a look that is due at once would be made for ever");
        self.looks.push(Reverse((look, superblock, self.lives[superblock])));
    }

    fn alarm_at(&self, row: &dyn RowReads) -> u32 {
        // Beyond the reads that there are: whoever looks at alarms comes to an end.
        self.reads_until_bad(row).map_or(u32::MAX, |bad| bad.max(row.reads().saturating_add(1)))
    }

    fn erased(&mut self, superblock: SuperblockId) {
        self.lives[superblock] = self.lives[superblock].wrapping_add(1);
    }
}

impl Oracle {
    /// At how many reads `row` will be bad: as old as it will be at the next look; where it would then be bad without more reads, as old
    /// as it is. `None`: never.
    fn reads_until_bad(&self, row: &dyn RowReads) -> Option<u32> {
        let Forecast { rber, at, look } = self.forecast;
        debug_assert!(at <= look, "the next look lies in the future");
        let later = row.reads_until(rber, look)?;
        if later > row.reads() { Some(later) } else { row.reads_until(rber, at) }
    }
}
