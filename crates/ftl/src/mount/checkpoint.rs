//! A checkpoint: the mapping as flash had it at one moment, so that only what came later must be looked at.

use super::rebuild::RebuiltMap;
use outlast_units::{Lpn, Ppn};
use std::collections::BTreeSet;

/// What flash said at one moment.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub(crate) struct MapCheckpoint {
    /// The moment, as a number of an event.
    pub(crate) at: u64,
    /// Of the units that were not on flash then, the first in the order of writing; `at` where there was none. What was written before is
    /// in the checkpoint, or will never be on flash.
    pub(crate) from: u64,
    /// The newest copy of each logical page that was on flash.
    pub(crate) slots: Vec<Ppn>,
    /// Pages whose data had been lost.
    pub(crate) lost: BTreeSet<Lpn>,
}

impl MapCheckpoint {
    /// The checkpoint of event `at`, `rebuilt` from flash then, while `from` was the first unit not on flash.
    pub(crate) fn new(at: u64, from: u64, rebuilt: RebuiltMap) -> Self {
        Self { at, from, slots: rebuilt.slots, lost: rebuilt.lost }
    }
}
