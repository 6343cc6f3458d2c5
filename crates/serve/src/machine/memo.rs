//! Answers that take a moment to find and stay the same as long as a drive's dies do.

use outlast_ssd::{DieState, Ssd};
use outlast_units::Nanos;
use std::sync::{Mutex, PoisonError};

/// All that how many dies a drive can lose depends on, for one scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Health {
    dies: Vec<(DieState, u64)>,
    retired: u64,
    read_only: bool,
    /// Codes that have changed, and dies that were added.
    changes: usize,
}

impl Health {
    fn of(ssd: &Ssd, now: Nanos) -> Self {
        Self {
            dies: ssd.die_views(now).iter().map(|die| (die.state, die.bad_blocks)).collect(),
            retired: ssd.superblock_counts().retired,
            read_only: ssd.ftls().any(outlast_ftl::Ftl::is_read_only),
            changes: ssd.changes().len(),
        }
    }
}

/// How many dies drives can lose, as last found for each place; a copy knows nothing yet.
#[derive(Debug, Default)]
pub(super) struct Memo(Mutex<Vec<Option<(Health, u32)>>>);

impl Clone for Memo {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Memo {
    /// [`Ssd::dies_it_can_lose`] of the drive that is listed as number `place`.
    pub(super) fn dies_it_can_lose(&self, place: usize, ssd: &Ssd, now: Nanos) -> u32 {
        let health = Health::of(ssd, now);
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() <= place {
            known.resize(place + 1, None);
        }
        match &known[place] {
            Some((before, dies)) if *before == health => *dies,
            _ => {
                let dies = ssd.dies_it_can_lose(now);
                known[place] = Some((health, dies));
                dies
            }
        }
    }
}
