//! A cache of the number of dies that drives can lose. To compute it, the drive tries each loss; the result changes only with the state of its dies.

use outlast_ssd::{DieState, Ssd};
use outlast_units::Nanos;
use std::sync::{Mutex, PoisonError};

/// Everything on which [`Ssd::dies_it_can_lose`] depends, for one scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
struct DieHealth {
    dies: Vec<(DieState, u64)>,
    retired: u64,
    read_only: bool,
    /// Number of changes of codes and of added dies so far.
    changes: usize,
}

impl DieHealth {
    fn of(ssd: &Ssd, now: Nanos) -> Self {
        Self {
            dies: ssd.die_views(now).iter().map(|die| (die.state, die.bad_blocks)).collect(),
            retired: ssd.superblock_counts().retired,
            read_only: ssd.ftls().any(outlast_ftl::Ftl::is_read_only),
            changes: ssd.changes().len(),
        }
    }
}

/// The last result for each drive, by its place in the list. A clone of the cache is empty.
#[derive(Debug, Default)]
pub(super) struct DieLossCache(Mutex<Vec<Option<(DieHealth, u32)>>>);

impl Clone for DieLossCache {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl DieLossCache {
    /// [`Ssd::dies_it_can_lose`] of the drive at `place` in the list, computed only if its dies have changed.
    pub(super) fn dies_it_can_lose(&self, place: usize, ssd: &Ssd, now: Nanos) -> u32 {
        let health = DieHealth::of(ssd, now);
        // A poisoned lock does no harm: entries are replaced as a whole.
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if entries.len() <= place {
            entries.resize(place + 1, None);
        }
        match &entries[place] {
            Some((before, dies)) if *before == health => *dies,
            _ => {
                let dies = ssd.dies_it_can_lose(now);
                entries[place] = Some((health, dies));
                dies
            }
        }
    }
}
